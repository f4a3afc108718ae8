"""Runs benchmarks by name, or all."""

from __future__ import annotations

import sys

from tests.benchmarks import cards, cells, imports, streams, verdicts

ALL = {
    "imports": imports.main,
    "cards": cards.main,
    "streams": streams.main,
    "cells": cells.main,
    "verdicts": verdicts.main,
}

for name in sys.argv[1:] or ALL:
    if name not in ALL:
        raise SystemExit(f"no benchmark {name!r}; there are {', '.join(ALL)}")
    ALL[name]()
