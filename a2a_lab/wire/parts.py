"""Parts of every dialect: 1.0 tells content by member (`text`, `raw`, `url`, `data`), older ones by `kind` or `type`.

0.3 over HTTP+JSON has a form of its own, a member that nests the content (`file.fileWithUri`, `data.data`). Media types
are kept as the peer wrote them; what an unlabelled part counts as is a matter of `core.media`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from a2a_lab.core.model import Json, Part
from a2a_lab.core.quoting import quoted
from a2a_lab.errors import Misuse
from a2a_lab.verdicts import Verdict
from a2a_lab.wire import faults

if TYPE_CHECKING:
    from a2a_lab.wire.objects import ObjectReader

_CONTENT: Final[tuple[Literal["text", "raw", "url", "data"], ...]] = ("text", "raw", "url", "data")
# The members of a file; texts and proto JSON use names that the JSON-RPC schema does not. Read with a finding.
_BYTES_NAMES: Final = ("bytes", "fileWithBytes", "data")
_URI_NAMES: Final = ("uri", "fileWithUri")
_NESTED: Final = ("text", "file", "data")


def read_all(reader: ObjectReader, listed: list[Json], at: str) -> tuple[Part, ...]:
    """The parts of a list. Nearly every chunk of a stream is one of 1.0 that holds one text and nothing else."""
    if len(listed) == 1 and not reader.spelling.part_form:
        only = listed[0]
        if type(only) is dict and len(only) == 1 and type(text := only.get("text")) is str:
            return (Part(kind="text", text=text),)
    return tuple([read(reader, part, f"{at}/{index}") for index, part in enumerate(listed)])


def read(reader: ObjectReader, obj: Json, at: str) -> Part:
    """A part in either generation's shape; the other one's is a finding. Content that cannot be told is `unknown`."""
    if not isinstance(obj, dict):
        reader.wrong_type(obj, dict, at)
        return Part(kind="unknown")
    form = reader.spelling.part_form
    if not form:
        return _read_by_member(reader, obj, at)
    return _read_nested(reader, obj, at) if form == "nested" else _read_by_tag(reader, obj, at, form)


def _read_by_member(reader: ObjectReader, obj: Mapping[str, Json], at: str) -> Part:
    # JSON null is a value of `data` and unset for the others.
    members = [name for name in _CONTENT if obj.get(name) is not None or (name == "data" and "data" in obj)]
    if not members and ("kind" in obj or "type" in obj or "file" in obj):
        reader.foreign(f"the part at {at} tells its content by kind", at=at)
        return _read_kind(reader, obj, at, str(obj.get("kind") or obj.get("type") or "file"))
    if "kind" in obj:
        reader.check_kind(obj, "", at)
    if len(members) != 1:
        found = ", ".join(members) or "none"
        detail = f"the part at {at} holds {found} of text, raw, url, data; exactly one is meant"
        reader.say(faults.PART_SHAPE, detail, at=at, found=found)
        return Part(kind="unknown")
    name = members[0]
    content: dict[str, Any] = {"data": obj["data"]} if name == "data" else {name: reader.text(obj, name, at)}
    return Part(
        kind=name,
        media_type=reader.text(obj, "mediaType", at) or None,  # "" is how proto writes what is unset
        filename=reader.text(obj, "filename", at) or None,
        **content,
    )


def _read_by_tag(reader: ObjectReader, obj: Mapping[str, Json], at: str, tag: str) -> Part:
    kind, other = obj.get(tag), "type" if tag == "kind" else "kind"
    if isinstance(kind, str):
        return _read_kind(reader, obj, at, kind)
    if isinstance(obj.get(other), str):
        reader.foreign(f"the part at {at} tells its content by {other}", at=at)
        return _read_kind(reader, obj, at, str(obj[other]))
    if "raw" in obj or "url" in obj:
        reader.foreign(f"the part at {at} tells its content by member", at=at)
        return _read_by_member(reader, obj, at)
    reader.say(faults.MEMBER_MISSING, f"{tag} is missing at {at}", at=f"{at}/{tag}")
    guess = next((name for name in _NESTED if name in obj), "")
    return _read_kind(reader, obj, at, guess)


def _read_nested(reader: ObjectReader, obj: Mapping[str, Json], at: str) -> Part:
    tag = next((name for name in ("kind", "type") if isinstance(obj.get(name), str)), None)
    if tag is not None:
        reader.foreign(f"the part at {at} tells its content by {tag}", at=at)
        return _read_kind(reader, obj, at, str(obj[tag]))
    if "raw" in obj or "url" in obj:
        reader.foreign(f"the part at {at} is one of 1.0", at=at)
        return _read_by_member(reader, obj, at)
    members = [name for name in _NESTED if obj.get(name) is not None]
    if len(members) != 1:
        found = ", ".join(members) or "none"
        detail = f"the part at {at} holds {found} of text, file, data; exactly one is meant"
        reader.say(faults.PART_SHAPE, detail, at=at, found=found)
        return Part(kind="unknown")
    if members == ["data"]:
        return Part(
            kind="data", data=_unnested(reader, obj["data"], f"{at}/data"), media_type=_labelled(reader, obj, at)
        )
    return _read_kind(reader, obj, at, members[0])


def _unnested(reader: ObjectReader, outer: Json, at: str) -> Json:
    """The object within a data part. One that stands there bare is understood; a strict reader drops it."""
    if isinstance(outer, dict) and (not outer or isinstance(outer.get("data"), dict)):
        return outer.get("data", {})
    detail = f"{at} is {quoted(outer)}, expected an object whose member data holds an object"
    reader.say(faults.WRONG_TYPE, detail, at=at, found=quoted(outer))
    return outer


def _read_kind(reader: ObjectReader, obj: Mapping[str, Json], at: str, kind: str) -> Part:
    if kind == "text":
        text = reader.text(obj, "text", at)
        if text is not None:
            return Part(kind="text", text=text, media_type=_labelled(reader, obj, at))
    elif kind == "data":
        if "data" in obj:
            data = obj["data"]
            allowed = (dict, list) if reader.spelling.part_form == "type" else (dict,)
            if reader.spelling.part_form and not isinstance(data, allowed):
                reader.wrong_type(data, dict, f"{at}/data")
            return Part(kind="data", data=data, media_type=_labelled(reader, obj, at))
    elif kind == "file":
        file = reader.typed(obj, "file", dict, at)
        if file is not None:
            return _read_file(reader, file, f"{at}/file")
    reader.say(faults.PART_SHAPE, f"the part of kind {quoted(kind)} at {at} has no such content", at=at)
    return Part(kind="unknown")


def _labelled(reader: ObjectReader, obj: Mapping[str, Json], at: str) -> str | None:
    """Before 1.0 text and data have no media type; a label that is there all the same is kept for the media check."""
    return reader.text(obj, "mediaType", at) or reader.text(obj, "mimeType", at) or None


def _read_file(reader: ObjectReader, file: Mapping[str, Json], at: str) -> Part:
    raw_names = [name for name in _BYTES_NAMES if file.get(name) is not None]
    uri_names = [name for name in _URI_NAMES if file.get(name) is not None]
    used, form = raw_names + uri_names, reader.spelling.part_form
    as_bytes, as_uri = ("fileWithBytes", "fileWithUri") if form == "nested" else ("bytes", "uri")
    media_type, filename = reader.text(file, "mimeType", at) or None, reader.text(file, "name", at) or None
    if len(used) != 1:
        if used or form != "type":  # the draft lets a file stand for one whose content is not sent
            detail = f"the file at {at} holds {', '.join(used) or 'none'} of {as_bytes}, {as_uri}; exactly one is meant"
            reader.say(faults.PART_SHAPE, detail, at=at, found=", ".join(used))
        return Part(kind="unknown", media_type=media_type, filename=filename)
    if used[0] not in (as_bytes, as_uri):
        detail = f"{used[0]} is written for {as_bytes if raw_names else as_uri} at {at}"
        reader.say(faults.WRONG_TYPE, detail, at=f"{at}/{used[0]}", verdict=Verdict.HINT)
    content = reader.text(file, used[0], at)
    if raw_names:
        return Part(kind="raw", raw=content, media_type=media_type, filename=filename)
    return Part(kind="url", url=content, media_type=media_type, filename=filename)


def write_1_0(part: Part) -> dict[str, Json]:
    """A part of ours as 1.0 JSON."""
    content: dict[str, Json] = {part.kind: _content(part)}
    labels = {"filename": part.filename, "mediaType": part.media_type}
    return content | {name: value for name, value in labels.items() if value is not None}


def write_0_3(part: Part, tag: str = "kind") -> dict[str, Json]:
    """A part of ours as 0.3 JSON, where only a file can state its media type; the draft has another `tag`."""
    if part.kind in ("text", "data"):
        return {tag: part.kind, part.kind: _content(part)}
    return {tag: "file", "file": _write_file(part, "bytes", "uri")}


def write_nested(part: Part) -> dict[str, Json]:
    """A part of ours as SDKs of 0.3 write it over HTTP+JSON."""
    if part.kind == "text":
        return {"text": _content(part)}
    if part.kind == "data":
        return {"data": {"data": _content(part)}}
    return {"file": _write_file(part, "fileWithBytes", "fileWithUri")}


def _write_file(part: Part, as_bytes: str, as_uri: str) -> dict[str, Json]:
    file: dict[str, Json] = {as_bytes if part.kind == "raw" else as_uri: _content(part)}
    labels = {"name": part.filename, "mimeType": part.media_type}
    return file | {name: value for name, value in labels.items() if value is not None}


def _content(part: Part) -> Json:
    contents = {"text": part.text, "data": part.data, "raw": part.raw, "url": part.url}
    if part.kind == "unknown" or (contents[part.kind] is None and part.kind != "data"):
        raise Misuse(f"a part of kind {part.kind!r} without content cannot be sent; set its {part.kind} member")
    return contents[part.kind]


def payload_part(mode: str, payload: bytes, *, dialect: str) -> Part:
    """The part that carries `payload` in media type `mode` in a dialect ("1.0", "0.3", ...).

    Text goes as text, JSON as data, the rest as base64. Where a dialect has no place for the type (before 1.0 text
    other than plain, and JSON that is no object, or in the draft no array), the payload goes as a file, which has one.
    Raises Misuse where the bytes are not of `mode`.
    """
    kind = mode.partition(";")[0].strip().lower()
    try:
        if kind == "text/plain":
            return Part(kind="text", text=payload.decode(), media_type=mode)
        if kind == "application/json":
            data = json.loads(payload)
            if dialect == "1.0" or isinstance(data, (dict, list) if dialect == "0.1" else dict):
                return Part(kind="data", data=data, media_type=mode)
        elif kind.startswith("text/") and dialect == "1.0":
            return Part(kind="text", text=payload.decode(), media_type=mode)
    except ValueError as error:
        raise Misuse(f"the payload is no {mode}: {error}; give bytes of that type", mode=mode) from None
    return Part(kind="raw", raw=base64.b64encode(payload).decode(), media_type=mode)
