"""What an honest executor does with one message: work, then either ask for another mode or deliver and complete."""

from __future__ import annotations

import asyncio

from a2a_lab.vendors.behaviours.table import Turn
from a2a_lab.vendors.moves import Chunk, Moves, Part, Snapshot, Status
from a2a_lab.vendors.spec import AgentSpec


async def honest_moves(turn: Turn, spec: AgentSpec) -> Moves:
    """Working, then the artifact in one or several chunks and completed; or input-required in the agent's own way."""
    yield Snapshot(state="working")
    await asyncio.sleep(turn.work_s)
    if turn.refused:
        yield Status(state="input-required", parts=(_question(turn, spec),))
        return
    name = f"result-{len(turn.task.artifacts) + 1}"
    pieces = _result(turn, spec)
    for place, piece in enumerate(pieces):
        yield Chunk(artifact=name, parts=(piece,), append=place > 0, last=place == len(pieces) - 1)
    yield Status(state="completed")


def _question(turn: Turn, spec: AgentSpec) -> Part:
    if spec.asks_with == "data":
        return Part(mode="application/json", data={"acceptedInputModes": list(turn.accepted)})
    return Part(text=plea(turn.refused, turn.accepted))


def plea(refused: tuple[str, ...], accepted: tuple[str, ...]) -> str:
    """The sentence by which people's agents ask: it names what they do not take beside what they do."""
    return f"{', '.join(refused)} is not supported here; please send {' or '.join(accepted)}"


def _result(turn: Turn, spec: AgentSpec) -> list[Part]:
    """One line that says how much was received, in the output mode; several pieces where chunks are asked for."""
    if turn.output == "application/json":
        return [Part(mode=turn.output, data={"received_bytes": turn.call.size, "piece": n}) for n in range(spec.chunks)]
    line = f"received {turn.call.size} bytes"
    width = -(-len(line) // spec.chunks)
    pieces = [line[start : start + width] for start in range(0, len(line), width)]
    return [Part(mode=turn.output, text=piece) for piece in pieces]
