"""Judges files: cases with what is expected of them, and recordings of HTTP by the lab, a browser or a proxy (R5).

One answer a case, in the form that FORMAT.md gives to `a2a-lab judge --json`. A file that cannot be read is an answer
as well, with a name for why; nothing that stands in a file raises.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from a2a_lab.core.policy import Bounds, Clocks, Intent, Policy
from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.judge.offline import Judgement, judge_evidence
from a2a_lab.judge.visit import Visit
from a2a_lab.lab.captures import is_har, read_capture
from a2a_lab.lab.casereading import Case, Expected, is_case, read_case
from a2a_lab.lab.judging import spoken_first
from a2a_lab.verdicts import NotGradeable, Verdict

FILE_BYTES: Final = 128_000_000  # judged in about half a gigabyte; cut longer recordings, or record with a filter
CAPTURE_CLOCKS: Final = Clocks(silence_s=30.0, hang_s=120.0, total_s=600.0)  # R30: live vendors, whom a capture shows
_SHOWN: Final = 600  # characters of a message about a file, whose values may be as long as the file
_WHY: Final = {
    "file-unreadable": "the file cannot be opened",
    "file-too-large": "the file is larger than is read",
    "not-json": "the file is not JSON, or JSON that was cut",
    "too-deep": "the JSON is nested deeper than is read",
    "not-evidence": "the JSON is neither a case nor a HAR file",
    "case-malformed": "a member of the case is unknown or cannot be right",
    "har-malformed": "an entry of the HAR file cannot be read",
    "no-a2a-traffic": "the recording holds neither a card nor a call",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What came of one case, or why a file is none. `met` is None where nothing is expected.

    `problem` is one of the names in `PROBLEMS` for a file that cannot be read; `detail` says it in a sentence.
    """

    name: str
    path: Path
    judgement: Judgement = field(default_factory=Judgement)
    expected: Expected | None = None
    summary: str = ""
    problem: str | None = None
    detail: str = ""

    @property
    def found(self) -> Verdict | None:
        """The verdict of the expected stage; None where the evidence does not reach it."""
        if self.expected is None:
            return None
        reached = self.judgement.findings.stages.get(self.expected.stage)
        return reached[0] if reached else None

    @property
    def met(self) -> bool | None:
        return None if self.expected is None else self.found is self.expected.verdict

    @property
    def not_gradeable(self) -> NotGradeable | None:
        return self.judgement.not_gradeable

    def as_json(self) -> dict[str, Any]:
        """The answer of `a2a-lab judge --json`, one line a case."""
        shown: dict[str, Any] = {
            "case": self.name,
            "stages": self.judgement.findings.stages_json(),
            "expected": dict(self.expected.document) if self.expected else None,
            "met": self.met,
        }
        if self.not_gradeable is not None:
            shown["not_gradeable"] = self.not_gradeable.value
        if self.problem is not None:
            shown["error"] = {"name": self.problem, "detail": self.detail}
        return shown


PROBLEMS: Final[Mapping[str, str]] = _WHY


class Unreadable(RecordFault):
    """A file that is no evidence; `name` is one of `PROBLEMS`."""

    slug = "unreadable-evidence"

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message if len(message) <= _SHOWN else f"{message[:_SHOWN]}...", name=name)
        self.name = name


def judge_file(path: Path, *, policy: Policy | None = None, intent: Intent | None = None) -> list[Judged]:
    """Judge what a file holds: one case, or one answer for each agent that a recording shows.

    `policy` and `intent` are for recordings, which say nothing of what their consumer meant. Never raises on account of
    the file.
    """
    try:
        document = load(path)
        if is_case(document):
            return [judge_case(_case(document, path), path)]
        return list(_captured(document, path, policy, intent))
    except Unreadable as fault:
        return [Judged(name=path.stem, path=path, problem=fault.name, detail=fault.message)]


def judge_case(case: Case, path: Path) -> Judged:
    """Judge one case. A case that asks for what cannot be is answered as malformed."""
    try:
        judgement = judge_evidence(
            case.exchanges,
            policy=case.policy,
            intent=case.intent,
            now=time.time() if case.now is None else case.now,
            base_url=case.base_url,
            resolver=case.resolver,
            given=case.given,
        )
    except Misuse as fault:
        raise Unreadable("case-malformed", f"{path}: {fault.message}") from fault
    return Judged(name=case.id, path=path, judgement=judgement, expected=case.expected, summary=case.summary)


def load(path: Path) -> Any:
    """The JSON of a file, within bounds. Raises Unreadable that names the file and what is wrong with it."""
    try:
        size = path.stat().st_size
        if size > FILE_BYTES:
            raise Unreadable("file-too-large", f"{path}: {size} bytes, at most {FILE_BYTES} are read; cut it first")
        data = path.read_bytes()
    except OSError as fault:
        raise Unreadable("file-unreadable", f"{path}: {fault.strerror or fault}") from fault
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as fault:
        raise Unreadable("not-json", f"{path}: not UTF-8 at byte {fault.start}; is it a binary file?") from fault
    except RecursionError as fault:
        raise Unreadable("too-deep", f"{path}: the JSON is nested deeper than any evidence is") from fault
    except ValueError as fault:
        raise Unreadable("not-json", f"{path}: {fault}; is the file cut?") from fault


def _case(document: Mapping[str, Any], path: Path) -> Case:
    try:
        return read_case(document, name=path.name)
    except Misuse as fault:
        raise Unreadable("case-malformed", fault.message) from fault
    except RecursionError as fault:
        raise Unreadable("too-deep", f"{path}: a body is nested deeper than can be written") from fault


def _captured(document: Any, path: Path, policy: Policy | None, intent: Intent | None) -> Iterator[Judged]:
    if not is_har(document):
        raise Unreadable("not-evidence", f"{path}: neither a case (given, expect) nor a HAR file (log.entries)")
    try:
        capture = read_capture(document)
    except RecordFault as fault:
        raise Unreadable("har-malformed", f"{path}: {fault.message}") from fault
    if not capture.conversations:
        raise Unreadable(
            "no-a2a-traffic",
            f"{path}: none of its {capture.entries} entries is a card or a call of A2A",
        )
    usual = policy or Policy(clocks=CAPTURE_CLOCKS, bounds=Bounds())
    for name, exchanges in capture.conversations:
        judgement = judge_evidence(
            exchanges,
            # What its consumer speaks is in the recording; the lab's own preferences are nothing to hold an agent to.
            policy=spoken_first(Visit(exchanges, policy=usual), usual),
            intent=intent or Intent(),
            now=capture.began or time.time(),
        )
        yield Judged(name=f"{path.stem}#{name}" if name else path.stem, path=path, judgement=judgement)
