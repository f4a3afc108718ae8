"""What the tests of real vendors share: an environment, built or skipped with the reason, and an agent in it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from a2a_lab.errors import HarnessFault
from a2a_lab.vendors.environments import Environment, ensure_environment
from a2a_lab.vendors.ports import Ports
from a2a_lab.vendors.registry import find_vendor
from a2a_lab.vendors.served import ServedAgent, served
from a2a_lab.vendors.vendor import Vendor

# What every test run builds and meets: half a minute of building, and each differs on the wire. The others bring up to
# 0.8 GB to install or minutes to compile, and are met where somebody asks for them.
LIGHT = frozenset({"a2a-sdk-1.3", "a2a-sdk-0.3", "a2a-sdk-0.2", "fasta2a-2.1", "a2a-js-1.3", "a2a-js-0.3"})

NOT_BUILT: dict[str, str] = {}
"""Environments that this test run went without, and why; said at its end (see conftest)."""


def built_or_skipped(vendor: Vendor, **how: Any) -> Environment:
    """The environment; a machine that has not what building takes skips and says so, a broken lock fails."""
    if vendor.environment_name not in LIGHT and os.environ.get("A2A_LAB_HEAVY") != "1":
        NOT_BUILT[vendor.environment_name] = "heavy; A2A_LAB_HEAVY=1 builds it"
        pytest.skip(f"{vendor.name} is heavy; A2A_LAB_HEAVY=1 builds it")
    try:
        return ensure_environment(vendor, **how)
    except HarnessFault as fault:
        if fault.fields.get("cause") in ("tool-missing", "no-registry"):
            NOT_BUILT[vendor.environment_name] = fault.message.splitlines()[0]
            pytest.skip(f"{vendor.name} cannot be built here: {fault.message.splitlines()[0]}")
        raise


@asynccontextmanager
async def agent(name: str, *options: str, log: Path | None = None) -> AsyncIterator[ServedAgent]:
    vendor = find_vendor(name)
    environment = built_or_skipped(vendor)
    with Ports() as ports:
        async with served(vendor, environment, ports=ports, options=options, log=log) as running:
            yield running
