"""The lab's own caller and readers meet an honest agent of every dialect: each call works, and nothing is a fault."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any, Protocol

import pytest

from a2a_lab.core.model import Part, State
from a2a_lab.core.policy import Bounds, Clocks
from a2a_lab.core.resolution import ResolvedTarget
from a2a_lab.core.stream import StreamWatch
from a2a_lab.judge.transcript import read_calls
from a2a_lab.net.caller import Caller
from a2a_lab.net.client import Http, Reach, new_client, tls_context
from a2a_lab.net.evidence import Recorder
from a2a_lab.verdicts import Finding
from a2a_lab.wire.dialects import DIALECTS, Dialect, OutMessage
from a2a_lab.wire.streams import StreamReader
from tests.vendors.bench import SIMULATED, Agent, Bench

EACH = pytest.mark.parametrize("dialect", SIMULATED, ids=lambda one: f"{one.id} {one.binding}")
CONTEXT = tls_context(Reach(trust_env=False))


class Talk:
    """One consumer's calls to one agent, recorded."""

    def __init__(self, bench: Bench, agent: Agent, dialect: Dialect, tenant: str | None = None) -> None:
        self.bench, self.recorder = bench, Recorder()
        self.client = new_client(Reach(trust_env=False), CONTEXT)
        target = ResolvedTarget(dispatch_url=f"{agent.running.url}/rpc", binding=dialect.binding, tenant_id=tenant)
        http = Http(self.client, self.recorder, bounds=Bounds())
        self.caller = Caller(http, dialect, target, credentials=None, bounds=Bounds())
        self.dialect = dialect

    def call(self, op: Any, **options: Any) -> Any:
        called = self.bench.run(self.caller.call(op, purpose="test", **options))
        assert called.answer is not None and called.answer.findings == (), called.answer.findings
        return called.answer

    def stream(self, op: Any, **options: Any) -> tuple[Any, list[Finding]]:
        return self.bench.run(self._stream(op, **options))

    async def _stream(self, op: Any, **options: Any) -> tuple[Any, list[Finding]]:
        async with self.caller.open(op, purpose="test", **options) as opened:
            exchange = opened.live.exchange
            clock = self.caller.now_ms
            watch = StreamWatch(self.dialect.id, Clocks(), opened=clock() / 1000, op=op)
            reader = StreamReader(self.dialect, watch, rpc_id=opened.rpc_id)
            assert exchange.status is not None
            reader.open(exchange.status, exchange.response_headers, clock() / 1000)
            while (data := await opened.live.next(5.0)) is not None:
                reader.feed(data, clock() / 1000)
            reader.close(clock() / 1000)
            return reader.result, list(opened.findings)


def message(**ids: str) -> OutMessage:
    return OutMessage(
        message_id=str(uuid.uuid4()), parts=(Part(kind="text", text="hi", media_type="text/plain"),), **ids
    )


class Meet(Protocol):
    """Start an agent as `table` says, and be ready to call it."""

    def __call__(self, dialect: Dialect, tenant: str = "", **table: Any) -> Talk: ...


@pytest.fixture
def meet(bench: Bench) -> Iterator[Meet]:
    begun: list[Talk] = []

    def begin(dialect: Dialect, tenant: str = "", **table: Any) -> Talk:
        agent = bench.agent(dialect=dialect.id, binding=dialect.binding, tenant=tenant, **table)
        begun.append(Talk(bench, agent, dialect, tenant or None))
        return begun[-1]

    yield begin
    for talk in begun:
        bench.run(talk.client.aclose())


@EACH
def test_a_task_is_sent_looked_up_and_found_again_in_the_recording(meet: Meet, dialect: Dialect) -> None:
    talk = meet(dialect)
    sent = message()
    task = talk.call("send", message=sent).task
    assert (task.state, len(task.artifacts)) == (State.COMPLETED, 1)
    assert (task.id == dialect.task_id_of(sent)) is (dialect.id == "0.1")
    assert talk.call("get", task_id=task.id).task == task
    calls = read_calls(talk.recorder.exchanges)
    assert [(call.op, call.dialect.binding) for call in calls] == [("send", dialect.binding), ("get", dialect.binding)]
    assert [call.asked.task_id for call in calls][1] == task.id
    # Only a card tells 0.2 from 0.3; every other dialect is told by its requests.
    assert {call.dialect.id for call in calls} == {"0.3" if dialect.id == "0.2" else dialect.id}


@EACH
def test_a_stream_is_watched_to_its_proved_end(meet: Meet, dialect: Dialect) -> None:
    result, notes = meet(dialect, chunks=3).stream("stream", message=message())
    assert (result.closure, result.verdict.value, result.is_complete, notes) == ("final-proved", "accept", True, [])
    assert "".join(part.text or "" for part in result.artifacts[0].parts).startswith("received")
    assert result.findings == ()


@EACH
def test_a_running_task_is_subscribed_to_and_cancelled(meet: Meet, dialect: Dialect) -> None:
    """0.3 over HTTP+JSON subscribes by GET alone, as its Python SDK does: found out, and noted."""
    talk = meet(dialect, work_s=0.5)
    if dialect.id == "0.1":  # which cannot ask to be answered before the end
        started = talk.bench.run(_started(talk))
    else:
        started = talk.call("send", message=message(), return_immediately=True).task.id
    result, notes = talk.stream("subscribe", task_id=started)
    assert result.state is State.COMPLETED
    is_other_verb = (dialect.id, dialect.binding) == ("0.3", "HTTP+JSON")
    assert [note.slug for note in notes] == (["subscribe-verb"] if is_other_verb else [])
    answer = talk.bench.run(talk.caller.call("cancel", purpose="test", task_id=started)).answer
    assert answer is not None and answer.error is not None and answer.error.name == "TaskNotCancelable"


async def _started(talk: Talk) -> str:
    async with talk.caller.open("stream", purpose="test", message=message(task_id="mine")) as opened:
        await opened.live.next(5.0)
    return "mine"


@EACH
def test_a_question_is_answered_on_its_task(meet: Meet, dialect: Dialect) -> None:
    talk = meet(dialect)
    asking = OutMessage(message_id="m1", parts=(Part(kind="data", data={"n": 1}),))
    asked = talk.call("send", message=asking).task
    assert asked.state is State.INPUT_REQUIRED and asked.message is not None
    done = talk.call("send", message=message(task_id=asked.id, context_id=asked.context_id or "")).task
    assert (done.id, done.state) == (asked.id, State.COMPLETED)


@EACH
def test_errors_are_named_alike(meet: Meet, dialect: Dialect) -> None:
    talk = meet(dialect)
    for op in ("get", "cancel"):
        answer = talk.bench.run(talk.caller.call(op, purpose="test", task_id="nobody")).answer  # type: ignore[arg-type]
        assert answer is not None and answer.error is not None and answer.error.name == "TaskNotFound"
        assert [one.slug for one in answer.findings] == ["rpc-error"]


@pytest.mark.parametrize("tenant", ["acme", "acme corp", "a:b"])
def test_a_tenant_goes_with_every_call_over_http_json(meet: Meet, tenant: str) -> None:
    dialect = next(one for one in DIALECTS if (one.id, one.binding) == ("1.0", "HTTP+JSON"))
    talk = meet(dialect, tenant=tenant)
    task = talk.call("send", message=message()).task
    assert talk.call("get", task_id=task.id).task.id == task.id
    call = read_calls(talk.recorder.exchanges)[0]
    assert call.tenant_at(talk.caller.target.dispatch_url) == tenant
