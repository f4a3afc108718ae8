"""The way back from a line of a records file to its type.

A line that lacks something or holds the wrong type is a `RecordFault` that names the field, what stands there and what
belongs there. Members that this version does not know are passed over, so that an older lab reads what a newer one of
the same schema wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2a_lab.errors import Misuse, RecordFault
from a2a_lab.lab.rows import (
    SCHEMA,
    CellKey,
    CellRecord,
    Footer,
    Header,
    Measures,
    Orphan,
    Outcome,
    StageRecord,
    VendorRecord,
)
from a2a_lab.verdicts import Finding, Judge, Kind, NotGradeable, Stage, Verdict


def read_header(line: Mapping[str, Any]) -> Header:
    """The header of a run. Another schema is refused before anything else of it is believed."""
    read = Reader(line, "header")
    schema = read.whole("schema")
    if schema != SCHEMA:
        newer = "update a2a-lab to read it" if schema > SCHEMA else "run the matrix again"
        raise RecordFault(f"records of schema {schema}; this a2a-lab reads schema {SCHEMA}: {newer}", schema=schema)
    return Header(
        run=read.text("run"),
        tool=read.text("tool"),
        posture=read.text("posture"),
        matrix=read.text("matrix"),
        plan=tuple(str(_key(key)) for key in read.texts("plan")),
        parameters=dict(read.table("parameters").line),
        vendors={name: _vendor(row) for name, row in read.items("vendors")},
        started=read.text("started"),
    )


def read_footer(line: Mapping[str, Any]) -> Footer:
    read = Reader(line, "footer")
    return Footer(cells=read.whole("cells"), ended=read.text("ended"), interrupted=read.flag("interrupted"))


def read_cell(line: Mapping[str, Any]) -> CellRecord:
    """One cell; what `CellRecord.as_json` wrote comes back equal."""
    read = Reader(line, "cell line")
    authority = read.table("authority")
    return CellRecord(
        key=_key(read.text("cell")),
        verdict=_outcome(read.text("verdict")),
        authority=authority.text("status"),
        because=authority.texts("because"),
        stages=read_stages(line),
        said=read.text("said"),
        mode=read.text_or_none("mode"),
        errors=read.texts("errors"),
        measures=_measures(read.table("measures").line),
        closure=read.text_or_none("closure"),
        orphans=tuple(_orphan(row) for row in read.rows("orphans")),
        evidence=read.text_or_none("evidence"),
        card_digest=read.text_or_none("card_digest"),
        portable_digest=read.text_or_none("portable_digest"),
        started=read.text("started"),
        ended=read.text("ended"),
    )


def read_stages(line: Mapping[str, Any]) -> dict[Stage, StageRecord]:
    """The `stages` member of a cell line, or of what `check --json` prints: both have the same shape."""
    read = Reader(line, "stages")
    return {_word(Stage, name): _stage(_word(Stage, name), value) for name, value in read.items("stages")}


class Reader:
    """Takes typed members out of one JSON object and says which one is wrong."""

    def __init__(self, line: Mapping[str, Any], where: str) -> None:
        if not isinstance(line, Mapping):
            raise RecordFault(f"{where} holds {line!r:.60}; expected an object")
        self.line = line
        self.where = where

    def _take(self, name: str, kind: type | tuple[type, ...], expected: str) -> Any:
        value = self.line.get(name)
        if not isinstance(value, kind):
            raise RecordFault(f"{self.where}: {name} is {value!r:.60}; expected {expected}", field=name)
        return value

    def text(self, name: str) -> str:
        return str(self._take(name, str, "text"))

    def text_or_none(self, name: str) -> str | None:
        value = self._take(name, (str, type(None)), "text or null")
        return None if value is None else str(value)

    def whole(self, name: str) -> int:
        value = self._take(name, int, "a whole number")
        if isinstance(value, bool):
            raise RecordFault(f"{self.where}: {name} is {value}; expected a whole number", field=name)
        return int(value)

    def flag(self, name: str) -> bool:
        return bool(self._take(name, bool, "true or false"))

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._take(name, list, "a list of texts")
        if not all(isinstance(value, str) for value in values):
            raise RecordFault(f"{self.where}: {name} is {values!r:.60}; expected a list of texts", field=name)
        return tuple(values)

    def table(self, name: str) -> Reader:
        return Reader(self._take(name, dict, "an object"), f"{self.where}, {name}")

    def items(self, name: str) -> list[tuple[str, Reader]]:
        table = self.table(name)
        return [(key, table.table(key)) for key in table.line]

    def rows(self, name: str) -> list[Reader]:
        values = self._take(name, list, "a list of objects")
        return [Reader(value, f"{self.where}, {name}") for value in values]


def _word(words: Any, text: str) -> Any:
    try:
        return words(text)
    except ValueError:
        expected = ", ".join(word.value for word in words)
        raise RecordFault(f"{text!r} is none of: {expected}; the file is of another schema, or was edited") from None


def _outcome(text: str) -> Outcome:
    graded: Outcome = _word(NotGradeable if text in set(NotGradeable) else Verdict, text)
    return graded


def _stage(stage: Stage, read: Reader) -> StageRecord:
    return StageRecord(
        verdict=_word(Verdict, read.text("verdict")),
        findings=tuple(read_finding(stage, row.line) for row in read.rows("findings")),
    )


def read_finding(stage: Stage, line: Mapping[str, Any]) -> Finding:
    """One finding as its own `as_json` wrote it; the stage stands outside of it."""
    read = Reader(line, f"stages, {stage.value}, findings")
    return Finding(
        slug=read.text("slug"),
        stage=stage,
        verdict=_word(Verdict, read.text("verdict")),
        kind=_word(Kind, read.text("kind")),
        judge=_word(Judge, read.text("judge")),
        rule=read.text("rule"),
        clause=line.get("clause"),
        detail=read.text("detail"),
        other=line.get("other"),
        values=line.get("values") or {},
        at=line.get("at"),
    )


def _orphan(read: Reader) -> Orphan:
    size = read.line.get("bytes")
    if size is not None and not isinstance(size, int):
        raise RecordFault(f"{read.where}: bytes is {size!r:.60}; expected a whole number or null", field="bytes")
    return Orphan(
        agent=read.text("agent"),
        task_id=read.text_or_none("task_id"),
        artifact_or_message_id=read.text_or_none("artifact_or_message_id"),
        media_type=read.text_or_none("media_type"),
        bytes=size,
        state=read.text("state"),
    )


def _vendor(read: Reader) -> VendorRecord:
    return VendorRecord(
        version=read.text("version"),
        reach=read.text("reach"),
        card_digest=read.text_or_none("card_digest"),
        portable_digest=read.text_or_none("portable_digest"),
    )


def _key(text: str) -> CellKey:
    try:
        return CellKey.parse(text)
    except Misuse as wrong:
        raise RecordFault(wrong.message, cell=text) from wrong


def _measures(line: Mapping[str, Any]) -> Measures:
    known = {name: line[name] for name in Measures.__slots__ if name in line}
    for name, value in known.items():
        if name == "held":
            right = value is None or isinstance(value, bool)
        elif name == "delivered":
            right = isinstance(value, bool)
        elif name == "diverged":
            right = isinstance(value, list) and all(isinstance(word, str) for word in value)
        else:
            # NaN would survive every later sum and show as a figure: the comparison with itself turns it away.
            right = isinstance(value, int | float) and not isinstance(value, bool) and value == value and value >= 0
        if not right:
            raise RecordFault(f"measures: {name} is {value!r:.60}; that is no such measure", field=name)
    return Measures(**known | {"diverged": tuple(known.get("diverged", ()))})
