"""Where the operations lie over HTTP+JSON: verbs and paths below an interface's URL, written and recognised.

Both generations use one set of paths, 0.3 below `/v1`; 1.0 puts a tenant before them. A recognised place may belong to
either, since an interface of 1.0 may itself lie at `/v1`: `spoken` decides by what else the request says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from a2a_lab.core.model import Json
from a2a_lab.wire.messages import Op

Path = tuple[str, str]
"""A verb, and a path in which {id} stands for the task."""

PATHS: Final[Mapping[Op, Path]] = {
    "send": ("POST", "/message:send"),
    "stream": ("POST", "/message:stream"),
    "get": ("GET", "/tasks/{id}"),
    "cancel": ("POST", "/tasks/{id}:cancel"),
    "subscribe": ("POST", "/tasks/{id}:subscribe"),
}
PUSH_PATHS: Final[Mapping[Op, Path]] = {  # the lab calls none of these; recordings hold those of others
    "push-set": ("POST", "/tasks/{id}/pushNotificationConfigs"),
    "push-list": ("GET", "/tasks/{id}/pushNotificationConfigs"),
    "push-get": ("GET", "/tasks/{id}/pushNotificationConfigs/{configId}"),
    "push-delete": ("DELETE", "/tasks/{id}/pushNotificationConfigs/{configId}"),
}
LEGACY_PREFIX: Final = "/v1"

_MESSAGE: Final = re.compile(r"(?P<base>.*)/message:(?P<op>send|stream)")
_TASK: Final = re.compile(r"(?P<base>.*)/tasks/(?P<id>[^/]+?)(?::(?P<op>cancel|subscribe))?")
_PUSH: Final = re.compile(r"(?P<base>.*)/tasks/(?P<id>[^/]+)/pushNotificationConfigs(?P<one>/[^/]+)?")
_PUSHES: Final[Mapping[tuple[str, bool], Op]] = {
    (verb, path.endswith("}")): op for op, (verb, path) in PUSH_PATHS.items()
}
_PLAIN: Final[Mapping[str, Op]] = {"/tasks": "list", "/extendedAgentCard": "extended-card", "/card": "extended-card"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a verb and a URL ask for. `base` is the URL without the path of the operation and without its query."""

    op: Op
    base: str
    task_id: str | None = None
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_below_v1(self) -> bool:
        return self.base.endswith(LEGACY_PREFIX)


def write(url: str, path: str, *, tenant: str | None, task_id: str | None, query: Mapping[str, Json]) -> str:
    """The URL of an operation of the interface at `url`; a query that the interface has is kept."""
    parts = urlsplit(url)
    segment = f"/{quote(tenant, safe='')}" if tenant else ""
    there = path.replace("{id}", quote(task_id or "", safe=""))
    asked = urlencode({name: _plain(value) for name, value in query.items()})
    joined = "&".join(part for part in (parts.query, asked) if part)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/") + segment + there, joined, ""))


def find(method: str, url: str) -> Place | None:
    """The operation that a verb and a URL name; None where they name none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    query = dict(parse_qsl(parts.query))

    def place(op: Op, base: str, task_id: str | None = None) -> Place:
        there = urlunsplit((parts.scheme, parts.netloc, base, "", ""))
        return Place(op=op, base=there, task_id=task_id, query=query)

    if method == "POST" and (said := _MESSAGE.fullmatch(parts.path)) is not None:
        return place("send" if said["op"] == "send" else "stream", said["base"])
    if (task := _TASK.fullmatch(parts.path)) is not None:
        if task["op"] is None:
            return place("get", task["base"], unquote(task["id"])) if method == "GET" else None
        if task["op"] == "subscribe" and method in ("POST", "GET"):  # the texts name both verbs
            return place("subscribe", task["base"], unquote(task["id"]))
        return place("cancel", task["base"], unquote(task["id"])) if method == "POST" else None
    if (push := _PUSH.fullmatch(parts.path)) is not None:
        named = _PUSHES.get((method, push["one"] is not None))
        return None if named is None else place(named, push["base"], unquote(push["id"]))
    if method == "GET":
        for path, op in _PLAIN.items():
            if parts.path.endswith(path):
                return place(op, parts.path.removesuffix(path))
    return None


def _plain(value: Json) -> str:
    """A value as a query writes it (§11.5): lower-case booleans, decimal numbers."""
    return str(value).lower() if isinstance(value, bool) else str(value)
