"""Where the notebooks and data that travel with the lab are: a checkout's own folders first, else those in the wheel.

A wheel carries them under `a2a_lab/_bundled/` (R41); in a checkout the same names stand beside the package, and
there they are what one edits, so they win.
"""

from __future__ import annotations

import difflib
from importlib.resources import files
from pathlib import Path

from a2a_lab.errors import Misuse

BUNDLED = "_bundled"
_PACKAGE = Path(str(files("a2a_lab")))


def bundled_root() -> Path:
    """The folder that holds `data/` and `notebooks/`: the checkout's top folder, or `_bundled` of an installed lab."""
    checkout = _PACKAGE.parent
    # A pyproject beside the package tells a checkout from a site-packages folder that happens to hold a `data`.
    if (checkout / "data").is_dir() and (checkout / "pyproject.toml").is_file():
        return checkout
    return _PACKAGE / BUNDLED


def bundled_names(kind: str, suffix: str = ".toml") -> tuple[str, ...]:
    """Names that `bundled` knows of one kind (`data/matrices`, `notebooks`), without suffix, sorted."""
    folder = bundled_root() / kind
    return tuple(sorted(path.stem for path in folder.glob(f"*{suffix}"))) if folder.is_dir() else ()


def bundled(kind: str, name: str, suffix: str = ".toml") -> Path:
    """The path of a bundled file by kind (`data/matrices`, `notebooks`) and name without suffix.

    Raises Misuse that lists the names there are.
    """
    path = bundled_root() / kind / f"{name}{suffix}"
    if path.is_file():
        return path
    known = bundled_names(kind, suffix)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise Misuse(
        f"no bundled {kind} is called {name!r}; there are {', '.join(known) or 'none'}{hint}",
        kind=kind,
        name=name,
        known=known,
    )
