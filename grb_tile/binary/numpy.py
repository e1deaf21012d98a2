"""The binary operators by NumPy's names: `grb_tile.binary.numpy.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("binary", globals(), prefix="numpy")
