"""Whether the URL of an interface of 0.3 over HTTP+JSON holds the /v1 of its paths already: the text has it both ways.

0.3.0 puts every operation at `/v1/...` and never says whether the URL of a card stands before or behind that: one of
its examples ends in `/a2a/json`, another is `https://rest.example.com/v1`. SDKs append `/v1/...`; where the URL ends in
/v1 and nothing is there, the same call without the second /v1 is what the other reading would have made.
"""

from __future__ import annotations

from typing import Final

from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire.rest_paths import LEGACY_PREFIX

NOTHING_THERE: Final = (404, 405)
_TWICE: Final = LEGACY_PREFIX * 2

BASE_HOLDS_VERSION = FindingKind(
    slug="base-holds-version",
    stage=Stage.RPC,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    judge=Judge.SPEC,
    rule="R8",
    clause="A2A 0.3.0 §3.2.3; AgentInterface.url has https://rest.example.com/v1 as an example",
    means="the card's URL ends in /v1 and its operations lie right below it, where clients that append /v1 miss them",
)


def other_base(url: str, status: int | None) -> str | None:
    """Where a message lies by the other reading, after an answer with `status`; None where there is none."""
    before, twice, after = url.rpartition(f"{_TWICE}/message:")
    return f"{before}{LEGACY_PREFIX}/message:{after}" if twice and status in NOTHING_THERE else None


def base_holds_version(url: str, there: str) -> Finding:
    """The note on a call that was made again without the second /v1."""
    return BASE_HOLDS_VERSION(f"nothing is at {url}; it is called at {there}", at=url, found=there)
