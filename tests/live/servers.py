"""A token server, and an agent that lets in who has a token it knows; both remember what they were asked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.lab.plain import Asked, Says, Server, agent, card, says_json, serving


@dataclass(slots=True)
class Door:
    """Which tokens an agent lets in. `good` is None for all; a token in `once` is refused the first time only."""

    good: Callable[[str], bool] = lambda token: token.startswith("token-")
    refused: list[str] = field(default_factory=list)


def guarded(door: Door, *, cards_too: bool = False) -> Callable[[Asked], Says]:
    """An agent whose calls need a token, and its card as well where `cards_too`."""
    inner = agent(lambda origin: card(f"{origin}/rpc"))

    def answer(asked: Asked) -> Says:
        if asked.method == "GET" and not cards_too:
            return inner(asked)
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if not token or not door.good(token):
            door.refused.append(token)
            return Says(status=401, headers={"WWW-Authenticate": 'Bearer realm="agent"'})
        return inner(asked)

    return answer


def tokens(**members: Any) -> Callable[[Asked], Says]:
    """A token server that hands out token-1, token-2, ..."""
    numbers = itertools.count(1)
    return lambda _: says_json({"access_token": f"token-{next(numbers)}", "token_type": "Bearer"} | members)


@contextmanager
def both(
    door: Door, token_answer: Callable[[Asked], Says] | None = None, *, cards_too: bool = False
) -> Iterator[tuple[Server, Server]]:
    """The agent and its token server."""
    with serving(guarded(door, cards_too=cards_too)) as one, serving(token_answer or tokens()) as other:
        yield one, other


def vendor_file(folder: Path, url: str, *lines: str, name: str = "helpdesk.toml", rps: float = 1000) -> Path:
    """A vendor file of an agent on this machine, with further lines; asked as fast as it answers."""
    path = folder / name
    path.write_text("\n".join(['reach = "live"', f"url = {json.dumps(url)}", f"rps = {rps}", *lines]) + "\n")
    return path


def oauth(server: str, **more: str) -> str:
    lines = [
        "[auth]",
        'kind = "oauth2_cc"',
        f'token_url = "{server}/token"',
        'allow_token_host = ["127.0.0.1"]',
        'client_id_env = "LAB_ID"',
        'client_secret_env = "LAB_SECRET"',
        *(f"{key} = {json.dumps(value)}" for key, value in more.items()),
    ]
    return "\n".join(lines)
