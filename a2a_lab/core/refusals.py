"""Judges an error answer: a legitimate no, a no with too general a code, or a code that misinforms (R27).

A client acts on the code: told that a task is not found it sends its message again, told that a method is not there it
tries another version. So an A2A code that does not fit its situation is a fault, while a general JSON-RPC code is only
imprecise. Decides nothing about the probe: see `probe` for what an error means there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from a2a_lab.core.asked import PUSHES, SENDS, STREAMS, Asked, Op
from a2a_lab.core.model import RpcError
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.version import PUBLISHED, line_of
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict


def _refusing(
    slug: str, verdict: Verdict, means: str, clause: str | None = None, judge: Judge = Judge.SPEC, rule: str = "R27"
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.PROBE,
        verdict=verdict,
        kind=Kind.NOTE if verdict is Verdict.ACCEPT else Kind.CONFORMANCE,
        judge=judge,
        rule=rule,
        means=means,
        clause=clause,
    )


CALL_REFUSED = _refusing(
    "call-refused", Verdict.REFUSE, "the agent declines the call by an error", judge=Judge.POLICY, rule="R22"
)
GENERAL_ERROR_CODE = _refusing(
    "general-error-code",
    Verdict.ACCEPT,
    "the error has a general code where A2A has one for the situation",
    "A2A 1.0.1 §3.3.2 and §5.4 (MUST use the defined errors)",
)
MISINFORMING_ERROR = _refusing(
    "misinforming-error",
    Verdict.CONFORMANCE_ERROR,
    "the error has a code that tells the client something that is not so",
    "A2A 1.0.1 §3.3.2, §3.3.4 and §5.4 (MUST)",
)
REQUEST_AT_FAULT = _refusing(
    "request-at-fault",
    Verdict.ACCEPT,
    "the agent declines a request that was wrong by itself, as it should",
    "A2A 1.0.1 §3.6.2 (MUST: no version means 0.3), §3.3.2; JSON-RPC 2.0 §5.1",
)
METHOD_MISSING = _refusing(
    "declared-method-missing",
    Verdict.CONFORMANCE_ERROR,
    "the agent does not know a method of the version that its card declares; no other version is tried in its place",
    "A2A 1.0.1 §8.3.1 and §3.6.3 (interfaces MUST be declared accurately)",
)
VERSION_REJECTED = _refusing(
    "declared-version-rejected",
    Verdict.CONFORMANCE_ERROR,
    "the agent rejects the version that it declares, or compares more of it than Major.Minor",
    "A2A 1.0.1 §3.6 and §3.6.2 (patch MUST NOT be considered)",
)
VERSION_TAKEN = _refusing(
    "foreign-version-accepted",
    Verdict.CONFORMANCE_ERROR,
    "the agent took a call in a version that it does not speak, instead of declining it",
    "A2A 1.0.1 §3.6.2 (MUST answer VersionNotSupported)",
)

CONTENT_TYPE = "ContentTypeNotSupported"
_ALIKE = {"0.2": {"0.2", "0.3"}, "0.3": {"0.2", "0.3"}}  # the same methods under both names
_OF_A_REQUEST = frozenset({"ParseError", "InvalidRequest", "InvalidParams", "InternalError"})
_GENERAL = _OF_A_REQUEST | {"MethodNotFound"}

NOT_OF_0_3 = frozenset({"VersionNotSupported", "MethodNotFound"})
"""How a call of 1.0 that names no version is declined: it counts as one of 0.3, which knows no such method."""

_ABOUT_A_TASK: frozenset[Op] = frozenset({"get", "cancel", "subscribe"})

# Where an A2A error can be true at all. One that is not listed fits any call.
_FITS: Mapping[str, frozenset[Op]] = {
    "TaskNotFound": PUSHES | frozenset[Op]({"get", "cancel", "subscribe"}),  # and a send that names a task
    "TaskNotCancelable": frozenset({"cancel"}),
    "PushNotificationNotSupported": PUSHES,  # and a send that brings such a configuration along
    CONTENT_TYPE: SENDS,
    "ExtendedAgentCardNotConfigured": frozenset({"extended-card"}),
    "StreamingNotSupported": STREAMS,
}
# What names two situations in each dialect: a stream that is not offered, and a message to a task that has ended.
_NO_STREAM = {"0.1": "StreamingNotSupported"}
_HAS_ENDED = {"1.0": "UnsupportedOperation", "0.1": "InvalidTaskState"}  # in between any error was right

# What a message says when its code does not: (words, right error, calls where that can be).
_WORDS = (
    (
        re.compile(r"\b(terminal|completed|finished|already (?:done|ended|closed))\b", re.I),
        "UnsupportedOperation",
        "task",
    ),
    (re.compile(r"\b(not found|unknown task|no such task|does not exist)\b", re.I), "TaskNotFound", "task"),
    (re.compile(r"\b(content|media|mime)[ -]?types?\b", re.I), CONTENT_TYPE, "send"),
    (re.compile(r"\bstreaming\b", re.I), "UnsupportedOperation", "stream"),
    (re.compile(r"\bextensions?\b", re.I), "ExtensionSupportRequired", "send"),
    (re.compile(r"\bversions?\b", re.I), "VersionNotSupported", "send"),
)


def judge_error(error: RpcError, asked: Asked) -> list[Finding]:
    """What an error answer says about the agent: declined, and whether by the right code (R27)."""
    name = error.name
    shown = f"{quoted(error.code)} {name or 'unknown to this version'}: {quoted(error.message)}"
    at_fault = _at_fault(name, asked)
    if at_fault is not None:
        return [REQUEST_AT_FAULT(f"{asked.op} was answered {shown}; {at_fault}", found=error.code, name=name)]
    if name == "VersionNotSupported":
        return _version(error, asked, shown)
    if name == "MethodNotFound" and asked.is_declared:
        detail = f"the card declares {quoted(asked.declared_version)}, {asked.op} was answered {shown}"
        return [METHOD_MISSING(detail, found=error.code, expected=asked.declared_version)]
    right = expected_error(asked)
    refused = CALL_REFUSED(f"{asked.op} was answered {shown}", found=error.code, name=name)
    if name is None:
        return [refused]
    if name in _GENERAL:
        better = right or _better_by_words(error, asked)
        if better is None:
            return [refused]
        note = GENERAL_ERROR_CODE(f"{shown}; {better} is the error for this", found=name, expected=better)
        return [refused, note]
    if _may_be_forgotten(name, asked):
        return [refused]
    is_wrong = right is not None and name != right and not _is_broader(name, asked)
    if is_wrong or not _can_be(name, asked):
        wants = f"{right} is the error for this" if right else f"that cannot be true of {asked.op}"
        return [MISINFORMING_ERROR(f"{asked.op} was answered {shown}; {wants}", found=name, expected=right)]
    return [refused]


def judge_acceptance(asked: Asked) -> list[Finding]:
    """Whether a call that was taken should have been declined for the version it named (§3.6.2).

    Held against what the card offers; without a card, against the versions that exist. A request that names no version
    proves nothing: strictly it is one of 0.3, and servers of both kinds are met.
    """
    sent = asked.version_sent
    if not sent:
        return []
    offered = {line for version in asked.declared_versions if (line := line_of(version))} or PUBLISHED
    if line_of(sent) in offered:
        return []
    whose = "the card offers" if asked.declared_versions else "the versions there are"
    detail = f"A2A-Version {quoted(sent)} was taken; {whose} {listed(sorted(offered))}"
    return [VERSION_TAKEN(detail, found=sent, expected=sorted(offered))]


def expected_error(asked: Asked) -> str | None:
    """The error that the situation calls for, as far as the evidence shows the situation; None where it does not."""
    is_current = asked.dialect == "1.0"
    if asked.op == "extended-card":
        if asked.declares_extended_card:
            return "ExtendedAgentCardNotConfigured"
        return "UnsupportedOperation" if is_current and asked.declares_extended_card is False else None
    if asked.op in STREAMS and asked.declares_streaming is False:
        return _NO_STREAM.get(asked.dialect, "UnsupportedOperation")
    if (asked.op in PUSHES or asked.configures_push) and asked.declares_push is False:
        return "PushNotificationNotSupported"
    if asked.task_id is None or asked.opens_task:
        return None
    if not asked.task_is_known and asked.task_state is None:
        return "TaskNotFound"
    if asked.task_state is not None and asked.task_state.is_terminal:
        if asked.op == "cancel":
            return "TaskNotCancelable"
        if asked.op in SENDS | STREAMS:
            return _HAS_ENDED.get(asked.dialect)
    return None


def _may_be_forgotten(name: str, asked: Asked) -> bool:
    """No version says how long an agent keeps a task that has ended, so that it may no longer know one.

    For what continues a task the versions name another error once it has ended (§3.1.1, §3.1.6), which counts.
    """
    has_ended = asked.task_state is not None and asked.task_state.is_terminal
    return name == "TaskNotFound" and has_ended and asked.op in ("get", "cancel")


def _at_fault(name: str | None, asked: Asked) -> str | None:
    """What of the request deserved the error; None where nothing is known that does."""
    if asked.dialect == "1.0" and asked.version_sent == "" and name in NOT_OF_0_3:
        return "the call names no version, and so counts as one of 0.3"
    offered = {line for version in asked.declared_versions if (line := line_of(version))}
    if offered and not offered & _ALIKE.get(asked.dialect, {asked.dialect}):
        return f"the call is of {asked.dialect}, and the card offers {listed(sorted(offered))} there"
    return asked.flaws[0] if asked.flaws and name in _OF_A_REQUEST else None


def _is_broader(name: str, asked: Asked) -> bool:
    """The draft's OperationNotSupported is broader than its other errors, and true beside them."""
    return asked.dialect == "0.1" and name == "UnsupportedOperation"


