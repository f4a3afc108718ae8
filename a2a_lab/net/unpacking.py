"""Undoes the content encoding of an answer, within a bound: a bomb costs us the bound, not what it claims to hold."""

from __future__ import annotations

import zlib

import httpx


class Unpacker:
    """Undoes gzip or deflate, never past a bound: a bomb costs us `bound` bytes, not what it claims to hold."""

    def __init__(self, response: httpx.Response, bound: int) -> None:
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding in ("identity", ""):
            self._decoder = None
        elif coding in ("gzip", "x-gzip", "deflate"):
            self._decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
        else:
            raise httpx.DecodingError(f"content encoding {coding!r} was not asked for", request=response.request)
        self._left = bound
        self.over = False

    def __call__(self, raw: bytes) -> bytes:
        data = raw if self._decoder is None else self._decoder.decompress(raw, self._left + 1)
        self.over = len(data) > self._left
        data = data[: self._left]
        self._left -= len(data)
        return data
