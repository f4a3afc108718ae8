"""What the Python verifiers have in common: a signed card and a public key come in as files, one line goes out.

Runs inside a vendor's own environment and knows no SDK. A verifier brings two functions: one reads the card as the
SDK's client reads what it fetched, the other lets the SDK verify it, and raises (or gives False) where that fails.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def run(description: str | None, read: Callable[[Any], Any], verify: Callable[[Any, dict[str, Any]], Any]) -> None:
    """Verify the card that the options name; the line says whether it could be read, whether it passed, and why not."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--card", type=Path, required=True, metavar="FILE", help="the card as it was served")
    parser.add_argument("--key", type=Path, required=True, metavar="FILE", help="the public key, a JWK")
    options = parser.parse_args()
    document = json.loads(options.card.read_text(encoding="utf-8"))
    key = json.loads(options.key.read_text(encoding="utf-8"))
    told = {"ok": False, "read": False, "error": None}
    try:
        card = read(document)
        told["read"] = True
        told["ok"] = verify(card, key) is not False
    except Exception as problem:  # whatever the SDK raises is what its user would be told
        told["error"] = " ".join(f"{type(problem).__name__}: {problem}".split())[:500]
    print("\n" + json.dumps(told, ensure_ascii=True), flush=True)
