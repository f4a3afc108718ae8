"""Runs one command and sees to it that nothing of it outlives the lab.

Started by path (`python -I -S keeper.py GRACE_S CWD COMMAND...`), in a session of its own, with a pipe from the lab as
standard input: the end of that pipe, whatever ended the lab, ends the command. The command gets a process group of
its own, and only that group is ever signalled. CWD `-` is a scratch folder that is removed afterwards.

On standard output go JSON lines about the command (`{"pid": n}`, then `{"exit": status}`, negative for a signal, or
`{"failed": reason}`); what the command itself writes, on either stream, goes to standard error. Knows nothing of the
rest of the package, so that it starts in a few milliseconds.
"""

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
    """Tell the lab; a lab that is gone does not matter here."""
    try:
        os.write(1, (json.dumps(fact) + "\n").encode("ascii"))
    except OSError:
        pass


def group_is_empty(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # how macOS answers for a group of which only the unreaped leader is left
        return True
    return False


def signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass


def end_group(group: int, grace_s: float) -> None:
    """Ask the group to end, wait, then make it. It may be the leader only, or helpers that the leader left behind."""
    signal_group(group, signal.SIGTERM)
    until = time.monotonic() + grace_s
    while time.monotonic() < until and not group_is_empty(group):
        time.sleep(GROUP_POLL_S)
    signal_group(group, signal.SIGKILL)


def when_the_lab_is_gone(group: int, grace_s: float) -> None:
    while os.read(0, 4096):
        pass
    end_group(group, grace_s)


def main(grace_s: float, folder: str, command: list[str]) -> int:
    # Only the lab decides when this ends. Handlers, not SIG_IGN: what is ignored would stay ignored in the command.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    scratch = tempfile.mkdtemp(prefix="a2a-lab-") if folder == "-" else None
    try:
        try:
            child = subprocess.Popen(
                command, cwd=scratch or folder, stdin=subprocess.DEVNULL, stdout=2, stderr=2, process_group=0
            )
        except OSError as error:
            say(failed=f"{command[0]}: {error.strerror or error}")
            return 1
        say(pid=child.pid)
        threading.Thread(target=when_the_lab_is_gone, args=(child.pid, grace_s), daemon=True).start()
        status = child.wait()
        if not group_is_empty(child.pid):
            end_group(child.pid, grace_s)
        say(exit=status)
        return 0
    finally:
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2], sys.argv[3:]))
