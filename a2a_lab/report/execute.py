"""Executes notebooks in process through papermill, with typed parameters, and refuses what papermill lets pass.

Parameters travel as values and never as text, so `"1.0"` stays text; unknown ones are refused before a kernel starts.
What a notebook raised comes back as the lab's own error where it was one. Whether cells ended is never read from
papermill's metadata, which calls a hung cell completed: a run's truth is the footer of its records.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from a2a_lab.errors import HarnessFault, LabError, Misuse, RecordFault
from a2a_lab.lab.params import refuse_unknown, typed
from a2a_lab.report.notebooks import nbformat, read_notebook

_OWN = {"Misuse": Misuse, "RecordFault": RecordFault, "HarnessFault": HarnessFault}


def execute(notebook: Path, output: Path, parameters: Mapping[str, Any]) -> Any:
    """Execute a notebook and return it with its outputs; `output` is saved after each cell.

    `Misuse` for unknown or mistyped parameters, and whatever the lab raised inside; `HarnessFault` for the rest.
    """
    nbformat()
    from nbclient.exceptions import CellExecutionError, DeadKernelError
    from papermill import execute_notebook
    from papermill.exceptions import PapermillException, PapermillExecutionError

    from a2a_lab.report.kernels import LabKernelManager

    given = _checked(notebook, parameters)
    logging.getLogger("papermill").setLevel(logging.ERROR)  # it logs what the lab refuses or reports itself
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        return execute_notebook(
            read_notebook(notebook),
            str(output).replace("{", "{{").replace("}", "}}"),  # papermill formats the path
            parameters=given,
            progress_bar=False,
            kernel_manager_class=LabKernelManager,
        )
    except PapermillExecutionError as failed:
        raise _told(notebook, output, failed.ename, failed.evalue) from failed
    except DeadKernelError as dead:
        raise HarnessFault(f"the kernel of {notebook.name} died; what it had done is in {output}") from dead
    except (PapermillException, CellExecutionError) as failed:
        raise HarnessFault(f"{notebook.name} could not be executed: {failed}") from failed


def _told(notebook: Path, output: Path, name: str, value: str) -> LabError:
    if name in _OWN:
        return _OWN[name](value)
    return HarnessFault(f"{notebook.name} failed with {name}: {value:.500}; the executed notebook is {output}")


def declared_parameters(notebook: Path) -> dict[str, str]:
    """The parameters that a notebook declares, by name, with their type as it stands in the cell."""
    nbformat()
    from papermill import inspect_notebook

    logging.getLogger("papermill").setLevel(logging.ERROR)
    if not notebook.is_file():
        raise Misuse(f"there is no notebook {notebook}; name one, or use a bundled one")
    found: dict[str, Any] = inspect_notebook(str(notebook).replace("{", "{{").replace("}", "}}"))
    return {name: str(entry["inferred_type_name"]) for name, entry in found.items()}


def _checked(notebook: Path, parameters: Mapping[str, Any]) -> dict[str, Any]:
    declared = declared_parameters(notebook)
    refuse_unknown(parameters, declared, where=notebook.name)
    return {name: typed(name, value, declared[name]) for name, value in parameters.items()}
