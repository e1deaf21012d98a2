"""SuiteSparse's own binary operators: `grb_tile.binary.ss.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("binary", globals(), prefix="ss")
