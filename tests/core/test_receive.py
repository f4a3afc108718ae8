"""A5 and R16: every part of an artifact, when it arrives."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.core.model import Artifact, Card, Part
from a2a_lab.core.receive import decoded, judge_artifact, part_media_type
from a2a_lab.verdicts import Finding, Kind, Stage, Verdict
from tests.core.cards import SUM, one_zero, slugs, zero_three


def text(media_type: str | None = None) -> Part:
    return Part(kind="text", text="x", media_type=media_type)


def data(media_type: str | None = None) -> Part:
    return Part(kind="data", data={"n": 1}, media_type=media_type)


def raw(content: str = "AAAA", media_type: str | None = "image/png", **more: Any) -> Part:
    return Part(kind="raw", raw=content, media_type=media_type, **more)


def judged(part: Part, *outputs: str, card: Card | None = None, skill: str | None = None, **more: Any) -> list[Finding]:
    card = card or one_zero(defaultOutputModes=list(outputs) or ["text/plain"])
    return judge_artifact(card, card.skill(skill), Artifact(id="a1", parts=(part,)), **more)


@pytest.mark.parametrize(
    ("part", "outputs", "slug"),
    [
        (text(), ["text/plain"], None),
        (text("text/plain; charset=utf-8"), ["text/plain"], None),
        (text("TEXT/Plain"), ["text/plain"], None),
        (data(), ["application/json"], None),
        (data("application/json; charset=utf-8"), ["application/json"], None),
        (raw(), ["image/png"], None),
        (Part(kind="url", url="https://a.test/x", media_type="image/png"), ["image/png"], None),
        (data(), ["text/plain"], "media-not-declared"),
        (data("application/vnd.geo+json"), ["application/json"], "media-not-declared"),
        (data("application/json"), ['application/json; profile="s"'], "media-not-declared"),
        (text("text/csv"), ["text/plain"], "media-not-declared"),
        (raw(), ["image/*"], "media-by-range"),
        (text(), ["text"], "media-by-range"),
        (text("*/*"), ["*/*"], "media-wildcard"),
        (raw(media_type="image/*"), ["image/*"], "media-wildcard"),
        (text("plain"), ["text/plain"], "media-malformed"),
        (raw(media_type=None), ["image/png"], "media-undeclared"),
        (Part(kind="url", url="https://a.test/p.png", filename="p.png"), ["image/png"], "media-undeclared"),
        (raw("%%%"), ["image/png"], "base64-undecodable"),
        (Part(kind="unknown"), ["text/plain"], "part-without-content"),
    ],
)
def test_one_part(part: Part, outputs: list[str], slug: str | None) -> None:
    found = judged(part, *outputs)
    assert slugs(found) == ([slug] if slug else []) and all(one.stage is Stage.RECEIVE for one in found)


def test_the_verdicts_of_the_ruling() -> None:
    assert judged(data())[0].verdict is Verdict.CONFORMANCE_ERROR
    assert judged(raw(media_type=None))[0].verdict is Verdict.HINT
    ranged = judged(raw(), "image/*")[0]
    assert (ranged.verdict, ranged.kind) == (Verdict.HINT, Kind.AUTHORITY)


def test_a_default_mode_that_the_skill_does_not_list_is_a_hint() -> None:
    card = one_zero(skills=[{**SUM, "outputModes": ["application/json"]}])
    assert slugs(judged(text(), card=card, skill="sum")) == ["media-outside-skill"]
    assert judged(data(), card=card, skill="sum") == []
    assert judged(text(), card=card) == []


@pytest.mark.parametrize(
    "label",
    [
        "image/png",
        "audio/mpeg",
        "video/mp4",
        "font/woff2",
        "model/gltf-binary",
        "application/octet-stream",
        "application/pdf",
        "application/zip",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ],
)
def test_text_is_never_binary(label: str) -> None:
    assert slugs(judged(text(label), label)) == ["media-contradicts-part"]


@pytest.mark.parametrize(
    "label",
    ["image/svg+xml", "application/json", "application/xml", "application/x-yaml", "text/csv", "model/gltf+json"],
)
def test_text_may_be_any_textual_format(label: str) -> None:
    assert judged(text(label), label) == []


@pytest.mark.parametrize(
    "label", ["text/plain", "text/csv", "image/png", "application/pdf", "application/xml", "a/b+yaml"]
)
def test_a_json_value_is_no_other_format(label: str) -> None:
    assert slugs(judged(data(label), label)) == ["media-contradicts-part"]


@pytest.mark.parametrize("label", ["application/geo+json", "application/vnd.acme.table", "text/x+json"])
def test_a_json_value_may_be_labelled_as_json(label: str) -> None:
    assert judged(data(label), label) == []


@pytest.mark.parametrize("label", ["text/plain", "application/json", "image/png"])
def test_bytes_may_be_anything(label: str) -> None:
    assert judged(raw(media_type=label), label) == []


def test_a_contradiction_is_named_beside_an_undeclared_type() -> None:
    assert slugs(judged(text("image/png"), "text/plain")) == ["media-contradicts-part", "media-not-declared"]


@pytest.mark.parametrize("content", ["", "_-8", "_-8=", "/+8", "/+8=", "AAAA", "AAA", "AA=="])
def test_every_base64_of_protojson_is_read(content: str) -> None:
    decoded(content)
    assert judged(raw(content), "image/png") == []


@pytest.mark.parametrize(
    "content", ["A", "AAAAA", "AAA==", "AA=", "=", "_+8", "AAAA\n", "AA AA", "%%%%", "AAAA===", "ÄÄÄÄ"]
)
def test_what_is_no_base64(content: str) -> None:
    assert slugs(judged(raw(content), "image/png")) == ["base64-undecodable"]


def test_before_1_0_only_the_plain_form_is_read_by_all() -> None:
    card = zero_three(defaultOutputModes=["image/png"])
    assert slugs(judged(raw("_-8"), card=card)) == ["base64-url-safe"]
    assert slugs(judged(raw("AAA"), card=card)) == ["base64-url-safe"]
    assert judged(raw("AAAA"), card=card) == []


@given(st.binary(max_size=60), st.booleans(), st.booleans())
def test_decoding_gives_the_bytes_back(content: bytes, is_url_safe: bool, is_padded: bool) -> None:
    written = (base64.urlsafe_b64encode if is_url_safe else base64.b64encode)(content).decode()
    assert decoded(written if is_padded else written.rstrip("=")) == content


def test_an_output_that_nobody_asked_for_is_noted() -> None:
    found = judged(text(), accepts=("application/json",))
    assert slugs(found) == ["output-not-accepted"] and found[0].verdict is Verdict.ACCEPT
    assert judged(text(), accepts=("text/*",)) == []


def test_every_part_is_checked_and_pointed_at() -> None:
    card = one_zero()
    artifact = Artifact(id="a1", parts=(text(), data(), raw()))
    found = judge_artifact(card, None, artifact)
    assert [one.at for one in found] == ["/artifacts/a1/parts/1", "/artifacts/a1/parts/2"]


def test_the_implied_types() -> None:
    parts = (text(), data(), raw(media_type=None), Part(kind="unknown"), text("a/b"))
    assert [part_media_type(part) for part in parts] == ["text/plain", "application/json", None, None, "a/b"]
