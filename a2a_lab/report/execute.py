"""Executes notebooks in process through papermill, side by side, and refuses what papermill lets pass.

Parameters travel as values and never as text, so `"1.0"` stays text; unknown ones are refused before a kernel starts.
What a notebook raised comes back as the lab's own error where it was one. Whether cells ended is never read from
papermill's metadata, which calls a hung cell completed: a run's truth is the footer of its records.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2a_lab.errors import HarnessFault, LabError, Misuse, RecordFault
from a2a_lab.lab.params import refuse_unknown, typed
from a2a_lab.report.notebooks import nbformat, read_notebook

_OWN = {"Misuse": Misuse, "RecordFault": RecordFault, "HarnessFault": HarnessFault}
_LOOK_S = 0.25  # how often somebody who waits is told something; people see no difference below that
_PATIENCE_S = 20.0  # for interrupted kernels to write their footer and to end their agents


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One notebook to execute; `output` is saved after each cell."""

    notebook: Path
    output: Path
    parameters: Mapping[str, Any]


def execute(notebook: Path, output: Path, parameters: Mapping[str, Any]) -> Any:
    """Execute one notebook and return it with its outputs; see `execute_all`."""
    (executed,) = execute_all([Job(notebook=notebook, output=output, parameters=parameters)])
    return executed


class Ear:
    """What papermill writes the stderr of a running notebook to: `hear` is told at once, not when all is over."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self.write = hear

    def flush(self) -> None:
        """Nothing is kept back."""


def execute_all(
    jobs: list[Job], *, tick: Callable[[], None] | None = None, hear: Callable[[str], None] | None = None
) -> list[Any]:
    """Execute notebooks at the same time, a kernel each, and return them with their outputs.

    `Misuse` for unknown or mistyped parameters, and whatever the lab raised inside; `HarnessFault` for the rest.
    Ctrl-C is handed on to the kernels, so that what they run ends in order. `tick` is called while waiting, `hear`
    with what notebooks write to stderr, such as what is being built.
    """
    checked = [(job, _checked(job)) for job in jobs]
    with ThreadPoolExecutor(max_workers=len(jobs)) as pool:
        running = [pool.submit(_execute, job, parameters, hear) for job, parameters in checked]
        _wait(running, tick)
        return [future.result() for future in running]


def _wait(running: list[Future[Any]], tick: Callable[[], None] | None) -> None:
    left = set(running)
    try:
        while left:
            _, left = wait(left, timeout=_LOOK_S)
            if tick is not None:
                tick()
    except KeyboardInterrupt:
        from a2a_lab.report.kernels import interrupt_all, kill_all

        interrupt_all()
        wait(left, timeout=_PATIENCE_S)
        kill_all()
        raise


def _execute(job: Job, parameters: Mapping[str, Any], hear: Callable[[str], None] | None = None) -> Any:
    """In a thread of its own, whose event loop is closed here: the libraries leave it open."""
    from jupyter_core.utils import ensure_event_loop
    from nbclient.exceptions import CellExecutionError, DeadKernelError
    from papermill import execute_notebook
    from papermill.exceptions import PapermillException, PapermillExecutionError

    from a2a_lab.report.kernels import LabKernelManager

    job.output.parent.mkdir(parents=True, exist_ok=True)
    loop = ensure_event_loop()
    try:
        return execute_notebook(
            read_notebook(job.notebook),
            str(job.output).replace("{", "{{").replace("}", "}}"),  # papermill formats the path
            parameters=parameters,
            progress_bar=False,
            kernel_manager_class=LabKernelManager,
            **({"stderr_file": Ear(hear)} if hear is not None else {}),
        )
    except PapermillExecutionError as failed:
        raise _told(job, failed.ename, failed.evalue) from failed
    except DeadKernelError as dead:
        raise HarnessFault(f"the kernel of {job.notebook.name} died; what it had done is in {job.output}") from dead
    except (PapermillException, CellExecutionError) as failed:
        raise HarnessFault(f"{job.notebook.name} could not be executed: {failed}") from failed
    finally:
        loop.close()


def _told(job: Job, name: str, value: str) -> LabError:
    if name in _OWN:
        return _OWN[name](value)
    return HarnessFault(f"{job.notebook.name} failed with {name}: {value:.500}; the executed notebook is {job.output}")


def declared_parameters(notebook: Path) -> dict[str, str]:
    """The parameters that a notebook declares, by name, with their type as it stands in the cell."""
    nbformat()
    from papermill import inspect_notebook

    logging.getLogger("papermill").setLevel(logging.ERROR)  # it logs what the lab refuses or reports itself
    if not notebook.is_file():
        raise Misuse(f"there is no notebook {notebook}; name one, or use a bundled one")
    found: dict[str, Any] = inspect_notebook(str(notebook).replace("{", "{{").replace("}", "}}"))
    return {name: str(entry["inferred_type_name"]) for name, entry in found.items()}


def _checked(job: Job) -> dict[str, Any]:
    declared = declared_parameters(job.notebook)
    refuse_unknown(job.parameters, declared, where=job.notebook.name)
    return {name: typed(name, value, declared[name]) for name, value in job.parameters.items()}
