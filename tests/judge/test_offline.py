"""R4, R5: recorded evidence is judged by the gates of live traffic, and whoever made the calls needs no label."""

from __future__ import annotations

import json

import pytest

from a2a_lab.core.model import State, Task
from a2a_lab.core.policy import Clocks, Intent, Policy
from a2a_lab.core.resolvers import TenantHeader
from a2a_lab.core.tasks import TaskBook
from a2a_lab.errors import Misuse
from a2a_lab.judge.offline import Given
from a2a_lab.verdicts import Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire.exchange import Exchange
from tests.judge.evidence import (
    CARD_URL,
    ORIGIN,
    RPC_URL,
    call,
    card,
    chunk,
    get,
    judged,
    send,
    slugs,
    stream,
    task,
    update,
    verdicts,
)


def test_only_stages_that_the_evidence_reaches_have_a_verdict() -> None:
    assert verdicts(judged([])) == {}
    assert set(verdicts(judged([get(card())]))) == {"resolve", "fetch", "match", "signature", "version"}
    assert set(verdicts(judged([send({"task": task("COMPLETED")})]))) == {"probe", "rpc", "ledger"}


def test_the_three_static_gates_are_all_evaluated() -> None:
    """R4: a card that fails one gate is judged by the other two as well."""
    found = judged([get(card(capabilities={}))], intent=Intent(requires=("streaming",)))
    assert verdicts(found)["match"] == "refuse"
    assert verdicts(found)["signature"] == "hint" and verdicts(found)["version"] == "accept"


def test_a_candidate_that_is_not_recorded_counts_as_missing() -> None:
    found = judged([get(b"", status=404)], base_url=ORIGIN)
    assert slugs(found, Stage.FETCH) == ["no-card"]


def test_without_a_base_url_that_of_the_first_well_known_get_counts() -> None:
    own = get(
        card(supportedInterfaces=[{**_interface(), "url": f"{ORIGIN}/one/rpc"}]), url=f"{ORIGIN}/one" + WELL_KNOWN
    )
    assert judged([own]).grounds.served_from == f"{ORIGIN}/one" + WELL_KNOWN


WELL_KNOWN = "/.well-known/agent-card.json"


def _interface() -> dict[str, str]:
    return {"url": RPC_URL, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}


def test_a_card_at_a_place_of_its_own_is_taken_for_given() -> None:
    """A registry or a platform may serve cards anywhere."""
    elsewhere = f"{ORIGIN}/registry/agents/7"
    found = judged([get({"page": 1}, url=f"{ORIGIN}/other"), get(card(), url=elsewhere)])
    assert found.grounds.card is not None and found.grounds.served_from == elsewhere


def test_a_get_with_another_tenant_is_no_answer_for_ours() -> None:
    """D3: behind a gateway only a card under the target's own selection counts."""
    union = get(card(), request_headers=[("Accept", "application/json")])
    found = judged([union], base_url=ORIGIN, resolver=TenantHeader(tenant="acme"))
    assert found.grounds.card is None and verdicts(found)["fetch"] == "refuse"
    own = get(card(), request_headers=[("X-Tenant", "acme")])
    assert judged([own], base_url=ORIGIN, resolver=TenantHeader(tenant="acme")).grounds.card is not None


def test_an_unlabelled_send_is_read_like_a_probe() -> None:
    asks = {"task": task("INPUT_REQUIRED")}
    asks["task"]["status"]["message"] = {
        "messageId": "a1",
        "role": "ROLE_AGENT",
        "parts": [{"text": "please send application/json"}],
    }
    assert slugs(judged([send(asks)]), Stage.PROBE) == ["mode-narrowed"]


def test_a_send_is_read_by_what_its_task_came_to() -> None:
    """R22: followed to the first real transition, as far as the recording shows."""
    first = call("SendMessage", {"message": {"messageId": "m1", "parts": [{"text": "x"}], "role": "ROLE_USER"}})
    first.body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"task": task("SUBMITTED")}}).encode()
    later = call("GetTask", {"id": "t1"}, result=task("REJECTED"), at=5)
    assert "probe-refused" in slugs(judged([first, later]), Stage.PROBE)
    cancelled = [first, call("CancelTask", {"id": "t1"}, result=task("CANCELED"), at=3)]
    assert "probe-refused" not in slugs(judged(cancelled), Stage.PROBE)  # what we cancelled was not refused


