"""SuiteSparse's own semiring operators: `grb_tile.semiring.ss.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("semiring", globals(), prefix="ss")
