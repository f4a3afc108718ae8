"""Reads which media types an answer names as accepted: structured first, prose last (R22).

No version of A2A has a field for it, so an agent may say it in a data part, in metadata, in an error or in a sentence.
In prose a type counts only where the clause does not deny it: "application/json is not supported; send text/plain"
names one type, not two. The kind of evidence is kept, because prose is weaker than a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from a2a_lab.core.media import essence, parse_media_type
from a2a_lab.core.model import Json, Message, Part, RpcError, Task
from a2a_lab.core.offers import is_indirect_offer, is_offer

Evidence = Literal["data part", "metadata", "error", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedModes:
    """Media types that an answer asks for, as type/subtype in the order named, and where they stood."""

    modes: tuple[str, ...] = ()
    evidence: Evidence | None = None

    def __bool__(self) -> bool:
        return bool(self.modes)


NAMES_NOTHING = NamedModes()

# Member names under which agents list what they take, without case and separators. None of them can mean a denial.
_KEYS = frozenset(
    f"{how}{what}"
    for how in (
        "accepted",
        "acceptable",
        "accept",
        "accepts",
        "supported",
        "supports",
        "allowed",
        "expected",
        "required",
    )
    for what in (
        "",
        "inputmodes",
        "inputmode",
        "modes",
        "mode",
        "mediatypes",
        "mediatype",
        "contenttypes",
        "contenttype",
    )
) | {"inputmodes", "inputmode", "mimetypes", "acceptedmimetypes", "supportedmimetypes", "expectedmimetype", "modes"}
_PROSE = 2000  # characters of an answer's prose that are read for modes
_DEPTH = 6  # deep enough for error details, and an end for a document made to be deep

_TYPE = r"(?:application|audio|font|image|message|model|multipart|text|video)/(?:\*|[a-z0-9](?:[a-z0-9.+_-]*[a-z0-9])?)"
_MEDIA = re.compile(rf"(?<![\w/.-]){_TYPE}", re.IGNORECASE)

# The words people use instead. Each is a format only where a clause asks for it, so "tell me the text" names nothing.
_WORDS = {
    "plain text": "text/plain",
    "plaintext": "text/plain",
    "text": "text/plain",
    "json": "application/json",
    "csv": "text/csv",
    "xml": "application/xml",
    "html": "text/html",
    "markdown": "text/markdown",
    "pdf": "application/pdf",
}
_WORD = rf"(?:{'|'.join(_WORDS)})(?![/+])"  # no part of a media type
_WANTS = r"(?:re)?send|submit|provide|use|as|in|only|just|accepts?|takes?|needs?|requires?|expects?|supports?|formats?"
_AS_FORMAT = re.compile(
    rf"\b(?:{_WANTS}|not|no)[ \t]+(?:(?:me|us|it|them|only|just|valid)[ \t]+){{0,2}}({_WORD})\b"
    r"(?![ \t]+(?:of|from|you)\b)"
    rf"|\b({_WORD})[ \t]+(?:only|please|format|instead|(?:is|are)[ \t]+(?:not[ \t]+)?"
    rf"(?:required|needed|expected|supported|accepted|allowed|fine))\b",
    re.IGNORECASE,
)
_TEXT_LIMIT = 10_000  # characters of prose that are read; a request for another format is not longer

_PLURAL = re.compile(r"\((e?s)\)")
_PARAMETER = re.compile(r";\s*[\w-]+=(?:\"[^\"]*\"|[\w.+-]+)")  # of a media type; its semicolon ends no sentence
_SENTENCES = re.compile(r"[.!?;](?=\s|$)|[\r\n]+(?!\s*[-*•])")
_PIECES = re.compile(
    r"[,:](?=\s|$)|[()\r\n]|\s[-–—]\s|—|\s(?:but|however|yet|although|though|while|whereas|so)\s", re.IGNORECASE
)
_DENIES = re.compile(
    r"\b(?:not|no|non|nor|neither|never|none|nothing|cannot|unsupported|unable|unknown|unexpected|unacceptable|impossible"
    r"|incompatible|invalid|wrong|illegal|forbidden|refus\w*|reject\w*|den(?:y|ies|ied)|declin\w*|disallow\w*"
    r"|prohibit\w*|fail\w*|drop\w*|ignor\w*|avoid|stop|got|received|found|(?:you|was|were) sent)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOT_ONLY = re.compile(r"\bnot only\b", re.IGNORECASE)  # "not only A but also B" denies nothing
_STARTS_DENIAL = re.compile(r"\s*(?:and |or )?(?:not|no|never|nor|except|without)\b", re.IGNORECASE)
# After one of these a clause means the opposite: "nothing other than A", "B instead of A", "not until you send A".
_TURNS = re.compile(
    r"\b(?:other than|rather than|instead of|in place of|except(?: for)?|apart from|besides|unless|until|without)\b",
    re.IGNORECASE,
)
_ALL_BUT = re.compile(r"\b(nothing|none|anything|everything|all) but\b", re.IGNORECASE)
_FILLER = re.compile(rf"{_TYPE}|\b(?:and|or|nor|also)\b|[\s\"'`*•-]", re.IGNORECASE)


def named_modes(answer: Task | Message | RpcError | None) -> NamedModes:
    """The media types that an answer names as accepted, from the strongest evidence that names any."""
    match answer:
        case RpcError():
            return _first(("error", _listed(answer.data)), ("error", _said([answer.message, *_texts(answer.data)])))
        case Task():
            parts = answer.message.parts if answer.message else ()
            more: Json = dict(answer.message.metadata) if answer.message else {}
            return _from_parts(parts, [dict(answer.metadata), more])
        case Message():
            return _from_parts(answer.parts, [dict(answer.metadata)])
        case _:
            return NAMES_NOTHING


def modes_in_text(text: str) -> tuple[str, ...]:
    """The media types that a text names and does not deny, in order. Media types win over words such as JSON."""
    meant = list(_polar(text))
    refused: set[str] = set()
    for pattern in (_MEDIA, _AS_FORMAT):
        found = [(mode, is_asked) for piece, is_asked in meant for mode in _modes_of(piece, pattern)]
        refused |= {mode for mode, is_asked in found if not is_asked}
        asked = tuple(dict.fromkeys(mode for mode, is_asked in found if is_asked and mode not in refused))
        if asked:
            return asked
    return ()


def _from_parts(parts: Iterable[Part], metadata: Iterable[Json]) -> NamedModes:
    held = list(parts)
    return _first(
        ("data part", [mode for part in held if part.kind == "data" for mode in _listed(part.data)]),
        ("metadata", [mode for one in metadata for mode in _listed(one)]),
        ("text", _said([part.text for part in held if part.kind == "text" and part.text])),
    )


def _first(*found: tuple[Evidence, Iterable[str]]) -> NamedModes:
    for evidence, modes in found:
        named = tuple(dict.fromkeys(essence(mode) for mode in modes))
        if named:
            return NamedModes(modes=named, evidence=evidence)
    return NAMES_NOTHING


def _said(texts: Iterable[str]) -> list[str]:
    """What texts name, as far as they are read: a request for a mode is a sentence, and prose costs its square."""
    found: list[str] = []
    left = _PROSE
    for text in texts:
        found += modes_in_text(text[:left])
        left -= len(text)
        if left <= 0:
            break
    return found


def _listed(value: Json, depth: int = _DEPTH) -> list[str]:
    """Media types under a member that lists what is accepted, anywhere in a JSON value."""
    if depth == 0:
        return []
    if isinstance(value, list):
        return [mode for entry in value for mode in _listed(entry, depth - 1)]
    if not isinstance(value, dict):
        return []
    found = []
    for name, member in value.items():
        if re.sub(r"[^a-z]", "", name.lower()) in _KEYS:
            entries = member if isinstance(member, list) else [member]
            found += [entry for entry in entries if isinstance(entry, str) and parse_media_type(entry)]
        found += _listed(member, depth - 1)
    return found


def _texts(value: Json, depth: int = _DEPTH) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)) and depth:
        for member in value.values() if isinstance(value, dict) else value:
            yield from _texts(member, depth - 1)


def _polar(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it asks for what it names (True) or denies it."""
    text = _PARAMETER.sub("", _PLURAL.sub(r"\1", text[:_TEXT_LIMIT]))
    for sentence, end in _sentences(_NOT_ONLY.sub("", text)):
        if is_offer(sentence, is_question=end == "?"):
            continue
        # "anything but A" must not be cut in two at its "but".
        whole = _ALL_BUT.sub(r"\1 other than", sentence)
        pieces = [piece for piece in _PIECES.split(whole) if piece.strip()]
        for place, piece in enumerate(pieces):
            if is_indirect_offer(piece):
                continue
            denies = _denies_at(pieces, place)
            start, *turned = _TURNS.split(piece, maxsplit=1)
            yield start, not denies
            if turned:
                yield turned[0], denies


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """The sentences with what ends each."""
    begin = 0
    for end in _SENTENCES.finditer(text):
        yield text[begin : end.start()], end[0]
        begin = end.end()
    yield text[begin:], ""


def _denies_at(pieces: list[str], place: int) -> bool:
    """Whether a piece denies; a bare list of types goes with the piece before it, else with the one after it."""
    if not _is_list(pieces[place]):
        return bool(_DENIES.search(pieces[place]))
    for before in reversed(pieces[:place]):
        if not _is_list(before):
            return bool(_DENIES.search(before))
    for after in pieces[place + 1 :]:
        if not _is_list(after):
            return bool(_DENIES.search(after)) and not _STARTS_DENIAL.match(after)
    return False


def _is_list(piece: str) -> bool:
    return not _FILLER.sub("", piece)


def _modes_of(piece: str, pattern: re.Pattern[str]) -> Iterator[str]:
    for found in pattern.finditer(piece):
        word = next((group for group in found.groups() if group), None)
        yield _WORDS[word.lower()] if word else essence(found[0])
