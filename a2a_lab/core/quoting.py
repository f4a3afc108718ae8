"""Puts a peer's value into a sentence: capped, on one line, control characters shown (DESIGN 8).

Every detail and error message passes vendor strings through here, since each of them is hostile until shown.
"""

from __future__ import annotations

import re

from a2a_lab.core.model import Json

_NEXT = r"(?=, (?:artifact |message |while beside |\d+ of \d+ events )|$)"
_NAME = r"""artifact (?:'[^']*'|"[^"]*")"""
_CONTENT = re.compile(rf"""({_NAME}): ['"].*?{_NEXT}|(message) ['"].*?{_NEXT}""", re.DOTALL)
SHOWN = 80  # characters of a peer's value that one sentence bears


def quoted(value: Json, limit: int = SHOWN) -> str:
    """The value as a short literal: quotes around text, every unprintable character escaped."""
    if isinstance(value, str):
        text = ascii_controls(value[: limit + 1])
        return f"'{text[:limit]}...'" if len(value) > limit else f"'{text}'"
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value)


def ascii_controls(text: str) -> str:
    """The text with every unprintable character as an escape, so that it stays on its line."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def listed(values: tuple[str, ...] | list[str], most: int = 8) -> str:
    """Several names in a sentence, the first few and how many more there are."""
    shown = ", ".join(ascii_controls(value[:SHOWN]) for value in values[:most])
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown


def counted(count: int, one: str, many: str = "") -> str:
    """`1 event`, `2 events`: a count with its word in the right number."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def without_content(said: str) -> str:
    """What a consumer says of itself, without what artifacts and messages contained (R38): `completed, artifact 'a'`.

    Consumers end in one form of sentence, `completed, artifact 'a': 'text', message 'text'`; other text stays.
    """
    return _CONTENT.sub(lambda found: found.group(1) or found.group(2), said)
