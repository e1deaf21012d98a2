"""SuiteSparse's own select operators: `grb_tile.select.ss.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("select", globals(), prefix="ss")
