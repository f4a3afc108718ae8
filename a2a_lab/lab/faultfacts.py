"""What an answer of an agent looks like from outside: a few plain facts, for telling whether a fault is still there.

Uses the standard library alone and knows nothing of the lab, because its text travels inside of the scripts that
`a2a-lab reproduce` makes: the facts of the recording and those of the live agent are made by the same lines. It judges
nothing; that was done when the recording was made.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

# --8<-- from here on the text travels

OVER = ("completed", "failed", "canceled", "rejected")
WAITING = ("input-required", "auth-required")
LITERAL = ("state", "role", "kind", "type", "code", "jsonrpc", "mediaType", "mimeType", "append", "lastChunk", "final")


def facts_of(
    sent: bytes, status: int | None, headers: dict[str, str], body: bytes, *, ending: str, origins: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The facts of one exchange. `ending`: close, open (whoever read it gave up waiting), reset, or unreachable.

    `origins` are those of the agent; they are left out of digests, so that a card is the same wherever it is served.
    """
    media = headers.get("content-type", "").partition(";")[0].strip().lower()
    texts, torn = _texts(body, media)
    read = [_read(text) for text in texts]
    documents = [document for document, _ in read if isinstance(document, dict)]
    found: dict[str, Any] = {
        "status": status,
        "media": media,
        "ending": ending,
        "torn": torn,
        "json": next((fault for _, fault in read if fault), "ok" if read else "none"),
        "id": _id_relation(sent, documents),
        "error": next((one["error"].get("code") for one in documents if isinstance(one.get("error"), dict)), None),
        "shape": _shapes(documents),
        "bytes": len(body),
    }
    found["form"] = found["shape"]
    for document in documents:
        _take(document.get("result", document), found)
    asked_task, asked_context = _asked_ids(sent)
    found["tasks"], found["contexts"] = len(found.get("task_ids", ())), len(found.get("context_ids", ()))
    found["task_kept"] = asked_task is None or found.get("task") in (None, asked_task)
    found["context_kept"] = asked_context is None or found.get("context") in (None, asked_context)
    state = found.get("state")
    found["over"] = state in OVER
    found["final"] = bool(found.get("final"))
    found["types"] = sorted(set(found.get("types", ())))
    found["has_artifact"] = bool(found.get("artifacts"))
    found["hang"] = ending == "open" and not found["over"] and state not in WAITING and not found["final"]
    found["is_card"] = bool(documents) and ("skills" in documents[0] or "supportedInterfaces" in documents[0])
    if found["is_card"]:
        found |= _card(documents[0], body, origins)
    return found


