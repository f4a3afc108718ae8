"""R22: which media types an answer names as accepted, and on what evidence."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.model import Message, Part, RpcError, State, Task
from a2a_lab.core.named_modes import NAMES_NOTHING, NamedModes, modes_in_text, named_modes

TEXT, JSON, CSV = "text/plain", "application/json", "text/csv"


@pytest.mark.parametrize(
    ("text", "modes"),
    [
        ("chat needs text/plain", [TEXT]),
        ("Please resend as application/vnd.geo+json.", ["application/vnd.geo+json"]),
        ("Only `text/plain` and **text/html**", [TEXT, "text/html"]),
        ("The skill accepts: text/plain, text/csv", [TEXT, CSV]),
        ("Input must be TEXT/Plain; charset=utf-8.", [TEXT]),
        ("The payload has to be sent as text/plain", [TEXT]),
        ("supports image/* only", ["image/*"]),
        ("text/plain and application/json are both fine", [TEXT, JSON]),
    ],
)
def test_what_is_asked_for_is_named(text: str, modes: list[str]) -> None:
    assert modes_in_text(text) == tuple(modes)


@pytest.mark.parametrize(
    "text",
    [
        "application/json is not supported here; please send text/plain",
        "application/json is not supported, only text/plain",
        "I can't take application/json but text/plain works.",
        "This agent doesn’t support application/json — use text/plain",
        "Unsupported content type(s): application/json. Supported: text/plain",
        "unsupported media type application/json (supported: text/plain)",
        "Unsupported media type: application/json, expected: text/plain",
        "Only text/plain is accepted, not application/json",
        "text/plain, not application/json",
        "text/plain (not application/json)",
        "No application/json please, use text/plain",
        "application/json was rejected, please use `text/plain`",
        "We support text/plain. We do not support application/json.",
        "Expected text/plain but got application/json",
        "Got application/json; expected text/plain",
        "Expected text/plain, got application/json.",
        "You sent application/json, I need text/plain",
        "Not supported: application/json, text/csv. Use text/plain.",
        "application/json, text/csv are not supported; text/plain is",
        "text/csv, application/json is not supported here; please send text/plain",
        "I don't accept application/json, text/csv or image/png; send text/plain",
        "Unsupported types:\n- application/json\n- text/csv\nSupported types:\n- text/plain",
        "application/json is not supported\ntext/plain works",
        "MIME type application/json; charset=utf-8 not allowed. Allowed: text/plain; charset=utf-8",
        "request failed: expected text/plain",
        "Neither application/json nor text/csv will do, send text/plain",
    ],
)
def test_what_is_denied_is_not_named(text: str) -> None:
    assert modes_in_text(text) == (TEXT,)


@pytest.mark.parametrize(
    "text",
    [
        "Please send text/plain instead of application/json",
        "please send text/plain rather than application/json",
        "Modes other than text/plain are not supported.",
        "cannot accept anything but text/plain",
        "nothing but text/plain",
        "I take no type except text/plain",
        "I cannot proceed unless you send text/plain",
        "cannot continue until text/plain is sent",
        "It is impossible to process application/json without a text/plain summary",
        "Send text/plain without application/json",
    ],
)
def test_an_exception_turns_a_clause_around(text: str) -> None:
    assert modes_in_text(text) == (TEXT,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Where are you?",
        "application/json unsupported",
        "I accept everything except application/json",
        "unsupported media types (application/json, text/csv)",
        "text/plain was sent. We do not take text/plain.",
        "Which city? You sent text/plain.",
        "See https://example.test/docs/text/plain for help",
        "input/output and and/or are no media types",
        "Please provide the text of the contract",
        "I need more text from you",
        "Text is too short, please provide more",
        "json is not supported",
    ],
)
def test_nothing_is_named(text: str) -> None:
    assert modes_in_text(text) == ()


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("json is not supported here; please send text", TEXT),
        ("Please send plain text.", TEXT),
        ("You sent JSON; only text is accepted", TEXT),
        ("JSON only please", JSON),
        ("Send me JSON", JSON),
        ("Please use JSON instead", JSON),
        ("data must be in JSON format", JSON),
        ("Please send CSV instead of JSON", CSV),
        ("XML is required", "application/xml"),
    ],
)
def test_words_count_where_a_format_is_asked_for(text: str, mode: str) -> None:
    assert modes_in_text(text) == (mode,)


@pytest.mark.parametrize(
    "text",
    [
        "Do you need the result as CSV?",
        "Do you need the result as text/csv?",
        "Should the output be in JSON?",
        "Shall I give you the summary as PDF or as HTML?",
        "Shall I give you the summary as PDF, or as HTML?",
        "Would you like the report in PDF format?",
        "I have all that I need. Do you want me to send the result as CSV?",
        "In what format do you need the report: as PDF or as CSV?",
        "How would you like the answer - in JSON, or as plain text?",
        "Which output do you prefer: in JSON or in XML?",
        "Output in JSON or in XML?",
        "Should I reply in plain text?",
        "Could I return the table as CSV?",
        "Please tell me whether you want the summary in PDF or HTML.",
        "Let me know if the output should be in JSON.",
        "Let me know if you prefer the result in Markdown format",
    ],
)
def test_a_question_about_what_the_agent_is_to_give_narrows_nothing(text: str) -> None:
    """R22: input-required that asks about the output is interrupted; the mode that was sent is not in question."""
    assert modes_in_text(text) == ()


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("Could you send the report as CSV?", CSV),
        ("Can you provide the data as CSV, please?", CSV),
        ("Would you please resend it as CSV?", CSV),
        ("Would you like to resend the report as CSV?", CSV),
        ("Could you use text/csv instead?", CSV),
        ("Do you have it as CSV?", CSV),
        ("Is the input available in CSV?", CSV),
        ("If you want me to continue, send the data as CSV.", CSV),
        ("Do you need the result now? Then send the data as CSV.", CSV),
        ("I need the data as CSV.", CSV),
        ("The input should be in CSV.", CSV),
        ("Input must be in CSV to get an output.", CSV),
        ("To give you a summary I require CSV.", CSV),
        ("Which is it? Only text/csv is accepted.", CSV),
    ],
)
def test_a_question_that_asks_for_another_input_narrows(text: str, mode: str) -> None:
    assert modes_in_text(text) == (mode,)


def test_media_types_win_over_words() -> None:
    assert modes_in_text("Send JSON only. That is application/json; no, wait: use text/csv") == (JSON, CSV)
    assert modes_in_text("application/json is not supported, send text") == (TEXT,)


def task(*parts: Part, metadata: dict[str, Any] | None = None, own: dict[str, Any] | None = None) -> Task:
    message = Message(id="m", role="agent", parts=parts, metadata=metadata or {})
    return Task(id="t", context_id="c", state=State.INPUT_REQUIRED, wire_state="x", message=message, metadata=own or {})


def prose(text: str) -> Part:
    return Part(kind="text", text=text)


def data(value: Any) -> Part:
    return Part(kind="data", data=value)


def test_a_data_part_comes_before_metadata_and_prose() -> None:
    found = task(prose("send text/csv"), data({"acceptedInputModes": [JSON]}), metadata={"inputModes": [TEXT]})
    assert named_modes(found) == NamedModes(modes=(JSON,), evidence="data part")


def test_metadata_of_message_or_task_comes_before_prose() -> None:
    assert named_modes(task(prose("send text/csv"), metadata={"supported_modes": [TEXT]})).evidence == "metadata"
    assert named_modes(task(own={"accepted-content-types": TEXT})) == NamedModes(modes=(TEXT,), evidence="metadata")


def test_prose_of_all_parts_is_read_last() -> None:
    found = named_modes(task(prose("send text/csv"), prose("or application/json"), data({"hint": "none"})))
    assert found == NamedModes(modes=(CSV, JSON), evidence="text")


@pytest.mark.parametrize(
    ("value", "modes"),
    [
        ({"accepts": "text/plain; charset=utf-8"}, [TEXT]),
        ({"error": {"details": [{"supportedMediaTypes": [TEXT, CSV]}]}}, [TEXT, CSV]),
        ([{"expected": TEXT}], [TEXT]),
        ({"acceptedInputModes": ["text", 7, None, {"a": 1}, "*/*"]}, ["*/*"]),
        ({"unsupported": [JSON], "rejectedModes": [JSON], "received": JSON}, []),
        ({"acceptedInputModes": {"value": TEXT}}, []),
        (TEXT, []),
        (None, []),
    ],
)
def test_members_that_list_what_is_accepted(value: Any, modes: list[str]) -> None:
    assert named_modes(task(data(value))).modes == tuple(modes)


def test_an_error_names_in_its_data_or_its_message() -> None:
    listed = RpcError(code=-32005, message="use text/csv", data=[{"@type": "x", "metadata": {"supported": TEXT}}])
    assert named_modes(listed) == NamedModes(modes=(TEXT,), evidence="error")
    assert named_modes(RpcError(code=-32005, message="chat needs text/plain")).modes == (TEXT,)
    told = RpcError(code=-32005, message="no", data={"reason": ["application/json is refused", "use text/plain"]})
    assert named_modes(told).modes == (TEXT,)


def test_a_bare_message_is_read_as_a_status_message_is() -> None:
    message = Message(id="m", role="agent", parts=(prose("send text/csv"),), metadata={})
    assert named_modes(message).modes == (CSV,)


def test_nothing_names_nothing() -> None:
    silent = Task(id="t", context_id=None, state=State.INPUT_REQUIRED, wire_state="x")
    assert named_modes(None) is named_modes(silent) is NAMES_NOTHING and not NAMES_NOTHING


def test_a_document_made_to_be_deep_or_a_text_made_to_be_long_costs_nothing() -> None:
    deep: Any = {"accepts": TEXT}
    for _ in range(300):
        deep = {"a": [deep]}
    began = time.process_time()
    assert not named_modes(task(data(deep))) and not named_modes(RpcError(code=1, message="", data=deep))
    for text in (
        "text/plain, " * 100_000,
        "not " * 100_000,
        "(" * 100_000,
        "text/" + "a." * 100_000,
        "; a=" * 100_000,
        "if " * 100_000,
    ):
        modes_in_text(text)
    assert time.process_time() - began < 2.0


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert all("/" in mode for mode in modes_in_text(text))
