"""Reads JSON that every parser would read alike, and refuses the rest (P5, R32).

Duplicate keys, NaN, numbers without a double, lone surrogates and bytes that are no UTF-8 are faults of the peer,
never repaired. A leading byte order mark is dropped (RFC 8259 lets a parser ignore it). Integers beyond 2^53-1
cannot be canonicalised: in a card they are malformed (`parse`), inside the data of an RPC answer they are noted
(`parse_noting`). Time is linear in the input, and nesting is counted before the recursive parser sees a byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from math import isinf
from typing import Final, NoReturn

from a2a_lab.core.model import Json
from a2a_lab.core.policy import Bounds
from a2a_lab.errors import MalformedJson
from a2a_lab.verdicts import FindingKind
from a2a_lab.wire.json_findings import (
    BAD_UTF8,
    BIG_INTEGER,
    DUPLICATE_KEY,
    LONE_SURROGATE,
    NOT_A_NUMBER,
    NOT_JSON,
    NUMBER_RANGE,
    TOO_DEEP,
)

SAFE_INTEGER: Final = 2**53 - 1
_SAFE_DIGITS: Final = 15  # an integer of so few characters is safe whatever they are
_CONVERTIBLE_DIGITS: Final = 4000  # Python refuses more than 4300, since the conversion takes quadratic time
_SHOWN: Final = 24  # characters of a peer's text repeated in a message
DEFAULT_BOUNDS: Final = Bounds()

_BOM = b"\xef\xbb\xbf"
_WHITESPACE = " \t\n\r"
# A whole string, cut off or not, is one token, so that brackets inside do not count; possessive: never backtracks.
_STRING = r'"(?:[^"\\]++|\\.)*+\\?(?:"|\Z)'
_BRACKETS = re.compile(rf"{_STRING}|[\[{{]|[\]}}]", re.DOTALL)
_TOKENS = re.compile(rf"({_STRING})(\s*+:)?|[\[{{]|[\]}}]", re.DOTALL)
_ESCAPES = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def parse(data: bytes, *, bounds: Bounds = DEFAULT_BOUNDS) -> Json:
    """The value of a JSON text. Raises MalformedJson: its finding names the fault, `fields["at"]` the byte offset."""
    return _Text(data).value(bounds, big=None)


def parse_noting(data: bytes | str, *, bounds: Bounds = DEFAULT_BOUNDS) -> tuple[Json, tuple[str, ...]]:
    """As `parse`, but integers beyond 2^53-1 are kept, and named in the second value (R32)."""
    # Nearly all events of a stream are flawless: they are read in one step, and again with care where that fails.
    if type(data) is str and data.count("{") + data.count("[") <= bounds.json_depth and "\\u" not in data:
        try:
            value, end = _SCAN(data, 0)
        except (_Fault, StopIteration, ValueError, RecursionError):
            end = -1
        if end == len(data):
            return value, ()
    big: list[str] = []
    value = _Text(data).value(bounds, big=big)
    return value, tuple(big)


class _Fault(Exception):
    """Carries a fault out of the decoder, which knows no offsets: `text` is what to look for."""

    def __init__(self, kind: FindingKind, detail: str, text: str = "") -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.text = text


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise _Fault(DUPLICATE_KEY, f"member {_shown(twice)} is there twice in one object")
    return members


def _safe_integer(digits: str) -> int:
    if len(digits) > _SAFE_DIGITS and not _is_safe(digits):
        raise _Fault(BIG_INTEGER, f"integer {_shown(digits)} is beyond 2^53-1", digits)
    return int(digits)


def _is_safe(digits: str) -> bool:
    return len(digits) <= 17 and abs(int(digits)) <= SAFE_INTEGER


def _real(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise _Fault(NUMBER_RANGE, f"number {_shown(digits)} has no finite double", digits)
    return number


def _constant(name: str) -> NoReturn:
    raise _Fault(NOT_A_NUMBER, f"{name} is no JSON number", name)


# Made once: a decoder costs more than reading a small event, which is why the hooks keep no state.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=_safe_integer, parse_float=_real, parse_constant=_constant
)
# What `raw_decode` calls in turn; for a text that begins with its value there is nothing to add.
_SCAN: Callable[[str, int], tuple[Json, int]] = _DECODER.scan_once  # type: ignore[attr-defined]


def _noting_decoder(big: list[str]) -> json.JSONDecoder:
    def integer(digits: str) -> int:
        if len(digits) > _SAFE_DIGITS and not _is_safe(digits):
            if len(digits) > _CONVERTIBLE_DIGITS:
                raise _Fault(NUMBER_RANGE, f"an integer of {len(digits)} digits", digits)
            big.append(_shown(digits))
        return int(digits)

    return json.JSONDecoder(object_pairs_hook=_unique, parse_int=integer, parse_float=_real, parse_constant=_constant)


class _Text:
    """A text being read. Offsets are worked out only once something is wrong."""

    def __init__(self, data: bytes | str) -> None:
        self._skipped = 0
        if isinstance(data, str):
            self._text = data
            return
        if data.startswith(_BOM):
            data = data[len(_BOM) :]
            self._skipped = len(_BOM)
        try:
            self._text = data.decode()
        except UnicodeDecodeError as error:
            at = error.start + self._skipped
            detail = f"byte 0x{data[error.start]:02x} at offset {at} is no UTF-8"
            raise MalformedJson(detail, finding=BAD_UTF8(detail, offset=at), at=at) from None

    def value(self, bounds: Bounds, *, big: list[str] | None) -> Json:
        text = self._text
        if text.count("{") + text.count("[") > bounds.json_depth:
            self._measure_depth(bounds.json_depth)
        try:
            value = self._decode(_DECODER)
        except _Fault as fault:
            if fault.kind is not BIG_INTEGER or big is None:
                self._fail(fault.kind, fault.detail, self._place(fault))
            try:
                value = self._decode(_noting_decoder(big))
            except _Fault as worse:
                self._fail(worse.kind, worse.detail, self._place(worse))
        if "\\u" in text and _SURROGATE_ESCAPE.search(text):
            self._check_surrogates()
        return value

    def _decode(self, decoder: json.JSONDecoder) -> Json:
        """What `decoder.decode` does, without its two regular expressions for white space."""
        stripped = self._text.strip(_WHITESPACE)
        try:
            value, end = decoder.raw_decode(stripped)
            if end != len(stripped):
                raise json.JSONDecodeError("Something follows the value", stripped, end)
        except json.JSONDecodeError as error:
            lead = len(self._text) - len(self._text.lstrip(_WHITESPACE))
            seen = _shown(stripped[error.pos : error.pos + _SHOWN])
            self._fail(NOT_JSON, f"the body is not JSON: {error.msg}, found {seen}", lead + error.pos)
        except RecursionError:  # a bound set higher than the interpreter can follow
            self._fail(TOO_DEEP, "the JSON is nested deeper than this interpreter can read", 0)
        return value

    def _measure_depth(self, bound: int) -> None:
        depth = 0
        for token in _BRACKETS.finditer(self._text):
            first = self._text[token.start()]
            if first in "[{":
                depth += 1
                if depth > bound:
                    self._fail(TOO_DEEP, f"the JSON is nested deeper than json_depth = {bound}", token.start())
            elif first in "]}":
                depth -= 1

    def _check_surrogates(self) -> None:
        """Pair the escapes: a high one must be followed at once by a low one, and a low one needs it."""
        high: re.Match[str] | None = None
        for escape in _ESCAPES.finditer(self._text):
            code = int(escape[1], 16) if escape[1] else 0
            is_low = 0xDC00 <= code <= 0xDFFF
            if high is not None and not (is_low and high.end() == escape.start()):
                break
            if is_low and high is None:
                high = escape
                break
            high = escape if 0xD800 <= code <= 0xDBFF else None
        if high is not None:
            self._fail(LONE_SURROGATE, f"{high[0]} is half of a surrogate pair", high.start())

    def _place(self, fault: _Fault) -> int:
        if fault.kind is DUPLICATE_KEY:
            return self._find_repeated()
        bare = re.compile(rf"{_STRING}|({re.escape(fault.text)})", re.DOTALL)
        return next(token.start() for token in bare.finditer(self._text) if token[1])

    def _find_repeated(self) -> int:
        """Where the first repeated member stands; the decoder has seen that there is one and that the text is JSON."""
        seen: list[set[str]] = []
        for token in _TOKENS.finditer(self._text):
            if token[0] in "[{":
                seen.append(set())
            elif token[0] in "]}":
                seen.pop()
            elif token[2] is not None:
                name = json.loads(token[1])
                if name in seen[-1]:
                    return token.start()
                seen[-1].add(name)
        return 0

    def _fail(self, kind: FindingKind, detail: str, at: int) -> NoReturn:
        offset = self._skipped + len(self._text[:at].encode("utf-8", "surrogatepass"))
        detail = f"{detail} (byte {offset})"
        raise MalformedJson(detail, finding=kind(detail, offset=offset), at=offset)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
