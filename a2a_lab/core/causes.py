"""Why a pair of an agent and a consumer failed: the one word for it, told apart even where the error texts are alike.

A cause names what to change and at whose end; it says nothing about the other findings of a cell. Those causes that
are a fault of the consumer by themselves (a card that it made up, a failure that it swallowed, a version that nobody
declared) are findings already and stand in `consumer_findings`.
"""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict


def _cause(
    slug: str,
    means: str,
    *,
    stage: Stage,
    verdict: Verdict,
    rule: str,
    clause: str | None = None,
    other: str | None = None,
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=stage,
        verdict=verdict,
        kind=Kind.CONFORMANCE,
        judge=Judge.SPEC if clause else Judge.POLICY,
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


# -- before anything was sent

NEVER_ASKED = _cause(
    "consumer-never-asked",
    "the consumer ended before its first request",
    stage=Stage.RESOLVE,
    verdict=Verdict.REFUSE,
    rule="R1",
)
WRONG_WELL_KNOWN_PATH = _cause(
    "wrong-well-known-path",
    "the agent's card lies at another path than the one where the consumer looks",
    stage=Stage.FETCH,
    verdict=Verdict.REFUSE,
    rule="R6",
    other="A2A 1.0.1 §8.2 and 0.3.0 §5.3 name agent-card.json, older versions agent.json",
)
BASE_PATH_JOINED = _cause(
    "base-path-joined",
    "the consumer lost the end of the address when it joined it with the well-known path, and asked somewhere else",
    stage=Stage.FETCH,
    verdict=Verdict.REFUSE,
    rule="D3, R6",
    other="an address with a final slash is joined alike by all clients",
)
NO_CARD_SERVED = _cause(
    "no-card-served",
    "where the consumer looked the agent answers with no card",
    stage=Stage.FETCH,
    verdict=Verdict.REFUSE,
    rule="D5, R6",
)
NEWER_CARD_UNREADABLE = _cause(
    "newer-card-unreadable",
    "the card is of a later generation than the consumer reads: it has no top-level url",
    stage=Stage.VERSION,
    verdict=Verdict.REFUSE,
    rule="A2, R21",
)
OLDER_CARD_UNUSABLE = _cause(
    "older-card-unusable",
    "the card is of an earlier generation than the consumer calls: it lists no interfaces of 1.x",
    stage=Stage.VERSION,
    verdict=Verdict.REFUSE,
    rule="A2, R21",
)
NO_COMMON_BINDING = _cause(
    "no-common-binding",
    "the card offers no interface over a binding that the consumer speaks",
    stage=Stage.RESOLVE,
    verdict=Verdict.REFUSE,
    rule="R9",
)
CARD_SCHEMA_STRICTER = _cause(
    "card-schema-stricter",
    "the consumer's own schema wants members that a card of this version may leave out",
    stage=Stage.FETCH,
    verdict=Verdict.REFUSE,
    rule="R14",
)
CONSUMER_GATE = _cause(
    "consumer-gate",
    "a rule of the consumer's own about addresses or transports turned away a card that its version allows",
    stage=Stage.RESOLVE,
    verdict=Verdict.REFUSE,
    rule="D8, R9",
    other="A2A 1.0.1 §8.3.2: interfaces that are not supported are passed over",
)

# -- after it was sent

CARD_CONTRADICTS_RUNTIME = _cause(
    "card-contradicts-runtime",
    "the agent does not serve what its card declares: the call was made as declared, and turned away",
    stage=Stage.PROBE,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R27",
    clause="A2A 1.0.1 §4.4.6, §8.3; 0.3.0 §5.6",
)
REQUEST_REFUSED = _cause(
    "request-refused",
    "the agent declined the consumer's request by an error",
    stage=Stage.PROBE,
    verdict=Verdict.REFUSE,
    rule="R22",
)
WIRE_TYPE_MISMATCH = _cause(
    "wire-type-mismatch",
    "card, version and method agree, and still the consumer could not read the answer: one member is of another form",
    stage=Stage.RPC,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R1, R32",
)
STREAM_SHAPE_MISMATCH = _cause(
    "stream-shape-mismatch",
    "the events of the stream are not of the shape that the consumer reads, and it said so",
    stage=Stage.STREAM,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A2, A6",
)
STREAM_SHAPE_DROPPED = _cause(
    "stream-shape-dropped",
    "the events of the stream are not of the shape that the consumer reads, and what they held was lost without a word",
    stage=Stage.STREAM,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A2, A6",
)
ANSWER_SHAPE_DROPPED = _cause(
    "answer-shape-dropped",
    "the answer is not of the shape that the consumer reads, and what it held was lost without a word",
    stage=Stage.RECEIVE,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A2, A5",
)
STREAM_ERROR_IGNORED = _cause(
    "stream-error-ignored",
    "the agent answered the streaming call with an error, and the consumer took it for a stream without events",
    stage=Stage.STREAM,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A6",
)
NEVER_ENDED = _cause(
    "never-ended",
    "the agent never said how it ended, and a timeout or the lab ended the wait",
    stage=Stage.STREAM,
    verdict=Verdict.HANG,
    rule="R30",
)
TASK_FAILED = _cause(
    "task-failed",
    "the agent took the task and ended it without a result",
    stage=Stage.LEDGER,
    verdict=Verdict.REFUSE,
    rule="A7",
)
INPUT_ASKED = _cause(
    "input-asked",
    "the agent waits for something that the consumer did not give",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
    rule="R22",
)
AGENT_DIED = _cause(
    "agent-died",
    "the agent's program ended while the cell ran",
    stage=Stage.RPC,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="DESIGN 9",
)
CONNECTION_BROKEN = _cause(
    "connection-broken",
    "the connection to the agent broke before its answer was whole",
    stage=Stage.RPC,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R31",
)
UNEXPLAINED = _cause(
    "failure-unexplained",
    "the traffic is in order as far as it shows, and the consumer failed all the same",
    stage=Stage.RECEIVE,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R1",
)
