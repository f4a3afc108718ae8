"""The walk to a bound card: hint, target, the target's own card (D1-D5, R6-R13).

A routing hint is asked only for where to go: it is never matched, and never stands in for a card that the target does
not have. In a direct topology the card may lie anywhere from the target's path up to its origin; behind a gateway only
what lies under the target's own selection counts. `discovery` is the way in.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence, Set
from dataclasses import replace

from a2a_lab.core.addresses import judge_addresses
from a2a_lab.core.cardfetch import CardAnswer, CardRequest, Fetched, Reason, ask
from a2a_lab.core.discovered import Discovery
from a2a_lab.core.model import Card, Interface
from a2a_lab.core.policy import Policy
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.core.resolution import (
    LEGACY_WELL_KNOWN,
    WELL_KNOWN,
    ResolvedTarget,
    Topology,
    base_of,
    candidates,
    choose_interface,
    entries_at,
    is_under,
    is_well_known,
    judge_binding,
    judge_one_to_one,
    topology,
)
from a2a_lab.core.resolvers import NOT_RESOLVED, Resolver, selects
from a2a_lab.core.sightings import LEGACY_PATH, compare_paths, compare_union, name_other_bodies, no_bound_card
from a2a_lab.core.urls import Url, is_url, normalise, origin, parse_url
from a2a_lab.errors import AgentCardResolutionError
from a2a_lab.verdicts import Finding, NotGradeable

Step = Generator[CardRequest, CardAnswer, Discovery]


class Walk:
    """One search. Every URL is asked once; what it gave is kept under that URL and under the final one."""

    def __init__(
        self,
        typed: str,
        policy: Policy,
        headers: Mapping[str, str],
        *,
        resolver: Resolver | None,
        credentials_for: Set[str],
        tenant: str | None,
    ) -> None:
        self._typed = typed
        self._policy = policy
        self._headers = headers
        self._resolver = resolver
        self._credentials_for = credentials_for
        self._tenant = tenant
        self._hint: Fetched | None = None
        self._target: ResolvedTarget | None = None
        self._topology: Topology | None = None
        self._got: dict[str, Fetched] = {}
        self._asked: list[str] = []

    def from_hint(self) -> Step:
        """Look for a signpost at the base URL that was typed, and go where it points."""
        for place in candidates(self._typed, query=self._resolver.query if self._resolver else ""):
            hint = yield from self._get(place.url, "hint")
            if hint.card is not None or hint.stop:
                break
        return (yield from self._by_signpost(hint))

    def from_card_url(self) -> Step:
        """Take the card at exactly this URL: the operator's own selection of the target, or a registry's signpost."""
        hint = yield from self._get(self._typed, "hint")
        return (yield from self._by_signpost(hint, is_own=True))

    def to_target(self) -> Step:
        """Look for the card of a dispatch URL that the operator already knows."""
        self._topology = "direct" if self._policy.topology == "auto" else self._policy.topology
        self._target = ResolvedTarget(dispatch_url=self._typed, headers=self._selecting)
        return (yield from self._at_target(self._target))

    def _by_signpost(self, hint: Fetched, *, is_own: bool = False) -> Step:
        if hint.stop:
            return self._end(hint.stop, hint.not_gradeable)
        if hint.card is None:
            return self._end(no_bound_card(asked=self._asked, rejected=self._rejected()))
        self._hint = hint
        target = self._resolve(hint.card)
        if not isinstance(target, ResolvedTarget):
            return self._end([*hint.notes, *target])
        self._target = target
        self._topology = topology(self._policy, hint_url=hint.url, target=target, has_selector=selects(self._resolver))
        if is_own and self._is_at_home(hint.url, target):
            interface, _ = self._bind(hint.card, target)
            if interface is not None:
                return (yield from self._bound(self._typed, hint, interface))
        return (yield from self._at_target(target))

    def _resolve(self, hint: Card) -> ResolvedTarget | list[Finding]:
        """The target that the signpost names, or why it may not be gone to."""
        interface, findings = choose_interface(hint, self._policy, tenant=self._tenant)
        if interface is None:
            return findings
        url = interface.url
        if self._resolver is not None and is_url(url):
            try:
                url = self._resolver.rewrite(url)
            except AgentCardResolutionError as fault:
                return [fault.finding or NOT_RESOLVED(fault.message, found=url)]
        findings = judge_addresses(
            url,
            typed=self._typed if url == interface.url else url,  # what the operator's own rules name, he typed
            policy=self._policy,
            credentials_for=self._credentials_for,
            binding=interface.binding,
        )
        return findings or ResolvedTarget(
            dispatch_url=url,
            binding=interface.binding,
            version=interface.version,
            tenant_id=interface.tenant or None,
            headers=self._selecting,
            named_url=interface.url if self._resolver and self._resolver.keeps_names else None,
        )

    def _at_target(self, target: ResolvedTarget) -> Step:
        """Ask the target's own places, most specific first, for a card that names it."""
        misses: list[str] = []
        for url in self._places(target):
            found = yield from self._get(url, "target")
            if found.stop:
                return self._end(found.stop, found.not_gradeable)
            if found.card is None:
                continue
            if not self._counts(found.url):
                misses.append(f"{quoted(url)} leads to {quoted(found.url)}, which is not the target's own place")
                continue
            interface, why = self._bind(found.card, target)
            if interface is not None:
                return (yield from self._bound(url, found, interface))
            misses += [f"at {quoted(found.url)} {reason}" for reason in why]
        if not misses and self._hint and self._topology == "direct":
            misses.append(f"the card at {quoted(self._hint.url)} names it, but lies under another path")
        hint_url = self._hint.url if self._hint else None
        return self._end(
            no_bound_card(asked=self._asked, target=target, hint_url=hint_url, misses=misses, rejected=self._rejected())
        )

    def _places(self, target: ResolvedTarget) -> list[str]:
        """The URLs where the target's own card may lie. Where one place has two origins, the signpost's is the last."""
        if target.binding == "GRPC" and self._topology == "direct" and self._hint:
            return [self._hint.url]  # its port has no card; that of the same host speaks for it
        own_query = parse_url(target.dispatch_url, binding=target.binding).query
        query = self._resolver.query if self._resolver else "" if own_query else parse_url(self._typed).query
        places = [place.url for place in candidates(target.dispatch_url, query=query, binding=target.binding)]
        if self._topology == "direct" and self._hint and self._is_at_home(self._hint.url, target):
            places.append(self._hint.url)
        return [url for url in places if self._counts(url)]

    def _counts(self, url: str) -> bool:
        """Whether a card at this URL can be the target's own: behind a gateway only under its own selection (D3)."""
        if self._topology == "direct" or self._selecting or parse_url(url).query:
            return True
        if self._hint and origin(url) != origin(self._hint.url):
            return True
        typed = base_of(parse_url(self._typed).path) if self._hint else ""
        scope = self._resolver.scope if self._resolver else None
        level = _level(parse_url(url))
        return level != "" and is_under(scope or typed, level)

    def _is_at_home(self, url: str, target: ResolvedTarget) -> bool:
        """Whether a card at this URL lies on the target's own path, on its origin or on one that is the same place."""
        named = parse_url(target.named_url or target.dispatch_url, binding=target.binding)
        here = parse_url(url)
        is_one_place = self._topology == "direct" or here.origin == named.origin
        return is_one_place and is_under(_level(here), named.path)

    def _bind(self, card: Card, target: ResolvedTarget) -> tuple[Interface | None, Sequence[str]]:
        """The interface by which the card names the target, or sentences that say what it names instead."""
        if self._hint is not None:
            bound = judge_binding(card, target)
            interface, why = bound.interface, bound.near_misses
        else:  # the operator typed the dispatch URL: which of the entries there is ours to choose
            here, why = entries_at(card, target.dispatch_url)
            interface, findings = choose_interface(replace(card, interfaces=here), self._policy, tenant=self._tenant)
            why = tuple(finding.detail for finding in findings) if here else why
        names = f"a card names {listed([entry.url for entry in card.interfaces]) or 'no URL'}"
        return interface, why or (names,)

    def _bound(self, asked: str, found: Fetched, interface: Interface) -> Step:
        """The card is bound. What else is served around it is asked for once, to be named and never to be used."""
        assert found.card is not None and self._target is not None
        notes = [*found.notes, *judge_one_to_one(found.card, interface), *name_other_bodies(self._rejected())]
        place = parse_url(asked)
        if is_well_known(place.path):
            is_legacy = place.path.endswith(LEGACY_WELL_KNOWN)
            other_path = base_of(place.path) + (WELL_KNOWN if is_legacy else LEGACY_WELL_KNOWN)
            beside = yield from self._get(str(replace(place, path=other_path)), "other-path", optional=True)
            if beside.card is not None:
                notes += compare_paths(found.card, beside.card, beside.url)
            elif is_legacy:
                notes.append(LEGACY_PATH(f"the card was found only at {quoted(asked)}", found=asked))
        union_of = None
        for other in (yield from self._less_specific(parse_url(found.url))):
            differing = compare_union(found.card, found.url, other.card, other.url) if other.card else []
            if differing and union_of is None:
                notes += differing
                union_of = other.card
        self._target = replace(
            self._target,
            binding=interface.binding,
            version=interface.version,
            tenant_id=interface.tenant or None,
        )
        return replace(
            self._end(notes),
            card=found.card,
            interface=interface,
            card_url=found.url,
            card_headers=found.headers,
            union_of=union_of,
        )

    def _less_specific(self, place: Url) -> Generator[CardRequest, CardAnswer, list[Fetched]]:
        """The cards for more than the target: the signpost, and the one of the origin (R6)."""
        around = []
        if self._hint and (
            origin(self._hint.url) != place.origin or is_under(_level(parse_url(self._hint.url)), _level(place))
        ):
            around.append(self._hint)
        if _level(place) or place.query:
            around.append((yield from self._get(f"{place.origin}{WELL_KNOWN}", "union")))
        return [other for other in around if other.url != str(place)]

    @property
    def _selecting(self) -> Mapping[str, str]:
        return self._resolver.headers if self._resolver else {}

    def _get(self, url: str, reason: Reason, *, optional: bool = False) -> Generator[CardRequest, CardAnswer, Fetched]:
        key = normalise(url)
        if key not in self._got:
            request = CardRequest(
                url=url,
                headers=self._headers,
                reason=reason,
                with_credentials=origin(url) in self._credentials_for,
                optional=optional,
            )
            found = yield from ask(request, self._policy)
            if not optional or found.card or found.stop:
                self._asked += [url] if found.url == url else [url, found.url]
            self._got[key] = found
            self._got.setdefault(normalise(found.url), found)
        return self._got[key]

    def _rejected(self) -> list[tuple[str, Sequence[Finding]]]:
        return [(url, found.rejected) for url, found in self._got.items() if found.rejected]

    def _end(self, findings: Sequence[Finding], not_gradeable: NotGradeable | None = None) -> Discovery:
        return Discovery(
            target=self._target,
            hint_card=self._hint.card if self._hint else None,
            candidates_asked=tuple(self._asked),
            findings=tuple(findings),
            not_gradeable=not_gradeable,
            topology=self._topology,
            request_headers=self._headers,
        )


def _level(place: Url) -> str:
    """The path that a card's URL is for: that above the well-known part, "" for the origin or any other URL."""
    return base_of(place.path).rstrip("/") if is_well_known(place.path) else ""
