"""The semirings: `grb_tile.semiring.<name>`, built on first use (see grb_tile/operators/semiring.py)."""

from functools import partial as _partial
from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..operators import (
    Semiring as _class,
    from_string as _from_string,
    get_semiring,  # noqa: F401  part of the namespace, as in python-graphblas
)
from ..operators.namespaces import module_hooks as _module_hooks

register_new = _class.register_new
register_anonymous = _class.register_anonymous
from_string = _partial(_from_string, kind="semiring")
if _TYPE_CHECKING:
    from . import numpy as numpy, ss as ss

    def __getattr__(name: str) -> _class: ...
else:
    __getattr__, __dir__ = _module_hooks("semiring", globals(), extra=("ss", "numpy"))
