"""`a2a-lab vendors signatures`: signed cards across signers, by the lab's profiles and by each SDK's own verifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Optional

import typer

if TYPE_CHECKING:
    from a2a_lab.lab.signers import Signatures, SignedCard
    from a2a_lab.vendors.verifiers import Verified

SHOWN = 90  # characters of an SDK's error; the whole of it is in the table


def signatures(
    names: Annotated[Optional[list[str]], typer.Argument(help="Signers to meet; none for all that can sign.")] = None,
    by: Annotated[
        Optional[list[str]], typer.Option("--by", help="A verifier to ask; repeatable. All, where none is named.")
    ] = None,
    out: Annotated[str, typer.Option("--out", help="Folder that the cards and the table are written into.")] = "runs",
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")] = False,
) -> None:
    """Let real agents sign their cards with a key of this run, and every verifier verify them.

    The environments that this takes are built, crewai's (1 GB) among them unless others are named. Ends with 3 where a
    signer could not be run.
    """
    from a2a_lab.cli import show
    from a2a_lab.lab.loop import run_sync
    from a2a_lab.lab.signers import cross_check

    with show.live("making a key") as tell:
        found = run_sync(cross_check(names or (), by=by or (), out=out, say=tell))
    if json:
        show.print_json(found.as_json())
    else:
        _show(found)
    raise typer.Exit(3 if found.missing else 0)


def _show(found: Signatures) -> None:
    from a2a_lab.cli import show

    for card in found.cards:
        show.say(f"{card.signer}, {card.name} name")
        for name, told in _lines(card):
            show.say(f"  {name:<16} {told}")
        show.say("")
    for name, why in found.missing.items():
        show.say(f"{name} was not met: {why}")
    show.say(f"cards, public key and table: {found.folder}")


def _lines(card: SignedCard) -> list[tuple[str, str]]:
    report = card.report
    standing = "with authority" if report.authoritative else "without authority"
    lines = [("the lab", f"{report.verified_by}, {standing}" if report.verified_by else "no profile passes")]
    lines += [("", f"{one.slug}: {one.detail}") for one in report.findings if not report.authoritative]
    lines.append(("passes", ", ".join(card.passes) or "nothing"))
    lines.append(("leaves out", ", ".join(report.uncovered) or "nothing"))
    for name, one in card.by_sdk.items():
        lines.append((name, one if isinstance(one, str) else _short(one)))
    return lines


def _short(one: Verified) -> str:
    return f"{one.told}: {one.error[:SHOWN]}" if one.error else one.told
