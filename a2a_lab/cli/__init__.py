"""The command `a2a-lab`: thin. Reads options, calls the package, shows what came, and ends with the code of R39."""

from __future__ import annotations

import sys

from a2a_lab.cli.app import app
from a2a_lab.cli.show import fail
from a2a_lab.errors import HarnessFault, LabError


def main() -> None:
    """Entry point. Every error of the lab is one sentence on stderr; a traceback is a defect of ours."""
    sys.exit(_run())


def _run() -> int:
    try:
        # Without its standalone mode typer gives the code of `typer.Exit` and lets everything else through.
        return int(app(standalone_mode=False, prog_name="a2a-lab") or 0)
    except LabError as fault:
        fail(fault.message)
        return 3 if isinstance(fault, HarnessFault) else 2
    except KeyboardInterrupt:
        fail("interrupted; what was recorded is kept")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as fault:
        # Usage errors: typer brings its own copy of click, whose classes are not to be imported.
        if hasattr(fault, "format_message") and hasattr(fault, "show"):
            fault.show()
            return 2
        if type(fault).__name__ == "Abort":
            return 130
        raise
