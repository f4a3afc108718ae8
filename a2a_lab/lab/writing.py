"""Makes parts of a cell's record out of what the judges and the books hold; the same for every kind of cell."""

from __future__ import annotations

from datetime import UTC, datetime

from a2a_lab.core.canonical import content_digest, portable_digest
from a2a_lab.core.model import Card
from a2a_lab.core.tasks import TaskBook
from a2a_lab.core.urls import origin
from a2a_lab.errors import LabError, MalformedJson
from a2a_lab.lab.records import CellKey, CellRecord, Orphan, StageRecord
from a2a_lab.net.redact import Redactor
from a2a_lab.verdicts import Findings, NotGradeable, Stage


def stages_of(findings: Findings) -> dict[Stage, StageRecord]:
    return {
        stage: StageRecord(verdict=verdict, findings=tuple(found))
        for stage, (verdict, found) in findings.stages.items()
    }


def orphans_of(book: TaskBook, redactor: Redactor) -> tuple[Orphan, ...]:
    return tuple(
        Orphan(
            agent=row.agent,
            task_id=redactor.value(row.task_id),
            artifact_or_message_id=redactor.value(row.artifact_or_message_id),
            media_type=redactor.value(row.media_type),
            bytes=row.bytes,
            state=f"{row.state}, clean-up {row.cleanup}",
        )
        for row in book.orphans()
    )


def digests_of(card: Card | None, card_url: str | None) -> dict[str, str]:
    """The digests of the card that a cell used, as members of its record; none where there is no such card."""
    if card is None or card_url is None:
        return {}
    try:
        return {
            "card_digest": content_digest(card.document),
            "portable_digest": portable_digest(card.document, origin(card_url)),
        }
    except MalformedJson:
        return {}


def harness_error(key: CellKey, fault: LabError, started: str) -> CellRecord:
    """The record of a cell that the lab could not run; nothing of it counts against a vendor."""
    return CellRecord(
        key=key,
        verdict=NotGradeable.HARNESS_ERROR,
        authority="advisory",
        because=(fault.slug,),
        said=fault.message,
        errors=(fault.slug,),
        started=started,
        ended=now(),
    )


def iso(moment: datetime) -> str:
    """A time as records have it: ISO 8601 in UTC, to the millisecond."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def now() -> str:
    return iso(datetime.now(UTC))
