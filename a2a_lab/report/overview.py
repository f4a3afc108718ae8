"""Who works with whom at a glance, and who differs: all agents by all consumers, whatever they speak.

A disagreement is a cell that came out otherwise than two thirds of its row or of its column, in the same binding,
version and scenario: an agent that differs for the same consumer, or a consumer that differs for the same agent. Where
about half work nobody is the odd one, but of two that differ each is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from a2a_lab.lab.records import CellRecord, Run
from a2a_lab.report.chips import anchor_of, chip, link, marks, worst_of
from a2a_lab.report.folds import fold
from a2a_lab.report.html import Html, join, plural, tag
from a2a_lab.report.table import Sorted, Value, table

_LINKED = 6  # peers linked for each cause; the matrix shows all


def overview(run: Run) -> Html:
    """One small square for each agent and consumer: how many of the cells of the two work."""
    met: dict[tuple[str, str], list[CellRecord]] = {}
    for cell in run.cells:
        met.setdefault((cell.key.agent, cell.key.consumer), []).append(cell)
    agents = list(dict.fromkeys(agent for agent, _ in met))
    consumers = list(dict.fromkeys(consumer for _, consumer in met))
    corner = tag("th", tag("span", "agent \\ consumer", class_="muted"))
    head = tag("tr", corner, *(tag("th", tag("span", name), scope="col") for name in consumers))
    rows = [
        tag(
            "tr",
            tag("th", agent, scope="row"),
            *(_square(met.get((agent, consumer), [])) for consumer in consumers),
        )
        for agent in agents
    ]
    grid = tag("table", tag("thead", head), tag("tbody", *rows), class_="glance")
    legend = (
        "Each square: how many cells of the two work, of those that could be judged. – means that none could; ° that "
        "a result came all the same, against the book."
    )
    return join([tag("div", grid, class_="scroll"), tag("p", legend, class_="legend")])


def _square(cells: Sequence[CellRecord]) -> Html:
    graded = [cell for cell in cells if cell.is_graded]
    if not cells:
        return tag("td", tag("span", "·", title="not planned"), class_="empty")
    works = sum(cell.works for cell in graded)
    kind = "none" if not graded else "all" if works == len(graded) else "some" if works else "no"
    shown = worst_of(cells)
    told = "; ".join(f"{c.key.scenario} over {c.key.binding} {c.key.version}: {_outcome(c)}" for c in cells)
    text = f"{works}/{len(graded)}" if graded else "–"
    text += "°" if any(cell.measures.delivered and not cell.works for cell in graded) else ""
    square = tag("a", text, href=f"#{anchor_of(shown)}", title=told, class_=f"cell g-{kind}", data_cells=marks(cells))
    return tag("td", square)


def _outcome(cell: CellRecord) -> str:
    return f"{cell.verdict.value} ({cell.cause})" if cell.cause else cell.verdict.value


def odd_ones(cells: Iterable[CellRecord]) -> set[str]:
    """The keys of cells that came out otherwise than two thirds of their row or column; of two that differ, both."""
    lines: dict[tuple[str, ...], list[CellRecord]] = {}
    for cell in cells:
        key = cell.key
        if cell.is_graded:
            for name, side in (("agent", key.agent), ("consumer", key.consumer)):
                lines.setdefault((name, side, key.binding, key.version, key.scenario), []).append(cell)
    found: set[str] = set()
    for line in lines.values():
        for alike in ([cell for cell in line if cell.works], [cell for cell in line if not cell.works]):
            is_odd = 3 * len(alike) <= len(line) or (len(line) == 2 and len(alike) == 1)
            found |= {str(cell.key) for cell in alike} if is_odd else set()
    return found


def differences(run: Run) -> Html:
    """By consumer the agents that differ for it, by agent the consumers; who came out alike with everyone is folded."""
    return join(
        [
            _differing(run, "consumer", "agents", lambda cell: cell.key.consumer, lambda cell: cell.key.agent),
            _differing(run, "agent", "consumers", lambda cell: cell.key.agent, lambda cell: cell.key.consumer),
        ]
    )


def _differing(
    run: Run, role: str, peers: str, name: Callable[[CellRecord], str], peer: Callable[[CellRecord], str]
) -> Html:
    grouped: dict[str, list[CellRecord]] = {}
    for cell in run.cells:
        if cell.is_graded:
            grouped.setdefault(name(cell), []).append(cell)
    split = {who: cells for who, cells in grouped.items() if len({cell.works for cell in cells}) > 1}
    same = {who: cells for who, cells in grouped.items() if who not in split}
    columns = [role, "work", f"{peers} it works with", f"{peers} it fails with, by cause"]
    title = tag("h3", f"{peers.capitalize()} that differ for the same {role}")
    parts: list[Html | None] = [title]
    if split:
        rows = sorted(split.items(), key=lambda item: min(_share(item[1]), 1 - _share(item[1])))
        parts.append(table(f"differ-{role}", columns, ((cells, _row(who, cells, peer)) for who, cells in rows)))
    else:
        parts.append(tag("p", f"None: every {role} came out alike with all its {peers}.", class_="legend"))
    if same:
        rows = sorted(same.items())
        alike = table(f"alike-{role}", columns, ((cells, _row(who, cells, peer)) for who, cells in rows))
        parts.append(fold(f"alike-{role}", f"{plural(len(same), role)} came out alike with everyone", alike))
    return join(parts)


def _share(cells: Sequence[CellRecord]) -> float:
    return sum(cell.works for cell in cells) / len(cells)


def _row(who: str, cells: Sequence[CellRecord], peer: Callable[[CellRecord], str]) -> Sequence[Value]:
    working, causes = [c for c in cells if c.works], dict[tuple[str, str], list[CellRecord]]()
    for cell in cells:
        if not cell.works:
            causes.setdefault((cell.verdict.value, cell.cause), []).append(cell)
    by_cause = sorted(causes.items(), key=lambda item: -len(item[1]))
    failing = join(
        tag("div", chip(same[0].verdict), " ", tag("code", f"{slug} ") if slug else None, _peers(same, peer))
        for (_, slug), same in by_cause
    )
    return [
        tag("b", who),
        Sorted(f"{len(working)}/{len(cells)}", _share(cells), is_number=True),
        _peers(working, peer) if working else tag("span", "none", class_="muted"),
        failing if causes else tag("span", "none", class_="muted"),
    ]


def _peers(cells: Sequence[CellRecord], peer: Callable[[CellRecord], str]) -> Html:
    """Each peer once, with what the two did in brackets where that is not everything."""
    met: dict[str, list[CellRecord]] = {}
    for cell in cells:
        met.setdefault(peer(cell), []).append(cell)
    shown = [
        link(of[0], who if len(of) > 1 else f"{who} ({of[0].key.scenario})") for who, of in list(met.items())[:_LINKED]
    ]
    more = f" and {len(met) - _LINKED} more" if len(met) > _LINKED else ""
    return join([*(join([", " if place else "", one]) for place, one in enumerate(shown)), more])
