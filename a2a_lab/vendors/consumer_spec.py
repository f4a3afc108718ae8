"""What a consumer of the lab is, as read from its table of a matrix file: an intent plus habits."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from a2a_lab.vendors.spec import BINDINGS, JSON, TEXT
from a2a_lab.vendors.tables import Table, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSpec:
    """A consumer: what it wants, what it could send instead (in order of preference), and its habits.

    `wait` says how it learns the outcome: a blocking send, polling, or the stream. `requires` are capabilities,
    `supports` protocol versions in order of preference, `bindings` those it can call over, `payload_bytes` the least
    size of a payload.
    `tenant` is selected by header X-Tenant, by path prefix or by query, as `tenant_by` says; `topology` is as in R7.
    The last block is the operator's policy for this consumer in the enforcing posture.
    """

    name: str
    mode: str = TEXT
    skill: str | None = "summarize"
    stream: bool = False
    can_send: tuple[str, ...] = (TEXT,)
    accepts: tuple[str, ...] = (TEXT, JSON)
    requires: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    wait: Literal["block", "poll", "stream"] = "block"
    supports: tuple[str, ...] = ("1.0", "0.3")
    bindings: tuple[str, ...] = ("JSONRPC",)
    payload_bytes: int = 1000
    tenant: str | None = None
    tenant_by: Literal["header", "path", "query"] = "header"
    topology: Literal["auto", "direct", "gateway"] = "auto"
    probe: Literal["strict", "lenient"] = "strict"
    control_probe: bool = False
    signature_policy: Literal["prefer", "require"] = "prefer"
    drift: Literal["fail-closed", "renegotiate", "once"] = "fail-closed"
    max_renegotiations: int = 1

    @classmethod
    def parse(cls, name: str, data: object, where: str) -> ConsumerSpec:
        """Read a consumer's table. `where` is its file and dotted path; raises Misuse."""
        table = Table(data, where)
        mode, stream = table.text("mode", TEXT), table.flag("stream", False)
        wait = table.text("wait", "stream" if stream else "block", one_of=("block", "poll", "stream"))
        if (wait == "stream") is not stream:
            table.refuse("wait", "in agreement with stream: a consumer that streams waits on the stream, no other does")
        can_send = table.texts("can_send", (mode,), empty=False)
        if mode not in can_send:
            table.refuse("can_send", f"a list with the consumer's own mode {mode!r} in it")
        spec = cls(
            name=name,
            mode=mode,
            skill=table.text("skill", "summarize") or None,
            stream=stream,
            can_send=can_send,
            accepts=table.texts("accepts", (TEXT, JSON)),
            requires=table.texts("requires", ()),
            extensions=table.texts("extensions", ()),
            wait=wait,  # type: ignore[arg-type]  # one_of checked it, here and below
            supports=table.texts("supports", ("1.0", "0.3"), empty=False),
            bindings=_bindings(table),
            payload_bytes=table.integer("payload_bytes", 1000),
            tenant=table.text("tenant", "") or None,
            tenant_by=table.text("tenant_by", "header", one_of=("header", "path", "query")),  # type: ignore[arg-type]
            topology=table.text("topology", "auto", one_of=("auto", "direct", "gateway")),  # type: ignore[arg-type]
            probe=table.text("probe", "strict", one_of=("strict", "lenient")),  # type: ignore[arg-type]
            control_probe=table.flag("control_probe", False),
            signature_policy=table.text("signature_policy", "prefer", one_of=("prefer", "require")),  # type: ignore[arg-type]
            drift=table.text("drift", "fail-closed", one_of=("fail-closed", "renegotiate", "once")),  # type: ignore[arg-type]
            max_renegotiations=table.integer("max_renegotiations", 1),
        )
        table.done()
        return spec

    def table(self) -> dict[str, Any]:
        """The table that `parse` reads this consumer from again."""
        shown: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "name"}
        shown |= {"skill": self.skill or "", "tenant": self.tenant or ""}
        return {key: list(value) if isinstance(value, tuple) else value for key, value in shown.items()}


def _bindings(table: Table) -> tuple[str, ...]:
    bindings = table.texts("bindings", ("JSONRPC",), empty=False)
    for name in bindings:
        if name not in BINDINGS:
            table.refuse("bindings", f"a list of {', '.join(map(repr, BINDINGS))}{nearest(name, BINDINGS)}")
    return bindings
