"""Misbehaviours of the card: not there, not readable, changed after signing, or changed after it was read."""

from __future__ import annotations

import copy
from dataclasses import replace
from urllib.parse import urlsplit

from a2a_lab.vendors.behaviours.table import Behaviour, Document, Option, Options, Scene
from a2a_lab.vendors.traffic import NOT_FOUND, Reply

_PAGE = b"<!doctype html><html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>"


# ---- not a card ------------------------------------------------------------------------------------------------


def _html(reply: Reply, scene: Scene, options: Options) -> Reply:
    return Reply(media_type="text/html", body=_PAGE)


def _needs_login(reply: Reply, scene: Scene, options: Options) -> Reply:
    return Reply(
        status=options["status"],
        media_type="text/plain",
        headers={"WWW-Authenticate": 'Bearer realm="lab"'} if options["status"] == 401 else {},
        body=b"credentials are needed",
    )


def _not_found(reply: Reply, scene: Scene, options: Options) -> Reply:
    return NOT_FOUND


def _duplicate_key(reply: Reply, scene: Scene, options: Options) -> Reply:
    """One parser takes the first name, another the last (P5)."""
    assert isinstance(reply.body, bytes)
    return replace(reply, body=b'{"name":"somebody else",' + reply.body[1:])


def _huge(reply: Reply, scene: Scene, options: Options) -> Reply:
    assert isinstance(reply.body, bytes)
    return replace(reply, body=reply.body[:-1] + b" " * options["bytes"] + b"}")


def _redirect(reply: Reply, scene: Scene, options: Options) -> Reply:
    """To the same server by its other name, so that whoever follows does get a card, from another host."""
    if scene.asked.headers.get("host", "").startswith(options["to"]):
        return reply
    place = f"http://{options['to']}:{_port(scene)}{scene.asked.path}"
    return Reply(status=302, media_type="text/plain", headers={"Location": place}, body=b"")


def _port(scene: Scene) -> str:
    return str(urlsplit(scene.base).port)


# ---- what it says ----------------------------------------------------------------------------------------------


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
        place["url"] = options["url"].replace("{port}", _port(scene))
    return card


# ---- after signing ---------------------------------------------------------------------------------------------


def _tampered(card: Document, scene: Scene, options: Options) -> Document:
    return card | {"description": f"{card['description']}, edited by a proxy"}


def _malformed_signature(card: Document, scene: Scene, options: Options) -> Document:
    """The shape that the authority record's own listing shows, and no version of the protocol knows."""
    return card | {"signatures": [{"jws": "..."}]}


# ---- after it was read -----------------------------------------------------------------------------------------


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
        name="html-instead-of-card",
        says="A sign-in page stands where the card should be, with status 200.",
        breaks="D5, R13",
        expects=("not-a-card",),
        card_reply=_html,
    ),
    Behaviour(
        name="card-needs-login",
        says="The card is behind authentication.",
        breaks="R13",
        expects=("auth-needed",),
        options=(Option(name="status", kind="whole", says="401 or 403", default=401),),
        card_reply=_needs_login,
    ),
    Behaviour(
        name="card-not-found",
        says="There is an agent, but no card.",
        breaks="D5",
        expects=("no-card",),
        card_reply=_not_found,
    ),
    Behaviour(
        name="duplicate-key-card",
        says="The card has one member twice, with two values.",
        breaks="P5",
        expects=("duplicate-key",),
        card_reply=_duplicate_key,
    ),
    Behaviour(
        name="huge-card",
        says="The card is many megabytes long.",
        breaks="DESIGN 9",
        expects=("limit",),
        options=(Option(name="bytes", kind="whole", says="how many bytes of padding", default=12_000_000),),
        card_reply=_huge,
    ),
    Behaviour(
        name="card-redirects-away",
        says="The card's address redirects to another host.",
        breaks="R10",
        expects=("redirect-refused",),
        options=(Option(name="to", kind="text", says="that host", default="localhost"),),
        card_reply=_redirect,
    ),
    Behaviour(
        name="script-card-name",
        says="Names on the card hold markup, control characters and a text direction override.",
        breaks="DESIGN 8",
        expects=(),
        options=(Option(name="text", kind="text", says="the name", default="<script>alert(1)</script>"),),
        card=_script_name,
    ),
    Behaviour(
        name="wrong-version",
        says='States a protocol version that is not spelt as the client\'s; the value "absent" leaves it out.',
        breaks="A2, R21",
        expects=("version-inexact",),
        options=(Option(name="value", kind="any", says="the version as it stands in the card"),),
        card=_version,
    ),
    Behaviour(
        name="requires-extension",
        says="The card requires an extension that the client does not speak.",
        breaks="R17",
        expects=("extension-required",),
        options=(Option(name="uri", kind="text", says="its URI", default="https://example.test/ext/billing/v1"),),
        card=_required_extension,
    ),
    Behaviour(
        name="names-other-target",
        says="The card's interface is at another address than where the agent answers.",
        breaks="D4, D8, R11",
        expects=("address-refused",),
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
        expects=("signature-tampered",),
        signed_card=_tampered,
    ),
    Behaviour(
        name="malformed-signature",
        says="The signatures member holds something that is no JWS of any version.",
        breaks="A1, R19",
        expects=("signature-malformed",),
        signed_card=_malformed_signature,
    ),
    Behaviour(
        name="card-rotates-benign",
        says="The card's description changes after discovery.",
        breaks="P3, P4",
        expects=("card-drift",),
        options=_WHEN,
        card=_rotates_benign,
    ),
    Behaviour(
        name="card-rotates-plan",
        says="What the plan rests on changes after discovery: streaming goes, or the input modes do.",
        breaks="P3, P4",
        expects=("card-drift",),
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
        expects=("signature-rotated",),
        options=_WHEN,
        signed_card=_rotates_signature,
    ),
    Behaviour(
        name="card-flaps",
        says="Two editions of the card alternate, as behind a load balancer.",
        breaks="R34",
        expects=("card-flapping",),
        card=_flaps,
    ),
    Behaviour(
        name="card-gone",
        says="The card is not there any more after discovery.",
        breaks="P3, D5",
        expects=("card-gone",),
        options=_WHEN,
        card_reply=_gone,
    ),
)
