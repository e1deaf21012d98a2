"""Aggregators: `grb_tile.agg.<name>`, such as sum, mean or argmax; grb_tile/core/aggregate.py defines them."""

from functools import partial as _partial
from importlib import import_module as _import_module
from typing import Any as _Any

from ..core.aggregate import Aggregator, TypedAggregator, aggregators as _aggregators, find as _find
from ..operators import from_string as _from_string
from ..spelling import no_attribute as _no_attribute

__all__ = ["Aggregator", "TypedAggregator", "from_string"]
from_string = _partial(_from_string, kind="agg")


def __getattr__(name: str) -> _Any:
    if name == "ss":
        return _import_module(".ss", __name__)
    found = None if name.startswith("__") else _find(name)
    if found is None:
        raise _no_attribute(f"module {__name__!r}", name, __dir__())
    if not found.ss:
        globals()[name] = found
    return found


def __dir__() -> list[str]:
    own = _aggregators(ss=True)  # found without `ss.`, too, with a DeprecationWarning
    return sorted({*_aggregators(), *own, "Aggregator", "TypedAggregator", "from_string", "ss"})