def _texts(body: bytes, media: str) -> tuple[list[str], bool]:
    """The JSON texts in a body: the data of each event of a stream, or the body; and whether the last event was cut."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if media != "text/event-stream":
        return ([text] if text.strip() else []), False
    events = text.split("\n\n")
    data = ["\n".join(line[5:].lstrip(" ") for line in event.split("\n") if line[:5] == "data:") for event in events]
    return [one for one in data[:-1] if one], bool(data[-1].strip())


def _read(text: str) -> tuple[Any, str]:
    """The JSON of a text, and what is wrong with it as JSON."""
    faults: list[str] = []

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in members}) < len(members):
            faults.append("duplicate member names")
        return dict(members)

    def constant(word: str) -> None:
        faults.append(f"{word} is no JSON number")

    try:
        document = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except (ValueError, RecursionError):
        return None, "no JSON"
    return document, faults[0] if faults else ""


def _id_relation(sent: bytes, documents: list[dict[str, Any]]) -> str:
    """How the ids of the answers relate to that of the request: the worst of them."""
    asked, _ = _read(sent.decode("utf-8", "replace"))
    if not isinstance(asked, dict) or "jsonrpc" not in asked:
        return "none"
    wanted, relations = asked.get("id"), []
    for document in documents:
        found = document.get("id")
        if "id" not in document or found is None:
            relations.append("missing")
        elif found == wanted and isinstance(found, str) is isinstance(wanted, str):
            relations.append("same")
        else:
            relations.append("of another type" if str(found) == str(wanted) else "foreign")
    return next((one for one in ("foreign", "of another type", "missing") if one in relations), "same")


def _asked_ids(sent: bytes) -> tuple[str | None, str | None]:
    """The task and the context that a request names."""
    asked, _ = _read(sent.decode("utf-8", "replace"))
    params = asked.get("params", asked) if isinstance(asked, dict) else {}
    message = params.get("message") if isinstance(params, dict) else None
    named = message if isinstance(message, dict) else params if isinstance(params, dict) else {}
    task = named.get("taskId", None if named is message else named.get("id"))
    context = named.get("contextId")
    return task if isinstance(task, str) else None, context if isinstance(context, str) and context else None


def _take(result: Any, found: dict[str, Any]) -> None:
    """Collect task, state and artifacts from a result of any protocol version."""
    if not isinstance(result, dict):
        return
    for wrapper in ("task", "message", "statusUpdate", "artifactUpdate", "msg"):
        if isinstance(result.get(wrapper), dict):
            return _take(result[wrapper], found)
    is_task = "status" in result or "artifact" in result
    for name, members in (
        ("task", ("taskId", "id") if is_task else ("taskId",)),
        ("context", ("contextId", "sessionId")),
    ):
        value = next((result[member] for member in members if isinstance(result.get(member), str)), None)
        if value is not None:
            found.setdefault(name, value)
            found.setdefault(f"{name}_ids", set()).add(value)
    if isinstance(result.get("status"), dict):
        found["state"] = str(result["status"].get("state")).removeprefix("TASK_STATE_").lower().replace("_", "-")
    if result.get("final") is True:
        found["final"] = True
    listed = result["artifacts"] if isinstance(result.get("artifacts"), list) else []
    for artifact in [*listed, result.get("artifact")]:
        if isinstance(artifact, dict):
            found["artifacts"] = found.get("artifacts", 0) + 1
            parts = artifact["parts"] if isinstance(artifact.get("parts"), list) else []
            found.setdefault("types", []).extend(_type(part) for part in parts if isinstance(part, dict))


def _type(part: dict[str, Any]) -> str:
    file = part.get("file") if isinstance(part.get("file"), dict) else {}
    implied = "text/plain" if "text" in part else "application/json" if "data" in part else "none"
    return str(part.get("mediaType") or part.get("mimeType") or (file or {}).get("mimeType") or implied)


def _shapes(documents: list[dict[str, Any]]) -> list[str]:
    try:
        return sorted({token for document in documents for token in _shape(document, "")})
    except RecursionError:
        return ["nested deeper than is read"]


def _shape(value: Any, path: str) -> list[str]:
    """Which members there are and of which types, without their content; lists are as their elements."""
    if isinstance(value, list):
        return [f"{path}:list"] + [token for one in value for token in _shape(one, f"{path}[]")]
    if not isinstance(value, dict):
        name = path.rpartition(".")[2]
        shown = json.dumps(value) if name in LITERAL and not isinstance(value, float) else type(value).__name__
        return [f"{path}:{shown}"]
    if path.rpartition(".")[2] in ("data", "metadata"):
        return [f"{path}:dict"]
    return [f"{path}:dict"] + [token for name, one in value.items() for token in _shape(one, f"{path}.{name}")]


def _card(card: dict[str, Any], body: bytes, origins: tuple[str, ...]) -> dict[str, Any]:
    text = body.decode("utf-8", "replace")
    for origin in origins:
        text = text.replace(origin, "{origin}")
    entries = [one for one in card.get("supportedInterfaces") or [] if isinstance(one, dict)]
    return {
        "card": hashlib.sha256(text.encode()).hexdigest(),
        "versions": [one.get("protocolVersion") for one in entries] or [card.get("protocolVersion")],
        "signed": bool(card.get("signatures")),
    }
