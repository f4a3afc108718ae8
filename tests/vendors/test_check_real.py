"""`check` on the official Python SDKs (issue 2, Shows 3 and 4): what a user sees of an agent that nobody simulated.

Each agent runs in its own environment and keeps its own log, which says what really reached it.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from jwcrypto.jwk import JWK

from a2a_lab.lab.check import CheckOptions, CheckResult, check
from a2a_lab.lab.cleanup import list_orphans
from a2a_lab.lab.run import LEDGER
from a2a_lab.net.evidence import read_har
from a2a_lab.vendors.served import ASKING, ServedAgent
from tests.vendors.real import agent

pytestmark = pytest.mark.vendors

SDKS = pytest.mark.parametrize("name", ["a2a-sdk-1.3", "a2a-sdk-0.3"])
MOUNTS = pytest.mark.parametrize("mount", ["/", "/rpc", "/rpc/", "/agents/echo"])


def checked(name: str, *options: str, out: Path, **how: Any) -> tuple[CheckResult, list[dict[str, Any]]]:
    """Check the vendor's agent, launched with these options; also gives what its own log says of the check."""

    async def life() -> tuple[CheckResult, list[dict[str, Any]]]:
        async with agent(name, *options, log=out / "agent.jsonl") as running:
            result = await check(running.url, CheckOptions(out=str(out / "runs"), **how))
            return result, asked(running)

    return asyncio.run(life())


def asked(running: ServedAgent) -> list[dict[str, Any]]:
    """The agent's log without the requests by which the lab learned that it was up."""
    ready = ASKING["User-Agent"]
    return [line for line in running.requests() if line["headers"].get("user-agent") != ready]  # type: ignore[attr-defined]


def above_notes(result: CheckResult) -> list[str]:
    found = [one for stage in result.stages.values() for one in stage["findings"]]
    return [one["slug"] for one in found if one["kind"] != "note"]


@pytest.fixture
def keys(tmp_path: Path) -> tuple[str, str]:
    """A private key to sign with, and the JWK set that trusts it."""
    key = JWK.generate(kty="EC", crv="P-256", kid="k1", alg="ES256")
    (tmp_path / "private.json").write_text(key.export_private())
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [key.export_public(as_dict=True)]}))
    return str(tmp_path / "private.json"), str(tmp_path / "keys.json")


# ---- Show 3 ----------------------------------------------------------------------------------------------------------


@SDKS
@MOUNTS
def test_an_official_agent_is_accepted_and_advisory_for_being_unsigned(name: str, mount: str, tmp_path: Path) -> None:
    """Nothing else above a note, wherever the endpoint is mounted, with a final slash or without."""
    result, log = checked(name, "--mount", mount, out=tmp_path, send=True)
    assert (result.exit_code, result.verdict.value) == (0, "accept"), result.said
    assert result.authority == {"status": "advisory", "because": ["unsigned"]}
    assert above_notes(result) == ["unsigned"]
    assert result.target["url"].endswith(mount) and result.said == "done in text/plain"
    assert result.measures["delivered"] and result.measures["held"] and result.measures["payload_sends"] == 1
    assert list_orphans(tmp_path / "runs" / LEDGER) == []
    assert len(log) == result.measures["requests"] == len(read_har(Path(result.evidence)))
    assert {line["path"] for line in log if line["method"] == "POST"} == {mount}


@SDKS
def test_a_card_that_names_one_slash_more_is_followed_once_and_noted(name: str, tmp_path: Path) -> None:
    """R8, R10: both SDKs answer such a call with a 307 to where they are mounted."""
    result, log = checked(name, "--mount", "/rpc", "--interface-slash", out=tmp_path, send=True)
    assert (result.verdict.value, above_notes(result)) == ("accept", ["unsigned"]), result.said
    paths = [line["path"] for line in log if line["method"] == "POST"]
    assert set(paths) == {"/rpc/", "/rpc"} and paths.count("/rpc/") == paths.count("/rpc")


@SDKS
def test_without_send_no_request_but_card_gets_leaves(name: str, tmp_path: Path) -> None:
    result, log = checked(name, "--mount", "/rpc", out=tmp_path)
    assert (result.exit_code, result.verdict.value) == (0, "accept")
    assert log and {(line["method"], line["rpc"]) for line in log} == {("GET", None)}
    assert all("/.well-known/" in line["path"] for line in log)
    assert result.would_send


def test_signed_by_a_key_that_is_trusted_the_card_is_authoritative(tmp_path: Path, keys: tuple[str, str]) -> None:
    private, trust = keys
    result, _ = checked("a2a-sdk-1.3", "--mount", "/rpc", "--sign", private, out=tmp_path, send=True, trust=trust)
    assert (result.exit_code, result.verdict.value) == (0, "accept"), result.said
    assert result.authority == {"status": "authoritative", "because": []} and above_notes(result) == []


