"""Records (DESIGN 6): the file alone tells whether a run is whole, and what is not whole is refused by name."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
import synthetic_runs as synthetic
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.errors import HarnessFault, Misuse, RecordFault
from a2a_lab.lab.records import (
    RECORDS,
    CellKey,
    CellRecord,
    Footer,
    RunWriter,
    evidence_path,
    missing_cells,
    read_run,
    run_id,
)
from a2a_lab.lab.rowreading import read_cell
from a2a_lab.verdicts import Kind, Stage, Verdict

CELLS = synthetic.seven("trusting")


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / RECORDS).read_text().splitlines()]


def rewrite(folder: Path, lines: list[dict[str, Any]]) -> None:
    (folder / RECORDS).write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_what_is_written_comes_back_equal(tmp_path: Path) -> None:
    run = read_run(synthetic.write(tmp_path / "run", CELLS))
    assert run.cells == tuple(CELLS)
    assert run.header == synthetic.header(CELLS)
    assert run.footer == Footer(cells=7, ended=synthetic.ENDED, interrupted=False)
    assert run.is_complete and not run.is_cut and run.cut is None


def test_the_lines_have_the_shape_that_programs_read(tmp_path: Path) -> None:
    header, cell, *_, footer = lines_of(synthetic.write(tmp_path / "run", CELLS))
    assert (header["kind"], header["schema"]) == ("header", 1)
    assert cell["cell"] == "alder@1.0/notes/JSONRPC/1.0/default/trusting/1"
    assert {"status", "because"} == set(cell["authority"])
    assert set(cell["stages"]) == {stage.value for stage in Stage}
    assert {"held", "diverged", "hangs", "bytes_before_authority"} <= set(cell["measures"])
    assert footer == {"kind": "footer", "cells": 7, "ended": synthetic.ENDED, "interrupted": False}


def test_the_json_form_of_a_cell_is_taken_too(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", synthetic.header(CELLS[:1])) as writer:
        writer.append(CELLS[0].as_json())
        writer.close(ended=synthetic.ENDED)
    assert read_run(tmp_path / "run").cells == (CELLS[0],)


def test_each_line_is_on_the_disk_before_the_next_cell_counts(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", synthetic.header(CELLS)) as writer:
        for count, cell in enumerate(CELLS, 2):
            writer.append(cell)
            assert len(lines_of(tmp_path / "run")) == count


def test_records_are_readable_by_the_user_alone(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "run", CELLS)
    assert stat.S_IMODE((folder / RECORDS).stat().st_mode) == 0o600


def test_a_run_without_footer_is_cut_and_says_how_to_finish_it(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "run", CELLS[:3], close=False)
    with pytest.raises(RecordFault, match=r"no footer: the run was cut after 3 of 3 cells. Finish it with --resume"):
        read_run(folder)
    run = read_run(folder, allow_cut=True)
    assert run.is_cut and run.cut is not None and "no footer" in run.cut
    assert len(run.cells) == 3


def test_a_cut_last_line_is_no_cell(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "run", CELLS, close=False)
    whole = (folder / RECORDS).read_bytes()
    (folder / RECORDS).write_bytes(whole[:-9])
    with pytest.raises(RecordFault, match=r"line 8 of .* breaks off"):
        read_run(folder)
    assert missing_cells(read_run(folder, allow_cut=True)) == (str(CELLS[-1].key),)


@given(length=st.integers(min_value=0, max_value=20_000))
def test_cut_anywhere_no_cell_is_read_that_was_not_written_whole(length: int, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("cut")
    synthetic.write(folder, CELLS[:2])
    whole = (folder / RECORDS).read_bytes()
    (folder / RECORDS).write_bytes(whole[:length])
    if length >= len(whole):
        assert read_run(folder).is_complete
        return
    with pytest.raises(RecordFault):
        read_run(folder)
    if b"\n" in whole[:length]:
        run = read_run(folder, allow_cut=True)
        assert run.cells == tuple(CELLS[: len(run.cells)])


def test_an_empty_file_and_a_folder_without_records_are_named(tmp_path: Path) -> None:
    with pytest.raises(RecordFault, match=r"holds no records\.jsonl; name the folder of a run"):
        read_run(tmp_path)
    (tmp_path / RECORDS).touch()
    with pytest.raises(RecordFault, match="holds no whole line"):
        read_run(tmp_path, allow_cut=True)


def test_a_duplicate_cell_is_an_error(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "run", CELLS)
    header, *cells, footer = lines_of(folder)
    rewrite(folder, [header, *cells, cells[0], footer])
    with pytest.raises(RecordFault, match=r"line 9: cell alder@1.0/notes/.* is recorded twice"):
        read_run(folder)


@pytest.mark.parametrize("extra", ["header", "foreign cell", "after footer", "unknown kind"])
def test_mixed_runs_are_refused(tmp_path: Path, extra: str) -> None:
    folder = synthetic.write(tmp_path / "run", CELLS)
    header, *cells, footer = lines_of(folder)
    foreign = synthetic.cell(synthetic.key("dogwood")).as_json()
    mixed = {
        "header": [header, *cells, header, footer],
        "foreign cell": [header, *cells, foreign, footer],
        "after footer": [header, *cells, footer, header],
        "unknown kind": [header, *cells, {"kind": "remark"}, footer],
    }
    rewrite(folder, mixed[extra])
    with pytest.raises(RecordFault, match=r"mixed|follows the footer"):
        read_run(folder)


def test_the_footer_must_agree_with_the_file(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "run", CELLS)
    header, *cells, footer = lines_of(folder)
    rewrite(folder, [header, *cells[:-1], footer])
    with pytest.raises(RecordFault, match="the footer counts 7 cells, the file holds 6"):
        read_run(folder)
    rewrite(folder, [header, *cells[:-1], footer | {"cells": 6}])
    with pytest.raises(RecordFault, match=r"says whole, but .*cedar.* was never recorded"):
        read_run(folder)


def test_another_schema_is_refused_before_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / RECORDS).write_text('{"kind":"header","schema":2,"run":7}\n')
    with pytest.raises(RecordFault, match="schema 2; this a2a-lab reads schema 1: update a2a-lab"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]\n", "is no record"),
        ("{]\n", "no JSON"),
        ('{"kind":"cell"}\n', "expected the header"),
        ('{"kind":"header","schema":true}\n', "schema is True; expected a whole number"),
        ('{"kind":"header","schema":1,"run":1}\n', "run is 1; expected text"),
    ],
)
def test_damage_is_named_by_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / RECORDS).write_text(text)
    with pytest.raises(RecordFault, match=f"line 1: .*{told}"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"verdict": "splendid"}, "none of: accept, hint"),
        ({"stages": {"lunch": {}}}, "none of: resolve, fetch"),
        ({"measures": {"hangs": -1}}, "hangs is -1"),
        ({"measures": {"waited_s": float("nan")}}, "waited_s is nan"),
        ({"measures": {"held": "yes"}}, "held is 'yes'"),
        ({"cell": "alder/notes"}, "no cell key"),
        ({"errors": [1]}, "expected a list of texts"),
        ({"orphans": [[]]}, "expected an object"),
        ({"authority": None}, "expected an object"),
    ],
)
def test_a_wrong_member_is_named_with_what_belongs_there(change: dict[str, Any], told: str) -> None:
    with pytest.raises(RecordFault, match=told):
        read_cell(CELLS[0].as_json() | change)


def test_members_of_a_newer_lab_are_passed_over() -> None:
    line = CELLS[0].as_json() | {"mood": "good"}
    line["measures"]["joules"] = 3
    assert read_cell(line) == CELLS[0]


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    folder = synthetic.write(tmp_path / "run", CELLS)
    with pytest.raises(Misuse, match=r"is there already; choose another folder, or continue the run with --resume"):
        RunWriter(folder, synthetic.header(CELLS))


def test_an_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misuse, match=r"cannot write records into .*Name a writable folder"):
        RunWriter(tmp_path / "file", synthetic.header(CELLS))


def test_a_cell_is_written_once_and_only_if_planned(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", synthetic.header(CELLS)) as writer:
        writer.append(CELLS[0])
        with pytest.raises(RecordFault, match="recorded already"):
            writer.append(CELLS[0])
        with pytest.raises(RecordFault, match="not planned"):
            writer.append(synthetic.cell(synthetic.key("dogwood")))
        assert writer.left == tuple(str(cell.key) for cell in CELLS[1:])
    with pytest.raises(Misuse, match="names a cell twice"):
        RunWriter(tmp_path / "other", synthetic.header([CELLS[0], CELLS[0]]))


def test_a_plan_with_cells_left_is_interrupted_whatever_the_caller_says(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", synthetic.header(CELLS)) as writer:
        writer.append(CELLS[0])
        writer.close(ended=synthetic.ENDED)
        with pytest.raises(Misuse, match="closed"):
            writer.append(CELLS[1])
    run = read_run(tmp_path / "run")
    assert run.footer is not None and run.footer.interrupted
    assert not run.is_complete and len(missing_cells(run)) == 6


@pytest.mark.parametrize("left", ["half a line", "no footer", "interrupted"])
def test_resume_keeps_what_is_whole_and_runs_the_rest(tmp_path: Path, left: str) -> None:
    with RunWriter(tmp_path / "run", synthetic.header(CELLS)) as writer:
        for cell in CELLS[:3]:
            writer.append(cell)
        if left == "interrupted":
            writer.close(ended=synthetic.ENDED, interrupted=True)
    if left == "half a line":
        with (tmp_path / "run" / RECORDS).open("ab") as file:
            file.write(b'{"kind":"cell","ce')
    with RunWriter.resume(tmp_path / "run") as writer:
        assert writer.left == tuple(str(cell.key) for cell in CELLS[3:])
        for cell in CELLS[3:]:
            writer.append(cell)
        writer.close(ended="2026-11-30T13:00:00Z")
    assert read_run(tmp_path / "run").cells == tuple(CELLS)


def test_a_complete_run_has_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match="is complete; there is nothing to resume"):
        RunWriter.resume(synthetic.write(tmp_path / "run", CELLS))


def test_two_labs_never_continue_one_run(tmp_path: Path) -> None:
    with (
        RunWriter(tmp_path / "run", synthetic.header(CELLS)),
        pytest.raises(Misuse, match="another a2a-lab is writing into"),
    ):
        RunWriter.resume(tmp_path / "run")


def test_after_a_failed_write_nothing_buries_the_half_line(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run", synthetic.header(CELLS))
    assert writer._open is not None
    os.close(writer._open)
    full = os.open("/dev/full", os.O_WRONLY)
    writer._open = full
    with pytest.raises(HarnessFault, match="No space left"):
        writer.append(CELLS[0])
    with pytest.raises(Misuse, match="closed"):
        writer.append(CELLS[0])


def test_values_that_json_has_no_word_for_do_not_end_a_run(tmp_path: Path) -> None:
    odd = synthetic.finding(
        "odd", Stage.RPC, Verdict.HINT, values={"nan": float("nan"), "set": {1}, "bytes": b"x", 3: "\ud800"}
    )
    cell = synthetic.cell(CELLS[0].key, Verdict.HINT, [odd])
    run = read_run(synthetic.write(tmp_path / "run", [cell]))
    assert run.cells[0].findings[0].values == {"nan": "nan", "set": "{1}", "bytes": "b'x'", "3": "\ud800"}


def test_a_key_is_one_greppable_path_and_comes_back() -> None:
    key = synthetic.key("birch", "dash", attempt=3)
    assert str(key) == "birch@2.3/dash/JSONRPC/1.0/default/trusting/3"
    assert CellKey.parse(str(key)) == key
    assert replace(key, agent_version="2.4", attempt=1).pair == key.pair


@pytest.mark.parametrize("change", [{"agent": "a/b"}, {"agent": "a@b"}, {"consumer": ""}, {"attempt": 0}])
def test_a_key_that_could_not_be_read_back_cannot_be_made(change: dict[str, Any]) -> None:
    with pytest.raises(Misuse):
        synthetic.key(**change)


def test_two_cells_never_share_an_evidence_file() -> None:
    plain = evidence_path(synthetic.key())
    assert plain == "evidence/alder@1.0--notes--JSONRPC--1.0--default--trusting--1.har"
    keys = [synthetic.key(scenario=name) for name in ("a b", "a:b", "a_b", "x" * 200, "x" * 201, "..")]
    paths = {evidence_path(key) for key in keys}
    assert len(paths) == len(keys)
    assert all("/" not in path.removeprefix("evidence/") for path in paths)


def test_run_ids_sort_by_time_in_utc() -> None:
    early = run_id(datetime(2026, 11, 30, 23, 0, tzinfo=timezone(timedelta(hours=2))), "ffff")
    late = run_id(datetime(2026, 11, 30, 22, 0, tzinfo=UTC), "0000")
    assert early == "20261130T210000Z-ffff"
    assert early < late
    with pytest.raises(Misuse, match="aware time and four hex digits"):
        run_id(datetime(2026, 11, 30), "ffff")


def test_one_posture_of_a_mixed_run_is_a_run_of_its_own(tmp_path: Path) -> None:
    both: list[CellRecord] = [*CELLS, *synthetic.seven("enforcing")]
    run = read_run(synthetic.write(tmp_path / "run", both, posture="mixed"))
    part = run.select("enforcing")
    assert {cell.key.posture for cell in part.cells} == {"enforcing"}
    assert len(part.header.plan) == 7 and not missing_cells(part)


def test_a_cell_that_failed_has_a_cause_by_name_even_where_a_result_came() -> None:
    """DESIGN 2: works is worked and conformed. What ended it comes first, else the gravest finding that is no note."""
    found = [
        synthetic.finding("aside", Stage.STREAM, Verdict.CONFORMANCE_ERROR, Kind.NOTE),
        synthetic.finding("lesser", Stage.STREAM, Verdict.HINT),
        synthetic.finding("timestamp-form", Stage.STREAM, Verdict.CONFORMANCE_ERROR),
    ]
    at = synthetic.key()
    assert synthetic.cell(at, Verdict.CONFORMANCE_ERROR, found).cause == "timestamp-form"
    assert synthetic.cell(at, Verdict.CONFORMANCE_ERROR, found, errors=("client-timeout",)).cause == "client-timeout"
    assert synthetic.cell(at, Verdict.HINT, found[1:2]).cause == ""
