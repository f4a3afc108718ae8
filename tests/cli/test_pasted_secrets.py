"""A secret that was pasted where the name of a variable belongs is refused and never repeated (R38).

Measured: each of these sentences ended in a terminal's scrollback, and in the log of a build, with the token in it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.console import lab

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJsYWIifQ.c2lnbmF0dXJl"
NAMELIKE = "sk_live_4eC39HqLyjWDarjtT1zdp7dc0123456789abcdef"
LOOKS = "that looks like a value, give the NAME of an environment variable"


@pytest.mark.parametrize(
    ("option", "given", "secret"),
    [
        ("--bearer-env", TOKEN, TOKEN),
        ("--bearer-env", "eyJhbGciOi.abc.def", "abc"),
        ("--bearer-env", "s3cr3t-tok", "s3cr3t"),
        ("--bearer-env", NAMELIKE, NAMELIKE),
        ("--bearer-env", "Bearer abc", "abc"),
        ("--bearer-env", "t\udcffken", "udcff"),
        ("--api-key-env", f"X-Key={TOKEN}", TOKEN),
        ("--api-key-env", "X-Key=c2VjcmV0==", "c2VjcmV0"),
        ("--header-env", f"Authorization=Bearer {TOKEN}", TOKEN),
        ("--header-env", "X-Key=c2VjcmV0==", "c2VjcmV0"),
        ("--header-env", "X-Key: s3cr3t", "s3cr3t"),
        ("--header-env", "X-Key: c2VjcmV0=", "c2VjcmV0"),
        ("--header-env", "X-Key: c2VjcmV0==", "c2VjcmV0"),
        ("--basic-env", "HOME:p4ss-word", "p4ss"),
        ("--basic-env", "p4ss-word", "p4ss"),
    ],
)
def test_an_option_that_holds_a_value_does_not_repeat_it(tmp_path: Path, option: str, given: str, secret: str) -> None:
    said = lab("check", "http://127.0.0.1:9", option, given, cwd=tmp_path)
    assert said.code == 2 and said.err.count("\n") == 1
    assert LOOKS in said.err or "two variable names" in said.err or "not repeated" in said.err
    assert secret not in said.err + said.out and not list(tmp_path.rglob("*.har"))


def test_a_name_that_is_long_is_taken_where_there_is_such_a_variable(tmp_path: Path) -> None:
    """Only what is not there is taken for a value."""
    said = lab("check", "http://127.0.0.1:9", "--bearer-env", NAMELIKE, cwd=tmp_path, **{NAMELIKE: "abc1"})
    assert "unreachable" in said.out


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (f'[auth]\nkind = "static"\nbearer_env = "{TOKEN}"', f"helpdesk.toml.auth.bearer_env: {{}}; {LOOKS}"),
        ('[auth]\nkind = "static"\nbearer_env = "s3cr3t-tok"', f"helpdesk.toml.auth.bearer_env: {{}}; {LOOKS}"),
        (f'[auth]\nkind = "static"\nbearer_env = "{NAMELIKE}"', f"helpdesk.toml, auth: {LOOKS}"),
        ('[auth]\nkind = "static"\nbearer_env = 90210', "helpdesk.toml.auth.bearer_env: what stands there is not"),
        ('[auth]\nkind = "static"\nheader_env = {"X-Key" = "s3cr3t-tok"}', "auth.header_env: what stands there is not"),
        ('[auth]\nkind = "static"\nbasic_env = "me:s3cr3t-tok"', "auth.basic_env: what stands there is not"),
        ('[auth]\nkind = "static"\nbearer = "s3cr3t-tok"', "auth: unknown key 'bearer'; did you mean 'bearer_env'?"),
        ('[auth]\nbearer = "s3cr3t-tok"', "auth: unknown key 'bearer'; did you mean 'bearer_env'?"),
        ('[auth]\nkind = "static"\nvalue = "s3cr3t-tok"', "auth: unknown key 'value'"),
        ('auth = "s3cr3t-tok"', "helpdesk.toml.auth: a table is expected"),
        ('bearer_token = "s3cr3t-tok"', "helpdesk.toml: unknown key 'bearer_token'"),
        (f'tenent = "{TOKEN}"', "helpdesk.toml: unknown key 'tenent'; did you mean 'tenant'?"),
    ],
)
def test_a_vendor_file_that_holds_a_value_does_not_repeat_it(tmp_path: Path, lines: str, told: str) -> None:
    (tmp_path / "helpdesk.toml").write_text(f'reach = "live"\nurl = "http://127.0.0.1:9"\n{lines}\n')
    said = lab("check", "helpdesk.toml", cwd=tmp_path)
    hidden = "what stands there is not the name of an environment variable"
    assert said.code == 2 and told.format(hidden) in said.err, said.err
    for secret in (TOKEN, NAMELIKE, "s3cr3t", "90210"):
        assert secret not in said.err + said.out
