"""The common parts of iterations to a fixed point: the first vector, the loop, and the error at max_iter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector, dtypes, monoid, semiring, unary

from . import arguments
from .errors import ConvergenceFailure
from .given import Values
from .graph import room_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from .graph import Graph
    from .report import Report


ROUNDINGS = 16  # of a step, together: a sum of many terms rounds more than once
GREATEST_GAIN = 1e8  # with more the change of an iteration that diverges slowly would pass for rounding
NEAR = 16  # times the limit: a residual falls by less than that in a step, as a rule


def limits(tol: Any, max_iter: Any) -> tuple[float, int]:
    """(tol, max_iter) checked: a finite number >= 0 and an int >= 0."""
    count = arguments.limit(max_iter, "max_iter")
    if count is None:
        raise ValueError("max_iter: None would never end; give a number of iterations, 100 is usual")
    number = arguments.real(tol, "tol")
    if number < 0:
        raise ValueError(f"tol: expected 0 or more, got {number}")
    return number, count


def checked(G: Any, name: str, each: int, tol: Any, max_iter: Any, weighted: bool) -> tuple[Graph, float, int, Any]:
    """(G as a Graph, tol, max_iter, the semiring of a step): plus.times where the weights count, plus.second else.

    name, each: of graph.room_for.
    """
    G = room_for(G, name, each)
    tol, max_iter = limits(tol, max_iter)
    check_weights(G, weighted)
    return G, tol, max_iter, (semiring.plus_times if weighted else semiring.plus_second)[dtypes.FP64]


def given_vector(values: Values, name: str, G: Graph, dtype: Any) -> Vector:
    """The numbers of a Vector, a dict {node: number} or a sequence of n numbers, as a Vector of size n.

    Nodes of a dict are labels or numbers (`arguments.node`); two keys that name one node are refused.

    Raises: TypeError for what is none of these, ValueError for another size.
    """
    n = G.n
    if isinstance(values, Mapping):
        numbers = [arguments.node(key, G, f"{name}, key {key!r}") for key in values]
        if len(set(numbers)) < len(numbers):
            twice = Counter(numbers).most_common(1)[0][0]
            raise ValueError(f"{name}: two keys name the node {G.label(twice)!r}; leave one out")
        given = Vector.from_coo(numbers, _floats(list(values.values()), name), dtype, size=n)
    elif isinstance(values, Vector):
        given = values.dup(dtype)
    else:
        given = Vector.from_dense(_floats(values, name), dtype=dtype)
    if given.size != n:
        raise ValueError(f"{name}: expected {n} places, one per node, got {given.size}")
    return given


def _floats(values: Any, name: str) -> np.ndarray:
    try:
        found = np.asarray(values)
        text = found.dtype.kind in "USVc"  # which NumPy reads as real numbers
        found = found if text else found.astype(np.float64)
    except (TypeError, ValueError):
        text = True
    if text or found.ndim != 1:
        raise TypeError(f"{name}: expected a Vector, a dict {{node: number}} or a sequence of numbers, got {values!r}")
    return found


def vector(values: Values | None, name: str, G: Graph, default: float) -> Vector:
    """`values` (a Vector, dict or array of n finite numbers) as a full FP64 vector; vertices left out have 0.

    Where `values` is None, every vertex has `default`.
    """
    full = Vector.from_scalar(default if values is None else 0.0, G.n, dtypes.FP64, name=name)
    if values is None:
        return full
    given = given_vector(values, name, G, dtypes.FP64)
    at, x = given.to_coo()
    if not np.isfinite(x).all():
        bad = int(np.argmin(np.isfinite(x)))
        raise ValueError(f"{name}: expected finite numbers, got {x[bad]} for node {at[bad]}")
    # v<given> = given
    full(given.S) << given
    return full


def start(nstart: Values | None, G: Graph, default: float) -> Vector:
    """`vector` for the first x of an iteration without another term.  Raises: ValueError where all numbers are 0."""
    x = vector(nstart, "nstart", G, default)
    if G.n and norm(x) == 0:
        raise ValueError("nstart: all numbers are 0, from which no iteration leads away; give one that is not")
    return x


def check_weights(G: Graph, weighted: bool) -> None:
    """Refuse weights with which an iteration cannot converge: complex, NaN, infinite."""
    if not weighted:
        return
    if G.A.dtype.np_type.kind not in "biuf":
        raise TypeError(f"weighted=True: weights must be real, got {G.A.dtype.name}; take unary.abs(A) first")
    if G.A.dtype.np_type.kind == "f" and G.A.nvals:
        total = float(unary.abs(G.A).new().reduce_scalar(monoid.plus[dtypes.FP64]).new().value)
        if not np.isfinite(total):
            raise ValueError(
                f"weighted=True: the absolute weights sum to {total}; give finite weights, or pass weighted=False"
            )


class Noise:
    """Is the change of an iteration all rounding, so that no step will bring it below a finer tolerance?

    It is where it did not fall and is at most ROUNDINGS eps |x|_1 gain, eps being that of x's type.

    gain   by how much errors outgrow the rounding of one step: 1 / (1 - rate), or a function of |x|_1
    """

    def __init__(self, gain: float | Callable[[float], float]) -> None:
        self._gain = gain
        self._last = np.inf

    def is_all(self, residual: float, state: Any) -> bool:
        """Ask after each step, with its change and its result x, or a sequence that begins with it."""
        fell, self._last = residual < self._last, residual
        return not fell and residual <= self.level(state) < np.inf  # a sum that overflows measures nothing

    def level(self, state: Any) -> float:
        """ROUNDINGS eps |x|_1 gain"""
        x = state if isinstance(state, (Vector, Matrix)) else state[0]
        size = unary.abs(x).new()
        if isinstance(size, Vector):
            total = float(size.reduce(monoid.plus[dtypes.FP64]).new().value or 0.0)
        else:
            total = float(size.reduce_columnwise(monoid.plus).new().reduce(monoid.max).new().value or 0.0)
        gain = min(self._gain(total) if callable(self._gain) else self._gain, GREATEST_GAIN)
        return ROUNDINGS * float(np.finfo(x.dtype.np_type).eps) * total * gain


def until(
    step: Callable[[Any], tuple[Any, Any]],
    state: Any,
    limit: float,
    max_iter: int,
    report: Report,
    gain: float | Callable[[float], float] = 1.0,
) -> Any:
    """The state after steps whose change is not below `limit`, and one whose change is, or is all rounding (Noise).

    The state is the vector that is compared, or a sequence that begins with it.  limit 0: max_iter steps.
    step(state) is the next state and its change, a Total of a graph.one_pass.  On a device the change is read while it
    computes the next step, until it is near the limit; a step that was not wanted is dropped.  An infinite change ends
    the loop too.
    """
    report.finish("max_iter", False)
    waiting: list[tuple[Any, Any]] = []  # steps whose change has not been read, the oldest first
    near, noise = False, Noise(gain)
    for k in range(max_iter):
        state, change = step(state)
        waiting.append((state, change.send()))
        behind = 0 if near or report.has_callback or change.is_ready or k + 1 == max_iter else 1
        while len(waiting) > behind:
            found, change = waiting.pop(0)
            residual = change.value
            near = not residual >= NEAR * limit
            stop = report.note(residual=residual)
            if residual < limit:
                report.finish("converged", True)
            elif not np.isfinite(residual):
                report.finish("diverged", False)
            elif limit > 0 and not stop and noise.is_all(residual, found):
                report.finish("resolution", True)
            elif not stop:
                continue
            return found
    return state


def norm(x: Vector) -> float:
    """|x|_2"""
    return float(semiring.plus_times(x @ x).new().value or 0.0) ** 0.5


def require(result: Any, report: Report, tol: float, max_iter: int, strict: bool) -> Any:
    """`result`, or ConvergenceFailure where max_iter or an overflow came before the tolerance and `strict` is set."""
    if not strict or report.stopped_by not in ("max_iter", "diverged"):
        return result
    name = report.algorithm.split()[0]
    reached = "unknown" if report.residual is None else f"still {report.residual:.3g}"
    remedy = "raise max_iter or tol, or pass strict=False to be given what was reached"
    if report.stopped_by == "diverged":
        remedy = "the iteration diverges: take a smaller alpha"
    count = f"max_iter={max_iter}" if report.stopped_by == "max_iter" else str(report.iterations)
    raise ConvergenceFailure(
        f"{name}: the change is {reached} after {count} iterations (tol={tol:g}); {remedy}",
        report.iterations,
        report.residual,
        result,
    )
