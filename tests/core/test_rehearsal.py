"""R22-R26: which probe comes next, and what is decided once there is none.

The agents here are functions from a probe to an answer, so that the whole flow runs without a wire; the three of the
bundled matrix are among them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from a2a_lab.core.asked import Asked
from a2a_lab.core.authority import Action, Outcome
from a2a_lab.core.match import match_card
from a2a_lab.core.model import Card, Message, Part, RpcError, State, Task
from a2a_lab.core.policy import Intent, Policy
from a2a_lab.core.probe import ProbeReading, read_probe
from a2a_lab.core.probe_findings import CONTEXT_REPLACED, PROBE_HANG
from a2a_lab.core.rehearsal import Decision, ProbePlan, Rehearsal, next_probe, rehearse
from a2a_lab.core.version import VERSION_INCOMPATIBLE, VERSION_INEXACT
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Finding, Kind, Verdict
from tests.core.cards import one_zero, slugs

TEXT, JSON, CSV = "text/plain", "application/json", "text/csv"
Answer = Task | Message | RpcError
Agent = Callable[[ProbePlan], Answer]


def task(state: State, *parts: Part, **metadata: Any) -> Task:
    message = Message(id="m", role="agent", parts=parts) if parts else None
    return Task(id="t1", context_id="c1", state=state, wire_state="x", message=message, metadata=metadata)


def asks(text: str) -> Task:
    return task(State.INPUT_REQUIRED, Part(kind="text", text=text))


def error(name: str, message: str = "no") -> RpcError:
    return RpcError(code=-32005, message=message, name=name)


def takes(*modes: str, reads_metadata: bool = False) -> Agent:
    """An agent that names in prose what it takes instead of what it got."""

    def answer(plan: ProbePlan) -> Answer:
        wanted = [plan.mode, *(plan.metadata["intendedInputModes"] if reads_metadata else [])]
        refused = [mode for mode in wanted if mode not in modes]
        return (
            asks(f"{', '.join(refused)} is not supported; send {' or '.join(modes)}")
            if refused
            else task(State.COMPLETED)
        )

    return answer


def card_of(*inputs: str, **changes: Any) -> Card:
    return one_zero(defaultInputModes=list(inputs or (TEXT, JSON)), **changes)


def run(
    agent: Agent,
    mode: str = TEXT,
    *others: str,
    card: Card | None = None,
    doubts: tuple[Finding, ...] = (),
    probe: str = "strict",
    control: bool = False,
    seen: tuple[Finding, ...] = (),
    **intent: Any,
) -> tuple[Decision, list[ProbePlan]]:
    """Drive the planner against an agent, as an initiator would."""
    payloads = {one: b"payload" for one in (mode, *others)}
    policy = Policy(probe=probe, probe_control=control)  # type: ignore[arg-type]
    state = rehearse(card or card_of(), Intent(mode=mode, payloads=payloads, **intent), policy, doubts)
    plans: list[ProbePlan] = []
    while isinstance(step := next_probe(state), ProbePlan):
        plans.append(step)
        state = state.after(step, read_probe(agent(step), step.asked(dialect="1.0"), seen=seen, is_live=True))
    return step, plans


def modes(plans: list[ProbePlan]) -> list[str]:
    return [plan.mode for plan in plans]


# -- what is asked


def test_a_text_plan_needs_one_probe_and_commits_with_authority() -> None:
    decision, plans = run(takes(TEXT))
    assert modes(plans) == [TEXT] and plans[0].purpose == "probe" and plans[0].return_immediately
    assert decision.action is Action.COMMIT and decision.is_authoritative and decision.commits
    assert (decision.mode, decision.context_id, decision.because, decision.findings) == (TEXT, "c1", (), ())


def test_an_accepted_text_probe_proves_text_only_so_another_mode_is_rehearsed() -> None:
    decision, plans = run(takes(TEXT, JSON), JSON)
    assert modes(plans) == [TEXT, JSON] and [plan.purpose for plan in plans] == ["probe", "rehearsal"]
    assert [plan.metadata["intendedInputModes"] for plan in plans] == [[JSON], [JSON]]
    assert decision.action is Action.COMMIT and decision.mode == JSON


def test_a_card_that_does_not_declare_text_is_probed_in_the_mode_of_the_plan() -> None:
    decision, plans = run(takes(JSON), JSON, card=card_of(JSON))
    assert modes(plans) == [JSON] and decision.action is Action.COMMIT


def test_the_probe_says_what_is_meant_and_uses_the_operation_of_the_plan() -> None:
    _, plans = run(takes(TEXT), stream=True, skill="sum", accepts=(JSON,))
    assert plans[0].op == "stream" and plans[0].skill == "sum" and plans[0].accepts == (JSON,)
    assert plans[0].metadata == {"intendedInputModes": [TEXT], "intendedOutputModes": [JSON], "skillId": "sum"}
    asked = plans[0].asked(dialect="0.3", declared_version="0.3.0", version_sent=None)
    assert asked == Asked(
        op="stream",
        dialect="0.3",
        skill="sum",
        intended=TEXT,
        return_immediately=True,
        declared_version="0.3.0",
    )


# -- what is decided


def test_a_doubted_card_commits_as_a_hint() -> None:
    decision, _ = run(takes(TEXT), doubts=(VERSION_INEXACT(),))
    assert decision.action is Action.COMMIT_AS_HINT and decision.because == ("version-inexact",)


def test_a_refused_card_is_not_even_probed() -> None:
    decision, plans = run(takes(TEXT), doubts=(VERSION_INCOMPATIBLE(),))
    assert plans == [] and decision.action is Action.REFUSE and decision.because == ("version-incompatible",)
    assert decision.findings == ()


def test_a_runtime_that_narrows_by_metadata_gets_its_own_mode() -> None:
    decision, plans = run(takes(TEXT, reads_metadata=True), JSON, TEXT)
    assert modes(plans) == [TEXT] and decision.action is Action.RENEGOTIATE and decision.mode == TEXT
    assert decision.because == ("mode-narrowed",) and not decision.is_authoritative


def test_a_runtime_that_is_blind_to_metadata_narrows_at_the_rehearsal() -> None:
    decision, plans = run(takes(TEXT), JSON, TEXT)
    assert modes(plans) == [TEXT, JSON] and decision.action is Action.RENEGOTIATE and decision.mode == TEXT


def test_a_runtime_that_names_the_intended_mode_has_proved_it() -> None:
    decision, plans = run(takes(JSON), JSON, TEXT)
    assert modes(plans) == [TEXT] and decision.mode == JSON
    assert decision.action is Action.COMMIT_AS_HINT and decision.because == ("probe-mode-refused",)


def test_a_rehearsal_that_is_refused_narrows_to_what_was_proved() -> None:
    def agent(plan: ProbePlan) -> Answer:
        return task(State.REJECTED if plan.mode == JSON else State.COMPLETED)

    decision, plans = run(agent, JSON, TEXT)
    assert modes(plans) == [TEXT, JSON] and decision.action is Action.RENEGOTIATE and decision.mode == TEXT


def test_a_rehearsal_refused_by_any_error_narrows_too() -> None:
    def agent(plan: ProbePlan) -> Answer:
        return error("InvalidParams") if plan.mode == JSON else task(State.WORKING)

    assert run(agent, JSON, TEXT)[0].mode == TEXT
    assert slugs(run(agent, JSON)[0].findings) == ["no-common-mode"]


def test_a_content_type_error_without_a_name_leads_to_the_mode_of_the_plan() -> None:
    def agent(plan: ProbePlan) -> Answer:
        return error("ContentTypeNotSupported") if plan.mode == TEXT else task(State.COMPLETED)

    decision, plans = run(agent, JSON)
    assert modes(plans) == [TEXT, JSON] and decision.mode == JSON and decision.action is Action.COMMIT_AS_HINT


def test_a_mode_refused_without_a_name_leads_to_the_consumers_next() -> None:
    def agent(plan: ProbePlan) -> Answer:
        return error("ContentTypeNotSupported") if plan.mode == TEXT else task(State.COMPLETED)

    decision, plans = run(agent, TEXT, JSON)
    assert modes(plans) == [TEXT, JSON] and decision.action is Action.RENEGOTIATE and decision.mode == JSON


def test_a_runtime_without_a_common_mode_is_refused() -> None:
    decision, _ = run(takes("image/png"), JSON, TEXT)
    assert decision.action is Action.REFUSE and not decision.commits
    assert slugs(decision.findings) == ["no-common-mode"] and "takes image/png" in decision.findings[0].detail
    silent, _ = run(lambda plan: error("ContentTypeNotSupported"))
    assert "none of text/plain" in silent.findings[0].detail


def test_the_consumers_order_picks_among_what_the_runtime_names() -> None:
    agent = takes(CSV, TEXT, reads_metadata=True)
    assert run(agent, JSON, TEXT, CSV)[0].mode == TEXT
    assert run(agent, JSON, CSV, TEXT)[0].mode == CSV


def test_a_range_that_the_runtime_names_covers_its_types() -> None:
    decision, _ = run(lambda plan: asks("supports text/* only"), JSON, CSV)
    assert decision.mode == CSV


def test_output_modes_that_are_declined_are_widened_once() -> None:
    def agent(plan: ProbePlan) -> Answer:
        return (
            task(State.COMPLETED) if TEXT in plan.accepts else error("ContentTypeNotSupported", "chat needs text/plain")
        )

    decision, plans = run(agent, accepts=(JSON,))
    assert [plan.accepts for plan in plans] == [(JSON,), (JSON, TEXT)]
    assert plans[1].metadata["intendedOutputModes"] == [JSON, TEXT]
    assert decision.accepts == (JSON, TEXT) and decision.action is Action.COMMIT_AS_HINT


@pytest.mark.parametrize(
    ("answer", "because", "findings"),
    [
        (task(State.REJECTED), "probe-refused", []),
        (error("InvalidParams"), "probe-refused", []),
        (asks("which city?"), "probe-interrupted", ["not-committed"]),
        (task(State.AUTH_REQUIRED), "probe-interrupted", ["not-committed"]),
        (error("TaskNotFound"), "probe-broken", []),
    ],
)
def test_after_such_a_probe_nothing_is_sent(answer: Answer, because: str, findings: list[str]) -> None:
    decision, plans = run(lambda plan: answer, JSON, TEXT)
    assert len(plans) == 1 and decision.action is Action.REFUSE and decision.because == (because,)
    assert slugs(decision.findings) == findings


def test_a_probe_that_hung_or_broke_the_protocol_ends_it() -> None:
    decision, plans = run(takes(TEXT), seen=(PROBE_HANG(),), stream=True)
    assert len(plans) == 1 and decision.because == ("probe-hung",)
    assert run(takes(TEXT), seen=(CONTEXT_REPLACED(),))[0].because == ("probe-broken",)


def test_a_fault_without_a_finding_of_its_own_is_given_one() -> None:
    state = rehearse(card_of(), Intent(), Policy(), ())
    plan = next_probe(state)
    assert isinstance(plan, ProbePlan)
    decision = next_probe(state.after(plan, read_probe(None, plan.asked(dialect="1.0"), ending="fault")))
    assert isinstance(decision, Decision) and slugs(decision.findings) == ["not-committed"]


def test_an_inconclusive_probe_lets_a_hint_commit_and_never_authority() -> None:
    decision, plans = run(lambda plan: Message(id="m", role="agent", parts=()))
    assert modes(plans) == [TEXT] and decision.action is Action.COMMIT_AS_HINT and decision.context_id is None
    assert decision.because == ("probe-inconclusive",)
    assert run(lambda plan: task(State.SUBMITTED))[0].action is Action.COMMIT_AS_HINT


def test_a_mode_is_rehearsed_after_an_inconclusive_text_probe() -> None:
    decision, plans = run(lambda plan: Message(id="m", role="agent", parts=()), JSON)
    assert modes(plans) == [TEXT, JSON] and decision.mode == JSON and decision.action is Action.COMMIT_AS_HINT


def test_a_skill_that_is_not_echoed_is_a_hint_and_a_generic_executor() -> None:
    decision, _ = run(takes(TEXT), skill="sum")
    assert decision.action is Action.COMMIT_AS_HINT and decision.is_generic
    assert decision.because == ("skill-not-echoed",)
    echoing, _ = run(lambda plan: task(State.WORKING, skillId="sum"), skill="sum")
    assert echoing.action is Action.COMMIT and not echoing.is_generic


# -- streams


def test_a_stream_is_proved_by_a_stream_even_where_the_mode_was_named() -> None:
    decision, plans = run(takes(JSON), TEXT, JSON, stream=True)
    assert modes(plans) == [TEXT, JSON] and decision.action is Action.RENEGOTIATE and decision.op == "stream"


def test_a_stream_that_no_probe_proved_is_not_opened_for_a_payload() -> None:
    agent = takes(CSV, reads_metadata=True)
    decision, plans = run(agent, TEXT, JSON, CSV, stream=True)
    assert modes(plans) == [TEXT, CSV] and decision.mode == CSV
    contrary = iter([asks("send application/json"), asks("send text/csv")])
    decision, _ = run(lambda plan: next(contrary), TEXT, JSON, CSV, stream=True)
    assert slugs(decision.findings) == ["mode-unproven"] and "a stream in it" in decision.findings[0].detail


def unsteady() -> Agent:
    """An agent that declines two modes by name of none, so that two probes prove nothing of the third."""
    return lambda plan: error("ContentTypeNotSupported")


def test_a_mode_that_no_probe_proved_is_refused_or_with_leniency_a_hint() -> None:
    strict, plans = run(unsteady(), TEXT, JSON, CSV)
    assert modes(plans) == [TEXT, JSON] and slugs(strict.findings) == ["mode-unproven"]
    assert strict.action is Action.REFUSE and strict.findings[0].verdict is Verdict.REFUSE
    lenient, _ = run(unsteady(), TEXT, JSON, CSV, probe="lenient")
    assert lenient.action is Action.RENEGOTIATE and lenient.mode == CSV
    assert lenient.findings[0].verdict is Verdict.HINT and lenient.findings[0].kind is Kind.AUTHORITY


# -- control


def test_a_control_shows_an_agent_that_accepts_anything() -> None:
    decision, plans = run(lambda plan: task(State.COMPLETED), control=True)
    assert [plan.purpose for plan in plans] == ["probe", "control"]
    assert decision.action is Action.COMMIT_AS_HINT and slugs(decision.findings) == ["not-discriminating"]


@pytest.mark.parametrize("answer", [error("ContentTypeNotSupported"), task(State.REJECTED), asks("send text/plain")])
def test_a_control_that_is_refused_leaves_authority(answer: Answer) -> None:
    decision, plans = run(lambda plan: answer if plan.purpose == "control" else task(State.COMPLETED), control=True)
    assert len(plans) == 2 and decision.action is Action.COMMIT and decision.context_id == "c1"


def test_a_control_uses_a_mode_that_nobody_declared_or_is_left_out() -> None:
    _, plans = run(takes(TEXT), card=card_of(TEXT, "application/*"), control=True)
    assert plans[-1].mode.startswith("model/")
    assert len(run(takes(TEXT), card=card_of("*/*"), control=True)[1]) == 1


# -- the driver


def test_only_the_next_probe_may_be_read() -> None:
    state = rehearse(card_of(), Intent(), Policy(), ())
    plan = next_probe(state)
    assert isinstance(plan, ProbePlan)
    reading = ProbeReading(asked=plan.asked(dialect="1.0"), outcome=Outcome.ACCEPTED)
    done = state.after(plan, reading)
    assert isinstance(next_probe(done), Decision)
    with pytest.raises(Misuse, match="not the next probe"):
        done.after(plan, reading)


def test_a_consumer_without_payloads_can_send_its_mode() -> None:
    state = rehearse(card_of(), Intent(mode=JSON), Policy(), ())
    assert isinstance(state, Rehearsal) and state.can_send == (JSON,)


# -- the bundled matrix: three agents that promise more than they keep, seven pairs

SKILLS = [{"id": "summarize"}, {"id": "extract", "inputModes": [JSON]}]
CONSUMERS: dict[str, dict[str, Any]] = {
    "notes": {"modes": (TEXT, JSON), "skill": "summarize"},
    "records": {"modes": (JSON, TEXT), "skill": "extract"},
    "batch": {"modes": (JSON, TEXT), "skill": "extract"},
    "dash": {"modes": (CSV, JSON, TEXT), "skill": "summarize", "stream": True},
}


@pytest.mark.parametrize(
    ("agent", "consumer", "probes", "action", "mode"),
    [
        ("alder", "notes", [TEXT], Action.COMMIT_AS_HINT, TEXT),
        ("alder", "records", [TEXT], Action.RENEGOTIATE, TEXT),
        ("birch", "notes", [TEXT], Action.RENEGOTIATE, JSON),
        ("birch", "records", [TEXT], Action.COMMIT_AS_HINT, JSON),
        ("birch", "dash", [TEXT, JSON], Action.REFUSE, None),
        ("cedar", "batch", [TEXT, JSON], Action.RENEGOTIATE, TEXT),
        ("cedar", "dash", [TEXT], Action.REFUSE, None),
    ],
)
def test_the_seven_pairs(agent: str, consumer: str, probes: list[str], action: Action, mode: str | None) -> None:
    inputs = (TEXT, JSON) if agent == "alder" else (TEXT, JSON, CSV)
    card = card_of(*inputs, skills=SKILLS)
    wants = dict(CONSUMERS[consumer])
    first, *others = wants.pop("modes")
    runtime = {"alder": takes(TEXT, reads_metadata=True), "birch": takes(JSON), "cedar": takes(TEXT)}[agent]
    assert match_card(card, card.interfaces[0], Intent(mode=first, **wants)) == []

    def stream_faults(plan: ProbePlan) -> tuple[Finding, ...]:
        """What the stream watch would say: birch streams end empty, those of cedar never do."""
        fits = isinstance(answer := runtime(plan), Task) and answer.state is State.COMPLETED
        broken = {"birch": CONTEXT_REPLACED(), "cedar": PROBE_HANG()}.get(agent)
        return (broken,) if plan.op == "stream" and fits and broken else ()

    state = rehearse(card, Intent(mode=first, payloads=dict.fromkeys((first, *others), b""), **wants), Policy(), ())
    plans = []
    while isinstance(step := next_probe(state), ProbePlan):
        plans.append(step)
        reading = read_probe(runtime(step), step.asked(dialect="1.0"), seen=stream_faults(step), is_live=True)
        state = state.after(step, reading)
    assert (modes(plans), step.action, step.mode) == (probes, action, mode)
