"""The common parts of iterations to a fixed point: the first vector, the loop, and the error at max_iter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector, dtypes, graph, monoid, semiring, unary
from grb_tile.exceptions import CaptureError, OutOfMemory
from grb_tile.programs import Loop, on_device

from . import arguments
from .errors import ConvergenceFailure
from .given import Values
from .graph import room_for

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .graph import Graph
    from .report import Report


ROUNDINGS = 16  # of a step, together: a sum of many terms rounds more than once
GREATEST_GAIN = 1e8  # with more the change of an iteration that diverges slowly would pass for rounding
# Nodes and edges of a graph whose loop runs on the device: a step of more takes 100 us and longer, in which Python has
# queued the next one.
MOST_WORK = 1 << 23
SHORT = 4  # launches of fewer steps than that, after which an iteration whose change does not fall leaves the device
HISTORY = 1024  # steps of a launch, whose changes a vector notes
GREATEST = float(np.finfo(np.float64).max)
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


@graph.one_pass
def _note(history: Any, places: Any, limits: Any, change: Any, last: Any) -> Any:
    """history(k) = change where places(k) is 0, places - 1, and a number > 0 where limit < change < last"""
    away = abs(places).min(1.0) * 1e300
    return history.min(change + away), places - 1.0, (change - limits).min(last - change).max()


class Turns:
    """The loop of one iteration on one graph, which runs on the device from the second call on, where there is one."""

    def __init__(self, work: int) -> None:
        """work: nodes and edges of the graph."""
        self.work, self.calls = work, 0
        self.loop: Loop | None = None

    def __repr__(self) -> str:
        return f"Turns({self.work:,} nodes and edges)"

    def begins(self, report: Report) -> bool:
        """Is the loop of this call to run on the device?"""
        if report.has_callback or self.work > MOST_WORK or not on_device():
            return False
        self.calls += 1
        if self.calls == 2:
            self.loop = Loop(0, strict=True, at_once=True)
        return self.loop is not None

    def repeat(self, step: Callable, state: Sequence, count: int) -> tuple | None:
        """The state after `count` times step(*state).  None where the device cannot run them."""

        def body(*values: Any) -> Any:
            return False, tuple(_number(x) for x in step(*values))

        return self._run(body, lambda *values: True, tuple(_number(x) for x in state), count)  # noqa: ARG005

    def descend(
        self, step: Callable, state: Sequence, limit: float, last: float, most: int
    ) -> tuple[tuple, list[float]] | None:
        """(the state, its changes) after steps whose change is less than the one before, `last` at first, and not below
        the limit, and one whose is not; at most `most` and HISTORY.  None where the device cannot run them.
        """
        size = min(most, HISTORY)
        limits = Vector.from_scalar(limit, size, dtypes.FP64)
        history, places = Vector.from_scalar(np.inf, size, dtypes.FP64), Vector.from_dense(np.arange(float(size)))

        def body(*values: Any) -> Any:
            *found, change = step(*values[:-4])
            noted, following, goes = _note(*values[-4:-2], limits, change, values[-1])
            return False, (*(_number(x) for x in found), noted, following, goes.value, change.value)

        def test(*values: Any) -> Any:
            return values[-2] > 0

        values = self._run(body, test, (*(_number(x) for x in state), history, places, 1.0, last), size)
        if values is None:
            return None
        *found, history, _, _, last = values
        return tuple(found), [*history.to_dense(0.0)[: self.loop.turns - 1].tolist(), last]  # type: ignore[union-attr]

    def while_changing(self, step: Callable, x: Vector, most: int) -> tuple[Vector, list[int]] | None:
        """(x, how many places changed in each turn) after turns (x, changed) = step(x), `changed` a scalar of INT64,
        until it is 0; at most `most` and HISTORY.  None where the device cannot run them.
        """
        size = min(most, HISTORY)
        counts, places = Vector.from_scalar(0, size, dtypes.INT64), Vector.from_dense(np.arange(size))

        def body(x: Any, counts: Any, turn: Any, _: Any) -> Any:
            y, changed = step(x)
            # counts(turn) = changed
            here = (places == turn).new()
            counts(here.V) << changed
            return False, (y, counts, turn + 1, changed)

        def test(*values: Any) -> Any:
            return values[-1] != 0

        values = self._run(body, test, (x, counts, 0, 1), size)
        if values is None:
            return None
        return values[0], values[1].to_dense(0)[: self.loop.turns].tolist()  # type: ignore[union-attr]

    def _run(self, body: Callable, test: Callable, values: tuple, most: int) -> tuple | None:
        named = tuple((f"x{k}", lambda value=value: value) for k, value in enumerate(values))
        try:
            return self.loop.run(test, body, named, most, (), ())  # type: ignore[union-attr]
        except (CaptureError, OutOfMemory):
            self.loop = None
            return None


def _number(x):
    return x if isinstance(x, (Vector, float)) else x.value


def turns_of(G: Graph, name: str, *key: Any) -> Turns:
    """The Turns of that name, kept with the graph's matrix."""
    return G.keep(("turns", name, *key), lambda: Turns(G.n + G.A.nvals))


def until(
    step: Callable[..., Any],
    state: tuple,
    limit: float,
    max_iter: int,
    report: Report,
    gain: float | Callable[[float], float] = 1.0,
    turns: Turns | None = None,
) -> Any:
    """The state after steps whose change is not below `limit`, and one whose change is, or is all rounding (Noise).

    The state is a sequence that begins with the vector that is compared; others of it are vectors or Totals.  limit 0:
    max_iter steps.  step(*state) is the next state and then its change, a Total of a graph.one_pass.  On a device the
    change is read while it computes the next step, until it is near the limit; a step that was not wanted is dropped.
    An infinite change ends the loop too.

    turns: of turns_of(G): from the second call on a graph on, the device runs steps without the host as long as their
    change falls; their records then have the time at which they came back.
    """
    report.finish("max_iter", False)
    noise, left = Noise(gain), max_iter

    def ends(state: Any, residual: float) -> bool:
        stop = report.note(residual=residual)
        if residual < limit:
            report.finish("converged", True)
        elif not np.isfinite(residual):
            report.finish("diverged", False)
        elif limit > 0 and not stop and noise.is_all(residual, state):
            report.finish("resolution", True)
        else:
            return stop
        return True

    last, short = GREATEST, 0
    here = turns is not None and limit > 0 and turns.begins(report)
    while here and left and short < SHORT:
        ran = turns.descend(step, state, limit, last, left)  # type: ignore[union-attr]
        if ran is None:
            break
        state, residuals = ran
        left, last = left - len(residuals), residuals[-1]
        short += len(residuals) < SHORT
        if any(ends(state, residual) for residual in residuals):  # the last one at most
            return state
    waiting: list[tuple[Any, Any]] = []  # steps whose change has not been read, the oldest first
    near = False
    for k in range(left):
        *state, change = step(*state)
        waiting.append((state, change.send()))
        behind = 0 if near or report.has_callback or change.is_ready or k + 1 == left else 1
        while len(waiting) > behind:
            found, change = waiting.pop(0)
            residual = change.value
            near = not residual >= NEAR * limit
            if ends(found, residual):
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
