"""The select operators: `grb_tile.select.<name>`, built on first use (see grb_tile/operators/table.py)."""

from functools import partial as _partial
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..operators import SelectOp as _class, from_string as _from_string
from ..operators.namespaces import module_hooks as _module_hooks

register_new = _class.register_new
register_anonymous = _class.register_anonymous
from_string = _partial(_from_string, kind="select")
if _TYPE_CHECKING:
    from . import ss as ss

    def __getattr__(name: str) -> _class: ...
else:
    __getattr__, __dir__ = _module_hooks("select", globals(), extra=("ss",))
