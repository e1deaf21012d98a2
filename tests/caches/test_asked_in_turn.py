"""Two calls on the same operands that differ in one thing: each gives what the reference backend gives afresh.

A question is a call with an axis of choices (width, mask, type, index type, operator, direction, source ...).  It is
asked with each choice in turn, there and back, of the same objects, so that a form, a workspace or a compiled kernel
that was kept for one choice meets the others.  On the CPU with compiled kernels, and on the CUDA backend.
"""

import contextlib

import numpy as np
import pytest

import grb_tile as gb
from caches.operands import full, masks, path, sparse, vector
from cuda_emulation.backend import using_shim
from grb_tile import algorithms
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.planner import tuning
from support.library import engine

# name: (operands by name, choices, call(o, choice)); the choices are asked in this order and back
QUESTIONS = {}


def question(name, operands, choices):
    def add(call):
        QUESTIONS[name] = operands, choices, call
        return call

    return add


KINDS = ("sparse", "bitmap", "full", "iso")
SEMIRINGS = ("plus_times", "min_plus", "any_pair", "plus_pair", "max_first", "plus_second")
one = {"A": lambda: sparse("A")}
small = {"A": lambda: sparse("A", "INT8")}
graph = {"A": path}


@question("mxm with dense: width", one, (3, 5, 1, 16, 4))
def _(o, width):
    return o.A.mxm(full("X", width)).new()


DENSE = ("full", "bitmap", "iso", "columns")


@question("mxm with dense: form", one | {kind: lambda kind=kind: full("X", 5, kind=kind) for kind in DENSE}, DENSE)
def _(o, kind):
    return o.A.mxm(getattr(o, kind)).new()


@question("mxm with dense: type", small, ("FP64", "FP32", "INT64", "INT8"))
def _(o, dtype):
    return o.A.mxm(full("X", 5, dtype)).new()


@question("mxm with dense: operator", one, SEMIRINGS)
def _(o, op):
    return o.A.mxm(full("X", 4), getattr(gb.semiring, op)).new()


@question("mxm with dense: side", one, (False, True))
def _(o, transposed):
    return (o.A.T if transposed else o.A).mxm(full("X", 4)).new()


for by in ("mxv", "vxm"):

    @question(f"{by}: form", one, KINDS)
    def _(o, kind, by=by):
        x = vector(kind)
        return (o.A.mxv(x) if by == "mxv" else x.vxm(o.A)).new()

    @question(f"{by}: operator", one | {"x": lambda: vector("full")}, SEMIRINGS)
    def _(o, op, by=by):
        op = getattr(gb.semiring, op)
        return (o.A.mxv(o.x, op) if by == "mxv" else o.x.vxm(o.A, op)).new()

    @question(f"{by}: mask", one | {"x": lambda: vector("sparse"), "m": lambda: vector("bitmap", "BOOL")},
              ("S", "V", "none", "~S", "~V"))  # fmt: skip
    def _(o, mask, by=by):
        return (o.A.mxv(o.x) if by == "mxv" else o.x.vxm(o.A)).new(mask=masks(o.m)[mask])

    @question(f"{by}: type", one, ("FP64", "INT64", "FP32", "BOOL"))
    def _(o, dtype, by=by):
        x = vector("full", dtype)
        return (o.A.mxv(x) if by == "mxv" else x.vxm(o.A)).new()

    @question(f"{by}: direction", one | {"x": lambda: vector("sparse")}, ("A", "A.T"))
    def _(o, side, by=by):
        A = o.A if side == "A" else o.A.T
        return (A.mxv(o.x, "min_plus") if by == "mxv" else o.x.vxm(A, "min_plus")).new()

    @question(f"{by}: index type", {"int32": lambda: sparse("A"), "int64": lambda: sparse("A", wide=True)},
              ("int32", "int64"))  # fmt: skip
    def _(o, which, by=by):
        A, x = getattr(o, which), vector("sparse", wide=which == "int64" and by == "mxv")
        return (A.mxv(x) if by == "mxv" else x.vxm(A)).new()

    @question(f"{by}: iso", {"iso": lambda: sparse("A", iso=True), "values": lambda: sparse("A")}, ("iso", "values"))
    def _(o, which, by=by):
        A, x = getattr(o, which), vector("full")
        return (A.mxv(x) if by == "mxv" else x.vxm(A)).new()


@question("mxm: operator", one | {"B": lambda: sparse("B")}, SEMIRINGS)
def _(o, op):
    return o.A.mxm(o.B, getattr(gb.semiring, op)).new()


