"""The command `a2a-lab`: thin. Reads options, calls the package, shows what came, and ends with the code of R39."""

from __future__ import annotations

import contextlib
import signal
import sys
import traceback
from types import FrameType
from typing import NoReturn

from a2a_lab.cli.app import app
from a2a_lab.cli.show import fail
from a2a_lab.errors import HarnessFault, LabError

USAGE, HARNESS = 2, 3  # R39
INTERRUPTED, TERMINATED = 130, 143  # as shells say it: 128 and SIGINT, or SIGTERM
_ended_by: list[int] = []


def main() -> None:
    """Entry point. Every error of the lab is one sentence on stderr; a traceback is a defect of ours."""
    before = None
    with contextlib.suppress(ValueError):  # not in the main thread: then whoever called decides
        before = signal.signal(signal.SIGTERM, _terminate)
    try:
        sys.exit(_run())
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    """What a service manager or `timeout` sends interrupts as Ctrl-C does: records are closed, nothing is left."""
    _ended_by.append(number)
    raise KeyboardInterrupt


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
    return TERMINATED if _ended_by else INTERRUPTED
