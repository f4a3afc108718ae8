"""How one secret may be spelled: plain, in JSON, in a URL, in HTML, in base64 at any offset, and where it stands.

An agent that echoes what it was sent escapes it as its format asks; a filter that knows the plain form only would let
it through. Pure: text in, texts out.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

_LEAST_CORE: Final = 8  # characters of base64 that stand for one value and hardly for another by chance
_URL_SAFE: Final = str.maketrans("+/", "-_")
_HEX: Final = re.compile(r"%[0-9A-F]{2}|\\u[0-9a-f]{4}")


def as_bytes(value: str) -> bytes:
    """What a text was made of: whatever a shell, a header or JSON may hold, lone surrogates included."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")


def packed(value: str) -> frozenset[str]:
    """The forms that are part of a base64 text."""
    return frozenset(core for form in {value} | _in_json(value) | _in_urls(value) for core in base64_cores(form))


def spellings(value: str) -> frozenset[str]:
    """Every form of the value that is looked for, itself included: one escape, and the usual two in each other."""
    quoted, in_urls, cores = _in_json(value), _in_urls(value), packed(value)
    in_pages = {html.escape(value), html.escape(value, quote=False), html.escape(value).replace("&#x27;", "&#39;")}
    forms = {value, value.replace("\\", "\\\\")} | quoted | in_urls | in_pages
    forms |= {quote(as_bytes(form), safe="") for form in quoted | in_urls | cores} | cores
    forms |= {json.dumps(form)[1:-1] for form in forms}
    forms |= {form.replace("/", "\\/") for form in forms if "/" in form}
    forms |= {_HEX.sub(_other_case, form) for form in forms}
    return frozenset(forms)


def _in_json(value: str) -> set[str]:
    return {json.dumps(value, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}


def _in_urls(value: str) -> set[str]:
    """As Python, as a browser's encodeURIComponent, and as those that escape everything but letters and digits."""
    data = as_bytes(value)
    every = "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"%{byte:02X}" for byte in data)
    return {quote(data, safe=""), quote(data, safe="/"), quote_plus(data), quote(data, safe="!*'()"), every}


def _other_case(found: re.Match[str]) -> str:
    text = found[0]
    return text.lower() if text.startswith("%") else "\\u" + text[2:].upper()


def base64_cores(value: str) -> Iterator[str]:
    """The characters that stand for the value alone in base64 of a longer text, wherever in it the value begins."""
    data = as_bytes(value)
    for offset in range(3):
        length = offset + len(data)
        core = base64.b64encode(b"\0" * offset + data).decode("ascii")[-(-offset * 8 // 6) : length * 8 // 6]
        if len(core) >= _LEAST_CORE:
            yield core
            yield core.translate(_URL_SAFE)


def in_header(name: str, value: str) -> Iterator[str]:
    """What is secret in a header that holds credentials: the value without its scheme, and a password inside of it."""
    if name.lower() in ("cookie", "set-cookie"):
        yield from (pair.partition("=")[2].strip() for pair in value.split(";"))
        return
    scheme, _, rest = value.partition(" ")
    yield rest.strip() or value
    if scheme.lower() == "basic":
        try:
            yield base64.b64decode(rest.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, ValueError):
            return


def in_url(url: str, keys: re.Pattern[str]) -> Iterator[str]:
    """What is secret in a URL: its password, and values of query members whose names the pattern matches."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    found = [password or user]
    found += [value for name, _, value in (pair.partition("=") for pair in parts.query.split("&")) if keys.match(name)]
    for value in found:
        yield from {value, unquote(value), unquote_plus(value)}
