"""How long a server asks to be left alone: the header Retry-After in both its forms (RFC 9110 §10.2.3)."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Final

RETRY_DEFAULT_S: Final = 1.0  # where a server asks for patience and does not say how long
_FOREVER_S: Final = 1e9


def asked_for_s(retry_after: str | None, date: str | None) -> float | None:
    """Seconds; None where nothing readable is asked for. A date is held against the server's own clock."""
    text = (retry_after or "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return min(float(text), _FOREVER_S)
    try:
        then = parsedate_to_datetime(text)
        return max(0.0, (then - parsedate_to_datetime(date or "")).total_seconds())
    except (ValueError, TypeError):  # TypeError: one date with a zone, the other without
        return None
