"""A case made of a recording reads back as the recording: times, writes, ends, faults, and bytes that are no JSON."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.keys import KeySet
from a2a_lab.core.policy import Clocks, Intent, Policy
from a2a_lab.core.stream_findings import STREAM_RESET
from a2a_lab.errors import RecordFault
from a2a_lab.lab.casereading import Case, read_case
from a2a_lab.lab.casewriting import body_of, written_case
from a2a_lab.lab.recall import Recalled
from a2a_lab.lab.records import CellKey, CellRecord
from a2a_lab.lab.runkeys import TRUST, keys_at, note_keys
from a2a_lab.vendors.consumer_spec import ConsumerSpec
from a2a_lab.verdicts import Verdict
from a2a_lab.wire.exchange import Chunk, Exchange

CLOCKS = Clocks(silence_s=0.5, hang_s=1.5, total_s=7.0, close_s=0.25)
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()


def recalled(posture: str = "enforcing", **policy: Any) -> Recalled:
    consumer = ConsumerSpec(name="notes", tenant="acme", tenant_by="query")
    return Recalled(
        record=CellRecord(
            key=CellKey.parse(f"alder@1.0/notes/JSONRPC/1.0/default/{posture}/1"),
            verdict=Verdict.REFUSE,
            authority="advisory",
        ),
        consumer=consumer,
        jwks={"keys": []},
        exchanges=(),
        policy=Policy(clocks=CLOCKS, trusted_keys=KeySet.from_jwks({"keys": []}), **policy),
        intent=Intent(mode="a/b", payloads={"a/b": b"x", "c/d": b"y"}, skill="s", requires=("streaming",), stream=True),
        now=NOW,
        base_url="https://agent.example.test",
    )


def again(*exchanges: Exchange, of: Recalled | None = None) -> Case:
    document = written_case(
        of or recalled(), exchanges, name="n", summary="s", finding=STREAM_RESET("d"), verdict=Verdict.REFUSE
    )
    return read_case(json.loads(json.dumps(document)), name="case.json")


def test_what_the_consumer_wanted_and_its_operator_allowed_comes_back() -> None:
    given = recalled(drift="once", probe="lenient", probe_control=True, topology="gateway", max_renegotiations=3)
    case = again(of=given)
    assert case.policy == given.policy
    assert (case.intent.mode, list(case.intent.payloads), case.intent.stream) == ("a/b", ["a/b", "c/d"], True)
    assert (case.intent.skill, case.intent.requires) == ("s", ("streaming",))
    assert (case.now, case.base_url) == (NOW, "https://agent.example.test")
    assert case.resolver is not None and case.expected is not None and case.expected.verdict is Verdict.REFUSE


times = st.integers(0, 5000).map(float)
bodies = st.binary(max_size=30) | st.sampled_from(
    [b'{"a":1}', b'{"a":1,"a":2}', b"[NaN]", b'{"a":1e999}', b'"\\ud800"']
)
answered = st.builds(
    Exchange,
    method=st.sampled_from(["GET", "POST"]),
    url=st.just("https://agent.example.test/rpc"),
    request_headers=st.lists(st.tuples(st.sampled_from(["X-A", "X-B"]), st.text("ab", max_size=2)), max_size=3),
    request_body=bodies,
    started_ms=times,
    status=st.integers(200, 599),
    response_headers=st.just([("Content-Type", "application/json")]),
    body=bodies,
    ending=st.sampled_from(["close", "open", "reset"]),
    cut_by=st.sampled_from([None, "hang-limit"]),
    purpose=st.sampled_from(["", "probe", "card:hint"]),
)


def same_json(one: bytes, other: bytes) -> bool:
    """Byte for byte, or the same JSON where it was written anew."""
    return one == other or ("json" in body_of(one) and json.loads(one) == json.loads(other))


@given(answered, st.integers(0, 900))
def test_an_answer_reads_back_as_it_was(one: Exchange, took: int) -> None:
    one.ended_ms = one.started_ms + took
    (read,) = again(one).exchanges
    assert same_json(one.body, read.body) and same_json(one.request_body, read.request_body)
    for name in ("method", "url", "request_headers", "started_ms", "ended_ms", "status", "ending", "cut_by", "purpose"):
        assert getattr(read, name) == getattr(one, name), name


@given(st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=8)), min_size=1, max_size=5))
def test_writes_of_a_stream_read_back_with_their_times(pauses: list[tuple[int, bytes]]) -> None:
    at, chunks = 100.0, []
    for pause, data in pauses:
        at += pause / 8
        chunks.append(Chunk(offset_ms=at, data=data))
    stream = Exchange(method="POST", url="https://a.test", status=200, started_ms=100, ended_ms=at + 9, chunks=chunks)
    (read,) = again(stream).exchanges
    assert [chunk.data for chunk in read.chunks] == [chunk.data for chunk in chunks]
    for old, new in zip(chunks, read.chunks, strict=True):
        assert math.isclose(old.offset_ms, new.offset_ms, abs_tol=0.01)


@pytest.mark.parametrize("fault", ["reset-after-request", "read-timeout", "connect-refused"])
def test_a_transport_fault_reads_back(fault: str) -> None:
    (read,) = again(Exchange(method="GET", url="https://a.test", fault=fault)).exchanges
    assert (read.status, read.fault) == (None, fault)


def test_one_stream_at_the_end_of_a_trusting_cell_is_written_as_the_format_has_it() -> None:
    card = Exchange(method="GET", url="https://a.test", status=200, body=b"{}")
    stream = Exchange(method="POST", url="https://a.test/rpc", status=200, chunks=[Chunk(offset_ms=5, data=b"x")])
    told = {"name": "n", "summary": "s", "finding": STREAM_RESET("d"), "verdict": Verdict.REFUSE}
    given = written_case(recalled("trusting"), (card, stream), **told)["given"]  # type: ignore[arg-type]
    assert set(given["stream"]) == {"request", "response", "frames", "then", "limits"} and len(given["exchanges"]) == 1
    assert "stream" not in written_case(recalled(), (card, stream), **told)["given"]  # type: ignore[arg-type]


def test_keys_are_those_of_the_host_that_ran_then(tmp_path: pytest.TempPathFactory) -> None:
    folder: Any = tmp_path
    assert keys_at(folder, "2026-01-01T00:00:00.000Z") is None
    key = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    for hour, kid in ((10, "old"), (12, "new")):
        note_keys(folder, {"keys": [key | {"kid": kid}]}, since=f"2026-01-01T{hour}:00:00.000Z")
    found = [keys_at(folder, f"2026-01-01T{hour}:30:00.000Z") for hour in ("09", "10", "12")]
    assert [one and one["keys"][0]["kid"] for one in found] == [None, "old", "new"]
    (folder / TRUST).write_text("{}")
    with pytest.raises(RecordFault, match="line 1"):
        keys_at(folder, "2026-01-01T12:30:00.000Z")
