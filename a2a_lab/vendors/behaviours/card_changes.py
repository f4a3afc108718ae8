"""Misbehaviours of a card over time: it changes after discovery, or will not stay one thing (P3, P4, R34)."""

from __future__ import annotations

from a2a_lab.vendors.behaviours.table import Behaviour, Document, Option, Options, Scene
from a2a_lab.vendors.traffic import NOT_FOUND, Reply


def _is_due(scene: Scene, options: Options) -> bool:
    if options["after_gets"]:
        return scene.card_gets > int(options["after_gets"])
    return scene.messages >= int(options["after_messages"])


def _rotates_benign(card: Document, scene: Scene, options: Options) -> Document:
    return card | {"description": f"{card['description']} (second edition)"} if _is_due(scene, options) else card


def _rotates_plan(card: Document, scene: Scene, options: Options) -> Document:
    if not _is_due(scene, options):
        return card
    if options["member"] == "streaming":
        return card | {"capabilities": card["capabilities"] | {"streaming": False}}
    return card | {
        "defaultInputModes": ["application/octet-stream"],
        "skills": [{key: value for key, value in skill.items() if key != "inputModes"} for skill in card["skills"]],
    }


def _rotates_signature(card: Document, scene: Scene, options: Options) -> Document:
    if not _is_due(scene, options):
        return card
    return scene.sign({key: value for key, value in card.items() if key != "signatures"}, again=1)


def _flaps(card: Document, scene: Scene, options: Options) -> Document:
    return card | {"description": f"{card['description']} (edge {scene.card_gets % 2})"}


def _gone(reply: Reply, scene: Scene, options: Options) -> Reply:
    return NOT_FOUND if _is_due(scene, options) else reply


_WHEN = (
    Option(name="after_gets", kind="whole", says="from the card GET after so many, if not 0", default=0),
    Option(name="after_messages", kind="whole", says="else once so many messages have arrived", default=1),
)


BEHAVIOURS = (
    Behaviour(
        name="card-rotates-benign",
        says="The card's description changes after discovery.",
        breaks="P3, P4",
        options=_WHEN,
        card=_rotates_benign,
    ),
    Behaviour(
        name="card-rotates-plan",
        says="What the plan rests on changes after discovery: streaming goes, or the input modes do.",
        breaks="P3, P4",
        options=(
            *_WHEN,
            Option(name="member", kind="text", says="what goes", default="streaming", words=("streaming", "modes")),
        ),
        card=_rotates_plan,
    ),
    Behaviour(
        name="card-rotates-signature",
        says="The card is signed anew after discovery, with the same content: no drift.",
        breaks="P3",
        options=_WHEN,
        signed_card=_rotates_signature,
    ),
    Behaviour(
        name="card-flaps",
        says="Two editions of the card alternate, as behind a load balancer.",
        breaks="R34",
        card=_flaps,
    ),
    Behaviour(
        name="card-gone",
        says="The card is not there any more after discovery.",
        breaks="P3, D5",
        options=_WHEN,
        card_reply=_gone,
    ),
)
