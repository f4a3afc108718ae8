"""What a real vendor is: somebody else's implementation, where its lock lies, and how its programs are launched.

Values only: `registry` reads them from files, `environments` builds what they name, `served` launches it. A variant
is the same environment launched with other options, and is called `name+variant`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROLES = ("agent", "consumer")
DIALECTS = ("0.1", "0.2", "0.3", "1.0")
BINDINGS = ("JSONRPC", "HTTP+JSON", "GRPC")
KINDS = ("python", "node", "go", "java", "rust")
LOCKS = {
    "python": "requirements.lock",
    "node": "package-lock.json",
    "go": "go.sum",
    "java": "jars.lock",
    "rust": "Cargo.lock",
}
PLACEHOLDER = re.compile(r"\{(\w+)\}")
# What a launch line may name: the environment's interpreter, the folder of the programs, and what the lab hands out.
PLACEHOLDERS = ("python", "node", "programs", "environment", "port", "url", "nonce", "log", "key", "name", "card")
CARD_PATH = "/.well-known/agent-card.json"
READY_TIMEOUT_S = 120.0  # an SDK's first import took 75 s on a loaded machine; warm it takes one or two


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """What the environment is built from. `python_min` and `python_below` bound the interpreter, None for no bound.

    `sources` is a second lock, of Python packages that are published without a wheel: they are built from their source
    with what `lock` installed. `programs` are copied into a Node environment, whose packages are only found from beside
    them, and are the sources of a compiled one; `tool_min` is the least release of the tool that compiles. `check` is
    an argv that must succeed in the new environment before it counts as built.
    """

    kind: str
    lock: Path
    sources: Path | None = None
    python_min: tuple[int, ...] | None = None
    python_below: tuple[int, ...] | None = None
    node_min: int | None = None
    tool_min: tuple[int, ...] | None = None
    programs: tuple[Path, ...] = ()
    check: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """How the vendor is started, as argv templates. An agent is ready when its card answers.

    `nonce` and `log` are the arguments by which it is told the two; empty where the vendor cannot be told. `sign` are
    those by which an agent signs its card, with the key in the file {key} and under the name {name}.
    """

    launch: tuple[str, ...]
    nonce: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    sign: tuple[str, ...] = ()
    card_path: str = CARD_PATH
    ready_timeout_s: float = READY_TIMEOUT_S
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """A known outcome: cells whose key matches `cells` (a shell pattern) end with `verdict`, or show `finding`."""

    cells: str
    reason: str
    verdict: str = ""
    finding: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """One vendor, or one variant of it (then `options` are those of the variant).

    `verifier` is the argv by which its SDK verifies the card in the file {card} with the public key in the file {key};
    empty where it cannot, and for variants.
    """

    name: str
    title: str
    version: str
    roles: tuple[str, ...]
    dialects: tuple[str, ...]
    bindings: tuple[str, ...]
    folder: Path
    runtime: Runtime
    agent: Program | None = None
    consumer: Program | None = None
    verifier: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    notes: tuple[str, ...] = ()
    variants: Mapping[str, Vendor] = field(default_factory=dict)

    @property
    def environment_name(self) -> str:
        """Variants share the environment of their vendor."""
        return self.folder.name


def filled(template: tuple[str, ...], values: Mapping[str, str]) -> list[str]:
    """The argv with its placeholders replaced. A placeholder without a value is a KeyError."""
    return [PLACEHOLDER.sub(lambda found: values[found[1]], word) for word in template]
