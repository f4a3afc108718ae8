"""Takes out of sentences what agents wrote in parts: an SDK's error quotes what it could not read (R38).

A page, a record and a terminal tell who failed and how; what people wrote stays in the evidence. A run of the content
is enough to be taken out, since SDKs shorten what they quote. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from a2a_lab.core.model import Json, Message, Part
from a2a_lab.judge.transcript import Call
from a2a_lab.verdicts import Finding

RUN: Final = 16  # characters in a row that are no coincidence
_MOST: Final = 2_000_000  # characters of content that are looked through
HIDDEN: Final = "[content]"


def contents_of(calls: Iterable[Call], *, own: str) -> tuple[str, ...]:
    """Every text in a part of an answer; those that hold `own`, the lab's canary, are our own words."""
    found: dict[str, None] = {}
    for call in calls:
        parts = [part for _, artifact in call.artifacts for part in artifact.parts]
        messages: list[Message | None] = [task.message for task in call.tasks]
        messages += [call.answer.message] if call.answer is not None else []
        messages += [heard.event.message for heard in call.events]
        parts += [part for message in messages if message is not None for part in message.parts]
        found |= dict.fromkeys(text for part in parts for text in _texts(part) if len(text) >= RUN and own not in text)
    return tuple(found)


def without_contents(text: str, contents: Iterable[str]) -> str:
    """The text with every run of content in it replaced."""
    whole = "\0".join(contents)[:_MOST]
    if len(text) < RUN or not whole:
        return text
    told, at = "", 0
    while at < len(text):
        end = at
        while end + RUN <= len(text) and text[end : end + RUN] in whole:
            end += 1
        if end > at:
            told, at = told + HIDDEN, end + RUN - 1
        else:
            told, at = told + text[at], at + 1
    return told


def finding_without(finding: Finding, contents: Iterable[str]) -> Finding:
    """A copy of the finding without content in its detail and values."""
    kept = tuple(contents)
    return replace(finding, detail=without_contents(finding.detail, kept), values=_without(dict(finding.values), kept))


def _without(value: Any, contents: tuple[str, ...]) -> Any:
    if type(value) is str:
        return without_contents(value, contents)
    if isinstance(value, Mapping):
        return {name: _without(member, contents) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_without(member, contents) for member in value)
    return value


def _texts(part: Part) -> Iterator[str]:
    if part.text is not None:
        yield part.text
    if part.raw is not None:
        yield part.raw
    yield from _strings(part.data)


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)
