"""Error bodies over HTTP+JSON, decoded by dialect: which A2A error is meant, and whether it is said as it must be.

1.0 sends a google.rpc.Status whose ErrorInfo names the error (§11.6). 0.3 fixes no shape, and its SDKs have three of
them. The pre-release of 1.0 had problem details; they are understood, and named for what they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from a2a_lab.core.model import Json, RpcError
from a2a_lab.core.quoting import quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire.errors_table import A2A, HTTP_STATUS, LEGACY_HTTP, error_name
from a2a_lab.wire.messages import Op


def _fault(slug: str, means: str, verdict: Verdict, *, clause: str, other: str | None = None) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.RPC,
        verdict=verdict,
        kind=Kind.NOTE if verdict is Verdict.ACCEPT else Kind.CONFORMANCE,
        judge=Judge.SPEC,
        rule="R1, R27",
        clause=clause,
        means=means,
        other=other,
    )


PROBLEM_BODY = _fault(
    "problem-body",
    "the error is written as problem details, the shape of the pre-release; clients of 1.0 look for another",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §11.6 (google.rpc.Status)",
    other="the examples of §6.4 and §6.5 still show problem details",
)
REST_ERROR_SHAPE = _fault(
    "rest-error-shape",
    "a member of the error body is missing, of another type, or contradicts the HTTP status",
    Verdict.HINT,
    clause="A2A 1.0.1 §11.6",
)
ERROR_INFO_MISSING = _fault(
    "error-info-missing",
    "the error has no ErrorInfo, so that a client cannot tell which A2A error of this status it is",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §11.6 MUST",
)
ERROR_STATUS = _fault(
    "error-http-status",
    "the error comes under an HTTP status that the table of errors gives to another one",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §5.4 MUST",
)
OLD_ERROR_STATUS = _fault(
    "error-http-status-1.0.0",
    "the HTTP status of the error is that of the table of 1.0.0",
    Verdict.ACCEPT,
    clause="A2A 1.0.0 §5.4; 1.0.1 §5.4 has another",
)
ERROR_UNDER_SUCCESS = _fault(
    "error-under-success",
    "an error body came under an HTTP status of success",
    Verdict.CONFORMANCE_ERROR,
    clause="A2A 1.0.1 §5.4, §11.6",
)

PROBLEM_MEDIA: Final = "application/problem+json"
DOMAIN: Final = "a2a-protocol.org"
_ERROR_INFO: Final = "google.rpc.ErrorInfo"
_CAPITAL: Final = re.compile(r"(?<!^)(?=[A-Z])")
_NAMES: Final = tuple(dict.fromkeys([*A2A["1.0"].values()]))
BY_REASON: Final = {_CAPITAL.sub("_", name).upper(): name for name in _NAMES}
_BY_PROBLEM: Final = {_CAPITAL.sub("-", name).lower(): name for name in _NAMES}
# What a google.rpc code says where nothing says more; the codes that several A2A errors share say nothing.
_BY_CODE_NAME: Final = {"INVALID_ARGUMENT": "InvalidParams", "INTERNAL": "InternalError"}
_ABOUT_A_TASK: Final = frozenset[Op]({"get", "cancel", "subscribe"})


def read(
    document: Json, *, status: int | None, media: str | None, dialect: str, op: Op, findings: list[Finding]
) -> RpcError | None:
    """The error in a body; None where the body holds none. `status` is None inside a stream, which has no other."""
    if not isinstance(document, dict):
        return None
    error = document.get("error")
    if media == PROBLEM_MEDIA or (error is None and _is_problem(document)):
        return _problem(document, status, dialect, op, findings)
    if isinstance(error, dict):
        if dialect == "1.0":
            return _status(error, status, op, findings)
        return _legacy(error, status, op)
    if dialect != "1.0" and (type(document.get("code")) is int or isinstance(document.get("message"), str)):
        return _legacy(document, status, op)
    return None


def no_route(status: int, op: Op) -> RpcError | None:
    """What a status without an error body says of a call: that there is no such operation at the interface."""
    if status not in (404, 405, 501) or op in _ABOUT_A_TASK:
        return None
    return RpcError(code=status, message=f"HTTP {status}", name="MethodNotFound")


def _status(error: Mapping[str, Json], status: int | None, op: Op, findings: list[Finding]) -> RpcError:
    """A google.rpc.Status in JSON."""
    code, message, details = error.get("code"), error.get("message"), error.get("details")
    if type(code) is not int or (status is not None and code != status):
        expected = "an HTTP status" if status is None else str(status)
        findings.append(REST_ERROR_SHAPE(f"error.code is {quoted(code)}, expected {expected}", found=quoted(code)))
    if not isinstance(message, str):
        findings.append(REST_ERROR_SHAPE(f"error.message is {quoted(message)}, expected a text", found=quoted(message)))
    if details is not None and not isinstance(details, list):
        detail = f"error.details is {quoted(details)}, expected an array"
        findings.append(REST_ERROR_SHAPE(detail, found=quoted(details)))
    info = error_info(details if isinstance(details, list) else [])
    reason = info.get("reason") if info is not None else None
    name = BY_REASON.get(reason) if isinstance(reason, str) else None
    if info is None or reason is None:
        name = _unsaid(code, error.get("status"), status, op, findings)
    elif name is not None:
        if info.get("domain") != DOMAIN:
            found = quoted(info.get("domain"))
            findings.append(REST_ERROR_SHAPE(f"ErrorInfo.domain is {found}, expected {DOMAIN}", found=found))
        _judge_status(name, status, findings)
    return RpcError(code=code, message=message if isinstance(message, str) else "", name=name, data=details)


def error_info(details: Sequence[Json]) -> Mapping[str, Json] | None:
    """The google.rpc.ErrorInfo among the details of an error."""
    for entry in details:
        if isinstance(entry, dict) and str(entry.get("@type")).endswith(_ERROR_INFO):
            return entry
    return None


def _unsaid(code: Json, code_name: Json, status: int | None, op: Op, findings: list[Finding]) -> str | None:
    """The name of an error that has no ErrorInfo, as far as the rest tells it."""
    name = error_name("1.0", code) or _by_status(status, op)
    if name in A2A["1.0"].values() or code_name == "FAILED_PRECONDITION":
        shown = name or "one of several A2A errors"
        findings.append(ERROR_INFO_MISSING(f"{quoted(code)} {quoted(code_name)} without ErrorInfo means {shown}"))
    return name or (_BY_CODE_NAME.get(code_name) if isinstance(code_name, str) else None)


def _by_status(status: int | None, op: Op) -> str | None:
    """The A2A error that alone has a status."""
    if status == 404:
        return "TaskNotFound" if op in _ABOUT_A_TASK else "MethodNotFound"
    if status == 409 and op == "cancel":
        return "TaskNotCancelable"
    return {405: "MethodNotFound", 415: "ContentTypeNotSupported", 502: "InvalidAgentResponse"}.get(status or 0)


def _judge_status(name: str, status: int | None, findings: list[Finding]) -> None:
    allowed = HTTP_STATUS.get(name, ())
    if status is None or not allowed or status == allowed[0]:
        return
    if status in allowed:
        findings.append(OLD_ERROR_STATUS(f"{name} came under HTTP {status}", found=status, expected=allowed[0]))
        return
    detail = f"{name} came under HTTP {status}, expected {' or '.join(map(str, allowed))}"
    findings.append(ERROR_STATUS(detail, found=status, expected=list(allowed)))


def _problem(
    document: Mapping[str, Json], status: int | None, dialect: str, op: Op, findings: list[Finding]
) -> RpcError:
    kind = document.get("type")
    name = _BY_PROBLEM.get(kind.rstrip("/").rpartition("/")[2]) if isinstance(kind, str) else None
    if dialect == "1.0":
        findings.append(PROBLEM_BODY(f"problem details of type {quoted(kind)}", found=quoted(kind)))
    told = document.get("detail") or document.get("title")
    return RpcError(
        code=document.get("status", status),
        message=told if isinstance(told, str) else "",
        name=name or _by_status(status, op),
        data=dict(document),
    )


def _is_problem(document: Mapping[str, Json]) -> bool:
    return type(document.get("status")) is int and ("title" in document or "detail" in document)


def _legacy(error: Mapping[str, Json], status: int | None, op: Op) -> RpcError:
    """The shapes of the SDKs of 0.3: a JSON-RPC error, a message alone, or already a google.rpc.Status."""
    code, message, details = error.get("code", status), error.get("message"), error.get("details")
    info = error_info(details if isinstance(details, list) else [])
    reason = info.get("reason") if info is not None else None
    name = error_name("0.3", code) or (BY_REASON.get(reason) if isinstance(reason, str) else None)
    if name is None and info is None:
        told = status if status is not None else code if type(code) is int else 0  # inside a stream the code alone
        name = "TaskNotFound" if told == 404 and op in _ABOUT_A_TASK else LEGACY_HTTP.get(told)
    data = details if details is not None else error.get("data")
    return RpcError(code=code, message=message if isinstance(message, str) else "", name=name, data=data)
