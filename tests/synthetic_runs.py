"""Runs written by hand: the seven pairs in both postures with figures and evidence of the shape that the lab records.

For tests of tables, comparison and pages only. Nothing here is counted from anything, so these figures prove nothing
about the lab; what the runner records is tested where it runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a2a_lab.lab.records import (
    CellKey,
    CellRecord,
    Header,
    Measures,
    Orphan,
    Outcome,
    RunWriter,
    StageRecord,
    VendorRecord,
    evidence_path,
)
from a2a_lab.verdicts import Finding, Judge, Kind, NotGradeable, Stage, Verdict, worst
from a2a_lab.wire.exchange import Chunk, Exchange
from a2a_lab.wire.har import to_har

STARTED = datetime(2026, 11, 30, 12, 46, 27, tzinfo=UTC)
ENDED = "2026-11-30T12:46:33Z"
TEXT, JSON_, CSV = "text/plain", "application/json", "text/csv"


def key(agent: str = "alder", consumer: str = "notes", posture: str = "trusting", **axes: Any) -> CellKey:
    versions = {"alder": "1.0", "birch": "2.3", "cedar": "0.9"}
    fixed = {"agent_version": versions.get(agent, "1"), "binding": "JSONRPC", "version": "1.0", "scenario": "default"}
    return CellKey(agent=agent, consumer=consumer, posture=posture, **(fixed | axes))


def finding(slug: str, stage: Stage, verdict: Verdict, kind: Kind = Kind.CONFORMANCE, **more: Any) -> Finding:
    fixed = {"judge": Judge.POLICY, "rule": "A3", "clause": None, "detail": slug.replace("-", " ")}
    return Finding(slug=slug, stage=stage, verdict=verdict, kind=kind, **(fixed | more))


def cell(at: CellKey, verdict: Outcome = Verdict.ACCEPT, findings: Sequence[Finding] = (), **more: Any) -> CellRecord:
    stages = {
        stage: StageRecord(
            verdict=worst(f.verdict for f in findings if f.stage is stage),
            findings=tuple(f for f in findings if f.stage is stage),
        )
        for stage in Stage
    }
    because = tuple(f.slug for f in findings if f.kind is not Kind.NOTE)
    fixed: dict[str, Any] = {
        "authority": "advisory" if because else "authoritative",
        "because": because,
        "stages": stages,
        "errors": tuple(f.slug for f in findings if f.verdict.severity > 1 and f.kind is Kind.CONFORMANCE),
        "started": "2026-11-30T12:46:28Z",
        "ended": "2026-11-30T12:46:29Z",
        "measures": Measures(held=True, delivered=True, payload_sends=1, requests=2, time_to_verdict_s=0.5),
    }
    return CellRecord(key=at, verdict=verdict, **(fixed | more))


def header(cells: Iterable[CellRecord], posture: str = "trusting", **more: Any) -> Header:
    cells = list(cells)
    vendors = {c.key.agent: VendorRecord(version=c.key.agent_version, reach="simulated") for c in cells}
    vendors |= {c.key.consumer: VendorRecord(version="1", reach="simulated") for c in cells}
    fixed: dict[str, Any] = {
        "run": f"20261130T124627Z-{'1a2b' if posture == 'trusting' else '3c4d'}",
        "tool": "a2a-lab 0.1.0",
        "posture": posture,
        "matrix": "seven-pairs",
        "plan": tuple(str(c.key) for c in cells),
        "parameters": {"transport_timeout_s": 5.0, "attempts": 1},
        "vendors": vendors,
        "started": "2026-11-30T12:46:27Z",
    }
    return Header(**(fixed | more))


def write(folder: Path, cells: Sequence[CellRecord], *, close: bool = True, **more: Any) -> Path:
    """A run of these cells in `folder`; without `close` it has no footer."""
    with RunWriter(folder, header(cells, **more)) as writer:
        for record in cells:
            writer.append(record)
        if close:
            writer.close(ended=ENDED)
    return folder


UNSIGNED = finding(
    "unsigned", Stage.SIGNATURE, Verdict.HINT, Kind.AUTHORITY, rule="A1", detail="the card has no signature"
)
STRANGER = finding(
    "untrusted-key",
    Stage.SIGNATURE,
    Verdict.HINT,
    Kind.AUTHORITY,
    rule="A1",
    detail="the signature verifies under kid 'birch-2026', a key nobody told us to trust; add it with --trust",
)


def narrowed(mode: str, runtime: str) -> Finding:
    return finding(
        "mode-narrowed",
        Stage.PROBE,
        Verdict.HINT,
        rule="A4, R22",
        detail=f"the card declares {mode}, the runtime takes {runtime} only; the artifact went as {runtime}",
        values={"declared": mode, "runtime": runtime},
    )


def broken(mode: str, runtime: str) -> Finding:
    return finding(
        "mode-not-enforced",
        Stage.PROBE,
        Verdict.CONFORMANCE_ERROR,
        detail=f"the card declares {mode}; a payload in it was answered input-required, naming {runtime}",
        values={"declared": mode, "runtime": runtime},
    )


EMPTY = finding(
    "stream-without-artifact",
    Stage.STREAM,
    Verdict.CONFORMANCE_ERROR,
    rule="A6",
    clause="1.0.1 3.1.2",
    detail="the stream ended completed after 1 event and no artifact; the task is not marked complete",
    other="the spec allows zero artifacts",
)
ENDLESS = finding(
    "stream-never-final",
    Stage.STREAM,
    Verdict.HANG,
    rule="R30",
    judge=Judge.SPEC,
    clause="1.0.1 3.1.2 MUST",
    detail="no protocol event for 2.0 s after working; asked once at 1.0 s: still working",
)

# agent, consumer, mode, runtime mode, held, (trusting verdict, ending), (enforcing verdict, ending)
_PAIRS: list[tuple[str, str, str, str, bool]] = [
    ("alder", "notes", TEXT, TEXT, True),
    ("alder", "records", JSON_, TEXT, False),
    ("birch", "notes", TEXT, JSON_, False),
    ("birch", "records", JSON_, JSON_, True),
    ("birch", "dash", CSV, JSON_, False),
    ("cedar", "batch", JSON_, TEXT, False),
    ("cedar", "dash", CSV, TEXT, False),
]


def seven(posture: str) -> list[CellRecord]:
    """The seven cells of one posture, as the reference tables have them."""
    make: Callable[..., CellRecord] = _trusting if posture == "trusting" else _enforcing
    return [make(*pair) for pair in _PAIRS]


def _standing(agent: str) -> list[Finding]:
    return {"alder": [], "birch": [STRANGER], "cedar": [UNSIGNED]}[agent]


def _trusting(agent: str, consumer: str, mode: str, runtime: str, held: bool) -> CellRecord:
    at = key(agent, consumer)
    found = [*_standing(agent), *([] if held else [broken(mode, runtime)])]
    verdict, said, orphans = Verdict.ACCEPT if held else Verdict.CONFORMANCE_ERROR, "took it as done", ()
    done = Measures(
        held=held,
        diverged=() if held else ("mode",),
        delivered=True,
        renegotiation_cycles=int(not held),
        refused_sends=int(not held),
        payload_sends=1 if held else 2,
        waited_s=0.1,
        time_to_verdict_s=0.58 if held else 0.67,
        requests=1 if held else 4,
        bytes_committed=312,
        bytes_before_authority=312,
    )
    closure = None
    if (agent, consumer) == ("birch", "dash"):
        done, found = replace(done, delivered=False, diverged=("mode", "no-artifact")), [*found, EMPTY]
        said, closure = "took it as done, with no artifact", "final-proved"
    if (agent, consumer) == ("cedar", "batch"):
        verdict, said = Verdict.ORPHAN, "gave up: the task was rejected after it had stored the artifact"
        done = replace(done, delivered=False, orphaned_artifacts=2, orphaned_tasks=1)
        orphans = _left(agent, "t-5b1c", "rejected")
    if (agent, consumer) == ("cedar", "dash"):
        verdict, said, closure = Verdict.ORPHAN, "the transport timeout of 5.0 s ended the wait", "idle-hang"
        done = replace(
            done,
            delivered=False,
            diverged=("mode", "never-final"),
            orphaned_artifacts=2,
            orphaned_tasks=1,
            hangs=1,
            waited_s=5.0,
            time_to_verdict_s=5.36,
        )
        found, orphans = [*found, ENDLESS], _left(agent, "t-77aa", "working")
    more: dict[str, Any] = {"measures": done, "said": said, "closure": closure, "orphans": orphans, "mode": runtime}
    return cell(
        at, verdict, found, **more, evidence=evidence_path(at), card_digest="9f" * 32, portable_digest="1c" * 32
    )


def _left(agent: str, task: str, state: str) -> tuple[Orphan, ...]:
    rows = [("m-1", CSV, 312), ("a-1", TEXT, 48), (None, None, None)]
    return tuple(
        Orphan(agent=agent, task_id=task, artifact_or_message_id=name, media_type=media, bytes=size, state=state)
        for name, media, size in rows
    )


def _enforcing(agent: str, consumer: str, mode: str, runtime: str, held: bool) -> CellRecord:
    at = key(agent, consumer, "enforcing")
    found = [*_standing(agent), *([] if held else [narrowed(mode, runtime)])]
    verdict = Verdict.ACCEPT if held else Verdict.HINT
    said, closure, used = f"committed as {runtime} and settled", None, runtime
    done = Measures(
        held=held,
        diverged=() if held else ("mode",),
        delivered=True,
        payload_sends=1,
        waited_s=0.05,
        time_to_verdict_s=0.48,
        requests=5,
        bytes_committed=312,
    )
    if consumer == "dash":
        done = replace(done, delivered=False, payload_sends=0, bytes_committed=0, time_to_verdict_s=0.31)
        last = EMPTY if agent == "birch" else ENDLESS
        found, verdict, used = [*found, last], last.verdict, ""
        said = f"no payload was sent: {last.slug} on the probe's stream"
        closure = "final-proved" if agent == "birch" else "idle-hang"
        if agent == "cedar":
            done = replace(done, waited_s=2.0, time_to_verdict_s=2.4, diverged=("never-final",))
    more: dict[str, Any] = {"measures": done, "said": said, "closure": closure, "mode": used or None}
    return cell(
        at, verdict, found, **more, evidence=evidence_path(at), card_digest="9f" * 32, portable_digest="1c" * 32
    )


def rpc(method: str, params: dict[str, Any], result: Any, *, at: float, purpose: str, took: float = 40) -> Exchange:
    """One unary JSON-RPC exchange of dialect 1.0."""
    body = {"jsonrpc": "2.0", "id": "r-1", "method": method, "params": params}
    return Exchange(
        method="POST",
        url="http://127.0.0.1:41231/a2a",
        request_headers=[("content-type", "application/json"), ("A2A-Version", "1.0")],
        request_body=json.dumps(body).encode(),
        started_ms=at,
        ended_ms=at + took,
        status=200,
        response_headers=[("content-type", "application/json")],
        body=json.dumps({"jsonrpc": "2.0", "id": "r-1", "result": result}).encode(),
        purpose=purpose,
    )


def card_get(name: str, *, at: float = 2) -> Exchange:
    card = {"name": name, "version": "1.0", "supportedInterfaces": [{"url": "http://127.0.0.1:41231/a2a"}]}
    return Exchange(
        method="GET",
        url="http://127.0.0.1:41231/.well-known/agent-card.json",
        started_ms=at,
        ended_ms=at + 6,
        status=200,
        response_headers=[("content-type", "application/json")],
        body=json.dumps(card).encode(),
        purpose="card",
    )


def message(mode: str, text: str = "one line, please") -> dict[str, Any]:
    part = {"text": text} if mode == TEXT else {"data": {"rows": [1, 2, 3]}} if mode == JSON_ else {"raw": "YSxiCg=="}
    return {"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [part | {"mediaType": mode}]}}


def task(state: str, *, artifact: str | None = None, said: str = "") -> dict[str, Any]:
    status: dict[str, Any] = {"state": f"TASK_STATE_{state}"}
    if said:
        status["message"] = {"messageId": "m-9", "role": "ROLE_AGENT", "parts": [{"text": said, "mediaType": TEXT}]}
    shown: dict[str, Any] = {"id": "t-5b1c", "contextId": "c-1", "status": status}
    if artifact:
        shown["artifacts"] = [{"artifactId": "a-1", "parts": [{"text": artifact, "mediaType": TEXT}]}]
    return {"task": shown}


def stream(events: Sequence[tuple[float, Any]], *, at: float, ended: float, cut_by: str | None = None) -> Exchange:
    """A streaming exchange; an event that is text goes out as it stands (a comment, say)."""
    chunks = [
        Chunk(
            offset_ms=offset,
            data=event.encode()
            if isinstance(event, str)
            else b"data: " + json.dumps({"jsonrpc": "2.0", "id": "r-2", "result": event}).encode() + b"\r\n\r\n",
        )
        for offset, event in events
    ]
    start = rpc("SendStreamingMessage", message(CSV), None, at=at, purpose="commit")
    return replace(
        start,
        ended_ms=ended,
        response_headers=[("content-type", "text/event-stream")],
        chunks=chunks,
        body=b"".join(chunk.data for chunk in chunks),
        ending="open" if cut_by else "close",
        cut_by=cut_by,
    )


def status_update(state: str) -> dict[str, Any]:
    return {"statusUpdate": {"taskId": "t-77aa", "contextId": "c-1", "status": {"state": f"TASK_STATE_{state}"}}}


def exchanges_of(record: CellRecord) -> list[Exchange]:
    """Evidence that fits how the cell ended, roughly."""
    mode = record.mode or TEXT
    asked = task("INPUT_REQUIRED", said=f"please send {mode}, this is not supported here")
    shown = [card_get(record.key.agent)]
    if record.key.consumer == "dash":
        events: list[tuple[float, Any]] = [(40, task("SUBMITTED")), (55, status_update("WORKING"))]
        if record.key.agent == "birch":
            return [*shown, stream([(40, status_update("COMPLETED"))], at=20, ended=45)]
        end = 5055 if record.key.posture == "trusting" else 2060
        events += [(1000 + 15 * n, ": ping\r\n\r\n") for n in range(3)]
        watched = stream(events, at=20, ended=end, cut_by="transport-timeout" if end > 5000 else "hang-limit")
        cancel = rpc("CancelTask", {"id": "t-77aa"}, task("CANCELED")["task"], at=end + 3, purpose="cancel")
        return [*shown, watched, *([] if end > 5000 else [cancel])]
    if record.key.posture == "enforcing":
        shown.append(rpc("SendMessage", message(TEXT), task("WORKING"), at=15, purpose="probe"))
        shown.append(rpc("CancelTask", {"id": "t-5b1c"}, task("CANCELED")["task"], at=80, purpose="cancel"))
    elif record.measures.refused_sends:
        shown.append(rpc("SendMessage", message(JSON_), asked, at=20, purpose="commit"))
    done = task("COMPLETED", artifact="the summary") if record.measures.delivered else task("REJECTED")
    return [*shown, rpc("SendMessage", message(mode), done, at=150, purpose="commit", took=220)]


def write_seven(root: Path, posture: str) -> Path:
    """The seven pairs of one posture with their evidence, as a run folder under `root`."""
    cells = seven(posture)
    folder = write(root / header(cells, posture).run, cells, posture=posture)
    for record in cells:
        document = to_har(exchanges_of(record), started=STARTED, tool="a2a-lab 0.1.0", comment=str(record.key))
        (folder / evidence_path(record.key)).write_text(json.dumps(document))
    return folder


def unreachable(agent: str = "dogwood", consumer: str = "notes", posture: str = "trusting") -> CellRecord:
    return cell(
        key(agent, consumer, posture),
        NotGradeable.UNREACHABLE,
        authority="advisory",
        stages={},
        measures=Measures(requests=1, time_to_verdict_s=0.1),
        said="connection refused at 127.0.0.1:9",
    )
