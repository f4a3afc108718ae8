"""How a failed call over gRPC is read: its status, and the ErrorInfo that names the A2A error (wire-facts 8).

1.0 names every error of A2A in an ErrorInfo (§10.6). 0.3 fixes nothing; its SDKs write the name before the message. A
status that says nothing of A2A is that of the transport, or of a server that broke: nobody knows what the call did.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from a2a_lab.core.model import Json, RpcError
from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, NotGradeable, Stage, Verdict
from a2a_lab.wire import http_shape
from a2a_lab.wire.errors_table import A2A, GRPC_STATUS, STANDARD
from a2a_lab.wire.messages import Op
from a2a_lab.wire.rest_errors import BY_REASON, DOMAIN, error_info


def _fault(slug: str, means: str, verdict: Verdict, clause: str | None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.RPC,
        verdict=verdict,
        kind=Kind.NOTE if verdict is Verdict.ACCEPT else Kind.CONFORMANCE,
        judge=Judge.SPEC if clause else Judge.POLICY,
        rule="R1, R27",
        clause=clause,
        means=means,
    )


GRPC_FAILURE = _fault(
    "grpc-failure",
    "a failing status without an answer of A2A: what became of the call is unknown",
    Verdict.REFUSE,
    None,
)
GRPC_INFO_MISSING = _fault(
    "grpc-error-info-missing",
    "the status has no ErrorInfo, so that a client cannot tell which A2A error of this code it is",
    Verdict.CONFORMANCE_ERROR,
    "A2A 1.0.1 §10.6 MUST",
)
GRPC_INFO_SHAPE = _fault(
    "grpc-error-info-shape",
    "the ErrorInfo of an A2A error lacks the domain by which a client knows it",
    Verdict.HINT,
    "A2A 1.0.1 §10.6 MUST (domain a2a-protocol.org)",
)
GRPC_CODE = _fault(
    "grpc-error-code",
    "the error comes under a status code that the table of errors gives to another one",
    Verdict.CONFORMANCE_ERROR,
    "A2A 1.0.1 §5.4 MUST",
)
OLD_GRPC_CODE = _fault(
    "grpc-error-code-1.0.0",
    "the status code of the error is that of the table of 1.0.0",
    Verdict.ACCEPT,
    "A2A 1.0.0 §5.4; 1.0.1 §5.4 has another",
)

CODES: Final = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
"""The names of the status codes, in the order of their numbers."""

_AT_THE_DOOR: Final[Mapping[str, NotGradeable]] = {
    "UNAUTHENTICATED": NotGradeable.AUTH_NEEDED,
    "PERMISSION_DENIED": NotGradeable.AUTH_NEEDED,
    "RESOURCE_EXHAUSTED": NotGradeable.THROTTLED,
}
# What a code says by itself. NOT_FOUND does only where the call is about a task.
_BY_CODE: Final = {"INVALID_ARGUMENT": "InvalidParams", "INTERNAL": "InternalError", "UNIMPLEMENTED": "MethodNotFound"}
_ABOUT_A_TASK: Final = frozenset[Op]({"get", "cancel", "subscribe"})
_SAYS_NOTHING: Final = frozenset({"CANCELLED", "UNKNOWN", "DEADLINE_EXCEEDED", "ABORTED", "UNAVAILABLE", "DATA_LOSS"})
_NAMED: Final = re.compile(r"\s*(\w+?)(?:Error)?\s*:")
_NAMES: Final = frozenset({*A2A["0.3"].values(), *STANDARD.values()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A failed call, read. `error` is None where the status is no answer of A2A, as `finding` then says."""

    error: RpcError | None = None
    finding: Finding | None = None
    not_gradeable: NotGradeable | None = None


def read(said: Json, *, dialect: str, op: Op, findings: list[Finding]) -> Failed:
    """What the trailers of a call said, as evidence keeps them: code, status, message, details."""
    status = said if isinstance(said, dict) else {}
    code, message = status.get("code"), status.get("message")
    message = message if isinstance(message, str) else ""
    name = CODES[code] if type(code) is int and 0 <= code < len(CODES) else f"code {quoted(code)}"
    details = status.get("details")
    info = error_info(details if isinstance(details, list) else [])
    meant = _by_reason(info) or (_by_text(message) if dialect != "1.0" else None)
    shown = f"{name}: {quoted(message, 200)}"
    if meant is None and (at_the_door := _AT_THE_DOOR.get(name)) is not None:
        kind = http_shape.THROTTLED if at_the_door is NotGradeable.THROTTLED else http_shape.AUTH_NEEDED
        return Failed(
            error=RpcError(code=code, message=message, data=details),
            finding=kind(f"the call was answered {shown}", status=name),
            not_gradeable=at_the_door,
        )
    if meant is None and info is None and name in _SAYS_NOTHING:
        return Failed(finding=GRPC_FAILURE(f"the call ended with {shown}", status=name))
    if meant is None and dialect == "1.0":
        meant = _unsaid(name, op, findings, has_info=info is not None)
    elif meant is None:
        meant = "TaskNotFound" if name == "NOT_FOUND" and op in _ABOUT_A_TASK else _BY_CODE.get(name)
    elif dialect == "1.0":
        _judge(meant, name, info or {}, findings)
    return Failed(error=RpcError(code=code, message=message, name=meant, data=details))


def _by_reason(info: Mapping[str, Json] | None) -> str | None:
    reason = info.get("reason") if info is not None else None
    return BY_REASON.get(reason) if isinstance(reason, str) else None


def _by_text(message: str) -> str | None:
    """The name that SDKs of 0.3 put before the message, as in "TaskNotFoundError: no such task"."""
    found = _NAMED.match(message)
    return found[1] if found is not None and found[1] in _NAMES else None


def _unsaid(name: str, op: Op, findings: list[Finding], *, has_info: bool) -> str | None:
    """The name of an error of 1.0 that no known ErrorInfo gives."""
    meant = "TaskNotFound" if name == "NOT_FOUND" and op in _ABOUT_A_TASK else _BY_CODE.get(name)
    if not has_info and (meant == "TaskNotFound" or name == "FAILED_PRECONDITION"):
        shown = meant or "one of several A2A errors"
        findings.append(GRPC_INFO_MISSING(f"{name} without ErrorInfo means {shown}", found=name))
    return meant


def _judge(meant: str, code: str, info: Mapping[str, Json], findings: list[Finding]) -> None:
    if info.get("domain") != DOMAIN:
        found = quoted(info.get("domain"))
        findings.append(GRPC_INFO_SHAPE(f"ErrorInfo.domain is {found}, expected {DOMAIN}", found=found))
    allowed = GRPC_STATUS.get(meant, ())
    if not allowed or code == allowed[0]:
        return
    if code in allowed:
        findings.append(OLD_GRPC_CODE(f"{meant} came under {code}", found=code, expected=allowed[0]))
        return
    detail = f"{meant} came under {code}, expected {' or '.join(allowed)}"
    findings.append(GRPC_CODE(detail, found=code, expected=list(allowed)))
