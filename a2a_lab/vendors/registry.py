"""Which real vendors there are: reads `data/vendors/<name>/vendor.toml` and refuses what is not meant.

Every complaint names the file, the key, its value and what was expected. Builds nothing and starts nothing.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

from a2a_lab.bundled import bundled_root
from a2a_lab.errors import Misuse
from a2a_lab.vendors.tables import Table, nearest
from a2a_lab.vendors.vendor import (
    BINDINGS,
    CARD_PATH,
    DIALECTS,
    KINDS,
    LOCKS,
    PLACEHOLDER,
    PLACEHOLDERS,
    READY_TIMEOUT_S,
    ROLES,
    Expectation,
    Program,
    Runtime,
    Vendor,
)
from a2a_lab.verdicts import Verdict

NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


def read_vendor(file: Path) -> Vendor:
    """The vendor of one vendor.toml. Raises Misuse naming file, key, value and what was expected."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Misuse(f"{file}: cannot be read: {error.strerror}", file=str(file)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misuse(f"{file}: not TOML: {error}", file=str(file)) from error
    top = Table(data, f"{file.parent.name}/{file.name}")
    if top.text("name") != file.parent.name or not NAME.fullmatch(file.parent.name):
        top.refuse("name", f"the name of its folder, {file.parent.name!r}, in lower case letters, digits, '.' and '-'")
    roles = _words(top, "roles", ROLES)
    vendor = Vendor(
        name=top.text("name"),
        title=top.text("title"),
        version=top.text("version"),
        roles=roles,
        dialects=_words(top, "dialects", DIALECTS),
        bindings=_words(top, "bindings", BINDINGS),
        folder=file.parent,
        runtime=_runtime(Table(top.take("environment", {}), f"{top.where}.environment"), file.parent),
        agent=_program(top, "agent", roles, needs="port"),
        consumer=_program(top, "consumer", roles, needs="url"),
        verifier=_verifier(top),
        notes=top.texts("notes", ()),
        expectations=tuple(_expectation(table) for table in top.tables("expectations")),
    )
    variants = {name: _variant(vendor, name, table) for name, table in top.named("variants").items()}
    top.done()
    return replace(vendor, variants=variants)


def read_vendors(root: Path | None = None) -> dict[str, Vendor]:
    """Every vendor and variant by name; `root` is a folder of vendor folders, that of the lab when None."""
    root = root or bundled_root() / "data" / "vendors"
    found: dict[str, Vendor] = {}
    for file in sorted(root.glob("*/vendor.toml")):
        vendor = read_vendor(file)
        found[vendor.name] = vendor
        found |= {variant.name: variant for variant in vendor.variants.values()}
    return found


def find_vendor(name: str, root: Path | None = None) -> Vendor:
    """The vendor or variant of that name. Raises Misuse that names the nearest, or those there are."""
    vendors = read_vendors(root)
    if name not in vendors:
        raise Misuse(f"there is no vendor {name!r}{nearest(name, vendors)}", name=name, known=tuple(vendors))
    return vendors[name]


def _words(table: Table, key: str, known: tuple[str, ...], default: tuple[str, ...] | None = None) -> tuple[str, ...]:
    words = table.texts(key, default, empty=False)
    for word in words:
        if word not in known:
            table.refuse(key, f"a list of {', '.join(repr(each) for each in known)}; {word!r}{nearest(word, known)}")
    return words


def _runtime(table: Table, folder: Path) -> Runtime:
    kind = table.text("kind", one_of=KINDS)
    lock = folder / table.text("lock", LOCKS[kind])
    if not lock.is_file():
        table.refuse("lock", f"a file beside vendor.toml; there is no {lock.name} (default {LOCKS[kind]})")
    sources = folder / table.text("sources") if "sources" in table else None
    if sources and (kind != "python" or not sources.is_file()):
        table.refuse("sources", "a second lock beside vendor.toml, of an environment of kind 'python'")
    programs = tuple((folder / name).resolve() for name in table.texts("programs", ()))
    for program in programs:
        if not program.is_file():
            table.refuse("programs", f"a list of files; there is no {program.name}")
    runtime = Runtime(
        kind=kind,
        lock=lock,
        sources=sources,
        python_min=_release(table, "python_min"),
        python_below=_release(table, "python_below"),
        tool_min=_release(table, "tool_min"),
        node_min=table.integer("node_min", least=1) if "node_min" in table else None,
        programs=programs,
        check=_argv(table, "check", (), needs=None),
    )
    table.done()
    return runtime


