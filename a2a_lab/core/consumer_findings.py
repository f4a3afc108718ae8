"""The findings about a consumer: what its own traffic shows, and what it told its caller of it.

A recorder in front of the agent sees what a client that nobody can change asks, in which order, and what it leaves out.
Where the specification binds clients the finding names the clause; the rest is measured against this lab's policy.
"""

from __future__ import annotations

from a2a_lab.verdicts import FindingKind, Judge, Kind, Stage, Verdict


def _of_consumer(
    slug: str,
    means: str,
    *,
    stage: Stage,
    verdict: Verdict,
    rule: str,
    kind: Kind = Kind.CONFORMANCE,
    clause: str | None = None,
    judge: Judge | None = None,
    other: str | None = None,
) -> FindingKind:
    return FindingKind(
        slug=slug,
        stage=stage,
        verdict=verdict,
        kind=kind,
        judge=judge or (Judge.SPEC if clause else Judge.POLICY),
        rule=rule,
        means=means,
        clause=clause,
        other=other,
    )


# -- what the recorder itself changed or could not see

CARD_REWRITTEN = _of_consumer(
    "card-rewritten",
    "the recorder put its own address into the card, since the consumer would else have walked past it; a consumer "
    "that verifies signatures sees a card that its signer did not sign",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="R5",
)
REDIRECT_REWRITTEN = _of_consumer(
    "redirect-rewritten",
    "the recorder put its own address into a redirect to the agent's own origin, since the consumer would else have "
    "walked past it",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="R5, R10",
)
PAST_THE_RECORDER = _of_consumer(
    "past-the-recorder",
    "an address that the recorder does not stand in front of was handed to the consumer; what it does there is unseen",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="R5",
)
CARD_OFFERED_ELSEWHERE = _of_consumer(
    "card-offered-elsewhere",
    "the matrix has the recorder offer the card under another well-known path too, where the agent itself serves none: "
    "what consumers do who are told the path, and no proof that they find it",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="R6",
)
SEVERAL_CLIENTS = _of_consumer(
    "several-clients",
    "requests came under several names (User-Agent) and are judged as of one consumer: one program may use several "
    "HTTP libraries, and two programs one, so nothing tells them apart for certain; watch one client at a time",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="R5",
)
RECORDING_FULL = _of_consumer(
    "recording-full",
    "the recording reached its bound: later traffic was passed on and not kept, so nothing is known of it",
    stage=Stage.FETCH,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="DESIGN 9",
)

# -- how it looked for the card

