"""SuiteSparse's own aggregators: `grb_tile.agg.ss.<name>`: argmax, argmin, first, first_index, last, last_index."""


def __getattr__(name):
    if not name.startswith("__"):
        from . import _aggregators

        found = _aggregators(ss=True).get(name)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    from . import _aggregators

    return sorted(_aggregators(ss=True))
