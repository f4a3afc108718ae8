"""Reads TOML tables and refuses what is not meant, in sentences that name file, key, value and expectation.

Knows nothing of agents or matrices: `spec` and `lab.matrix` say which keys there are. Every read takes a key off the
list of those still unread, and `done` complains of what is left, with the nearest known key.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from a2a_lab.core.typed import like_secret, like_token
from a2a_lab.errors import Misuse

# Keys that name variables, or under which somebody would paste what belongs into one.
_SECRET: Final = re.compile(r"_env$|bearer|token$|secret|passw|api_?key|basic$|authorization", re.IGNORECASE)


def nearest(word: str, known: Iterable[str]) -> str:
    """A clause that names the nearest known word, or lists what is known; starts with '; '."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}"


class Table:
    """One table being read. `where` is how a message calls it: file and dotted path.

    `hides` is for a table about credentials: a value under a key that nobody knows is not repeated (R38).
    """

    def __init__(self, data: object, where: str, *, hides: bool = False) -> None:
        if not isinstance(data, Mapping):
            found = "something else, which may be a secret" if hides else repr(data)
            raise Misuse(f"{where}: a table is expected, found {found}", where=where)
        self._data: Mapping[str, Any] = data
        self._read: set[str] = set()
        self._hides = hides
        self.where = where

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Complain of the value of `key`."""
        value = self._data.get(key)
        if key not in self._data:
            raise Misuse(f"{self.where}.{key}: missing; {expected} is expected", where=self.where, key=key)
        if self._is_hidden(key):
            raise Misuse(f"{self.where}.{key}: what stands there is not {expected}", where=self.where, key=key)
        raise Misuse(f"{self.where}.{key}: {value!r} is not {expected}", where=self.where, key=key, value=value)

    def _is_hidden(self, key: str) -> bool:
        value = self._data[key]
        if _SECRET.search(key):
            return like_secret(value)
        return like_token(value) or (self._hides and key not in self._read and not isinstance(value, bool))

    def keys(self) -> tuple[str, ...]:
        """The keys in the order of the file."""
        return tuple(self._data)

    def take(self, key: str, default: Any = None) -> Any:
        """The value as it stands, `default` where there is none."""
        self._read.add(key)
        return self._data.get(key, default)

    def text(self, key: str, default: str | None = None, *, one_of: Iterable[str] = ()) -> str:
        """A string; one of the words of `one_of` where any are given. Without a default it must be there."""
        value, one_of = self.take(key, default), tuple(one_of)
        if isinstance(value, int | float) and not isinstance(value, bool):
            if _SECRET.search(key):
                self.refuse(key, "a string")
            if one_of and isinstance(value, int):
                self.refuse(key, f"one of {', '.join(repr(word) for word in one_of)}")
            # TOML and papermill both make a number of an unquoted 1.0, and "1.0" is not 1.0 (A2, P5).
            why = "a version is text, " if isinstance(value, float) or "version" in key else ""
            self.refuse(key, f'a string; {why}write {key} = "{value}" with quotes')
        if not isinstance(value, str):
            self.refuse(key, "a string")
        if one_of and value not in one_of:
            self.refuse(key, f"one of {', '.join(repr(word) for word in one_of)}{nearest(value, one_of)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.take(key, default)
        if not isinstance(value, bool):
            self.refuse(key, "true or false")
        return value

    def number(self, key: str, default: float | None = None, *, least: float = 0.0) -> float:
        """Seconds or another real number, at least `least`."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < float("inf"):
            self.refuse(key, f"a number of at least {least:g}")
        return float(value)

    def integer(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            self.refuse(key, f"a whole number of at least {least}")
        return value

    def texts(self, key: str, default: Iterable[str] | None = None, *, empty: bool = True) -> tuple[str, ...]:
        """A list of strings; `empty` says whether it may be empty."""
        value = self.take(key, None if default is None else list(default))
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            self.refuse(key, "a list of strings")
        if not empty and not value:
            self.refuse(key, "a list of at least one string")
        return tuple(value)

    def tables(self, key: str) -> list[Table]:
        """A list of tables; an absent key is an empty list."""
        value = self.take(key, [])
        if not isinstance(value, list | tuple):
            self.refuse(key, "a list of tables")
        return [Table(item, f"{self.where}.{key}[{place}]") for place, item in enumerate(value)]

    def named(self, key: str) -> dict[str, Table]:
        """A table of tables by name; an absent key is an empty one."""
        inner = Table(self.take(key, {}), f"{self.where}.{key}")
        return {name: Table(value, f"{inner.where}.{name}") for name, value in inner._data.items()}

    def free(self, key: str) -> dict[str, Any]:
        """A table whose content is nobody's business here, such as further card members."""
        value = self.take(key, {})
        if not isinstance(value, Mapping):
            self.refuse(key, "a table")
        return dict(value)

    def rest(self) -> dict[str, Any]:
        """Everything in the table, for a caller that hands it on to another reader."""
        self._read.update(self._data)
        return dict(self._data)

    def done(self) -> None:
        """Refuse keys that nobody read: a misspelt key must not be a silent default."""
        for key in self._data:
            if key not in self._read:
                told = "" if self._is_hidden(key) else f" (value {self._data[key]!r})"
                raise Misuse(
                    f"{self.where}: unknown key {key!r}{told}{nearest(key, self._read)}", where=self.where, key=key
                )
