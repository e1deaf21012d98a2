"""What a loop reads and what it may change, and the signature of these: all on which a captured turn depends."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.matrix import Matrix
from ..core.number import Number
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..exceptions import CaptureError
from .names import NUMBERS, UNDEFINED, is_matrix, value_of
from .rewrite import RUN

_FIXED = (  # never change
    "grb_tile.operators", "grb_tile.dtypes", "grb_tile.core.aggregate", "grb_tile.core.updater",
    "grb_tile.graph.passes",
)  # fmt: skip
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
        self._seen: set[int] = set()
        for function in (test, body):
            self._names_of(function)
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

    def _names_of(self, function):
        """Collect what a function's free names stand for, and those of the functions that it calls."""
        if id(function) in self._seen:
            return
        self._seen.add(id(function))
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        found = [(name, value_of(lambda cell=cell: cell.cell_contents)) for name, cell in cells]
        scope = function.__globals__
        found += [(name, scope[name]) for name in global_names(code) if name in scope]
        for name, value in found:
            if isinstance(value, types.ModuleType) or getattr(builtins, name, self) is value or name == RUN:
                continue
            self.read.append((name, value))
            if isinstance(value, types.FunctionType) and not _is_of_the_library(value):
                self._names_of(value)
                given = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
                self.read += [(f"{name}'s default", x) for x in given]

    def signature(self) -> tuple:
        """Everything on which a captured turn depends.  Raises: CaptureError for what may change unseen."""
        every = [*zip(self.names, self._met(self.values), strict=True), *self.read]
        order = {id(vector): k for k, vector in enumerate(self.vectors)}
        return tuple((name, *_kind(name, value, order, k < len(self.names))) for k, (name, value) in enumerate(every))


def _is_of_the_library(function):
    """Is it a function of the library that reads nothing which may change?  Steps of algorithms/ are closures."""
    module = function.__module__ or ""
    return module.startswith("grb_tile") and not module.startswith("grb_tile.algorithms")


def is_fixed(value: Any) -> bool:
    """Is it told by its identity, as a type is, or a function of the library?"""
    if isinstance(value, types.FunctionType):
        return _is_of_the_library(value)
    if isinstance(value, types.BuiltinFunctionType):
        return value.__self__ is None or isinstance(value.__self__, types.ModuleType)
    if isinstance(value, (type, types.ModuleType, types.MethodType)):  # a method is RUN's
        return True
    return type(value).__module__.startswith(_FIXED)


def global_names(code: types.CodeType) -> dict[str, None]:
    """The names of a function's code and of the functions within it that may be global ones."""
    names = dict.fromkeys(code.co_names)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            names.update(dict.fromkeys(global_names(inner)))
    return names


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
    if (
        isinstance(value, type)
        or isinstance(value, types.BuiltinFunctionType)
        and (value.__self__ is None or isinstance(value.__self__, types.ModuleType))
    ):
        return "code", id(value)
    if isinstance(value, tuple) and all(isinstance(x, _PLAIN) for x in value):
        return "tuple", repr(value)
    if type(value).__module__.startswith(_FIXED):
        return "object", id(value)
    raise CaptureError(
        f"programs: the loop reads `{name}`, of type {type(value).__name__}, which may change between calls unseen: "
        "give what it needs of it a name of its own (a number, a Vector, a Matrix)"
    )
