"""Builds message types from tables of facts: no generated code, no SDK, no compiler.

A line of a table is a message and its fields: `Task: 1 id, 3 status TaskStatus, 4 artifacts *Artifact`. A field is its
number, its name (`name=json` where JSON has another), and its type, text where none stands: `*T` repeats, `?T` has
presence, `T@group` is one of a group, `{T}` is a map from text. `enum` begins a line of an enum. The types live in a
pool of their own, beside whatever else a process has loaded. Everything here needs the extra `grpc`, and nothing else
of the lab does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from a2a_lab.errors import Misuse
from a2a_lab.wire import proto_0_3, proto_1_0

NEEDS_EXTRA: Final = (
    "binding GRPC needs grpcio and protobuf, which are not installed; install them: pip install 'a2a-lab[grpc]'"
)
STATUS: Final = """
Status: 1 code int32, 2 message, 3 details *Any
ErrorInfo: 1 reason, 2 domain, 3 metadata {string}
RetryInfo: 1 retry_delay Duration
BadRequest: 1 field_violations *FieldViolation
FieldViolation: 1 field, 2 description, 3 reason
"""
"""The google.rpc types that say more of an error. That FieldViolation is nested in its proto no byte shows."""

_KNOWN: Final = {"Struct": "struct", "Value": "struct", "Timestamp": "timestamp", "Empty": "empty", "Any": "any"} | {
    "Duration": "duration"
}
_SCALARS: Final = {"string": 9, "bytes": 12, "bool": 8, "int32": 5}
_MESSAGE, _ENUM = 11, 14
_ONCE, _REPEATED = 1, 3
_FIELD: Final = re.compile(
    r"(?P<number>\d+) (?P<name>\w+)(?:=(?P<json>\w+))?"
    r"(?: (?P<mark>[*?]?)(?P<map>\{?)(?P<type>\w+)\}?(?:@(?P<group>\w+))?)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One call of a service: the types of its request and of its answer, and whether the answer is a stream."""

    path: str
    request: Any
    answer: Any
    is_stream: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """The types of one version. `messages` by name, `methods` by the path they are called at."""

    package: str
    messages: Mapping[str, Any]
    methods: Mapping[str, Method]


def schema_of(path: str) -> Schema | None:
    """The schema whose service has the method at a path ("/lf.a2a.v1.A2AService/GetTask"); None for any other.

    Raises Misuse where the extra `grpc` is not installed.
    """
    for version in ("1.0", "0.3"):
        if path in schema(version).methods:
            return schema(version)
    return None


@lru_cache
def schema(version: str) -> Schema:
    """The types of a version ("1.0" or "0.3"), or of google.rpc ("rpc"). Raises Misuse without the extra `grpc`."""
    if version == "rpc":
        return _built("google.rpc", STATUS, "")
    facts = proto_1_0 if version == "1.0" else proto_0_3
    package, _, name = facts.SERVICE.rpartition(".")
    return _built(package, facts.MESSAGES, facts.CALLS, name)


def _built(package: str, table: str, calls: str, service: str = "") -> Schema:
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError as fault:
        raise Misuse(NEEDS_EXTRA) from fault
    pool = descriptor_pool.DescriptorPool()
    made = descriptor_pb2.FileDescriptorProto(name=f"{package}.table", package=package, syntax="proto3")
    for known in sorted(set(_KNOWN.values())):
        pool.AddSerializedFile(_known_file(known))
        made.dependency.append(f"google/protobuf/{known}.proto")
    lines = [(kind, name, fields) for kind, name, fields in _lines(table)]
    enums = {name for kind, name, _ in lines if kind == "enum"}
    for kind, name, fields in lines:
        if kind == "enum":
            enum = made.enum_type.add(name=name)
            for entry in fields.split(", "):
                number, _, value = entry.partition(" ")
                enum.value.add(number=int(number), name=value)
        else:
            _add_fields(made.message_type.add(name=name), fields, package, enums)
    pool.Add(made)
    types = {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for kind, name, _ in lines
        if kind == ""
    }
    types |= {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"google.protobuf.{name}")) for name in _KNOWN
    }
    return Schema(package=package, messages=types, methods=dict(_methods(calls, f"/{package}.{service}/", types)))


def _lines(table: str) -> Iterator[tuple[str, str, str]]:
    """Kind ("" or "enum"), name and fields of every line; one that begins with blanks goes on with the one before."""
    for line in re.sub(r"\n +", " ", table.strip()).splitlines():
        head, _, fields = line.partition(":")
        kind, _, name = head.rpartition(" ")
        yield kind, name, fields.strip()


def _add_fields(message: Any, fields: str, package: str, enums: set[str]) -> None:
    groups: dict[str, int] = {}
    for entry in fields.split(", ") if fields else ():
        found = _FIELD.fullmatch(entry)
        if found is None:
            raise AssertionError(f"{message.name}: {entry!r} is no field of a table")
        kind = found["type"] or "string"
        field = message.field.add(name=found["name"], number=int(found["number"]), label=_ONCE)
        field.json_name = found["json"] or _camel(found["name"])
        if found["map"]:
            _add_map(message, field, kind, package, enums)
            continue
        _set_type(field, kind, package, enums)
        field.label = _REPEATED if found["mark"] == "*" else _ONCE
        # Presence of a single field is a group of one, whose name begins with an underscore.
        group = f"_{found['name']}" if found["mark"] == "?" else found["group"]
        field.proto3_optional = found["mark"] == "?"
        if group:
            field.oneof_index = groups.setdefault(group, len(groups))
    for group in sorted(groups, key=lambda one: groups[one]):
        message.oneof_decl.add(name=group)


def _add_map(message: Any, field: Any, kind: str, package: str, enums: set[str]) -> None:
    """A map is a repeated message of key and value, which says of itself that it is one."""
    name = _camel(f"_{field.name}") + "Entry"
    entry = message.nested_type.add(name=name)
    entry.options.map_entry = True
    for number, member, of in ((1, "key", "string"), (2, "value", kind)):
        inner = entry.field.add(name=member, number=number, label=_ONCE, json_name=member)
        _set_type(inner, of, package, enums)
    field.label, field.type, field.type_name = _REPEATED, _MESSAGE, f".{package}.{message.name}.{name}"


def _set_type(field: Any, kind: str, package: str, enums: set[str]) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
    else:
        field.type = _ENUM if kind in enums else _MESSAGE
        field.type_name = f".google.protobuf.{kind}" if kind in _KNOWN else f".{package}.{kind}"


def _methods(calls: str, base: str, types: Mapping[str, Any]) -> Iterator[tuple[str, Method]]:
    for line in calls.strip().splitlines():
        name, _, rest = line.partition(": ")
        request, _, answer = rest.partition(" -> ")
        kind = answer.removeprefix("stream ")
        path = f"{base}{name}"
        yield path, Method(path=path, request=types[request], answer=types[kind], is_stream=kind != answer)


def _known_file(name: str) -> bytes:
    """A file of protobuf itself, as bytes, so that it can be added to another pool."""
    import importlib

    described = importlib.import_module(f"google.protobuf.{name}_pb2").DESCRIPTOR
    data: bytes = described.serialized_pb
    return data


def _camel(name: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda found: found[1].upper(), name)
