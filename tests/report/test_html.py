"""Vendor strings are hostile (DESIGN 8): escaped, capped in length, control characters shown."""

from __future__ import annotations

import html
import unicodedata
from html.parser import HTMLParser

import pytest
import synthetic_runs as synthetic
from hypothesis import given
from hypothesis import strategies as st

from a2a_lab.report.html import CAP, Html, anchor, escape, shown, tag


@given(st.text())
def test_no_text_becomes_markup(text: str) -> None:
    class Reader(HTMLParser):
        def handle_starttag(self, name: str, attrs: object) -> None:
            found.append(name)

    found: list[str] = []
    Reader().feed(tag("p", text, title=text))
    assert found == ["p"]


@given(st.text())
def test_no_control_or_direction_character_survives(text: str) -> None:
    kinds = {unicodedata.category(letter) for letter in shown(text) if letter not in "\u200d\ufe0f"}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def test_markup_is_escaped_also_inside_attributes() -> None:
    assert tag("b", "<script>alert(1)</script>") == "<b>&lt;script&gt;alert(1)&lt;/script&gt;</b>"
    assert tag("b", title='"><img onerror=x>') == '<b title="&quot;&gt;&lt;img onerror=x&gt;"></b>'


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\nb\tc\r", "a␊b␉c␍"),
        ("\x1b[31m", "⟨U+001B⟩[31m"),
        ("ab\u202egpj.exe", "ab⟨U+202E⟩gpj.exe"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("\ud800", "⟨U+D800⟩"),
        ("👩\u200d🔬", "👩\u200d🔬"),
    ],
)
def test_what_would_not_be_seen_is_shown(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_long_text_is_cut_with_a_count() -> None:
    assert shown("x" * 1_000_000) == "x" * CAP + f"… (+{1_000_000 - CAP} characters)"


def test_marks_cannot_paint_over_other_lines() -> None:
    assert len(shown("a" + "\u0300" * 100)) == 4


def test_the_same_text_is_escaped_once_only() -> None:
    once = tag("i", "a & b")
    assert tag("p", once) == "<p><i>a &amp; b</i></p>"
    assert isinstance(once, Html)
    assert html.unescape(escape("a & b")) == "a & b"


def test_attributes_that_are_not_given_are_left_out() -> None:
    assert tag("input", type="search", hidden=False, disabled=True, title=None) == '<input type="search" disabled>'


def test_two_cells_never_share_an_anchor() -> None:
    keys = [str(synthetic.key(scenario=name)) for name in ("a b", "a_b", "a.b", "a-b", "ä")]
    anchors = {anchor(key) for key in keys}
    assert len(anchors) == len(keys)
    assert all(text.isascii() and " " not in text and "/" not in text for text in anchors)
