"""A request as a simulated vendor sees it, and its answer: plain values, so that no behaviour knows the web server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """One request. Header names are in lower case; `path` is without query."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer; a body that is no bytes is written piece by piece, as it comes."""

    status: int = 200
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | AsyncIterator[bytes] = b""


def json_reply(document: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status=status, headers=headers or {}, body=to_json(document))


def to_json(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


NOT_FOUND = Reply(status=404, media_type="text/plain", body=b"not found")
