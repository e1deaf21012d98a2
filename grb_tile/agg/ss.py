"""SuiteSparse's own aggregators: `grb_tile.agg.ss.<name>`: argmax, argmin, first, first_index, last, last_index."""

from ..core.aggregate import aggregators as _aggregators
from ..spelling import no_attribute as _no_attribute


def __getattr__(name):
    found = _aggregators(ss=True).get(name)
    if found is None:
        raise _no_attribute(f"module {__name__!r}", name, __dir__())
    globals()[name] = found
    return found


def __dir__():
    return sorted(_aggregators(ss=True))
