"""The rules that a page cites, each in a sentence for a reader who has only the page.

A finding names its rule by a short word such as R19; the page links that word to its line in the glossary, which also
stands on paper. The sentences say what the rule asks; DESIGN and RULINGS are the rules themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from a2a_lab.report.html import Html, join, tag

_RULE = re.compile(r"\b[ADPR]\d{1,2}\b")

RULES: dict[str, str] = {
    "D1": "resolve, then fetch, then match: a card met on the way is a signpost, never matched and never a fallback",
    "D2": "how a tenant is selected is the operator's choice, and the chosen interface's tenant is echoed exactly",
    "D3": "the card is fetched from the target itself, the most specific one that is found; a card for many is named",
    "D4": "a card is bound to the target when one of its interfaces names it: URL, binding, version and tenant",
    "D5": "no card at the target means that nothing is declared: refused, never fallen back",
    "D6": "cards are cached by resolved target, and only once they passed",
    "D7": "required capabilities and skills are matched on the bound card; what is absent is not offered",
    "D8": "addresses that a remote card must not send a client to are refused unless the operator allows them by name",
    "A1": "a signature counts when it verifies under a trusted key by a named profile; its presence proves nothing",
    "A2": "the version is compared as exact text with what the client supports; anything near is a hint at best",
    "A3": "a small probe comes before any payload, and is followed to the first real change of its task",
    "A4": "signature, version and probe decide together by a table: commit, renegotiate or refuse",
    "A5": "each part of each artifact is checked against the declared output modes when it arrives",
    "A6": "a stream must carry what was declared and must end by the book; silence is asked about, then called a hang",
    "A7": "what was started and cannot be undone is cancelled, verified, and booked as an orphan where it remains",
    "P1": "the protocol's version and the card's own version are two things",
    "P2": "a card is pinned by a digest of its content when it is read",
    "P3": "before each step that depends on the card it is fetched again and compared with the pin",
    "P4": "drift names the members that changed, which of them the plan depends on, and what to do",
    "P5": "nothing is repaired: duplicate keys, NaN, lone surrogates and the like are malformed",
    "R1": "which stage answers for what: each finding belongs to one step of the flow",
    "R2": "verdict and authority are two words: an unsigned agent that does everything right is accepted, advisory",
    "R3": "each finding says whose rule decided, the specification's or the lab's policy",
    "R4": "match, signature and version are always all looked at before the flow stops",
    "R5": "live traffic and captures are judged by the same gates",
    "R6": "where a card is looked for: from the most specific path to the origin, each newer name before the older one",
    "R7": "direct or behind a gateway: how a card that speaks for several targets is told from one of a single agent",
    "R8": "which members of a card bind it, by its generation; members of two generations are never mixed",
    "R9": "the first interface that the client speaks is taken; there is no silent step down to another version",
    "R10": "redirects: a few hops for a card within its own domain, and none to elsewhere for a call",
    "R11": "loopback and plain http are fine where the operator typed them, and refused where a public card names them",
    "R12": "a card that the operator configured is advice; an extended card has a digest of its own",
    "R13": "asking for credentials is not the same as having no agent; a page of HTML is no card",
    "R14": "spelling and missing members: names of another generation are errors, unknown members are kept aside",
    "R15": "the intended mode must be among the card's input modes",
    "R16": "media types are compared by type and subtype; only a declaration has wildcards; parts are labelled",
    "R17": "an extension that the card requires and the client does not speak refuses",
    "R18": "which form of signing gives authority, and which others are recognised for what they leave uncovered",
    "R19": "an unsigned card or an unknown key is a hint by default; a trusted key that fails always refuses",
    "R20": "what a signature's header must say: key id, an allowed algorithm, nothing critical that is unknown",
    "R21": "the exact spellings of each version, and what a patch, a pre-release or a missing version means",
    "R22": "how a probe's outcome is read: accepted, narrowed, interrupted, refused or inconclusive",
    "R23": "a second small probe rehearses the payload's own mode; a mode that no probe proved is not used",
    "R24": "a commit opens a new task, and a refused payload is sent again in another mode at most as often as allowed",
    "R25": "what a hint may commit, and that nothing is committed after a bad signature, version or probe",
    "R26": "an agent that does not echo the named skill is treated as a generic executor",
    "R27": "an error must carry the code that the protocol has for it",
    "R28": "an artifact is owed before the end of a stream only where streaming was declared",
    "R29": "appending to an artifact nobody saw, and anything after its last chunk, breaks the stream's order",
    "R30": "two clocks: silence makes the lab ask for the task, more of it is a hang; timed-out waits count apart",
    "R31": "further ways in which a stream ends, and how long a socket may stay open afterwards",
    "R32": "what is malformed in the JSON of a call, and what is decoded for its text and is an error all the same",
    "R33": "what a pinned card is filed under: URLs, binding, version, tenant and the headers that select it",
    "R34": "which steps depend on the card; two cards that take turns are flapping, not drifting",
    "R35": "an orphan is a task or an artifact without a known end, or a payload in a task that failed",
    "R36": "held, delivered and refused are counted from the exchanges; runs are joined by the names of their pairs",
    "R37": "live agents are protected: nothing is sent unless allowed, and nothing is sent twice without looking first",
    "R38": "what people wrote stays in the house: pages show type, length and a hash",
    "R39": "what the commands end with",
    "R40": "simulated agents run in processes of their own",
    "R41": "notebooks drive one loop in the background",
    "R42": "what the base installation needs",
    "R43": "replay needs the recording's own requests",
}

CLOSURES: dict[str, str] = {
    "final-proved": "ended by the book: the dialect's own end signal came",
    "interrupted-closed": "the agent asked for something and closed the stream",
    "interrupted-open": "the agent asked for something and left the stream open",
    "message-only": "one message and no task",
    "final-without-close": "the end was signalled, and the connection stayed open",
    "close-without-final": "a last state came, and not the signal that ends the stream in this dialect",
    "eof-nonterminal": "closed while the task was still at work",
    "truncated": "closed inside an event",
    "error-frame": "an error came inside the stream",
    "idle-hang": "nothing came any more, and the stream stayed open",
    "live-hang": "only comments or pings came any more",
    "drip-hang": "events came, too slowly to end in time",
    "overrun": "the limit for the whole call was reached",
    "wrong-media": "the answer to a streaming call was no event stream",
    "reset": "the transport cut the connection",
    "limit": "a bound of the reader was reached",
    "http-error": "an HTTP error instead of a stream",
    "rpc-error-before-stream": "an error answer instead of a stream",
    "left": "the client went before anything could be judged",
}

STAGES: dict[str, str] = {
    "resolve": "from the URL that was given to the place that is called",
    "fetch": "the card, from that place",
    "match": "what the plan needs, on the card",
    "signature": "who signed the card",
    "version": "which version is spoken",
    "probe": "the small try before the payload",
    "rpc": "the calls and their answers",
    "receive": "what the artifacts carry",
    "stream": "the events, and how the stream ended",
    "ledger": "drift, what was committed, and what was left behind",
}


def cited(rule: str) -> Html:
    """The rules that a finding names, each a link to its line in the glossary, which says what it asks."""
    parts: list[Html | str] = []
    end = 0
    for found in _RULE.finditer(rule):
        name = found.group()
        known = tag("a", name, href=f"#rule-{name}", title=RULES[name], class_="rule") if name in RULES else name
        parts += [rule[end : found.start()], known]
        end = found.end()
    return join([*parts, rule[end:]])


def named(rules: Iterable[str]) -> dict[str, str]:
    """The rules that these texts cite, with their sentences, in the order of the design."""
    found = {name for rule in rules for name in _RULE.findall(rule)}
    return {name: told for name, told in RULES.items() if name in found}
