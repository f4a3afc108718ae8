"""A run of the size of `real-full`: every agent with every consumer, twice, with what is expected of it and some news.

Made from the plan and the expectations of the bundled matrix, so that it grows with the vendors; nothing is built.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import synthetic_runs as synthetic

from a2a_lab.lab.expectations import Expected, find_expectations, of_vendors
from a2a_lab.lab.matrix import Matrix
from a2a_lab.lab.pairing_plan import PairCell, plan_pairs
from a2a_lab.lab.records import CellRecord, VendorRecord, evidence_path
from a2a_lab.verdicts import NotGradeable, Stage, Verdict
from a2a_lab.wire.har import to_har

NEWS = 17  # every so manyth cell comes out otherwise than expected


def write_field(folder: Path, matrix: str = "real-full", *, only: str = "", with_news: bool = True) -> Path:
    """The run in `folder`, each cell with its evidence; every NEWS-th cell is news, one agent is skipped throughout."""
    loaded = Matrix.load(matrix)
    pairings = loaded.pairings
    assert pairings is not None
    plan = plan_pairs(loaded, only=only)
    vendors = [one.vendor for one in pairings.agents.values()]
    vendors += [one.vendor for one in pairings.consumers.values() if one.vendor is not None]
    known = (*find_expectations(matrix), *of_vendors(vendors))
    missing = plan[-1].agent.name
    cells = [_cell(cell, known, with_news and not place % NEWS, missing) for place, cell in enumerate(plan)]
    synthetic.write(
        folder,
        cells,
        posture="mixed",
        matrix=matrix,
        parameters={"matrix": matrix},
        vendors={cell.key.agent: VendorRecord(version=cell.key.agent_version, reach="environment") for cell in cells},
    )
    for record in cells:
        if record.evidence:
            har = to_har(synthetic.exchanges_of(record), started=synthetic.STARTED, tool="t 1", comment=str(record.key))
            (folder / record.evidence).write_text(synthetic.json.dumps(har))
    return folder


def _cell(cell: PairCell, known: tuple[Expected, ...], is_news: bool, missing: str) -> CellRecord:
    if cell.agent.name == missing:
        said = f"{missing} was not built (step install): a tool is missing"
        ungraded = synthetic.cell(cell.key, NotGradeable.HARNESS_ERROR, said=said, stages={})
        return replace(ungraded, errors=("harness-fault",))
    expected = next((one for one in known if one.matches(str(cell.key))), None)
    fails = (expected is not None and not is_news) or (expected is None and is_news)
    if not fails:
        made = synthetic.cell(cell.key, said="completed with 1 artifact")
    else:
        cause = expected.cause if expected is not None and expected.cause else "wire-type-mismatch"
        verdict = Verdict(expected.verdict) if expected is not None and expected.verdict else Verdict.REFUSE
        found = synthetic.finding(cause, Stage.RECEIVE, verdict)
        made = synthetic.cell(cell.key, verdict, [found], said=f"failed: {cause}")
    return replace(made, evidence=evidence_path(cell.key))
