"""The monoid operators by NumPy's names: `grb_tile.monoid.numpy.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("monoid", globals(), prefix="numpy")
