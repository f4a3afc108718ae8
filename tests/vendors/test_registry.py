"""Vendor files (issue 4, item 1): what they say, and that whatever is not meant is refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from a2a_lab.errors import Misuse
from a2a_lab.vendors.registry import find_vendor, read_vendor, read_vendors
from a2a_lab.vendors.vendor import LOCKS, filled

GOOD = {
    "top": 'name = "acme-1"\ntitle = "Acme"\nversion = "1.0"\nroles = ["agent"]\ndialects = ["1.0"]\n'
    'bindings = ["JSONRPC"]\n',
    "environment": '[environment]\nkind = "python"\n',
    "agent": '[agent]\nlaunch = ["{python}", "{programs}/agent.py", "--port", "{port}"]\n',
}


def write(folder: Path, *, replace: tuple[str, str] | None = None, more: str = "", **parts: str) -> Path:
    home = folder / "acme-1"
    home.mkdir(exist_ok=True)
    (home / "requirements.lock").write_text("")
    text = "".join({**GOOD, **parts}.values()) + more
    if replace:
        assert replace[0] in text
        text = text.replace(*replace)
    (home / "vendor.toml").write_text(text)
    return home / "vendor.toml"


def refusal(file: Path) -> str:
    with pytest.raises(Misuse) as refused:
        read_vendor(file)
    return str(refused.value)


def test_a_vendor_file_says_who_it_is_and_how_it_is_launched(tmp_path: Path) -> None:
    vendor = read_vendor(write(tmp_path))
    assert (vendor.name, vendor.version, vendor.roles, vendor.dialects) == ("acme-1", "1.0", ("agent",), ("1.0",))
    assert vendor.agent is not None
    places = {"python": "/env/bin/python", "programs": "/here", "port": "4711"}
    assert filled(vendor.agent.launch, places) == ["/env/bin/python", "/here/agent.py", "--port", "4711"]
    assert vendor.agent.card_path == "/.well-known/agent-card.json"
    assert vendor.agent.ready_timeout_s == 120.0


@pytest.mark.parametrize(
    ("replace", "key", "expected"),
    [
        (('"acme-1"', '"other"'), "name", "the name of its folder, 'acme-1'"),
        (('"Acme"', '""\ntitel = "x"'), "titel", "did you mean 'title'?"),
        (('version = "1.0"', "version = 1.0"), "version", 'write version = "1.0" with quotes'),
        (('["agent"]', '["agnet"]'), "roles", "did you mean 'agent'?"),
        (('["1.0"]', '["1.0.0"]'), "dialects", "did you mean '1.0'?"),
        (('["JSONRPC"]', '["REST"]'), "bindings", "'REST'; known are 'GRPC', 'HTTP+JSON', 'JSONRPC'"),
        (('"python"\n', '"pyton"\n'), "kind", "did you mean 'python'?"),
        (('"python"\n', '"python"\nlock = "x.lock"\n'), "lock", "there is no x.lock"),
        (('"python"\n', '"python"\npython_min = 3.10\n'), "python_min", 'write python_min = "3.1" with quotes'),
        (('"python"\n', '"python"\npython_min = "three"\n'), "python_min", 'a release such as "3.11"'),
        (('"python"\n', '"python"\nprograms = ["agent.mjs"]\n'), "programs", "there is no agent.mjs"),
        (('"{port}"', '"4711"'), "launch", "an argv with {port} in it"),
        (('"{port}"', '"{prot}"'), "launch", "did you mean 'port'?"),
        (("[agent]", "[agent]\nready_timeout_s = 0"), "ready_timeout_s", "a number of at least 1"),
        (("[agent]", '[agent]\ncard_path = "card.json"'), "card_path", "a path that starts with '/'"),
        (("[agent]", "[consumer]"), "agent", "a table with a launch line"),
    ],
)
def test_what_is_not_meant_is_refused_by_file_key_value_and_expectation(
    tmp_path: Path, replace: tuple[str, str], key: str, expected: str
) -> None:
    said = refusal(write(tmp_path, replace=replace))
    assert "acme-1/vendor.toml" in said and key in said
    assert expected.replace("'", "") in said.replace("'", "")


def test_a_file_that_is_no_toml_or_is_not_there_is_named(tmp_path: Path) -> None:
    assert "not TOML" in refusal(write(tmp_path, more="= 1"))
    assert "cannot be read" in refusal(tmp_path / "vendor.toml")


def test_an_expectation_needs_a_reason_and_something_expected(tmp_path: Path) -> None:
    start = '[[expectations]]\ncells = "acme-1/*"\n'
    assert "reason: missing" in refusal(write(tmp_path, more=start + 'verdict = "hint"\n'))
    assert "hides a failure" in refusal(write(tmp_path, more=start + 'verdict = "hint"\nreason = " "\n'))
    assert "nothing is expected otherwise" in refusal(write(tmp_path, more=start + 'reason = "known"\n'))
    assert "did you mean 'hang'?" in refusal(write(tmp_path, more=start + 'verdict = "hung"\nreason = "known"\n'))
    (known,) = read_vendor(
        write(tmp_path, more=start + 'verdict = "hang"\nreason = "known"\nlink = "https://example.org/1"\n')
    ).expectations
    assert (known.cells, known.verdict, known.reason, known.link) == (
        "acme-1/*",
        "hang",
        "known",
        "https://example.org/1",
    )


def test_a_variant_is_the_same_environment_launched_with_other_options(tmp_path: Path) -> None:
    write(tmp_path, more='[variants.compat]\noptions = ["--compat"]\ndialects = ["1.0", "0.3"]\n')
    found = read_vendors(tmp_path)
    assert sorted(found) == ["acme-1", "acme-1+compat"]
    variant = found["acme-1+compat"]
    assert variant.environment_name == found["acme-1"].environment_name == "acme-1"
    assert (variant.options, variant.dialects, variant.bindings) == (("--compat",), ("1.0", "0.3"), ("JSONRPC",))


def test_a_variant_without_options_would_be_its_vendor(tmp_path: Path) -> None:
    assert "variants.same.options" in refusal(write(tmp_path, more='[variants.same]\ntitle = "x"\n'))


def test_a_vendor_that_is_not_there_is_named_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(Misuse, match=r"there is no vendor 'acme-2'; did you mean 'acme-1'\?"):
        find_vendor("acme-2", tmp_path)


# How a lock of each kind writes the hash of a package.
PINS = {
    "python": r"--hash=sha256:[0-9a-f]{64}",
    "node": r'"integrity": "sha512-',
    "go": r" h1:",
    "java": r"^[0-9a-f]{64}  quarkus-app/lib/",
    "rust": r'^checksum = "[0-9a-f]{64}"$',
}


def test_every_vendor_of_the_lab_reads_and_pins_what_it_installs() -> None:
    vendors = read_vendors()
    assert {"a2a-sdk-1.3", "a2a-sdk-1.3+compat", "a2a-sdk-0.3"} <= set(vendors)
    for vendor in vendors.values():
        lock = vendor.runtime.lock.read_text()
        assert vendor.runtime.lock.name == LOCKS[vendor.runtime.kind]
        assert len(re.findall(PINS[vendor.runtime.kind], lock, re.MULTILINE)) > 10, vendor.name
        # No registry's host: where packages come from is the user's to say.
        assert '"resolved"' not in lock and "--index-url" not in lock and "://" not in lock.split('"packages"')[0]


def test_a_package_without_a_wheel_stands_in_a_second_lock(tmp_path: Path) -> None:
    missing = write(tmp_path, replace=('"python"\n', '"python"\nsources = "none"\n'))
    assert "a second lock beside vendor.toml" in refusal(missing)
    sources = find_vendor("langgraph-api-0.16").runtime.sources
    assert sources and sources.read_text().count("==") == 1 and "--hash=sha256:" in sources.read_text()


def test_a_variant_may_leave_a_role_out_and_add_none(tmp_path: Path) -> None:
    assert find_vendor("a2a-sdk-1.3+compat").consumer is None and find_vendor("a2a-js-1.3+compat").consumer
    more = '[variants.b]\noptions = ["--b"]\nroles = ["consumer"]\n'
    assert "roles that the vendor has: agent" in refusal(write(tmp_path, more=more))


def test_no_vendor_program_imports_the_lab() -> None:
    for program in find_vendor("a2a-sdk-1.3").folder.parent.rglob("*.py"):
        assert "a2a_lab" not in program.read_text(), program
