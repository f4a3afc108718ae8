"""Tells in one line what a request or an answer carried, without repeating what people wrote in it.

A page leaves the house, so the bodies of parts are shown as type, length and a keyed hash (R38): equal content is seen
to be equal, and nothing can be looked up from it. Understands the JSON of all dialects far enough for a sentence and
judges nothing; what it does not understand it calls by its size.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_READABLE = 2_000_000  # bytes; a longer body is told by its size
_SHOWN_PARTS = 3
_IMPLIED = {"text": "text/plain", "data": "application/json"}


class Seal:
    """Names content by a hash that only this page can make."""

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key or secrets.token_bytes(16)

    def __call__(self, content: Any) -> str:
        data = content if isinstance(content, bytes) else json.dumps(content, sort_keys=True, default=str).encode()
        return "#" + hashlib.blake2s(data, key=self._key, digest_size=4).hexdigest()


def read(body: bytes | str) -> Any:
    """The JSON of a body, or None where there is none to speak of."""
    if len(body) > _READABLE:
        return None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def request_told(body: bytes, seal: Seal) -> str:
    """The method of an RPC call and what its message carries: `SendMessage: text/plain 16 B #9f2c…`."""
    call = read(body)
    if isinstance(call, Mapping) and isinstance(call.get("message"), Mapping):  # gRPC and HTTP+JSON have no envelope
        return _message(call["message"], seal)
    if isinstance(call, Mapping) and "method" not in call and isinstance(call.get("id"), str):
        return f"task {call['id']}"
    if not isinstance(call, Mapping) or not isinstance(call.get("method"), str):
        return _size(body) if body else ""
    params = call.get("params")
    carried = _message(params.get("message"), seal) if isinstance(params, Mapping) else ""
    if not carried and isinstance(params, Mapping) and isinstance(params.get("id"), str):
        carried = f"task {params['id']}"
    return f"{call['method']}: {carried}" if carried else str(call["method"])


def answer_told(body: bytes | str, seal: Seal) -> str:
    """What an answer or one event of a stream says: a task and its state, an artifact, an error, a card."""
    answer = read(body)
    if not isinstance(answer, Mapping):
        return _size(body) if body else "no body"
    if isinstance(answer.get("error"), Mapping):
        error = answer["error"]
        return f"error {error.get('code')} {str(error.get('message') or '')!r:.160}"
    result = answer["result"] if isinstance(answer.get("result"), Mapping) else answer
    return _result(result, seal) or _size(body)


def _result(result: Mapping[str, Any], seal: Seal) -> str:
    for wrapper in ("task", "message", "statusUpdate", "artifactUpdate"):
        if isinstance(result.get(wrapper), Mapping):
            return _result(result[wrapper], seal)
    if isinstance(result.get("artifact"), Mapping):
        return _artifact(result["artifact"], seal, _chunk(result))
    if isinstance(result.get("status"), Mapping):
        return _task(result, seal)
    if isinstance(result.get("parts"), Sequence) and not isinstance(result.get("parts"), str):
        return f"message: {_message(result, seal)}"
    if "name" in result and ("supportedInterfaces" in result or "url" in result or "skills" in result):
        return _card(result)
    return ""


def _task(result: Mapping[str, Any], seal: Seal) -> str:
    status = result["status"]
    told = f"task {result.get('id') or result.get('taskId') or '?'} {state(status.get('state'))}"
    if result.get("final") is True:
        told += ", final"
    says = _message(status.get("message"), seal)
    if says:
        told += f", says {says}"
    artifacts = result.get("artifacts")
    if isinstance(artifacts, list) and artifacts:
        told += "; " + "; ".join(
            _artifact(one, seal, "") for one in artifacts[:_SHOWN_PARTS] if isinstance(one, Mapping)
        )
        told += f"; {len(artifacts) - _SHOWN_PARTS} more" if len(artifacts) > _SHOWN_PARTS else ""
    return told


def state(wire: Any) -> str:
    """A task state in the words of the tables: `TASK_STATE_INPUT_REQUIRED` is `input-required`."""
    return str(wire).removeprefix("TASK_STATE_").replace("_", "-").lower()


def _artifact(artifact: Mapping[str, Any], seal: Seal, chunk: str) -> str:
    name = artifact.get("artifactId", artifact.get("index", "?"))
    return f"artifact {name}{chunk}: {_message(artifact, seal) or 'no parts'}"


def _chunk(event: Mapping[str, Any]) -> str:
    words = [word for word, member in (("append", "append"), ("last", "lastChunk")) if event.get(member) is True]
    return f" ({', '.join(words)})" if words else ""


def _message(message: Any, seal: Seal) -> str:
    """The parts of a message or an artifact, by type, length and hash."""
    parts = message.get("parts") if isinstance(message, Mapping) else None
    if not isinstance(parts, list):
        return ""
    told = [part_told(part, seal) for part in parts[:_SHOWN_PARTS]]
    if len(parts) > _SHOWN_PARTS:
        told.append(f"{len(parts) - _SHOWN_PARTS} more parts")
    return ", ".join(told)


def part_told(part: Any, seal: Seal) -> str:
    """One part: `text/plain 16 B #9f2c1d3e`. Bytes of base64 are counted decoded."""
    if not isinstance(part, Mapping):
        return "no part"
    kind, content, declared = next(_contents(part), ("empty", "", None))
    media = part.get("mediaType") or declared or _IMPLIED.get(kind, f"{kind}, no media type")
    if kind in {"raw", "bytes"} and isinstance(content, str):
        size = len(content.rstrip("=")) * 3 // 4
    else:
        size = len(content.encode(errors="replace") if isinstance(content, str) else json.dumps(content).encode())
    return f"{media} {size} B {seal(content)}"


def _contents(part: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Which member holds the content, in any dialect, with the media type that stands beside it there."""
    for kind in ("text", "data", "raw", "url"):
        if kind in part and part[kind] is not None:
            yield kind, part[kind], None
    if isinstance(part.get("file"), Mapping):
        file = part["file"]
        for kind in ("bytes", "uri", "fileWithBytes", "fileWithUri"):
            if kind in file:
                yield "bytes" if "ytes" in kind else "url", file[kind], file.get("mimeType")


def _card(card: Mapping[str, Any]) -> str:
    interfaces, signatures = card.get("supportedInterfaces"), card.get("signatures")
    told = f"card {str(card.get('name'))!r:.80}, version {str(card.get('version'))!r:.40}"
    if isinstance(interfaces, list):
        told += f", {len(interfaces)} interface{'s' if len(interfaces) != 1 else ''}"
    elif isinstance(card.get("url"), str):
        told += f", url {card['url']!r:.120}"
    count = len(signatures) if isinstance(signatures, list) else 0
    return told + (f", {count} signature{'s' if count != 1 else ''}" if count else ", unsigned")


def _size(body: bytes | str) -> str:
    head = body[:200].strip().lower()
    html = head[:1] in ("<", b"<")
    return f"{'HTML' if html else 'a body'} of {len(body)} bytes"