def _release(table: Table, key: str) -> tuple[int, ...] | None:
    if key not in table:
        return None
    text = table.text(key)
    if not re.fullmatch(r"\d+\.\d+", text):
        table.refuse(key, 'a release such as "3.11", major and minor')
    return tuple(int(number) for number in text.split("."))


def _program(top: Table, role: str, roles: tuple[str, ...], *, needs: str) -> Program | None:
    if role not in top:
        if role in roles:
            top.refuse(role, f"a table with a launch line, since roles names {role!r}")
        return None
    table = Table(top.take(role), f"{top.where}.{role}")
    if role not in roles:
        top.refuse("roles", f"a list with {role!r} in it, since there is a table [{role}]")
    card_path = table.text("card_path", CARD_PATH)
    if not card_path.startswith("/"):
        table.refuse("card_path", "a path that starts with '/'")
    env = table.free("env")
    if not all(isinstance(value, str) for value in env.values()):
        table.refuse("env", "a table of strings")
    program = Program(
        launch=_argv(table, "launch", None, needs=needs),
        nonce=_argv(table, "nonce", (), needs=None),
        log=_argv(table, "log", (), needs=None),
        sign=_argv(table, "sign", (), needs=None),
        card_path=card_path,
        ready_timeout_s=table.number("ready_timeout_s", READY_TIMEOUT_S, least=1.0),
        env=env,
    )
    table.done()
    return program


def _verifier(top: Table) -> tuple[str, ...]:
    if "verifier" not in top:
        return ()
    table = Table(top.take("verifier"), f"{top.where}.verifier")
    launch = _argv(table, "launch", None, needs="card")
    table.done()
    return launch


def _argv(table: Table, key: str, default: tuple[str, ...] | None, *, needs: str | None) -> tuple[str, ...]:
    words = table.texts(key, default, empty=default is not None)
    named = {name for word in words for name in PLACEHOLDER.findall(word)}
    for name in sorted(named - set(PLACEHOLDERS)):
        table.refuse(key, f"an argv whose placeholders are known; {{{name}}}{nearest(name, PLACEHOLDERS)}")
    if needs and needs not in named:
        table.refuse(key, f"an argv with {{{needs}}} in it")
    return words


def _expectation(table: Table) -> Expectation:
    verdict = table.text("verdict", "")
    if verdict and verdict not in set(Verdict):
        table.refuse("verdict", f"a verdict{nearest(verdict, [each.value for each in Verdict])}")
    expectation = Expectation(
        cells=table.text("cells"),
        reason=table.text("reason"),
        verdict=verdict,
        finding=table.text("finding", ""),
        link=table.text("link", ""),
    )
    if not expectation.reason.strip():
        table.refuse("reason", "a sentence: an expectation without a reason hides a failure")
    if not (expectation.verdict or expectation.finding):
        table.refuse("verdict", "a verdict, or name a finding: nothing is expected otherwise")
    table.done()
    return expectation


def _variant(vendor: Vendor, name: str, table: Table) -> Vendor:
    roles = _words(table, "roles", ROLES, vendor.roles)
    for role in roles:
        if role not in vendor.roles:
            table.refuse("roles", f"a list of roles that the vendor has: {', '.join(vendor.roles)}")
    variant = replace(
        vendor,
        roles=roles,
        agent=vendor.agent if "agent" in roles else None,
        consumer=vendor.consumer if "consumer" in roles else None,
        verifier=(),
        name=f"{vendor.name}+{name}",
        title=table.text("title", f"{vendor.title}, {name}"),
        dialects=_words(table, "dialects", DIALECTS, vendor.dialects),
        bindings=_words(table, "bindings", BINDINGS, vendor.bindings),
        options=table.texts("options", empty=False),
        notes=table.texts("notes", vendor.notes),
        expectations=tuple(_expectation(inner) for inner in table.tables("expectations")) or vendor.expectations,
    )
    if not NAME.fullmatch(name):
        raise Misuse(f"{table.where}: a variant's name is lower case letters, digits, '.' and '-', not {name!r}")
    table.done()
    return variant
