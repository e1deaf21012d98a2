"""`graphblas.core.utils`: where programs written for python-graphblas take `output_type` and `ensure_type` from."""

from typing import Any

import numpy as np

from .arguments import output_type
from .lines import normalize_chunks

_NP2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def ensure_type(x: Any, types: type | tuple[type, ...]) -> Any:
    """`x` if it is an instance of `types`; the value of an expression whose `output_type` is among `types`.

    It computes whatever the option `autocompute` is.  Raises: TypeError for anything else.
    """
    if isinstance(x, types):
        return x
    if output_type(x) in (types if isinstance(types, tuple) else (types,)):
        return x.new()
    raise TypeError(f"{type(x).__name__!r} object is not of type {types}")


__all__ = ["ensure_type", "normalize_chunks", "output_type"]
