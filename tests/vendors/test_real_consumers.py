"""The real consumers (issue 4, item 3): each does its own discovery against each real agent, once a send and a stream.

What is asserted is the consumer's own account. Two letters a pair: `Y` the echo came back whole, `y` the SDK reported
no error but the echo is not what came, `n` the SDK reported an error, or nothing at all came.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from pathlib import Path

import pytest

from a2a_lab.vendors.consumers import ConsumerResult, run_consumer
from a2a_lab.vendors.registry import find_vendor, read_vendors
from tests.vendors.real import agent, built_or_skipped

pytestmark = pytest.mark.vendors

CONSUMERS = (
    "a2a-sdk-1.3", "a2a-sdk-0.3", "a2a-sdk-0.2", "fasta2a-2.1", "a2a-js-1.3", "a2a-js-1.3+compat", "a2a-js-0.3",
    "a2a-go-2.3", "a2a-go-2.3+compat", "a2a-rust-0.5", "google-adk-2.13", "langgraph-supervisor-0.0", "grpc-router-1.3",
    "python-a2a-0.5", "crewai-1.15",
)  # fmt: skip
PAIRS = {
    "a2a-sdk-1.3": "YY nn nn nn YY YY nn YY YY YY YY YY YY yy nn",
    "a2a-sdk-1.3+compat": "YY YY nn yy YY YY YY YY YY YY YY YY YY yy YY",
    "a2a-sdk-0.3": "YY YY YY nn nn YY YY nn YY nn YY YY YY yy YY",
    "a2a-sdk-0.2": "nn nn YY nn nn nn nn nn nn nn nn nn nn yy nn",
    "fasta2a-2.1": "nn nn nn YY yY yY nn nn nn nn nn nn nn ny nn",
    "a2a-js-1.3": "YY nn nn nn YY YY nn YY YY YY YY YY YY yy nn",
    "a2a-js-1.3+compat": "YY YY nn nn YY YY YY YY YY YY YY YY YY yy YY",
    "a2a-js-0.3": "YY YY nn nn nn YY YY nn YY nn YY YY YY yy YY",
    "a2a-go-2.3": "YY nn nn nn YY YY nn YY YY YY YY YY YY yy nn",
    "a2a-go-2.3+compat": "YY YY nn nn YY YY YY YY YY YY YY YY YY yy YY",
    "a2a-java-0.3": "YY YY nn nn nn YY YY nn YY nn YY YY YY yy YY",
    "a2a-rust-0.5": "YY nn nn nn YY YY nn YY YY YY YY YY YY yy nn",
    "google-adk-2.13": "YY nn nn nn YY YY nn YY YY YY YY YY YY yy nn",
    "langgraph-api-0.16": "Yy YY YY yy nn nn nn nn nn Yn Yn Yy Yy yy yY",
    "python-a2a-0.5": "nn nn nn nn nn nn nn nn nn nn nn nn nn yn yy",
    "crewai-1.15": "YY YY YY nn nn YY YY nn YY nn YY YY YY yy yy",
}
# Every binding of the current Python SDK, alone, and all of them beside 0.3, with those clients that could speak them.
BINDING_CONSUMERS = (
    "a2a-sdk-1.3", "a2a-sdk-1.3+rest", "a2a-sdk-1.3+grpc", "a2a-sdk-0.3", "a2a-js-1.3", "a2a-go-2.3", "a2a-rust-0.5",
    "google-adk-2.13", "a2a-go-2.3+grpc",
)  # fmt: skip
BINDING_PAIRS = {
    "a2a-sdk-1.3+rest": "YY YY nn nn YY YY YY YY nn",
    "a2a-sdk-1.3+grpc": "nn nn YY nn nn nn nn nn YY",
    "a2a-sdk-1.3+full": "YY YY YY YY YY YY YY nn YY",
    "a2a-go-2.3+grpc": "nn nn YY nn nn nn nn nn YY",
}
CREW = "crewai-1.15"
# Whose agent a consumer is given where the agent is not the question: that of its own line.
LINE = {name: name.partition("+")[0] for name in CONSUMERS} | {
    "google-adk-2.13": "a2a-sdk-1.3",
    "langgraph-supervisor-0.0": "a2a-sdk-1.3",
    "grpc-router-1.3": "a2a-sdk-1.3",
    "crewai-1.15": "a2a-sdk-0.3",
}
CAREFUL = [
    name for name in CONSUMERS if name not in (CREW, "python-a2a-0.5")
]  # that end with an error when there is one
NO_URL = r"A2AClientJSONError: .*Failed to validate agent card structure.*\"loc\":\[\"url\"\]"
NO_TRANSPORT = "Error: No compatible transport found, available transports: JSONRPC,HTTP.JSON"
WHY = {
    ("a2a-sdk-1.3", "a2a-sdk-0.3"): NO_URL,
    ("fasta2a-2.1", "a2a-sdk-0.3"): NO_URL,
    ("a2a-sdk-1.3", "a2a-js-0.3"): NO_TRANSPORT,
    ("a2a-sdk-0.3", "a2a-js-1.3"): NO_TRANSPORT,
    ("a2a-sdk-1.3", "a2a-sdk-0.2"): r"A2AClientHTTPError: HTTP Error 404: .*agent\.json",
    ("a2a-sdk-0.2", "a2a-sdk-1.3"): r"AgentCardResolutionError: .*agent-card\.json.*404",
    ("a2a-sdk-0.3", "fasta2a-2.1"): "ValueError: AgentCard has no supported interfaces",
    ("fasta2a-2.1", "a2a-sdk-1.3"): "ParseError: .*Failed to parse timestamp field",
    ("fasta2a-2.1", "google-adk-2.13"): "A2A request failed: .*Failed to parse timestamp field",
    ("fasta2a-2.1", "grpc-router-1.3"): "gRPC UNAVAILABLE: ParseError: .*Failed to parse timestamp field",
    ("a2a-sdk-1.3", CREW): "RuntimeError: Failed to fetch .* is running and accessible. Error: 1 validation error",
    (
        "langgraph-api-0.16",
        "a2a-js-1.3",
    ): r"Error: Failed to fetch Agent Card from \S+/a2a/\.well-known/agent-card\.json: 404",
    ("python-a2a-0.5", "a2a-js-0.3"): "Error: HTTP error .* 500",
    ("a2a-sdk-0.3", "a2a-go-2.3"): "agent card has no supported interfaces",
    ("a2a-sdk-0.3", "a2a-rust-0.5"): "failed to parse agent card",
    ("fasta2a-2.1", "a2a-go-2.3"): '.*failed to unmarshal event: parsing time "',
    ("langgraph-api-0.16", "a2a-rust-0.5"): "(SSE parse error: ProtoJSON payload missing required data|$)",
    ("a2a-sdk-1.3+grpc", "google-adk-2.13"): ".*Invalid RPC URL in agent card",
    ("a2a-sdk-1.3+full", "google-adk-2.13"): ".*Agent card RPC URL must use https, or http on a loopback host",
    ("google-adk-2.13", "fasta2a-2.1"): r"ValidationError: .*skills\.0\.inputModes",
}


async def talk(
    name: str, url: str, op: str = "send", *, text: str = "hello", options: tuple[str, ...] = (), **how: float | str
) -> ConsumerResult:
    vendor = find_vendor(name)
    asked = {"timeout_s": 10.0, "cap_s": 60.0, **how}
    return await run_consumer(vendor, built_or_skipped(vendor), url=url, op=op, text=text, options=options, **asked)


def fared(result: ConsumerResult) -> str:
    if not result.ok:
        return "n"
    text = " ".join("".join(each.text for each in result.artifacts).split())  # CrewAI joins parts with a space
    return "Y" if result.state == "completed" and text == "echo: hello" and result.error is None else "y"


def buildable(names: tuple[str, ...]) -> list[str]:
    """Those that this machine can build, built before an agent waits for them."""
    found = []
    for name in names:
        with contextlib.suppress(pytest.skip.Exception):
            built_or_skipped(find_vendor(name))
            found.append(name)
    return found


TABLES = [
    *((name, CONSUMERS, row) for name, row in PAIRS.items()),
    *((name, BINDING_CONSUMERS, row) for name, row in BINDING_PAIRS.items()),
]


@pytest.mark.parametrize(("name", "among", "row"), TABLES, ids=[name for name, *_ in TABLES])
def test_each_pair_fares_as_was_measured(name: str, among: tuple[str, ...], row: str) -> None:
    consumers = buildable(among)

    async def life() -> dict[str, list[ConsumerResult]]:
        async with agent(name) as running:
            return {each: [await talk(each, running.address, op) for op in ("send", "stream")] for each in consumers}

    results = asyncio.run(life())
    expected = dict(zip(among, row.split(), strict=True))
    told = {each: [result.said for result in pair] for each, pair in results.items()}
    assert {each: "".join(map(fared, pair)) for each, pair in results.items()} == {
        each: expected[each] for each in consumers
    }, told
    for each, pair in results.items():
        if why := WHY.get((name, each)):
            assert all(re.match(why, result.error or "", re.DOTALL) for result in pair), told[each]


@pytest.mark.parametrize("op", ["send", "stream"])
def test_a_crew_swallows_a_failed_delegation_and_answers_in_its_own_words(op: str) -> None:
    """Its caller is told of no failure; the event bus was, and both are told from each other."""
    built_or_skipped(find_vendor(CREW))

    async def life() -> ConsumerResult:
        async with agent("a2a-sdk-0.3", "--hang") as running:
            return await talk(CREW, running.address, op, timeout_s=2.0)

    result = asyncio.run(life())
    assert (result.ok, result.state, result.artifacts) == (True, "failed", ())
    assert "Timeout Error" in str(result.error) and "the manager's own words" in result.said


def test_every_vendor_with_a_consumer_is_met_here() -> None:
    named = {vendor.name for vendor in read_vendors().values() if vendor.consumer}
    assert named == {*CONSUMERS, *BINDING_CONSUMERS}


def test_what_a_client_makes_of_answers_that_it_does_not_understand() -> None:
    """The fasta2a client reads a JSON error as an empty stream, and a 0.3 task as nothing: both without a word."""

    async def life() -> tuple[ConsumerResult, ConsumerResult]:
        async with agent("a2a-sdk-1.3") as plain, agent("a2a-sdk-1.3+compat") as compat:
            return await talk("fasta2a-2.1", plain.address, "stream"), await talk(
                "fasta2a-2.1", compat.address, "stream"
            )

    silent, hollow = asyncio.run(life())
    assert (silent.ok, silent.events, silent.error) == (False, 0, None)
    assert silent.said == "nothing came, and the SDK reported no error"
    assert (hollow.ok, hollow.state, hollow.artifacts, hollow.error) == (True, None, (), None)
    assert hollow.said == "ended without a state, 5 of 5 events had nothing in them"


def test_a_1_0_stream_with_events_of_0_3_in_it_is_lost_without_a_word_or_refused() -> None:
    """Cause 6 of the measurements: langgraph-api's stream; the artifact and the end vanish from most 1.x clients."""
    silent = buildable(("a2a-sdk-1.3", "a2a-js-1.3", "a2a-js-1.3+compat"))
    built_or_skipped(find_vendor("google-adk-2.13"))

    async def life() -> tuple[list[ConsumerResult], ConsumerResult]:
        async with agent("langgraph-api-0.16") as running:
            # With the final slash: without one the JavaScript SDK drops the tenant's path.
            lost = [await talk(name, running.address + "/", "stream") for name in silent]
            return lost, await talk("google-adk-2.13", running.address, "stream")

    lost, refused = asyncio.run(life())
    for result in lost:
        assert (result.ok, result.state, result.artifacts, result.error) == (True, "submitted", (), None)
        assert result.said == "submitted, 2 of 3 events had nothing in them"
    assert refused.error and refused.error.startswith("A2A request failed: StreamResponse with no known payload field")


