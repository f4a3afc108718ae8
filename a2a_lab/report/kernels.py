"""Starts the kernels of executed notebooks: the lab's own interpreter, over local sockets, and interruptible together.

A kernel runs the interpreter that runs the lab, whatever kernel specification a user has installed under the same
name. Its channels are files where the system has them, which also spares the warning about an unencrypted port.
Kernels live in sessions of their own, so Ctrl-C does not reach them: `interrupt_all` hands it on, and a run that is
interrupted still writes its footer. The folder of a lab that was killed is removed by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar

from a2a_lab.report.notebooks import nbformat

nbformat()  # before nbclient and papermill, which import it at once

from jupyter_client.manager import AsyncKernelManager  # noqa: E402

_PREFIX, _OWNED = "a2a-kernel-", "owned"
_SETTLED_S = 10.0  # another lab may be about to take the lock of a folder that it has just made
_SOCKET_PATH = 100  # bytes that a socket's path may have (108 on Linux, 104 on macOS), less the channel's number


class LabKernelManager(AsyncKernelManager):
    """One kernel of the lab, with a folder of its own. All live ones are known, so that they can be interrupted."""

    live: ClassVar[set[LabKernelManager]] = set()

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # A folder each: beside one another, two kernels that start at once would take the same sockets.
        _sweep()
        self._folder = tempfile.mkdtemp(prefix=_PREFIX)
        self._mine = os.open(os.path.join(self._folder, _OWNED), os.O_RDWR | os.O_CREAT, 0o600)
        _locks(self._mine)
        self.connection_file = os.path.join(self._folder, "kernel.json")
        if os.name == "posix" and len(os.fsencode(self.connection_file)) <= _SOCKET_PATH:
            self.transport = "ipc"

    def format_kernel_cmd(self, extra_arguments: list[str] | None = None) -> list[str]:
        """The lab's interpreter, not the one that a kernel specification names."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", self.connection_file]
        return command + [argument for argument in extra_arguments or [] if argument]

    async def _async_start_kernel(self, **kwargs: Any) -> None:
        await super()._async_start_kernel(**kwargs)
        LabKernelManager.live.add(self)

    start_kernel = _async_start_kernel

    async def _async_cleanup_resources(self, restart: bool = False) -> None:
        LabKernelManager.live.discard(self)
        await super()._async_cleanup_resources(restart=restart)
        if not restart:
            with contextlib.suppress(OSError):
                os.close(self._mine)
            shutil.rmtree(self._folder, ignore_errors=True)

    cleanup_resources = _async_cleanup_resources

    async def _async_interrupt_kernel(self) -> None:
        """Nothing: asked for at every shutdown, where an idle kernel would only complain about it on the terminal."""

    interrupt_kernel = _async_interrupt_kernel

    def send(self, number: int) -> None:
        pid = getattr(self.provisioner, "pid", None)
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def _locks(handle: int) -> bool:
    """Take the lock, which the system drops with its holder; False where another lab holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sweep() -> None:
    """Remove the folders of labs that were killed: those whose lock nobody holds."""
    for owned in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_OWNED}"):
        with contextlib.suppress(OSError):
            handle = os.open(owned, os.O_RDWR)
            try:
                if time.time() - os.fstat(handle).st_mtime > _SETTLED_S and _locks(handle):
                    shutil.rmtree(owned.parent, ignore_errors=True)
            finally:
                os.close(handle)


def interrupt_all() -> None:
    """Hand Ctrl-C on to every live kernel."""
    for manager in list(LabKernelManager.live):
        manager.send(signal.SIGINT)


def kill_all() -> None:
    """End every live kernel at once; for when an interrupt was not enough."""
    for manager in list(LabKernelManager.live):
        manager.send(getattr(signal, "SIGKILL", signal.SIGTERM))