CARD_UNASKED = _of_consumer(
    "card-unasked",
    "the consumer called an agent whose card it never asked for",
    stage=Stage.FETCH,
    verdict=Verdict.HINT,
    rule="D1, D5",
    other="A2A 1.0.1 §8.2 lets a client be configured with a card",
)
CARD_INVENTED = _of_consumer(
    "card-invented",
    "the consumer found no card, and called the agent as if it had one",
    stage=Stage.FETCH,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="D5",
)
LEGACY_PATH_ONLY = _of_consumer(
    "legacy-path-only",
    "the consumer looks for cards only where they lay before A2A 0.3.0",
    stage=Stage.FETCH,
    verdict=Verdict.HINT,
    rule="R6",
    clause="A2A 0.3.0 §5.3, 1.0.1 §8.2 (agent-card.json)",
)
TARGET_CARD_UNASKED = _of_consumer(
    "target-card-unasked",
    "the consumer called a place whose own card it never asked for, on the word of a card from elsewhere",
    stage=Stage.FETCH,
    verdict=Verdict.HINT,
    rule="D1, D3",
    other="A2A 1.0.1 §8.3 lets a card name any URL",
)
MATCHED_BEFORE_RESOLVED = _of_consumer(
    "matched-before-resolved",
    "the consumer selected its tenant on the call and not when it fetched the card, so what it matched was everybody's",
    stage=Stage.MATCH,
    verdict=Verdict.REFUSE,
    rule="D1, D3",
)
BASE_PATH_DROPPED = _of_consumer(
    "base-path-dropped",
    "the consumer joined the address and the well-known path so that the end of the address was lost",
    stage=Stage.RESOLVE,
    verdict=Verdict.HINT,
    rule="D3, R6",
    other="RFC 3986 §5.2.3: a reference replaces what follows the last slash of its base",
)
PARENT_CARD_USED = _of_consumer(
    "parent-card-used",
    "the consumer asked above the address that it was given, and took the card that it found there: another tenant's",
    stage=Stage.FETCH,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="D1, D3",
)
READABLE_CARD_DECLINED = _of_consumer(
    "readable-card-declined",
    "the consumer declined a card with an interface that it could have called",
    stage=Stage.MATCH,
    verdict=Verdict.REFUSE,
    rule="R9",
    clause="A2A 1.0.1 §8.3.2 (use the first interface that is supported)",
)
CARD_REUSED = _of_consumer(
    "card-reused",
    "the consumer began another conversation on a card that it had fetched for an earlier one",
    stage=Stage.LEDGER,
    verdict=Verdict.HINT,
    kind=Kind.NOTE,
    rule="D6, P3",
    other="A2A 1.0.1 §8.6 lets a client follow RFC 9111",
)
CARD_STALE = _of_consumer(
    "card-stale",
    "the consumer went on with a card past the time that its server gave it, and did not revalidate it",
    stage=Stage.LEDGER,
    verdict=Verdict.HINT,
    rule="D6, P3",
    clause="A2A 1.0.1 §8.6 SHOULD, RFC 9111",
)
KEPT_CARD_CHANGED = _of_consumer(
    "kept-card-changed",
    "the consumer sent another message on a card that it had kept, and the agent's card is another afterwards",
    stage=Stage.LEDGER,
    verdict=Verdict.HINT,
    rule="D6, P3",
    other="A2A 1.0.1 §8.6 lets a client follow RFC 9111",
)
VALIDATORS_UNUSED = _of_consumer(
    "validators-unused",
    "the consumer fetched a card again without the validators that its server had given",
    stage=Stage.LEDGER,
    verdict=Verdict.ACCEPT,
    kind=Kind.NOTE,
    rule="D6, R34",
    clause="A2A 1.0.1 §8.6 SHOULD",
)

# -- what it sent, and where