@question("mxm: mask", one | {"B": lambda: sparse("B"), "M": lambda: sparse("M", "BOOL", count=300)},
          ("S", "none", "V", "~S", "~V"))  # fmt: skip
def _(o, mask):
    return o.A.mxm(o.B).new(mask=masks(o.M)[mask])


@question("mxm: another mask", one | {"B": lambda: sparse("B")}, (100, 300, 900))
def _(o, count):
    return o.A.mxm(o.B.T, "plus_pair").new(mask=sparse(f"M{count}", "BOOL", count=count).S)


@question("mxm: type", small, ("FP64", "INT64", "FP32"))
def _(o, dtype):
    return o.A.mxm(sparse("B", dtype)).new()


@question(
    "mxm: index type", {"int32": lambda: sparse("A"), "int64": lambda: sparse("A", wide=True)}, ("int32", "int64")
)
def _(o, which):
    return sparse("B").mxm(getattr(o, which)).new()


@question("mxm: side", one, ("AA", "AA'", "A'A", "A'A'"))
def _(o, which):
    left, right = (o.A.T if which[0:2] == "A'" else o.A), (o.A.T if which[-1] == "'" else o.A)
    return left.mxm(right, "min_plus").new()


@question("select: operator", one, ("<", ">", "==", "tril", "triu"))
def _(o, op):
    return o.A.select(op, 0).new()


@question("select from vectors: operator, type, thunk", {}, [
    (op, dtype, thunk) for op in ("<", ">", "rowle") for dtype in ("FP64", "INT8") for thunk in (1, 3)
])  # fmt: skip
def _(o, choice):
    op, dtype, thunk = choice
    v = vector("bitmap", dtype)
    return [v.select(op, thunk).new(), v.apply(gb.indexunary.rowgt, thunk).new()]


@question("select: thunk", one, (-2, 0, 2))
def _(o, thunk):
    return [o.A.select(">", thunk).new(), o.A.select("tril", thunk).new()]


@question(
    "select: index type", {"int32": lambda: sparse("A"), "int64": lambda: sparse("A", wide=True)}, ("int32", "int64")
)
def _(o, which):
    return getattr(o, which).select(">", 0).new()


@question(
    "select: type",
    {name: lambda name=name: sparse("A", name) for name in ("FP64", "INT64", "INT8")},
    ("FP64", "INT64", "INT8"),
)
def _(o, which):
    return getattr(o, which).select("<", 2).new()


@question("select: iso", {"iso": lambda: sparse("A", iso=True), "values": lambda: sparse("A")}, ("iso", "values"))
def _(o, which):
    return getattr(o, which).select("<", 2).new()


@question("ewise: operator", one | {"B": lambda: sparse("B")}, ("plus", "minus", "min", "first", "second"))
def _(o, op):
    op = getattr(gb.binary, op)
    return [o.A.ewise_add(o.B, op).new(), o.A.ewise_mult(o.B, op).new()]


@question("ewise: mode", one | {"B": lambda: sparse("B")}, ("add", "mult", "union", "add masked"))
def _(o, mode):
    if mode == "union":
        return o.A.ewise_union(o.B, gb.binary.minus, 1, 2).new()
    if mode == "add masked":
        return o.A.ewise_add(o.B, gb.binary.minus).new(mask=o.B.S)
    return getattr(o.A, f"ewise_{mode}")(o.B, gb.binary.minus).new()


@question("ewise: defaults", one | {"B": lambda: sparse("B")}, ((1, 2), (2, 1), (0, 0)))
def _(o, defaults):
    return o.A.ewise_union(o.B, gb.binary.minus, *defaults).new()


@question("ewise: types", small, ("FP64", "INT64", "FP32"))
def _(o, dtype):
    return o.A.ewise_add(sparse("B", dtype), gb.binary.minus).new()


@question(
    "ewise: index type", {"int32": lambda: sparse("A"), "int64": lambda: sparse("A", wide=True)}, ("int32", "int64")
)
def _(o, which):
    return sparse("B", wide=which == "int64").ewise_add(getattr(o, which), gb.binary.minus).new()


@question("ewise of vectors: form", {"u": lambda: vector("bitmap")}, KINDS)
def _(o, kind):
    x = vector(kind)
    return [o.u.ewise_add(x, gb.binary.minus).new(), o.u.ewise_mult(x, gb.binary.minus).new()]


@question("ewise of vectors: type", {"u": lambda: vector("bitmap", "INT64")}, ("INT8", "FP64", "BOOL", "INT64"))
def _(o, dtype):
    x, y = vector("bitmap", dtype), vector("sparse", dtype)
    return [o.u.ewise_add(x, gb.binary.minus).new(), y.ewise_add(x, gb.binary.plus).new(), x.dup(mask=~y.S)]


