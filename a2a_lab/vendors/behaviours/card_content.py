"""Misbehaviours of what a card says: before it is signed, or after."""

from __future__ import annotations

import copy
from urllib.parse import urlsplit

from a2a_lab.vendors.behaviours.table import Behaviour, Document, Option, Options, Scene


def _script_name(card: Document, scene: Scene, options: Options) -> Document:
    skills = [skill | {"name": "<img src=x onerror=alert(2)>"} for skill in card["skills"]]
    return card | {"name": options["text"], "description": f"\u202e{options['text']}\x1b[2J\x07", "skills": skills}


def _version(card: Document, scene: Scene, options: Options) -> Document:
    card = copy.deepcopy(card)
    places = card.get("supportedInterfaces") or [card]
    for place in places:
        place.pop("protocolVersion", None)
        if options["value"] != "absent":
            place["protocolVersion"] = options["value"]
    return card


def _required_extension(card: Document, scene: Scene, options: Options) -> Document:
    extension = {"uri": options["uri"], "required": True}
    return card | {"capabilities": card["capabilities"] | {"extensions": [extension]}}


def _other_target(card: Document, scene: Scene, options: Options) -> Document:
    """The interface leads elsewhere than where the agent is."""
    card = copy.deepcopy(card)
    for place in card.get("supportedInterfaces") or [card]:
        place["url"] = options["url"].replace("{port}", str(urlsplit(scene.base).port))
    return card


def _tampered(card: Document, scene: Scene, options: Options) -> Document:
    return card | {"description": f"{card['description']}, edited by a proxy"}


def _malformed_signature(card: Document, scene: Scene, options: Options) -> Document:
    """The shape that the authority record's own listing shows, and no version of the protocol knows."""
    return card | {"signatures": [{"jws": "..."}]}


BEHAVIOURS = (
    Behaviour(
        name="script-card-name",
        says="Names on the card hold markup, control characters and a text direction override.",
        breaks="DESIGN 8",
        options=(Option(name="text", kind="text", says="the name", default="<script>alert(1)</script>"),),
        card=_script_name,
    ),
    Behaviour(
        name="wrong-version",
        says='States a protocol version that is not spelt as the client\'s; the value "absent" leaves it out.',
        breaks="A2, R21",
        options=(Option(name="value", kind="any", says="the version as it stands in the card"),),
        card=_version,
    ),
    Behaviour(
        name="requires-extension",
        says="The card requires an extension that the client does not speak.",
        breaks="R17",
        options=(Option(name="uri", kind="text", says="its URI", default="https://example.test/ext/billing/v1"),),
        card=_required_extension,
    ),
    Behaviour(
        name="names-other-target",
        says="The card's interface is at another address than where the agent answers.",
        breaks="D4, D8, R11",
        options=(
            Option(
                name="url",
                kind="text",
                says="that address; {port} is the agent's own",
                default="http://0.0.0.0:{port}/rpc",
            ),
        ),
        card=_other_target,
    ),
    Behaviour(
        name="tampered-card",
        says="A member of the card was changed after it was signed.",
        breaks="A1, R19",
        signed_card=_tampered,
    ),
    Behaviour(
        name="malformed-signature",
        says="The signatures member holds something that is no JWS of any version.",
        breaks="A1, R19",
        signed_card=_malformed_signature,
    ),
)
