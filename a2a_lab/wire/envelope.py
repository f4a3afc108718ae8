"""The JSON-RPC 2.0 envelope: writes requests, and judges whether a response belongs to ours and has one outcome.

What is inside `result` is the business of the dialects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from a2a_lab.core.model import Json, RpcError
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.verdicts import Finding, FindingKind, Judge, Kind, Stage, Verdict
from a2a_lab.wire.errors_table import SERVER_CODES, error_name

_RESERVED: Final = range(-32768, -31999)
_NO_ID_CODES: Final = (-32700, -32600)  # a server that could not read the request's id answers with null


def _fault(slug: str, means: str, clause: str, verdict: Verdict = Verdict.CONFORMANCE_ERROR) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=Stage.RPC,
        verdict=verdict,
        kind=Kind.CONFORMANCE,
        judge=Judge.SPEC,
        rule="R1",
        clause=f"JSON-RPC 2.0 §{clause}",
        means=means,
    )


NOT_A_RESPONSE = _fault("not-a-response", "the JSON is no JSON-RPC response object", "5")
BATCH = _fault("batch-answer", "one request was answered with an array", "6")
JSONRPC_VERSION = _fault("jsonrpc-version", 'the member jsonrpc is not exactly "2.0"', "5")
ID_MISSING = _fault("rpc-id-missing", "the response has no id, so it cannot be matched to the request", "5")
ID_NULL = _fault("rpc-id-null", "the response has id null, so it cannot be matched to the request", "5")
ID_TYPE = _fault("rpc-id-type", "the response has the request's id in another JSON type", "5")
ID_FOREIGN = _fault("rpc-id-foreign", "the response carries the id of another request", "5")
BOTH_MEMBERS = _fault("result-and-error", "the response has a result and an error; the error counts", "5")
NULL_BESIDE = _fault(
    "null-beside", "a null member stands beside the outcome, which is clear all the same", "5", Verdict.HINT
)
NO_OUTCOME = _fault("no-outcome", "the response has neither a result nor an error", "5")
ERROR_SHAPE = _fault("error-shape", "the error is not an object with an integer code and a text message", "5.1")
CODE_RANGE = _fault(
    "error-code-range", "the error code is outside every range of JSON-RPC: some proxy's own", "5.1", Verdict.HINT
)
RPC_ERROR = FindingKind(
    slug="rpc-error",
    stage=Stage.RPC,
    verdict=Verdict.REFUSE,
    kind=Kind.NOTE,
    judge=Judge.SPEC,
    rule="R1",
    clause="JSON-RPC 2.0 §5.1; A2A 1.0.1 §3.3.2",
    means="the agent declined the call; what follows from that is decided where the answer is used",
)


def write(method: str, rpc_id: Json, params: Mapping[str, Json] | None) -> bytes:
    """A request, compact and in UTF-8. `params` None leaves the member out."""
    document: dict[str, Json] = {"jsonrpc": "2.0", "id": rpc_id, "method": method}
    if params is not None:
        document["params"] = params
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """A response, opened. `is_ours` is False where it cannot belong to the request; its result is then never used.

    A `result` beside an error is no outcome, yet may show a task that runs.
    """

    result: Json = None
    error: RpcError | None = None
    is_ours: bool = True
    has_result: bool = False


def is_plain_result(document: Json, rpc_id: Json) -> bool:
    """Whether a response has nothing that `read` would have to look at: the way nearly every frame of a stream is."""
    return (
        type(document) is dict
        and len(document) == 3
        and document.get("jsonrpc") == "2.0"
        and document.get("id") == rpc_id
        and type(document["id"]) is type(rpc_id)
        and document.get("result") is not None
    )


def read(document: Json, *, rpc_id: Json, dialect: str, findings: list[Finding]) -> Envelope:
    """Open a response; adds what is wrong with it to `findings`."""
    if isinstance(document, list):
        findings.append(BATCH(f"an array of {len(document)} answers one request", found=len(document)))
        document = document[0] if len(document) == 1 else None
        if document is None:
            return Envelope()
    if not isinstance(document, dict) or ("method" in document and "result" not in document):
        findings.append(NOT_A_RESPONSE(f"the answer is {quoted(document)}, expected a JSON-RPC response"))
        return Envelope()
    if document.get("jsonrpc") != "2.0":
        found = quoted(document.get("jsonrpc"))
        findings.append(JSONRPC_VERSION(f'jsonrpc is {found}, expected "2.0"', found=found))
    result, error = document.get("result"), document.get("error")
    is_ours = _judge_id(document, rpc_id, error, findings)
    if error is not None:
        if result is not None:
            findings.append(BOTH_MEMBERS())
        elif "result" in document:
            findings.append(NULL_BESIDE("result is null beside an error"))
        said = read_error(error, dialect=dialect, findings=findings)
        return Envelope(error=said, result=result, is_ours=is_ours)
    if "result" not in document or (result is None and "error" in document):
        findings.append(NO_OUTCOME(f"the response has only {listed(sorted(document)) or 'no members'}"))
        return Envelope(is_ours=is_ours)
    if "error" in document:
        findings.append(NULL_BESIDE("error is null beside a result"))
    return Envelope(result=result, is_ours=is_ours, has_result=True)


def read_error(error: Json, *, dialect: str, findings: list[Finding]) -> RpcError:
    """The error member. A code that is no integer stays visible in `code` and has no name."""
    if not isinstance(error, dict):
        findings.append(ERROR_SHAPE(f"error is {quoted(error)}, expected an object", found=quoted(error)))
        return RpcError(code=None, message=error if isinstance(error, str) else "")
    code, message = error.get("code"), error.get("message")
    if type(code) is not int:
        findings.append(ERROR_SHAPE(f"error.code is {quoted(code)}, expected an integer", found=quoted(code)))
    elif code not in _RESERVED:
        detail = (
            f"error.code {quoted(code)} is outside -32768..-32000; treated as a failure on the way, worth one retry"
        )
        findings.append(CODE_RANGE(detail, found=quoted(code)))
    elif error_name(dialect, code) is None and code not in SERVER_CODES:
        findings.append(
            CODE_RANGE(f"error.code {quoted(code)} is reserved by JSON-RPC and undefined", found=quoted(code))
        )
    if not isinstance(message, str):
        findings.append(ERROR_SHAPE(f"error.message is {quoted(message)}, expected a text", found=quoted(message)))
        message = ""
    return RpcError(code=code, message=message, name=error_name(dialect, code), data=error.get("data"))


def declined(method: str, error: RpcError) -> Finding:
    """The finding that the agent declined a call."""
    named = f" {error.name}" if error.name else ""
    detail = f"{method} was answered {quoted(error.code)}{named}: {quoted(error.message, 200)}"
    return RPC_ERROR(detail, code=quoted(error.code), name=error.name)


def _judge_id(document: Mapping[str, Json], rpc_id: Json, error: Json, findings: list[Finding]) -> bool:
    found = document.get("id")
    if found == rpc_id and isinstance(found, str) is isinstance(rpc_id, str) and type(found) is not bool:
        return True
    if "id" not in document:
        findings.append(ID_MISSING(f"the response to {quoted(rpc_id)} has no id", expected=rpc_id))
        return error is not None
    if found is None:
        code = error.get("code") if isinstance(error, dict) else None
        if code not in _NO_ID_CODES:
            findings.append(ID_NULL(f"the response to {quoted(rpc_id)} has id null", expected=rpc_id))
        return error is not None
    if str(found) == str(rpc_id):
        detail = f"the request had id {quoted(rpc_id)}, the response {quoted(found)}"
        findings.append(ID_TYPE(detail, found=quoted(found), expected=rpc_id))
        return True
    detail = f"the request had id {quoted(rpc_id)}, the response {quoted(found)}; its content is not used"
    findings.append(ID_FOREIGN(detail, found=quoted(found), expected=rpc_id))
    return False
