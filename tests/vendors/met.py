"""Which real vendors a test run met, and which it did not and why: said at its end, where nobody overlooks it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pytest

from a2a_lab.lab.expectations import Compared, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """Agents and consumers that graded cells have, and what became of those that have none: why, by name."""

    names: tuple[str, ...]
    lacking: dict[str, str]

    @classmethod
    def of(cls, compared: Iterable[Compared]) -> Met:
        graded: set[str] = set()
        skipped: dict[str, list[str]] = {}
        for one in compared:
            names = {one.cell.key.agent, one.cell.key.consumer} - {"enforcing"}  # which is the lab's own
            if one.outcome is not Outcome.SKIPPED:
                graded |= names
            for name in names:
                skipped.setdefault(name, []).append(one.cell.said)
        lacking = {name: _own(name, reasons) for name, reasons in sorted(skipped.items()) if name not in graded}
        return cls(names=tuple(sorted(graded)), lacking=lacking)

    def told(self, not_built: Mapping[str, str]) -> Iterator[str]:
        """The lines at the end of a test run; `not_built` are environments that other tests went without."""
        yield f"real vendors met: {', '.join(self.names) or 'NONE'}"
        reasons: dict[str, list[str]] = {}
        for name, why in {**not_built, **self.lacking}.items():
            reasons.setdefault(why, []).append(name)
        for why, names in reasons.items():
            yield f"REAL VENDORS NOT MET: {', '.join(sorted(names))}: {why}"


def _own(name: str, reasons: list[str]) -> str:
    """The reason that speaks of this vendor: a cell is skipped for either of its two."""
    return next((why for why in reasons if name.partition("+")[0] in why), reasons[0])


MET: pytest.StashKey[Met] = pytest.StashKey()
