"""The matrix: agents by consumers, in each cell the word and the figures of every run shown, linked to its evidence.

Binding, version and scenario are axes of the cell key, not labels, so each combination of them is a matrix of its own;
only what a pair of real vendors did, a send and a stream, stands in one cell, and shares its word where both came out
alike. A matrix that is larger than the screen scrolls in its own frame, with its heads in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from a2a_lab.lab.pairings import SCENARIOS
from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import anchor_of, figures, marks, said_of, tone, word, worst_of
from a2a_lab.report.html import Html, join, tag
from a2a_lab.report.known import outcomes
from a2a_lab.report.opening import Placed, of_pairs
from a2a_lab.report.overview import odd_ones
from a2a_lab.report.table import framed
from a2a_lab.tabulate import insights, pairs

Axes = tuple[str, str, str]
"""binding, version, and the scenario where it is none of those that stand in one cell."""

Grid = dict[tuple[str, str], list[list[CellRecord]]]
"""By agent and consumer: the attempts in each run and scenario."""

_WIDE, _DENSE = 6, 0.4  # a table of more columns than that, less full than that, is shown as a list
_HIGH = 2  # lines of an ordinary table that one row of a matrix takes
_MANY = 8  # columns; more are set in smaller type


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """The keys of the cells that the filters of the page ask for."""

    everyone: frozenset[str]
    differs: frozenset[str]
    news: frozenset[str]

    def of(self, cells: Sequence[CellRecord]) -> dict[str, bool]:
        """Attributes of a cell of the matrix."""
        keys = {str(cell.key) for cell in cells}
        return {
            "data_everyone": not keys.isdisjoint(self.everyone),
            "data_differs": not keys.isdisjoint(self.differs),
            "data_news": not keys.isdisjoint(self.news),
        }


def matrix(runs: Sequence[Run]) -> Html:
    """One table for each combination of axes. Runs, and what a pair of real vendors did, stand below each other."""
    tables: dict[Axes, Grid] = {}
    for run in runs:
        for pair, cells in pairs(run.cells).items():
            scenario = "" if pair[4] in SCENARIOS else pair[4]
            tables.setdefault((pair[2], pair[3], scenario), {}).setdefault((pair[0], pair[1]), []).append(cells)
    flags = _flags(runs)
    largest = sorted(tables.items(), key=lambda item: -len(item[1]))
    return join([*(_table(axes, grid, flags) for axes, grid in largest), _legend(runs)])


def _flags(runs: Sequence[Run]) -> Flags:
    everyone = {
        cell for run in runs for found in insights(run) if found.kind == "fails with everyone" for cell in found.cells
    }
    differs = _differing(runs) if len(runs) > 1 else odd_ones(runs[0].cells) if of_pairs(runs[0]) else set()
    news = {key for run in runs for key, outcome in outcomes(run).items() if outcome.is_news}
    return Flags(everyone=frozenset(everyone), differs=frozenset(differs), news=frozenset(news))


def _differing(runs: Sequence[Run]) -> set[str]:
    """The cells of the pairs that work in one run and not in the other."""
    met: dict[tuple[str, ...], list[CellRecord]] = {}
    for run in runs:
        for cell in run.cells:
            if cell.is_graded:
                axes = cell.key.pair if isinstance(cell, Placed) else cell.key.pair[:5]
                met.setdefault(axes, []).append(cell)
    return {str(cell.key) for cells in met.values() if len({one.works for one in cells}) > 1 for cell in cells}


def _table(axes: Axes, grid: Grid, flags: Flags) -> Html:
    agents = list(dict.fromkeys(agent for agent, _ in grid))
    consumers = list(dict.fromkeys(consumer for _, consumer in grid))
    is_joined = not axes[2]
    if not is_joined and len(consumers) > _WIDE and len(grid) < _DENSE * len(agents) * len(consumers):
        return _list(axes, grid, flags)
    head = tag(
        "tr",
        tag("th", tag("span", "agent", class_="muted"), " \\ ", tag("span", "consumer", class_="muted")),
        *(tag("th", name, scope="col") for name in consumers),
    )
    rows = [
        tag(
            "tr",
            tag("th", agent, tag("small", _version(grid, agent), class_="muted"), scope="row"),
            *(_cell(grid.get((agent, consumer)), flags, is_joined=is_joined) for consumer in consumers),
        )
        for agent in agents
    ]
    dense = " dense" if len(consumers) > _MANY else ""
    drawn = tag(
        "table", tag("thead", head), tag("tbody", *rows), class_=f"matrix{' pairs' if is_joined else ''}{dense}"
    )
    return framed(drawn, caption=_caption(axes), rows=_HIGH * len(agents))


def _list(axes: Axes, grid: Grid, flags: Flags) -> Html:
    """The same as a list of agents, each with its pairs: a wide matrix of few pairs would be empty space."""
    agents: dict[str, list[Html]] = {}
    for (agent, consumer), shown in grid.items():
        chips = [_chip(cells, flags, several=len(shown) > 1) for cells in shown]
        agents.setdefault(agent, []).append(tag("div", tag("span", consumer, class_="muted"), *chips, class_="pair"))
    rows = [
        tag(
            "tr",
            tag("th", agent, tag("small", _version(grid, agent), class_="muted"), scope="row"),
            tag("td", tag("div", *shown)),
        )
        for agent, shown in agents.items()
    ]
    head = tag("tr", tag("th", "agent", scope="col"), tag("th", "consumers it met", scope="col"))
    drawn = tag("table", tag("thead", head), tag("tbody", *rows), class_="matrix list")
    return framed(drawn, caption=_caption(axes), rows=len(rows))


def _caption(axes: Axes) -> str:
    binding, version, scenario = axes
    return f"{binding} · protocol {version}" + ("" if scenario in ("", "default") else f" · {scenario}")


def _version(grid: Grid, agent: str) -> str:
    """The agent's own version, or both where the runs met different ones."""
    met = [c.key.agent_version for (name, _), shown in grid.items() if name == agent for cells in shown for c in cells]
    return " " + " → ".join(dict.fromkeys(met))


