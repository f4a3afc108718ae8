"""The lines of a records file as types: the header, one cell with its measures and orphans, the footer.

Knows how each looks as JSON, and nothing of files; `rowreading` is the way back. One line is one value, so that
whoever tabulates, compares or shows a run never meets a bare dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.verdicts import Finding, Kind, NotGradeable, Stage, Verdict

SCHEMA = 1

Outcome = Verdict | NotGradeable
"""What a cell ended with: a verdict, or the word that says why there is none (R2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellKey:
    """The seven axes of a cell. As text it is one greppable path: agent@version/consumer/binding/version/..."""

    agent: str
    agent_version: str
    consumer: str
    binding: str
    version: str
    scenario: str
    posture: str
    attempt: int = 1

    def __post_init__(self) -> None:
        for name in ("agent", "agent_version", "consumer", "binding", "version", "scenario", "posture"):
            value = getattr(self, name)
            if not value or "/" in value or any(ord(letter) < 32 for letter in value):
                raise Misuse(f"{name} {value!r} cannot stand in a cell key: use text without a slash", name=name)
        if "@" in self.agent:
            raise Misuse(f"agent {self.agent!r}: the @ of a cell key parts name and version; use another name")
        if self.attempt < 1:
            raise Misuse(f"attempt {self.attempt}: attempts count from 1")

    def __str__(self) -> str:
        agent = f"{self.agent}@{self.agent_version}"
        return "/".join(
            [agent, self.consumer, self.binding, self.version, self.scenario, self.posture, str(self.attempt)]
        )

    @classmethod
    def parse(cls, text: str) -> CellKey:
        """The key that `str` wrote; `RecordFault` where a part is missing."""
        parts = text.split("/")
        agent, at, agent_version = parts[0].partition("@")
        if len(parts) != 7 or not at or not parts[6].isdecimal():
            raise RecordFault(
                f"{text!r} is no cell key: expected agent@version/consumer/binding/version/scenario/posture/attempt"
            )
        consumer, binding, version, scenario, posture = parts[1:6]
        return cls(
            agent=agent,
            agent_version=agent_version,
            consumer=consumer,
            binding=binding,
            version=version,
            scenario=scenario,
            posture=posture,
            attempt=int(parts[6]),
        )

    @property
    def pair(self) -> tuple[str, str, str, str, str, str]:
        """What attempts share, and what runs are joined by: names, never versions of vendors (R36)."""
        return (self.agent, self.consumer, self.binding, self.version, self.scenario, self.posture)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What was counted for one cell (DESIGN 5). `held` is None where nothing was sent that could show it."""

    held: bool | None = None
    diverged: tuple[str, ...] = ()
    delivered: bool = False
    renegotiation_cycles: int = 0
    refused_sends: int = 0
    payload_sends: int = 0
    orphaned_artifacts: int = 0
    orphaned_tasks: int = 0
    hangs: int = 0
    waited_s: float = 0.0
    time_to_verdict_s: float = 0.0
    requests: int = 0
    bytes_committed: int = 0
    bytes_before_authority: int = 0

    @property
    def orphans(self) -> int:
        return self.orphaned_artifacts + self.orphaned_tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphan:
    """One thing left behind at an agent (R35), and the state its clean-up reached. `bytes` is None where unknown."""

    agent: str
    task_id: str | None
    artifact_or_message_id: str | None
    media_type: str | None
    bytes: int | None
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord:
    """One stage that a cell reached: its verdict on the full scale and what was found there."""

    verdict: Verdict
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRecord:
    """One cell as it ended. `evidence` is a path relative to the run's folder; times are ISO 8601 in UTC."""

    key: CellKey
    verdict: Outcome
    authority: str
    because: tuple[str, ...] = ()
    stages: Mapping[Stage, StageRecord] = field(default_factory=dict)
    said: str = ""
    mode: str | None = None
    errors: tuple[str, ...] = ()
    measures: Measures = field(default_factory=Measures)
    closure: str | None = None
    orphans: tuple[Orphan, ...] = ()
    evidence: str | None = None
    card_digest: str | None = None
    portable_digest: str | None = None
    started: str = ""
    ended: str = ""

    @property
    def is_graded(self) -> bool:
        """Whether the vendor was judged at all; if not, the cell counts for and against nobody (R2)."""
        return isinstance(self.verdict, Verdict)

    @property
    def works(self) -> bool:
        """Whether the cell worked and conformed: accept or hint."""
        return isinstance(self.verdict, Verdict) and self.verdict.severity <= Verdict.HINT.severity

    @property
    def cause(self) -> str:
        """The slug it failed by: what ended it, or the gravest finding where both got through against the book."""
        if self.errors or self.works:
            return self.errors[0] if self.errors else ""
        grave = [one for one in self.findings if one.verdict is self.verdict and one.kind is not Kind.NOTE]
        return grave[0].slug if grave else ""

    @property
    def standing(self) -> str:
        """The authority, where the card's signature was looked at; a consumer that never looked has found nothing."""
        return self.authority if Stage.SIGNATURE in self.stages else "not examined"

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for stage in self.stages.values() for finding in stage.findings)

    def as_json(self) -> dict[str, Any]:
        key = self.key
        return {
            "kind": "cell",
            "cell": str(key),
            "agent": key.agent,
            "agent_version": key.agent_version,
            "consumer": key.consumer,
            "binding": key.binding,
            "version": key.version,
            "scenario": key.scenario,
            "posture": key.posture,
            "attempt": key.attempt,
            "verdict": self.verdict.value,
            "authority": {"status": self.authority, "because": list(self.because)},
            "stages": {
                stage.value: {
                    "verdict": record.verdict.value,
                    "findings": [finding.as_json() for finding in record.findings],
                }
                for stage, record in self.stages.items()
            },
            "said": self.said,
            "mode": self.mode,
            "errors": list(self.errors),
            "measures": asdict(self.measures) | {"diverged": list(self.measures.diverged)},
            "closure": self.closure,
            "orphans": [asdict(orphan) for orphan in self.orphans],
            "evidence": self.evidence,
            "card_digest": self.card_digest,
            "portable_digest": self.portable_digest,
            "started": self.started,
            "ended": self.ended,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRecord:
    """What a name stood for in one run: attributes, so that runs of one name line up across an upgrade (R36).

    `reach` says how it was reached (simulated, environment, live); the digests are those of its card, where one is
    known when the run begins.
    """

    version: str
    reach: str
    card_digest: str | None = None
    portable_digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The first line: what is going to run, with what. `plan` lists the keys of all cells in their order."""

    run: str
    tool: str
    posture: str
    matrix: str
    plan: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    vendors: Mapping[str, VendorRecord] = field(default_factory=dict)
    started: str

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": "header",
            "schema": SCHEMA,
            "run": self.run,
            "tool": self.tool,
            "posture": self.posture,
            "matrix": self.matrix,
            "plan": list(self.plan),
            "parameters": dict(self.parameters),
            "vendors": {name: asdict(vendor) for name, vendor in self.vendors.items()},
            "started": self.started,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Footer:
    """The last line. A file without one was cut; `interrupted` says that not all of the plan was run."""

    cells: int
    ended: str
    interrupted: bool

    def as_json(self) -> dict[str, Any]:
        return {"kind": "footer"} | asdict(self)
