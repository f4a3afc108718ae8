"""The command `a2a-lab`: thin. Reads options, calls the package, shows what came, and ends with the code of R39."""

from __future__ import annotations

import sys
import traceback

from a2a_lab.cli.app import app
from a2a_lab.cli.show import fail
from a2a_lab.errors import HarnessFault, LabError

USAGE, HARNESS = 2, 3  # R39
INTERRUPTED = 130  # as shells say it: 128 and SIGINT


def main() -> None:
    """Entry point. Every error of the lab is one sentence on stderr; a traceback is a defect of ours."""
    sys.exit(_run())


def _run() -> int:
    try:
        # Without its standalone mode typer gives the code of `typer.Exit` and lets everything else through, but a
        # Ctrl-C, of which some releases make a code and others an Abort.
        code = int(app(standalone_mode=False, prog_name="a2a-lab") or 0)
        return _interrupted() if code == INTERRUPTED else code
    except LabError as fault:
        fail(fault.message)
        return HARNESS if isinstance(fault, HarnessFault) else USAGE
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as fault:
        # Usage errors: typer brings its own copy of click, whose classes are not to be imported.
        if hasattr(fault, "format_message") and hasattr(fault, "show"):
            fault.show()
            return USAGE
        if type(fault).__name__ == "Abort":
            return _interrupted()
        traceback.print_exc()
        return HARNESS  # never 1, which says something about a vendor


def _interrupted() -> int:
    fail(
        "interrupted; what was recorded is kept. a2a-lab run --resume RUN goes on with a run, "
        "a2a-lab ledger orphans lists what is left"
    )
    return INTERRUPTED