def test_the_0_3_signer_leaves_members_uncovered_so_that_its_card_stays_advisory(
    tmp_path: Path, keys: tuple[str, str]
) -> None:
    """R18: a 0.3 card has no canonical text; what the SDK leaves out of its signature is named."""
    private, trust = keys
    result, _ = checked("a2a-sdk-0.3", "--sign", private, out=tmp_path, send=True, trust=trust)
    assert (result.verdict.value, result.authority["status"]) == ("accept", "advisory")
    told = json.dumps(result.stages["signature"])
    assert "sdk-0.3" in told and "protocolVersion" in told


def test_the_same_card_tampered_is_refused_at_its_signature_and_nothing_is_sent(
    tmp_path: Path, keys: tuple[str, str]
) -> None:
    private, trust = keys
    result, log = checked("a2a-sdk-1.3", "--sign", private, "--tamper", out=tmp_path, send=True, trust=trust)
    assert (result.exit_code, result.verdict.value) == (1, "refuse")
    assert result.stages["signature"]["verdict"] == "refuse" and "signature-fails" in above_notes(result)
    assert {line["method"] for line in log} == {"GET"}


def test_a_json_payload_is_refused_at_match_where_only_text_is_declared(tmp_path: Path) -> None:
    result, log = checked("a2a-sdk-1.3", out=tmp_path, send=True, mode="application/json")
    assert (result.exit_code, result.verdict.value) == (1, "refuse")
    assert "mode-not-declared" in above_notes(result) and {line["method"] for line in log} == {"GET"}


# ---- Show 4 ----------------------------------------------------------------------------------------------------------


IN_OTHER_WORDS = {"SendStreamingMessage": "stream", "GetTask": "get", "CancelTask": "cancel"}


def assert_hung(
    result: CheckResult, log: list[dict[str, Any]], *, silence_s: float, hang_s: float, closure: str
) -> None:
    """Asked once at the silence limit, called a hang at the hang limit; cancelled, and the cancel looked after."""
    assert (result.exit_code, result.verdict.value) == (1, "hang"), result.said
    assert closure in above_notes(result)
    called = [line for line in log if line["rpc"]]
    said = [IN_OTHER_WORDS.get(line["rpc"], line["rpc"].rpartition("/")[2]) for line in called]
    # The second look is at the end: whether there is a result to recover before the task is cancelled.
    assert said == ["stream", "get", "get", "cancel", "get"]
    began, first, last = (called[place]["at"] for place in range(3))
    assert silence_s * 0.9 <= first - began < silence_s + 1.0 and last - began >= hang_s * 0.95
    (stream,) = [one for one in read_har(Path(result.evidence)) if one.chunks]
    assert stream.cut_by == "hang-limit" and stream.fault is None
    assert hang_s * 0.95 <= result.measures["waited_s"] < hang_s + 1.5
    assert result.measures["hangs"] == 0, "a transport timeout ended the wait"
    assert result.measures["payload_sends"] == 0


@SDKS
def test_a_task_that_hangs_is_asked_for_once_and_called_a_hang_at_the_limit(name: str, tmp_path: Path) -> None:
    result, log = checked(name, "--hang", out=tmp_path, send=True, silence=0.5, hang=1.2, total=30.0)
    assert_hung(result, log, silence_s=0.5, hang_s=1.2, closure="idle-hang")
    assert list_orphans(tmp_path / "runs" / LEDGER) == []


@pytest.mark.slow
def test_pings_that_go_on_are_signs_of_life_and_no_progress(tmp_path: Path) -> None:
    """The SDKs ping every 15 s: the hang is counted on protocol events, and no transport timeout ever fires (R30)."""

    async def both() -> list[tuple[CheckResult, list[dict[str, Any]]]]:
        return await asyncio.gather(*(one(name) for name in ("a2a-sdk-1.3", "a2a-sdk-0.3")))

    async def one(name: str) -> tuple[CheckResult, list[dict[str, Any]]]:
        out = tmp_path / name
        out.mkdir()
        async with agent(name, "--hang", log=out / "agent.jsonl") as running:
            how = CheckOptions(out=str(out / "runs"), send=True, silence=2.0, hang=17.0, total=60.0)
            return await check(running.url, how), asked(running)

    for result, log in asyncio.run(both()):
        assert_hung(result, log, silence_s=2.0, hang_s=17.0, closure="live-hang")
        (stream,) = [one for one in read_har(Path(result.evidence)) if one.chunks]
        assert any(chunk.data.lstrip().startswith(b":") for chunk in stream.chunks), "no ping was heard"
