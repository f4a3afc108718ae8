"""Vendors of compiled languages (issue 4, item 1): built from copied sources by a tool, and compared with the lock.

The tool here is a line of shell; what a real one needs, test_real_vendors builds.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.compiled_recipe import (
    CompiledRecipe,
    Tool,
    linked_in_go,
    linked_in_java,
    linked_in_rust,
    release,
    strange_files,
)
from a2a_lab.vendors.environments import Environment, ensure_environment
from a2a_lab.vendors.vendor import Runtime, Vendor

BUILD = "mkdir -p out/app/lib && cp src/agent.sh out/agent && cp src/agent.sh out/app/lib/agent-1.0.jar"
TOOL = Tool(
    programs=("sh",),
    manifest="build.txt",
    out="out",
    version=("sh", "-c", "echo sh 5.2.1"),
    command=("sh", "-c", BUILD),
    kept=("*",),
    linked=linked_in_java,
)


@pytest.fixture
def vendor(tmp_path: Path) -> Vendor:
    home = tmp_path / "acme-1"
    (home / "src").mkdir(parents=True)
    (home / "build.txt").write_text("")
    (home / "jars.lock").write_text("")
    (home / "src" / "agent.sh").write_text("echo hello\n")
    return Vendor(
        name="acme-1",
        title="Acme",
        version="1",
        roles=("agent",),
        dialects=("1.0",),
        bindings=("JSONRPC",),
        folder=home,
        runtime=Runtime(kind="java", lock=home / "jars.lock", programs=(home / "src" / "agent.sh",)),
    )


def build(vendor: Vendor, tool: Tool = TOOL) -> Environment:
    return ensure_environment(vendor, cache=vendor.folder.parent / "cache", recipe=CompiledRecipe(vendor, tool))


def test_what_the_tool_builds_is_kept_and_what_it_needed_is_not(vendor: Vendor) -> None:
    built = build(vendor)
    assert (built.folder / "bin" / "agent").read_text() == "echo hello\n"
    assert (built.folder / "source" / "src" / "agent.sh").exists() and not (built.folder / "source" / "out").exists()
    assert (built.installer, built.runtime[:8], built.packages) == ("sh", "java 5.2", ("agent==1.0",))
    assert build(vendor) == built


def test_a_changed_source_is_another_environment(vendor: Vendor) -> None:
    before = build(vendor).folder
    (vendor.folder / "src" / "agent.sh").write_text("echo other\n")
    assert build(vendor).folder != before


def test_a_library_that_is_not_in_the_lock_with_its_hash_is_refused(vendor: Vendor) -> None:
    checked = replace(TOOL, checked=True)
    with pytest.raises(HarnessFault, match=r"not what jars\.lock says: app/lib/agent-1\.0\.jar") as fault:
        build(vendor, checked)
    assert fault.value.fields["step"] == "verify" and fault.value.fields["cause"] == "failed"
    digest = hashlib.sha256(b"echo hello\n").hexdigest()
    (vendor.folder / "jars.lock").write_text(f"{digest}  app/lib/agent-1.0.jar\n")
    assert build(vendor, checked).packages == ("agent==1.0",)
    (vendor.folder / "jars.lock").write_text(f"{digest}  app/lib/agent-1.0.jar\n{digest}  app/lib/missing-2.jar\n")
    with pytest.raises(HarnessFault, match=r"app/lib/missing-2\.jar"):
        build(vendor, checked)


def test_a_failed_build_names_its_step_and_the_lock(vendor: Vendor) -> None:
    with pytest.raises(HarnessFault, match=r"step 'build' ended with exit status 3; if jars\.lock no longer resolves"):
        build(vendor, replace(TOOL, command=("sh", "-c", "exit 3")))


def test_a_machine_without_the_tool_or_with_an_old_one_says_so(vendor: Vendor) -> None:
    with pytest.raises(HarnessFault, match="there is no no-such-compiler on the PATH") as fault:
        build(vendor, replace(TOOL, programs=("no-such-compiler",)))
    assert fault.value.fields["cause"] == "tool-missing"
    newer = replace(vendor, runtime=replace(vendor.runtime, tool_min=(6, 0)))
    with pytest.raises(HarnessFault, match=r"needs sh 6\.0 or later; here it is 5\.2") as fault:
        build(newer)
    assert fault.value.fields["cause"] == "tool-missing"


def test_a_tool_that_does_not_say_its_release_has_none() -> None:
    assert release(("sh", "-c", "echo none")) == () == release(("no-such-compiler",))
    assert release(("sh", "-c", "echo 'openjdk version \"17.0.15\"' >&2")) == (17, 0)


def test_the_locks_of_go_and_rust_say_what_was_linked(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "go.mod").write_text(
        "module lab/echo\n\ngo 1.25.0\n\nrequire example.org/a v1.2.3\n\n"
        "require (\n\texample.org/b v0.1.0 // indirect\n)\n"
    )
    (tmp_path / "source" / "Cargo.lock").write_text('[[package]]\nname = "a2a"\nversion = "0.4.2"\nsource = "x"\n')
    assert list(linked_in_go(tmp_path)) == ["example.org/a==v1.2.3", "example.org/b==v0.1.0"]
    assert list(linked_in_rust(tmp_path)) == ["a2a==0.4.2"]


def test_libraries_are_compared_by_name_and_content(tmp_path: Path) -> None:
    (tmp_path / "bin" / "app" / "lib").mkdir(parents=True)
    (tmp_path / "bin" / "app" / "lib" / "a-1.jar").write_bytes(b"a")
    lock = tmp_path / "jars.lock"
    lock.write_text(f"{hashlib.sha256(b'a').hexdigest()}  app/lib/a-1.jar\n")
    assert strange_files(tmp_path, lock) == []
    (tmp_path / "bin" / "app" / "lib" / "b-1.jar").write_bytes(b"b")
    (tmp_path / "bin" / "app" / "lib" / "a-1.jar").write_bytes(b"changed")
    assert strange_files(tmp_path, lock) == ["app/lib/a-1.jar", "app/lib/b-1.jar"]
