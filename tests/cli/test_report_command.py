"""`a2a-lab report`: pages of runs that are recorded already, options that do not go together, and how it ends (R39)."""

from __future__ import annotations

from pathlib import Path

import pytest
import synthetic_runs as synthetic
from rich.console import Console

from a2a_lab.cli import show
from a2a_lab.cli.reporting import standing
from a2a_lab.report.recorded import Standing
from tests.cli.console import lab


def test_a_recorded_run_is_shown_again_without_running_anything(tmp_path: Path) -> None:
    folder = synthetic.write_seven(tmp_path, "trusting")
    ended = lab("report", str(folder), cwd=tmp_path)
    assert ended.code == 0 and f"page: {folder / 'page.html'}" in ended.out
    page = (folder / "page.html").read_text()
    assert page.count('<details class="evidence"') == 7
    assert list(tmp_path.glob("*/records.jsonl")) == [folder / "records.jsonl"]


def test_two_runs_are_compared(tmp_path: Path) -> None:
    folders = [synthetic.write_seven(tmp_path, posture) for posture in ("trusting", "enforcing")]
    ended = lab("report", *map(str, folders), "--page", "both.html", "--json", cwd=tmp_path)
    assert ended.code == 0 and list(ended.json["summary"]) == ["trusting", "enforcing"]
    page = (tmp_path / "both.html").read_text()
    assert page.count('<details class="evidence"') == 14 and ">disagreement<" in page


def test_two_runs_of_the_same_pairs_have_links_of_their_own(tmp_path: Path) -> None:
    first = synthetic.write_seven(tmp_path, "trusting")
    second = synthetic.write_seven(tmp_path / "later", "trusting")
    ended = lab("report", str(first), str(second), "--page", "upgrade.html", cwd=tmp_path)
    assert ended.code == 0
    page = (tmp_path / "upgrade.html").read_text()
    for side in ("before", "after"):
        assert page.count(f'id="c-{side}-') == 7
        assert page.count(f'href="#c-{side}-cedar@0.9_dash_') >= 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-p", "url=x"), "-p is for a notebook, and none is named: add --notebook NAME"),
        (("--notebook", "vendor", "--only", "x"), "--only is for a matrix; with --notebook give what the notebook"),
        (("runs/one", "--notebook", "vendor"), "a notebook is executed, a run is shown; name one of the two"),
        (("runs/one", "--attempts", "2"), "--attempts says how to run, and a recorded RUN is shown as it was"),
        (("runs/one",), "runs/one holds no records.jsonl"),
        (("runs/one", "runs/two", "runs/three"), "report takes one run, or two to compare; 3 were named"),
        (("--transport-timeout", "0"), "--transport-timeout 0: expected a positive number of seconds"),
        (("--transport-timeout", "nan"), "--transport-timeout nan: expected a positive number of seconds"),
    ],
)
def test_what_does_not_go_together_is_refused_with_what_to_do(
    tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    ended = lab("report", *arguments, cwd=tmp_path)
    assert ended.code == 2 and told in ended.err
    assert not list(tmp_path.rglob("*.html"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        (("-p", "url=http://127.0.0.1:9"), 2, "unreachable, advisory\npage: "),
        ((), 2, "url is not given, and this notebook cannot do without: give it with -p url=https://agent.example"),
    ],
    ids=["nobody there", "no url"],
)
def test_the_page_of_one_agent_ends_as_check_does(tmp_path: Path, given: tuple[str, ...], code: int, told: str) -> None:
    ended = lab("report", "--notebook", "vendor", *given, cwd=tmp_path)
    assert ended.code == code and told in ended.out + ended.err


def test_the_live_line_says_how_far_and_what_is_waited_for() -> None:
    key = "cedar@0.9/dash/JSONRPC/1.0/default/trusting/1"
    half, done = Standing(done=6, planned=7, waiting=key), Standing(done=7, planned=7)
    assert standing({"trusting": half, "enforcing": done}, "") == (
        "enforcing 7/7, trusting 6/7; waiting for cedar × dash"
    )
    assert standing({"mixed": half}, "a2a-js-1.3: npm ci") == "6 of 7 cells; a2a-js-1.3: npm ci"
    assert standing({"mixed": done}, "") == "7 of 7 cells; writing the page"
    assert standing({}, "") == "starting: nothing is recorded yet"


def test_where_nobody_watches_nothing_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "stderr").open("w") as file:
        monkeypatch.setattr(show, "err", Console(file=file, highlight=False))
        with show.live("working") as tell:
            tell("still working")
    assert (tmp_path / "stderr").read_text() == ""


def test_the_live_line_stays_on_one_line_and_shows_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "stderr").open("w") as file:
        monkeypatch.setattr(show, "err", Console(file=file, force_terminal=True, width=80, highlight=False))
        with show.live("a" * 200) as tell:
            tell("7 of 7 [bold]cells[/]; waiting for \x1b[31m" + "b" * 200)
    said = (tmp_path / "stderr").read_text()
    assert "0:00:00" in said and "7 of 7 [bold]cells[/]" in said and "\x1b[31m" not in said