def _can_be(name: str, asked: Asked) -> bool:
    if name == "TaskNotFound" and asked.task_id is not None and not asked.opens_task:
        return asked.task_state is None  # a task that the agent itself shows is not missing
    if name == "PushNotificationNotSupported" and asked.configures_push:
        return True
    return asked.op in _FITS.get(name, {asked.op})


def _better_by_words(error: RpcError, asked: Asked) -> str | None:
    is_there = {
        "task": asked.task_id is not None and asked.dialect == "1.0",
        "send": asked.op in SENDS,
        "stream": asked.op in STREAMS,
    }
    return next((name for words, name, where in _WORDS if is_there[where] and words.search(error.message)), None)


def _version(error: RpcError, asked: Asked, shown: str) -> list[Finding]:
    """Whether "version not supported" is true: of the version that the card declares, or of a patch, it is not."""
    sent = line_of(asked.version_sent)
    declared = line_of(asked.declared_version)
    is_declared = sent is not None and sent == declared
    is_by_patch = sent is not None and declared is None and sent != asked.version_sent
    if is_declared or is_by_patch:
        why = (
            f"the card declares {quoted(asked.declared_version)}"
            if is_declared
            else "only its patch number can be meant"
        )
        detail = f"A2A-Version {quoted(asked.version_sent)} was answered {shown}, but {why}"
        return [VERSION_REJECTED(detail, found=asked.version_sent, expected=sent)]
    detail = f"A2A-Version {quoted(asked.version_sent)} was answered {shown}"
    return [CALL_REFUSED(detail, found=error.code, name="VersionNotSupported")]
