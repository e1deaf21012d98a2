"""SuiteSparse's own monoid operators: `grb_tile.monoid.ss.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("monoid", globals(), prefix="ss")
