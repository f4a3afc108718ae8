"""What a run of real vendors leaves to say at a terminal: the counts, the news, and why cells were skipped.

Lines and not a table: a cell's key alone is as long as a narrow terminal is wide. What many cells share is said once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from a2a_lab.cli import show

if TYPE_CHECKING:
    from a2a_lab.lab.expectations import Compared

_LISTED = 40  # cells of news; a run with more of it has one cause, and the page


def tell(compared: Sequence[Compared]) -> int:
    """Say it; 1 where there is news (R39)."""
    from a2a_lab.lab.expectations import Outcome

    show.say(tallied(compared) or "nothing was expected of this matrix")
    news = [one for one in compared if one.outcome.is_news]
    for one in news[:_LISTED]:
        show.say(show.loud(one.outcome.value), f": {one.cell.key}")
        expected = one.expected.told if one.expected is not None else "works"
        show.say(f"    found {one.told}; expected {expected}")
        if one.expected is not None:
            show.say(f"    {one.expected.reason}")
    if len(news) > _LISTED:
        show.say(f"and {len(news) - _LISTED} more; --json and the page have all")
    skipped: dict[str, list[str]] = {}
    for one in compared:
        if one.outcome is Outcome.SKIPPED:
            skipped.setdefault(one.cell.said or "no reason was recorded", []).append(str(one.cell.key))
    for said, keys in sorted(skipped.items(), key=lambda item: -len(item[1])):
        first = keys[0] if len(keys) == 1 else f"{len(keys)} cells, such as {keys[0]}"
        show.say(f"skipped: {first}")
        show.say(f"    {said[:400]}")
    return 1 if news else 0


def tallied(compared: Sequence[Compared]) -> str:
    """`28 work, 22 fail as expected`: how many cells came out in which way."""
    from a2a_lab.lab.expectations import TOLD, counts

    tally = counts(compared)
    met = [(tally[way.value], words) for way, words in TOLD.items() if tally[way.value]]
    return ", ".join(f"{count} {one if count == 1 else many}" for count, (one, many) in met)
