"""Several element-wise operations over full vectors, and sums or maxima of their results, as one pass over the data.

A function of symbols is traced once for each arrangement of its operands into a Program, a few typed expressions
(operators/ir.py).  A device backend compiles the Program to one kernel; a host runs it in chunks that stay in cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

from ..backends.select import current
from ..dtypes import FP32, FP64
from ..exceptions import DimensionMismatch
from ..operators.ir import Node, argument, constant
from ..operators.to_cuda import statements
from ..storage.store import BitmapVector, SparseVector

VECTORS = BitmapVector, SparseVector
MOST = {"vectors": 6, "scalars": 3, "outputs": 3, "sums": 4}  # of a pass: arguments of the device's kernel


class Symbol:
    """What stands for an operand, or for the result of an operation, while a function is traced."""

    def __init__(self, nodes: list[Node], node: Node) -> None:
        self._nodes, self.node = nodes, node
        nodes.append(node)

    def _made(self, primitive: str, *operands: Any) -> Symbol:
        """The result of a primitive of operators/primitives.py."""
        return Symbol(self._nodes, Node(primitive, FP64, tuple(map(self._operand, operands))))

    def _operand(self, x: Any) -> Node:
        if isinstance(x, Symbol):
            return x.node
        if not math.isfinite(x):
            raise ValueError(f"a pass has finite constants, got {x}; give it as an operand")
        return Symbol(self._nodes, constant(float(x), FP64)).node

    def __add__(self, other: Any) -> Symbol:
        return self._made("add", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return self._made("add", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return self._made("sub", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return self._made("sub", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return self._made("mul", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return self._made("mul", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return self._made("cdiv", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return self._made("cdiv", other, self)

    def __neg__(self) -> Symbol:
        return self._made("neg", self)

    def __abs__(self) -> Symbol:
        return self._made("abs", self)

    def sqrt(self) -> Symbol:
        return self._made("sqrt", self)

    def min(self, other: Any) -> Symbol:
        return self._made("fmin", self, other)

    def max(self, other: Any = None) -> Any:
        """The greater one at each position; without an operand the maximum over all positions, -inf of none."""
        return Sum(self.node, "max") if other is None else self._made("fmax", self, other)

    def __bool__(self) -> bool:
        raise TypeError("a pass is traced once for all values, so it cannot branch on one; use min(), max() or abs()")

    def sum(self) -> Sum:
        """The sum over all positions, in FP64."""
        return Sum(self.node, "plus")


class Sum:
    """A result over all positions, by the monoid "plus" or "max" in FP64."""

    def __init__(self, node: Node, monoid: str) -> None:
        self.node, self.monoid = node, monoid


class Program:
    """vectors, scalars: how many; outputs, sums: expressions (operators/ir.py) over the vectors and then the scalars as
    arguments; monoids: "plus" or "max" of each sum; order: "y" or "t" for each result; nodes: all of the expressions,
    operands before their users.

    The expressions are traced in FP64, which stands for the type of the vectors.
    """

    def __init__(self, function: Callable[..., Any], kinds: str) -> None:
        self.vectors, self.scalars = kinds.count("x"), kinds.count("s")
        positions = {"x": count(), "s": count(self.vectors)}
        self.nodes: list[Node] = []
        results = function(*(Symbol(self.nodes, argument(next(positions[kind]), FP64)) for kind in kinds))
        results = results if isinstance(results, tuple) else (results,)
        for result in results:
            if not isinstance(result, (Symbol, Sum)):
                raise TypeError(f"{function.__name__}: expected a result computed from its operands, got {result!r}")
        self.order = "".join("t" if isinstance(result, Sum) else "y" for result in results)
        self.outputs = tuple(result.node for result in results if isinstance(result, Symbol))
        self.sums = tuple(result.node for result in results if isinstance(result, Sum))
        self.monoids = tuple(result.monoid for result in results if isinstance(result, Sum))
        for name, most in MOST.items():
            have = getattr(self, name)
            have = have if isinstance(have, int) else len(have)
            if have > most:
                raise ValueError(f"{function.__name__}: {have} {name}, and a pass has {most} at most; make two of it")

    @cached_property
    def cuda_text(self) -> str:
        """`struct Pass`, the functor of kernels/elementwise/one_pass.cuh."""
        arguments = [f"x[{k}]" for k in range(self.vectors)] + [f"s[{k}]" for k in range(self.scalars)]
        lines, text = statements(self.nodes, arguments, lambda node: True, "T")
        lines += [f"    y[{k}] = {text[id(node)]};" for k, node in enumerate(self.outputs)]
        lines += [f"    t[{k}] = double({text[id(node)]});" for k, node in enumerate(self.sums)]
        maxima = sum(1 << k for k, monoid in enumerate(self.monoids) if monoid == "max")
        counts = f"VECTORS = {self.vectors}, OUTPUTS = {len(self.outputs)}, SUMS = {len(self.sums)}, MAXIMA = {maxima}"
        return (
            f"struct Pass {{\n  static constexpr int {counts};\n  template <class T> __device__ __forceinline__ static "
            "void run(const T* x, const T* s, T* y, double* t) {\n" + "\n".join(lines) + "\n  }\n};\n"
        )


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


class Held(NamedTuple):
    """What stands for the sums of a Total whose number is the one value of `store`, on a device."""

    store: BitmapVector


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
