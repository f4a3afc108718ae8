"""The smallest part of a media type that an agent can answer: what a probe sends instead of a payload (A3, R23).

It asks for one line of output, because an honest streaming agent may have nothing to stream for less. It carries no
canary and no data of the consumer.
"""

from __future__ import annotations

import base64

from a2a_lab.core.media import JSON, parse_media_type
from a2a_lab.core.model import Json, Part

REQUEST = "This is a probe of an interoperability lab. Please answer with one line of output."

_TEXTS = {
    "text/csv": f"id,request\n1,{REQUEST}\n",
    "text/html": f"<!doctype html><title>Probe</title><p>{REQUEST}</p>\n",
    "application/xml": f'<?xml version="1.0"?><probe>{REQUEST}</probe>\n',
    "application/yaml": f"probe: {REQUEST}\n",
}
# One pixel each: an agent that opens what it gets must not fail for the probe's sake.
_BYTES = {
    "image/png": ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
    "image/gif": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
}


def minimal_part(mode: str) -> Part:
    """A part in a mode, labelled with it: text for textual types, data for JSON ones, bytes for all others."""
    parsed = parse_media_type(mode)
    essence, suffix = (parsed.essence, parsed.suffix) if parsed else (mode, "")
    if essence == JSON or suffix == "json":
        data: dict[str, Json] = {"probe": REQUEST}
        return Part(kind="data", media_type=mode, data=data)
    text = _TEXTS.get(essence, _TEXTS["application/xml"] if suffix == "xml" else None)
    if text is not None or essence.startswith("text/"):
        return Part(kind="text", media_type=mode, text=text or REQUEST)
    raw = _BYTES.get(essence) or base64.b64encode(REQUEST.encode()).decode()
    return Part(kind="raw", media_type=mode, raw=raw, filename="probe")
