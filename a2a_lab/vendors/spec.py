"""What a simulated agent is, as read from its table of a matrix file.

An agent is a card (what it declares) plus named misbehaviours (what its runtime does instead). Nothing here holds a
count or a verdict, and an agent's table names no consumer: what happens between two of them comes out of their
exchanges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from a2a_lab.errors import Misuse
from a2a_lab.vendors.behaviours import BEHAVIOURS
from a2a_lab.vendors.tables import Table, nearest

TEXT, JSON = "text/plain", "application/json"
DIALECTS, BINDINGS = ("1.0", "0.3", "0.2", "0.1"), ("JSONRPC", "HTTP+JSON")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillSpec:
    """A skill as the card states it; empty modes are left out of the card, so that the defaults hold."""

    id: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Misbehaviour:
    """One misbehaviour of an agent: its name in BEHAVIOURS, its filters, its options with every default filled in.

    `on` is "send", "stream" or "any"; `min_bytes` is the least size of a message's parts, as JSON, that wakes it.
    """

    name: str
    on: str = "any"
    min_bytes: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    def table(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"name": self.name, **self.options}
        if BEHAVIOURS[self.name].filters:
            shown |= {"on": self.on, "min_bytes": self.min_bytes}
        return {key: value for key, value in shown.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """A simulated agent. `version` is the agent's own, `dialect` and `binding` the protocol it speaks.

    `signed_by` names a key of the host: "lab" is trusted, "stranger" is not, "" leaves the card unsigned.
    `asks_with` is how the runtime names the modes it would take: prose, a data part, or error -32005.
    `extra` is merged into the card, table by table. `tenants` makes the vendor a union-card gateway: its own card is
    the union, each tenant an agent of its own; None stands for a tenant that was de-provisioned.
    `purpose` and `expects` (slugs that an enforcing consumer must name) are for readers and tests: they never reach
    the agent's process.
    """

    name: str
    version: str
    purpose: str = ""
    expects: tuple[str, ...] = ()
    dialect: Literal["1.0", "0.3", "0.2", "0.1"] = "1.0"
    binding: Literal["JSONRPC", "HTTP+JSON"] = "JSONRPC"
    streaming: bool | None = True
    default_inputs: tuple[str, ...] = (TEXT,)
    outputs: tuple[str, ...] = (TEXT,)
    skills: tuple[SkillSpec, ...] = (SkillSpec(id="summarize"),)
    extra: Mapping[str, Any] = field(default_factory=dict)
    signed_by: Literal["lab", "stranger", ""] = ""
    reads_metadata: bool = True
    asks_with: Literal["text", "data", "error"] = "text"
    echoes_skill: bool = True
    tenant: str = ""
    chunks: int = 1
    work_s: float = 0.03
    misbehaviours: tuple[Misbehaviour, ...] = ()
    tenants: Mapping[str, AgentSpec | None] = field(default_factory=dict)

    @property
    def inputs(self) -> tuple[str, ...]:
        """What an honest runtime takes: the default modes and those of every skill (the record's union)."""
        return tuple(dict.fromkeys([*self.default_inputs, *(mode for skill in self.skills for mode in skill.inputs)]))

    @classmethod
    def parse(cls, name: str, data: object, where: str) -> AgentSpec:
        """Read an agent's table. `where` is its file and dotted path; raises Misuse."""
        table = Table(data, where)
        streaming = table.take("streaming", True)
        if streaming not in (True, False, "absent"):
            table.refuse("streaming", 'true, false or "absent" (the member is left out of the card)')
        raw_tenants = table.named("tenants")
        spec = cls(
            name=name,
            version=table.text("version"),
            purpose=table.text("purpose", ""),
            expects=table.texts("expects", ()),
            dialect=table.text("dialect", "1.0", one_of=DIALECTS),  # type: ignore[arg-type]  # one_of checked it
            binding=_binding(table),  # type: ignore[arg-type]  # and here
            streaming=None if streaming == "absent" else streaming,
            default_inputs=table.texts("default_inputs", (TEXT,)),
            outputs=table.texts("outputs", (TEXT,), empty=False),
            skills=_skills(table),
            extra=table.free("extra"),
            signed_by=table.text("signed_by", "", one_of=("lab", "stranger", "")),  # type: ignore[arg-type]
            reads_metadata=table.flag("reads_metadata", True),
            asks_with=table.text("asks_with", "text", one_of=("text", "data", "error")),  # type: ignore[arg-type]
            echoes_skill=table.flag("echoes_skill", True),
            tenant=table.text("tenant", ""),
            chunks=table.integer("chunks", 1, least=1),
            work_s=table.number("work_s", 0.03),
            misbehaviours=tuple(_misbehaviour(entry) for entry in table.tables("misbehaviours")),
            tenants={tenant: _tenant(tenant, data, inner) for tenant, inner in raw_tenants.items()},
        )
        table.done()
        _judge_binding(spec, table)
        return spec

    def table(self) -> dict[str, Any]:
        """The table that `parse` reads this agent from again, without what only readers and tests need."""
        return {
            "version": self.version,
            "dialect": self.dialect,
            "binding": self.binding,
            "streaming": "absent" if self.streaming is None else self.streaming,
            "default_inputs": list(self.default_inputs),
            "outputs": list(self.outputs),
            "skills": [
                {"id": skill.id, "inputs": list(skill.inputs), "outputs": list(skill.outputs)} for skill in self.skills
            ],
            "extra": dict(self.extra),
            "signed_by": self.signed_by,
            "reads_metadata": self.reads_metadata,
            "asks_with": self.asks_with,
            "echoes_skill": self.echoes_skill,
            "tenant": self.tenant,
            "chunks": self.chunks,
            "work_s": self.work_s,
            "misbehaviours": [entry.table() for entry in self.misbehaviours],
            "tenants": {
                name: {"deprovisioned": True} if inner is None else inner.table() | {"tenants": {}}
                for name, inner in self.tenants.items()
            },
        }


def _binding(table: Table) -> str:
    binding = table.text("binding", "JSONRPC", one_of=BINDINGS)
    if binding == "HTTP+JSON" and table.take("dialect", "1.0") not in ("1.0", "0.3"):
        table.refuse("binding", "a binding of the dialect: HTTP+JSON is spoken from 0.3 on")
    return binding


def _judge_binding(spec: AgentSpec, table: Table) -> None:
    """Refuse what could not act over the binding: a misbehaviour that does nothing would be a silent default."""
    for entry in spec.misbehaviours:
        if spec.binding not in BEHAVIOURS[entry.name].bindings:
            where = " or ".join(BEHAVIOURS[entry.name].bindings)
            table.refuse("misbehaviours", f"a list without {entry.name!r}, which acts over {where}")
    if spec.tenants and spec.binding != "JSONRPC":
        table.refuse("tenants", "left out over HTTP+JSON: a gateway fronts agents over JSON-RPC")


def _skills(table: Table) -> tuple[SkillSpec, ...]:
    if "skills" not in table:
        return (SkillSpec(id="summarize"),)
    found = []
    for entry in table.tables("skills"):
        found.append(
            SkillSpec(id=entry.text("id"), inputs=entry.texts("inputs", ()), outputs=entry.texts("outputs", ()))
        )
        entry.done()
    return tuple(found)


def _misbehaviour(table: Table) -> Misbehaviour:
    name = table.text("name")
    if name not in BEHAVIOURS:
        raise Misuse(f"{table.where}.name: no misbehaviour is called {name!r}{nearest(name, BEHAVIOURS)}", name=name)
    behaviour = BEHAVIOURS[name]
    options = {option.name: option.read(table) for option in behaviour.options}
    on, min_bytes = "any", 0
    if behaviour.filters:
        on = table.text("on", "any", one_of=("send", "stream", "any"))
        min_bytes = table.integer("min_bytes", 0)
    table.done()
    return Misbehaviour(name=name, on=on, min_bytes=min_bytes, options=options)


def _tenant(name: str, gateway: object, inner: Table) -> AgentSpec | None:
    """A tenant has what its own table says, and else what the gateway's says; its misbehaviours are its own."""
    if inner.flag("deprovisioned", False):
        inner.done()
        return None
    assert isinstance(gateway, Mapping)  # the gateway's own table was read before its tenants
    own = {key: value for key, value in inner.rest().items() if key != "deprovisioned"}
    shared = {
        key: value for key, value in gateway.items() if key not in ("tenants", "misbehaviours", "purpose", "expects")
    }
    return AgentSpec.parse(name, shared | own, inner.where)
