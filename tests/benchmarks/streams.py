"""Streams: bytes through framing, strict JSON, dialect, reassembly and watch, beside json.loads of ready-cut events."""

from __future__ import annotations

import json
import time

from a2a_lab.core.policy import Clocks
from a2a_lab.core.stream import StreamWatch
from a2a_lab.wire.dialects import dialect_for
from a2a_lab.wire.streams import StreamReader
from tests.benchmarks.measuring import beside, told

EVENTS = 5000


def _event(text: str) -> str:
    artifact = {"artifactId": "a1", "parts": [{"text": text}]}
    update = {"taskId": "t1", "contextId": "c1", "artifact": artifact, "append": True}
    return json.dumps({"jsonrpc": "2.0", "id": "r1", "result": {"artifactUpdate": update}})


def main() -> None:
    task = {"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_WORKING"}}
    first = json.dumps({"jsonrpc": "2.0", "id": "r1", "result": {"task": task}})
    for size, chunk in ((40, 65536), (40, 1400), (40, 0)):
        frames = [first, *(_event("x" * size) for _ in range(EVENTS))]
        whole = "".join(f"data: {frame}\n\n" for frame in frames).encode()
        pieces = (
            [whole[at : at + chunk] for at in range(0, len(whole), chunk)]
            if chunk
            else [f"data: {frame}\n\n".encode() for frame in frames]
        )

        def read(pieces: list[bytes] = pieces) -> float:
            began = time.perf_counter()
            watch = StreamWatch("1.0", Clocks(), opened=0.0)
            reader = StreamReader(dialect_for("1.0"), watch, rpc_id="r1")
            reader.open(200, {"Content-Type": "text/event-stream"}, 0.0)
            seen = sum(len(reader.feed(piece, 0.1)) for piece in pieces)
            assert seen == EVENTS + 1
            return (time.perf_counter() - began) / EVENTS * 1e6

        def bare(frames: list[str] = frames) -> float:
            began = time.perf_counter()
            for frame in frames:
                json.loads(frame)
            return (time.perf_counter() - began) / EVENTS * 1e6

        name = f"event in chunks of {chunk or 'one event'}"
        told(name, *beside(read, bare), "us/event", "json.loads alone")
