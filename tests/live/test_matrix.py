"""A matrix with agents that are not ours: planned, held to tiers and budgets, run and judged (issue 4, item 6; R37)."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from a2a_lab.errors import Misuse
from a2a_lab.lab.api import resume_run, run_matrix
from a2a_lab.lab.costs import Cost, runs_of, worst_case
from a2a_lab.lab.live_plan import LivePlan, live_plans
from a2a_lab.lab.loop import run_sync
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pair_run import run_pairs
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.lab.records import CellRecord, Run, read_run
from a2a_lab.lab.rejudge import rejudge
from a2a_lab.lab.run import LEDGER
from a2a_lab.ledger import Ledger
from a2a_lab.net.evidence import read_har
from tests.cli.console import lab
from tests.lab.plain import CARD, Asked, Says, Server, agent, card, completed, says_json, serving
from tests.live.servers import Door, both, oauth, vendor_file

SEND = "allow_send = true"
ALL = "allow_send = true\nallow_trusting = true"


def matrix(folder: Path, *consumers: str, scenarios: str = '["send"]', name: str = "helpdesk") -> Path:
    lines = ["[vendors]", f"scenarios = {scenarios}", f'[vendors.agents.{name}]\nagent = "{name}.toml"']
    lines += [f"[vendors.consumers.{one}]" for one in consumers or ("enforcing",)]
    path = folder / "matrix.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def planned(folder: Path, *consumers: str, **more: Any) -> LivePlan:
    (plan,) = live_plans(plan_pairs(Matrix.load(matrix(folder, *consumers, **more))))
    return plan


def run(folder: Path, *consumers: str, **more: Any) -> Run:
    path = matrix(folder, *consumers, **more)
    return read_run(run_matrix(str(path), posture="both", out=str(folder / "runs")))


def posts(server: Server) -> list[Asked]:
    return [asked for asked in server.asked if asked.method == "POST"]


def messages(server: Server) -> list[Asked]:
    return [asked for asked in posts(server) if b"SendMessage" in asked.body]


# ---- naming a file ---------------------------------------------------------------------------------------------------


def test_a_matrix_names_a_file_beside_it_or_one_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "vendors").mkdir()
    vendor_file(tmp_path / "vendors", "https://other.example", name="other.toml")
    vendor_file(tmp_path, "https://agent.example")
    monkeypatch.chdir(tmp_path)
    text = '[vendors.agents.desk]\nagent = "helpdesk.toml"\n[vendors.agents.other]\n[vendors.consumers.enforcing]\n'
    (tmp_path / "m.toml").write_text(text)
    found = Matrix.load(tmp_path / "m.toml").pairings
    assert found is not None
    assert {name: entry.live.address for name, entry in found.agents.items() if entry.live} == {
        "desk": "https://agent.example",
        "other": "https://other.example",
    }


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('reach = "lives"', r"helpdesk.toml.reach: 'lives' is not \"live\""),
        ("rps = 0", r"helpdesk.toml.rps: 0 is not a number of at least 0.01"),
        ('version = "1/2"', r"helpdesk.toml.version: '1/2' is not a name without a slash"),
        ("max_runs = -1", r"helpdesk.toml.max_runs: -1 is not a whole number of at least 0"),
        ('allow_send = "yes"', r"helpdesk.toml.allow_send: 'yes' is not true or false"),
        (
            'tier = "sent"',
            r"helpdesk.toml.tier: 'sent' is not one of 'card', 'task-read', 'send', 'full'; did you mean",
        ),
        ('environment = "production"', r"helpdesk.toml.environment: 'production' is not one of 'prod', 'staging'"),
        ('dialects = ["1.1"]', r"helpdesk.toml.dialects: .*'1.1'; did you mean '0.1'|'1.1'"),
        ("allow_sent = true", r"helpdesk.toml: unknown key 'allow_sent' \(value True\); did you mean 'allow_send'"),
        ('allow_origin = ["http://["]', r"helpdesk.toml.allow_origin: .*'http://\[' is not an origin or a host"),
        ('tenant_by = "cookie"', r"helpdesk.toml.tenant_by: 'cookie' is not interface, header, path, query"),
        ('tenant_by = "header"', r"helpdesk.toml.tenant: missing; the tenant that tenant_by = 'header' selects"),
        (
            'tenant = "a"\ntenant_by = "header:X Y"',
            r"helpdesk.toml.tenant_by: 'header:X Y' is not header: and the name of",
        ),
        ('tenant = "ä"\ntenant_by = "header"', r"helpdesk.toml.tenant: 'ä' is not a header value: printable ASCII"),
        ('trust = "nowhere.json"', r"helpdesk.toml.trust: .*a JWK set file.*No such file"),
        ("[clocks]\nsilence_s = 500", r"helpdesk.toml.clocks.silence_s: 500 is not at most hang_s \(120\)"),
        ('[auth]\nkind = "basic"', r"helpdesk.toml.auth.kind: 'basic' is not one of 'static', 'oauth2_cc', 'exec'"),
        ('[auth]\nkind = "static"', r"helpdesk.toml.auth.bearer_env: missing; given, or api_key_env"),
        ('[auth]\nkind = "static"\nbearer_env = "ey.J0"', r"auth.bearer_env: .*the name of an environment variable"),
        ('[auth]\nbearer_env = "A"', r"helpdesk.toml.auth.kind: missing; given, or tables \[auth.card\]"),
        ('[auth.cards]\nkind = "static"', r"helpdesk.toml.auth: unknown key 'cards'; did you mean 'card'"),
    ],
)
def test_a_mistake_names_file_key_and_what_was_expected(tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "helpdesk.toml"
    head = "" if lines.startswith("reach") else 'reach = "live"\n'
    path.write_text(f'{head}url = "https://agent.example"\n{lines}\n')
    with pytest.raises(Misuse, match=said):
        Matrix.load(matrix(tmp_path))


def test_a_file_without_an_address_and_one_with_a_password_in_it_are_refused(tmp_path: Path) -> None:
    (tmp_path / "helpdesk.toml").write_text('reach = "live"\n')
    with pytest.raises(Misuse, match=r"helpdesk.toml.url: missing; the URL that its users are given, or card_url"):
        Matrix.load(matrix(tmp_path))
    vendor_file(tmp_path, "https://me:s3cret@agent.example")
    with pytest.raises(Misuse, match=r"a user name stands in the URL") as refused:
        Matrix.load(matrix(tmp_path))
    assert "s3cret" not in str(refused.value)


def test_a_name_that_nobody_has_is_told_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text("[vendors.agents.a2a-sdk-13]\n[vendors.consumers.enforcing]\n")
    with pytest.raises(Misuse, match=r"there is no vendor 'a2a-sdk-13'; did you mean"):
        Matrix.load(tmp_path / "m.toml")


# ---- what it would cost ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "consumers", "cells", "runs", "refused"),
    [
        ("", ("enforcing", "trusting"), 1, 0, "helpdesk.toml has no allow_send = true"),
        (SEND, ("enforcing",), 1, 2, ""),
        (SEND, ("enforcing", "trusting"), 1, 2, "helpdesk.toml has no allow_trusting = true"),
        (ALL, ("enforcing", "trusting"), 2, 3, ""),
        (f'{ALL}\ntier = "full"', ("enforcing",), 1, 3, ""),
        (f'{ALL}\ntier = "card"', ("enforcing", "trusting"), 1, 0, 'tier = "card" in helpdesk.toml sends nothing'),
        (f'{ALL}\nenvironment = "prod"', ("enforcing", "trusting"), 1, 0, "caps the tier at card"),
        (ALL, ("external",), 1, 3, ""),
        (SEND, ("external",), 0, 0, "external, which the lab does not steer, leaves behind what it likes"),
    ],
)
def test_a_plan_says_what_is_sent_and_what_is_refused(
    tmp_path: Path, lines: str, consumers: tuple[str, ...], cells: int, runs: int, refused: str
) -> None:
    vendor_file(tmp_path, "https://agent.example", lines)
    plan = planned(tmp_path, *consumers)
    assert (plan.cells, plan.cost.runs) == (cells, runs)
    assert (refused in plan.refused[0][1]) if refused else plan.refused == ()
    assert bool(plan.cost.leaves) is bool(runs)


def test_a_card_is_read_once_however_many_scenarios_there_are(tmp_path: Path) -> None:
    vendor_file(tmp_path, "https://agent.example")
    cells = plan_pairs(Matrix.load(matrix(tmp_path, scenarios='["send", "stream"]')))
    assert [cell.key.scenario for cell in cells] == ["card"]


def test_check_and_plan_have_their_numbers_from_one_place(tmp_path: Path) -> None:
    with serving(agent()) as one:
        told = lab("check", str(vendor_file(tmp_path, one.url, SEND)), cwd=tmp_path).out
    assert f"--send would start up to {runs_of('text/plain', control=False)} agent runs" in told
    assert planned(tmp_path).cost.runs == runs_of("text/plain", control=False)


def test_costs_add_up_and_name_each_thing_once() -> None:
    one = Cost(requests=2, runs=1, leaves="a task")
    assert one + one + Cost(requests=1) == Cost(requests=5, runs=2, leaves="a task")


def test_plan_shows_a_person_and_a_program_what_would_happen(tmp_path: Path) -> None:
    """Nothing is sent, no helper is run, and a missing variable is named."""
    helper = f'[auth.card]\nkind = "exec"\ncommand = ["touch", "{tmp_path}/ran"]\n'
    static = '[auth.calls]\nkind = "static"\nbearer_env = "NOT_THERE_AT_ALL"'
    with serving(agent()) as one:
        vendor_file(tmp_path, one.url, f"{SEND}\nmax_runs = 1\n{helper}{static}")
        path = matrix(tmp_path, "enforcing", "trusting")
        told, document = (lab("plan", str(path), *more, cwd=tmp_path) for more in ((), ("--json",)))
    assert one.asked == [] and not (tmp_path / "ran").exists()
    (live,) = document.json["live"]
    assert (live["tier"], live["agent_runs"], live["max_runs"], live["cells"]) == ("send", 2, 1, 1)
    assert live["credentials"] == {"card": "exec touch", "calls": "static"}
    assert live["missing"] == ["NOT_THERE_AT_ALL (helpdesk.toml, auth.calls) is not set"]
    for said in (
        "helpdesk: may leave behind a task that cannot be cancelled",
        "helpdesk: its budget of 1 agent runs may not suffice",
        "helpdesk: 1 cells refused: the trusting consumer leaves behind",
        "helpdesk: missing: NOT_THERE_AT_ALL (helpdesk.toml, auth.calls) is not set; no run begins without it",
    ):
        assert said in told.out
    assert told.code == 0 and "nothing was run" in told.out


@pytest.mark.parametrize("command", ["run", "report"])
def test_no_run_begins_where_a_variable_is_missing(tmp_path: Path, command: str) -> None:
    lines = f'{SEND}\n[auth]\nkind = "static"\nbearer_env = "NOT_THERE_AT_ALL"'
    with serving(agent()) as one:
        vendor_file(tmp_path, one.url, lines)
        path = str(matrix(tmp_path))
        told = lab(command, *(("--matrix", path) if command == "report" else (path,)), cwd=tmp_path)
    assert told.code == 2 and told.err.count("\n") == 1
    assert (
        "credentials are missing, and nothing was sent: NOT_THERE_AT_ALL (helpdesk.toml, auth) is not set" in told.err
    )
    assert one.asked == [] and not (tmp_path / "runs").exists()


# ---- a run -----------------------------------------------------------------------------------------------------------


def test_it_is_met_in_both_postures_and_judged_again_from_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_ID", "lab")
    monkeypatch.setenv("LAB_SECRET", "s3cret-value")
    with both(Door()) as (one, server):
        vendor_file(tmp_path, one.url, f"{ALL}\n{oauth(server.url)}")
        done = run(tmp_path, "enforcing", "trusting")
    assert {str(cell.key): cell.verdict.value for cell in done.cells} == {
        "helpdesk@live/enforcing/JSONRPC/1.0/send/enforcing/1": "accept",
        "helpdesk@live/trusting/JSONRPC/1.0/send/trusting/1": "accept",
    }
    assert done.header.vendors["helpdesk"].reach == "live"
    assert len(server.asked) == 1, "one token for all cells of the run"
    assert "s3cret-value" not in "".join(path.read_text("utf-8", "replace") for path in done.folder.rglob("*.*"))
    (tmp_path / "helpdesk.toml").unlink()
    assert rejudge(done.folder).exit_code == 0, "the run has what it needs"


def test_a_run_judged_again_knows_whom_the_credentials_were_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R5, D8: measured as refused live, and as accepted from the same evidence."""
    monkeypatch.setenv("LAB_TOKEN", "s3cret-value")
    with serving(agent()) as other, serving(agent(lambda _: card(f"{other.url}/rpc"))) as one:
        vendor_file(tmp_path, one.url, ALL, '[auth.calls]\nkind = "static"\nbearer_env = "LAB_TOKEN"')
        done = run(tmp_path, "enforcing")
    (cell,) = done.cells
    assert (cell.verdict.value, cell.because) == ("refuse", ("cross-origin-credentials",)) and not other.asked
    assert rejudge(done.folder).exit_code == 0