def test_a_client_that_finds_no_card_makes_one_up_and_sends() -> None:
    built_or_skipped(find_vendor("python-a2a-0.5"))

    async def life() -> tuple[ConsumerResult, ConsumerResult]:
        async with agent("a2a-sdk-1.3") as strange, agent("python-a2a-0.5") as own:
            return await talk("python-a2a-0.5", strange.address), await talk("python-a2a-0.5", own.address)

    strange, own = asyncio.run(life())
    assert (strange.ok, strange.error) == (True, "no card was found, and one was made up: 'Unknown Agent'")
    assert (own.ok, own.error, own.said) == (True, None, "answered, message 'echo: hello'")


def test_a_crew_hands_on_the_artifact_twice_when_the_task_holds_it_as_a_message_too() -> None:
    built_or_skipped(find_vendor(CREW))

    async def life() -> ConsumerResult:
        async with agent("langgraph-api-0.16") as running:
            return await talk(CREW, running.address)

    (artifact,) = asyncio.run(life()).artifacts
    assert artifact.text.split() == ["echo:", "hello", "echo:", "hello"]


@pytest.mark.parametrize("consumer", ["a2a-sdk-0.3", "a2a-js-0.3"])
def test_with_the_path_told_newer_clients_read_a_0_2_card(consumer: str) -> None:
    async def life() -> ConsumerResult:
        async with agent("a2a-sdk-0.2") as running:
            return await talk(consumer, running.address, options=("--card-path", "/.well-known/agent.json"))

    built_or_skipped(find_vendor(consumer))
    assert fared(asyncio.run(life())) == "Y"


