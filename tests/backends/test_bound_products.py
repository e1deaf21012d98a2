"""Products that are bound to a matrix (bind_mxv of backends/planned.py): random sequences of calls on one matrix, where
one thing changes from call to call, against the reference backend on fresh operands.

Types, forms and orientations of the operands, mask (kind, form, none, all or no positions), accumulator, replace, the
type of the output, a forced plan, the matrix written to between two calls.
"""

import contextlib

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends import planned
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.planner import tuning
from grb_tile.storage.convert import cached_transpose
from support.library import engine
from support.seeds import generator

N = 90
CALLS = 60
SEMIRINGS = ("any_pair", "plus_times", "min_plus", "plus_second", "max_first", "plus_pair")
AXES = {
    "semiring": SEMIRINGS,
    "side": ("mxv", "mxv of A'", "vxm", "vxm of A'"),
    "form": ("list", "bitmap", "full", "iso", "empty", "last"),
    "dtype": ("FP64", "INT64", "INT8", "BOOL"),
    "mask": ("none", "S", "~S", "V", "~V"),
    "mask form": ("list", "bitmap", "full", "iso", "empty"),
    "accum": (None, None, "plus", "min"),
    "replace": (True, False),
    "output": ("FP64", "INT64", "BOOL"),
    "plan": (None, None, None, "rows", "cols"),
}


@contextlib.contextmanager
def compiled():
    """Kernels are waited for, and no plan is forced, as an engine would be."""
    before = jit.mode()
    jit.set_mode("always")
    try:
        with engine("default"):
            yield
    finally:
        jit.set_mode(before)


BACKENDS = {"cpu": lambda: engine("default"), "compiled": compiled, "emulation": using_shim}


def vector(rng, form, dtype):
    """Entries of a vector of N places: (positions, values or one value, dtype)."""
    share = {"list": 0.05, "bitmap": 0.6, "full": 2, "iso": 0.5, "empty": 0}[form]
    at = np.flatnonzero(rng.random(N) < share)
    values = 3 if form == "iso" and at.size else rng.integers(0, 5, at.size)
    return at, values, dtype


def made(given):
    at, values, dtype = given
    return gb.Vector.from_coo(at, values, dtype, size=N) if at.size else gb.Vector(dtype, N)


def call(A, out, x, mask, chosen):
    side, op = chosen["side"], getattr(gb.semiring, chosen["semiring"])
    E = A.T if side.endswith("'") else A
    expression = E.mxv(x, op) if side.startswith("mxv") else x.vxm(E, op)
    M = None if chosen["mask"] == "none" else mask.S if "S" in chosen["mask"] else mask.V
    M = ~M if chosen["mask"][0] == "~" else M
    target = out if M is None and chosen["accum"] is None else out(
        *(() if M is None else (M,)), accum=chosen["accum"], replace=chosen["replace"] and M is not None
    )  # fmt: skip
    target << expression


def plain(v):
    return [v.dtype.name, *(part.tolist() for part in v.to_coo())]


def bound_calls(A):
    """How many prepared functions A and its transpose have."""
    store = A._store
    stores = [store, *(s for s in (cached_transpose(store),) if s is not None)]
    stores += [form for s in stores for form in (s.forms or {}).values() if hasattr(form, "indptr")]
    return sum(len((s.forms or {}).get("bound", ())) for s in {id(s): s for s in stores}.values())


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_thing_changes_from_call_to_call(backend, seed, monkeypatch):
    """seed 0, 1: the planner takes the matrix for small; 2, 3: it compares costs."""
    if seed >= 2:
        for name in ("CPU_SMALL_MATRIX", "GPU_SMALL_MATRIX", "GPU_UNCOUNTED"):
            monkeypatch.setattr(tuning, name, 0)
    rng = generator("bound products", seed)
    i, j = rng.integers(0, N, 8 * N), rng.integers(0, N, 8 * N)
    dtype, values = ("FP64", rng.integers(1, 6, i.size)) if seed % 2 else ("INT64", 2)
    entries = [i, j, values, dtype]

    def matrix():
        return gb.Matrix.from_coo(*entries, nrows=N, ncols=N, dup_op=None if np.ndim(values) == 0 else "first")

    if np.ndim(values) == 0:
        i, j = np.unravel_index(np.unique(i * N + j), (N, N))
        entries[:2] = i, j
    chosen = {axis: choices[0] for axis, choices in AXES.items()}
    last, most = ([], [], "FP64"), 0
    with BACKENDS[backend]():
        A = matrix()
    for number in range(CALLS):
        axis = rng.choice(list(AXES))
        chosen[axis] = AXES[axis][rng.integers(len(AXES[axis]))]
        if number % 20 == 19:
            with BACKENDS[backend]():
                A[int(i[number]), int(j[number])] << 4
            keys = entries[0] * N + entries[1]
            there = keys == i[number] * N + j[number]
            entries[2] = np.where(there, 4, entries[2] * np.ones(len(keys), int))
        x = (*map(np.array, last[:2]), last[2]) if chosen["form"] == "last" else vector(
            rng, chosen["form"], chosen["dtype"]
        )  # fmt: skip
        mask = vector(rng, chosen["mask form"], chosen["dtype"])
        held = vector(rng, ("list", "bitmap", "full", "empty")[rng.integers(4)], chosen["output"])
        with engine("reference"):
            want = made(held)
            # of the first of repeated entries, as the matrix under test
            fresh = gb.Matrix.from_coo(*entries, nrows=N, ncols=N, dup_op=None if seed % 2 == 0 else "first")
            call(fresh, want, made(x), made(mask), chosen)
            want = plain(want)
        forced = contextlib.nullcontext() if chosen["plan"] is None else gb.plan(force=chosen["plan"])
        with BACKENDS[backend](), forced:
            found, u, m = made(held), made(x), made(mask)
            before = len(gb.explain(0))
            for turn in range(2):  # the second call of the same kinds
                copy = found.dup()
                call(A, copy, u, m, chosen)
                assert plain(copy) == want, f"call {number}, turn {turn}: {chosen}"
                plan = gb.explain().plans[-1]
                assert plan.operation == "matvec" and plan.engine is not None and plan.seconds is not None
                assert chosen["plan"] is None or plan.rule == "forced"
            assert len(gb.explain(0)) == min(before + 2, 64), "each call has one plan"
        most = max(most, bound_calls(A))
        last = want[1], want[2], want[0]
    assert most >= (3 if backend != "cpu" else 0)


