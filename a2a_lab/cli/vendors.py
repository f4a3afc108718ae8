"""`a2a-lab vendors`: which real vendors there are, what building them takes, and one of them on a port or checked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

if TYPE_CHECKING:
    from a2a_lab.vendors.vendor import Vendor

vendors_app = typer.Typer(
    help="Real vendors: list, build, serve and check them.", no_args_is_help=True, add_completion=False
)
_USAGE = 2  # how programs end that do not know an option
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")]
Name = Annotated[str, typer.Argument(help="A vendor or a variant of one, such as a2a-sdk-1.3+compat.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    from a2a_lab.cli.signatures import signatures

    vendors_app.command("signatures")(signatures)
    app.add_typer(vendors_app, name="vendors")


@vendors_app.command("list")
def list_vendors(json: Json = False) -> None:
    """List every vendor and variant, with what its environment took where it is built."""
    from a2a_lab.cli import show
    from a2a_lab.vendors.registry import read_vendors

    rows = [_row(vendor) for vendor in read_vendors().values()]
    if json:
        show.print_json({"vendors": rows})
        return
    for row in rows:
        took = f", {row['bytes'] / 1e6:.0f} MB in {row['seconds']:.0f} s" if row["bytes"] else ""
        show.say(f"{row['name']:<25} {row['version']:<9} {' and '.join(row['roles'])}")
        show.say(f"    {', '.join(row['dialects'])} over {', '.join(row['bindings'])}; {row['environment']}{took}")


@vendors_app.command("build")
def build(
    names: Annotated[Optional[list[str]], typer.Argument(help="Vendors to build; none for --all.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Build every vendor that there is.")] = False,
    json: Json = False,
) -> None:
    """Build the environments of vendors, one after another. Ends with 3 where one could not be built."""
    from a2a_lab.cli import show
    from a2a_lab.errors import HarnessFault, Misuse
    from a2a_lab.vendors.environments import ensure_environment
    from a2a_lab.vendors.registry import find_vendor, read_vendors

    if not names and not every:
        raise Misuse("name a vendor to build, or --all; a2a-lab vendors list shows them")
    wanted = list(read_vendors().values()) if every else [find_vendor(name) for name in names or ()]
    told: list[dict[str, Any]] = []
    for vendor in {one.environment_name: one for one in wanted}.values():
        try:
            with show.live(f"building {vendor.environment_name}") as tell:
                built = ensure_environment(vendor, say=tell)
            told.append(
                {"name": built.name, "seconds": built.seconds, "bytes": built.bytes, "folder": str(built.folder)}
            )
            if not json:
                show.say(f"{built.name}: {built.bytes / 1e6:.0f} MB, built in {built.seconds:.1f} s: {built.folder}")
        except HarnessFault as fault:
            why = {name: value for name, value in fault.fields.items() if name in ("step", "cause", "log")}
            told.append({"name": vendor.environment_name, "problem": fault.message.splitlines()[0], **why})
            show.fail(fault.message)
    if json:
        show.print_json({"environments": told})
    raise typer.Exit(3 if any("problem" in one for one in told) else 0)


@vendors_app.command("prune")
def prune(
    yes: Annotated[bool, typer.Option("--yes", help="Remove what is shown; without it nothing is.")] = False,
    json: Json = False,
) -> None:
    """Show environments that no lock leads to any more, with their size, and with --yes remove them.

    Those that a living lab uses stay. Another checkout with other locks is not asked: its environments are shown here.
    """
    from a2a_lab.cli import show
    from a2a_lab.vendors import pruning
    from a2a_lab.vendors.registry import read_vendors

    found = pruning.stale(read_vendors())
    free = [one for one in found if not one.in_use]
    gone = list(pruning.prune(free)) if yes else []
    if json:
        show.print_json({"stale": [one.as_json() for one in found], "removed": [str(one.folder) for one in gone]})
        return
    for one in found:
        done = "removed" if one in gone else "in use" if one.in_use else "stale"
        show.say(f"{done:<8} {one.bytes / 1e6:>6.0f} MB  {one.folder.name}: {one.why}")
    size = sum(one.bytes for one in (gone if yes else free)) / 1e6
    if yes:
        show.say(f"removed {len(gone)} of {len(found)}, {size:.0f} MB")
    else:
        show.say(f"{len(free)} could be removed, {size:.0f} MB" + ("; --yes removes them" if free else ""))


@vendors_app.command("serve")
def serve(
    name: Name,
    option: Annotated[
        Optional[list[str]], typer.Option("--option", help="One more word of its launch line; repeatable.")
    ] = None,
    json: Json = False,
) -> None:
    """Serve a vendor's agent on a free port until Ctrl-C; what it is asked is in its own log, if it keeps one."""
    from a2a_lab.errors import Misuse
    from a2a_lab.lab.loop import run_sync
    from a2a_lab.vendors.registry import find_vendor

    vendor = find_vendor(name)
    if vendor.agent is None:
        raise Misuse(
            f"{vendor.name} serves no agent; its roles are {', '.join(vendor.roles)}, see a2a-lab vendors list"
        )
    with contextlib.suppress(KeyboardInterrupt):
        run_sync(_serve(vendor, tuple(option or ()), as_json=json))


