"""SuiteSparse's own unary operators: `grb_tile.unary.ss.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("unary", globals(), prefix="ss")