def _cell(shown: list[list[CellRecord]] | None, flags: Flags, *, is_joined: bool) -> Html:
    if not shown:
        return tag("td", tag("span", "·", title="not planned"), class_="empty")
    if is_joined:
        return tag("td", *_blocks(shown, flags))
    return tag("td", *(_chip(cells, flags, several=len(shown) > 1) for cells in shown))


def _chip(cells: list[CellRecord], flags: Flags, *, several: bool) -> Html:
    standing = worst_of(cells)
    binds = standing.standing == "authoritative" and standing.works
    return tag(
        "a",
        tag("small", standing.side if isinstance(standing, Placed) else standing.key.posture) if several else None,
        tag("b", word(cells), tag("i", " ✓", title="authoritative") if binds else None),
        tag("span", figures(cells)),
        class_=f"cell {tone(standing.verdict)}",
        href=f"#{anchor_of(standing)}",
        title=said_of(standing) or None,
        data_cells=marks(cells),
        **flags.of(cells),
    )


def _blocks(shown: Sequence[list[CellRecord]], flags: Flags) -> list[Html]:
    """What a pair of real vendors did, one block for each way in which it came out."""
    alike: dict[str, list[list[CellRecord]]] = {}
    for cells in shown:
        alike.setdefault(word(cells), []).append(cells)
    return [_block(told, several, flags) for told, several in alike.items()]


def _block(told: str, several: Sequence[list[CellRecord]], flags: Flags) -> Html:
    everything = [cell for cells in several for cell in cells]
    standing = [worst_of(cells) for cells in several]
    causes = [cell.cause for cell in standing]
    is_one = len(set(causes)) == 1
    parts: list[Html | None] = [tag("small", causes[0]) if is_one and causes[0] else None]
    for cells, cell, cause in zip(several, standing, causes, strict=True):
        parts.append(tag("small", cause) if cause and not is_one else None)
        name = f"{_side(cell)} {cell.key.scenario} ".lstrip()
        link = f"#{anchor_of(cell)}"
        parts.append(tag("a", name, tag("span", figures(cells)), href=link, title=said_of(cell) or None))
    return tag(
        "div",
        tag("b", told),
        *parts,
        class_=f"cell {tone(standing[0].verdict)}",
        data_cells=marks(everything),
        **flags.of(everything),
    )


def _side(cell: CellRecord) -> str:
    return cell.side if isinstance(cell, Placed) else ""


def _legend(runs: Sequence[Run]) -> Html:
    told = ["Each cell: the verdict, what it cost and the time to the verdict; it opens its evidence."]
    if of_pairs(runs[0]):
        told = [
            "Each cell: the verdict and its cause, then what was done and how long it took; that opens its evidence."
        ]
    elif any(cell.standing == "authoritative" and cell.works for run in runs for cell in run.cells):
        told.append("✓ marks an authoritative cell.")
    if len(runs) > 1:
        told.append("A bar marks pairs on which the two disagree.")
    elif of_pairs(runs[0]):
        told.append("A bar marks what came out otherwise than two thirds of its row or column.")
    return tag("p", " ".join(told), class_="legend")
