"""Interoperability lab for the A2A (Agent2Agent) protocol."""

from __future__ import annotations

__version__ = "0.1.0"
