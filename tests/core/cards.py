"""Cards for the tests of the core, built as values: the core knows no JSON reader, so neither do its tests.

`one_zero` and `zero_three` make a sound card with changes; `card_of` reads a document the simple way, which is enough
for documents whose every member has the right type.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping
from typing import Any, TypeVar

from a2a_lab.core.cardfetch import CardAnswer, CardRequest
from a2a_lab.core.model import Card, Interface, Skill
from a2a_lab.core.urls import normalise

Result = TypeVar("Result")
AGENT = "https://agent.example.test"
SUM = {"id": "sum", "name": "Summarise", "description": "Shortens a text.", "tags": ["text"]}


def interface(url: str = f"{AGENT}/rpc", version: Any = "1.0", binding: str = "JSONRPC", **more: Any) -> dict[str, Any]:
    return {"url": url, "protocolBinding": binding, "protocolVersion": version, **more}


def one_zero(*interfaces: Mapping[str, Any], **changes: Any) -> Card:
    """A 1.0 card. A member changed to `...` is left out."""
    document = {
        "name": "Test Agent",
        "description": "Agent under test.",
        "version": "1.0.0",
        "supportedInterfaces": list(interfaces) or [interface()],
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [SUM],
    }
    return card_of(changed(document, changes))


def zero_three(url: str = f"{AGENT}/rpc", **changes: Any) -> Card:
    """A 0.3 card. A member changed to `...` is left out."""
    document = {
        "protocolVersion": "0.3.0",
        "name": "Test Agent",
        "description": "Agent under test.",
        "version": "1.0.0",
        "url": url,
        "preferredTransport": "JSONRPC",
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [SUM],
    }
    return card_of(changed(document, changes))


def changed(document: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**document, **changes}.items() if value is not ...}


def card_of(document: dict[str, Any]) -> Card:
    if document.get("supportedInterfaces"):
        form = "1.0"
        interfaces = tuple(
            Interface(
                url=entry.get("url", ""),
                binding=entry["protocolBinding"],
                version=entry.get("protocolVersion"),
                tenant=entry.get("tenant"),
                pointer=f"/supportedInterfaces/{place}",
            )
            for place, entry in enumerate(document["supportedInterfaces"])
        )
    else:
        version = document.get("protocolVersion")
        form = "0.2" if version is None or str(version).startswith("0.2") else "0.3"
        entries = [(document.get("url", ""), document.get("preferredTransport", "JSONRPC"))]
        entries += [(entry["url"], entry["transport"]) for entry in document.get("additionalInterfaces", [])]
        interfaces = tuple(Interface(url=url, binding=binding, version=version) for url, binding in entries)
    capabilities = document.get("capabilities") or {}
    return Card(
        raw=json.dumps(document).encode(),
        document=document,
        form=form,
        name=document.get("name", ""),
        version=document.get("version", ""),
        interfaces=interfaces,
        capabilities={name: value for name, value in capabilities.items() if isinstance(value, bool)},
        default_input_modes=modes(document.get("defaultInputModes")),
        default_output_modes=modes(document.get("defaultOutputModes")),
        skills=tuple(
            Skill(
                id=entry["id"],
                input_modes=modes(entry.get("inputModes")),
                output_modes=modes(entry.get("outputModes")),
            )
            for entry in document.get("skills") or []
        ),
        required_extensions=tuple(
            entry["uri"] for entry in capabilities.get("extensions") or [] if entry.get("required")
        ),
    )


def modes(value: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(value)


class Served:
    """A web of recorded answers. What is not in it is absent evidence; several answers to one URL come in turn."""

    def __init__(self, answers: Mapping[str, Card | int | CardAnswer | list[Any]]) -> None:
        self._answers = {normalise(url): answer for url, answer in answers.items()}
        self.asked: list[CardRequest] = []

    def drive(self, walk: Generator[CardRequest, CardAnswer, Result]) -> Result:
        try:
            request = next(walk)
            while True:
                self.asked.append(request)
                request = walk.send(self._answer(request))
        except StopIteration as end:
            return end.value

    @property
    def urls(self) -> list[str]:
        return [request.url for request in self.asked]

    def _answer(self, request: CardRequest) -> CardAnswer:
        answer = self._answers.get(normalise(request.url))
        if isinstance(answer, list):
            answer = answer.pop(0) if answer else None
        if isinstance(answer, Card):
            return CardAnswer(status=200, headers={"Content-Type": "application/json"}, card=answer)
        if isinstance(answer, int):
            return CardAnswer(status=answer)
        return answer or CardAnswer()


def slugs(findings: Iterable[Any]) -> list[str]:
    return [finding.slug for finding in findings]