def test_a_task_that_the_recording_does_not_show_is_unknown_and_not_wrong() -> None:
    """A capture may begin in the middle: an error for such a task proves nothing about its code."""
    late = send(error={"code": -32004, "message": "task is in a terminal state"}, taskId="t0")
    assert verdicts(judged([late]))["probe"] == "refuse"
    seen = [call("GetTask", {"id": "t0"}, result=task("WORKING", id="t0")), late]
    assert verdicts(judged(seen))["probe"] == "refuse"
    wrong = send(error={"code": -32001, "message": "no"}, taskId="t0", at=5)
    assert verdicts(judged([seen[0], wrong]))["probe"] == "conformance-error"


def test_an_error_of_the_protocol_is_an_answer() -> None:
    found = judged([send(error={"code": -32602, "message": "Invalid params"})])
    assert verdicts(found)["rpc"] == "refuse"
    assert all(one.kind is Kind.NOTE for one in found.findings.all if one.stage is Stage.RPC)


def test_a_declined_look_up_is_no_failure_of_the_cell() -> None:
    found = judged([call("CancelTask", {"id": "t1"}, error={"code": -32002, "message": "completed"})])
    assert verdicts(found)["probe"] == "refuse" and found.findings.verdict is not Verdict.REFUSE


def test_calls_to_another_target_are_not_held_against_its_card() -> None:
    elsewhere = send({"task": task("COMPLETED", artifacts=[_image()])}, url=f"{ORIGIN}/other")
    assert "receive" not in verdicts(judged([get(card()), elsewhere]))
    here = send({"task": task("COMPLETED", artifacts=[_image()])})
    assert verdicts(judged([get(card()), here]))["receive"] == "conformance-error"


def _image() -> dict[str, object]:
    return {"artifactId": "a1", "parts": [{"raw": "iVBORw0KGgo=", "mediaType": "image/png"}]}


def test_an_artifact_that_is_shown_twice_is_judged_once() -> None:
    shown = task("COMPLETED", artifacts=[_image()])
    found = judged([get(card()), send({"task": shown}), call("GetTask", {"id": "t1"}, result=shown, at=5)])
    assert slugs(found, Stage.RECEIVE) == ["media-not-declared"]


def test_a_card_that_was_given_is_bound_without_a_fetch() -> None:
    from a2a_lab.wire.cards import read_card

    held = read_card(json.dumps(card()).encode()).card
    found = judged([], given=Given(card=held))
    assert set(verdicts(found)) == {"match", "signature", "version"}


def test_a_redirected_call_is_followed_once_within_its_origin() -> None:
    """R10."""
    moved = send(status=307, response_headers=[("Location", f"{RPC_URL}/")])
    found = judged([get(card()), moved, send({"task": task("COMPLETED")}, url=f"{RPC_URL}/", at=5)])
    assert slugs(found, Stage.RESOLVE) == ["post-redirected"] and verdicts(found)["rpc"] == "accept"
    away = send(status=302, response_headers=[("Location", "https://elsewhere.example.org/")])
    assert "post-redirect-refused" in slugs(judged([get(card()), away]), Stage.RESOLVE)


@pytest.mark.parametrize("status", [401, 429])
def test_a_call_that_was_let_in_at_the_second_try_is_no_failure(status: int) -> None:
    """R2: credentials were added, or patience was kept; the second answer counts."""
    door = send(status=status, response_headers=[("Retry-After", "1"), ("WWW-Authenticate", "Bearer")])
    found = judged([door, send({"task": task("COMPLETED")}, at=5)])
    assert verdicts(found)["rpc"] == "accept" and found.not_gradeable is None
    assert judged([door]).not_gradeable in (NotGradeable.AUTH_NEEDED, NotGradeable.THROTTLED)


def test_an_agent_that_nobody_reached_is_not_judged() -> None:
    found = judged([send(fault="connect-refused")])
    assert found.not_gradeable is NotGradeable.UNREACHABLE
    assert "ledger" in verdicts(found) and verdicts(found)["ledger"] == "accept"  # nothing was left behind


