"""The semiring operators by NumPy's names: `grb_tile.semiring.numpy.<name>`."""

from ..operators.namespaces import module_hooks as _module_hooks

__getattr__, __dir__ = _module_hooks("semiring", globals(), prefix="numpy")
