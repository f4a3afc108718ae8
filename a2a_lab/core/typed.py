"""What an operator may type: each function says what was expected instead, or nothing where the value will do.

The same questions are asked of a command line and of a file, whose answers name the option or the key. A value that is
wrong is refused before anything is sent: halfway through a request it would be a traceback.
"""

from __future__ import annotations

import math
import re
from typing import Final

from a2a_lab.core.media import parse_media_type
from a2a_lab.core.urls import parse_url

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 5.6.2
_FRAMING: Final = frozenset({"content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade"})
_VISIBLE: Final = re.compile(r"[\x20-\x7e]*")
_URI: Final = re.compile(r"[\x21-\x2b\x2d-\x7e]+")  # the commas of a list of them part it
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_JWT: Final = re.compile(r"ey[\w-]+(\.[\w-]*){2}(\.[\w-]*){0,2}")  # RFC 7515 3.1: a JSON object, in base64url
_LONG: Final = 40  # letters of a variable's name; what is longer is a key more often than a name
_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s/\[\]@?#:,]+)(:\d{1,5})?")


def not_text(value: str) -> str:
    """Text that UTF-8 can hold: a shell hands over bytes that are none as lone surrogates."""
    return "" if value.isascii() or value == value.encode("utf-8", "replace").decode() else "text in UTF-8"


def not_header_name(value: str) -> str:
    """What frames a message or its connection is nobody's to set: the agent would be judged for what becomes of it."""
    if value.lower() in _FRAMING:
        return "the name of a header that does not frame the message or its connection"
    return "" if _TOKEN.fullmatch(value) else "the name of an HTTP header: letters, digits and -"


def not_header_value(value: str) -> str:
    """HTTP carries other characters only as somebody's private understanding (RFC 9110 5.5)."""
    return "" if _VISIBLE.fullmatch(value) else "a header value: printable ASCII on one line"


def where_not_header_value(value: str) -> str:
    """Which character a header cannot carry, without repeating the others: the value may be a secret."""
    place = next((at for at, letter in enumerate(value) if not _VISIBLE.fullmatch(letter)), None)
    return "" if place is None else f"character {place + 1} of {len(value)} is U+{ord(value[place]):04X}"


def not_variable(value: str) -> str:
    """The name of an environment variable. What is none may be the secret itself, and nobody repeats it."""
    return "" if _VARIABLE.fullmatch(value) else "that looks like a value, give the NAME of an environment variable"


def like_secret(value: object) -> bool:
    """Whether a value may be a secret that was pasted where a name belongs: such a one is never repeated (R38)."""
    return not isinstance(value, str) or not _VARIABLE.fullmatch(value) or len(value) > _LONG


def like_token(value: object) -> bool:
    """Whether a text has the look of a signed token, which no error repeats, whatever key it stands under."""
    return isinstance(value, str) and bool(_JWT.fullmatch(value))


def not_extension(value: str) -> str:
    """An extension is named by a URI, and several stand in one header with commas in between."""
    return "" if _URI.fullmatch(value) else "a URI in ASCII without spaces and commas"


def not_media_type(value: str) -> str:
    is_one = value.isascii() and parse_media_type(value) is not None
    return "" if is_one else "a media type, such as text/plain or application/json"


def not_place(value: str) -> str:
    """An origin, or a host with or without its port."""
    expected = "an origin or a host, such as https://agent.example:8443 or agent.example"
    if "://" not in value:
        return "" if _HOST.fullmatch(value) else expected
    try:
        place = parse_url(value)
    except ValueError:
        return expected
    return "" if place.path == "/" and not (place.query or place.userinfo or place.fragment) else expected


def not_url(value: str) -> str:
    try:
        scheme = parse_url(value).scheme
    except ValueError:
        return "a URL such as https://agent.example or http://127.0.0.1:9999"
    if scheme not in ("http", "https"):
        return "a URL of http or https: a card lies there also where calls go over gRPC"
    return not_text(value)


def not_seconds(value: float) -> str:
    return "" if 0 < value < math.inf else "a positive number of seconds"
