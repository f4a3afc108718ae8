"""A simulated agent: serves its card, answers JSON-RPC, keeps its own store. Honest but for its misbehaviours.

The store is the second witness: what it received and made is read from here and compared with what the lab counted.
Nothing here knows a consumer, a posture or a pair.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from a2a_lab.vendors.behaviours import BEHAVIOURS, Behaviour
from a2a_lab.vendors.behaviours.table import Call, Options, Turn
from a2a_lab.vendors.cards import Document, Keys, make_card
from a2a_lab.vendors.executor import honest_moves
from a2a_lab.vendors.moves import INTERRUPTED, TERMINAL, Bytes, Move, SimTask, Status
from a2a_lab.vendors.spec import AgentSpec
from a2a_lab.vendors.speech import Speech
from a2a_lab.vendors.traffic import NOT_FOUND, Incoming, Reply, json_reply, to_json

CARD_PATH, LEGACY_CARD_PATH = "/.well-known/agent-card.json", "/.well-known/agent.json"
_KEPT_HEADERS = ("a2a-version", "a2a-extensions", "accept", "content-type", "user-agent", "x-tenant")


class RpcProblem(Exception):
    """An error answer of the protocol, by its A2A name."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name, self.text = name, text


class SimulatedAgent:
    """One running agent. `base` is where its paths hang: an origin, below a gateway with a path.

    `started` is the reading of the monotonic clock that offsets in the store count from, that of now when None.
    """

    def __init__(
        self, spec: AgentSpec, *, base: str, keys: Keys, rpc_path: str = "/rpc", started: float | None = None
    ) -> None:
        self.spec, self.base, self.rpc_path = spec, base, rpc_path
        self.card_gets = self.messages = 0
        self.asked = Incoming(method="GET", path=CARD_PATH)
        self._keys = keys
        self._speech = Speech(spec.dialect)
        self._signed: dict[tuple[str, int], Document] = {}
        self._tasks: dict[str, SimTask] = {}
        self._requests: list[dict[str, Any]] = []
        self._started = time.monotonic() if started is None else started
        self._faults = [(BEHAVIOURS[entry.name], entry) for entry in spec.misbehaviours]

    # ---- what the host asks ------------------------------------------------------------------------------------

    def store(self) -> dict[str, Any]:
        """Tasks with what each received and made, and the requests in order; all JSON."""
        return {"tasks": [self._stored(task) for task in self._tasks.values()], "requests": list(self._requests)}

    def _stored(self, task: SimTask) -> dict[str, Any]:
        artifacts = []
        for name, parts in task.artifacts.items():
            size = sum(len(to_json(self._speech.part(part))) for part in parts)
            artifacts.append({"id": name, "bytes": size, "media_type": parts[0].mode if parts else ""})
        return {"id": task.id, "state": task.state, "artifacts": artifacts, "received": list(task.received)}

    def close(self) -> None:
        """Stop all work."""
        for task in self._tasks.values():
            if task.job is not None:
                task.job.cancel()
            task.tell(None)

    # ---- HTTP --------------------------------------------------------------------------------------------------

    async def handle(self, request: Incoming) -> Reply:
        """Answer one HTTP request. Paths are relative to `base`."""
        if request.path == self.rpc_path:
            if request.method != "POST":
                self.note(request)
                return Reply(status=405, media_type="text/plain", headers={"Allow": "POST"}, body=b"POST only")
            return await self._rpc(request)
        self.note(request)
        paths = {CARD_PATH} if self.spec.dialect == "1.0" else {CARD_PATH, LEGACY_CARD_PATH}
        if request.path not in paths or request.method not in ("GET", "HEAD"):
            return NOT_FOUND
        return self._card_reply(request)

    def note(self, request: Incoming, rpc_method: str | None = None) -> None:
        """Write a request into the store."""
        self._requests.append(
            {
                "method": request.method,
                "path": request.path,
                "rpc_method": rpc_method,
                "at_s": round(time.monotonic() - self._started, 4),
                "headers": {name: request.headers[name] for name in _KEPT_HEADERS if name in request.headers},
            }
        )

    # ---- the card ----------------------------------------------------------------------------------------------

    def sign(self, document: Document, *, again: int = 0) -> Document:
        """Signed by the key of the spec. One signature per content, as ES256 would differ at every signing."""
        if not self.spec.signed_by:
            return document
        key = (json.dumps(document, sort_keys=True), again)
        if key not in self._signed:
            self._signed[key] = self._keys.sign(document, self.spec.signed_by)
        return self._signed[key]

    def _card_reply(self, request: Incoming) -> Reply:
        self.asked = request
        self.card_gets += 1
        card = make_card(self.spec, f"{self.base}{self.rpc_path}")
        for fault, entry in self._faults:
            if fault.card:
                card = fault.card(card, self, entry.options)
        card = self.sign(card)
        for fault, entry in self._faults:
            if fault.signed_card:
                card = fault.signed_card(card, self, entry.options)
        reply = json_reply(card)
        for fault, entry in self._faults:
            if fault.card_reply:
                reply = fault.card_reply(reply, self, entry.options)
        return reply

    # ---- JSON-RPC ----------------------------------------------------------------------------------------------

    async def _rpc(self, request: Incoming) -> Reply:
        try:
            body = json.loads(request.body)
            method, params = body["method"], body.get("params") or {}
            rpc_id = body.get("id")
            if not isinstance(method, str) or not isinstance(params, dict):
                raise TypeError
        except ValueError:
            self.note(request)
            return json_reply(self._envelope(None, error=self._speech.error("ParseError", "the body is no JSON")))
        except (KeyError, TypeError, AttributeError):
            self.note(request)
            return json_reply(self._envelope(None, error=self._speech.error("InvalidRequest", "no JSON-RPC request")))
        self.note(request, method)
        op = self._speech.ops.get(method, "")
        call = Call(request=request, rpc_id=rpc_id, op=op, params=params)
        if op in ("send", "stream"):
            message = params.get("message")
            call.size = len(json.dumps(message.get("parts"))) if isinstance(message, dict) else 0
            call.immediate, call.as_stream = self._speech.is_immediate(params), op == "stream"
        serve = self._serve
        for fault, options in reversed(self._active(call)):
            if fault.call:
                serve = partial(_wrapped, fault, options, serve)
        return await serve(call)

    def _active(self, call: Call) -> list[tuple[Behaviour, Options]]:
        """The misbehaviours that this call wakes."""
        return [
            (fault, entry.options)
            for fault, entry in self._faults
            if call.op in fault.ops and entry.on in ("any", call.op) and call.size >= entry.min_bytes
        ]

    def _envelope(self, call: Call | None, **members: Any) -> Document:
        envelope: Document = {"jsonrpc": "2.0", "id": call.rpc_id if call else None, **members}
        for fault, options in self._active(call) if call else []:
            if fault.envelope:
                envelope = fault.envelope(envelope, options)
        return envelope

    async def _serve(self, call: Call) -> Reply:
        try:
            if self._speech.is_new and call.request.headers.get("a2a-version", "") != "1.0":
                raise RpcProblem("VersionNotSupported", "this agent speaks A2A 1.0; send the header A2A-Version: 1.0")
            if self.spec.tenant and call.params.get("tenant") != self.spec.tenant:
                raise RpcProblem("InvalidParams", f"tenant {self.spec.tenant!r} is expected, as the card says")
            match call.op:
                case "send" | "stream":
                    return await self._message(call)
                case "get":
                    return json_reply(self._envelope(call, result=self._speech.task(self._find(call.params.get("id")))))
                case "cancel":
                    return json_reply(self._envelope(call, result=self._cancel(call)))
                case "subscribe":
                    return self._subscribe(call)
                case "extended-card":
                    raise RpcProblem("UnsupportedOperation", "there is no extended card")
                case _:
                    raise RpcProblem("MethodNotFound", "no such method")
        except RpcProblem as problem:
            return json_reply(self._envelope(call, error=self._speech.error(problem.name, problem.text)))

    def _find(self, task_id: Any) -> SimTask:
        if not isinstance(task_id, str) or task_id not in self._tasks:
            raise RpcProblem("TaskNotFound", f"no task {task_id!r}")
        return self._tasks[task_id]

    def _cancel(self, call: Call) -> Document:
        task = self._find(call.params.get("id"))
        if not task.is_open:
            raise RpcProblem("TaskNotCancelable", f"the task is already {task.state}")
        if task.job is not None:
            task.job.cancel()
        self._apply(task, Status(state="canceled"))
        task.tell(None)
        return self._speech.task(task)

    # ---- messages ----------------------------------------------------------------------------------------------

    async def _message(self, call: Call) -> Reply:
        message = call.params.get("message")
        parts = message.get("parts") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(parts, list) or not parts:
            raise RpcProblem("InvalidParams", "a message with at least one part is expected")
        if call.op == "stream" and not self.spec.streaming:
            raise RpcProblem("UnsupportedOperation", "streaming not enabled for this agent")
        self.messages += 1
        accepted = self.spec.inputs
        for fault, options in self._active(call):
            if fault.modes:
                accepted = fault.modes(accepted, call, options)
        wanted = dict.fromkeys(self._speech.mode_of(part) for part in parts if isinstance(part, dict))
        settings = _table(call.params.get("metadata")) | _table(message.get("metadata"))
        if self.spec.reads_metadata:
            wanted |= dict.fromkeys(str(mode) for mode in settings.get("intendedInputModes") or [])
        refused = tuple(mode for mode in wanted if mode not in accepted and "*/*" not in accepted)
        task = self._task_for(message)
        if refused and self.spec.asks_with == "error":
            if not task.received:
                del self._tasks[task.id]
            raise RpcProblem("ContentTypeNotSupported", f"{', '.join(refused)} is not supported here")
        if self.spec.echoes_skill and settings.get("skillId") in {skill.id for skill in self.spec.skills}:
            task.metadata["skillId"] = settings["skillId"]
        task.received.append(json.dumps(parts, ensure_ascii=False))
        turn = Turn(
            call=call,
            task=task,
            accepted=accepted,
            refused=refused,
            output=self._output(call),
            again=task.state in INTERRUPTED,
            work_s=self.spec.work_s,
        )
        return await self._run(turn)

    def _output(self, call: Call) -> str:
        """The first declared output mode that the client accepts, else the first."""
        wanted = _table(call.params.get("configuration")).get("acceptedOutputModes") or []
        return next((mode for mode in self.spec.outputs if mode in wanted), self.spec.outputs[0])

    def _task_for(self, message: Document) -> SimTask:
        task_id, context_id = message.get("taskId"), message.get("contextId")
        if not task_id:
            task = SimTask()
            if isinstance(context_id, str) and context_id:
                task.context_id = context_id
            self._tasks[task.id] = task
            return task
        task = self._find(task_id)
        if context_id and context_id != task.context_id:
            raise RpcProblem("InvalidParams", "contextId and taskId do not belong together")
        if not task.is_open:
            raise RpcProblem("UnsupportedOperation", f"the task is {task.state}; terminal tasks take no message")
        if task.job is not None and not task.job.done():
            raise RpcProblem("UnsupportedOperation", "the task is at work and takes no further message")
        return task

    async def _run(self, turn: Turn) -> Reply:
        moves = honest_moves(turn, self.spec)
        for fault, options in self._active(turn.call):
            if fault.moves:
                moves = fault.moves(moves, turn, options)
        task, queue = turn.task, asyncio.Queue[Move | None]()
        task.listeners.append(queue)

        async def work() -> None:
            try:
                async for move in moves:
                    self._apply(task, move)
            finally:
                task.tell(None)

        task.job = asyncio.create_task(work())
        if turn.call.as_stream:
            return self._stream(turn.call, task, queue)
        try:
            await self._until_settled(turn.call, task, queue)
        finally:
            task.listeners.remove(queue)
        return json_reply(self._envelope(turn.call, result=self._speech.answer(task)))

    def _apply(self, task: SimTask, move: Move) -> None:
        task.apply(move)
        task.tell(move)

    async def _until_settled(self, call: Call, task: SimTask, queue: asyncio.Queue[Move | None]) -> None:
        """Wait as the client asked: to the first move, or to an end or interruption."""
        while await queue.get() is not None:
            if call.immediate or task.state in TERMINAL | INTERRUPTED:
                return

    # ---- streams -----------------------------------------------------------------------------------------------

    def _subscribe(self, call: Call) -> Reply:
        task = self._find(call.params.get("id"))
        if not task.is_open:
            raise RpcProblem("UnsupportedOperation", f"the task is already {task.state}")
        queue = asyncio.Queue[Move | None]()
        task.listeners.append(queue)
        first = [self._frame(call, self._speech.answer(task))] if self._speech.is_new else []
        if task.job is None or task.job.done():
            queue.put_nowait(None)
        return self._stream(call, task, queue, first)

    def _stream(
        self, call: Call, task: SimTask, queue: asyncio.Queue[Move | None], first: list[bytes] | None = None
    ) -> Reply:
        frames = self._frames(call, task, queue, first or [])
        for fault, options in self._active(call):
            if fault.frames:
                frames = fault.frames(frames, options)
        return Reply(media_type="text/event-stream", headers={"Cache-Control": "no-store"}, body=frames)

    async def _frames(
        self, call: Call, task: SimTask, queue: asyncio.Queue[Move | None], first: list[bytes]
    ) -> AsyncIterator[bytes]:
        for frame in first:
            yield frame
        try:
            while (move := await queue.get()) is not None:
                if isinstance(move, Bytes):
                    yield move.data
                elif move.written and (event := self._speech.event(task, move)) is not None:
                    yield self._frame(call, event)
        finally:
            task.listeners.remove(queue)

    def _frame(self, call: Call, result: Document) -> bytes:
        # CRLF, as the SDKs' server library writes it.
        return b"data: " + to_json(self._envelope(call, result=result)) + b"\r\n\r\n"


async def _wrapped(fault: Behaviour, options: Options, serve: Any, call: Call) -> Reply:
    assert fault.call is not None
    return await fault.call(call, serve, options)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
