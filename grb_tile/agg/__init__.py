"""Aggregators: `grb_tile.agg.<name>`, such as sum, mean or argmax; they are recipes of core (grb_tile/core/aggregate.py)."""

from functools import partial as _partial
from importlib import import_module as _import_module
from warnings import warn as _warn

from ..operators import from_string as _from_string

from_string = _partial(_from_string, kind="agg")


def _aggregators(ss=False):
    """{name: Aggregator} of core: SuiteSparse's own, or the others."""
    found = _import_module("..core.aggregate", __name__).AGGREGATORS
    return {name: op for name, op in found.items() if bool(op.ss) is ss}


def __getattr__(name):
    if name == "ss":
        return _import_module(".ss", __name__)
    if name in ("Aggregator", "TypedAggregator"):
        return getattr(_import_module("..core.aggregate", __name__), name)
    if not name.startswith("__"):
        found = _aggregators().get(name)
        if found is not None:
            globals()[name] = found
            return found
        found = _aggregators(ss=True).get(name)
        if found is not None:
            _warn(
                f"`gb.agg.{name}` is deprecated; please use `gb.agg.ss.{name}` instead. `{name}` is specific to "
                "SuiteSparse:GraphBLAS.",
                DeprecationWarning,
                stacklevel=2,
            )
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*_aggregators(), "Aggregator", "TypedAggregator", "from_string", "ss"})
