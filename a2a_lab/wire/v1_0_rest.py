"""A2A 1.0 over HTTP+JSON (wire-facts 5.2): what JSON-RPC has as params is split over path, query and body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from a2a_lab.wire import http_media
from a2a_lab.wire.messages import Op
from a2a_lab.wire.rest import RestDialect
from a2a_lab.wire.rest_paths import PATHS, PUSH_PATHS, Path
from a2a_lab.wire.v1_0 import Version10


class Rest10(Version10, RestDialect):
    """The dialect "1.0" over HTTP+JSON."""

    media_type = http_media.OWN  # a SHOULD of 1.0.1 (§11.1)
    paths: ClassVar[Mapping[Op, Path]] = {
        **PATHS,
        "list": ("GET", "/tasks"),
        "extended-card": ("GET", "/extendedAgentCard"),
    }
    names: ClassVar[Mapping[Op, str]] = {op: f"{verb} {path}" for op, (verb, path) in {**paths, **PUSH_PATHS}.items()}
