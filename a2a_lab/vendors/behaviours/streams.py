"""Misbehaviours of streams that never end, or end in the wrong way. Those of single events are in `events`."""

from __future__ import annotations

import asyncio

from a2a_lab.vendors.behaviours.table import Behaviour, Option, Options, Turn
from a2a_lab.vendors.moves import TERMINAL, Bytes, Move, Moves, Part, Snapshot, Status

_FOREVER_S = 3600.0  # longer than any clock of the lab; a cancel or the end of the host ends the wait


def _is_end(move: Move) -> bool:
    return isinstance(move, Status | Snapshot) and move.state in TERMINAL


async def _never_final(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        if not _is_end(move):
            yield move
            continue
        while True:
            await asyncio.sleep(options["every_s"] if options["pings"] else _FOREVER_S)
            yield Bytes(data=b": ping\n\n")


async def _drip(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        if not _is_end(move):
            yield move
            continue
        count = 0
        while True:
            count += 1
            yield Status(state="working", parts=(Part(text=f"still at it ({count})"),))
            await asyncio.sleep(options["every_s"])


async def _single_terminal_event(moves: Moves, turn: Turn, options: Options) -> Moves:
    """Nothing is produced, in the store neither; a refusal stays as it is."""
    if turn.refused:
        async for move in moves:
            yield move
        return
    async for move in moves:
        if not _is_end(move):
            continue
        # As a task the event is legal in every dialect, so that the empty end is the only fault.
        yield Snapshot(state="completed") if options["event"] == "task" else move


async def _eof(moves: Moves, turn: Turn, options: Options) -> Moves:
    """The executor returns without an end, as a handler does that forgot one: the task stays at work."""
    async for move in moves:
        if _is_end(move):
            return
        yield move


async def _never_moves(moves: Moves, turn: Turn, options: Options) -> Moves:
    yield Snapshot(state="submitted")
    await asyncio.sleep(_FOREVER_S)


async def _artifact_then_failed(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        if isinstance(move, Status) and move.state == "completed":
            move = Status(state=options["state"], parts=(Part(text="gave up after the artifact was stored"),))
        yield move


async def _completed_then_open(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        yield move
    if not turn.refused:
        await asyncio.sleep(options["for_s"])


async def _asks_for_ever(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        if isinstance(move, Snapshot):
            yield move
    yield Status(state=options["state"], parts=(Part(text="Which account is this for?"),))


_EVERY = Option(name="every_s", kind="seconds", says="seconds between two of them", default=0.1)

BEHAVIOURS = (
    Behaviour(
        name="never-final",
        says="Works and delivers, but never says that it is done; silent, or with SSE comments when `pings` is set.",
        breaks="A6, R30",
        options=(Option(name="pings", kind="flag", says="send comments while it hangs", default=False), _EVERY),
        moves=_never_final,
    ),
    Behaviour(
        name="drip-of-working",
        says="Repeats the state working for ever: never silent, never done.",
        breaks="A6, R30",
        options=(_EVERY,),
        moves=_drip,
    ),
    Behaviour(
        name="single-terminal-event",
        says="One completed event and no artifact, neither in the stream nor in the task.",
        breaks="A6, R28",
        options=(
            Option(
                name="event",
                kind="text",
                says="a task, or a bare status update",
                default="task",
                words=("task", "status"),
            ),
        ),
        moves=_single_terminal_event,
    ),
    Behaviour(
        name="eof-nonterminal",
        says="The stream closes, or the call answers, while the task is still at work.",
        breaks="A6, wire-facts 7.3",
        moves=_eof,
    ),
    Behaviour(
        name="never-moves",
        says="Answers with a submitted task that never starts.",
        breaks="R22",
        moves=_never_moves,
    ),
    Behaviour(
        name="artifact-then-failed",
        says="Delivers its artifact, then ends the task as failed (or as another state).",
        breaks="A7, R35",
        options=(
            Option(
                name="state",
                kind="text",
                says="the state it ends in",
                default="failed",
                words=("failed", "rejected", "canceled"),
            ),
        ),
        moves=_artifact_then_failed,
    ),
    Behaviour(
        name="completed-then-open",
        says="Says completed and keeps the stream open.",
        breaks="R31",
        options=(Option(name="for_s", kind="seconds", says="seconds it stays open", default=_FOREVER_S),),
        moves=_completed_then_open,
    ),
    Behaviour(
        name="interrupts",
        says="Answers every message with a question that names no mode (or asks for credentials).",
        breaks="R22",
        options=(
            Option(
                name="state",
                kind="text",
                says="which interrupted state",
                default="input-required",
                words=("input-required", "auth-required"),
            ),
        ),
        moves=_asks_for_ever,
    ),
)
