"""Misbehaviours about media types: runtimes that take less, more or other than their card says."""

from __future__ import annotations

from a2a_lab.vendors.behaviours.table import Behaviour, Call, Option, Options, Turn
from a2a_lab.vendors.moves import Chunk, Move, Moves, Part, Status


def _only(accepted: tuple[str, ...], call: Call, options: Options) -> tuple[str, ...]:
    return tuple(options["accepts"])


def _everything(accepted: tuple[str, ...], call: Call, options: Options) -> tuple[str, ...]:
    return ("*/*",)


async def _commit_then_reject(moves: Moves, turn: Turn, options: Options) -> Moves:
    """Work is stored before the check; the sender's second attempt then meets its own leavings."""
    async for move in moves:
        if isinstance(move, Status) and turn.refused and not turn.again:
            stored = Part(mode="application/json", data={"stored": turn.call.size})
            yield Chunk(artifact=f"stored-{len(turn.task.artifacts)}", parts=(stored,))
        if turn.again and isinstance(move, Status | Chunk):
            yield Status(state="rejected", parts=(Part(text="partial work of the first attempt exists"),))
            return
        yield move


async def _undeclared_output(moves: Moves, turn: Turn, options: Options) -> Moves:
    async for move in moves:
        yield _retyped(move, options["mode"])


def _retyped(move: Move, mode: str) -> Move:
    if not isinstance(move, Chunk):
        return move
    part = Part(mode=mode, text="<result/>")
    return Chunk(artifact=move.artifact, parts=(part,), append=move.append, last=move.last)


_ACCEPTS = Option(name="accepts", kind="texts", says="the media types that the runtime takes")

BEHAVIOURS = (
    Behaviour(
        name="ignores-skill-modes",
        says="One generic executor with modes of its own, whatever the skill on the card says.",
        breaks="A3, A4, R22",
        options=(_ACCEPTS,),
        modes=_only,
    ),
    Behaviour(
        name="ignores-default-modes",
        says="The runtime does not take the default input modes that its card declares.",
        breaks="A3, A4, R22",
        options=(_ACCEPTS,),
        modes=_only,
    ),
    Behaviour(
        name="accepts-undeclared",
        says="The runtime takes any media type, so that an accepted probe proves nothing.",
        breaks="R23",
        modes=_everything,
    ),
    Behaviour(
        name="commits-then-rejects",
        says="Stores its work before it checks the mode, asks for another, then rejects the second attempt.",
        breaks="A7, R35",
        options=(_ACCEPTS,),
        modes=_only,
        moves=_commit_then_reject,
    ),
    Behaviour(
        name="undeclared-output",
        says="Answers with an artifact of a media type that the card does not declare.",
        breaks="A5, R16",
        options=(Option(name="mode", kind="text", says="the media type of its artifacts", default="application/xml"),),
        moves=_undeclared_output,
    ),
)
