"""A2A 1.0 over gRPC (wire-facts 5.2): the messages of `lf.a2a.v1`, whose ProtoJSON is the JSON of 1.0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from a2a_lab.wire.grpc import GrpcDialect
from a2a_lab.wire.messages import Op
from a2a_lab.wire.proto_1_0 import SERVICE
from a2a_lab.wire.v1_0 import JsonRpc10, Version10

_METHODS: Final = JsonRpc10.names  # §5.3: one name for both bindings


class Grpc10(Version10, GrpcDialect):
    """The dialect "1.0" over gRPC."""

    names: ClassVar[Mapping[Op, str]] = {op: f"{SERVICE}/{name}" for op, name in _METHODS.items()}
