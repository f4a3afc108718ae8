"""The table of misbehaviours is closed, documented, tested one by one, and blind to who asks."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.matrix import Matrix
from a2a_lab.vendors.behaviours import BEHAVIOURS, Behaviour, table
from a2a_lab.vendors.spec import AgentSpec, Misbehaviour
from tests.vendors.bench import Bench

EACH = pytest.mark.parametrize("fault", BEHAVIOURS.values(), ids=BEHAVIOURS)
FOLDER = Path(inspect.getfile(table)).parent
# What no agent may know: it would be a switch for a pair, not a fault of a vendor.
BLIND_TO = {"posture", "consumer", "pair", "trusting", "enforcing", "probe", "rehearsal", "canary"}
NEEDED = {"accepts": ["text/plain"], "value": "1.0.0"}


def options(fault: Behaviour) -> dict[str, object]:
    given = {option.name: NEEDED[option.name] for option in fault.options if option.default is ...}
    return given | {option.name: option.default for option in fault.options if option.default is not ...}


@EACH
def test_each_has_a_sentence_a_rule_and_documented_options(fault: Behaviour) -> None:
    assert fault.says.endswith(".") and fault.breaks
    assert all(option.says for option in fault.options)


@EACH
def test_each_acts_somewhere(fault: Behaviour) -> None:
    places = (fault.card, fault.signed_card, fault.card_reply, fault.call, fault.modes, fault.moves, fault.frames)
    assert any([*places, fault.envelope, fault.speaks])


@EACH
@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
def test_each_is_refused_where_it_could_not_act(fault: Behaviour, binding: str) -> None:
    entry = {"name": fault.name} | {key: value for key, value in options(fault).items() if value is not None}
    table = {"version": "1.0", "binding": binding, "misbehaviours": [entry]}
    if binding in fault.bindings:
        assert AgentSpec.parse("oak", table, "oak").binding == binding
        return
    with pytest.raises(Misuse, match=f"a list without '{fault.name}'"):
        AgentSpec.parse("oak", table, "oak")


@EACH
def test_each_has_a_test_of_its_own(fault: Behaviour) -> None:
    tests = {
        node.name
        for path in Path(__file__).parent.glob("test_*_faults.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    }
    assert f"test_{fault.name.replace('-', '_')}" in tests


@EACH
def test_each_is_met_in_the_matrix_of_faults(fault: Behaviour) -> None:
    matrix = Matrix.load("faults")
    met = {entry.name for agent, _ in matrix.pairs for entry in _all(matrix.agents[agent])}
    assert fault.name in met


def _all(agent: AgentSpec) -> list[Misbehaviour]:
    inner = [entry for tenant in agent.tenants.values() if tenant for entry in tenant.misbehaviours]
    return [*agent.misbehaviours, *inner]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_no_misbehaviour_knows_who_asks(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    assert not {name.lower() for name in names} & BLIND_TO


@EACH
@pytest.mark.parametrize("dialect", ["1.0", "0.3"])
def test_each_runs_in_both_dialects_without_a_trace_of_its_own(bench: Bench, fault: Behaviour, dialect: str) -> None:
    binding = fault.bindings[0]
    agent = bench.agent({"name": fault.name} | options(fault), dialect=dialect, binding=binding, work_s=0.0)
    agent.get()
    seen = agent.stream(limit_s=0.1)
    assert seen.media_type or seen.ending == "open"
    assert bench.host.stderr == ""
