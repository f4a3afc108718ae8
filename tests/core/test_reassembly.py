"""Artifacts from chunks: append, replace, last chunk, snapshots (R29). Nothing is dropped without a word."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.model import Artifact, Part
from a2a_lab.core.reassembly import Reassembly
from a2a_lab.verdicts import Verdict
from tests.core.happenings import art, slugs, texts


def put(
    *chunks: tuple[Artifact, bool, bool | None], strictly: bool = True, known: Any = ()
) -> tuple[Reassembly, list[Any]]:
    """Chunks as (artifact, append, last chunk)."""
    reassembly = Reassembly(appends_strictly=strictly, known=known)
    findings = [
        finding
        for artifact, append, last in chunks
        for finding in reassembly.receive(artifact, append=append, last_chunk=last)
    ]
    return reassembly, findings


def test_chunks_are_added_in_order_and_parts_are_never_merged() -> None:
    data = Artifact(id="a1", parts=(Part(kind="data", data={"n": 1}),))
    reassembly, findings = put((art("a1", "see: "), False, False), (data, True, True))
    (artifact,) = reassembly.artifacts
    assert [part.kind for part in artifact.parts] == ["text", "data"]
    assert (findings, reassembly.open_ids) == ([], ())


def test_a_single_chunk_without_flags_is_a_whole_artifact() -> None:
    reassembly, findings = put((art("a1", "x"), False, None))
    assert (findings, reassembly.complete(), reassembly.open_ids) == ([], [], ("a1",))


def test_artifacts_keep_apart_and_in_order_of_appearance() -> None:
    reassembly, findings = put(
        (art("b", "1"), False, None),
        (art("a", "2"), False, None),
        (art("b", "3"), True, True),
        (art("a", "4"), True, True),
    )
    assert texts(reassembly.artifacts) == {"b": ["1", "3"], "a": ["2", "4"]}
    assert findings == []


@pytest.mark.parametrize(("strictly", "verdict"), [(True, Verdict.CONFORMANCE_ERROR), (False, Verdict.HINT)])
def test_append_to_an_unseen_artifact(strictly: bool, verdict: Verdict) -> None:
    """A fault in 1.0, a hint up to 0.3 where it creates the artifact; the bytes are kept either way."""
    reassembly, (finding,) = put((art("a1", "Hel"), True, None), (art("a1", "lo"), True, True), strictly=strictly)
    assert (finding.slug, finding.verdict) == ("append-to-unknown", verdict)
    assert texts(reassembly.artifacts) == {"a1": ["Hel", "lo"]}
    assert reassembly.flawed_ids == (("a1",) if strictly else ())


def test_an_artifact_known_from_before_a_cut_may_be_appended_to() -> None:
    reassembly, findings = put((art("a1", "two"), True, True), known=[art("a1", "one ")])
    assert (texts(reassembly.artifacts), findings) == ({"a1": ["one ", "two"]}, [])


@pytest.mark.parametrize("append", [True, False])
def test_a_sealed_artifact_does_not_change(append: bool) -> None:
    reassembly, (finding,) = put((art("a1", "v1"), False, True), (art("a1", " more"), append, False))
    assert (finding.slug, finding.verdict) == ("update-after-last-chunk", Verdict.CONFORMANCE_ERROR)
    assert texts(reassembly.artifacts) == {"a1": ["v1"]}
    assert [part.text for part in reassembly.unused["a1"]] == [" more"]
    assert reassembly.flawed_ids == ("a1",)


def test_a_replacement_is_flagged_as_probable_loss_and_both_texts_are_shown() -> None:
    reassembly, (finding,) = put(
        (art("a1", "Hello, "), False, False), (art("a1", "wor"), True, False), (art("a1", "ld!"), False, True)
    )
    assert (finding.slug, finding.verdict) == ("artifact-replaced", Verdict.HINT)
    assert finding.values == {"was": "Hello, wor", "now": "ld!"}
    assert texts(reassembly.artifacts) == {"a1": ["ld!"]}
    assert [part.text for part in reassembly.unused["a1"]] == ["Hello, ", "wor"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("Hel",), ("Hello",)),
        (("Hel",), ("Hel", "lo")),
        (("Hel",), ("Hel",)),
        ((), ("x",)),
        (("a", "b"), ("ab", "c")),
    ],
)
def test_restating_everything_so_far_loses_nothing(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    reassembly, findings = put((art("a1", *first), False, None), (art("a1", *second), False, None))
    assert (findings, reassembly.unused) == ([], {})


DATA = Part(kind="data", data={"n": 1})


@pytest.mark.parametrize(
    ("first", "second", "loses"),
    [
        ([Part(kind="text", text="a"), DATA], [Part(kind="text", text="a"), DATA, DATA], False),
        ([DATA], [Part(kind="data", data={"n": 2})], True),
        ([DATA, DATA], [DATA], True),
        ([Part(kind="text", text="a", media_type="x/y")], [Part(kind="text", text="ab")], True),
        ([Part(kind="text", text="a")], [Part(kind="text", text="b")], True),
        ([Part(kind="text", text="a")], [], True),
        ([DATA, Part(kind="text", text="a")], [DATA, Part(kind="text", text="ab")], False),
        ([DATA, Part(kind="text", text="a")], [Part(kind="text", text="b"), Part(kind="text", text="ab")], True),
    ],
)
def test_what_counts_as_loss(first: list[Part], second: list[Part], loses: bool) -> None:
    _, findings = put(
        (Artifact(id="a", parts=tuple(first)), False, None), (Artifact(id="a", parts=tuple(second)), False, None)
    )
    assert slugs(findings) == (["artifact-replaced"] if loses else [])


def test_the_first_name_is_kept_and_another_one_is_a_hint() -> None:
    reassembly, (finding,) = put(
        (art("a1", "x", title="draft"), False, None), (art("a1", "y", title="final"), True, True)
    )
    assert (finding.slug, finding.verdict) == ("artifact-renamed", Verdict.HINT)
    assert reassembly.artifacts[0].name == "draft"


def test_a_name_or_metadata_may_come_later() -> None:
    reassembly, findings = put((art("a1", "x", n=1), False, None), (art("a1", "y", title="t", n=2, m=3), True, True))
    (artifact,) = reassembly.artifacts
    assert (artifact.name, artifact.metadata, findings) == ("t", {"n": 1, "m": 3}, [])


@pytest.mark.parametrize(
    ("chunks", "is_named"),
    [
        ([(False, None)], False),
        ([(False, False)], True),
        ([(False, None), (True, None)], True),
        ([(False, False), (True, True)], False),
        ([(False, None), (False, None)], True),
    ],
)
def test_completion_closes_chunked_artifacts_with_a_hint(
    chunks: list[tuple[bool, bool | None]], is_named: bool
) -> None:
    reassembly, _ = put(*((art("a1", "x"), append, last) for append, last in chunks))
    found = reassembly.complete()
    assert slugs(found) == (["artifact-unsealed"] if is_named else [])
    assert all(finding.verdict is Verdict.HINT for finding in found)


# -- snapshots


def test_a_snapshot_replaces_what_is_known() -> None:
    reassembly, _ = put((art("a1", "one "), False, False), (art("a1", "two "), True, False))
    assert reassembly.rebase([art("a1", "one ", "two ", "three ")], is_final=False) == []
    assert reassembly.receive(art("a1", "four"), append=True, last_chunk=True) == []
    assert texts(reassembly.artifacts) == {"a1": ["one ", "two ", "three ", "four"]}


def test_a_snapshot_in_the_middle_that_lacks_an_artifact_is_a_hint() -> None:
    reassembly, _ = put((art("a1", "x"), False, True))
    (finding,) = reassembly.rebase([], is_final=False)
    assert (finding.slug, finding.verdict) == ("snapshot-drops-artifact", Verdict.HINT)
    assert (reassembly.artifacts, [part.text for part in reassembly.unused["a1"]]) == ((), ["x"])


def test_a_seal_outlives_a_snapshot() -> None:
    reassembly, _ = put((art("a1", "x"), False, True))
    reassembly.rebase([art("a1", "x")], is_final=False)
    assert slugs(reassembly.receive(art("a1", "y"), append=True, last_chunk=None)) == ["update-after-last-chunk"]


@pytest.mark.parametrize("way", ["rebase", "confirm"])
@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ([art("a1", "Hel", "lo")], []),
        ([art("a1", "Hello")], []),
        ([art("a1", "Hello"), art("a2", "new")], []),
        ([art("a1", "Hullo")], ["snapshot-disagrees"]),
        ([], ["snapshot-disagrees"]),
    ],
)
def test_a_final_snapshot_must_agree_with_the_stream(way: str, stated: list[Artifact], expected: list[str]) -> None:
    """It may add what was not streamed; neighbouring texts may be joined, since no version says whether they are."""
    reassembly, _ = put((art("a1", "Hel"), False, False), (art("a1", "lo"), True, True))
    found = reassembly.rebase(stated, is_final=True) if way == "rebase" else reassembly.confirm(stated)
    assert slugs(found) == expected
    assert all(finding.verdict is Verdict.CONFORMANCE_ERROR for finding in found)


def test_a_snapshot_after_the_end_neither_doubles_nor_replaces() -> None:
    reassembly, _ = put((art("a1", "ok"), False, True))
    reassembly.confirm([art("a1", "other"), art("a2", "new")])
    assert texts(reassembly.artifacts) == {"a1": ["ok"], "a2": ["new"]}


def test_values_in_findings_are_short_whatever_the_artifact_is() -> None:
    huge = art("a" * 1000, "x" * 10_000)
    _, (finding,) = put((huge, False, None), (art("a" * 1000, "y" * 10_000), False, None))
    assert len(finding.values["was"]) < 300
    assert len(finding.detail) < 500


def test_what_is_no_text_is_marked_in_reports() -> None:
    _, (finding,) = put(
        (Artifact(id="a", parts=(DATA, Part(kind="text", text="x"))), False, None), (art("a", "y"), False, None)
    )
    assert finding.values["was"] == "<data>x"


CHUNKS = st.lists(st.text(max_size=5), min_size=1, max_size=8)


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), CHUNKS, min_size=1, max_size=4), st.randoms(use_true_random=False)
)
def test_artifacts_come_out_as_they_went_in_however_their_chunks_interleave(
    contents: dict[str, list[str]], dice: Any
) -> None:
    reassembly = Reassembly(appends_strictly=True)
    waiting = {name: list(chunks) for name, chunks in contents.items()}
    while waiting:
        name = dice.choice(sorted(waiting))
        text = waiting[name].pop(0)
        is_first = len(waiting[name]) == len(contents[name]) - 1
        found = reassembly.receive(art(name, text), append=not is_first, last_chunk=not waiting[name])
        assert found == []
        if not waiting[name]:
            del waiting[name]
    assert texts(reassembly.artifacts) == contents
    assert reassembly.complete() == []
    assert reassembly.confirm(art(name, "".join(chunks)) for name, chunks in contents.items()) == []
