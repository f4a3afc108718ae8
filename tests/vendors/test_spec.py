"""A matrix's tables are refused in a sentence that names file, key, value, what was expected, and the nearest word."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.vendors.consumer_spec import ConsumerSpec
from a2a_lab.vendors.spec import AgentSpec, Misbehaviour, SkillSpec

WHERE = "file.toml.agents.oak"


def agent(**table: Any) -> AgentSpec:
    return AgentSpec.parse("oak", {"version": "1.0"} | table, WHERE)


def consumer(**table: Any) -> ConsumerSpec:
    return ConsumerSpec.parse("notes", table, "file.toml.consumers.notes")


def test_an_agent_is_conformant_unsigned_1_0_unless_its_table_says_more() -> None:
    spec = agent()
    assert (spec.name, spec.version, spec.dialect, spec.signed_by, spec.streaming) == ("oak", "1.0", "1.0", "", True)
    assert spec.misbehaviours == () and spec.inputs == ("text/plain",)


def test_inputs_are_the_defaults_and_those_of_every_skill() -> None:
    spec = agent(default_inputs=["text/plain", "a/b"], skills=[{"id": "one", "inputs": ["a/b", "c/d"]}])
    assert spec.inputs == ("text/plain", "a/b", "c/d")
    assert spec.skills == (SkillSpec(id="one", inputs=("a/b", "c/d")),)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"signed_by": "labb"}, r"file.toml.agents.oak.signed_by: 'labb' is not one of .*did you mean 'lab'"),
        ({"dialect": "1.1"}, r"dialect: '1.1' is not one of '1.0', '0.3'"),
        ({"dialect": 1.0}, r'dialect: 1.0 is not a string; a version is text, write dialect = "1.0" with quotes'),
        ({"version": 1.0}, r'write version = "1.0" with quotes'),
        ({"streaming": "no"}, r"streaming: 'no' is not true, false or \"absent\""),
        ({"outputs": []}, r"outputs: \[\] is not a list of at least one string"),
        ({"outputs": "text/plain"}, r"outputs: 'text/plain' is not a list of strings"),
        ({"work_s": -1}, r"work_s: -1 is not a number of at least 0"),
        ({"chunks": 0}, r"chunks: 0 is not a whole number of at least 1"),
        ({"reads_metadata": 1}, r"reads_metadata: 1 is not true or false"),
        ({"extra": []}, r"extra: \[\] is not a table"),
        ({"skills": {}}, r"skills: \{\} is not a list of tables"),
        ({"skills": ["one"]}, r"skills\[0\]: a table is expected, found 'one'"),
        ({"skills": [{"id": "a", "input": []}]}, r"skills\[0\]: unknown key 'input' .*did you mean 'inputs'"),
        ({"defalt_inputs": []}, r"file.toml.agents.oak: unknown key 'defalt_inputs' .*did you mean 'default_inputs'"),
        ({"tenants": {"acme": {"streeming": True}}}, r"agents.oak.tenants.acme: unknown key 'streeming'"),
        ({"tenants": {"acme": {"deprovisioned": True, "work_s": 1}}}, r"tenants.acme: unknown key 'work_s'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_table_of_an_agent_is_refused_by_name(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Misuse, match=sentence):
        agent(**table)


def test_a_missing_key_says_what_is_expected() -> None:
    with pytest.raises(Misuse, match=r"agents.oak.version: missing; a string is expected"):
        AgentSpec.parse("oak", {}, WHERE)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"name": "never-finall"}, r"no misbehaviour is called 'never-finall'; did you mean 'never-final'"),
        ({"name": "never-final", "ping": True}, r"unknown key 'ping' .*did you mean 'pings'"),
        ({"name": "never-final", "on": "sent"}, r"on: 'sent' is not one of 'send', 'stream', 'any'"),
        ({"name": "never-final", "min_bytes": "1k"}, r"min_bytes: '1k' is not a whole number"),
        ({"name": "ignores-skill-modes"}, r"misbehaviours\[0\].accepts: missing; a list of strings is expected"),
        ({"name": "wrong-version"}, r"misbehaviours\[0\].value: missing; a value is expected"),
        ({"name": "single-terminal-event", "event": "tusk"}, r"event: 'tusk' is not one of 'task', 'status'"),
        ({"name": "tampered-card", "on": "send"}, r"misbehaviours\[0\]: unknown key 'on'"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_misbehaviour_is_one_of_the_table_with_options_of_its_own(fault: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Misuse, match=sentence):
        agent(misbehaviours=[fault])


def test_a_misbehaviour_has_every_default_filled_in() -> None:
    [fault] = agent(misbehaviours=[{"name": "never-final", "on": "stream"}]).misbehaviours
    assert fault == Misbehaviour(name="never-final", on="stream", options={"pings": False, "every_s": 0.1})


def test_a_tenant_has_what_its_gateway_says_and_misbehaviours_of_its_own() -> None:
    spec = agent(
        outputs=["a/b"],
        misbehaviours=[{"name": "card-flaps"}],
        tenants={"acme": {"streaming": False}, "gone": {"deprovisioned": True}},
    )
    acme = spec.tenants["acme"]
    assert acme and (acme.outputs, acme.streaming, acme.misbehaviours) == (("a/b",), False, ())
    assert spec.tenants["gone"] is None


def test_an_agent_survives_the_way_to_its_process_without_what_only_readers_need() -> None:
    spec = agent(
        purpose="why it is there",
        expects=["unsigned"],
        streaming="absent",
        extra={"x": {"y": 1}},
        misbehaviours=[{"name": "wrong-version", "value": 1.0}, {"name": "undeclared-output", "min_bytes": 9}],
        tenants={"acme": {"chunks": 2}, "gone": {"deprovisioned": True}},
    )
    sent = json.loads(json.dumps(spec.table()))
    assert AgentSpec.parse("oak", sent, WHERE) == replace(spec, purpose="", expects=())
    assert "why it is there" not in str(sent) and "unsigned" not in str(sent)


# ---- consumers ---------------------------------------------------------------------------------------------------


def test_a_consumer_sends_its_own_mode_and_blocks_unless_its_table_says_more() -> None:
    spec = consumer()
    assert (spec.mode, spec.can_send, spec.wait, spec.stream) == ("text/plain", ("text/plain",), "block", False)
    assert consumer(stream=True).wait == "stream" and consumer(mode="a/b").can_send == ("a/b",)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (
            {"wait": "pole"},
            r"consumers.notes.wait: 'pole' is not one of 'block', 'poll', 'stream'; did you mean 'poll'",
        ),
        ({"wait": "stream"}, r"wait: 'stream' is not in agreement with stream"),
        ({"stream": True, "wait": "poll"}, r"wait: 'poll' is not in agreement with stream"),
        ({"can_send": ["a/b"]}, r"can_send: \['a/b'\] is not a list with the consumer's own mode 'text/plain'"),
        ({"supports": [1.0]}, r"supports: \[1.0\] is not a list of strings"),
        ({"supports": []}, r"supports: \[\] is not a list of at least one string"),
        ({"tenant_by": "cookie"}, r"tenant_by: 'cookie' is not one of 'header', 'path', 'query'"),
        ({"topology": "mesh"}, r"topology: 'mesh' is not one of 'auto', 'direct', 'gateway'"),
        ({"tennant": "acme"}, r"unknown key 'tennant' .*did you mean 'tenant'"),
        ({"max_renegotiations": True}, r"max_renegotiations: True is not a whole number"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_table_of_a_consumer_is_refused_by_name(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Misuse, match=sentence):
        consumer(**table)


def test_a_consumer_is_read_again_from_its_own_table() -> None:
    spec = consumer(stream=True, skill="", tenant="acme", tenant_by="path", requires=["streaming"])
    assert spec.skill is None
    assert ConsumerSpec.parse("notes", spec.table(), "again") == spec


def test_a_table_is_a_table() -> None:
    with pytest.raises(Misuse, match="a table is expected, found 'text'"):
        AgentSpec.parse("oak", "text", WHERE)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"binding": "GRPC"}, r"binding: 'GRPC' is not one of 'JSONRPC', 'HTTP\+JSON'"),
        ({"binding": "HTTP+JSON", "dialect": "0.2"}, r"HTTP\+JSON is spoken from 0.3 on"),
        ({"binding": "HTTP+JSON", "tenants": {"acme": {}}}, r"tenants.*a gateway fronts agents over JSON-RPC"),
        ({"misbehaviours": [{"name": "problem-details"}]}, r"a list without 'problem-details', which acts over HTTP"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_a_binding_cannot_carry_is_refused(table: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Misuse, match=sentence):
        agent(**table)


def test_a_consumer_names_the_bindings_that_it_can_call_over() -> None:
    assert consumer().bindings == ("JSONRPC",)
    assert consumer(bindings=["HTTP+JSON", "JSONRPC"]).bindings == ("HTTP+JSON", "JSONRPC")
    with pytest.raises(Misuse, match=r"bindings: .*'JSONRPC', 'HTTP\+JSON'; did you mean 'HTTP\+JSON'"):
        consumer(bindings=["HTTP-JSON"])
