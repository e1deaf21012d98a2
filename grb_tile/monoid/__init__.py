"""The monoid operators: `grb_tile.monoid.<name>`, built on first use (see grb_tile/operators/table.py)."""

from functools import partial as _partial

from ..operators import Monoid as _class, from_string as _from_string
from ..operators.namespaces import module_hooks as _module_hooks

register_new = _class.register_new
register_anonymous = _class.register_anonymous
from_string = _partial(_from_string, kind="monoid")
__getattr__, __dir__ = _module_hooks("monoid", globals(), extra=("ss", "numpy"))
