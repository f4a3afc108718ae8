"""What an operator types is refused where it cannot be right, with what was expected (DESIGN 9)."""

from __future__ import annotations

import pytest

from a2a_lab.core import typed


@pytest.mark.parametrize(
    ("judge", "value"),
    [
        (typed.not_text, "grüße"),
        (typed.not_header_name, "X-Tenant-Key"),
        (typed.not_header_value, "Bearer abc=="),
        (typed.not_extension, "https://ext.example/v1?x=1"),
        (typed.not_media_type, "text/plain; charset=utf-8"),
        (typed.not_place, "agent.example"),
        (typed.not_place, "agent.example:8443"),
        (typed.not_place, "[::1]:80"),
        (typed.not_place, "https://agent.example/"),
        (typed.not_place, "bücher.example"),
        (typed.not_url, "https://agent.example/a2a?x=1"),
    ],
)
def test_what_will_do_is_not_objected_to(judge: object, value: str) -> None:
    assert judge(value) == ""  # type: ignore[operator]


@pytest.mark.parametrize(
    ("judge", "value", "expected"),
    [
        (typed.not_text, "\udcff", "UTF-8"),
        (typed.not_header_name, "X Key", "name of an HTTP header"),
        (typed.not_header_name, "", "name of an HTTP header"),
        (typed.not_header_name, "Content-Length", "does not frame the message"),
        (typed.not_header_value, "tökén", "printable ASCII"),
        (typed.not_header_value, "a\r\nb", "printable ASCII"),
        (typed.not_extension, "ünï", "URI in ASCII"),
        (typed.not_extension, "https://a.example/x,y", "without spaces and commas"),
        (typed.not_media_type, "text", "media type"),
        (typed.not_media_type, "text/plaïn", "media type"),
        (typed.not_place, "http://[", "an origin or a host"),
        (typed.not_place, "https://agent.example/path", "an origin or a host"),
        (typed.not_place, "https://user@agent.example", "an origin or a host"),
        (typed.not_place, "a b", "an origin or a host"),
        (typed.not_place, "", "an origin or a host"),
        (typed.not_url, "agent.example", "a URL such as"),
        (typed.not_url, "http://[", "a URL such as"),
    ],
)
def test_what_cannot_be_right_is_told_what_was_expected(judge: object, value: str, expected: str) -> None:
    assert expected in judge(value)  # type: ignore[operator]


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_seconds_are_positive_and_finite(value: float) -> None:
    assert "positive number of seconds" in typed.not_seconds(value) and typed.not_seconds(0.1) == ""


def test_a_secret_is_not_repeated_where_it_is_wrong() -> None:
    assert typed.where_not_header_value("abcö") == "character 4 of 4 is U+00F6"
    assert typed.where_not_header_value("abc") == ""
