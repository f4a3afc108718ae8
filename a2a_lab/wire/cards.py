"""Reads a card of any generation into the core's `Card`, and says what is odd about it (R8, R13, R14).

The bytes and the parsed document are kept as they came: the digest and the signature need them. For meaning, JSON null
counts as unset, unknown members are ignored, and snake_case names are understood with a finding. A card with a
non-empty `supportedInterfaces` is a 1.0 card and its legacy members are never mixed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from a2a_lab.core.model import Card, Interface, Json, Skill
from a2a_lab.core.policy import Bounds
from a2a_lab.core.quoting import listed, quoted
from a2a_lab.errors import MalformedJson
from a2a_lab.verdicts import Finding, Stage, Verdict
from a2a_lab.wire import card_findings as found
from a2a_lab.wire import strict_json
from a2a_lab.wire.card_forms import ANY_REQUIRED, LEGACY, REQUIRED, SNAKE, form_of
from a2a_lab.wire.json_findings import NOT_JSON

_ALIKE = 20  # findings of one kind that are kept of one card


@dataclass(frozen=True, slots=True, kw_only=True)
class CardReading:
    """What came of a card's bytes: `card` is None where they are no card."""

    card: Card | None
    findings: tuple[Finding, ...]


def read_card(raw: bytes, *, bounds: Bounds = strict_json.DEFAULT_BOUNDS) -> CardReading:
    """Read the body of a card GET, whatever its content type says (R13). Never raises for what a peer sent."""
    try:
        document = strict_json.parse(raw, bounds=bounds)
    except MalformedJson as fault:
        assert fault.finding is not None  # the strict reader always gives one
        if fault.finding.slug == NOT_JSON.slug:
            start = quoted(raw[:60].decode(errors="replace"))
            finding = found.NOT_A_CARD(f"the body is not JSON but begins {start}", at="")
        else:
            finding = replace(fault.finding, stage=Stage.FETCH, verdict=Verdict.REFUSE)
        return CardReading(card=None, findings=(finding,))
    if not isinstance(document, dict):
        return CardReading(card=None, findings=(found.NOT_A_CARD(f"the body is {quoted(document)}, expected a card"),))
    if not any(SNAKE.get(name, name) in ANY_REQUIRED and value is not None for name, value in document.items()):
        detail = f"the object has none of a card's members, but {listed(sorted(document)) or 'nothing'}"
        return CardReading(card=None, findings=(found.NOT_A_CARD(detail),))
    return _Reading(raw, document).reading()


