"""Writes the script of a reproducer: the requests, the facts to look for, and the few functions that it needs.

The functions are the text of `faultfacts` and `faultmain`, so that the script tells a fault as the lab does. What came
from a peer is written as a Python literal, never as code or as a comment.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pprint import pformat
from typing import Any, Final

from a2a_lab.core.policy import Clocks
from a2a_lab.lab.casewriting import body_of
from a2a_lab.lab.likeness import operation_of
from a2a_lab.lab.symptoms import Symptom, observed, origins_of
from a2a_lab.wire.exchange import Exchange

_MARK: Final = "# --8<-- from here on the text travels\n"
_HEAD: Final = '''\
# /// script
# requires-python = ">=3.11"
# dependencies = ["httpx>=0.28"]
# ///
"""Shows one fault of an A2A agent with plain HTTP requests; see README.md beside it.

    python reproduce.py URL      (or: uv run reproduce.py URL)

URL is where the agent is, or where `a2a-lab replay case.json` says that it serves. Ends with 1 while the fault is
there, with 0 when it is not seen, and with 2 when the agent cannot be asked.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import sys
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

import httpx
'''
_TAIL: Final = """
if __name__ == "__main__":
    sys.exit(main(FAULT, sys.argv[1:]))
"""
_OURS: Final = frozenset({"host", "content-length", "connection", "accept-encoding", "user-agent"})
_PAUSE_S: Final = 1.0  # the longest between two requests: a task that was asked for now and then is, without the wait


def fault_of(
    symptom: Symptom, exchanges: Sequence[Exchange], *, what: str, base: str | None, clocks: Clocks
) -> dict[str, Any]:
    """What a script is told: the requests up to the last that matters, and the facts that show the fault."""
    made, ended = [], 0.0
    for one in exchanges[: symptom.last + 1]:
        seen = observed(one)
        made.append(
            {
                "method": one.method,
                "url": one.url,
                "headers": [list(pair) for pair in one.request_headers if pair[0].lower() not in _OURS],
                "body": body_of(one.request_body),
                "operation": operation_of(one.request_body),
                "is_stream": bool(one.chunks),
                "bytes": sum(len(chunk.data) for chunk in one.chunks) or len(one.body),
                "pause_s": round(min(_PAUSE_S, max(0.0, one.started_ms - ended) / 1000), 3),
                "ids": {name: seen[name] for name in ("task", "context") if seen.get(name)},
            }
        )
        ended = max(ended, one.ended_ms)
    return {
        "what": what,
        "told": symptom.told,
        "base": base or "",
        "origins": list(origins_of(exchanges)),
        "hang_s": clocks.hang_s,
        "total_s": clocks.total_s,
        "facts": {place: dict(facts) for place, facts in symptom.facts.items()},
        "differ": list(symptom.differ),
        "statuses": [one.status for one in exchanges[: symptom.last + 1]],
        "requests": made,
    }


def script_text(fault: dict[str, Any]) -> str:
    """The script, whole."""
    literal = pformat(fault, width=118, sort_dicts=False)
    return "\n".join(
        [_HEAD, f"FAULT: dict[str, Any] = {literal}\n", _travelling("faultfacts"), _travelling("faultmain"), _TAIL]
    )


def _travelling(module: str) -> str:
    """The text of a module below its imports."""
    text = (files("a2a_lab.lab") / f"{module}.py").read_text(encoding="utf-8")
    return text.partition(_MARK)[2].strip("\n") + "\n\n"