def test_a_call_without_an_answer_may_have_started_a_task() -> None:
    """R35: suspected, with a row of its own."""
    found = judged([send(fault="reset-after-request")])
    assert [(row.state, row.why) for row in found.orphans] == [("id-unknown", "outcome-unknown")]


def test_books_that_were_kept_live_are_read_and_not_written() -> None:
    book = TaskBook("agent")
    book.note_task(Task(id="t9", context_id=None, state=State.WORKING, wire_state="TASK_STATE_WORKING"), how="get")
    found = judged([send({"task": task("COMPLETED")})], book=book)
    assert [row.task_id for row in found.orphans] == ["t9"] and book.state_of("t1") is None


def test_renegotiations_have_an_end() -> None:
    """R24: two answers in a row that ask again are one too many by default."""
    asks = [send({"task": task("INPUT_REQUIRED")}, taskId="t1", messageId=f"m{n}", at=n) for n in range(1, 3)]
    assert "renegotiation-limit" in slugs(judged(asks), Stage.PROBE)
    assert "renegotiation-limit" not in slugs(judged(asks, policy=Policy(max_renegotiations=2)), Stage.PROBE)


def test_what_a_body_holds_is_not_judged_where_it_was_not_recorded() -> None:
    cut = send({"task": task("COMPLETED")})
    cut.body, cut.cut_by, cut.ending = b"", "not-recorded", "open"
    found = judged([cut])
    assert slugs(found, Stage.RPC) == ["body-not-recorded"] and "probe" not in verdicts(found)


def test_thousands_of_findings_alike_are_counted_and_not_listed() -> None:
    many = [send({"task": task("WORKING", id=f"t{n}")}, messageId=f"m{n}", at=n) for n in range(200)]
    found = judged(many)
    assert len(found.orphans) == 200 and len(found.findings.all) < 200
    counted = [one for one in found.findings.all if one.slug == "more-alike"]
    assert {one.stage for one in counted} == {Stage.PROBE, Stage.LEDGER}
    assert all(one.values["found"] == 200 for one in counted)


def test_an_extended_card_that_is_refused_does_not_govern() -> None:
    """R12, A1: verified before it replaces anything."""
    better = card(capabilities={"streaming": True, "extendedAgentCard": True})
    worse = better | {"defaultOutputModes": ["image/png"], "signatures": [{"protected": "e30", "signature": "AA"}]}
    asked = [get(better), call("GetExtendedAgentCard", {}, result=worse), send({"task": _done()}, at=5)]
    strict = judged(asked, policy=Policy(signature_policy="require"))
    assert verdicts(strict)["signature"] == "refuse" and verdicts(strict)["receive"] == "accept"
    lenient = judged(asked)
    assert verdicts(lenient)["receive"] == "conformance-error"  # the extended card governs, and declares images only


def _done() -> dict[str, object]:
    return task("COMPLETED", artifacts=[{"artifactId": "a1", "parts": [{"text": "done"}]}])


def test_misuse_of_the_arguments_is_told() -> None:
    with pytest.raises(Misuse):
        judged([], base_url="no url")
    with pytest.raises(Misuse):
        judged([get(card())], policy=Policy(supports=()))


def test_streams_end_as_their_recording_says() -> None:
    whole = stream({"task": task("WORKING")}, chunk("x", lastChunk=True), update("COMPLETED"))
    assert judged([whole]).closure == "final-proved"
    broken = stream({"task": task("WORKING")}, ending="reset")
    assert judged([broken]).closure == "reset"
    left = stream({"task": task("WORKING")}, ending="open", cut_by="done", ended_ms=500.0)
    assert judged([left]).closure == "left"
    silent = stream({"task": task("WORKING")}, ending="open", cut_by="cap")
    assert judged([silent], policy=Policy(clocks=Clocks(hang_s=1.0, total_s=2.0))).closure == "idle-hang"


def test_a_recording_without_times_is_judged_without_clocks() -> None:
    """Browsers keep no chunks: ten minutes between request and end are then no hang."""
    body = stream({"task": task("WORKING")}, chunk("x"), update("COMPLETED"), has_times=False, ended_ms=600_000.0)
    found = judged([body])
    assert found.closure == "final-proved" and "all-at-once" not in slugs(found, Stage.STREAM)


