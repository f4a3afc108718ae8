"""`notebooks`: JupyterLab on a working copy (R41)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from a2a_lab.bundled import bundled_root
from a2a_lab.cli import show
from a2a_lab.errors import HarnessFault, Misuse


def notebooks_command(folder: Path, *, no_browser: bool, copy_only: bool) -> int:
    """Copy what is not there yet, never over what somebody changed, and start JupyterLab."""
    source = bundled_root() / "notebooks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for notebook in sorted(source.glob("*.ipynb")):
            target = folder / notebook.name
            if not target.exists():
                shutil.copyfile(notebook, target)
    except OSError as fault:
        raise Misuse(f"cannot write notebooks into {folder}: {fault.strerror}; name another folder") from fault
    show.say(f"notebooks: {folder}")
    if copy_only:
        return 0
    command = [sys.executable, "-m", "jupyterlab", str(folder), *(["--no-browser"] if no_browser else [])]
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as fault:
        raise HarnessFault(f"JupyterLab did not start: {fault}; install the extra `lab`") from fault
