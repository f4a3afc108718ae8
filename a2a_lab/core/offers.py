"""Tells what an agent offers from what it asks for: "Do you need the result as CSV?" narrows nothing (R22).

An agent that waits for input may ask how it is to answer. Formats in such a question are those of its output, and the
mode that was sent is not in doubt. Where it asks the consumer to send something, the question is a request as any.
"""

from __future__ import annotations

import re
from typing import Final

_GIVES: Final = r"(?:output|results?|answers?|response|reply|summary|report|export)"
# The agent asks what we would have, or what it may do.
_OFFERS: Final = re.compile(
    r"\b(?:(?:do|would|will|did) you (?:\w+ )?(?:need|want|like|prefer|expect|require|wish)"
    r"|(?:shall|should|may|can|could|must) (?:i|we)\b"
    rf"|(?:shall|should|must|can|could|would|is|are) (?:the |my |your |this |its )?{_GIVES}\b)",
    re.IGNORECASE,
)
_INDIRECT: Final = re.compile(
    r"\b(?:whether|if|which|what|how)\b.{0,200}"
    rf"\b(?:you (?:need|want|prefer|would like)|(?:the |your |my ){_GIVES} (?:should|is to|must))\b",
    re.IGNORECASE,
)
_OUTPUT: Final = re.compile(rf"\b{_GIVES}\b", re.IGNORECASE)
# We are to give something: by a request, or by an offer to do so.
_ASKS_US: Final = re.compile(
    r"(?:\b(?:can|could|would|will|may|must|should|do) you (?:please |kindly |now |also )*"
    r"|\bplease |(?<!\bme )(?<!\bus )\bto )"
    r"(?:re-?send|send|submit|provide|upload|supply|give|convert|share|attach|use|try|pass|post|have)\b",
    re.IGNORECASE,
)


def is_offer(sentence: str, *, is_question: bool) -> bool:
    """Whether a sentence is a question about what the agent is to give, and asks for nothing."""
    if _ASKS_US.search(sentence):
        return False
    return is_question and bool(_OFFERS.search(sentence) or _OUTPUT.search(sentence))


def is_indirect_offer(clause: str) -> bool:
    """Whether a clause asks the same without being a question: "tell me if you want it as PDF"."""
    return bool(_INDIRECT.search(clause)) and not _ASKS_US.search(clause)
