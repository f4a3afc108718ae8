"""Parts of both generations: exactly one content, told by member in 1.0 and by kind in 0.3 (wire-facts 5.3)."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_lab.core.model import Part
from tests.wire.talk import TASK_0_3, TASK_1_0, answer, envelope, slugs


def part(version: str, document: Any) -> tuple[Part, list[str]]:
    base = TASK_1_0 if version == "1.0" else TASK_0_3
    read = answer(envelope(base | {"artifacts": [{"artifactId": "a", "parts": [document]}]}), version=version, op="get")
    assert read.task is not None
    return read.task.artifacts[0].parts[0], slugs(read.findings)


FILE = {"kind": "file", "file": {"bytes": "AA==", "mimeType": "image/png", "name": "p.png"}}


@pytest.mark.parametrize(
    ("version", "document", "expected"),
    [
        ("1.0", {"text": "x"}, Part(kind="text", text="x")),
        ("1.0", {"text": ""}, Part(kind="text", text="")),
        ("1.0", {"text": "x", "mediaType": "text/csv"}, Part(kind="text", text="x", media_type="text/csv")),
        ("1.0", {"text": "x", "raw": None, "url": None}, Part(kind="text", text="x")),
        ("1.0", {"data": {"n": 1}}, Part(kind="data", data={"n": 1})),
        ("1.0", {"data": None}, Part(kind="data")),
        ("1.0", {"data": [1]}, Part(kind="data", data=[1])),
        (
            "1.0",
            {"raw": "AA==", "mediaType": "image/png", "filename": "p.png"},
            Part(kind="raw", raw="AA==", media_type="image/png", filename="p.png"),
        ),
        ("1.0", {"url": "https://x/y"}, Part(kind="url", url="https://x/y")),
        ("0.3", {"kind": "text", "text": "x"}, Part(kind="text", text="x")),
        ("0.3", {"kind": "text", "text": "x", "metadata": {"k": 1}}, Part(kind="text", text="x")),
        ("0.3", {"kind": "data", "data": {"n": 1}}, Part(kind="data", data={"n": 1})),
        ("0.3", FILE, Part(kind="raw", raw="AA==", media_type="image/png", filename="p.png")),
        ("0.3", {"kind": "file", "file": {"uri": "https://x/y"}}, Part(kind="url", url="https://x/y")),
    ],
)
def test_parts_as_they_are_meant(version: str, document: Any, expected: Part) -> None:
    assert part(version, document) == (expected, [])


@pytest.mark.parametrize(
    ("version", "document", "kind", "expected"),
    [
        ("1.0", {}, "unknown", ["part-shape"]),
        ("1.0", {"text": "x", "raw": "AA=="}, "unknown", ["part-shape"]),
        ("1.0", {"text": "x", "data": None}, "unknown", ["part-shape"]),
        ("1.0", "x", "unknown", ["wrong-type"]),
        ("1.0", {"text": 5}, "text", ["wrong-type"]),
        ("1.0", {"text": "x", "mediaType": 5}, "text", ["wrong-type"]),
        ("1.0", {"kind": "text", "text": "x"}, "text", ["legacy-member"]),
        ("1.0", FILE, "raw", ["version-not-honoured"]),
        ("1.0", {"type": "file", "file": {"uri": "u"}}, "url", ["version-not-honoured"]),
        ("1.0", {"file": {"uri": "u"}}, "url", ["version-not-honoured"]),
        ("1.0", {"kind": "data"}, "unknown", ["version-not-honoured", "part-shape"]),
        ("0.3", {}, "unknown", ["member-missing", "part-shape"]),
        ("0.3", 5, "unknown", ["wrong-type"]),
        ("0.3", {"text": "x"}, "text", ["member-missing"]),
        ("0.3", {"data": {}}, "data", ["member-missing"]),
        ("0.3", {"file": {"uri": "u"}}, "url", ["member-missing"]),
        ("0.3", {"raw": "AA=="}, "raw", ["version-not-honoured"]),
        ("0.3", {"url": "u"}, "url", ["version-not-honoured"]),
        ("0.3", {"type": "text", "text": "x"}, "text", ["version-not-honoured"]),
        ("0.3", {"kind": "text"}, "unknown", ["part-shape"]),
        ("0.3", {"kind": "image", "image": "x"}, "unknown", ["part-shape"]),
        ("0.3", {"kind": "data", "data": [1]}, "data", ["wrong-type"]),
        ("0.3", {"kind": "data"}, "unknown", ["part-shape"]),
        ("0.3", {"kind": "file"}, "unknown", ["part-shape"]),
        ("0.3", {"kind": "file", "file": "x"}, "unknown", ["wrong-type", "part-shape"]),
        ("0.3", {"kind": "file", "file": {}}, "unknown", ["part-shape"]),
        ("0.3", {"kind": "file", "file": {"bytes": "AA==", "uri": "u"}}, "unknown", ["part-shape"]),
        ("0.3", {"kind": "file", "file": {"fileWithBytes": "AA=="}}, "raw", ["wrong-type"]),
        ("0.3", {"kind": "file", "file": {"data": "AA=="}}, "raw", ["wrong-type"]),
        ("0.3", {"kind": "file", "file": {"fileWithUri": "u"}}, "url", ["wrong-type"]),
    ],
)
def test_parts_as_they_also_come(version: str, document: Any, kind: str, expected: list[str]) -> None:
    read, findings = part(version, document)
    assert (read.kind, findings) == (kind, expected)


def test_a_media_type_where_0_3_has_none_is_kept_for_the_media_check() -> None:
    assert part("0.3", {"kind": "text", "text": "x", "mimeType": "text/csv"})[0].media_type == "text/csv"
    assert part("0.3", {"kind": "data", "data": {}, "mediaType": "a/b"})[0].media_type == "a/b"


def test_a_name_from_the_proto_is_a_hint_only() -> None:
    document = TASK_0_3 | {
        "artifacts": [{"artifactId": "a", "parts": [{"kind": "file", "file": {"fileWithUri": "u"}}]}]
    }
    (finding,) = answer(envelope(document), version="0.3", op="get").findings
    assert finding.verdict.value == "hint"
