"""`gb.ss`: concat, diag, about and config, with the names and arguments of python-graphblas."""

from .core.ss import concat, diag
from .core.ss.config import about, config

_ABSENT = {
    "burble": "see gb.explain for what was decided and gb.Recorder for the calls",
    "Context": "gb.config sets what is computed with",
    "global_context": "gb.config sets what is computed with",
}


def __getattr__(name):
    if name in _ABSENT:
        raise AttributeError(f"gb.ss.{name} belongs to SuiteSparse's C library and has no counterpart: {_ABSENT[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["about", "concat", "config", "diag"]
