"""What a captured loop leaves: the values of its names, and the entries of the vectors that it carries."""

from __future__ import annotations

from typing import Any

from ..core.matrix import Matrix
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..dtypes import BOOL, FP64, INT64
from .names import period

PYTHON = {BOOL: bool, INT64: int, FP64: float}  # the numbers of a loop are of these types


def left_by(known: Any, values: Any, vectors: list, begun: list, stores: list, numbers: list, turns: int) -> tuple:
    """The values of the names after `turns` turns that began with `values`; the vectors get their entries.

    known: the Captured.  begun: the stores with which its vectors began.  stores: of its vectors and of those that
    turns make, None for one that no turn writes.  numbers: of Python or NumPy.
    """
    count, found = len(vectors), list(values)
    for k, store in zip(known.vectors, stores[count:], strict=True):
        found[k] = Vector._from_store(store) if known.shapes[k] is None else Matrix._from_store(store)
    for k, value in zip(known.numbers, numbers, strict=True):
        dtype = known.types[k]
        if known.roles[k] == "number":
            found[k] = value if type(value) is PYTHON.get(dtype) else value.item()
        else:
            found[k] = Scalar.from_value(value, dtype)
    contents = [before if store is None else store for before, store in zip(begun, stores, strict=False)]
    if known.objects:
        places = {id(vector): k for k, vector in enumerate(vectors)}
        for k, home in known.objects:
            end = k
            for _ in range(turns % period(known.next, k)):
                end = known.next[end]
            found[k] = values[end]
            if stores[home] is not None:
                contents[places[id(values[end])]] = stores[home]
    for vector, store in zip(vectors, contents, strict=True):
        vector._store = store  # one step, as elements.reset
        vector._pending = None
        vector._base = None
    return tuple(found)
