"""Unary and binary operators and semirings in one namespace: `grb_tile.op.<name>`, built on first use."""

from ..operators import op_from_string as from_string  # noqa: F401
from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("op", globals(), extra=("ss", "numpy"))
