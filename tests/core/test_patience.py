"""How long a server asks to be left alone (R2, R37; RFC 9110 §10.2.3)."""

from __future__ import annotations

import pytest

from a2a_lab.core.patience import asked_for_s

NOON = "Mon, 30 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("asked", "date", "seconds"),
    [
        ("120", None, 120.0),
        (" 0 ", NOON, 0.0),
        ("9" * 400, None, 1e9),
        ("Mon, 30 Nov 2026 12:01:00 GMT", NOON, 60.0),
        ("Mon, 30 Nov 2026 12:01:00 -0000", NOON, None),  # no date of HTTP, which is in GMT
        ("Mon, 30 Nov 2026 11:00:00 GMT", NOON, 0.0),
        ("Mon, 30 Nov 2026 12:01:00 GMT", None, None),
        ("Mon, 30 Nov 2026 12:01:00 GMT", "today", None),
        ("soon", NOON, None),
        ("-5", NOON, None),
        ("", NOON, None),
        (None, NOON, None),
    ],
)
def test_both_forms_are_read_and_nonsense_is_none(asked: str | None, date: str | None, seconds: float | None) -> None:
    assert asked_for_s(asked, date) == seconds