@pytest.mark.parametrize("form", ["list", "bitmap", "full"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_one_thing_there_and_back(backend, form):
    """Of an FP64 matrix, for which the types of x have one semiring: each axis alone, its choices in turn, twice."""
    rng = generator("bound products, there and back", form)
    i, j = np.unravel_index(np.unique(rng.integers(0, N * N, 6 * N)), (N, N))
    values = rng.integers(1, 6, i.size)
    usual = {"semiring": "plus_times", "side": "vxm", "form": form, "dtype": "FP64", "mask": "~S", "mask form": "list",
             "accum": None, "replace": True, "output": "FP64", "plan": None}  # fmt: skip
    wanted = {}
    with BACKENDS[backend]():
        matrices = [gb.Matrix.from_coo(i, j, values, "FP64", nrows=N, ncols=N)]
    matrices.append(gb.Matrix.from_coo(i, j, values, "FP64", nrows=N, ncols=N))  # on the host, wherever is computed
    for axis in AXES:
        choices = [x for x in AXES[axis] if x != "last"]
        for turn, choice in enumerate([*choices, *choices[-2::-1]] * 2):
            chosen = {**usual, axis: choice}
            mine = generator("bound products, operands", axis, choice)
            x, mask = vector(mine, chosen["form"], chosen["dtype"]), vector(mine, chosen["mask form"], "INT64")
            key = axis, choice
            if key not in wanted:
                with engine("reference"):
                    out = gb.Vector(chosen["output"], N)
                    call(gb.Matrix.from_coo(i, j, values, "FP64", nrows=N, ncols=N), out, made(x), made(mask), chosen)
                    wanted[key] = plain(out)
            forced = contextlib.nullcontext() if chosen["plan"] is None else gb.plan(force=chosen["plan"])
            with BACKENDS[backend](), forced:
                for A in matrices:
                    out = gb.Vector(chosen["output"], N)
                    call(A, out, made(x), made(mask), chosen)
                    assert plain(out) == wanted[key], f"turn {turn}: {chosen}"


def test_a_plan_that_is_forced_passes_bound_calls_by():
    """The prepared function is there, and the forced method runs all the same, and the other way round."""
    for block in (compiled, using_shim):
        with block():
            rng = generator("bound products, forced")
            A = gb.Matrix.from_coo(rng.integers(0, N, 900), rng.integers(0, N, 900), 1.0, nrows=N, ncols=N)
            x = gb.Vector.from_dense(np.arange(N) + 1.0)
            for _ in range(4):
                free = A.mxv(x).new()
            assert bound_calls(A)
            for name in ("rows", "cols", "rows"):
                with gb.plan(force=name):
                    forced = A.mxv(x).new()
                assert gb.explain().plans[-1].method == name and gb.explain().plans[-1].rule == "forced"
                assert forced.isequal(free)
            A.mxv(x).new()
            assert gb.explain().plans[-1].rule != "forced"


def test_a_matrix_is_freed_with_its_bound_calls():
    """No prepared function keeps its matrix alive: nothing waits for the garbage collector."""
    import gc
    import weakref

    for block in (compiled, using_shim):
        with block():
            A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3)
            f = gb.Vector.from_coo([1], True, size=3)
            w = gb.Vector(bool, 3)
            for _ in range(4):
                w(~f.S, replace=True) << f.vxm(A, "any_pair")
            assert bound_calls(A)
            gone = weakref.ref(A._store)
            gc.disable()
            try:
                del A
                assert gone() is None
            finally:
                gc.enable()


def test_semirings_of_a_call_each_do_not_pile_up(monkeypatch):
    """A program may make its semiring in each turn; the latest products are kept."""
    monkeypatch.setattr(planned, "MOST_BOUND", 5)
    with compiled():
        A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3)
        x = gb.Vector.from_dense(np.arange(3.0))
        for scale in range(9):
            for _ in range(4):
                times = gb.binary.register_anonymous(lambda a, b: a * b)
                w = A.mxv(x, gb.semiring.register_anonymous(gb.monoid.plus, times)).new()
                v = A.mxv(x, gb.semiring.plus_times if scale % 2 else gb.semiring.min_plus).new()
            assert w.isequal(A.mxv(x, gb.semiring.plus_times).new()) and v.nvals == 3
            assert len(A._store.forms["bound"]) <= 5