def test_where_the_card_lies_and_its_tenant_are_known_to_both_judges(tmp_path: Path) -> None:
    """R5: a card at a place of its own, and two tenants behind one URL of which the file names the second."""

    def own_place(asked: Asked) -> Says:
        host = f"http://{asked.headers['host']}/rpc"
        both_tenants = [
            {"url": host, "protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": name} for name in ("a", "b")
        ]
        if asked.method == "GET" and asked.path != "/cards/desk.json":
            return Says(status=404)
        return says_json(card(host, supportedInterfaces=both_tenants)) if asked.method == "GET" else completed(asked)

    with serving(own_place) as one:
        lines = (ALL, f'card_url = "{one.url}/cards/desk.json"', 'tenant = "b"')
        vendor_file(tmp_path, f"{one.url}/rpc", *lines)
        done = run(tmp_path, "enforcing", "trusting")
    assert [cell.verdict.value for cell in done.cells] == ["accept", "accept"]
    assert all(b'"tenant":"b"' in asked.body.replace(b" ", b"") for asked in messages(one))
    assert rejudge(done.folder).exit_code == 0


def test_a_cell_says_which_credentials_were_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R2: whoever reads the record must not look for a variable that was set, and wrong."""
    monkeypatch.setenv("LAB_TOKEN", "s3cret-value")
    with both(Door(good=lambda _: False)) as (one, _):
        vendor_file(tmp_path, one.url, ALL, '[auth]\nkind = "static"\nbearer_env = "LAB_TOKEN"')
        done = run(tmp_path, "enforcing", "trusting")
    assert {cell.verdict.value for cell in done.cells} == {"auth-needed"}
    for cell in done.cells:
        assert cell.said.endswith("the credentials from LAB_TOKEN were sent and refused"), cell.said
    assert rejudge(done.folder).exit_code == 0


@pytest.mark.parametrize("status", [401, 429])
def test_whoever_is_not_let_in_is_told_apart_live_and_offline_though_the_body_is_an_error(
    tmp_path: Path, status: int
) -> None:
    """R2, R5: measured as `call-refused` beside `throttled`, and offline only."""
    inner = agent()

    def turns_away(asked: Asked) -> Says:
        error = {"jsonrpc": "2.0", "id": "lab-1", "error": {"code": -32000, "message": "not now"}}
        return inner(asked) if asked.method == "GET" else says_json(error, status, **{"Retry-After": "0"})

    with serving(turns_away) as one:
        vendor_file(tmp_path, one.url, ALL)
        done = run(tmp_path, "enforcing", "trusting")
    assert {cell.verdict.value for cell in done.cells} == {"throttled" if status == 429 else "auth-needed"}
    assert [cell.because for cell in done.cells] == [("unsigned",)] * 2
    assert rejudge(done.folder).exit_code == 0


def test_requests_stay_below_what_the_plan_said(tmp_path: Path) -> None:
    with serving(agent()) as one:
        vendor_file(tmp_path, one.url, ALL)
        done = run(tmp_path, "enforcing", "trusting")
        plan = planned(tmp_path, "enforcing", "trusting")
    assert len(one.asked) <= plan.cost.requests and len(messages(one)) <= plan.cost.runs
    assert len(done.cells) == plan.cells


def test_in_production_a_card_is_read_and_nothing_is_sent(tmp_path: Path) -> None:
    """R37: whatever else the file allows; what is refused is named, graded by nobody, and held against nobody."""
    with serving(agent()) as one:
        vendor_file(tmp_path, one.url, f'{ALL}\nenvironment = "prod"')
        done = run(tmp_path, "enforcing", "trusting")
    read, not_sent = sorted(done.cells, key=lambda cell: cell.key.posture)
    assert posts(one) == []
    assert (read.verdict.value, read.key.scenario) == ("accept", "card") and "nothing was sent" in read.said
    assert not not_sent.is_graded and not_sent.errors == ("tier-refused",) and "caps the tier at card" in not_sent.said


def test_check_refuses_to_send_to_production(tmp_path: Path) -> None:
    with serving(agent()) as one:
        file = vendor_file(tmp_path, one.url, f'{ALL}\nenvironment = "prod"')
        refused, read = (lab("check", str(file), *more, cwd=tmp_path) for more in (("--send",), ()))
    assert refused.code == 2 and 'environment = "prod" caps the tier at card; nothing is sent to it' in refused.err
    assert read.code == 0 and '--send would be refused: environment = "prod"' in read.out and posts(one) == []


@pytest.mark.parametrize(
    ("lines", "options", "said"),
    [
        ('tier = "card"', ("--send",), '--send with .*: tier = "card" in it; expected "send" or higher'),
        ('tier = "send"', ("--send", "--control"), '--control with .*: tier = "send" in it; expected "full" or higher'),
        ("max_runs = 1", ("--send",), "--send with .*: it may start 2 agent runs, and max_runs = 1 in it"),
        ("", ("--bearer-env", "HOME"), "--bearer-env with .*: what the agent is stands in its file; say it there"),
    ],
)
def test_check_stays_within_what_the_file_says(tmp_path: Path, lines: str, options: tuple[str, ...], said: str) -> None:
    with serving(agent()) as one:
        told = lab("check", str(vendor_file(tmp_path, one.url, lines)), *options, cwd=tmp_path)
    assert told.code == 2 and re.search(said, told.err) and one.asked == []


# ---- budgets ---------------------------------------------------------------------------------------------------------


def test_a_cell_that_does_not_fit_in_the_budget_is_not_begun(tmp_path: Path) -> None:
    with serving(agent()) as one:
        vendor_file(tmp_path, one.url, f"{ALL}\nmax_runs = 3")
        done = run(tmp_path, "enforcing", scenarios='["send", "stream"]')
    first, second = done.cells
    assert first.verdict.value == "accept" and len(messages(one)) == 2
    assert not second.is_graded and second.errors == ("budget-spent",)
    assert "may start 2 agent runs, with 1 left of the 3 that helpdesk.toml grants a run (max_runs)" in second.said


def test_a_resumed_run_has_what_is_left_of_its_budget(tmp_path: Path) -> None:
    with serving(agent()) as one:
        vendor_file(tmp_path, one.url, f"{ALL}\nmax_runs = 3")
        done = run(tmp_path, "enforcing", scenarios='["send", "stream"]')
        records = done.folder / "records.jsonl"
        lines = records.read_bytes().splitlines(keepends=True)
        records.write_bytes(b"".join(lines[:2]))  # as after a kill: the second cell and the footer are not there
        again = read_run(resume_run(done.folder))
    assert [cell.errors for cell in again.cells] == [(), ("budget-spent",)] and len(messages(one)) == 2


def test_the_last_run_of_a_budget_is_taken_once(tmp_path: Path) -> None:
    """Two processes have two connections to the ledger; one statement decides."""
    path = tmp_path / LEDGER
    Ledger(path).close()
    took: list[bool] = []

    def spend() -> None:
        with Ledger(path) as ledger:
            took.extend(ledger.spend("r", "v", 20) for _ in range(10))

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Ledger(path) as ledger:
        assert (sum(took), len(took), ledger.spent("r", "v"), ledger.spent("other", "v")) == (20, 40, 20, 0)


def test_requests_leave_no_faster_than_the_file_says(tmp_path: Path) -> None:
    with serving(agent()) as one:
        vendor_file(tmp_path, one.url, SEND, rps=20)
        done = run(tmp_path, "enforcing")
    (cell,) = done.cells
    starts = [exchange.started_ms / 1000 for exchange in read_har(done.folder / str(cell.evidence))]
    assert len(starts) > 4 and starts[-1] - starts[0] > (len(starts) - 1) / 20 - 0.01


def test_one_cell_at_a_time_by_default(tmp_path: Path) -> None:
    """Two workers have two cells of it; the second waits until the first is through."""
    inner, open_now, most = agent(), [0], [0]

    def slow(asked: Asked) -> Says:
        open_now[0] += 1
        most[0] = max(most[0], open_now[0])
        time.sleep(0.02)
        open_now[0] -= 1
        return inner(asked)

    with serving(slow) as one:
        vendor_file(tmp_path, one.url, ALL)
        done = run(tmp_path, "enforcing", "trusting", scenarios='["send", "stream"]')
    assert len(done.cells) == 4 and most[0] == 1


def test_who_wants_to_be_left_alone_is_left_alone_by_all_cells(tmp_path: Path) -> None:
    """R2, R37: a pause longer than our patience ends the cell, and the next one is not even begun."""
    inner = agent()
    tired = Says(status=429, headers={"Retry-After": "3600"})
    with serving(lambda asked: tired if asked.method == "POST" else inner(asked)) as one:
        vendor_file(tmp_path, one.url, SEND)
        done = run(tmp_path, "enforcing", scenarios='["send", "stream"]')
    assert [cell.verdict.value for cell in done.cells] == ["throttled", "throttled"]
    assert len(posts(one)) == 1 and "asked to be left alone for 3600 s more (Retry-After)" in done.cells[1].said


def test_a_short_pause_is_waited_for(tmp_path: Path) -> None:
    inner, first = agent(), [True]

    def busy_once(asked: Asked) -> Says:
        if asked.method == "POST" and first[0]:
            first[0] = False
            return Says(status=503, headers={"Retry-After": "1"})
        return inner(asked)

    with serving(busy_once) as one:
        vendor_file(tmp_path, one.url, SEND)
        began = time.monotonic()
        done = run(tmp_path, "enforcing")
    assert done.cells[0].verdict.value == "accept" and time.monotonic() - began >= 1.0


def test_a_message_whose_outcome_nobody_knows_is_not_sent_again(tmp_path: Path) -> None:
    inner = agent()

    def broken(asked: Asked) -> Says:
        return Says(status=500) if asked.method == "POST" else inner(asked)

    with serving(broken) as one:
        vendor_file(tmp_path, one.url, SEND)
        done = run(tmp_path, "enforcing")
    assert len(messages(one)) == 1 and done.cells[0].verdict.value == "orphan"


# ---- clients that the lab does not steer -----------------------------------------------------------------------------


def watched(folder: Path, talk: Callable[[httpx.Client, str], None]) -> CellRecord:
    """Let somebody's client talk to the agent through the recorder, as an external consumer."""
    path = matrix(folder, "external")
    path.write_text(path.read_text() + "wait_s = 20\n[clocks]\nsilence_s = 0.3\nhang_s = 0.3\ntotal_s = 1\n")
    loaded = Matrix.load(path)

    def say(told: str) -> None:
        where = re.search(r"http://\S+", told)
        assert where is not None

        def client() -> None:
            with httpx.Client(trust_env=False, headers={"A2A-Version": "1.0"}, timeout=10) as http:
                talk(http, where[0])

        threading.Thread(target=client, daemon=True).start()

    folder = run_sync(run_pairs(loaded, plan_pairs(loaded), out=folder / "runs", parameters={}, say=say))
    (cell,) = read_run(folder).cells
    return cell


