"""Misbehaviours of single stream events: out of order, of another task, in words that no dialect knows."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace

from a2a_lab.vendors.behaviours.table import Behaviour, Document, Frames, Option, Options, Turn
from a2a_lab.vendors.moves import TERMINAL, Chunk, Moves, Part, Say, Snapshot, Status


async def _events_after_terminal(moves: Moves, turn: Turn, options: Options) -> Moves:
    """Written only: the store keeps its end, as a terminal task does not change."""
    ended = False
    async for move in moves:
        yield move
        ended = ended or (isinstance(move, Status | Snapshot) and move.state in TERMINAL)
    if not ended:
        return
    if options["kind"] == "artifact":
        yield Chunk(artifact="afterthought", parts=(Part(text="one more thing"),), stored=False)
    else:
        yield Status(state="working", parts=(Part(text="back at work"),), stored=False)


async def _foreign_task_id(moves: Moves, turn: Turn, options: Options) -> Moves:
    """After the first event, which opens the task under its own id."""
    foreign, first = f"foreign-{secrets.token_hex(4)}", True
    async for move in moves:
        yield move if first else replace(move, task_id=foreign)
        first = False


async def _context_replaced(moves: Moves, turn: Turn, options: Options) -> Moves:
    if not turn.again:
        turn.task.context_id = f"own-{secrets.token_hex(4)}"
    async for move in moves:
        yield move


async def _status_before_task(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        if isinstance(move, Snapshot) and move.state == "working":
            yield Status(state="working")
        else:
            yield move


async def _append_without_base(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        yield replace(move, append=True) if isinstance(move, Chunk) else move


async def _chunk_after_last(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        yield move
        if isinstance(move, Chunk) and move.last:
            yield replace(move, append=True, last=False, stored=False)


async def _mixed_message(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        yield move
        if isinstance(move, Snapshot) and move.state == "working":
            yield Say(parts=(Part(text="by the way: a message among the events of a task"),))


async def _message_only(moves: Moves, turn: Turn, options: Options) -> Moves:
    await asyncio.sleep(turn.work_s)
    turn.task.state = "completed"
    yield Say(parts=(Part(text="done, without a task"),))


async def _unknown_state(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        if isinstance(move, Status) and move.state == "completed":
            yield Status(state=options["state"])
        yield move


async def _no_final_flag(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        yield replace(move, final=False) if isinstance(move, Status) else move


async def _truncated(frames: Frames, options: Options) -> Frames:
    """The last event stops in the middle, and the body ends as if that were all."""
    held: bytes | None = None
    async for frame in frames:
        if held is not None:
            yield held
        held = frame
    if held is not None:
        yield held[: len(held) // 2]


async def _endless_line(frames: Frames, options: Options) -> Frames:
    async for frame in frames:
        yield frame
        break
    yield b"data: "
    left = options["bytes"]
    while left > 0:
        yield b"x" * min(left, 65_536)
        left -= 65_536
        await asyncio.sleep(0)  # other agents of the host go on answering meanwhile


async def _reset(frames: Frames, options: Options) -> Frames:
    """The connection breaks off after the first event; the server drops the body without its end."""
    async for frame in frames:
        yield frame
        break
    await asyncio.sleep(0.01)  # so that the event leaves before the connection does
    raise ConnectionResetError("the stream breaks off, as it is meant to")


def _foreign_rpc_id(envelope: Document, options: Options) -> Document:
    return envelope | {"id": options["id"]}


BEHAVIOURS = (
    Behaviour(
        name="events-after-terminal",
        says="Sends a further event after the one that ended the task.",
        breaks="A6; 1.0 section 3.1.2",
        options=(Option(name="kind", kind="text", says="which event", default="status", words=("status", "artifact")),),
        moves=_events_after_terminal,
    ),
    Behaviour(
        name="foreign-task-id",
        says="All events but the first name another task.",
        breaks="R1",
        moves=_foreign_task_id,
    ),
    Behaviour(
        name="foreign-rpc-id",
        says="Answers and events carry a JSON-RPC id that nobody sent.",
        breaks="wire-facts 7.2; JSON-RPC 2.0 section 5",
        bindings=("JSONRPC",),
        options=(Option(name="id", kind="any", says="the id it answers with", default="not-yours"),),
        envelope=_foreign_rpc_id,
    ),
    Behaviour(
        name="context-replaced",
        says="Takes the client's contextId and answers with one of its own.",
        breaks="1.0 section 3.4.1",
        moves=_context_replaced,
    ),
    Behaviour(
        name="status-before-task",
        says="The stream opens with a status update instead of the task.",
        breaks="1.0 section 3.1.2",
        moves=_status_before_task,
    ),
    Behaviour(
        name="append-without-base",
        says="The first chunk of an artifact says append.",
        breaks="R29",
        moves=_append_without_base,
    ),
    Behaviour(
        name="chunk-after-last",
        says="An artifact gets a further chunk after its last one.",
        breaks="R29",
        moves=_chunk_after_last,
    ),
    Behaviour(
        name="mixed-message",
        says="A message stands among the events of a task.",
        breaks="1.0 section 3.1.2",
        moves=_mixed_message,
    ),
    Behaviour(
        name="message-only",
        says="A stream of one bare message: legal, but no transition to govern.",
        breaks="R22",
        moves=_message_only,
    ),
    Behaviour(
        name="unknown-state",
        says="Passes through a state that its dialect does not know before it completes.",
        breaks="wire-facts 6",
        options=(Option(name="state", kind="text", says="the state as written", default="TASK_STATE_PAUSED"),),
        moves=_unknown_state,
    ),
    Behaviour(
        name="no-final-flag",
        says="Never says final: true, though the task ends (0.3).",
        breaks="R29",
        moves=_no_final_flag,
    ),
    Behaviour(
        name="truncated-event",
        says="The last event of the stream is cut in the middle.",
        breaks="wire-facts 7.2",
        frames=_truncated,
    ),
    Behaviour(
        name="endless-line",
        says="One line of the stream goes on for many megabytes.",
        breaks="DESIGN 9",
        options=(Option(name="bytes", kind="whole", says="how long the line is", default=8_000_000),),
        frames=_endless_line,
    ),
    Behaviour(
        name="resets",
        says="The connection breaks off in the middle of the stream.",
        breaks="R31",
        frames=_reset,
    ),
)
