"""The matrix: agents by consumers, in each cell the word and the figures of every run shown, linked to its evidence.

Binding, version and scenario are axes of the cell key, not labels, so each combination of them is a matrix of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import figures, tone, word, worst_of
from a2a_lab.report.html import Html, anchor, join, tag
from a2a_lab.tabulate import insights, pairs

Axes = tuple[str, str, str]
"""binding, version, scenario."""

Grid = dict[tuple[str, str], list[list[CellRecord]]]
"""By agent and consumer: the attempts in each run."""

_WIDE, _DENSE = 6, 0.4  # a table of more columns than that, less full than that, is shown as a list


def matrix(runs: Sequence[Run]) -> Html:
    """One table for each combination of binding, version and scenario. Runs stand below each other in a cell."""
    tables: dict[Axes, Grid] = {}
    for run in runs:
        for pair, cells in pairs(run.cells).items():
            tables.setdefault((pair[2], pair[3], pair[4]), {}).setdefault((pair[0], pair[1]), []).append(cells)
    everyone = {
        cell for run in runs for found in insights(run) if found.kind == "fails with everyone" for cell in found.cells
    }
    return join([*(_table(axes, grid, everyone) for axes, grid in tables.items()), _legend(runs)])


def _table(axes: Axes, grid: Grid, everyone: set[str]) -> Html:
    agents = list(dict.fromkeys(agent for agent, _ in grid))
    consumers = list(dict.fromkeys(consumer for _, consumer in grid))
    if len(consumers) > _WIDE and len(grid) < _DENSE * len(agents) * len(consumers):
        return _list(axes, grid, everyone)
    head = tag(
        "tr",
        tag("th", tag("span", "agent", class_="muted"), " \\ ", tag("span", "consumer", class_="muted")),
        *(tag("th", name, scope="col") for name in consumers),
    )
    rows = [
        tag(
            "tr",
            tag("th", agent, tag("small", _version(grid, agent), class_="muted"), scope="row"),
            *(_cell(grid.get((agent, consumer)), everyone) for consumer in consumers),
        )
        for agent in agents
    ]
    table = tag("table", tag("caption", _caption(axes)), tag("thead", head), tag("tbody", *rows), class_="matrix")
    return tag("div", table, class_="scroll")


def _list(axes: Axes, grid: Grid, everyone: set[str]) -> Html:
    """The same as a list of agents, each with its pairs: a wide matrix of few pairs would be empty space."""
    agents: dict[str, list[Html]] = {}
    for (agent, consumer), shown in grid.items():
        chips = [_chip(cells, everyone, several=len(shown) > 1) for cells in shown]
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
    body = [tag("caption", _caption(axes)), tag("thead", head), tag("tbody", *rows)]
    return tag("div", tag("table", *body, class_="matrix list"), class_="scroll")


def _caption(axes: Axes) -> str:
    binding, version, scenario = axes
    return f"{binding} · protocol {version}" + ("" if scenario == "default" else f" · {scenario}")


def _version(grid: Grid, agent: str) -> str:
    """The agent's own version, or both where the runs met different ones."""
    met = [c.key.agent_version for (name, _), shown in grid.items() if name == agent for cells in shown for c in cells]
    return " " + " → ".join(dict.fromkeys(met))


def _cell(shown: list[list[CellRecord]] | None, everyone: set[str]) -> Html:
    if not shown:
        return tag("td", tag("span", "·", title="not planned"), class_="empty")
    return tag("td", *(_chip(cells, everyone, several=len(shown) > 1) for cells in shown))


def _chip(cells: list[CellRecord], everyone: set[str], *, several: bool) -> Html:
    standing = worst_of(cells)
    works = "" if not standing.is_graded else "1" if all(cell.works for cell in cells) else "0"
    key = standing.key
    binds = standing.standing == "authoritative" and standing.works
    return tag(
        "a",
        tag("small", key.posture) if several else None,
        tag("b", word(cells), tag("i", " ✓", title="authoritative") if binds else None),
        tag("small", standing.errors[0]) if key.posture == "foreign" and standing.errors else None,
        tag("span", figures(cells)),
        class_=f"cell {tone(standing.verdict)}",
        href=f"#{anchor(str(key))}",
        title=standing.said,
        data_cell=" ".join(anchor(str(cell.key)) for cell in cells),
        data_pair="/".join(key.pair[:5]),
        data_works=works,
        data_everyone=any(str(cell.key) in everyone for cell in cells),
    )


def _legend(runs: Sequence[Run]) -> Html:
    told = ["Each cell: the verdict, what it cost and the time to the verdict; it opens its evidence."]
    if any(cell.standing == "authoritative" and cell.works for run in runs for cell in run.cells):
        told.append("✓ marks an authoritative cell.")
    if len(runs) > 1:
        told.append("A bar marks pairs on which the two disagree.")
    return tag("p", " ".join(told), class_="legend")