@question("a number written into a vector: form", {"m": lambda: vector("sparse", "BOOL")},
          ("sparse S", "bitmap S", "iso S", "full S", "bitmap V", "sparse ~S", "bitmap self"))  # fmt: skip
def _(o, choice):
    kind, mask = choice.split()
    v = vector(kind).dup()
    M = v.S if mask == "self" else masks(o.m)[mask]
    written = []
    for number in (3, 4.5):
        v(M) << number
        written.append(v.dup())
    return written


@question("a number written into a vector: type", {"m": lambda: vector("bitmap")}, ("FP64", "INT8", "BOOL", "FP32"))
def _(o, dtype):
    v = vector("bitmap", dtype).dup()
    v(vector("sparse", dtype).S) << 3
    w = vector("bitmap", dtype).dup()
    w(o.m.S) << 1
    return [v, w]


@question(
    "a region written into: what", {"v": lambda: vector("bitmap")},
    [(op, dtype) for op in (None, "plus", "min") for dtype in ("FP64", "INT8", "FP32")],
)  # fmt: skip
def _(o, choice):
    op, dtype = choice
    written = []
    for kind in ("full", "bitmap"):
        v, u = vector(kind, dtype).dup(), vector("full", dtype)
        out = v if op is None else v(getattr(gb.binary, op))
        out[3:40] << u[3:40].new()
        out[[5, 1, 5]] << u[[0, 1, 2]].new()
        written.append(v)
    return written


@question("reduce of vectors: form", {}, KINDS)
def _(o, kind):
    return [vector(kind).reduce(name).new() for name in ("plus", "max")]


@question("reduce of vectors: type", {}, ("FP64", "INT8", "UINT16", "INT64"))
def _(o, dtype):
    return [vector("bitmap", dtype).reduce(name).new() for name in ("plus", "times", "max")]


@question("apply to vectors: operator", {"v": lambda: vector("bitmap")}, ("abs", "ainv", "one"))
def _(o, op):
    return [x.apply(getattr(gb.unary, op)).new() for x in (o.v.apply("abs").new(), vector("sparse"), vector("full"))]


@question(
    "a matrix written inside a mask: kind",
    {"C": lambda: sparse("C"), "M": lambda: sparse("M", "BOOL"), "W": lambda: sparse("W", wide=True, count=300)},
    ("S", "~S", "FP32", "iso", "wide", "INT8"),
)
def _(o, kind):
    if kind == "wide":
        C = o.W.dup()
        C(sparse("N", "BOOL", wide=True).S) << sparse("B", wide=True)
        return C
    dtype = kind if kind in ("FP32", "INT8") else "FP64"
    C, T = o.C.dup(dtype), sparse("T", dtype, iso=kind == "iso")
    C(~o.M.S if kind == "~S" else o.M.S) << T
    return C


@question("ranges of a matrix: type", {"A": lambda: sparse("A")}, ("FP32", "FP64", "INT8", "iso", "wide", "BOOL"))
def _(o, kind):
    wide, iso = kind == "wide", kind == "iso"
    A = sparse("G", "FP64" if wide or iso else kind, wide=wide, iso=iso)
    return [A[3:9, :].new(), A[:, 5:30].new(), A[2:40, 1:7].new(), o.A[2:40, 1:7].new()]


FACTORS = {"K": lambda: sparse("K", shape=(6, 7), count=20), "L": lambda: sparse("L", shape=(5, 4), count=12)}


@question("kronecker: operator", FACTORS, ("times", "minus", "first", "second"))
def _(o, op):
    return o.K.kronecker(o.L, getattr(gb.binary, op)).new()


@question(
    "dense matrices: order",
    {"X": lambda: full("X", 5, kind="bitmap"), "Y": lambda: full("Y", 5, kind="columns")},
    ("XY", "YX", "XX", "YY", "rows"),
)
def _(o, which):
    if which == "rows":
        return [o.X[3:9, :].new(), o.Y[3:9, :].new(), o.Y.select("tril", 0).new()]
    x, y = (getattr(o, name) for name in which)
    return x.ewise_add(y, gb.binary.minus).new()


@question("a mask's true entries", {"A": lambda: sparse("A"), "M": lambda: sparse("M", "BOOL")}, ("S", "V", "~S", "~V"))
def _(o, mask):
    return o.A.dup(mask=masks(o.M)[mask])


@question("rows and elements", one, (0, 3, 7))
def _(o, i):
    return [o.A[i, :].new(), o.A[:, i].new(), o.A[[i, 1], :].new(), o.A[i, 5].new()]


