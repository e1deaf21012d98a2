"""Unary and binary operators and semirings of the ss namespaces: `grb_tile.op.ss.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("op", globals(), prefix="ss")
