"""Everything the lab can say: the catalogue of findings, complete.

A finding stands beside the rule that makes it, so the catalogue is whole only once every such module was loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from a2a_lab.verdicts import CATALOGUE, FindingKind

_LAYERS = ("core", "wire", "judge")


def catalogue() -> Mapping[str, FindingKind]:
    """Every finding of the rules by its slug, in alphabetical order."""
    for layer in _LAYERS:
        package = import_module(f"a2a_lab.{layer}")
        for module in iter_modules(package.__path__):
            import_module(f"a2a_lab.{layer}.{module.name}")
    return MappingProxyType(dict(sorted(CATALOGUE.items())))
