"""R2, R35, R37: who asks for patience or credentials is not graded; nothing of unknown outcome is sent again."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from a2a_lab.core.policy import Clocks, Policy
from a2a_lab.verdicts import NotGradeable
from tests.net.agents import QUICK, Agent, Asked, Meeting, meet
from tests.net.peers import response

PATIENT = Policy(clocks=Clocks(silence_s=1.0, hang_s=1.2, total_s=3.0, close_s=0.3))
AT_ONCE = Policy(clocks=Clocks(silence_s=0.2, hang_s=0.5, total_s=2.0, close_s=0.3))


def later(after: str | None = "1") -> bytes:
    wanted = "" if after is None else f"Retry-After: {after}\r\n"
    return response(b"{}", status="429 Too Many Requests", headers=f"Content-Type: application/json\r\n{wanted}")


def closed() -> bytes:
    return response(b"{}", status="401 Unauthorized", headers='WWW-Authenticate: Bearer realm="x"\r\n')


def graded(met: Meeting) -> tuple[NotGradeable | None, NotGradeable | None]:
    return met.outcome.not_gradeable, met.again.not_gradeable


class Throttles(Agent):
    """Turns the first `most` payloads away."""

    most: ClassVar[int] = 99
    says: ClassVar[bytes] = later("0")

    async def call(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.turned = getattr(self, "turned", 0) + self.is_payload(asked)
        if self.is_payload(asked) and self.turned <= self.most:
            writer.write(self.says)
        else:
            await super().call(asked, writer)


class ThrottlesStreams(Throttles):
    streaming: ClassVar[bool] = True


class Once(Throttles):
    most: ClassVar[int] = 1
    says: ClassVar[bytes] = later("1")


class OnceStreams(ThrottlesStreams):
    most: ClassVar[int] = 1
    says: ClassVar[bytes] = later("1")


class WithoutATime(OnceStreams):
    says: ClassVar[bytes] = later(None)


class AsksForCredentials(Throttles):
    says: ClassVar[bytes] = closed()


class AsksForCredentialsStreams(ThrottlesStreams):
    says: ClassVar[bytes] = closed()


@pytest.mark.parametrize("kind", [Throttles, ThrottlesStreams])
def test_a_payload_that_is_throttled_twice_is_not_graded(tmp_path: Path, kind: type[Throttles]) -> None:
    agent = kind()
    met = meet(agent, tmp_path, policy=AT_ONCE)
    assert graded(met) == (NotGradeable.THROTTLED, NotGradeable.THROTTLED)
    assert met.left() == ([], []) and agent.turned == 2
    assert not {"payload-outcome-unknown", "not-committed"} & (met.slugs()[0] | met.slugs()[1])


@pytest.mark.parametrize("kind", [Once, OnceStreams, WithoutATime])
def test_one_patient_retry_is_made_also_of_a_stream(tmp_path: Path, kind: type[Throttles]) -> None:
    """RFC 6585 §4: what is answered 429 was not taken, so that it may be sent again as it is."""
    agent = kind()
    met = meet(agent, tmp_path, policy=PATIENT)
    assert graded(met) == (None, None)
    assert met.live.verdict.value == met.again.findings.verdict.value == "accept"
    assert agent.turned == 2 and met.outcome.booked == {agent.sends[-1]}
    waits = [one for one in met.exchanges if one.status == 429]
    after = [one for one in met.exchanges if one.started_ms > waits[0].ended_ms]
    assert len(waits) == 1 and after[0].started_ms - waits[0].ended_ms >= 900


def test_patience_ends_with_the_clocks(tmp_path: Path) -> None:
    class Long(Throttles):
        says: ClassVar[bytes] = later("60")

    agent, began = Long(), time.monotonic()
    met = meet(agent, tmp_path, policy=PATIENT)
    assert graded(met) == (NotGradeable.THROTTLED, NotGradeable.THROTTLED)
    assert agent.turned == 1 and time.monotonic() - began < 3


@pytest.mark.parametrize("kind", [AsksForCredentials, AsksForCredentialsStreams])
def test_a_payload_that_needs_credentials_is_not_graded(tmp_path: Path, kind: type[Throttles]) -> None:
    met = meet(kind(), tmp_path, policy=AT_ONCE)
    assert graded(met) == (NotGradeable.AUTH_NEEDED, NotGradeable.AUTH_NEEDED)
    assert met.left() == ([], [])


class Works(Agent):
    """Works in the background; `refusing` looks in a row are turned away with `says`."""

    refusing: ClassVar[int] = 0
    says: ClassVar[bytes] = later("0")
    lasts_s: ClassVar[float] = 0.2

    def __init__(self) -> None:
        super().__init__()
        self.looks, self.began, self.canceled = 0, time.monotonic(), ""

    async def send(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.looks, self.began = 0, time.monotonic()
        writer.write(self.told(asked, {"task": self.task(self.opened(), "WORKING")}))

    async def call(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked["method"] == "CancelTask":
            self.canceled = asked["params"]["id"]
        if asked["method"] in ("CancelTask", "GetTask") and asked["params"]["id"] == self.canceled:
            writer.write(self.told(asked, self.task(self.canceled, "CANCELED")))
        else:
            await super().call(asked, writer)

    async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        self.looks += 1
        state = "COMPLETED" if time.monotonic() - self.began > self.lasts_s else "WORKING"
        is_turned_away = self.looks <= self.refusing
        writer.write(self.says if is_turned_away else self.told(asked, self.task(asked["params"]["id"], state)))


class OneLookThrottled(Works):
    refusing: ClassVar[int] = 1


class OneLookClosed(Works):
    refusing: ClassVar[int] = 1
    says: ClassVar[bytes] = closed()


class LooksThrottled(Works):
    refusing: ClassVar[int] = 99


class LooksClosed(Works):
    refusing: ClassVar[int] = 99
    says: ClassVar[bytes] = closed()


@pytest.mark.parametrize("kind", [OneLookThrottled, OneLookClosed])
def test_a_look_that_is_turned_away_once_says_nothing_about_the_task(tmp_path: Path, kind: type[Works]) -> None:
    met = meet(kind(), tmp_path, policy=AT_ONCE)
    assert graded(met) == (None, None) and met.left() == ([], [])
    assert met.live.verdict.value == met.again.findings.verdict.value == "accept"
    assert len(met.outcome.booked) == 1


@pytest.mark.parametrize(
    ("kind", "why"), [(LooksThrottled, NotGradeable.THROTTLED), (LooksClosed, NotGradeable.AUTH_NEEDED)]
)
def test_looks_that_are_turned_away_for_good_leave_the_cell_ungraded(
    tmp_path: Path, kind: type[Works], why: NotGradeable
) -> None:
    met = meet(kind(), tmp_path, policy=AT_ONCE)
    assert graded(met) == (why, why)
    assert not {"payload-unfinished", "probe-hang"} & (met.slugs()[0] | met.slugs()[1])


def test_a_readable_answer_under_503_is_an_answer(tmp_path: Path) -> None:
    """R35: the message was taken, whatever the status asks for; sending it again would start it twice."""

    class Taken(Agent):
        def told(self, asked: Asked, result: Any) -> bytes:
            answer = super().told(asked, result)
            return answer.replace(b"200 OK", b"503 Busy", 1).replace(b"\r\n", b"\r\nRetry-After: 0\r\n", 1)

    agent = Taken()
    met = meet(agent, tmp_path)
    assert graded(met) == (None, None) and met.left() == ([], [])
    assert agent.called.count("SendMessage") == 2 and len(met.outcome.booked) == 1


# ---- the total holds over everything that is asked about one message -------------------------------------------------


class SlowLooks(Works):
    """Every look takes most of the total."""

    async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.8)
        writer.write(self.told(asked, self.task(asked["params"]["id"], "WORKING")))


def test_looks_do_not_add_up_beyond_the_total(tmp_path: Path) -> None:
    """A message with its looks has one total, the clean-up after it another; here are a probe and a payload."""
    began = time.monotonic()
    met = meet(SlowLooks(), tmp_path, policy=Policy(clocks=replace(QUICK, hang_s=1.0, total_s=1.2)))
    assert met.both("probe") == ("accept", "accept"), "a task that works has taken the probe"
    assert all("payload-unfinished" in found for found in met.slugs("ledger"))
    assert time.monotonic() - began < 2 * (1.2 + 1.2) + 0.6


def test_a_look_that_is_never_answered_is_a_hang(tmp_path: Path) -> None:
    class NeverLooks(Works):
        async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(5)

    began = time.monotonic()
    met = meet(NeverLooks(), tmp_path, policy=Policy(clocks=replace(QUICK, hang_s=0.6, total_s=1.0)))
    assert met.both("probe") == ("hang", "hang")
    assert all("probe-hang" in found for found in met.slugs("probe"))
    assert time.monotonic() - began < 1.0 + 1.0 + 0.5


def test_a_new_status_message_is_progress_and_the_total_ends_it_all_the_same(tmp_path: Path) -> None:
    """R30: news of any kind moves the hang limit, none the total, and only a state makes the lab ask faster."""

    class Tells(Works):
        lasts_s: ClassVar[float] = 1.2

        async def look(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
            self.looks += 1
            state = "COMPLETED" if time.monotonic() - self.began > self.lasts_s else "WORKING"
            parts = [{"text": f"step {self.looks}"}]
            said = {"messageId": f"s{self.looks}", "role": "ROLE_AGENT", "parts": parts}
            task = self.task(asked["params"]["id"], state)
            task["status"]["message"] = said
            writer.write(self.told(asked, task))

    class TellsForEver(Tells):
        lasts_s: ClassVar[float] = 99

    short = Policy(clocks=replace(QUICK, hang_s=0.6, total_s=3.0))
    met = meet(Tells(), tmp_path / "a", policy=short)
    assert met.live.verdict.value == met.again.findings.verdict.value == "accept"
    agent = TellsForEver()
    ended = meet(agent, tmp_path / "b", policy=Policy(clocks=replace(QUICK, hang_s=0.6, total_s=1.5)))
    assert all("payload-unfinished" in found for found in ended.slugs("ledger"))
    assert ended.both("probe") == ("accept", "accept")
    assert agent.looks < 8, "polled with growing pauses"


class SlowCard(Agent):
    """Takes longer for its card than one message may take in all."""

    async def get(self, path: str, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.8 if path.endswith("agent-card.json") else 0)
        await super().get(path, writer)


def test_a_card_has_a_time_of_its_own(tmp_path: Path) -> None:
    met = meet(SlowCard(), tmp_path, policy=Policy(clocks=replace(QUICK, hang_s=0.5, total_s=0.6)))
    assert met.live.verdict.value == "accept"
