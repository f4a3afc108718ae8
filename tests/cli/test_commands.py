"""The command line: exit codes of R39, one JSON document for programs, one sentence for whatever goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from a2a_lab.lab.api import run_matrix
from a2a_lab.tabulate import summary
from tests.cli.console import Said, lab, process
from tests.lab.plain import agent, card, serving
from tests.vendors.bench import Bench

ENFORCING = {"posture": "enforcing", "only": "alder"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Finished runs by what they are: alder as it was, another occupant in its place, and other pairs."""
    out = str(tmp_path_factory.mktemp("runs"))
    return {
        "before": str(run_matrix("seven-pairs", out=out, **ENFORCING)),
        "after": str(run_matrix("seven-pairs", out=out, replaced={"alder": "faults:tampered"}, **ENFORCING)),
        "others": str(run_matrix("seven-pairs", posture="enforcing", only="birch@2.3/records", out=out)),
    }


def sentence(said: Said) -> str:
    """The one sentence on standard error; nothing on standard output, no traceback."""
    assert said.out == "" and said.err.startswith("a2a-lab: ") and said.err.count("\n") == 1, said.err
    return said.err.removeprefix("a2a-lab: ").rstrip("\n")


# ---- what each says for programs -------------------------------------------------------------------------------------


def test_it_is_a_program_and_says_what_it_can_do(tmp_path: Path) -> None:
    assert process("--version", cwd=tmp_path).out.startswith("a2a-lab ")
    mistaken = process("plan", "seven-pears", cwd=tmp_path)
    assert mistaken.code == 2 and "did you mean 'seven-pairs'?" in sentence(mistaken)
    told = lab("--help", cwd=tmp_path)
    for name in ("report", "run", "plan", "compare", "check", "ledger", "notebooks"):
        assert f"\n  {name} " in told.out
    for name in ("report", "run", "plan", "compare", "check", "notebooks"):
        assert lab(name, "--help", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "--transport-timeout", "0"), "--transport-timeout 0: expected a positive number of seconds"),
        (("report", "--transport-timeout", "nan"), "--transport-timeout nan: expected a positive number of seconds"),
        (("run", "--transport-timeout", "-1"), "transport timeout -1.0: expected a positive number of seconds"),
        (
            ("check", "http://127.0.0.1:9", "--allow-origin", "http://["),
            "--allow-origin 'http://[': expected an origin",
        ),
        (("check", "http://127.0.0.1:9", "--extension", "ünï"), "--extension 'ünï': expected a URI in ASCII"),
        (("check", "http://127.0.0.1:9", "--bearer-env", "ACCENT"), "'ACCENT', the bearer token: character 2 of 4"),
        (("check", "http://127.0.0.1:9", "--text", "\udcff"), "--text '\\udcff': expected text in UTF-8"),
        (("check", "nowhere.toml"), "nowhere.toml: cannot be read: No such file or directory; expected a vendor file"),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, tuple) else None,
)
def test_what_cannot_be_right_is_a_sentence_and_exit_code_2(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    """Measured: each of these was a traceback (exit code 3), or was taken for something else."""
    told = lab(*arguments, cwd=tmp_path, ACCENT="pässword"[:4])
    assert told.code == 2 and said in sentence(told)
    assert not list(tmp_path.rglob("*.har"))


def test_bytes_that_are_no_utf_8_are_refused_by_the_program_itself(tmp_path: Path) -> None:
    told = process("check", "http://127.0.0.1:9", "--text", "\udcff", cwd=tmp_path)
    assert told.code == 2 and "--text '\\udcff': expected text in UTF-8" in sentence(told)


def test_plan_lists_cells_and_runs_nothing(tmp_path: Path) -> None:
    told = lab("plan", "seven-pairs", "--only", "dash", "--json", cwd=tmp_path).json
    assert list(told) == ["matrix", "cells"] and told["matrix"] == "seven-pairs"
    assert told["cells"] == [
        f"{agent}/dash/JSONRPC/1.0/default/{posture}/1"
        for posture in ("trusting", "enforcing")
        for agent in ("birch@2.3", "cedar@0.9")
    ]
    assert "4 cells; nothing was run" in lab("plan", "seven-pairs", "--only", "dash", cwd=tmp_path).out
    assert list(tmp_path.iterdir()) == []


def test_run_says_where_its_records_are_and_what_they_come_to(tmp_path: Path) -> None:
    arguments = ("run", "seven-pairs", "--posture", "enforcing", "--only", "alder")
    told = lab(*arguments, "--json", cwd=tmp_path).json
    assert list(told) == ["run", "summary", "complete", "missing"]
    assert (tmp_path / told["run"] / "records.jsonl").is_file()
    assert told["summary"]["pairs"] == 2 and told["summary"]["delivered"] == 2
    shown = lab(*arguments, cwd=tmp_path)
    assert shown.code == 0 and "alder x notes" in shown.out and "done in text/plain" in shown.out
    assert shown.err == "", "progress belongs to a terminal alone"


def test_compare_ends_with_1_where_something_works_no_longer(runs: dict[str, str], tmp_path: Path) -> None:
    """R36: joined by names, so that another version of a vendor lines up with the earlier one."""
    said = lab("compare", runs["before"], runs["after"], "--json", cwd=tmp_path)
    assert said.code == 1 and said.json["counts"]["newly failing"] == 2
    assert said.json["vendors"][0] == "alder 1.0 → 1.4"
    assert "signature-fails" in lab("compare", runs["before"], runs["after"], cwd=tmp_path).out
    assert lab("compare", runs["after"], runs["before"], cwd=tmp_path).code == 0
    same = lab("compare", runs["before"], runs["before"], cwd=tmp_path)
    assert same.code == 0 and "0 newly failing, 0 changed in all, 2 as before" in same.out


def test_check_ends_with_the_codes_of_r39(bench: Bench, tmp_path: Path) -> None:
    good = lab("check", bench.agent().running.url, "--json", cwd=tmp_path)
    assert good.code == 0 and list(good.json) == [
        "target",
        "verdict",
        "authority",
        "stages",
        "measures",
        "evidence",
    ]
    assert (tmp_path / good.json["evidence"]).is_file()
    refused = lab("check", bench.agent("card-not-found").running.url, "--json", cwd=tmp_path)
    assert (refused.code, refused.json["verdict"]) == (1, "refuse")
    for url, verdict in (
        (bench.agent("card-needs-login").running.url, "auth-needed"),
        ("http://127.0.0.1:9", "unreachable"),
    ):
        said = lab("check", url, "--json", cwd=tmp_path)
        assert (said.code, said.json["verdict"]) == (2, verdict)
    (tmp_path / "blocked").mkdir()
    (tmp_path / "blocked" / "checks").write_text("")
    assert lab("check", bench.agent().running.url, "--out", "blocked", cwd=tmp_path).code == 3


def test_check_tells_a_person_what_it_found_and_what_sending_would_do(bench: Bench, tmp_path: Path) -> None:
    one = bench.agent(signed_by="lab")
    told = lab("check", one.running.url, cwd=tmp_path).out
    for words in (
        f"target    {one.running.url}/rpc (JSONRPC 1.0)",
        "verdict   accept",
        "authority advisory because of untrusted-key",
        "a 1.0 client calls SendMessage at",
        "a 0.3 client ",
        "--send would start up to 2 agent runs",
        "requests; evidence: ",
    ):
        assert words in told
    sent = lab("check", one.running.url, "--send", cwd=tmp_path).out
    assert "outcome   done in text/plain" in sent and "--send would" not in sent


def test_every_option_of_the_issue_is_understood(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text('{"keys": []}')
    document = card("http://agent.example/rpc", capabilities={"streaming": True})
    with serving(agent(lambda _: document)) as server:
        said = lab(
            "check",
            "http://agent.example",
            *("--connect-to", f"agent.example:80={server.url.removeprefix('http://')}"),
            *("--allow-http", "agent.example", "--trust", str(keys), "--signature-policy", "prefer"),
            *("--require", "streaming", "--mode", "text/plain", "--text", "Say yes.", "--skill", "echo"),
            *("--tenant", "acme", "--tenant-by", "header:X-Team", "--topology", "direct"),
            *("--card-url", "http://agent.example/.well-known/agent-card.json", "--header-env", "X-Key=MY_KEY"),
            *("--silence", "2", "--hang", "4", "--total", "8", "--json"),
            cwd=tmp_path,
            MY_KEY="k-123456",
        )
    assert (said.code, said.json["verdict"]) == (0, "accept"), said.out
    assert {(one.headers["host"], one.headers["x-team"], one.headers["x-key"]) for one in server.asked} == {
        ("agent.example", "acme", "k-123456")
    }


def test_hostile_names_are_shown_and_not_obeyed(bench: Bench, tmp_path: Path) -> None:
    """DESIGN 9: control characters of a card reach no terminal, and markup stays text."""
    told = lab("check", bench.agent("script-card-name").running.url, cwd=tmp_path).out
    assert "<script>alert(1)</script>" in told
    assert not [letter for letter in told if ord(letter) < 32 and letter != "\n"] and "\u202e" not in told


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("plan", "seven-pears"), "did you mean 'seven-pairs'?"),
        (("plan", "seven-pairs", "--only", "nobody"), "nothing to run: --only 'nobody' matches no cell of seven-pairs"),
        (("plan", "seven-pairs", "--must-include", "alda"), "did you mean 'alder'?"),
        (("plan", "seven-pairs", "--replace", "alder"), "expected NAME=OTHER or NAME=MATRIX:OTHER"),
        (("plan", "seven-pairs", "--posture", "bold"), "expected trusting or enforcing"),
        (("run", "seven-pairs", "--transport-timeout", "nan"), "expected a positive number of seconds"),
        (("run", "seven-pairs", "--out", "taken"), "Name a writable folder"),
        (("run", "--resume", "nowhere"), "nowhere holds no records.jsonl; name the folder of a run"),
        (("report", "--matrix", "nowhere"), "no bundled data/matrices is called 'nowhere'"),
        (("report", "--fail-on", "anything"), "expected spec, policy, hang or orphan"),
        (("report", "--out", "taken"), "Name a writable folder with --out"),
        (("report", "--page", "taken/page.html"), "cannot write the page taken/page.html"),
        (("report", "--page", "."), "cannot write the page .: Is a directory. Name a writable file"),
        (("check", "agent.example"), "expected a URL such as https://agent.example"),
        (("check", "http://127.0.0.1:9", "--trust", "taken"), "expected a JWK set"),
        (("check", "http://127.0.0.1:9", "--header-env", "X-Key=NOT_THERE_AT_ALL"), "'NOT_THERE_AT_ALL' is not set"),
        (("check", "http://127.0.0.1:9", "--out", "taken"), "not usable as ledger"),
        (("notebooks", "taken", "--copy-only"), "name another folder"),
        (("ledger", "orphans", "--out", "taken"), "there is no ledger"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, tuple) else "",
)
def test_a_mistake_is_one_sentence_and_code_2(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    (tmp_path / "taken").write_text("")
    said = lab(*arguments, cwd=tmp_path)
    assert said.code == 2 and told in sentence(said)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("check", "http://127.0.0.1:9", "--sent"), "--send"),
        (("chekc",), "Did you mean 'check'?"),
        (("run", "--transport-timeout", "soon"), "Invalid value for '--transport-timeout'"),
        (("compare", "one"), "name a second one, or --baseline measured"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_is_no_command_says_what_was_meant(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    said = lab(*arguments, cwd=tmp_path)
    assert said.code == 2 and told in said.err and said.out == ""


def test_runs_of_other_pairs_cannot_be_compared(runs: dict[str, str], tmp_path: Path) -> None:
    said = lab("compare", runs["before"], runs["others"], cwd=tmp_path)
    assert said.code == 2 and "have no pair in common; expected at least one agent and consumer" in sentence(said)


def test_a_matrix_that_names_a_vendor_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('pairs = [["oak", "note"]]\n[agents.oak]\nversion = "1"\n[consumers.notes]\n')
    said = lab("run", "mine.toml", cwd=tmp_path)
    assert said.code == 2 and "mine.toml.pairs[0]: no consumer is called 'note'; did you mean 'notes'" in sentence(said)
    assert not (tmp_path / "runs").exists()


def test_a_cut_records_file_is_named_with_what_to_do(runs: dict[str, str], tmp_path: Path) -> None:
    """Nothing half-written is taken for whole: it compares only with a word about what is missing."""
    cut = tmp_path / "cut"
    cut.mkdir()
    lines = (Path(runs["before"]) / "records.jsonl").read_text().splitlines(keepends=True)
    (cut / "records.jsonl").write_text("".join(lines[:2]) + lines[2][:40])
    said = lab("compare", runs["before"], str(cut), cwd=tmp_path)
    assert said.code == 0 and "not every pair of the first run was graded again" in said.out
    (cut / "records.jsonl").write_text(lines[0] + "garbage\n" + lines[1])
    assert "line 2" in sentence(lab("compare", runs["before"], str(cut), cwd=tmp_path))


def test_notebooks_are_copied_and_never_written_over(tmp_path: Path) -> None:
    assert lab("notebooks", "mine", "--copy-only", cwd=tmp_path).code == 0
    mine = tmp_path / "mine" / "matrix.ipynb"
    mine.write_text("changed by somebody")
    assert lab("notebooks", "mine", "--copy-only", cwd=tmp_path).code == 0
    assert mine.read_text() == "changed by somebody"


def test_a_defect_of_ours_is_never_taken_for_a_vendors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R39: code 1 says something about an agent, so that a traceback must end otherwise."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("a2a_lab.lab.api.check_agent", broken)
    said = lab("check", "http://127.0.0.1:9", cwd=tmp_path)
    assert said.code == 3 and "Traceback" in said.err


# ---- the main job ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_report_says_page_runs_and_summary_and_fails_where_it_is_told_to(tmp_path: Path) -> None:
    """Show 4 as well: every agent of it hangs, and the page is written all the same."""
    matrix = tmp_path / "hangs.toml"
    matrix.write_text(
        'pairs = [["one", "watch"], ["two", "watch"]]\n'
        "[clocks]\nsilence_s = 0.4\nhang_s = 0.8\ntotal_s = 2.0\ntransport_timeout_s = 1.2\ncap_s = 2.5\n"
        '[consumers.watch]\nstream = true\nrequires = ["streaming"]\n'
        '[agents.one]\nversion = "1"\nmisbehaviours = [{ name = "never-final" }]\n'
        '[agents.two]\nversion = "1"\nmisbehaviours = [{ name = "never-final", pings = true }]\n'
    )
    said = process(
        "report", "--matrix", "hangs.toml", "--page", "page.html", "--fail-on", "hang", "--json", cwd=tmp_path
    )
    assert said.code == 1, said.err
    assert list(said.json) == ["page", "runs", "summary", "complete", "missing"]
    assert list(said.json["runs"]) == list(said.json["summary"]) == ["trusting", "enforcing"]
    assert said.json["summary"]["trusting"]["pairs_with_hangs"] == 2
    assert said.json["summary"]["enforcing"]["hangs"] == 0
    assert said.json["summary"]["enforcing"]["errors"].keys() >= {"idle-hang", "live-hang"}
    from a2a_lab.lab.records import read_run

    for posture, folder in said.json["runs"].items():
        assert summary(read_run(tmp_path / folder)) == said.json["summary"][posture]
    page = (tmp_path / said.json["page"]).read_text(encoding="utf-8")
    assert "live-hang" in page and "idle-hang" in page
