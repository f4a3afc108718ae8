"""The command line, command by command. Each does what a notebook can do as well."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from a2a_lab import __version__

app = typer.Typer(
    name="a2a-lab",
    help="Interoperability lab for A2A: which vendor pairs work, where each breaks, and whose fault it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
ledger_app = typer.Typer(help="What runs left behind at agents.", no_args_is_help=True, add_completion=False)
app.add_typer(ledger_app, name="ledger")

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for programs.")]
Out = Annotated[str, typer.Option("--out", help="Folder that run folders are written into.")]
Only = Annotated[str, typer.Option("--only", help="Only cells whose key contains this text, or matches it (* ? [).")]
Attempts = Annotated[int, typer.Option("--attempts", help="How often each pair runs.")]
Timeout = Annotated[
    Optional[float],
    typer.Option("--transport-timeout", help="Seconds until a trusting client gives up; the record's own is 30."),
]
MustInclude = Annotated[str, typer.Option("--must-include", help="Only pairs of this agent or consumer.")]
Replace = Annotated[
    Optional[list[str]],
    typer.Option("--replace", help="NAME=OTHER or NAME=MATRIX:OTHER: another occupant for an agent."),
]


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"a2a-lab {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version.")
    ] = False,
) -> None:
    """Interoperability lab for A2A."""


@app.command()
def report(
    context: typer.Context,
    runs: Annotated[
        Optional[list[Path]],
        typer.Argument(metavar="RUN", help="Folder of a recorded run, or of two to compare; nothing is run then."),
    ] = None,
    matrix: Annotated[
        str, typer.Option("--matrix", help="A bundled matrix by name, or the path of a matrix file.")
    ] = "seven-pairs",
    page: Annotated[Optional[Path], typer.Option("--page", help="Where to write the page.")] = None,
    out: Out = "runs",
    transport_timeout: Timeout = None,
    only: Only = "",
    attempts: Attempts = 1,
    bodies: Annotated[bool, typer.Option("--bodies", help="Show what messages and artifacts contain.")] = False,
    fail_on: Annotated[
        str,
        typer.Option("--fail-on", help="End with 1 if the enforcing run has a finding of: spec, policy, hang, orphan."),
    ] = "",
    notebook: Annotated[
        str, typer.Option("--notebook", help="Make the page of this notebook instead: a bundled name, or a path.")
    ] = "",
    parameter: Annotated[
        Optional[list[str]], typer.Option("-p", "--parameter", help="NAME=VALUE for the notebook; repeatable.")
    ] = None,
    json: Json = False,
) -> None:
    """Run a matrix in both postures, compare them, and write one self-contained HTML page.

    With the folder of a RUN its page is written again, in seconds and without running anything; with two they are
    compared. With --notebook another of the lab's notebooks is executed and made into a page, such as: --notebook
    vendor -p url=https://agent.example
    """
    from a2a_lab.cli.reporting import again_command, notebook_command, refuse_mixture, report_command

    sources = {name: context.get_parameter_source(name) for name in context.params}
    refuse_mixture([name for name, source in sources.items() if source is not None and source.name != "DEFAULT"])
    if notebook:
        raise typer.Exit(notebook_command(notebook, parameter or [], page=page, out=out, as_json=json))
    if runs:
        from a2a_lab.lab.runreading import run_folder

        runs = [run_folder(given) for given in runs]
        raise typer.Exit(again_command(runs, page=page, bodies=bodies, fail_on=fail_on, as_json=json))

    raise typer.Exit(
        report_command(
            matrix=matrix,
            page=page,
            out=out,
            transport_timeout_s=transport_timeout,
            only=only,
            attempts=attempts,
            bodies=bodies,
            fail_on=fail_on,
            as_json=json,
        )
    )


@app.command()
def run(
    matrix: Annotated[
        str, typer.Argument(help="A bundled matrix by name, or the path of a matrix file.")
    ] = "seven-pairs",
    posture: Annotated[str, typer.Option("--posture", help="trusting, enforcing or both.")] = "both",
    out: Out = "runs",
    transport_timeout: Timeout = None,
    only: Only = "",
    must_include: MustInclude = "",
    replace: Replace = None,
    attempts: Attempts = 1,
    resume: Annotated[
        Optional[Path], typer.Option("--resume", help="Run what this cut or interrupted run lacks.")
    ] = None,
    json: Json = False,
) -> None:
    """Run cells and record them; no notebook, no page."""
    from a2a_lab.cli.running import run_command

    raise typer.Exit(
        run_command(
            matrix,
            posture=posture,
            out=out,
            transport_timeout_s=transport_timeout,
            only=only,
            must_include=must_include,
            replace=replace or [],
            attempts=attempts,
            resume=resume,
            as_json=json,
        )
    )


@app.command()
def plan(
    matrix: Annotated[
        str, typer.Argument(help="A bundled matrix by name, or the path of a matrix file.")
    ] = "seven-pairs",
    posture: Annotated[str, typer.Option("--posture", help="trusting, enforcing or both.")] = "both",
    only: Only = "",
    must_include: MustInclude = "",
    replace: Replace = None,
    attempts: Attempts = 1,
    json: Json = False,
) -> None:
    """List the cells of a run, and what they would cost agents that are not ours, without running anything."""
    from a2a_lab.cli.running import plan_command

    raise typer.Exit(
        plan_command(
            matrix,
            posture=posture,
            only=only,
            must_include=must_include,
            replace=replace or [],
            attempts=attempts,
            as_json=json,
        )
    )


@app.command()
def compare(
    base: Annotated[Path, typer.Argument(help="Folder of the earlier run; with --baseline, of the only one.")],
    other: Annotated[Optional[Path], typer.Argument(help="Folder of the later run.")] = None,
    baseline: Annotated[
        str, typer.Option("--baseline", help="What pairs did elsewhere: a file, or `measured`, which the lab brings.")
    ] = "",
    json: Json = False,
) -> None:
    """Compare two runs pair by pair, or a run of real vendors with a baseline.

    Ends with 1 where something works no longer, or differs from the baseline and nothing in it says why.
    """
    from a2a_lab.lab.runreading import run_folder

    base = run_folder(base)
    if baseline:
        from a2a_lab.cli.baselines import baseline_command

        raise typer.Exit(baseline_command(base, other, baseline, as_json=json))
    if other is None:
        from a2a_lab.errors import Misuse

        raise Misuse("one run compares with nothing; name a second one, or --baseline measured")
    from a2a_lab.cli.running import compare_command

    raise typer.Exit(compare_command(base, run_folder(other), as_json=json))


@app.command()
def notebooks(
    folder: Annotated[Path, typer.Argument(help="Where the working copy is put.")] = Path("a2a-lab-notebooks"),
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only start the server.")] = False,
    copy_only: Annotated[bool, typer.Option("--copy-only", help="Put the copy there and start nothing.")] = False,
) -> None:
    """Open the notebooks in JupyterLab, on a copy of your own."""
    from a2a_lab.cli.books import notebooks_command

    raise typer.Exit(notebooks_command(folder, no_browser=no_browser, copy_only=copy_only))


@ledger_app.command("orphans")
def orphans(
    out: Out = "runs",
    run: Annotated[str, typer.Option("--run", help="Only of this run.")] = "",
    json: Json = False,
) -> None:
    """List tasks and artifacts that were left behind, and those that a killed lab may have started."""
    from a2a_lab.cli.ledgers import orphans_command

    raise typer.Exit(orphans_command(out, run=run, as_json=json))


@ledger_app.command("cleanup")
def cleanup(
    out: Out = "runs",
    run: Annotated[str, typer.Option("--run", help="Only of this run.")] = "",
    header_env: Annotated[
        Optional[list[str]],
        typer.Option("--header-env", help="NAME=VARIABLE: a header whose value is in that variable."),
    ] = None,
    vendor: Annotated[str, typer.Option("--vendor", help="Vendor file of the agent, with its credentials.")] = "",
    json: Json = False,
) -> None:
    """Cancel what is left open, look whether that held, and say what remains."""
    from a2a_lab.cli.ledgers import cleanup_command

    raise typer.Exit(cleanup_command(out, run=run, header_env=header_env or [], vendor=vendor, as_json=json))


from a2a_lab.cli import (  # noqa: E402  # commands whose options fill files of their own
    checking,
    judge,
    observing,
    replaying,
    reproducing,
    steps,
    vendors,
)

checking.register(app)
judge.register(app)
observing.register(app)
replaying.register(app)
reproducing.register(app)
steps.register(app)
vendors.register(app)
