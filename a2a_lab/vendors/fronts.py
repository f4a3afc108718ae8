"""The two doors of a simulated agent: JSON-RPC on one path, HTTP+JSON on many. Each reads a call and writes its answer.

What is asked and what is answered is the same behind both; a front knows methods, paths, envelopes and statuses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import unquote

from a2a_lab.vendors.behaviours.table import Call
from a2a_lab.vendors.speech import BROADER, ERRORS, Document, RpcProblem, Speech, error_info, is_a2a
from a2a_lab.vendors.traffic import Incoming, Reply, json_reply, to_json


class NoCall(Exception):
    """A request that is no call at all, with what a web server says to it."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class Front(Protocol):
    """One door. `under` is the path that the interface lies at."""

    def serves(self, path: str) -> bool: ...

    def read(self, request: Incoming) -> tuple[Call, str]:
        """The call, and the name of its method. Raises RpcProblem or NoCall."""

    def wrap(self, call: Call, **members: Any) -> Document:
        """What an answer or an event holds; `members` is result or error."""

    def answer(self, document: Document) -> Reply:
        """A good answer."""

    def refusal(self, call: Call | None, problem: RpcProblem) -> Reply:
        """An error answer."""


class JsonRpcFront:
    """One path for all methods."""

    def __init__(self, speech: Speech, *, under: str) -> None:
        self._speech, self._under = speech, under

    def serves(self, path: str) -> bool:
        return path == self._under

    def read(self, request: Incoming) -> tuple[Call, str]:
        if request.method != "POST":
            raise NoCall(Reply(status=405, media_type="text/plain", headers={"Allow": "POST"}, body=b"POST only"))
        body = _parsed(request.body)
        method, params = (body.get("method"), body.get("params") or {}) if isinstance(body, dict) else (None, None)
        if not isinstance(method, str) or not isinstance(params, dict):
            raise RpcProblem("InvalidRequest", "no JSON-RPC request")
        return Call(request=request, rpc_id=body.get("id"), op=self._speech.ops.get(method, ""), params=params), method

    def wrap(self, call: Call, **members: Any) -> Document:
        return {"jsonrpc": "2.0", "id": call.rpc_id, **members}

    def answer(self, document: Document) -> Reply:
        return json_reply(document)

    def refusal(self, call: Call | None, problem: RpcProblem) -> Reply:
        rpc_id = None if call is None else call.rpc_id
        error = self._speech.error(problem.name, problem.text)
        return json_reply({"jsonrpc": "2.0", "id": rpc_id, "error": error})


_VERBS: Mapping[tuple[str, str], str] = {
    ("POST", "message:send"): "send",
    ("POST", "message:stream"): "stream",
    ("GET", "tasks/"): "get",
    ("POST", "tasks/:cancel"): "cancel",
    ("GET", "tasks/:subscribe"): "subscribe",
    ("POST", "tasks/:subscribe"): "subscribe",
    ("GET", "extendedAgentCard"): "extended-card",
    ("GET", "card"): "extended-card",
}
_STATUSES: Mapping[str, tuple[int, str]] = {
    "ParseError": (400, "INVALID_ARGUMENT"),
    "InvalidRequest": (400, "INVALID_ARGUMENT"),
    "InvalidParams": (400, "INVALID_ARGUMENT"),
    "MethodNotFound": (404, "NOT_FOUND"),
    "TaskNotFound": (404, "NOT_FOUND"),
    "ContentTypeNotSupported": (400, "INVALID_ARGUMENT"),
}


class RestFront:
    """A path for each operation; below /v1 before 1.0, where only GET subscribes, as servers of 0.3 have it."""

    def __init__(self, speech: Speech, *, under: str) -> None:
        self._speech, self._under = speech, under
        self._is_new = speech.version == "1.0"
        self._media_type = "application/a2a+json" if self._is_new else "application/json"

    def serves(self, path: str) -> bool:
        return path.startswith(f"{self._under}/")

    def read(self, request: Incoming) -> tuple[Call, str]:
        tenant, shape, task_id = self._placed(request.path.removeprefix(f"{self._under}/"))
        verbs = [verb for verb, path in _VERBS if path == shape and (self._is_new or (verb, path) != _POST_SUBSCRIBE)]
        if not verbs:
            raise NoCall(Reply(status=404, media_type="text/plain", body=b"Not Found"))
        if request.method not in verbs:
            headers = {"Allow": ", ".join(verbs)}
            raise NoCall(Reply(status=405, media_type="text/plain", headers=headers, body=b"Method Not Allowed"))
        params = _parsed(request.body) if request.method == "POST" and request.body else dict(request.query)
        if not isinstance(params, dict):
            raise RpcProblem("InvalidRequest", "the body is no JSON object")
        params |= ({"tenant": tenant} if tenant else {}) | ({"id": task_id} if task_id else {})
        op = _VERBS[request.method, shape]
        return Call(request=request, rpc_id=None, op=op, params=params), f"{request.method} /{shape}"

    def _placed(self, path: str) -> tuple[str, str, str]:
        """Tenant, path with the task taken out, and task."""
        segments, tenant = path.split("/"), ""
        if not self._is_new:
            segments = segments[1:] if segments[0] == "v1" else ["?"]
        elif segments[0] not in ("message:send", "message:stream", "tasks", "extendedAgentCard"):
            tenant, segments = unquote(segments[0]), segments[1:]
        if len(segments) == 2 and segments[0] == "tasks":
            task_id, colon, verb = segments[1].partition(":")
            return tenant, f"tasks/{colon}{verb}", unquote(task_id)
        return tenant, "/".join(segments), ""

    def wrap(self, call: Call, **members: Any) -> Document:
        document: Document = members["result"]
        return document

    def answer(self, document: Document) -> Reply:
        return Reply(media_type=self._media_type, body=to_json(document))

    def refusal(self, call: Call | None, problem: RpcProblem) -> Reply:
        """1.0: a google.rpc.Status. 0.3 fixes no shape; this is that of its JavaScript SDK."""
        name = BROADER.get(problem.name, problem.name)
        status, code_name = _STATUSES.get(name, (400, "FAILED_PRECONDITION"))
        if not self._is_new:
            status = 409 if name == "TaskNotCancelable" else status
            return json_reply({"code": ERRORS[name], "message": problem.text}, status=status)
        error: Document = {"code": status, "status": code_name, "message": problem.text}
        if is_a2a(name):
            error["details"] = [error_info(name)]
        return Reply(status=status, media_type=self._media_type, body=to_json({"error": error}))


_POST_SUBSCRIBE = ("POST", "tasks/:subscribe")


def front_of(speech: Speech, binding: str, *, under: str) -> Front:
    """The door of a binding."""
    return RestFront(speech, under=under) if binding == "HTTP+JSON" else JsonRpcFront(speech, under=under)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        raise RpcProblem("ParseError", "the body is no JSON") from None
