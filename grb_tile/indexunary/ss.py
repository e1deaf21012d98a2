"""SuiteSparse's own indexunary operators: `grb_tile.indexunary.ss.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("indexunary", globals(), prefix="ss")
