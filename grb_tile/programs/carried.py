"""What a loop reads and what it may change, and the signature of these: all on which a captured turn depends."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.matrix import Matrix
from ..core.number import Number
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..exceptions import CaptureError
from .begun import Begun
from .names import NUMBERS, UNDEFINED, is_matrix
from .reads import Reads, is_fixed
from .rewrite import RUN

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), slice, np.generic, np.dtype)


class Carried:
    """What a loop reads and what it may change: the values of the names that it binds, and the vectors it names."""

    def __init__(
        self, test: Callable, body: Callable, names: list[str], values: list, own: tuple, always: tuple,
        written: tuple = (),
    ) -> None:  # fmt: skip
        self.test, self.body, self.names, self.values, self.always = test, body, names, values, always
        self.own = [name in own for name in names]  # does a turn begin without it?
        self.read: list[tuple[str, Any]] = []  # (name, value) of all else
        self.reads = Reads(test, body)
        for name, value in zip(self.reads.names, self.reads.of(test, body, ()) or (), strict=True):
            if name != RUN:
                self.read.append((name, value))
        vectors: dict[int, Any] = {}
        every = [*zip(names, self._met(values), strict=True), *self.read]
        for k, (name, value) in enumerate(every):
            if type(value) is Vector or type(value) is Matrix and (k < len(names) or name in written):
                vectors.setdefault(id(value), value)
        self.vectors = list(vectors.values())  # and matrices that change
        matrices = [v._matrix if v._is_transposed else v for _, v in every if is_matrix(v)]
        self.fixed = [matrix for matrix in matrices if id(matrix) not in vectors]  # matrices that do not
        self.others: list[Vector] = []  # which it only reads, of a loop within another

    def divide(self, places: list[int]) -> None:
        """Only the vectors of these places are carried, the others are read."""
        self.others = [vector for k, vector in enumerate(self.vectors) if k not in places]
        self.vectors = [self.vectors[k] for k in places]

    def _met(self, values):
        """Of the values of the names those that a turn begins with."""
        return [UNDEFINED if own else value for own, value in zip(self.own, values, strict=True)]

    def signature(self) -> tuple:
        """Everything on which a captured turn depends.  Raises: CaptureError for what may change unseen."""
        if self.reads.reason is not None:
            raise CaptureError(f"programs: {self.reads.reason}: what it changes is not seen between calls")
        every = [*zip(self.names, self._met(self.values), strict=True), *self.read]
        order = {id(vector): k for k, vector in enumerate(self.vectors)}
        return tuple((name, *_kind(name, value, order, k < len(self.names))) for k, (name, value) in enumerate(every))


def told(value: Any) -> str | bytes:
    """What differs where two values of a Scalar do, as 0.0 and -0.0; of arrays, whose text is rounded, their bytes."""
    return value.tobytes() if isinstance(value, (np.ndarray, np.void)) else repr(value)


def _kind(name, value, order, bound):
    """What of a value decides on a captured turn."""
    if type(value) is Vector:
        store = value._store
        known = store.nvals_if_read
        return (
            "vector",
            order[id(value)],
            store.format,
            store.size,
            store.dtype.name,
            store.iso,
            known == 0,
            (known == store.size),
        )
    if type(value) is Number:  # of the loop around it
        return ("number",)
    if type(value) is Begun:
        value._refuse()
    if bound and type(value) in NUMBERS:
        return (type(value).__name__,)
    if is_matrix(value):
        matrix = value._matrix if value._is_transposed else value
        if id(matrix) in order:
            return "matrix that changes", value._is_transposed, order[id(matrix)], matrix.shape, matrix.dtype.name
        return "matrix", value._is_transposed, id(matrix._store)
    if isinstance(value, Scalar):
        return "scalar", value.dtype.name, told(value.value)
    if isinstance(value, _PLAIN) or value is UNDEFINED:
        return type(value).__name__, repr(value)
    if isinstance(value, types.FunctionType):
        return "function", id(value.__code__)
    if isinstance(value, tuple) and all(isinstance(x, _PLAIN) for x in value):
        return "tuple", repr(value)
    if is_fixed(value) and type(value) is not types.MethodType:
        return "object", id(value)
    if isinstance(value, types.ModuleType):
        raise CaptureError(f"programs: the loop reads the module `{name}` itself: write `{name}.x` of what it needs")
    what = "of type " + type(value).__name__
    if isinstance(value, (type, types.BuiltinFunctionType)):
        what = "whose results depend on more than values"
    raise CaptureError(
        f"programs: the loop reads `{name}`, {what}, which may change between calls unseen: "
        "give what it needs of it a name of its own (a number, a Vector, a Matrix)"
    )