def test_a_stream_that_was_cut_is_rebased_on_what_the_recording_holds() -> None:
    cut = stream({"task": task("WORKING")}, chunk("one "), ending="reset")
    again = stream(
        {"task": task("WORKING", artifacts=[{"artifactId": "a1", "parts": [{"text": "one "}]}])},
        chunk("two", append=True, lastChunk=True),
        update("COMPLETED"),
        started_ms=100.0,
    )
    again.request_body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": "t1"}}
    ).encode()
    again.chunks = [type(one)(offset_ms=one.offset_ms + 100, data=one.data) for one in again.chunks]
    found = judged([cut, again])
    texts = [part.text for part in found.streams[-1].artifacts[0].parts]
    assert texts == ["one ", "two"] and found.orphans == ()


def test_silence_is_answered_from_the_recording() -> None:
    """R30: at silence the agent is asked once; what it said then is in the evidence."""
    silent = stream({"task": task("WORKING")}, ending="open", cut_by="hang-limit")
    clocks = Policy(clocks=Clocks(silence_s=1.0, hang_s=2.0, total_s=4.0))
    ended = call("GetTask", {"id": "t1"}, result=task("COMPLETED"), at=1100)
    assert "end-not-signalled" in slugs(judged([silent, ended], policy=clocks), Stage.STREAM)
    alive = call("GetTask", {"id": "t1"}, result=task("WORKING"), at=1100)
    assert {"slow", "idle-hang"} <= set(slugs(judged([silent, alive], policy=clocks), Stage.STREAM))


def test_the_card_is_pinned_and_each_later_get_is_a_look_at_it() -> None:
    """P3, R34."""
    drifted = judged([get(card()), get(card(description="other"), at=5)])
    assert slugs(drifted, Stage.LEDGER) == ["card-drift"]
    (finding,) = [one for one in drifted.findings.all if one.slug == "card-drift"]
    assert finding.values["transition"] == "commit"
    before_stream = judged([get(card()), get(card(version="2"), at=5), stream({"task": task("COMPLETED")})])
    (finding,) = [one for one in before_stream.findings.all if one.slug == "card-drift"]
    assert finding.values["transition"] == "stream"


def test_an_outage_that_nobody_tried_again_after_stands() -> None:
    outage = get(b"busy", status=503, at=5)
    assert slugs(judged([get(card()), outage]), Stage.LEDGER) == ["card-unavailable"]
    assert verdicts(judged([get(card()), outage, get(card(), at=9)]))["ledger"] == "accept"


def test_renegotiating_goes_on_under_a_new_pin() -> None:
    again = [get(card()), get(card(description="other"), at=5), get(card(description="other"), at=9)]
    found = judged(again, policy=Policy(drift="renegotiate"))
    assert slugs(found, Stage.LEDGER) == ["card-renegotiated"]


def test_heads_and_foreign_traffic_are_left_alone() -> None:
    head = Exchange(method="HEAD", url=CARD_URL, status=405)
    page = get(b"<html>", url=f"{ORIGIN}/")
    options = Exchange(method="OPTIONS", url=RPC_URL, status=204)
    assert verdicts(judged([head, page, options, get(card())]))["fetch"] == "accept"


def test_a_message_is_not_answered_by_a_task_that_had_ended_before_it() -> None:
    """R24: its result is that of another message. One that was sent again may be told by its id, and meet its own."""
    first, again = send({"task": task("COMPLETED")}), send({"task": task("COMPLETED")}, at=5, messageId="m2")
    assert "task-reused" in slugs(judged([first, again]), Stage.PROBE)
    assert "task-reused" not in slugs(judged([first, send({"task": task("COMPLETED")}, at=5)]), Stage.PROBE)
    other = send({"task": task("COMPLETED", id="t2")}, at=5, messageId="m2")
    assert "task-reused" not in slugs(judged([first, other]), Stage.PROBE)
    running = send({"task": task("WORKING")})
    assert "task-reused" not in slugs(judged([running, again]), Stage.PROBE)
