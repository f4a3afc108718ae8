"""`reproduce` (issue 3, item 6): a folder with the finding in plain words, the evidence, a case of it, and a script on
httpx alone that shows the fault against the replay and does not see it at an agent that is right. No secret in it.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.judge.offline import Judgement
from a2a_lab.lab.api import run_matrix
from a2a_lab.lab.cases import judge_file
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pair_recall import Beside, write_beside
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.recordings import read_recording
from a2a_lab.lab.records import CellKey, CellRecord, Header, Run, RunWriter, evidence_path, read_run
from a2a_lab.lab.replay import Replay, Served
from a2a_lab.lab.reproduce import Reproducer, chosen, find_cell, reproduce
from a2a_lab.lab.runmatrix import keep_matrix
from a2a_lab.net.evidence import write_har
from a2a_lab.net.redact import Redactor
from a2a_lab.verdicts import CATALOGUE, Findings, Verdict
from a2a_lab.wire.exchange import Exchange
from tests.cli.console import lab
from tests.vendors.bench import Bench

FAULTS = (
    *("card-is-html", "unsigned", "version-prerelease", "rotates-modes", "undeclared-output", "general-error"),
    *("foreign-rpc-id", "result-and-error", "ndjson", "never-final", "single-event", "eof", "truncated", "resets"),
    *("stays-open", "foreign-task", "answers-early"),
)
Ended = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cells of both postures: faults of every stage, and an agent that is right."""
    only = ", ".join(f"{name}@" for name in (*FAULTS, "honest"))
    return run_matrix("faults", posture="both", only=only, out=str(tmp_path_factory.mktemp("runs")))


def key_of(run: Path, agent: str, posture: str = "enforcing") -> str:
    return next(str(one.key) for one in read_run(run).cells if (one.key.agent, one.key.posture) == (agent, posture))


def tried(folder: Path, url: str) -> Ended:
    command = [sys.executable, str(folder / "reproduce.py"), url]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def tried_on_replay(folder: Path) -> tuple[Ended, list[Served]]:
    """Run the script against the replay of the folder's own case, as its README says."""

    async def run() -> tuple[Ended, list[Served]]:
        async with Replay(read_recording(folder / "case.json").exchanges) as running:
            return await asyncio.to_thread(tried, folder, running.url), running.served

    return asyncio.run(run())


def made_of(run: Path, out: Path, posture: str) -> list[Reproducer]:
    """A folder for each cell of one posture that broke."""
    made = []
    for cell in read_run(run).cells:
        if cell.key.posture == posture and cell.key.agent != "honest":
            try:
                made.append(reproduce(run, str(cell.key), out=out / cell.key.agent))
            except Misuse as nothing:
                assert "nothing in it broke" in nothing.message
    return made