class _Reading:
    """One card being read."""

    def __init__(self, raw: bytes, document: Mapping[str, Json]) -> None:
        self.raw = raw
        self.document = document
        self.findings: list[Finding] = []
        self._snake: list[str] = []
        self._times: Counter[str] = Counter()

    def reading(self) -> CardReading:
        top = self._camel(self.document, "")
        form = form_of(top)
        self._note_missing(top, form)
        interfaces = self._listed_interfaces(top) if form == "1.0" else self._legacy_interfaces(top)
        if form == "1.0":
            self._note_legacy(top)
        capabilities = self._object(top, "capabilities", "")
        card = Card(
            raw=self.raw,
            document=self.document,
            form=form,
            name=self._text(top, "name", "") or "",
            version=self._text(top, "version", "") or "",
            interfaces=interfaces,
            capabilities=self._flags(capabilities, top),
            default_input_modes=self._modes(top, "defaultInputModes", ""),
            default_output_modes=self._modes(top, "defaultOutputModes", ""),
            skills=self._skills(top),
            required_extensions=self._required_extensions(capabilities),
        )
        if self._snake:
            detail = f"written in snake_case: {listed(sorted(set(self._snake)))}; the wire wants camelCase"
            self._say(found.CARD_SNAKE_CASE(detail, found=sorted(set(self._snake))))
        return CardReading(card=card, findings=tuple(self.findings))

    def _say(self, finding: Finding) -> None:
        """Keep a finding, but not thousands alike: a hostile card repeats one fault as often as it likes."""
        self._times[finding.slug] += 1
        if self._times[finding.slug] <= _ALIKE:
            self.findings.append(finding)

    # -- members

    def _camel(self, obj: Mapping[str, Json], at: str) -> Mapping[str, Json]:
        """The object with null members taken out and snake_case names understood; camelCase wins over its double."""
        camel = {name: value for name, value in obj.items() if value is not None}
        for name in [name for name in camel if name in SNAKE]:
            self._snake.append(f"{at}/{name}")
            camel.setdefault(SNAKE[name], camel[name])
        return camel

    def _typed(self, obj: Mapping[str, Json], name: str, expected: type, at: str) -> Any:
        value = obj.get(name)
        if value is None or type(value) is expected:
            return value
        words = {str: "a text", list: "a list", dict: "an object", bool: "true or false"}
        detail = f"{at}/{name} is {quoted(value)}, expected {words[expected]}; it counts as not there"
        self._say(found.CARD_WRONG_TYPE(detail, at=f"{at}/{name}", found=quoted(value)))
        return None

    def _text(self, obj: Mapping[str, Json], name: str, at: str) -> str | None:
        value: str | None = self._typed(obj, name, str, at)
        return value

    def _object(self, obj: Mapping[str, Json], name: str, at: str) -> Mapping[str, Json]:
        value = self._typed(obj, name, dict, at)
        return {} if value is None else self._camel(value, f"{at}/{name}")

    def _entries(self, obj: Mapping[str, Json], name: str, at: str) -> list[tuple[str, Mapping[str, Json]]]:
        """The objects of a list, each with its pointer; other entries are reported and left out."""
        entries: list[tuple[str, Mapping[str, Json]]] = []
        for place, entry in enumerate(self._typed(obj, name, list, at) or ()):
            pointer = f"{at}/{name}/{place}"
            if isinstance(entry, dict):
                entries.append((pointer, self._camel(entry, pointer)))
            else:
                detail = f"{pointer} is {quoted(entry)}, expected an object; it is left out"
                self._say(found.CARD_WRONG_TYPE(detail, at=pointer, found=quoted(entry)))
        return entries

    # -- interfaces

    def _listed_interfaces(self, top: Mapping[str, Json]) -> tuple[Interface, ...]:
        interfaces = []
        for pointer, entry in self._entries(top, "supportedInterfaces", ""):
            self._demand(entry, ("url", "protocolBinding"), pointer)
            interfaces.append(
                Interface(
                    url=self._text(entry, "url", pointer) or "",
                    binding=self._text(entry, "protocolBinding", pointer) or "",
                    version=entry.get("protocolVersion"),
                    tenant=self._text(entry, "tenant", pointer) or None,
                    pointer=pointer,
                )
            )
        return tuple(interfaces)

    def _legacy_interfaces(self, top: Mapping[str, Json]) -> tuple[Interface, ...]:
        """`url` with `preferredTransport`, then the additional ones, all in the card's version (R8)."""
        version = top.get("protocolVersion")
        self._demand(top, ("url",), "")
        main = Interface(
            url=self._text(top, "url", "") or "",
            binding=self._text(top, "preferredTransport", "") or "JSONRPC",
            version=version,
        )
        interfaces = [main]
        for pointer, entry in self._entries(top, "additionalInterfaces", ""):
            self._demand(entry, ("url", "transport"), pointer)
            url, binding = self._text(entry, "url", pointer) or "", self._text(entry, "transport", pointer) or ""
            if (url, binding) != (main.url, main.binding):  # 0.3 asks to repeat the main one in the list
                interfaces.append(Interface(url=url, binding=binding, version=version, pointer=pointer))
        return tuple(interfaces)

    def _demand(self, entry: Mapping[str, Json], names: tuple[str, ...], pointer: str) -> None:
        for name in names:
            if not entry.get(name):
                detail = f"{name} is missing at {pointer or 'the top of the card'}; there is no way to call it"
                self._say(found.INTERFACE_INCOMPLETE(detail, at=f"{pointer}/{name}"))

    # -- the rest

    def _flags(self, capabilities: Mapping[str, Json], top: Mapping[str, Json]) -> Mapping[str, bool]:
        flags = {name: value for name, value in capabilities.items() if isinstance(value, bool)}
        for name in found.CAPABILITIES:
            self._typed(capabilities, name, bool, "/capabilities")
        extended = top.get("supportsAuthenticatedExtendedCard")
        if isinstance(extended, bool) and not top.get("supportedInterfaces"):
            flags.setdefault("extendedAgentCard", extended)
        return flags

    def _modes(self, obj: Mapping[str, Json], name: str, at: str) -> tuple[str, ...] | None:
        """None where nothing is said; entries that are no text are reported and left out."""
        modes = self._typed(obj, name, list, at)
        if modes is None:
            return None
        for place, mode in enumerate(modes):
            if not isinstance(mode, str):
                detail = f"{at}/{name}/{place} is {quoted(mode)}, expected a media type"
                self._say(found.CARD_WRONG_TYPE(detail, at=f"{at}/{name}/{place}", found=quoted(mode)))
        return tuple(mode for mode in modes if isinstance(mode, str))

    def _skills(self, top: Mapping[str, Json]) -> tuple[Skill, ...]:
        skills = []
        for pointer, entry in self._entries(top, "skills", ""):
            name = self._text(entry, "id", pointer)
            if not name:
                self._say(found.CARD_MEMBER_MISSING(f"{pointer} has no id", at=f"{pointer}/id"))
                continue
            modes = (self._modes(entry, side, pointer) for side in ("inputModes", "outputModes"))
            skills.append(Skill(id=name, input_modes=next(modes), output_modes=next(modes)))
        twice = sorted(name for name, times in Counter(skill.id for skill in skills).items() if times > 1)
        if twice:
            detail = f"skill ids are there twice: {listed(twice)}; the first of each counts"
            self._say(found.DUPLICATE_SKILL(detail, at="/skills", found=twice))
        return tuple(skills)

    def _required_extensions(self, capabilities: Mapping[str, Json]) -> tuple[str, ...]:
        required = []
        for pointer, entry in self._entries(capabilities, "extensions", "/capabilities"):
            if self._typed(entry, "required", bool, pointer):
                required.append(self._text(entry, "uri", pointer) or "")
        return tuple(required)

    def _note_missing(self, top: Mapping[str, Json], form: str) -> None:
        missing = [name for name in REQUIRED[form] if name not in top and name not in ("url", "protocolVersion")]
        if missing:
            detail = f"required members are missing: {listed(missing)}"
            self._say(found.CARD_MEMBER_MISSING(detail, found=missing))

    def _note_legacy(self, top: Mapping[str, Json]) -> None:
        legacy = [name for name in LEGACY if name in top]
        if legacy:
            detail = f"members of older versions stand beside supportedInterfaces and are not used: {listed(legacy)}"
            self._say(found.HYBRID_CARD(detail, found=legacy))
