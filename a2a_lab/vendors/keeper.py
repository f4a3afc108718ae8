"""Runs one command and sees to it that nothing of it outlives the lab.

Started by path (`python -I -S keeper.py GRACE_S CWD COMMAND...`), in a session of its own, with a pipe from the lab as
standard input: the end of that pipe, whatever ended the lab, ends the command. The command gets a process group of
its own, and only that group is ever signalled. Its temporary files go into a scratch folder that is removed afterwards,
since programs that are ended leave theirs; CWD `-` is that folder.

On standard output go JSON lines about the command (`{"pid": n}`, then `{"exit": status}`, negative for a signal, or
`{"failed": reason}`); what the command itself writes, on either stream, goes to standard error. Knows nothing of the
rest of the package, so that it starts in a few milliseconds.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

GROUP_POLL_S = 0.02


def say(**fact: object) -> None:
    """Tell the lab; where the lab is gone, nobody minds."""
    with contextlib.suppress(OSError):
        os.write(1, (json.dumps(fact) + "\n").encode("ascii"))


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # how macOS answers for a group of which only an unreaped process is left
        return False
    return True


def signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def end_when_the_lab_is_gone(group: int, grace_s: float) -> None:
    """Wait for the end of the pipe, then ask the group to end, and after the grace make it."""
    while os.read(0, 4096):
        pass
    signal_group(group, signal.SIGTERM)
    until = time.monotonic() + grace_s
    while group_lives(group) and time.monotonic() < until:
        time.sleep(GROUP_POLL_S)
    if group_lives(group):
        signal_group(group, signal.SIGKILL)


def wait_and_sweep(child: "subprocess.Popen[bytes]") -> int:
    """The command's status, once nothing of its group is left: helpers that it left behind are ended at once."""
    if hasattr(os, "waitid"):
        # Not yet reaped: until it is, nobody else can be given the number of its group.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        signal_group(child.pid, signal.SIGKILL)
        return child.wait()
    status = child.wait()
    signal_group(child.pid, signal.SIGKILL)
    return status


def main(grace_s: float, folder: str, command: list[str]) -> int:
    # Only the lab decides when this ends. Handlers, not SIG_IGN: what is ignored would stay ignored in the command.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    scratch = tempfile.mkdtemp(prefix="a2a-lab-")
    temporary = os.path.join(scratch, "tmp")
    try:
        os.mkdir(temporary)
        child = subprocess.Popen(
            command,
            cwd=scratch if folder == "-" else folder,
            env={**os.environ, "TMPDIR": temporary},
            stdin=subprocess.DEVNULL,
            stdout=2,
            stderr=2,
            process_group=0,
        )
        say(pid=child.pid)
        threading.Thread(target=end_when_the_lab_is_gone, args=(child.pid, grace_s), daemon=True).start()
        say(exit=wait_and_sweep(child))
    except OSError as error:
        say(failed=f"{command[0]}: {error.strerror or error}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2], sys.argv[3:]))