@pytest.mark.slow
class TestFolders:
    """Folders made from a real run."""

    @pytest.mark.parametrize("posture", ["trusting", "enforcing"])
    def test_script_shows_the_fault_on_the_replay_and_not_at_an_honest_agent(
        self, ran: Path, tmp_path: Path, posture: str, bench: Bench
    ) -> None:
        made = made_of(ran, tmp_path, posture)
        assert len(made) >= 12
        for one in made:
            shown, served = tried_on_replay(one.folder)
            assert shown.returncode == 1 and "FAULT SEEN" in shown.stdout, (one.cell, shown.stdout, shown.stderr)
            assert all(request.matched for request in served)
            healed = tried(one.folder, bench.agent(signed_by="lab").running.url)
            assert healed.returncode == 0 and "NOT SEEN" in healed.stdout, (one.cell, healed.stdout, healed.stderr)

    @pytest.mark.parametrize("bodies", [False, True])
    def test_case_is_judged_as_the_cell_was(self, ran: Path, tmp_path: Path, bodies: bool) -> None:
        for number, cell in enumerate(read_run(ran).cells):
            if cell.verdict is Verdict.ACCEPT:
                continue
            made = reproduce(ran, str(cell.key), out=tmp_path / str(number), bodies=bodies)
            (judged,) = judge_file(made.folder / "case.json")
            assert made.differs == () and judged.met is True
            assert judged.judgement.findings.verdict is cell.verdict

    def test_parts_are_hidden_unless_they_are_asked_for(self, ran: Path, tmp_path: Path) -> None:
        cell = key_of(ran, "eof", "trusting")
        hidden, open_ = reproduce(ran, cell, out=tmp_path / "a"), reproduce(ran, cell, out=tmp_path / "b", bodies=True)
        payload = re.compile(rb"canary-[0-9a-f]{16}")
        assert not any(payload.search((hidden.folder / file).read_bytes()) for file in hidden.files)
        assert payload.search((open_.folder / "case.json").read_bytes())
        assert re.search(rb"\[text, \d+ bytes, #[0-9a-f]{8}\]", (hidden.folder / "evidence.har").read_bytes())

    @pytest.mark.parametrize("bodies", [False, True])
    def test_no_secret_is_in_it_even_where_one_was_stored(self, ran: Path, tmp_path: Path, bodies: bool) -> None:
        """Evidence of another tool, or of an earlier version, may hold what ours no longer stores."""
        run, secret = shutil.copytree(ran, tmp_path / ran.name), "s3cr3t-0123456789"
        cell = next(one for one in read_run(run).cells if one.key.agent == "general-error")
        assert cell.evidence is not None
        har = json.loads((run / cell.evidence).read_text())
        for entry in har["log"]["entries"]:
            entry["request"]["headers"] += [
                {"name": "Authorization", "value": f"Bearer {secret}"},
                {"name": "Cookie", "value": f"sid={secret}"},
            ]
            entry["response"]["headers"].append({"name": "Set-Cookie", "value": f"sid={secret}"})
        last = har["log"]["entries"][-1]["request"]
        last["url"] += f"?api_key={secret}"
        last["postData"]["text"] = last["postData"]["text"].replace('"params":{', f'"params":{{"token":"{secret}",')
        (run / cell.evidence).write_text(json.dumps(har))
        made = reproduce(run, str(cell.key), out=tmp_path / "out", bodies=bodies)
        assert not any(secret.encode() in (made.folder / file).read_bytes() for file in made.files)

    def test_script_needs_httpx_alone_and_says_so(self, ran: Path, tmp_path: Path) -> None:
        made = reproduce(ran, key_of(ran, "never-final"), out=tmp_path)
        text = (made.folder / "reproduce.py").read_text()
        tree = ast.parse(text)
        named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        named |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert {name.split(".")[0] for name in named} - set(sys.stdlib_module_names) == {"httpx"}
        assert text.startswith("# /// script\n") and '# dependencies = ["httpx>=0.28"]' in text

    def test_script_says_when_it_cannot_tell(self, ran: Path, tmp_path: Path) -> None:
        made = reproduce(ran, key_of(ran, "eof"), out=tmp_path)
        done = tried(made.folder, "http://127.0.0.1:9")
        assert done.returncode == 2 and "CANNOT TELL" in done.stdout

    def test_readme_says_what_was_seen_and_whose_rule_it_broke(self, ran: Path, tmp_path: Path) -> None:
        made = reproduce(ran, key_of(ran, "single-event"), out=tmp_path)
        text = (made.folder / "README.md").read_text()
        assert made.finding.slug == "stream-without-artifact"
        for said in (
            CATALOGUE[made.finding.slug].means,
            made.finding.detail,
            made.finding.rule,
            "reproduce.py",
            "replay",
        ):
            assert said in text

    def test_words_of_a_peer_are_no_markup_and_no_code(self, ran: Path, tmp_path: Path) -> None:
        run = shutil.copytree(ran, tmp_path / ran.name)
        cell = next(one for one in read_run(run).cells if str(one.key) == key_of(ran, "general-error"))
        assert cell.evidence is not None
        hostile = '\\"\\"\\"); import os #</code>`<script>alert(1)</script>\\u202e'
        har = (run / cell.evidence).read_text()
        found = re.search(r'\\"message\\":\\"([^"\\]+)\\"', har)
        assert found is not None
        spelt = json.dumps(hostile)[1:-1]
        (run / cell.evidence).write_text(har.replace(found[1], spelt))
        made = reproduce(run, str(cell.key), out=tmp_path / "out")
        text = (made.folder / "README.md").read_text()
        assert all(line.startswith("    ") or "`" in line for line in text.splitlines() if "<script>" in line)
        assert "\u202e" not in text
        assert tried_on_replay(made.folder)[0].returncode == 1

    def test_a_finding_may_be_chosen(self, ran: Path, tmp_path: Path) -> None:
        cell = key_of(ran, "unsigned")
        with pytest.raises(Misuse, match=r"nothing in it broke.*--finding makes one of .*unsigned"):
            reproduce(ran, cell, out=tmp_path)
        made = reproduce(ran, cell, out=tmp_path, finding="unsigned")
        assert made.finding.slug == "unsigned" and tried_on_replay(made.folder)[0].returncode == 1
        with pytest.raises(Misuse, match="has no finding 'nonsense'; it has"):
            reproduce(ran, cell, out=tmp_path, finding="nonsense")

    def test_the_command(self, ran: Path, tmp_path: Path) -> None:
        said = lab("reproduce", str(ran), "eof x watch enforcing", "--out", "made", cwd=tmp_path)
        assert said.code == 0 and "eof-nonterminal" in said.out and (tmp_path / "made" / "README.md").is_file()
        told = lab("reproduce", str(ran), "eof x watch enforcing", "--json", cwd=tmp_path).json
        assert told["finding"]["slug"] == "eof-nonterminal" and (tmp_path / told["folder"] / "case.json").is_file()

    def test_the_command_that_a_page_shows_works_where_runs_are_made(self, ran: Path, tmp_path: Path) -> None:
        """Measured: a page names a run by its id, and the command failed outside of the folder of runs."""
        (tmp_path / "runs").mkdir()
        (tmp_path / "runs" / ran.name).symlink_to(ran)
        for command in (("reproduce", ran.name, "eof x watch enforcing", "--out", "made"), ("compare", ran.name)):
            last = (ran.name,) if command[0] == "compare" else ()
            assert lab(*command, *last, cwd=tmp_path).code == 0, command
        assert lab("judge", ran.name, cwd=tmp_path).code == 0
        assert lab("report", ran.name, "--page", "again.html", cwd=tmp_path).code in (0, 1)
        assert (tmp_path / "again.html").is_file()

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (("nowhere", "eof"), "holds no records.jsonl"),
            (("RUN", "eof x watch"), "2 cells fit 'eof x watch'; say which: eof@1.4/watch"),
            (("RUN", "never-there"), "no cell of this run fits 'never-there'; there are honest@"),
            (("RUN", "eof x wacth enforcing"), "fits 'eof x wacth enforcing'; did you mean eof@1.4/watch/JSONRPC/1.0/"),
            (
                ("RUN", "eof@1.4/watch/JSONRPC/1.0/faults/enforcin/1"),
                "did you mean eof@1.4/watch/JSONRPC/1.0/faults/enf",
            ),
            (("RUN", "honest x watch enforcing"), "nothing in it broke"),
            (("RUN", "eof x watch enforcing", "--out", "file/below"), "cannot write into file/below"),
        ],
    )
    def test_what_cannot_be_made_is_one_sentence(
        self, ran: Path, tmp_path: Path, arguments: tuple[str, ...], says: str
    ) -> None:
        (tmp_path / "file").write_text("")
        said = lab("reproduce", *(str(ran) if one == "RUN" else one for one in arguments), cwd=tmp_path)
        assert said.code == 2 and says in said.err and len(said.err.splitlines()) == 1


