"""Which dialect a recorded request is written in, learned from the requests themselves and from what a card declares.

Most requests name their dialect: by method, by path, or by the header A2A-Version. Some belong to several (`tasks/get`,
`message/send`, paths below /v1); then what is known of the endpoint decides, and else the newer version that sends
such a request as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from a2a_lab.core.model import Interface, Json
from a2a_lab.core.version import line_of
from a2a_lab.errors import MalformedJson
from a2a_lab.wire import rest_paths, strict_json
from a2a_lab.wire.exchange import first_header, named_version
from a2a_lab.wire.messages import HttpRequest

if TYPE_CHECKING:
    from a2a_lab.wire.dialects import Dialect

_REST: Final = "HTTP+JSON"
_GRPC: Final = "GRPC"
_A2A_JSON: Final = "application/a2a+json"


class Spoken:
    """What is known of the endpoints of one recording. `expected` are interfaces that a card declares."""

    def __init__(self, dialects: Sequence[Dialect], expected: Iterable[Interface] = ()) -> None:
        self._dialects = dialects
        self._known: dict[str, Dialect] = {}
        for interface in expected:
            dialect = self._declared(interface)
            if dialect is not None:
                self._known.setdefault(_key(interface.url), dialect)

    def dialect_of(self, request: HttpRequest) -> Dialect | None:
        """The dialect of a request; None for one that is no call of A2A."""
        if (found := self._over_grpc(request)) is not None:
            return found
        place = rest_paths.find(request.method, request.url)
        if place is not None and (found := self._over_rest(request, place)) is not None:
            return found
        called = self._called(request)
        return self._over_jsonrpc(request.url, called) if called is not None else None

    # -- the bindings

    def _over_grpc(self, request: HttpRequest) -> Dialect | None:
        """A method of gRPC names its service and thereby its version, at whatever address."""
        if request.method != "POST":
            return None
        called = grpc_method(request.url)
        return next((one for one in self._dialects if one.binding == _GRPC and called in one.names.values()), None)

    def _over_jsonrpc(self, url: str, called: str) -> Dialect | None:
        may = [one for one in self._dialects if one.binding == "JSONRPC" and called in one.names.values()]
        known = self._known.get(_key(url))
        if known is not None and known in may:
            return known
        if len(may) == 1:
            self._known[_key(url)] = may[0]
        return may[0] if may else None

    def _over_rest(self, request: HttpRequest, place: rest_paths.Place) -> Dialect | None:
        may = {one.id: one for one in self._dialects if one.binding == _REST and place.op in one.names}
        if not place.is_below_v1:
            may.pop("0.3", None)
        said = _said(request)
        known = next((self._known[base] for base in _bases(place.base) if base in self._known), None)
        if said is None and known is not None and may.get(known.id) is known:
            return known
        found = may.get(said or _guessed(request, place) or "")
        if found is None:
            return may.get("1.0") if said is not None else None  # a version of later days, in the shapes that are known
        base = place.base.removesuffix(rest_paths.LEGACY_PREFIX) if found.id == "0.3" else place.base
        self._known[_key(base)] = found
        return found

    # -- small questions

    def _declared(self, interface: Interface) -> Dialect | None:
        line = line_of(interface.version)
        return next((one for one in self._dialects if (one.id, one.binding) == (line, interface.binding)), None)

    def _called(self, request: HttpRequest) -> str | None:
        """The method that a JSON-RPC body names, or a GET that stands for one."""
        if request.method == "GET":
            gets = (one for one in self._dialects if one.binding == "JSONRPC")
            facts = (one.parse_request(b"", method="GET", url=request.url) for one in gets)
            return next((fact.method for fact in facts if fact.op is not None), None)
        if request.method != "POST":
            return None
        try:
            document, _ = strict_json.parse_noting(request.request_body)
        except MalformedJson:
            return None
        called = document.get("method") if isinstance(document, dict) else None
        return called if isinstance(called, str) else None


def grpc_method(url: str) -> str:
    """What a URL calls over gRPC: service and method, without the slash before them. Any text will do."""
    return url.partition("://")[2].partition("/")[2].partition("?")[0]


def _said(request: HttpRequest) -> str | None:
    """The version that a request over HTTP+JSON says itself: by header, media type, or what it calls its parts."""
    line = line_of(named_version(request.request_headers, request.url))
    if line is not None:
        return line
    labels = (first_header(request.request_headers, name) or "" for name in ("Accept", "Content-Type"))
    if any(_A2A_JSON in label for label in labels):
        return "1.0"
    message = _message(request.request_body)
    return None if message is None else "0.3" if "content" in message else "1.0" if "parts" in message else None


def _guessed(request: HttpRequest, place: rest_paths.Place) -> str | None:
    """The version whose path it is. A GET may be anybody's, and a message without a message is no send."""
    if request.method == "GET" or (place.op in ("send", "stream") and _message(request.request_body) is None):
        return None
    return "0.3" if place.is_below_v1 else "1.0"


def _message(body: bytes) -> Mapping[str, Json] | None:
    """The message that a body sends; None where it sends none."""
    try:
        document, _ = strict_json.parse_noting(body)
    except MalformedJson:
        return None
    message = document.get("message") if isinstance(document, dict) else None
    return message if isinstance(message, dict) else None


def _bases(base: str) -> Iterable[str]:
    """Where the interface of a place may lie: at its base, above a /v1 of 0.3, or above the segment of a tenant."""
    base = _key(base)
    yield base
    yield base.rpartition("/")[0]


def _key(url: str) -> str:
    return url.partition("?")[0].rstrip("/")
