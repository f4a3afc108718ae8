"""Reads the parameters of a notebook as what they were declared to be, and refuses the rest in a sentence.

A notebook declares `name: type = value  # sentence` in its one parameters cell; papermill puts what the user gave
into a cell below it. It turns `-p version 1.0` into a float, lets misspelt names pass with a log line, hands booleans
over as text, and stores every value in the notebook that it writes: so types are checked here, unknown names are
refused with the nearest known one, and secrets are taken as names of environment variables only.
"""

from __future__ import annotations

import ast
import difflib
import math
import re
import types
import typing
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any

from a2a_lab.errors import Misuse

_INJECTED = "# Parameters"  # the first line of the cell in which papermill puts what the user gave
_SECRET_NAME = re.compile(r"(token|password|passwd|secret|api_?key|credential|authorization)", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"^\s*(Bearer|Basic)\s+\S{6}|://[^/\s:@]+:[^/\s@]+@", re.IGNORECASE)
_WORDS = {"true": True, "false": False}


def accept_parameters(
    namespace: MutableMapping[str, Any],
    *,
    choices: Mapping[str, Sequence[str]] | None = None,
    required: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Check a notebook's parameters and put them back as what they were declared to be. Call with `globals()`.

    Returns them by name. `Misuse` names the parameter, the value, what was expected and how to write it.
    `choices` lists the words that a parameter may be, `required` the parameters without which nothing can be done,
    each with an example.
    """
    declared = _annotations(namespace)
    injected = _injected_names(namespace.get("In", ()))
    refuse_unknown(injected, declared)
    read: dict[str, Any] = {}
    for name in declared:
        if name in namespace:
            read[name] = typed(name, namespace[name], declared[name])
    for name, words in (choices or {}).items():
        if name in read and read[name] not in words:
            raise Misuse(
                f"{name} is {read[name]!r}; expected {_either(words)}{_near(str(read[name]), words)}", name=name
            )
    for name, example in (required or {}).items():
        if not str(read.get(name, "")).strip():
            raise Misuse(
                f"{name} is not given, and this notebook cannot do without: give it with -p {name}={example} "
                f"(papermill: -p {name} {example}), or write it into the parameters cell",
                name=name,
            )
    namespace.update(read)
    return read


def refuse_unknown(given: Iterable[str], known: Iterable[str], *, where: str = "this notebook") -> None:
    """`Misuse` for the first name that is no parameter, with the nearest one that is."""
    known = sorted(known)
    for name in given:
        if name not in known:
            raise Misuse(
                f"{where} has no parameter {name!r}{_near(name, known)}; it takes {', '.join(known) or 'none'}",
                name=name,
                known=known,
            )


def typed(name: str, value: Any, declared: Any) -> Any:
    """The value of one parameter as its declared type; `Misuse` where it is of another.

    `declared` is a type or its text (`str`, `int`, `float`, `bool`, `str | None`, ...). Only what loses nothing is
    taken across types: a whole number for a float, and the words true and false for a boolean.
    """
    kinds = _kinds(name, declared)
    _refuse_secret(name, value)
    if value is None and type(None) in kinds:
        return None
    if bool in kinds and isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    if float in kinds and isinstance(value, int | float) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise Misuse(f"{name} is {value}; expected a finite number", name=name)
        return float(value)
    if int in kinds and isinstance(value, int) and not isinstance(value, bool):
        return value
    if any(kind in (str, bool, list, dict) and type(value) is kind for kind in kinds):
        return value
    raise Misuse(_refusal(name, value, kinds), name=name, value=value)


def _refusal(name: str, value: Any, kinds: Sequence[type]) -> str:
    expected = " or ".join("None" if kind is type(None) else _NAMES[kind] for kind in kinds)
    if str in kinds and isinstance(value, int | float):
        arrives = "true or false" if isinstance(value, bool) else f"a {type(value).__name__}"
        return (
            f"{name} is {value!r}, expected {expected}: papermill's `-p {name} {value}` arrives as {arrives}. "
            f'Use `-r {name} {value}`, or quote it in the YAML of -y or -f: {name}: "{value}"'
        )
    return f"{name} is {value!r:.80} ({type(value).__name__}), expected {expected}"


_NAMES: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def _kinds(name: str, declared: Any) -> tuple[type, ...]:
    """The plain types of an annotation. Anything else is a fault of the notebook, not of who runs it."""
    if isinstance(declared, str):
        parts: Sequence[Any] = [_TYPES.get(part.partition("[")[0].strip()) for part in declared.split("|")]
    else:
        parts = typing.get_args(declared) if isinstance(declared, types.UnionType) else [declared]
    kinds = tuple(typing.get_origin(part) or part for part in parts)
    if not all(kind in _TYPES.values() for kind in kinds):
        raise Misuse(f"parameter {name} is declared {declared!r}; declare it as {_either(_TYPES)}, joined by |")
    return kinds


_TYPES: dict[str, Any] = {kind.__name__: kind for kind in _NAMES} | {"None": type(None)}


def _refuse_secret(name: str, value: Any) -> None:
    """Papermill writes every parameter into the notebook, and notebooks are handed out."""
    by_name = _SECRET_NAME.search(name) and not re.search(r"_(env|file)$", name) and isinstance(value, str) and value
    by_value = isinstance(value, str) and _SECRET_VALUE.search(value)
    if by_name or by_value:
        raise Misuse(
            f"{name} holds a secret, and papermill stores parameters in the notebook: put the value into an "
            "environment variable and give its name, as header_env='Authorization=MY_TOKEN'",
            name=name,
        )


def _annotations(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """What the parameters cell declares. Names that begin with an underscore are the notebook's own."""
    found = namespace.get("__annotations__")
    if not found and callable(namespace.get("__annotate__")):  # Python 3.14 evaluates them when asked
        found = namespace["__annotate__"](1)
    if not found:
        raise Misuse("no parameters are declared; run the parameters cell (name: type = value) before this one")
    return {name: kind for name, kind in found.items() if not name.startswith("_")}


def _injected_names(cells: Sequence[str]) -> list[str]:
    """The names that papermill's own cell assigns; in JupyterLab there is none."""
    for source in cells:
        if isinstance(source, str) and source.startswith(_INJECTED):
            body = ast.parse(source).body
            targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def _near(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def _either(words: Iterable[str]) -> str:
    return " or ".join(repr(word) for word in words)