@pytest.mark.parametrize("consumer", CAREFUL)
def test_a_stream_that_never_ends_is_ended_by_the_clients_timeout_or_by_the_cap(consumer: str) -> None:
    """Each is given the agent of its own line, whose task hangs; all of these clients give up after their timeout."""
    built_or_skipped(find_vendor(consumer))

    async def life() -> ConsumerResult:
        async with agent(LINE[consumer], "--hang") as running:
            return await talk(consumer, running.address, "stream", timeout_s=2.0, cap_s=20.0)

    result = asyncio.run(life())
    # The Rust SDK calls its own timeout an error of decoding.
    named = "error decoding response body" if consumer == "a2a-rust-0.5" else "(?i)time|abort"
    assert not result.ok and not result.hung and re.search(named, result.error or ""), result
    assert 2.0 <= result.duration_s < 10.0


@pytest.mark.parametrize("consumer", CAREFUL)
def test_another_media_type_is_sent_as_the_part_that_it_calls_for(consumer: str, tmp_path: Path) -> None:
    """No SDK looks at the card's modes before it sends, and no agent refuses: the echo says what arrived."""
    built_or_skipped(find_vendor(consumer))
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG")

    async def life() -> ConsumerResult:
        async with agent(LINE[consumer]) as running:
            return await talk(consumer, running.address, mode="image/png", options=("--file", str(picture)))

    result = asyncio.run(life())
    assert result.state == "completed", result
    kind = "raw image/png" if find_vendor(LINE[consumer]).dialects == ("1.0",) else "file"
    assert "".join(each.text for each in result.artifacts) == f"echo: [{kind}]"
