"""Unary and binary operators and semirings of the numpy namespaces: `grb_tile.op.numpy.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("op", globals(), prefix="numpy")
