"""R2: only who cannot be reached is unreachable; who was reached and breaks HTTP is judged for it, by name."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path
from typing import ClassVar

import pytest

from a2a_lab.verdicts import NotGradeable
from tests.net.agents import Agent, Asked, meet
from tests.net.peers import response

CLOSED = b""
NO_HTTP = b"HTTP/1.1 200 OK\r\nno header\r\n\r\n"
CUT = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"
BAD_GZIP = response(b"\x1f\x8bgarbage", headers="Content-Encoding: gzip\r\n")
HALF_GZIP = response(gzip.compress(b"{}" * 99)[:18], headers="Content-Encoding: gzip\r\n")
NOT_ASKED_FOR = response(b"xx", headers="Content-Encoding: br\r\n")
NOWHERE = response(b"", status="307 Temporary Redirect", headers="")
NOT_A_URL = response(b"", status="307 Temporary Redirect", headers="Location: http://[::1\r\n")


class Says(Agent):
    """Answers every call with the same bytes."""

    says: ClassVar[bytes] = b""

    async def call(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self.says)


CALLS = [
    (CLOSED, "call-not-answered"),
    (NO_HTTP, "call-not-http"),
    (CUT, "answer-cut"),
    (BAD_GZIP, "answer-undecodable"),
    (HALF_GZIP, "answer-undecodable"),
    (NOT_ASKED_FOR, "answer-undecodable"),
    (NOWHERE, "redirect-nowhere"),
    (NOT_A_URL, "redirect-nowhere"),
]


@pytest.mark.parametrize(("says", "slug"), CALLS)
def test_a_call_that_is_answered_against_http(tmp_path: Path, says: bytes, slug: str) -> None:
    agent = type("Bent", (Says,), {"says": says})()
    met = meet(agent, tmp_path)
    assert (met.outcome.not_gradeable, met.again.not_gradeable) == (None, None)
    assert met.both("rpc") == ("conformance-error", "conformance-error")
    assert all(slug in found for found in met.slugs("rpc"))
    assert met.left()[0] == met.left()[1]
    assert agent.called == ["SendMessage"], "nothing is sent again whose outcome is unknown"


@pytest.mark.parametrize(("says", "slug"), [one for one in CALLS if one[1] not in ("answer-cut",)])
def test_a_streaming_call_that_is_answered_against_http(tmp_path: Path, says: bytes, slug: str) -> None:
    agent = type("Bent", (Says,), {"says": says, "streaming": True})()
    met = meet(agent, tmp_path)
    assert (met.outcome.not_gradeable, met.again.not_gradeable) == (None, None)
    assert all(slug in found for found in met.slugs())
    assert {met.live.verdict.value, met.again.findings.verdict.value} <= {"conformance-error", "orphan"}
    assert met.live.verdict is met.again.findings.verdict
    assert met.left()[0] == met.left()[1]


class CardSays(Agent):
    says: ClassVar[bytes] = b""

    async def get(self, path: str, writer: asyncio.StreamWriter) -> None:
        writer.write(self.says)


CARDS = [
    (CLOSED, "card-not-answered"),
    (NO_HTTP, "card-not-http"),
    (CUT, "card-not-answered"),
    (BAD_GZIP, "card-undecodable"),
    (NOT_ASKED_FOR, "card-undecodable"),
    (NOWHERE, "redirect-nowhere"),
    (NOT_A_URL, "redirect-nowhere"),
]


@pytest.mark.parametrize(("says", "slug"), CARDS)
def test_a_card_that_is_answered_against_http(tmp_path: Path, says: bytes, slug: str) -> None:
    met = meet(type("Bent", (CardSays,), {"says": says})(), tmp_path)
    assert (met.outcome.not_gradeable, met.again.not_gradeable) == (None, None)
    assert met.both("fetch") == ("conformance-error", "conformance-error")
    assert all(slug in found for found in met.slugs("fetch"))


def test_a_card_in_several_gzip_members_is_one_card(tmp_path: Path) -> None:
    """RFC 1952 §2.2: members are unpacked one after another."""

    class Members(Agent):
        async def get(self, path: str, writer: asyncio.StreamWriter) -> None:
            whole = bytearray()
            await super().get(path, _Into(whole))  # type: ignore[arg-type]
            head, _, body = bytes(whole).partition(b"\r\n\r\n")
            packed = gzip.compress(body[:40]) + gzip.compress(body[40:]) if b"200 OK" in head else b""
            status = head.split(b"\r\n")[0].decode().partition(" ")[2]
            writer.write(response(packed, status=status, headers="Content-Encoding: gzip\r\n"))

    met = meet(Members(), tmp_path)
    assert met.live.verdict.value == "accept" and len(met.outcome.booked) == 1


class _Into:
    """Takes what would be written."""

    def __init__(self, into: bytearray) -> None:
        self._into = into

    def write(self, data: bytes) -> None:
        self._into += data


def test_who_is_gone_when_the_payload_leaves_is_unreachable(tmp_path: Path) -> None:
    """Nothing was sent, so nothing is left behind and nobody is blamed."""

    class Goes(Agent):
        def card(self) -> dict[str, object]:
            return super().card() | {
                "supportedInterfaces": [
                    {"url": "http://127.0.0.1:1/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
                ]
            }

    met = meet(Goes(), tmp_path)
    assert met.outcome.not_gradeable is met.again.not_gradeable is NotGradeable.UNREACHABLE
    assert met.left() == ([], [])
