"""What a consumer sends and how long it listens: 3.6.1, 8.3.2 and the lab's own A3, A6, R24, R30, R37."""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_lab.judge.consumer import attribute_ends
from a2a_lab.judge.visit import Account
from a2a_lab.wire.exchange import Exchange
from tests.judge.visits import (
    RPC,
    WHOLE_STREAM,
    call,
    card_0_3,
    card_1_0,
    judged,
    look,
    message,
    slugs,
    status,
    stream,
    task,
)

DONE = {"task": task()}
TENANT = {"url": RPC, "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "acme"}


def test_a_call_of_1_0_names_its_version() -> None:
    """3.6.1 MUST; a server has to read a missing header as 0.3."""
    assert slugs(look(card_1_0()), call(answer=DONE, version=None)) == {"version-header-missing"}
    assert slugs(look(card_1_0()), call(answer=DONE, version="0.3")) == {"version-header-wrong"}
    assert not slugs(look(card_1_0()), call(answer=DONE, version="1.0.1"))
    old = call("message/send", answer=task(dialect="0.3"), version=None)
    assert not slugs(look(card_0_3()), old)


def test_a_version_may_stand_in_the_url() -> None:
    """§3.6.1 MAY: as a request parameter instead of a header."""
    assert not slugs(look(card_1_0()), call(answer=DONE, version=None, url=f"{RPC}?A2A-Version=1.0"))
    wrong = slugs(look(card_1_0()), call(answer=DONE, version=None, url=f"{RPC}?A2A-Version=0.3"))
    assert wrong == {"version-header-wrong"}


def test_a_recording_without_request_headers_misses_none() -> None:
    bare = call(answer=DONE, version=None)
    bare.request_headers = []
    assert not slugs(look(card_1_0()), bare)


def test_a_version_that_the_card_does_not_declare_is_the_consumers_choice() -> None:
    """fasta2a's client calls message/send on a card of 1.0, whatever the agent makes of it."""
    found = judged(look(card_1_0()), call("message/send", answer=task(dialect="0.3"))).findings
    (one,) = [one for one in found if one.slug == "undeclared-dialect"]
    assert (one.judge.value, one.values["found"], one.values["expected"]) == ("spec", "0.3", ["1.0"])


def test_a_habit_is_told_once_and_counted() -> None:
    twice = [call(answer=DONE, version=None, at_ms=at) for at in (100, 200)]
    (one,) = [one for one in judged(look(card_1_0()), *twice).findings if one.slug == "version-header-missing"]
    assert one.values["times"] == 2 and "1 more" in one.detail


def test_the_interfaces_tenant_is_echoed_exactly_and_never_invented() -> None:
    """8.3.2 rule 4 MUST, both ways."""
    sent = {"message": message(), "tenant": "acme"}
    assert not slugs(look(card_1_0(TENANT)), call(params=sent, answer=DONE))
    assert slugs(look(card_1_0(TENANT)), call(answer=DONE)) == {"interface-tenant-not-sent"}
    assert slugs(look(card_1_0(TENANT)), call(params=sent | {"tenant": "Acme"}, answer=DONE)) == {
        "interface-tenant-not-sent"
    }
    assert slugs(look(card_1_0()), call(params=sent, answer=DONE)) == {"tenant-invented"}
    assert not slugs(look(card_1_0()), call(params=sent | {"tenant": ""}, answer=DONE))


def test_either_tenant_of_two_interfaces_at_one_url_is_right() -> None:
    card = look(card_1_0(TENANT, TENANT | {"tenant": "globex"}))
    assert not slugs(card, call(params={"message": message(), "tenant": "globex"}, answer=DONE))


def test_a_tenant_may_stand_in_the_path_of_a_rest_call() -> None:
    place = {"url": RPC, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0", "tenant": "acme"}
    for url, said in ((f"{RPC}/acme/message:send", set()), (f"{RPC}/message:send", {"interface-tenant-not-sent"})):
        sent = call(answer=DONE, url=url)
        sent.request_body, sent.body = json.dumps({"message": message()}).encode(), json.dumps(DONE).encode()
        assert slugs(look(card_1_0(place)), sent) == said, url


def test_extensions_are_named_under_the_header_of_their_generation() -> None:
    legacy = {"X-A2A-Extensions": "https://example.org/x"}
    assert slugs(look(card_1_0()), call(answer=DONE, sent=legacy)) == {"extensions-header-name"}
    assert not slugs(look(card_1_0()), call(answer=DONE, sent=legacy | {"A2A-Extensions": "https://example.org/x"}))
    old = call("message/send", answer=task(dialect="0.3"), version=None, sent=legacy)
    assert not slugs(look(card_0_3()), old)


def test_a_request_that_is_not_its_methods_is_malformed() -> None:
    parts = {"message": {"messageId": "m", "role": "user", "parts": [{"text": "objects of 1.0"}]}}
    assert "request-malformed" in slugs(
        look(card_0_3()), call("message/send", params=parts, version=None, answer=task(dialect="0.3"))
    )


def test_whoever_sends_little_first_has_probed() -> None:
    """A3: what counts is what left first, not what it is called."""
    small, large = (
        call(answer=DONE, params={"message": message("?")}),
        call(answer=DONE, params={"message": message("x" * 500)}, at_ms=300),
    )
    assert not [
        one
        for one in judged(look(card_1_0()), small, look(card_1_0(), at_ms=200), large).findings
        if one.slug == "committed-unprobed"
    ]
    assert [one for one in judged(look(card_1_0()), large).findings if one.slug == "committed-unprobed"]


def test_the_same_again_after_input_required_is_no_answer() -> None:
    asks = {"task": task("input-required", artifact="")}
    again = call(answer=DONE, params={"message": message(messageId="m2", taskId="t1", contextId="c1")}, at_ms=300)
    assert slugs(look(card_1_0()), call(answer=asks), again) == {"resent-after-input-required"}
    other = call(answer=DONE, params={"message": message("what it asked for", messageId="m2", taskId="t1")}, at_ms=300)
    assert not slugs(look(card_1_0()), call(answer=asks), other)


def test_the_same_again_after_an_unknown_outcome_needs_a_look_first() -> None:
    """R37: the first may be running."""
    broken = call(status=None, fault="reset-after-request", body=b"", ending="reset")
    again = call(answer=DONE, at_ms=300)
    assert slugs(look(card_1_0()), broken, again) == {"resent-after-unknown"}
    looked = call("ListTasks", params={}, answer={"tasks": []}, at_ms=200)
    assert not slugs(look(card_1_0()), broken, looked, again)
    refused = call(status=None, fault="connect-refused", body=b"")
    assert not slugs(look(card_1_0()), refused, again)
    declined = call(error={"code": -32603, "message": "no"})
    assert not slugs(look(card_1_0()), declined, again)


def test_an_id_whose_first_send_was_answered_belongs_to_that_message() -> None:
    """R35: the agent may start a second task for it, and the first is an orphan that the consumer made."""

    def sent(text: str, at_ms: float, name: str = "m1", **answer: Any) -> Exchange:
        return call(answer={"task": task(**answer)}, params={"message": message(text, messageId=name)}, at_ms=at_ms)

    first = sent("one", 100)
    (told,) = [
        one
        for one in judged(look(card_1_0()), first, sent("two", 300, id="t2")).findings
        if one.slug == "message-id-reused"
    ]
    assert told.detail == (
        "messageId 'm1' had been answered with task 't1' when it was sent again, which got task 't2'"
    )
    assert (told.values["whose"], told.rule) == ("consumer", "R35")
    often = judged(look(card_1_0()), first, *(sent("more", 300 + at) for at in (0, 100, 200))).findings
    (one,) = [one for one in often if one.slug == "message-id-reused"]
    assert one.values["times"] == 3 and "which got the same (and 2 more of its calls)" in one.detail
    assert "message-id-reused" not in slugs(look(card_1_0()), first, sent("two", 300, "m2"))


@pytest.mark.parametrize(
    "first",
    [
        call(status=None, fault="reset-after-request", body=b"", ending="reset"),
        call(error={"code": -32603, "message": "no"}),
        call(status=503, body=b"busy"),
        call(answer=DONE, ended_ms=400),
    ],
    ids=["no answer", "error", "not taken (retry-05)", "not yet answered"],
)
def test_an_id_is_kept_by_who_sends_a_message_again_that_was_not_answered(first: Exchange) -> None:
    """§3.3.1: the id is what lets an agent see that it is the same message."""
    assert "message-id-reused" not in slugs(look(card_1_0()), first, call(answer=DONE, at_ms=300))


def test_an_id_that_a_stream_answered_is_used_up() -> None:
    again = stream(*WHOLE_STREAM, at_ms=1000)
    assert "message-id-reused" in slugs(look(card_1_0()), stream(*WHOLE_STREAM), again)


def test_a_task_is_continued_only_while_it_waits_and_in_its_own_context() -> None:
    """3.1.1, 3.4.2, 3.4.3."""
    first = call(answer=DONE)
    for named in ({"taskId": "t1"}, {"taskId": "nobody"}):
        again = call(answer=DONE, params={"message": message("more", **named)}, at_ms=300)
        assert "task-reused-wrongly" in slugs(look(card_1_0()), first, again), named
    asks = call(answer={"task": task("input-required", artifact="")})
    for context, wrong in (("c1", False), ("c2", True)):
        more = call(answer=DONE, params={"message": message("more", taskId="t1", contextId=context)}, at_ms=300)
        assert ("task-reused-wrongly" in slugs(look(card_1_0()), asks, more)) is wrong


def test_a_capture_may_begin_in_the_middle_of_a_conversation() -> None:
    assert "task-reused-wrongly" not in slugs(call(answer=DONE, params={"message": message(taskId="t9")}))


def silent(cut_by: str | None) -> tuple[object, ...]:
    """A stream that says two things and nothing for 8 s more."""
    return look(card_1_0()), stream(*WHOLE_STREAM[:2], ended_ms=8120, ending="open", cut_by=cut_by)


def test_a_wait_is_told_with_its_length_and_who_ended_it() -> None:
    """R30: knowing a hang by the protocol takes seconds, a transport timeout takes its own time."""
    timed_out = Account(ok=False, error="ReadTimeout: The read operation timed out", said="failed")
    for cut_by, account, by in (
        ("left", None, "left"),
        ("left", timed_out, "transport-timeout"),
        ("left", Account(ok=False, hung=True, error="-", said="-"), "cap"),
        ("cap", None, "cap"),
        ("stopped", None, "stopped"),
    ):
        found = judged(*silent(cut_by), account=account).findings  # type: ignore[arg-type]
        (one,) = [one for one in found if one.slug == "waited-out-a-hang"]
        assert (one.values["ended_by"], one.values["waited_s"]) == (by, 8.0), cut_by


def test_leaving_while_something_is_still_said_is_early() -> None:
    early = stream(*WHOLE_STREAM[:2], ending="open", cut_by="left")
    assert slugs(look(card_1_0()), early) >= {"left-stream-early"}
    for last in ("completed", "input-required"):
        over = stream(*WHOLE_STREAM[:2], status(last), ending="open", cut_by="left")
        assert not slugs(look(card_1_0()), over) & {"left-stream-early", "waited-out-a-hang"}
    assert not slugs(look(card_1_0()), stream(*WHOLE_STREAM))


def test_what_the_consumer_says_of_the_end_is_written_into_the_evidence() -> None:
    """So that a wait is counted alike live and from the file (R5)."""
    _, left = silent("left")
    nothing = call(status=None, fault="consumer-left", cut_by="left", body=b"", ending="open")
    attribute_ends([left, nothing], Account(ok=False, error="TimeoutError", said="-"))  # type: ignore[list-item]
    assert (left.cut_by, nothing.cut_by, nothing.fault) == ("transport-timeout", "transport-timeout", "read-timeout")  # type: ignore[attr-defined]


def test_a_task_at_work_is_no_result() -> None:
    """fasta2a answers every send with a submitted task; a client that does not ask again has nothing."""
    taken = call(answer={"task": task("submitted", artifact="")})
    assert slugs(look(card_1_0()), taken) == {"unfinished-task-taken"}
    asked = call("GetTask", params={"id": "t1"}, answer=task(), at_ms=300)
    assert not slugs(look(card_1_0()), taken, asked)
    assert "unfinished-task-taken" not in slugs(
        look(card_1_0()), taken, account=Account(ok=False, error="ParseError", said="-")
    )
