"""Undoes gzip or deflate piece by piece, never past a bound: a bomb costs us the bound, not what it claims to hold."""

from __future__ import annotations

import zlib
from typing import Final

PLAIN: Final = frozenset({"", "identity"})
PACKED: Final = frozenset({"gzip", "x-gzip", "deflate"})


class Undecodable(Exception):
    """The bytes are not in the coding that they are labelled with, or in one that was not asked for."""


class Unpacker:
    """Give it the body's pieces in turn; `over` once they hold more than `bound` bytes, what is beyond is dropped.

    Raises Undecodable for a coding that was not asked for, and for bytes that are not in it.
    """

    def __init__(self, coding: str | None, bound: int) -> None:
        coding = (coding or "").strip().lower()
        if coding not in PLAIN | PACKED:
            raise Undecodable(f"content encoding {coding!r} was not asked for")
        self._decoder = zlib.decompressobj(zlib.MAX_WBITS | 32) if coding in PACKED else None
        self._has_begun = False
        self._left = bound
        self.over = False

    def __call__(self, raw: bytes) -> bytes:
        """What the piece holds, as far as the bound lets it through."""
        data = raw if self._decoder is None else self._unpacked(raw)
        self.over = len(data) > self._left
        data = data[: self._left]
        self._left -= len(data)
        return data

    def close(self) -> None:
        """The body has ended: raises Undecodable where it ended inside what it packs."""
        if self._decoder is not None and self._has_begun and not self._decoder.eof:
            raise Undecodable("the body ends inside its content coding")

    def _unpacked(self, raw: bytes) -> bytes:
        """The bytes of all members that these complete: a gzip body may consist of several (RFC 1952 §2.2)."""
        pieces, room = [], self._left + 1
        self._has_begun = self._has_begun or bool(raw)
        try:
            while raw and room > 0:
                assert self._decoder is not None
                if self._decoder.eof:
                    self._decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
                pieces.append(self._decoder.decompress(raw, room))
                room -= len(pieces[-1])
                raw = self._decoder.unused_data.lstrip(b"\0")  # zeros are padding
        except zlib.error as problem:
            raise Undecodable(str(problem)) from problem
        return b"".join(pieces)