async def _serve(vendor: Vendor, options: tuple[str, ...], *, as_json: bool) -> None:
    with _of_options(vendor, options):
        await _serve_until_it_ends(vendor, options, as_json=as_json)


@contextlib.contextmanager
def _of_options(vendor: Vendor, options: tuple[str, ...]) -> Iterator[None]:
    """A program that ends as one that was used wrongly was given a word that it does not know: Misuse, not a fault."""
    from a2a_lab.errors import HarnessFault, Misuse

    try:
        yield
    except HarnessFault as fault:
        if not options or fault.fields.get("exit_status") != _USAGE:
            raise
        said = [line.strip() for line in str(fault.fields.get("output", "")).splitlines() if line.strip()]
        told = f": {said[-1]}" if said else ""
        raise Misuse(
            f"--option {' '.join(options)}: the agent of {vendor.name} was not started with it{told}"
        ) from fault


async def _serve_until_it_ends(vendor: Vendor, options: tuple[str, ...], *, as_json: bool) -> None:
    from a2a_lab.cli import show
    from a2a_lab.errors import HarnessFault
    from a2a_lab.vendors.environments import ensure_environment
    from a2a_lab.vendors.ports import Ports
    from a2a_lab.vendors.served import served

    environment = await asyncio.to_thread(ensure_environment, vendor, say=lambda told: show.err.print(show.plain(told)))
    with Ports() as ports:
        async with served(vendor, environment, ports=ports, options=options) as agent:
            if as_json:
                show.print_json(
                    {"name": vendor.name, "url": agent.address, "card_url": agent.card_url, "pid": agent.pid}
                )
            else:
                # An address stands alone at the end of its line, so that it can be picked up whole.
                show.say(f"{vendor.title}, until Ctrl-C")
                show.say(f"agent  {agent.address}")
                show.say(f"card   {agent.card_url}")
            while not agent.ended:
                await asyncio.sleep(0.2)
            raise HarnessFault(f"{vendor.name} ended by itself; it printed last:\n{agent.output.last_lines()}")


@vendors_app.command("check")
def check(
    name: Name,
    out: Annotated[str, typer.Option("--out", help="Folder that run folders are written into.")] = "runs",
    json: Json = False,
) -> None:
    """Build a vendor and let it meet the lab's enforcing consumer and its own kind, once a send and a stream.

    Ends with 0 where all of it works, 1 where something does not, 3 where it could not be run.
    """
    from a2a_lab.cli import pairs, show
    from a2a_lab.lab.records import read_run
    from a2a_lab.lab.vendor_check import check_vendor
    from a2a_lab.tabulate import summary

    with show.live(f"checking {name}") as tell:
        folder = check_vendor(name, out=out, watcher=lambda now: tell(f"{now.done} of {now.planned} cells"))
    run = read_run(folder, allow_cut=True)
    if json:
        show.print_json({"run": str(folder), "summary": summary(run), "cells": [cell.as_json() for cell in run.cells]})
    else:
        pairs.show_cells(run)
        show.say(f"records: {folder}")
    raise typer.Exit(
        3 if not all(cell.is_graded for cell in run.cells) else 0 if all(c.works for c in run.cells) else 1
    )


def _row(vendor: Vendor) -> dict[str, Any]:
    from a2a_lab.errors import HarnessFault
    from a2a_lab.vendors.environments import find_environment, new_recipe

    row: dict[str, Any] = {
        "name": vendor.name,
        "title": vendor.title,
        "version": vendor.version,
        "roles": list(vendor.roles),
        "dialects": list(vendor.dialects),
        "bindings": list(vendor.bindings),
        "environment": "not built",
        "bytes": None,
        "seconds": None,
    }
    try:
        new_recipe(vendor).require()
        built = find_environment(vendor)
    except HarnessFault as fault:
        return row | {"environment": fault.message.splitlines()[0]}
    if built is not None:
        row |= {"environment": "built", "bytes": built.bytes, "seconds": built.seconds}
    return row
