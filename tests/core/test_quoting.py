"""What peers and people wrote, put into sentences: shown, counted, and left out where it is theirs."""

from __future__ import annotations

import pytest

from a2a_lab.core.quoting import counted, without_content


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("completed, artifact 'echo': 'echo: hello, \"you\"'", "completed, artifact 'echo'"),
        ("completed, artifact 'a': 'x, y', artifact 'b': \"it's\"", "completed, artifact 'a', artifact 'b'"),
        (
            "answered, message 'hi', 1 of 3 events had nothing in them",
            "answered, message, 1 of 3 events had nothing in them",
        ),
        ("completed, artifact 'a': 'cut off in the mid", "completed, artifact 'a'"),
        ("failed after 0 events: ParseError: 'status'", "failed after 0 events: ParseError: 'status'"),
        ("completed, artifact 'a'", "completed, artifact 'a'"),
    ],
)
def test_what_a_consumer_says_is_told_without_what_people_wrote(said: str, told: str) -> None:
    """R38: bodies of parts stay in the house."""
    assert without_content(said) == told


def test_a_count_has_its_word_in_the_right_number() -> None:
    assert [counted(count, "event") for count in (0, 1, 2)] == ["0 events", "1 event", "2 events"]
    assert counted(2, "reply", "replies") == "2 replies"
