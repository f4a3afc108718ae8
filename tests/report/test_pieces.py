"""The pieces of a page: what each shows, and that the two judges, zeros and unfinished runs are told honestly."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, get_args

import pytest
import synthetic_runs as synthetic

from a2a_lab.compare import compare
from a2a_lab.core.closures import Closure
from a2a_lab.errors import Misuse
from a2a_lab.lab.records import CellRecord, Measures, Run, read_run
from a2a_lab.report import fragments as show
from a2a_lab.report.figures import cost
from a2a_lab.report.html import END_TYPE, RUN_TYPE, STYLE_TYPE, Fragment, anchor
from a2a_lab.report.matrix import matrix
from a2a_lab.report.progress import progress
from a2a_lab.report.rules import CLOSURES, RULES, STAGES, cited
from a2a_lab.report.tiles import headline, honesty
from a2a_lab.report.words import VERDICTS, load_catalogue
from a2a_lab.verdicts import CATALOGUE, Judge, Kind, NotGradeable, Stage, Verdict


@pytest.fixture
def both(tmp_path: Path) -> tuple[Run, Run]:
    return tuple(read_run(synthetic.write_seven(tmp_path, posture)) for posture in ("trusting", "enforcing"))


@pytest.fixture
def run_of(tmp_path: Path) -> Any:
    def read(cells: Sequence[CellRecord], **more: Any) -> Run:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        return read_run(synthetic.write(folder, cells, **more), allow_cut=True)

    return read


def text_of(piece: Fragment | str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", str(piece))))


def test_the_headline_says_what_each_posture_pays_and_gets(both: tuple[Run, Run]) -> None:
    assert headline(both) == (
        "2 of 7 pairs do at runtime what the agent's card declares. The trusting consumers pay with 5 renegotiation "
        "cycles, 6 orphans and 1 timed-out wait and get 4 results; the enforcing ones with 0 renegotiation cycles, "
        "0 orphans and 0 timed-out waits and get 5."
    )


def test_tiles_show_before_and_after_and_the_pairs_they_are_of(both: tuple[Run, Run]) -> None:
    told = text_of(show.headline(*both))
    for tile in ("2 /7 pairs hold", "4 → 5 /7 pairs delivered", "5 → 0 /7 pairs renegotiated", "6 → 0 left behind"):
        assert tile in told
    assert told.count("better") == 0  # said by colour, and by the figures themselves


def test_a_zero_is_told_to_be_no_promise(both: tuple[Run, Run]) -> None:
    assert honesty(both).startswith(
        "0 cycles, 0 orphans and 0 timed-out waits: a property of this matrix, not a promise."
    )
    assert honesty(both[:1]) == ""


def test_two_runs_of_one_posture_are_before_and_after(run_of: Any) -> None:
    old, new = run_of(synthetic.seven("trusting")), run_of(synthetic.seven("trusting"))
    assert "Before: 5 renegotiation cycles" in headline((old, new))


def test_a_run_in_which_nobody_could_be_graded_says_so(run_of: Any) -> None:
    run = run_of([synthetic.unreachable()])
    told = text_of(show.headline(run))
    assert "No pair could be graded." in told
    assert "Not gradeable and counted for and against nobody: 1 unreachable." in told


def test_each_cell_of_the_matrix_has_word_figures_and_a_link_to_its_evidence(both: tuple[Run, Run]) -> None:
    markup = str(show.matrix(*both))
    assert markup.count('<a class="cell') == 14
    hang = anchor("cedar@0.9/dash/JSONRPC/1.0/default/trusting/1")
    assert f'href="#{hang}"' in markup
    assert "1 cycle · 3 orphans · 1 timed-out wait · 5.36 s" in markup
    assert f'id="{hang}"' in str(show.evidence(both[0]))


def test_binding_version_and_scenario_are_matrices_of_their_own(run_of: Any) -> None:
    cells = [synthetic.cell(synthetic.key(version=version)) for version in ("0.3", "1.0")]
    cells.append(synthetic.cell(synthetic.key(scenario="rotated")))
    told = matrix([run_of(cells)])
    assert told.count("<table") == 3
    assert "JSONRPC · protocol 0.3" in told and "JSONRPC · protocol 1.0 · rotated" in told


def test_a_wide_matrix_of_few_pairs_is_a_list(run_of: Any) -> None:
    cells = [synthetic.cell(synthetic.key(f"agent-{n}", f"consumer-{n}")) for n in range(9)]
    told = matrix([run_of(cells)])
    assert "consumers it met" in told and told.count('<a class="cell') == 9


def test_several_attempts_show_how_many_worked(run_of: Any) -> None:
    cells = [
        synthetic.cell(synthetic.key(attempt=n), verdict) for n, verdict in ((1, Verdict.ACCEPT), (2, Verdict.HANG))
    ]
    markup = str(matrix([run_of(cells)]))
    assert "1/2 work, hang" in markup and markup.count('class="cell v-hang"') == 1


def test_who_fails_with_everyone_is_marked_for_the_filter(both: tuple[Run, Run]) -> None:
    marked = re.findall(r'href="#c-([a-z0-9.@]*)_([a-z]*)_[^>]* data-everyone', str(show.matrix(both[1])))
    assert marked == [("birch@2.3", "dash"), ("cedar@0.9", "dash")]


def test_the_two_judges_are_never_mixed_up(both: tuple[Run, Run]) -> None:
    told = text_of(show.findings(both[0]))
    assert "1 by the specification (a defect of the vendor), 4 by this lab's stricter policy" in told
    assert "spec R30 · 1.0.1 3.1.2 MUST" in told
    assert "policy A6 · 1.0.1 3.1.2 (the spec allows zero artifacts)" in told


def test_one_observation_in_several_cells_is_one_row(both: tuple[Run, Run]) -> None:
    rows = re.findall(r"<tr data-cells.*?</tr>", str(show.findings(both[0])))
    (stranger,) = [row for row in rows if "untrusted-key" in row]
    assert stranger.count('<a href="#c-') == 3 and '<a href="#rule-A1"' in stranger


def test_each_orphan_has_a_row_with_its_clean_up_state(both: tuple[Run, Run]) -> None:
    told = str(show.orphans(both[0]))
    assert told.count("<tr data-cells") == 6
    assert "the task itself" in told and "rejected" in told
    assert "Nothing was left behind" in str(show.orphans(both[1]))


def test_the_changes_between_two_runs_are_a_table(both: tuple[Run, Run]) -> None:
    told = text_of(show.changes(compare(*both, across_postures=True)))
    assert "The same in both runs: 2 of 7 pairs." in told
    assert "cedar × batch rescued orphan hint" in told and "Rescued: it goes wrong when trusting" in told


def test_the_same_run_twice_has_no_table_of_changes(both: tuple[Run, Run]) -> None:
    assert "<table" not in str(show.changes(compare(both[0], both[0])))


def test_a_run_that_was_cut_is_told_loudly_and_without_paths(run_of: Any, tmp_path: Path) -> None:
    run = run_of(synthetic.seven("trusting"), close=False)
    told = text_of(show.what_was_run(run))
    assert "This run is not whole:" in told and "0 of 7 planned cells missing" in told
    assert str(tmp_path) not in str(show.what_was_run(run))


def test_evidence_that_cannot_be_read_is_said_and_the_page_goes_on(both: tuple[Run, Run]) -> None:
    run = both[0]
    paths = [run.folder / (cell.evidence or "") for cell in run.cells]
    paths[0].unlink()
    paths[1].write_text('{"log": {')
    told = text_of(show.evidence(run))
    assert told.count("The timeline cannot be shown") == 2
    assert str(run.folder) not in told


@pytest.mark.parametrize("path", ["../../secrets.har", "/etc/passwd"])
def test_evidence_outside_the_run_is_never_opened(both: tuple[Run, Run], path: str) -> None:
    run = replace(both[0], cells=(replace(both[0].cells[0], evidence=path),))
    assert "leads out of the run" in text_of(show.evidence(run))


def test_a_large_run_keeps_the_timelines_of_what_failed(both: tuple[Run, Run]) -> None:
    from a2a_lab.report.evidence import evidence

    told = evidence(both[0], budget=1)
    assert told.count("<details") == 7
    assert told.count('class="timeline"') == 1
    assert "t-deadline" in told or "t-request" in told


def test_the_glossary_explains_every_verdict_and_only_what_occurs(both: tuple[Run, Run]) -> None:
    assert set(VERDICTS) == {*(v.value for v in Verdict), *(w.value for w in NotGradeable)}
    told = str(show.words_of(both[1]))
    assert "<dt>hang</dt>" in told and "<dt>throttled</dt>" not in told


def test_every_finding_of_the_lab_says_what_it_means() -> None:
    catalogue = load_catalogue()
    assert len(catalogue) > 20
    assert all(means for means in catalogue.values())


def test_the_figure_takes_its_colours_from_the_page(both: tuple[Run, Run]) -> None:
    drawn = str(cost(both))
    assert drawn.count("<svg") == 1 and "var(--before)" in drawn and "currentColor" in drawn
    for unwanted in ("<metadata", "<!DOCTYPE", "#ffffff", "http", "<style", "DejaVu"):
        assert unwanted not in drawn


def test_a_name_in_a_figure_is_text_and_no_formula(run_of: Any) -> None:
    drawn = str(cost([run_of([synthetic.cell(synthetic.key("$x^2$<b>"))])]))
    assert "$x^2$&lt;b&gt;" in drawn


def test_two_figures_share_no_id(both: tuple[Run, Run]) -> None:
    ids = re.findall(r' id="([^"]*)"', str(cost(both)) + str(cost(both[:1])))
    assert len(ids) == len(set(ids)) > 0


def test_a_piece_names_the_run_for_whoever_executed_the_notebook(both: tuple[Run, Run]) -> None:
    bundle = show.what_was_run(both[0])._repr_mimebundle_()
    assert bundle[RUN_TYPE] == {"folder": str(both[0].folder)}
    assert STYLE_TYPE in show.styles()._repr_mimebundle_()
    assert show.cells(both[0])._repr_mimebundle_()["text/plain"] == "7 cells"


def test_nothing_is_displayed_while_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert progress() == {}


def test_in_jupyterlab_one_line_is_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, piece: Fragment) -> None:
            shown.append(text_of(piece))

    def display(piece: Fragment, display_id: bool) -> Handle:
        return Handle()

    monkeypatch.setenv("JPY_SESSION_NAME", "matrix.ipynb")
    monkeypatch.setattr("IPython.display.display", display)
    watch = progress()
    watch["progress"](synthetic.seven("trusting")[0], 1, 7)
    watch["say"]("a2a-js-1.3: npm ci")
    assert [text.strip() for text in shown] == [
        "1 of 7 cells · 0 s · alder × notes accept",
        "1 of 7 cells · 0 s · a2a-js-1.3: npm ci",
    ]


class Checked:
    evidence = "runs/checks/none.har"
    said = "the probe's stream never ended"
    card: ClassVar = {"name": "<x>", "version": "1.0", "form": "1.0", "url": "http://127.0.0.1:9/card"}
    clients: ClassVar = {"1.0": "calls SendMessage", "0.3": "rejects the card"}
    would_send = "2 agent runs"
    exit_code = 2

    def as_json(self) -> dict[str, Any]:
        cell = synthetic.seven("enforcing")[-1].as_json()
        target = {"url": "http://127.0.0.1:9/<x>", "tenant": None, "binding": "JSONRPC", "version": "1.0"}
        return {"target": target, "evidence": None} | {
            name: cell[name] for name in ("verdict", "authority", "stages", "measures")
        }


def test_a_check_is_shown_stage_by_stage() -> None:
    verdict, stages = text_of(show.check_verdict(Checked())), str(show.check_stages(Checked()))
    assert show.check_verdict(Checked())._repr_mimebundle_()[END_TYPE] == {"exit": 2}  # R39
    assert "hang advisory: unsigned" in verdict and "http://127.0.0.1:9/<x>" in verdict
    assert stages.count("<li") == len(Stage) and "stream-never-final" in stages
    assert "the probe's stream never ended" in verdict and "Sending would mean: 2 agent runs" in verdict
    assert "1.0 client calls SendMessage" in text_of(show.check_clients(Checked()))
    assert "none.har: No such file" in text_of(show.check_exchanges(Checked()))


def test_findings_of_a_note_come_last(run_of: Any) -> None:
    note = synthetic.finding("a-note", Stage.RPC, Verdict.HANG, Kind.NOTE, judge=Judge.SPEC)
    worse = synthetic.finding("b-worse", Stage.RPC, Verdict.REFUSE)
    told = text_of(show.findings(run_of([synthetic.cell(synthetic.key(), Verdict.REFUSE, [note, worse])])))
    assert told.index("b-worse") < told.index("a-note")


def test_measures_of_an_ungraded_cell_are_shown_as_untested(run_of: Any) -> None:
    cell = replace(synthetic.unreachable(), measures=Measures())
    assert "untested" in text_of(show.cells(run_of([cell])))


def test_a_cell_key_cannot_smuggle_a_path() -> None:
    with pytest.raises(Misuse):
        synthetic.key("..", "../x")


def test_every_rule_that_a_finding_cites_and_every_closure_is_explained() -> None:
    load_catalogue()
    cited_rules = {name for kind in CATALOGUE.values() for name in re.findall(r"\b[ADPR]\d{1,2}\b", kind.rule)}
    assert cited_rules <= set(RULES)
    assert set(get_args(Closure)) == set(CLOSURES)
    assert set(STAGES) == {stage.value for stage in Stage}


def test_a_rule_is_a_link_that_says_what_it_asks() -> None:
    told = str(cited("A1, R19"))
    assert told.count('<a href="#rule-') == 2 and ", " in told
    assert f'title="{RULES["R19"]}"' in told
    assert str(cited("<b>R99</b>")) == "&lt;b&gt;R99&lt;/b&gt;"


def test_the_glossary_holds_the_line_that_each_rule_leads_to(both: tuple[Run, Run]) -> None:
    page = "".join(map(str, (show.findings(both[0]), show.findings(both[1]), show.words_of(*both))))
    linked, there = set(re.findall(r'href="#(rule-[A-Z0-9]*)"', page)), set(re.findall(r'id="(rule-[A-Z0-9]*)"', page))
    assert linked and linked <= there


def test_the_measure_hangs_is_never_called_what_the_verdict_is(both: tuple[Run, Run]) -> None:
    """R30: the verdict names the stream that never ended, the measure the waits that only a timeout ended."""
    told = text_of(show.headline(*both)) + text_of(show.cells(both[0]))
    assert "timed-out waits" in told and "timed out" in told
    assert not re.search(r"\d hangs?\b|\bhangs\b", told)
    assert "timed-out waits" in text_of(show.words_of(*both))


def test_what_a_consumer_read_is_not_on_a_page(run_of: Any) -> None:
    """R38: the sentence by which a consumer ends quotes what it received; a page shows type, length and hash."""
    key = synthetic.key("alder", "notes", "foreign", scenario="send")
    run = run_of([synthetic.cell(key, said="completed, artifact 'a': 'WHAT PEOPLE WROTE'")])
    shown = str(show.matrix(run)) + str(show.evidence(run)) + str(show.cells(run))
    assert "completed, artifact &#x27;a&#x27;" in shown and "WHAT PEOPLE" not in shown
