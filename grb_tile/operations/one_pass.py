"""Several element-wise operations over full vectors, and sums or maxima of their results, as one pass over the data.

A function of symbols is traced once for each arrangement of its operands; the Program that results is a list of scalar
operations, which a device backend compiles to one kernel and a host runs in chunks that stay in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..backends.select import current
from ..dtypes import FP32, FP64
from ..exceptions import DimensionMismatch
from ..storage.store import BitmapVector, SparseVector

VECTORS = BitmapVector, SparseVector
MOST = {"vectors": 6, "scalars": 3, "outputs": 3, "sums": 4}  # of a pass: arguments of the device's kernel
# name: (NumPy's function, C++ text)
FUNCTIONS: dict[str, tuple[Any, str]] = {
    "plus": (np.add, "({0} + {1})"),
    "minus": (np.subtract, "({0} - {1})"),
    "times": (np.multiply, "({0} * {1})"),
    "truediv": (np.divide, "({0} / {1})"),
    "min": (np.fmin, "fmin({0}, {1})"),
    "max": (np.fmax, "fmax({0}, {1})"),
    "ainv": (np.negative, "(-{0})"),
    "abs": (np.abs, "fabs({0})"),
    "sqrt": (np.sqrt, "sqrt({0})"),
}


class Symbol:
    """What stands for an operand, or for the result of an operation, while a function is traced."""

    def __init__(self, steps: list[tuple], ref: tuple) -> None:
        self._steps, self.ref = steps, ref

    def _step(self, name: str, *operands: Any) -> Symbol:
        refs = tuple(_ref(x) for x in operands)
        self._steps.append((name, refs))
        return Symbol(self._steps, ("v", len(self._steps) - 1))

    def __add__(self, other: Any) -> Symbol:
        return self._step("plus", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return self._step("plus", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return self._step("minus", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return self._step("minus", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return self._step("times", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return self._step("times", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return self._step("truediv", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._step("truediv", other, self)

    def __neg__(self) -> Symbol:
        return self._step("ainv", self)

    def __abs__(self) -> Symbol:
        return self._step("abs", self)

    def sqrt(self) -> Symbol:
        return self._step("sqrt", self)

    def min(self, other: Any) -> Symbol:
        return self._step("min", self, other)

    def max(self, other: Any = None) -> Any:
        """The greater one at each position; without an operand the maximum over all positions, -inf of none."""
        return Sum(self.ref, "max") if other is None else self._step("max", self, other)

    def __bool__(self) -> bool:
        raise TypeError("a pass is traced once for all values, so it cannot branch on one; use min(), max() or abs()")

    def sum(self) -> Sum:
        """The sum over all positions, in FP64."""
        return Sum(self.ref, "plus")


class Sum:
    """A result over all positions, by the monoid "plus" or "max" in FP64."""

    def __init__(self, ref: tuple, monoid: str) -> None:
        self.ref, self.monoid = ref, monoid


class Program:
    """vectors, scalars: how many; steps [(name, operands)]; outputs, sums: operands; monoids: "plus" or "max" of each
    sum; functions: what the names mean.

    An operand is ("x", k) a vector, ("s", k) a scalar, ("c", number), ("v", k) the result of step k.
    """

    functions = FUNCTIONS

    def __init__(self, function: Callable[..., Any], kinds: str) -> None:
        steps: list[tuple] = []
        self.vectors, self.scalars = kinds.count("x"), kinds.count("s")
        seen = {"x": 0, "s": 0}
        given = []
        for kind in kinds:
            given.append(Symbol(steps, (kind, seen[kind])))
            seen[kind] += 1
        results = function(*given)
        results = results if isinstance(results, tuple) else (results,)
        for result in results:
            if not isinstance(result, (Symbol, Sum)):
                raise TypeError(f"{function.__name__}: expected a result computed from its operands, got {result!r}")
        self.steps = tuple(steps)
        self.order = "".join("t" if isinstance(result, Sum) else "y" for result in results)
        self.outputs = tuple(result.ref for result in results if isinstance(result, Symbol))
        self.sums = tuple(result.ref for result in results if isinstance(result, Sum))
        self.monoids = tuple(result.monoid for result in results if isinstance(result, Sum))
        for name, most in MOST.items():
            count = getattr(self, name)
            count = count if isinstance(count, int) else len(count)
            if count > most:
                raise ValueError(f"{function.__name__}: {count} {name}, and a pass has {most} at most; make two of it")

    @cached_property
    def cuda_text(self) -> str:
        """`struct Pass`, the functor of kernels/elementwise/one_pass.cuh."""

        def text(ref):
            kind, k = ref
            return f"T({k!r})" if kind == "c" else f"v{k}" if kind == "v" else f"{kind}[{k}]"

        lines = [
            f"const T v{k} = T({FUNCTIONS[name][1].format(*map(text, refs))});"
            for k, (name, refs) in enumerate(self.steps)
        ]
        lines += [f"y[{k}] = {text(ref)};" for k, ref in enumerate(self.outputs)]
        lines += [f"t[{k}] = double({text(ref)});" for k, ref in enumerate(self.sums)]
        maxima = sum(1 << k for k, monoid in enumerate(self.monoids) if monoid == "max")
        counts = f"VECTORS = {self.vectors}, OUTPUTS = {len(self.outputs)}, SUMS = {len(self.sums)}, MAXIMA = {maxima}"
        return (
            f"struct Pass {{\n  static constexpr int {counts};\n  template <class T> __device__ __forceinline__ static "
            "void run(const T* x, const T* s, T* y, double* t) {\n    " + "\n    ".join(lines) + "\n  }\n};\n"
        )


def _ref(x: Any) -> tuple:
    if isinstance(x, Symbol):
        return x.ref
    if not math.isfinite(x):
        raise ValueError(f"a pass has finite constants, got {x}; give it as an operand")
    return "c", float(x)


class Total:
    """A sum or maximum of a pass: `.value`; it may be an operand of the next pass, which waits for nothing."""

    def __init__(self, sums: Any, k: int) -> None:
        self.sums, self.k = sums, k

    @property
    def value(self) -> float:
        """The number as a float; on a device this waits for the pass."""
        return self.sums.value(self.k)

    @property
    def is_ready(self) -> bool:
        """Is the number on the host, so that `value` waits for nothing?"""
        return self.sums.is_ready()

    def send(self) -> Total:
        """Have the number copied to the host as soon as it is there, so that `value` need not wait for later work."""
        self.sums.send()
        return self

    def __repr__(self) -> str:
        return f"Total({self.value!r})"


def run(program: Program, name: str, operands: list[Any]) -> tuple[list[Any], Any]:
    """(stores of the outputs, sums) of stores and scalars in the order of the program's operands."""
    stores = [x for x in operands if isinstance(x, VECTORS)]
    if not stores:
        raise TypeError(f"{name}: expected one Vector at least; a pass has the size of its vectors")
    size, dtype = stores[0].size, stores[0].dtype
    for store in stores:
        if store.dtype is not dtype or dtype not in (FP32, FP64):
            raise TypeError(
                f"{name}: expected vectors all of FP32 or all of FP64, got {[x.dtype.name for x in stores]}; cast them "
                "with v.dup(dtype)"
            )
        if store.size != size:
            raise DimensionMismatch(f"{name}: the vectors have the sizes {[x.size for x in stores]}")
    scalars = [x if isinstance(x, Total) else _number(name, x) for x in operands if not isinstance(x, VECTORS)]
    return current().one_pass(program, dtype, size, scalars, *stores)


def _number(name: str, x: Any) -> float:
    try:
        return float(x + 0)  # text has no sum
    except (TypeError, ValueError):
        raise TypeError(
            f"{name}: expected Vectors, real numbers and Totals, got {type(x).__name__}; make a Vector of an "
            "expression with .new()"
        ) from None