# -- without a run


def stored(key: str, verdict: Verdict = Verdict.HANG) -> CellRecord:
    return CellRecord(key=CellKey.parse(key), verdict=verdict, authority="advisory")


CELLS = tuple(
    stored(f"{agent}@1.0/{consumer}/JSONRPC/1.0/default/{posture}/1")
    for agent, consumer in (("alder", "notes"), ("alder", "notes-long"), ("birch", "notes"))
    for posture in ("trusting", "enforcing")
)
RUN = Run(
    folder=Path("runs/x"),
    header=Header(run="x", tool="", posture="mixed", matrix="m", plan=(), started=""),
    cells=CELLS,
    footer=None,
)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (str(CELLS[0].key), 0),
        ("alder@1.0/notes/JSONRPC/1.0/default/enforcing", 1),
        ("notes-long/JSONRPC/1.0/default/trusting", 2),
        ("alder x notes trusting", 0),
        ("birch × notes enforcing", 5),
        ("enforcing notes alder@1.0", 1),
    ],
)
def test_a_cell_is_named_by_key_part_or_pair(text: str, place: int) -> None:
    assert find_cell(RUN, text) is CELLS[place]


@pytest.mark.parametrize(
    ("text", "says"), [("alder", "4 cells fit"), ("alder x notes", "2 cells fit"), ("", "no cell")]
)
def test_a_name_that_fits_several_or_none_says_which_there_are(text: str, says: str) -> None:
    with pytest.raises(Misuse, match=says) as refused:
        find_cell(RUN, text)
    assert "alder@1.0/notes/JSONRPC" in refused.value.message


