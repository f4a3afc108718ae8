"""The words of a judgement: stages, verdicts, findings, and how several findings make one verdict.

Knows no rule itself. Each module of the core names its findings as `FindingKind` constants beside the rule that
produces them; `CATALOGUE` collects them, so that documentation and pages list exactly what the code can say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Stage(StrEnum):
    """Where in the flow something was judged (R1), in the order of the flow."""

    RESOLVE = "resolve"
    FETCH = "fetch"
    MATCH = "match"
    SIGNATURE = "signature"
    VERSION = "version"
    PROBE = "probe"
    RPC = "rpc"
    RECEIVE = "receive"
    STREAM = "stream"
    LEDGER = "ledger"


class Verdict(StrEnum):
    """Of a stage, a finding or a cell; ordered from mild to severe (R2)."""

    ACCEPT = "accept"
    HINT = "hint"
    REFUSE = "refuse"
    CONFORMANCE_ERROR = "conformance-error"
    HANG = "hang"
    ORPHAN = "orphan"

    @property
    def severity(self) -> int:
        return _SEVERITY[self]


_SEVERITY = {verdict: place for place, verdict in enumerate(Verdict)}


class NotGradeable(StrEnum):
    """What replaces a cell's verdict when the vendor could not be judged; never counted against it (R2)."""

    UNREACHABLE = "unreachable"
    AUTH_NEEDED = "auth-needed"
    THROTTLED = "throttled"
    HARNESS_ERROR = "harness-error"


class Kind(StrEnum):
    """What a finding bears on: the standing of the card, whether things worked, or nothing that decides."""

    AUTHORITY = "authority"
    CONFORMANCE = "conformance"
    NOTE = "note"


class Judge(StrEnum):
    """Whose rule decided (R3): the published specification, or the lab's and the operator's policy."""

    SPEC = "spec"
    POLICY = "policy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One named observation. `values` holds what was seen and expected; `at` points into the evidence."""

    slug: str
    stage: Stage
    verdict: Verdict
    kind: Kind
    judge: Judge
    rule: str
    clause: str | None
    detail: str
    other: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
    at: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The finding as programs read it (`check --json`, records, `judge --json`)."""
        shown: dict[str, Any] = {
            "slug": self.slug,
            "verdict": self.verdict.value,
            "kind": self.kind.value,
            "judge": self.judge.value,
            "rule": self.rule,
            "detail": self.detail,
        }
        optional = {"clause": self.clause, "other": self.other, "values": dict(self.values), "at": self.at}
        return shown | {name: value for name, value in optional.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingKind:
    """A finding the lab can make: its slug, where it belongs and whose rule it is. Call it to make the finding.

    `rule` cites DESIGN and RULINGS (D5, A2, R22), `clause` the specification with revision and MUST/SHOULD/MAY,
    `other` what the judge who did not decide would have said, where that differs.
    """

    slug: str
    stage: Stage
    verdict: Verdict
    kind: Kind
    judge: Judge
    rule: str
    means: str
    clause: str | None = None
    other: str | None = None

    def __post_init__(self) -> None:
        if self.slug in CATALOGUE:
            raise ValueError(f"two findings are called {self.slug!r}; a slug names one thing")
        CATALOGUE[self.slug] = self

    def __call__(
        self,
        detail: str = "",
        *,
        verdict: Verdict | None = None,
        kind: Kind | None = None,
        stage: Stage | None = None,
        at: str | None = None,
        **values: Any,
    ) -> Finding:
        """The finding itself. `verdict`, `kind` and `stage` override the default where a ruling says so."""
        return Finding(
            slug=self.slug,
            stage=stage or self.stage,
            verdict=verdict or self.verdict,
            kind=kind or self.kind,
            judge=self.judge,
            rule=self.rule,
            clause=self.clause,
            detail=detail or self.means,
            other=self.other,
            values=values,
            at=at,
        )


CATALOGUE: dict[str, FindingKind] = {}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The most severe of several verdicts; `accept` of none."""
    return max(verdicts, key=lambda verdict: verdict.severity, default=Verdict.ACCEPT)


@dataclass(frozen=True, slots=True)
class Authority:
    """Whether a card binds, beside the verdict (R2): authoritative, or advisory with the slugs that say why."""

    because: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        return "advisory" if self.because else "authoritative"


MORE_ALIKE = FindingKind(
    slug="more-alike",
    stage=Stage.LEDGER,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.POLICY,
    rule="DESIGN 9",
    means="there are more findings of a kind than are listed",
)
MOST_ALIKE = 50  # findings of one kind that are kept; how many there were is told


class Findings:
    """What one cell, case or check found, by stage. A stage that was reached without a finding accepts.

    Of findings alike only so many are kept, whoever collects them: a peer decides how often it is wrong.
    """

    def __init__(self) -> None:
        self._stages: dict[Stage, list[Finding]] = {}
        self._times: Counter[tuple[Stage, str, Verdict]] = Counter()

    def reach(self, stage: Stage) -> None:
        """Note that the evidence reached this stage."""
        self._stages.setdefault(stage, [])

    def add(self, *findings: Finding) -> list[Finding]:
        """Take findings up; those that were kept."""
        kept = []
        for finding in findings:
            alike = (finding.stage, finding.slug, finding.verdict)
            self._times[alike] += 1
            if self._times[alike] <= MOST_ALIKE:
                self._stages.setdefault(finding.stage, []).append(finding)
                kept.append(finding)
        return kept

    def join(self, others: Findings) -> None:
        """Take up what was collected elsewhere, with how often it was found."""
        for stage, found in others._stages.items():
            self._stages.setdefault(stage, []).extend(found)
        self._times.update(others._times)

    def revise(self, change: Callable[[Finding], Finding]) -> None:
        """Put another finding in each one's place, for what later evidence shows in another light."""
        self._stages = {stage: [change(finding) for finding in found] for stage, found in self._stages.items()}

    @property
    def all(self) -> list[Finding]:
        return [finding for stage in Stage for finding in self._of(stage)]

    def _of(self, stage: Stage) -> list[Finding]:
        """Those of a stage, and of which there were more."""
        return self._stages.get(stage, []) + [
            MORE_ALIKE(
                f"{slug} was found {times} times, the first {MOST_ALIKE} are listed",
                stage=stage,
                found=times,
                expected=MOST_ALIKE,
            )
            for (where, slug, _), times in self._times.items()
            if where is stage and times > MOST_ALIKE
        ]

    @property
    def stages(self) -> dict[Stage, tuple[Verdict, list[Finding]]]:
        """Each stage reached, in the order of the flow, with its verdict on the full scale."""
        return {
            stage: (worst(finding.verdict for finding in self._stages[stage]), self._of(stage))
            for stage in Stage
            if stage in self._stages
        }

    @property
    def verdict(self) -> Verdict:
        """The cell's verdict: the most severe finding that bears on conformance (R2)."""
        return worst(finding.verdict for finding in self.all if finding.kind is Kind.CONFORMANCE)

    def authority(self) -> Authority:
        """The cell's authority: advisory for each finding about authority, or once something did not conform."""
        because = [f.slug for f in self.all if f.kind is Kind.AUTHORITY and f.verdict is not Verdict.ACCEPT]
        because += [f.slug for f in self.all if f.kind is Kind.CONFORMANCE and f.verdict is not Verdict.ACCEPT]
        return Authority(tuple(dict.fromkeys(because)))

    def stages_json(self) -> dict[str, Any]:
        return {
            stage.value: {"verdict": verdict.value, "findings": [finding.as_json() for finding in findings]}
            for stage, (verdict, findings) in self.stages.items()
        }