@question("bfs: source", graph, (0, 5, 11))
def _(o, source):
    return algorithms.bfs(o.A, source).levels


@question("bfs: results", graph, ((True, False), (False, True), (True, True)))
def _(o, results):
    found = algorithms.bfs(o.A, 2, levels=results[0], parents=results[1])
    return [found.levels if results[0] else None, None if not results[1] else found.parents.nvals]


@question("bfs: levels at most", graph, (None, 1, 3, 2))
def _(o, most):
    return algorithms.bfs(o.A, 2, max_level=most).levels


@question("bfs_multi: sources", graph, ([0], [3, 1, 2], list(range(40)), [5, 5 + 1]))
def _(o, sources):
    return algorithms.bfs_multi(o.A, sources).levels


@question("sssp: source", graph, (0, 5, 11))
def _(o, source):
    return algorithms.sssp(o.A, source).distances


@question("sssp: delta", graph, (None, 1.0, 4.0, 100.0))
def _(o, delta):
    return algorithms.sssp(o.A, 3, method="delta", delta=delta).distances


@question("sssp: weights", {"A": path, "B": lambda: path().apply(gb.binary.times, 3).new()}, ("A", "B"))
def _(o, which):
    return algorithms.sssp(getattr(o, which), 3).distances


@question("pagerank: type", graph, ("FP64", "FP32"))
def _(o, dtype):
    found = algorithms.pagerank(o.A, dtype=dtype, tol=1e-4).to_numpy()
    return [str(found.dtype), _rounded(found)]


@question("triangles and cores", graph, ("triangles", "cores", "components"))
def _(o, which):
    if which == "triangles":
        return algorithms.triangle_count(o.A)
    if which == "cores":
        return algorithms.core_number(o.A).to_numpy()
    return algorithms.connected_components(o.A).to_numpy()


@question("betweenness: sources", graph, ([0], [1, 2], list(range(20))))
def _(o, sources):
    return _rounded(algorithms.betweenness(o.A, sources=sources).to_numpy())


def _rounded(x):
    return np.round(np.asarray(x, np.float64), 3)


class Objects:
    """The operands, as attributes."""

    def __init__(self, made):
        self.__dict__.update({name: make() for name, make in made.items()})


def plain(x):
    """Results as what can be compared with ==; sums of floats are of small integers, and exact."""
    if isinstance(x, (list, tuple)):
        return [plain(item) for item in x]
    if isinstance(x, np.ndarray):
        return list(map(str, x.tolist()))  # NaN is "nan"
    if hasattr(x, "to_coo"):
        return [x.dtype.name, x.shape, *(part.tolist() for part in x.to_coo())]
    return plain(x.value) if hasattr(x, "is_empty") else x


BACKENDS = {"compiled": lambda: engine("numba"), "default": contextlib.nullcontext, "emulation": using_shim}


def turns(choices):
    return (*choices, *choices[-2::-1])


@pytest.fixture(scope="module")
def wanted():
    """The reference backend's answers, each of fresh operands."""
    known = {}

    def answer(name, choice):
        key = name, str(choice)
        if key not in known:
            operands, _, call = QUESTIONS[name]
            o = Objects(operands)  # outside of the block: the reference backend makes no dense forms
            with engine("reference"):
                known[key] = plain(call(o, choice))
        return known[key]

    return answer


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", QUESTIONS)
def test_each_choice_gives_its_own_answer(name, backend, wanted, monkeypatch):
    if backend == "compiled":  # few entries are left to NumPy
        for name_of_threshold in ("COMPILED_ENTRIES", "COMPILED_KRONECKER_ENTRIES"):
            monkeypatch.setattr(tuning, name_of_threshold, 0)
    failures = jit.failures()
    operands, choices, call = QUESTIONS[name]
    expected = {str(choice): wanted(name, choice) for choice in choices}
    o = Objects(operands)
    with BACKENDS[backend]():
        for turn, choice in enumerate(turns(choices)):
            found = plain(call(o, choice))
            assert found == expected[str(choice)], f"{name} = {choice}, asked as number {turn} of {turns(choices)}"
    assert jit.failures() == failures


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_choices_of_a_question_differ(name, wanted):
    """Where all choices had one answer, the question would not notice that another's was given."""
    if name.endswith(("delta", "results")) or name == "mxv: index type":  # the same sums
        return
    choices = QUESTIONS[name][1]
    answers = [wanted(name, choice) for choice in choices]
    assert any(answer != answers[0] for answer in answers[1:]), name
