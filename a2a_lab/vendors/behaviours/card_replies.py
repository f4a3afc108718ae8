"""Misbehaviours of a card's place: there is none, one may not read it, or what stands there is no card."""

from __future__ import annotations

from dataclasses import replace

from a2a_lab.vendors.behaviours.table import Behaviour, Option, Options, Scene
from a2a_lab.vendors.traffic import NOT_FOUND, Reply

_ELSEWHERE = "https://elsewhere.example.test/.well-known/agent-card.json"  # a host that cannot exist (RFC 6761)
_PAGE = b"<!doctype html><html><head><title>Sign in</title></head><body><h1>Sign in</h1></body></html>"


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
    return Reply(status=302, media_type="text/plain", headers={"Location": options["to"]}, body=b"")


BEHAVIOURS = (
    Behaviour(
        name="html-instead-of-card",
        says="A sign-in page stands where the card should be, with status 200.",
        breaks="D5, R13",
        card_reply=_html,
    ),
    Behaviour(
        name="card-needs-login",
        says="The card is behind authentication.",
        breaks="R13",
        options=(Option(name="status", kind="whole", says="401 or 403", default=401),),
        card_reply=_needs_login,
    ),
    Behaviour(
        name="card-not-found",
        says="There is an agent, but no card.",
        breaks="D5",
        card_reply=_not_found,
    ),
    Behaviour(
        name="duplicate-key-card",
        says="The card has one member twice, with two values.",
        breaks="P5",
        card_reply=_duplicate_key,
    ),
    Behaviour(
        name="huge-card",
        says="The card is many megabytes long.",
        breaks="DESIGN 9",
        options=(Option(name="bytes", kind="whole", says="how many bytes of padding", default=12_000_000),),
        card_reply=_huge,
    ),
    Behaviour(
        name="card-redirects-away",
        says="The card's address redirects to another host.",
        breaks="R10",
        options=(Option(name="to", kind="text", says="the other address", default=_ELSEWHERE),),
        card_reply=_redirect,
    ),
)
