"""Runs a built vendor's verifier once over a signed card, and reads the one line that it ends with.

What it says is what a user of that SDK would be told, and no verdict: an SDK may pass a signature that leaves out what
a client depends on.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.environments import Environment
from a2a_lab.vendors.running import Running
from a2a_lab.vendors.vendor import Vendor, filled

CAP_S = 120.0  # a first import of a heavy framework, on a loaded machine
KEYS = {"ok", "read", "error"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What an SDK says of a card: whether its client could read it, whether a signature passed, and the error."""

    ok: bool
    read: bool
    error: str | None

    @property
    def told(self) -> str:
        return "verifies" if self.ok else "fails" if self.read else "unreadable"


async def run_verifier(
    vendor: Vendor, environment: Environment, *, card: Path, key: Path, cap_s: float = CAP_S
) -> Verified:
    """Let the vendor's SDK verify the card with the public key. Raises HarnessFault with field `step` "verify"."""
    values = {**environment.places(vendor), "card": str(card.resolve()), "key": str(key.resolve())}
    process = Running()
    try:
        await process.start(filled(vendor.verifier, values), {})
        try:
            async with asyncio.timeout(cap_s):
                await process.wait()
        except TimeoutError:
            raise _fault(vendor, process, f"did not end within {cap_s:g} s") from None
    finally:
        await asyncio.shield(process.stop())
    told = next((found for line in process.output.text().splitlines() if (found := _line(line)) is not None), None)
    if told is None:
        raise _fault(vendor, process, process.problem or f"ended with {process.exit_status} and without a result")
    return Verified(ok=told["ok"] is True, read=told["read"] is True, error=told["error"])


def _line(line: str) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) and told.keys() == KEYS else None


def _fault(vendor: Vendor, process: Running, what: str) -> HarnessFault:
    return HarnessFault(
        f"the verifier of {vendor.name} {what}; the end of what it printed:\n{process.output.last_lines()}",
        vendor=vendor.name,
        step="verify",
    )
