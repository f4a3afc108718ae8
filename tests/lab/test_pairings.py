"""A matrix of real vendors (issue 4, item 7): what its file may say, and which cells come of it."""

from __future__ import annotations

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pairing_plan import plan_pairs, spec_of
from a2a_lab.lab.plan import make_plan

TWO = """
[vendors.agents."a2a-sdk-1.3"]
[vendors.agents.signed]
agent = "a2a-sdk-1.3+compat"
options = ["--work", "0.1"]
[vendors.consumers."a2a-sdk-0.3"]
[vendors.consumers.js]
consumer = "a2a-js-1.3+compat"
[vendors.consumers.enforcing]
[vendors.consumers.mine]
consumer = "external"
wait_s = 5
"""


def matrix(text: str = TWO) -> Matrix:
    return Matrix.parse(text, name="two", where="two.toml")


def keys(text: str = TWO, **how: object) -> list[str]:
    return [str(cell.key) for cell in plan_pairs(matrix(text), **how)]  # type: ignore[arg-type]


def test_a_vendor_is_meant_by_its_own_name_or_by_another_that_says_which() -> None:
    pairings = matrix().pairings
    assert pairings is not None
    assert {name: entry.vendor.name for name, entry in pairings.agents.items()} == {
        "a2a-sdk-1.3": "a2a-sdk-1.3",
        "signed": "a2a-sdk-1.3+compat",
    }
    assert pairings.agents["signed"].options == ("--work", "0.1")
    assert [(one.how, one.posture) for one in pairings.consumers.values()] == [
        ("foreign", "foreign"),
        ("foreign", "foreign"),
        ("enforcing", "enforcing"),
        ("external", "foreign"),
    ]


def test_every_agent_meets_every_consumer_once_in_each_scenario() -> None:
    found = keys()
    assert len(found) == len(set(found)) == 2 * 4 * 2
    assert found[0] == "a2a-sdk-1.3@1.3.0/a2a-sdk-0.3/JSONRPC/1.0/send/foreign/1"


def test_a_key_names_what_both_claim_to_speak() -> None:
    """And the agent's own first version where they have none in common: there it fails."""
    spoken = {tuple(key.split("/")[:2]): key.split("/")[3] for key in keys()}
    assert spoken["signed@1.3.0", "a2a-sdk-0.3"] == "0.3"
    assert spoken["signed@1.3.0", "js"] == "1.0"
    assert spoken["a2a-sdk-1.3@1.3.0", "a2a-sdk-0.3"] == "1.0"


def test_the_plan_is_narrowed_as_any_other() -> None:
    assert len(keys(only="signed@")) == 8
    assert len(keys(only="*/stream/enforcing/*")) == 2
    assert len(keys(must_include="js")) == 4
    assert len(keys(attempts=3)) == 3 * 16
    assert {key.split("/")[5] for key in keys(posture="trusting")} == {"foreign"}


def test_pairs_may_be_named_one_by_one() -> None:
    text = TWO.replace(
        "[vendors.agents", '[vendors]\npairs = [["signed", "js"]]\nscenarios = ["send"]\n[vendors.agents', 1
    )
    assert keys(text) == ["signed@1.3.0/js/JSONRPC/1.0/send/foreign/1"]


TOLD = TWO + '[vendors.agents.told]\nagent = "a2a-sdk-0.2"\ncard_also_at = "/.well-known/agent-card.json"\n'


def test_an_agent_whose_card_the_recorder_offers_elsewhere_meets_only_who_goes_through_it() -> None:
    """The lab's own consumers find cards by themselves: nobody would offer them one."""
    met = {key.split("/")[1] for key in keys(TOLD) if key.startswith("told@")}
    assert met == {"a2a-sdk-0.3", "js", "mine"}
    pairs = TOLD.replace("[vendors.agents", '[vendors]\npairs = [["told", "enforcing"]]\n[vendors.agents', 1)
    with pytest.raises(Misuse, match="finds cards by itself"):
        keys(pairs)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("/.well-known/agent-card.json", "agent.json"), "'agent.json' is not a well-known path"),
        (("agents.told]", 'agents."a2a-sdk-0.2"]'), "under a name of its own, such as a2a-sdk-0.2.told"),
    ],
)
def test_a_path_that_is_offered_must_be_one_and_say_so_in_the_name(change: tuple[str, str], complaint: str) -> None:
    with pytest.raises(Misuse, match=complaint):
        matrix(TOLD.replace(*change))


def test_everything_that_there_is() -> None:
    full = matrix("[vendors]\nall = true\n[vendors.consumers.enforcing]\n").pairings
    assert full is not None
    assert {"a2a-sdk-1.3", "crewai-1.15", "langgraph-api-0.16"} <= set(full.agents)
    assert {"langgraph-supervisor-0.0", "grpc-router-1.3", "crewai-1.15", "enforcing"} <= set(full.consumers)


def test_the_bundled_matrices_are_whole() -> None:
    small, full = Matrix.load("real"), Matrix.load("real-full")
    assert len(plan_pairs(small)) == 50
    assert {cell.agent.name for cell in plan_pairs(small)} <= {cell.agent.name for cell in plan_pairs(full)}
    assert small.clocks.silence_s == 5.0 and small.transport_timeout_s == 10.0


def test_what_a_consumer_of_a_pair_wants_is_a_line_of_text() -> None:
    send, stream = (
        cell for cell in plan_pairs(matrix()) if str(cell.key).startswith("signed") and cell.consumer.name == "js"
    )
    assert (spec_of(send).wait, spec_of(stream).wait, spec_of(stream).stream) == ("block", "stream", True)
    assert spec_of(send).skill is None


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            ('"a2a-sdk-1.3"', '"a2a-sdk-1.4"'),
            r"two.toml.vendors.agents.a2a-sdk-1.4.agent: there is no vendor .* 'a2a-sdk-1.3'",
        ),
        (('"a2a-js-1.3+compat"', '"a2a-sdk-1.3+compat"'), "a2a-sdk-1.3.compat is no consumer; its roles are agent"),
        (("wait_s = 5", "wait_s = 0"), "at least 1"),
        (("options", "option"), "unknown key 'option'"),
        (("[vendors.agents", '[vendors]\nscenarios = ["sent"]\n[vendors.agents'), "did you mean 'send'"),
        (("[vendors.agents", '[vendors]\npairs = [["signed", "jay"]]\n[vendors.agents'), "no consumer is called 'jay'"),
        (("[vendors.agents", "pairs = []\n[vendors.agents"), "not both"),
    ],
)
def test_what_cannot_be_right_is_named(change: tuple[str, str], complaint: str) -> None:
    with pytest.raises(Misuse, match=complaint):
        matrix(TWO.replace(*change, 1))


def test_a_matrix_of_nobody_is_refused() -> None:
    with pytest.raises(Misuse, match="at least one"):
        matrix('[vendors.agents."a2a-sdk-1.3"]\n')


def test_the_plan_of_simulated_vendors_does_not_take_it() -> None:
    with pytest.raises(Misuse, match="pairs real vendors"):
        make_plan(matrix())


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"only": "nobody"}, "matches no cell of two"),
        ({"must_include": "signd"}, "did you mean 'signed'"),
        ({"posture": "enforced"}, "expected trusting, enforcing or both"),
        ({"attempts": 0}, "at least once"),
    ],
)
def test_a_plan_of_nothing_is_refused(how: dict[str, object], complaint: str) -> None:
    with pytest.raises(Misuse, match=complaint):
        keys(**how)
