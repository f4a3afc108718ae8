"""Makes a case file of a recorded cell (the way back from `casereading`): the evidence, and what it was judged by.

Bodies are written as JSON where that loses nothing, else as text or base64, so that what was malformed stays so. A cell
of one streamed answer at its end is written as FORMAT.md has it; any other keeps its frames where they were.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from a2a_lab.core.policy import Clocks, Policy
from a2a_lab.lab.recall import Recalled
from a2a_lab.net.client import NONCE_HEADER
from a2a_lab.verdicts import Finding, Judge, Verdict
from a2a_lab.wire.exchange import Exchange

Document = dict[str, Any]

# Framing, which is made anew, and what tells the lab's own agents from others.
_LEFT_OUT = frozenset(
    {"content-length", "transfer-encoding", "content-encoding", "connection", "keep-alive", NONCE_HEADER.lower()}
)


def written_case(
    recalled: Recalled, exchanges: Sequence[Exchange], *, name: str, summary: str, finding: Finding, verdict: Verdict
) -> Document:
    """The case of a cell. `exchanges` are its evidence, fit to leave; `verdict` is that of the finding's stage."""
    given: Document = {"client": _client(recalled)}
    if recalled.base_url:
        given["discovery_url"] = recalled.base_url
    given["now"] = datetime.fromtimestamp(recalled.now, UTC).isoformat().replace("+00:00", "Z")
    rows = [_exchange(one) for one in exchanges]
    limits = _limits(recalled.policy.clocks)
    if _is_plain(recalled, exchanges):
        last = rows.pop()
        answer = last["response"]
        given["exchanges"] = [{name: row[name] for name in ("request", "response")} for row in rows]
        given["stream"] = {
            "request": last["request"],
            "response": {key: answer[key] for key in ("status", "headers")},
            "frames": answer["frames"],
            "then": answer["then"],
            "limits": limits,
        } | ({"purpose": last["purpose"]} if "purpose" in last else {})
    else:
        given |= {"exchanges": rows, "limits": limits}
    return {
        "id": name,
        "source": ["a2a-lab reproduce"],
        "kind": f"{finding.stage.value}/{finding.slug}",
        "summary": summary,
        "dialect": recalled.record.key.version,
        "given": given,
        "expect": _expected(finding, verdict),
        "confidence": "high",
        "basis": "recorded by the lab",
    }


def _is_plain(recalled: Recalled, exchanges: Sequence[Exchange]) -> bool:
    """Whether FORMAT.md has words for all of it: one stream, at the end, and no purposes that a decision rests on."""
    streamed = [place for place, one in enumerate(exchanges) if one.chunks]
    is_whole = all(
        one.cut_by is None and one.ending == "close" for one in exchanges if not one.chunks and not one.fault
    )
    return recalled.record.key.posture == "trusting" and streamed == [len(exchanges) - 1] and is_whole


def _client(recalled: Recalled) -> Document:
    """What the consumer intends and its operator allows; what is the product's default is left out."""
    consumer, policy, intent, usual = recalled.consumer, recalled.policy, recalled.intent, Policy()
    told: Document = {
        "supports": list(policy.supports),
        "bindings": list(policy.bindings),
        "input_mode": intent.mode,
        "can_send": list(intent.payloads),
        "output_modes": list(intent.accepts),
        "signature_policy": policy.signature_policy,
    }
    optional: Document = {
        "skill": intent.skill,
        "require": dict.fromkeys(intent.requires, True),
        "extensions": list(intent.extensions),
        "stream": intent.stream,
        "card_url": recalled.given.card_url,
        "tenant": consumer.tenant or recalled.given.tenant,
        "credentials_for": sorted(recalled.given.credentials_for),
        "tenant_by": consumer.tenant_by if consumer.tenant else None,
        "trusted_keys": recalled.jwks,
    }
    chosen = ("topology", "probe", "probe_control", "drift", "max_renegotiations")
    told |= {name: value for name, value in optional.items() if value}
    return told | {name: getattr(policy, name) for name in chosen if getattr(policy, name) != getattr(usual, name)}


def _limits(clocks: Clocks) -> Document:
    seconds = {"silence_ms": clocks.silence_s, "idle_ms": clocks.hang_s, "total_ms": clocks.total_s}
    return {name: round(value * 1000) for name, value in (seconds | {"close_ms": clocks.close_s}).items()}


def _exchange(one: Exchange) -> Document:
    request: Document = {"method": one.method, "url": one.url, "headers": _headers(one.request_headers)}
    row: Document = {
        "request": request | body_of(one.request_body),
        "response": _response(one),
        "at_ms": round(one.started_ms, 3),
        "took_ms": round(max(0.0, one.ended_ms - one.started_ms), 3),
    }
    optional = {"purpose": one.purpose, "cut_by": one.cut_by}
    return row | {name: value for name, value in optional.items() if value}


def _response(one: Exchange) -> Document:
    answer: Document = {"fault": one.fault} if one.fault else {}
    if one.status is None:
        return answer or {"fault": "no-answer"}
    answer |= {"status": one.status, "headers": _headers(one.response_headers)}
    if not one.chunks:
        return answer | body_of(one.body) | ({} if one.ending == "close" or one.fault else {"then": one.ending})
    at, frames = one.started_ms, []
    for chunk in one.chunks:
        frames.append({"after_ms": round(max(0.0, chunk.offset_ms - at), 3)} | _text(chunk.data))
        at = max(at, chunk.offset_ms)
    return answer | {"frames": frames, "then": one.ending}


def _headers(pairs: Sequence[tuple[str, str]]) -> Mapping[str, str] | list[list[str]]:
    kept = [(name, value) for name, value in pairs if name.lower() not in _LEFT_OUT]
    return dict(kept) if len(dict(kept)) == len(kept) else [list(pair) for pair in kept]


def body_of(data: bytes) -> Document:
    """A body as `json` where reading and writing it gives the same again, else as `text`, else as `b64`."""
    if not data:
        return {}
    is_lossless = True

    def pairs(members: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_lossless
        is_lossless &= len(dict(members)) == len(members)
        return dict(members)

    def number(word: str) -> float:
        nonlocal is_lossless
        is_lossless &= math.isfinite(float(word))
        return float(word)

    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=pairs, parse_float=number, parse_constant=number)
    except (ValueError, RecursionError):
        return _text(data)
    return {"json": document} if is_lossless else _text(data)


def _text(data: bytes) -> Document:
    try:
        return {"text": data.decode("utf-8")}
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode("ascii")}


def _expected(finding: Finding, verdict: Verdict) -> Document:
    told: Document = {
        "stage": finding.stage.value,
        "verdict": verdict.value,
        "reason": finding.detail,
        "decided_by": "spec text" if finding.judge is Judge.SPEC else "record",
        "clause": finding.clause or finding.rule,
    }
    return told | ({"opinions_differ": finding.other} if finding.other else {})
