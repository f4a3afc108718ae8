"""A simulated agent: answers calls and keeps what it did. Honest but for its misbehaviours.

How calls come in and go out is its front's business (`fronts`), how objects are written its speech's (`speech`).
Nothing here knows a consumer, a posture or a pair: a misbehaviour is woken by the call and the size of its parts.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from a2a_lab.vendors.behaviours import BEHAVIOURS, Behaviour
from a2a_lab.vendors.behaviours.table import Call, CallFault, Options, Serve, Turn
from a2a_lab.vendors.card_desk import CardDesk
from a2a_lab.vendors.cards import Document, Keys
from a2a_lab.vendors.executor import honest_moves, plea
from a2a_lab.vendors.fronts import NoCall, front_of
from a2a_lab.vendors.moves import INTERRUPTED, TERMINAL, Bytes, Move, Say, SimTask
from a2a_lab.vendors.spec import AgentSpec
from a2a_lab.vendors.speech import RpcProblem
from a2a_lab.vendors.speech_legacy import speech_of
from a2a_lab.vendors.task_store import TaskStore
from a2a_lab.vendors.traffic import Incoming, Reply, to_json

RPC_PATH = "/rpc"
_KEPT_HEADERS = ("a2a-version", "a2a-extensions", "accept", "content-type", "user-agent", "x-tenant")
_Queue = asyncio.Queue[Move | None]


class SimulatedAgent:
    """One running agent. `base` is where its paths hang: an origin, below a gateway with a path.

    `started` is the reading of the monotonic clock that offsets in the store count from, that of now when None.
    """

    def __init__(
        self, spec: AgentSpec, *, base: str, keys: Keys, rpc_path: str = RPC_PATH, started: float | None = None
    ) -> None:
        self.spec = spec
        self._under = urlsplit(base).path
        self._desk = CardDesk(spec, base=base, rpc_path=rpc_path, keys=keys)
        self._speech = speech_of(_spoken(spec), spec.binding)
        self._front = front_of(self._speech, spec.binding, under=rpc_path)
        self._tasks = TaskStore()
        self._requests: list[dict[str, Any]] = []
        self._started = time.monotonic() if started is None else started
        self._faults = [(BEHAVIOURS[entry.name], entry) for entry in spec.misbehaviours]

    def store(self) -> dict[str, Any]:
        """Tasks with what each received and made, and the requests in order; all JSON."""
        return {"tasks": self._tasks.shown(self._speech), "requests": list(self._requests)}

    def close(self) -> None:
        self._tasks.close()

    async def handle(self, request: Incoming) -> Reply:
        """Answer one HTTP request. Paths are relative to `base`."""
        if not self._front.serves(request.path):
            self.note(request)
            return self._desk.reply(request)
        return await self._called(request)

    def note(self, request: Incoming, rpc_method: str | None = None) -> None:
        """Write a request into the store; `rpc_method` as the binding names it."""
        self._requests.append(
            {
                "method": request.method,
                "path": self._under + request.path,
                "rpc_method": rpc_method,
                "at_s": round(time.monotonic() - self._started, 4),
                "headers": {name: request.headers[name] for name in _KEPT_HEADERS if name in request.headers},
            }
        )

    # ---- calls -------------------------------------------------------------------------------------------------

    async def _called(self, request: Incoming) -> Reply:
        try:
            call, method = self._front.read(request)
        except NoCall as none:
            self.note(request)
            return none.reply
        except RpcProblem as problem:
            self.note(request)
            return self._front.refusal(None, problem)
        self.note(request, method)
        if call.op in ("send", "stream"):
            call.size = len(json.dumps(self._speech.said(call.params).get("parts")))
            call.immediate, call.as_stream = self._speech.is_immediate(call.params), call.op == "stream"
        serve: Serve = self._serve
        for fault, options in reversed(self._woken(call)):
            if fault.call:
                serve = _around(fault.call, serve, options)
        return await serve(call)

    def _woken(self, call: Call) -> list[tuple[Behaviour, Options]]:
        """The misbehaviours that this call wakes."""
        return [
            (fault, entry.options)
            for fault, entry in self._faults
            if call.op in fault.ops and entry.on in ("any", call.op) and call.size >= entry.min_bytes
        ]

    def _wrapped(self, call: Call, result: Document | None) -> Document:
        document = self._front.wrap(call, result=result)
        for fault, options in self._woken(call):
            if fault.envelope:
                document = fault.envelope(document, options)
        return document

    def _answer(self, call: Call, result: Document | None) -> Reply:
        return self._front.answer(self._wrapped(call, result))

    async def _serve(self, call: Call) -> Reply:
        try:
            return await self._honest(call)
        except RpcProblem as problem:
            return self._refused(call, problem)

    def _refused(self, call: Call, problem: RpcProblem) -> Reply:
        reply = self._front.refusal(call, problem)
        spoils = [(fault.envelope, options) for fault, options in self._woken(call) if fault.envelope]
        if not spoils or not isinstance(reply.body, bytes):
            return reply
        document = json.loads(reply.body)
        for spoil, options in spoils:
            document = spoil(document, options)
        return replace(reply, body=to_json(document))

    async def _honest(self, call: Call) -> Reply:
        if self._speech.wants_version and call.request.headers.get("a2a-version", "") != "1.0":
            raise RpcProblem("VersionNotSupported", "this agent speaks A2A 1.0; send the header A2A-Version: 1.0")
        if self.spec.tenant and call.params.get("tenant") != self.spec.tenant:
            raise RpcProblem("InvalidParams", f"tenant {self.spec.tenant!r} is expected, as the card says")
        match call.op:
            case "send" | "stream":
                return await self._message(call)
            case "get" | "cancel":
                task = self._tasks.find(call.params.get("id"))
                if call.op == "cancel":
                    self._tasks.cancel(task)
                return self._answer(call, self._speech.task(task))
            case "subscribe":
                return self._subscribe(call)
            case "extended-card":
                raise RpcProblem("UnsupportedOperation", "there is no extended card")
            case _:
                raise RpcProblem("MethodNotFound", "no such method")

    # ---- messages ----------------------------------------------------------------------------------------------

    async def _message(self, call: Call) -> Reply:
        message = self._speech.said(call.params)
        parts = message.get("parts")
        if not isinstance(parts, list) or not parts or not all(isinstance(part, dict) for part in parts):
            raise RpcProblem("InvalidParams", "a message with at least one part is expected")
        if call.op == "stream" and not self.spec.streaming:
            raise RpcProblem("StreamingNotSupported", "streaming not enabled for this agent")
        settings = _table(call.params.get("metadata")) | _table(message.get("metadata"))
        accepted, refused = self._modes(call, parts, settings)
        task = self._tasks.task_for(message, clients_make_ids=self._speech.clients_make_ids)
        if refused and self.spec.asks_with == "error":
            raise RpcProblem("ContentTypeNotSupported", f"content type {plea(refused, accepted)}")
        if self.spec.echoes_skill and settings.get("skillId") in {skill.id for skill in self.spec.skills}:
            task.metadata["skillId"] = settings["skillId"]
        task.received.append(json.dumps(parts, ensure_ascii=False))
        self._desk.messages += 1
        return await self._work(
            Turn(
                call=call,
                task=task,
                accepted=accepted,
                refused=refused,
                output=self._output(call),
                again=task.state in INTERRUPTED,
                work_s=self.spec.work_s,
            )
        )

    def _modes(self, call: Call, parts: list[Document], settings: Document) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the runtime takes, and what of the message (and its metadata, where that is read) it does not."""
        accepted = self.spec.inputs
        for fault, options in self._woken(call):
            if fault.modes:
                accepted = fault.modes(accepted, call, options)
        wanted = [self._speech.mode_of(part) for part in parts]
        if self.spec.reads_metadata:
            wanted += [str(mode) for mode in settings.get("intendedInputModes") or []]
        refused = [mode for mode in wanted if mode not in accepted and "*/*" not in accepted]
        return accepted, tuple(dict.fromkeys(refused))

    def _output(self, call: Call) -> str:
        """The first declared output mode that the client accepts, else the first."""
        wanted = _table(call.params.get("configuration")).get("acceptedOutputModes") or []
        return next((mode for mode in self.spec.outputs if mode in wanted), self.spec.outputs[0])

    async def _work(self, turn: Turn) -> Reply:
        moves = honest_moves(turn, self.spec)
        for fault, options in self._woken(turn.call):
            if fault.moves:
                moves = fault.moves(moves, turn, options)
        task, queue = turn.task, _Queue()
        task.listeners.append(queue)
        self._tasks.begin(task, moves)
        if turn.call.as_stream:
            return self._stream(turn.call, task, queue)
        try:
            first = move = await queue.get()
            while move is not None and not isinstance(first, Say):
                if turn.call.immediate or task.state in TERMINAL | INTERRUPTED:
                    break
                move = await queue.get()
        finally:
            task.listeners.remove(queue)
        # An executor that only speaks makes no task that anybody could ask for.
        result = self._speech.event(task, first) if isinstance(first, Say) else self._speech.answer(task)
        return self._answer(turn.call, result)

    # ---- streams -----------------------------------------------------------------------------------------------

    def _subscribe(self, call: Call) -> Reply:
        """1.0 opens with the task as it stands; up to 0.3 only what comes later is sent (wire-facts 7.2)."""
        task = self._tasks.find(call.params.get("id"))
        if not task.is_open:
            raise RpcProblem("InvalidTaskState", f"the task is already {task.state}")
        queue = _Queue()
        task.listeners.append(queue)
        if task.job is None or task.job.done():
            queue.put_nowait(None)
        first = [self._frame(call, self._speech.answer(task))] if self._speech.opens_with_task else []
        return self._stream(call, task, queue, first)

    def _stream(self, call: Call, task: SimTask, queue: _Queue, first: list[bytes] | None = None) -> Reply:
        frames = self._frames(call, task, queue, first or [])
        for fault, options in self._woken(call):
            if fault.frames:
                frames = fault.frames(frames, options)
        return Reply(media_type="text/event-stream", headers={"Cache-Control": "no-store"}, body=frames)

    async def _frames(self, call: Call, task: SimTask, queue: _Queue, first: list[bytes]) -> AsyncIterator[bytes]:
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
        return b"data: " + to_json(self._wrapped(call, result)) + b"\r\n\r\n"


def _around(wrap: CallFault, serve: Serve, options: Options) -> Serve:
    async def wrapped(call: Call) -> Reply:
        return await wrap(call, serve, options)

    return wrapped


def _spoken(spec: AgentSpec) -> str:
    """The dialect on the wire: the declared one, but for a misbehaviour that speaks another."""
    spoken = (BEHAVIOURS[entry.name].speaks and entry.options["dialect"] for entry in spec.misbehaviours)
    return next((str(dialect) for dialect in spoken if dialect), spec.dialect)


def _table(value: Any) -> Document:
    return value if isinstance(value, dict) else {}