def judged(*slugs: str) -> Judgement:
    found = Findings()
    found.add(*(CATALOGUE[slug]() for slug in slugs))
    return Judgement(findings=found)


@pytest.mark.parametrize(
    ("slugs", "main"),
    [
        (("orphaned-task", "idle-hang"), "idle-hang"),
        (("idle-hang", "eof-nonterminal"), "eof-nonterminal"),
        (("not-committed", "probe-refused"), "probe-refused"),
        (("unsigned", "mode-narrowed"), "mode-narrowed"),
        (("orphaned-task", "payload-refused"), "orphaned-task"),
    ],
)
def test_the_finding_is_the_one_that_a_vendor_can_act_on(slugs: tuple[str, ...], main: str) -> None:
    assert chosen(judged(*slugs), CELLS[0], "")[0].slug == main


def test_notes_are_no_faults() -> None:
    with pytest.raises(Misuse, match="no fault to show"):
        chosen(judged("signature-verified", "union-card"), CELLS[0], "")


# -- cells whose consumer was somebody else's

VENDORS = """
[vendors.agents."a2a-sdk-1.3"]
[vendors.consumers."a2a-sdk-1.3"]
"""
AGENT = "http://127.0.0.1:9"
CARD = {
    "name": "x",
    "description": "x",
    "version": "1",
    "capabilities": {},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [],
    "supportedInterfaces": [{"url": f"{AGENT}/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
}


def watched(folder: Path, answer: dict[str, object]) -> tuple[Path, str]:
    """A run of one watched cell: the lab's look at the card, then one call of the consumer and this answer to it."""
    matrix = Matrix.parse(VENDORS, name="two", where="two.toml")
    key = str(plan_pairs(matrix)[0].key)
    header = Header(run="r", tool="a2a-lab", posture="foreign", matrix="two", plan=(key,), started=STARTED)
    message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, **answer}).encode()
    told = {"status": 200, "response_headers": [("Content-Type", "application/json")]}
    card = f"{AGENT}/.well-known/agent-card.json"
    look = Exchange(method="GET", url=card, purpose="card:hint", body=json.dumps(CARD).encode(), **told)  # type: ignore[arg-type]
    sent = [("Content-Type", "application/json"), ("A2A-Version", "1.0")]
    asked = Exchange(
        method="POST",
        url=f"{AGENT}/rpc",
        request_headers=sent,
        request_body=json.dumps(call).encode(),
        body=body,
        started_ms=5,
        ended_ms=6,
        **told,  # type: ignore[arg-type]
    )
    with RunWriter(folder, header) as writer:
        keep_matrix(folder, matrix)
        path = folder / evidence_path(key)
        write_har(path, [look, asked], started=datetime.now(UTC), tool="a2a-lab 0", redactor=Redactor())
        write_beside(path, Beside(address=AGENT, own_card_url=card), Redactor())
        record = stored(key, Verdict.CONFORMANCE_ERROR)
        writer.append(replace(record, evidence=evidence_path(key), started=STARTED))
        writer.close(ended=STARTED)
    return folder, key


STARTED = "2026-11-30T12:00:00.000Z"


def test_what_an_agent_did_under_anybodys_client_can_be_shown(tmp_path: Path) -> None:
    broken: dict[str, object] = {"result": {"task": {"id": "t", "contextId": "c", "status": {"state": 3}}}}
    run, key = watched(tmp_path / "run", broken)
    made = reproduce(run, key, out=tmp_path / "out")
    assert made.finding.slug == "enum-number" and made.differs == ()
    assert tried_on_replay(made.folder)[0].returncode == 1


def test_a_refusal_of_anybodys_client_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    run, key = watched(tmp_path / "run", {"error": {"code": -32602, "message": "no"}})
    with pytest.raises(Misuse, match="nothing in it was the agent's fault"):
        reproduce(run, key, out=tmp_path / "out")
