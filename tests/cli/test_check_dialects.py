"""`check` speaks every dialect: which one is a matter of `--supports` and `--binding`, both repeatable."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.console import lab
from tests.vendors.bench import Bench


@pytest.mark.parametrize(
    ("dialect", "binding", "options", "verdict"),
    [
        ("1.0", "HTTP+JSON", ("--binding", "HTTP+JSON"), "accept"),
        ("0.3", "HTTP+JSON", ("--binding", "JSONRPC", "--binding", "HTTP+JSON"), "accept"),
        ("0.2", "JSONRPC", ("--supports", "1.0", "--supports", "0.2"), "hint"),
        ("0.1", "JSONRPC", ("--supports", "0.1"), "hint"),
    ],
)
def test_an_agent_of_any_dialect_is_checked_to_the_end(
    bench: Bench, tmp_path: Path, dialect: str, binding: str, options: tuple[str, ...], verdict: str
) -> None:
    """The hint of the older two is that their card lies at the old path."""
    one = bench.agent(dialect=dialect, binding=binding)
    said = lab("check", one.running.url, "--send", *options, "--json", cwd=tmp_path)
    assert (said.code, said.json["verdict"], said.json["target"]["binding"]) == (0, verdict, binding), said.out
    assert (said.json["measures"]["delivered"], said.json["measures"]["held"]) == (True, True)
    told = lab("ledger", "orphans", "--json", cwd=tmp_path)
    assert told.code == 0, told.err


@pytest.mark.parametrize(
    ("dialect", "binding", "slug"),
    [
        ("1.0", "HTTP+JSON", "no-usable-interface"),
        ("0.2", "JSONRPC", "version-incompatible"),
        ("0.1", "JSONRPC", "version-incompatible"),
    ],
)
def test_nothing_is_sent_in_a_dialect_that_was_not_asked_for(
    bench: Bench, tmp_path: Path, dialect: str, binding: str, slug: str
) -> None:
    one = bench.agent(dialect=dialect, binding=binding)
    said = lab("check", one.running.url, "--send", "--json", cwd=tmp_path)
    slugs = {found["slug"] for stage in said.json["stages"].values() for found in stage["findings"]}
    assert said.code == 1 and slug in slugs
    assert one.store()["tasks"] == []


def test_a_binding_that_is_not_spoken_is_wrong_usage(tmp_path: Path) -> None:
    said = lab("check", "http://127.0.0.1:9", "--binding", "http+json", cwd=tmp_path)
    assert said.code == 2 and "--binding 'http+json': expected JSONRPC or HTTP+JSON" in said.err
