"""Protobuf messages as ProtoJSON text and back, so that gRPC is read as HTTP is (wire-facts 5.2).

What JSON cannot say is said beside it, in a member `@grpc` that no message of A2A has: bytes that are no message,
fields that the proto does not have, fields of another wire type, several members of a one-of. So evidence is judged
without protobuf, and what a peer sent stays visible. An enum number without a name is written as text, in digits:
ProtoJSON's bare number would read as a sloppy spelling of a known name. Never raises for what a peer sent.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, Final

from a2a_lab.core.model import Json
from a2a_lab.wire import protobuf

BESIDE: Final = "@grpc"
"""The member of a written message that holds what its JSON cannot say."""
_WIRE_TYPES: Final = {0: "varint", 1: "64-bit", 2: "length-delimited", 3: "group", 5: "32-bit"}
_LISTED: Final = 20  # odd fields that are named of one message; a hostile one has thousands
_DEPTH: Final = 100  # of messages in each other, as protobuf itself reads them


def read_message(kind: Any, raw: bytes) -> Json:
    """The bytes of one message of type `kind` as a JSON value."""
    from google.protobuf import json_format
    from google.protobuf.message import DecodeError

    try:
        message = kind.FromString(raw)
    except DecodeError as fault:
        return {BESIDE: {"malformed": f"{str(fault)[:200] or 'not decodable'}", "bytes": len(raw)}}
    beside: dict[str, Json] = {}
    unknown, wrong = _odd_fields(message)
    if unknown:
        beside["unknown"] = unknown
    if wrong:
        beside["wrong"] = wrong
    if several := _several(kind, raw):
        beside["several"] = several
    try:
        document: dict[str, Json] = json_format.MessageToDict(message)
        _spell_enums(message, document)
        json.dumps(document, allow_nan=False)
    except (ValueError, TypeError, RecursionError, json_format.Error) as fault:
        return {BESIDE: {**beside, "malformed": f"it has no JSON form: {str(fault)[:200]}", "bytes": len(raw)}}
    return {**document, BESIDE: beside} if beside else document


def write_message(kind: Any, body: bytes) -> bytes:
    """The bytes of a message of ours, from its JSON. Raises ValueError for JSON that the type does not have."""
    from google.protobuf import json_format

    try:
        data: bytes = json_format.Parse(body, kind()).SerializeToString()
    except json_format.Error as fault:
        raise ValueError(f"the request does not fit {kind.DESCRIPTOR.full_name}: {fault}") from fault
    return data


def read_status(raw: bytes) -> list[Json]:
    """The details of a google.rpc.Status, as its JSON has them; what cannot be read says so in their place."""
    from google.protobuf import json_format
    from google.protobuf.message import DecodeError

    types = protobuf.schema("rpc").messages
    try:
        packed = types["Status"].FromString(raw).details
    except DecodeError:
        return [{BESIDE: {"malformed": "grpc-status-details-bin is no google.rpc.Status", "bytes": len(raw)}}]
    details: list[Json] = []
    for one in packed[:_LISTED]:
        name = one.type_url.rpartition("/")[2]
        kind = types.get(name.removeprefix("google.rpc.")) if name.startswith("google.rpc.") else None
        try:
            known = {} if kind is None else json_format.MessageToDict(kind.FromString(one.value))
        except (DecodeError, ValueError, json_format.Error):
            known, kind = {}, None
        raw_value = {"value": base64.b64encode(one.value).decode("ascii")} if kind is None else {}
        details.append({"@type": one.type_url, **known, **raw_value})
    return details


def line(document: Json) -> bytes:
    """One JSON value as a line of evidence, in UTF-8."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace") + b"\n"


def _odd_fields(message: Any) -> tuple[list[str], list[str]]:
    """Fields that the proto does not have, and known ones of another wire type, each with its place."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    unknown: list[str] = []
    wrong: list[str] = []
    for at, inner in _within(message, "", 0):
        for field in UnknownFieldSet(inner):
            wire_type = _WIRE_TYPES.get(field.wire_type, str(field.wire_type))
            known = inner.DESCRIPTOR.fields_by_number.get(field.field_number)
            name = known.json_name if known is not None else str(field.field_number)
            (unknown if known is None else wrong).append(f"{at}/{name} ({wire_type})")
    return list(dict.fromkeys(unknown))[:_LISTED], list(dict.fromkeys(wrong))[:_LISTED]


def _within(message: Any, at: str, depth: int) -> Iterator[tuple[str, Any]]:
    """A message and all messages in it, with the JSON Pointer of each; free-form values have no proto to differ."""
    yield at, message
    if depth > _DEPTH or message.DESCRIPTOR.file.package == "google.protobuf":
        return
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        name = f"{at}/{field.json_name}"
        if field.message_type.GetOptions().map_entry:
            inner = value.values() if field.message_type.fields_by_name["value"].message_type is not None else ()
            for key, one in zip(value, inner, strict=False):
                yield from _within(one, f"{name}/{key}", depth + 1)
        elif field.is_repeated:
            for index, one in enumerate(value):
                yield from _within(one, f"{name}/{index}", depth + 1)
        else:
            yield from _within(value, name, depth + 1)


def _several(kind: Any, raw: bytes) -> list[str]:
    """Members of one group that came together at the top: protobuf keeps the last of them and says nothing."""
    from google.protobuf.empty_pb2 import Empty
    from google.protobuf.unknown_fields import UnknownFieldSet

    numbers = [field.field_number for field in UnknownFieldSet(Empty.FromString(raw))]
    for group in kind.DESCRIPTOR.oneofs:
        found = [field.json_name for field in group.fields if field.number in numbers]
        if len(found) > 1:
            return found
    return []


def _spell_enums(message: Any, document: dict[str, Json]) -> None:
    """Write enum numbers without a name as text."""
    for field, value in message.ListFields():
        there = document.get(field.json_name)
        if field.enum_type is not None and isinstance(there, int):
            document[field.json_name] = str(there)
        elif field.message_type is None or field.message_type.file.package == "google.protobuf":
            continue
        elif isinstance(there, list):
            for one, inner in zip(value, there, strict=True):
                _spell_enums(one, inner)
        elif isinstance(there, dict) and not field.message_type.GetOptions().map_entry:
            _spell_enums(value, there)
