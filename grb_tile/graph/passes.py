"""Element-wise operations over full vectors, and sums of their results, as one pass: the decorator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import tracing
from ..core.number import Number
from ..core.vector import Vector
from ..dtypes import FP64
from ..operations.one_pass import Held, Program, Total, run


def _held(number):
    return Total(Held(number.new(FP64).vector._store), 0)


class one_pass:  # noqa: N801  (a decorator)
    """Element-wise operations over full vectors, and sums or maxima of their results, as one pass over the data.

    Decorates a function of symbols, which stand for Vectors and scalars; + - * / abs() and the methods sqrt(), min(y),
    max(y) make others; x.sum() is the sum over all positions, x.max() the maximum.  Called with Vectors, numbers and
    Totals the function returns a new full Vector or a Total for each of its results.  It is traced once for each order
    of vectors and scalars, so it must not branch on values.

    On a GPU a pass is one kernel.  A Total stays there: as an operand of the next pass it is not waited for, `.value`
    reads it, `.send()` has it copied meanwhile.  A host runs the pass in chunks that stay in its cache.

    Shapes: all vectors of one size; 0 is read where one has no entry.  Types: all FP32 or all FP64, and so the results;
    scalars are cast to that type, sums are FP64.  At most 6 vectors, 3 scalars, 3 results and 4 sums.
    Raises: TypeError, ValueError, DimensionMismatch.

    >>> import grb_tile as gb
    >>> @gb.graph.one_pass
    ... def step(x, y, a):
    ...     z = a * x + y
    ...     return z, abs(z - x).sum()
    >>> z, change = step(gb.Vector.from_dense([1.0, 2.0]), gb.Vector.from_dense([3.0, 5.0]), 2)
    >>> z.to_dense().tolist(), change.value
    ([5.0, 9.0], 11.0)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._function = function
        self._programs: dict[str, Program] = {}

    def __call__(self, *operands: Vector | Total | float) -> Any:
        kinds = "".join("x" if isinstance(x, Vector) else "s" for x in operands)
        program = self._programs.get(kinds)
        if program is None:
            program = self._programs[kinds] = Program(self._function, kinds)
        given = [x._store if isinstance(x, Vector) else _held(x) if type(x) is Number else x for x in operands]
        stores, sums = run(program, self.__name__, given)
        vectors, totals, trace = iter(stores), iter(range(len(program.sums))), tracing.current()

        def total() -> Any:
            if trace is None:
                return Total(sums, next(totals))
            return trace.number(sums.value(next(totals)), FP64)  # the loop of a program runs

        found = tuple(Vector._from_store(next(vectors)) if kind == "y" else total() for kind in program.order)
        return found if len(found) > 1 else found[0]