UNBOUND_CARD_USED = _of_consumer(
    "unbound-card-used",
    "the consumer called a URL that no card it had fetched names",
    stage=Stage.RESOLVE,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="D4",
)
UNDECLARED_DIALECT = _of_consumer(
    "undeclared-dialect",
    "the consumer spoke another version than those that the card declares for the place it called",
    stage=Stage.VERSION,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A2, R9",
    clause="A2A 1.0.1 §3.6, §8.3.2",
)
VERSION_HEADER_MISSING = _of_consumer(
    "version-header-missing",
    "the consumer's call does not name its protocol version, so that a server must read it as 0.3",
    stage=Stage.VERSION,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R21",
    clause="A2A 1.0.1 §3.6.1 MUST, §3.6.2",
)
VERSION_HEADER_WRONG = _of_consumer(
    "version-header-wrong",
    "the consumer's call names another protocol version than the interface that it calls",
    stage=Stage.VERSION,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R21",
    clause="A2A 1.0.1 §3.6.1 MUST",
)
INTERFACE_TENANT_NOT_SENT = _of_consumer(
    "interface-tenant-not-sent",
    "the consumer's call does not carry the tenant of the interface exactly as the card gives it",
    stage=Stage.RESOLVE,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="D2",
    clause="A2A 1.0.1 §8.3.2 rule 4 MUST",
)
TENANT_INVENTED = _of_consumer(
    "tenant-invented",
    "the consumer's call carries a tenant that the interface does not have",
    stage=Stage.RESOLVE,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="D2",
    clause="A2A 1.0.1 §8.3.2 rule 4 MUST omit",
)
EXTENSIONS_HEADER_NAME = _of_consumer(
    "extensions-header-name",
    "the consumer names extensions under the header of the other protocol generation, which no server reads",
    stage=Stage.MATCH,
    verdict=Verdict.HINT,
    rule="R17",
    clause="A2A 1.0.1 §3.2.6 A2A-Extensions; 0.3.0 X-A2A-Extensions",
)
REQUEST_MALFORMED = _of_consumer(
    "request-malformed",
    "the consumer's request is not what its method takes in the version that it names",
    stage=Stage.RPC,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R1",
    clause="A2A 1.0.1 §4, §5.5; 0.3.0 §6",
)
COMMITTED_UNPROBED = _of_consumer(
    "committed-unprobed",
    "the consumer's payload left with its first message, before the runtime had said what it takes",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
    kind=Kind.NOTE,
    rule="A3, A4",
)
RESENT_AFTER_INPUT_REQUIRED = _of_consumer(
    "resent-after-input-required",
    "the agent asked for something else, and the consumer sent it the same once more",
    stage=Stage.PROBE,
    verdict=Verdict.HINT,
    rule="R24",
)
RESENT_AFTER_UNKNOWN = _of_consumer(
    "resent-after-unknown",
    "the consumer sent a payload again without knowing what had become of it, and without looking",
    stage=Stage.LEDGER,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R37",
    other="A2A 1.0.1 §3.3.1 lets an agent make a repeated message harmless",
)
MESSAGE_ID_REUSED = _of_consumer(
    "message-id-reused",
    "the consumer sent a message under an id whose first send had been answered: an agent may take it for the same "
    "message or for a new one, and what it started the first time has no owner any more",
    stage=Stage.LEDGER,
    verdict=Verdict.HINT,
    rule="R35",
    other="A2A 1.0.1 §3.3.1 lets an agent make a repeated message harmless, and binds none to it",
)
TASK_REUSED_WRONGLY = _of_consumer(
    "task-reused-wrongly",
    "the consumer's message names a task that has ended, that was never handed out, or that is of another context",
    stage=Stage.LEDGER,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="R24",
    clause="A2A 1.0.1 §3.1.1, §3.4.2, §3.4.3",
)

# -- how it listened

WAITED_OUT_A_HANG = _of_consumer(
    "waited-out-a-hang",
    "the consumer waited for an agent that said nothing any more until a timeout ended the wait",
    stage=Stage.STREAM,
    verdict=Verdict.HINT,
    rule="A6, R30",
)
LEFT_STREAM_EARLY = _of_consumer(
    "left-stream-early",
    "the consumer left a stream that was still telling it something, before the task had come to an end",
    stage=Stage.STREAM,
    verdict=Verdict.HINT,
    rule="A6, R35",
)
UNFINISHED_TASK_TAKEN = _of_consumer(
    "unfinished-task-taken",
    "the consumer took a task that was still at work for the result, and never asked for it again",
    stage=Stage.LEDGER,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A7, R35",
    other="A2A 1.0.1 §3.2.2: unless told otherwise a send waits for the end",
)

# -- what it told its caller

ARTIFACTS_DROPPED = _of_consumer(
    "artifacts-dropped",
    "the agent sent artifacts that the consumer's caller never saw, and no error was reported",
    stage=Stage.RECEIVE,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A5, A6",
)
ARTIFACT_DOUBLED = _of_consumer(
    "artifact-doubled",
    "the consumer's caller was given an artifact more often than the agent sent it",
    stage=Stage.RECEIVE,
    verdict=Verdict.HINT,
    rule="R29",
)
END_DROPPED = _of_consumer(
    "end-dropped",
    "the agent said how the task ended, and the consumer's caller was told another state or none",
    stage=Stage.RECEIVE,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A6",
)
FAILURE_SWALLOWED = _of_consumer(
    "failure-swallowed",
    "the agent, or the consumer itself, reported a failure, and its caller was given an answer all the same",
    stage=Stage.LEDGER,
    verdict=Verdict.CONFORMANCE_ERROR,
    rule="A7",
)