def message(number: int) -> dict[str, Any]:
    parts = {"messageId": f"m-{number}", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
    return {"jsonrpc": "2.0", "id": number, "method": "SendMessage", "params": {"message": parts}}


def test_somebody_elses_client_carries_the_credentials_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client has none and needs none: the recorder puts them on, renews them, and stores none."""
    monkeypatch.setenv("LAB_ID", "lab")
    monkeypatch.setenv("LAB_SECRET", "s3cret-value")
    answers: list[int] = []

    def talk(http: httpx.Client, url: str) -> None:
        there = http.get(f"{url}{CARD}").json()["supportedInterfaces"][0]["url"]
        answers.append(http.post(there, json=message(1)).status_code)

    door = Door(good=lambda token: token == "token-2")
    with both(door, cards_too=True) as (one, server):
        vendor_file(tmp_path, one.url, f"{ALL}\n{oauth(server.url)}")
        cell = watched(tmp_path, talk)
    assert answers == [200] and cell.verdict.value == "accept"
    assert door.refused == ["token-1"] and {asked.headers.get("authorization") for asked in posts(one)} == {
        "Bearer token-2"
    }
    kept = b"".join(path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file())
    assert b"token-2" not in kept and b"s3cret-value" not in kept


def test_a_client_that_sends_more_than_its_plan_is_stopped(tmp_path: Path) -> None:
    answers: list[int] = []

    def talk(http: httpx.Client, url: str) -> None:
        there = http.get(f"{url}{CARD}").json()["supportedInterfaces"][0]["url"]
        answers.extend(http.post(there, json=message(number)).status_code for number in range(5))

    with serving(agent()) as one:
        vendor_file(tmp_path, one.url, ALL)
        cell = watched(tmp_path, talk)
    assert answers == [200, 200, 200, 502, 502] and len(posts(one)) == 3
    assert not cell.is_graded and cell.errors == ("client-stopped",)
    assert "it tried more than 3 messages in one cell" in cell.said


def test_a_client_is_not_let_near_a_card_that_leads_past_the_recorder(tmp_path: Path) -> None:
    with serving(agent()) as other, serving(agent(lambda _: card(f"{other.url}/rpc"))) as one:
        vendor_file(tmp_path, one.url, ALL)
        cell = watched(tmp_path, lambda http, url: None)
    assert not cell.is_graded and cell.errors == ("tier-refused",) and f"leads to '{other.url}/rpc'" in cell.said
    assert posts(other) == []


def test_worst_case_of_a_card_counts_levels_of_the_path() -> None:
    """R6: two names at each level, each asked twice at most."""
    from a2a_lab.core.policy import Clocks
    from a2a_lab.core.tiers import Tier

    def at(address: str) -> int:
        return worst_case("enforcing", Tier.CARD, address=address, clocks=Clocks()).requests

    assert [at("https://a.example"), at("https://a.example/a2a"), at("https://a.example/a2a/v1/")] == [6, 10, 14]
