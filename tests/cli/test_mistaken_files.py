"""What an operator mistakes for something else is named as what it is, and advice fits the value that stands there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.console import lab

MATRIX = '[vendors.agents."a2a-sdk-1.3"]\n[vendors.consumers.enforcing]\n'
VENDOR = 'reach = "live"\nurl = "http://127.0.0.1:9"\n'


@pytest.mark.parametrize("version", ["1", "2.0", "oen.0", "1.0.1", ""])
def test_a_version_that_the_lab_does_not_speak_is_the_operators_mistake(tmp_path: Path, version: str) -> None:
    """Measured: it ended in `refuse version-incompatible`, as if the agent were at fault."""
    said = lab("check", "http://127.0.0.1:9", "--supports", version, cwd=tmp_path)
    assert said.code == 2 and not list(tmp_path.rglob("*.har"))
    assert f"--supports {version!r}: expected a version that the lab speaks: 1.0, 0.3, 0.2 or 0.1" in said.err


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ('reach = "live"\nurl = 9999\n', 'v.toml.url: 9999 is not a string; write url = "9999" with quotes'),
        (VENDOR + "tier = 3\n", "v.toml.tier: 3 is not one of 'card', 'task-read', 'send', 'full'"),
        (VENDOR + "version = 1.0\n", 'a version is text, write version = "1.0" with quotes'),
        (VENDOR + "version = 2\n", 'a version is text, write version = "2" with quotes'),
    ],
)
def test_a_number_in_place_of_text_is_advised_by_what_is_wanted(tmp_path: Path, lines: str, told: str) -> None:
    (tmp_path / "v.toml").write_text(lines)
    said = lab("check", "v.toml", cwd=tmp_path)
    assert said.code == 2 and told in said.err


@pytest.mark.parametrize(
    ("arguments", "text", "told"),
    [
        (("plan",), VENDOR, "x.toml: looks like a vendor file, as it has 'reach', and a matrix is expected"),
        (("run",), VENDOR, "a2a-lab check x.toml checks the agent"),
        (("check",), MATRIX, "x.toml: looks like a matrix, as it has 'vendors', and a vendor file is expected"),
        (("check",), 'pairs = [["a", "b"]]\n', "as it has 'pairs'"),
    ],
)
def test_a_file_of_the_other_kind_is_recognised(
    tmp_path: Path, arguments: tuple[str, ...], text: str, told: str
) -> None:
    (tmp_path / "x.toml").write_text(text)
    said = lab(*arguments, "x.toml", cwd=tmp_path)
    assert said.code == 2 and told in said.err
