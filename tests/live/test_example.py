"""The example in data/live works as it stands, and every option in its comments is one."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from a2a_lab.bundled import bundled_root
from a2a_lab.lab.live_plan import live_plans
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pairing_plan import plan_pairs
from a2a_lab.vendors.auth import OAuthAuth, StaticAuth
from a2a_lab.vendors.live import read_live
from tests.cli.console import lab
from tests.lab.plain import agent, serving

EXAMPLE = bundled_root() / "data" / "live"


def test_the_example_is_planned_as_it_stands() -> None:
    (plan,) = live_plans(plan_pairs(Matrix.load(EXAMPLE / "matrix.toml")))
    assert (plan.live.granted.tier, plan.cells, len(plan.refused)) == ("send", 2, 4)
    assert plan.missing == () and plan.cost.runs == 4


def test_a_copy_of_the_example_is_checked_and_run(tmp_path: Path) -> None:
    with serving(agent()) as one:
        for name in ("helpdesk.toml", "matrix.toml"):
            shutil.copy(EXAMPLE / name, tmp_path)
        file = tmp_path / "helpdesk.toml"
        text = file.read_text().replace("http://127.0.0.1:9999", one.url).replace("#rps = 2.0", "rps = 1000")
        file.write_text(text)
        assert lab("check", "helpdesk.toml", "--send", cwd=tmp_path).code == 0
        told = lab("run", "matrix.toml", "--only", "send/enforcing", "--json", cwd=tmp_path)
    assert told.code == 0 and told.json["summary"]


def test_every_option_in_its_comments_is_one(tmp_path: Path) -> None:
    for name in ("authority.pem", "client.pem", "client.key"):
        (tmp_path / name).touch()
    (tmp_path / "keys.json").write_text('{"keys": []}')
    text = re.sub(r"^#(?=[\w\[])", "", (EXAMPLE / "helpdesk.toml").read_text(), flags=re.MULTILINE)
    (tmp_path / "all.toml").write_text(text)
    live = read_live(tmp_path / "all.toml")
    assert isinstance(live.auth_card, StaticAuth) and isinstance(live.auth_calls, OAuthAuth)
    assert live.tls.client_key and live.tenant == "acme" and live.patience.hang_s == 10 and live.allow_trusting
    assert sorted(live.variables) == [
        "HELPDESK_CARD_TOKEN",
        "HELPDESK_CLIENT_ID",
        "HELPDESK_CLIENT_SECRET",
        "HELPDESK_TENANT_KEY",
    ]
