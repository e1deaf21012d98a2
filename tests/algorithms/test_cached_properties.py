"""Cached properties of a matrix are exact after every way to write to it, for every storage form and both backends.

A matrix is asked for all its properties and given to algorithms, then written to, then asked again: each answer, and
each property that is kept, is that of a new matrix with the same entries.
"""

import contextlib
import gc
import pickle
import weakref

import numpy as np
import pytest
from every_algorithm import EVERY, alike, outcome, plain

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile import algorithms as alg
from grb_tile.algorithms import Graph
from grb_tile.backends import select
from grb_tile.storage.convert import cached_transpose
from support.seeds import generator

N = 12
FORMS = ("csr", "dcsr", "bitmapr", "bitmapc", "fullr", "fullc", "iso")
FACTS = {
    "n": lambda G: G.n,
    "directed": lambda G: G.directed,
    "nedges": lambda G: G.nedges,
    "is_symmetric": lambda G: G.is_symmetric,
    "is_symmetric_structure": lambda G: G.is_symmetric_structure,
    "out_degree": lambda G: G.out_degree,
    "in_degree": lambda G: G.in_degree,
    "nself": lambda G: G.nself,
    "emin": lambda G: G.emin,
    "emax": lambda G: G.emax,
    "AT": lambda G: G.AT,
    "summary": lambda G: G.summary().largest_degree,
}


def _repacked(A, rng):
    A.ss.unpack("coo")
    A.ss.pack_coo(rows=[0, 1, 2], cols=[1, 0, 0], values=np.array([4.0, 4.0, 9.0]))


def _built(A, rng):
    A.clear()
    A.build([0, 3, 3], [3, 0, 3], [2.0, 2.5, 6.0])


def _concatenated(A, rng):
    half = gb.Matrix.from_coo([0, 1], [1, 2], [5.0, 7.0], nrows=N // 2, ncols=N // 2)
    A.ss.concat([[half, half], [half.T.new(), half]])


def _interrupted(A, rng):
    with contextlib.suppress(gb.exceptions.DimensionMismatch):
        A << gb.Matrix(float, N + 1, N)  # refused, and nothing is written
    A[3, 4] = 50.0


def other(rng):
    """A matrix of that shape that is not symmetric."""
    D = np.where(rng.random((N, N)) < 0.4, rng.integers(1, 30, (N, N)), 0).astype(float)
    return gb.Matrix.from_dense(D, missing_value=0)


WRITES = {
    "element": lambda A, rng: A.__setitem__((1, 2), 77.0),
    "a loop": lambda A, rng: A.__setitem__((5, 5), 33.0),
    "a pending tuple twice": lambda A, rng: [A.__setitem__((0, 7), x) for x in (3.0, 99.0)],
    "element accumulated": lambda A, rng: A(gb.binary.plus)[2, 3].__lshift__(100.0),
    "element deleted": lambda A, rng: A.__delitem__(tuple(int(x[0]) for x in A.to_coo(values=False)[:2])),
    "the same value": lambda A, rng: A.__setitem__((1, 2), A.get(1, 2, 1.0)),
    "row": lambda A, rng: A[4, :].__lshift__(gb.Vector.from_scalar(60.0, N)),
    "column": lambda A, rng: A[:, 4].__lshift__(gb.Vector.from_scalar(0.5, N)),
    "row of one value": lambda A, rng: A[3, :].__lshift__(-1.0),
    "row accumulated": lambda A, rng: A(accum=gb.binary.plus)[0, :].__lshift__(1.0),
    "row deleted": lambda A, rng: A.__delitem__((2, slice(None))),
    "region": lambda A, rng: A[:3, 2:5].__lshift__(gb.Matrix.from_dense(np.full((3, 3), 70.0))),
    "list of rows": lambda A, rng: A[[7, 1], [2, 9]].__lshift__(8.0),
    "whole": lambda A, rng: A.__lshift__(other(rng)),
    "whole accumulated": lambda A, rng: A(accum=gb.binary.max).__lshift__(other(rng)),
    "values in place": lambda A, rng: A(A.S).__lshift__(A.apply(gb.indexunary.rowindex).new(float)),
    "one value in place": lambda A, rng: A(A.S).__lshift__(42.0),
    "mask": lambda A, rng: A(other(rng).S).__lshift__(3.5),
    "mask complemented, replace": lambda A, rng: A(~other(rng).S, replace=True).__lshift__(other(rng)),
    "value mask": lambda A, rng: A(other(rng).V, accum=gb.binary.minus).__lshift__(other(rng)),
    "own transpose": lambda A, rng: A.__lshift__(gb.binary.plus(A | other(rng).T)),
    "update": lambda A, rng: A.update(other(rng)),
    "select": lambda A, rng: A.__lshift__(A.select("triu", 1)),
    "product": lambda A, rng: A.__lshift__(A.mxm(other(rng))),
    "scaled": lambda A, rng: A.__lshift__(gb.indexunary.colindex(A).new(float)),
    "setdiag": lambda A, rng: A.setdiag(11.0),
    "clear": lambda A, rng: A.clear(),
    "resize": lambda A, rng: [A.resize(N + 3, N + 3), A.__setitem__((N + 2, 0), 5.0)],
    "smaller": lambda A, rng: A.resize(5, 5),
    "resized and back": lambda A, rng: [A.resize(3, 3), A.resize(N, N)],
    "build": _built,
    "build_scalar": lambda A, rng: [A.clear(), A.ss.build_scalar([0, 1], [1, 5], 6.0)],
    "build_diag": lambda A, rng: A.ss.build_diag(gb.Vector.from_scalar(2.0, N - 1), 1),
    "concat": _concatenated,
    "pack": _repacked,
    "another form": lambda A, rng: A.ss.config.__setitem__("sparsity_control", "bitmap"),
    "wait": lambda A, rng: [A.__setitem__((8, 9), 12.0), A.wait()],
    "refused, then written": _interrupted,
}  # fmt: skip


SURE = sorted(set(EVERY) - {"shortest_path"})  # of several shortest paths it finds one, which depends on the form


def matrix(form, n=N):
    """A symmetric matrix in that form: every algorithm takes it."""
    rng = generator("properties", form)
    D = rng.integers(1, 9, (n, n)).astype(float)
    D = np.maximum(D, D.T)
    if form[:4] != "full":
        half = np.triu(rng.random((n, n)) < 0.3, 1)
        D[~(half | half.T)] = 0
    if form == "iso":
        D[D > 0] = 3.0
    A = gb.Matrix.from_dense(D, missing_value=0)
    if form != "iso":
        from grb_tile.backends.select import current

        A._store = current().convert(A._store, form)
    return A


def fresh(A):
    """A new matrix with the entries of A, of which nothing is known."""
    rows, columns, values = A.to_coo()
    return gb.Matrix.from_coo(rows, columns, values, A.dtype, nrows=A.nrows, ncols=A.ncols)


def facts(A):
    G = Graph(A)
    return {name: plain(ask(G)) for name, ask in FACTS.items()}


def check(A, names, what):
    """Every fact and every outcome of A, and what is kept with it already, is that of a new matrix of its entries."""
    kept, new = gb.graph.known(A), fresh(A)
    expected = facts(new), [outcome(name, new) for name in names]
    for name, value in gb.graph.known(new).items():
        assert name not in kept or alike(plain(kept[name]), plain(value)), f"{what}: {name} is stale"
    assert alike(facts(A), expected[0]), what
    for name, right in zip(names, expected[1], strict=True):
        assert alike(outcome(name, A), right), f"{what}: {name}"


def drawn(rng, count):
    return rng.choice(SURE, count, replace=False).tolist()


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("form", FORMS)
def test_a_write_leaves_nothing_stale(form, write):
    rng = generator("properties", form, write)
    A, names = matrix(form), drawn(rng, 3)
    check(A, names, "before")
    assert gb.graph.known(A)
    WRITES[write](A, rng)
    check(A, names, write)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("form", ["csr", "bitmapr", "fullc"])
@pytest.mark.sampled(4)
def test_a_write_leaves_nothing_stale_on_a_device(form, write):
    rng = generator("properties on a device", form, write)
    with using_shim():
        A, names = matrix(form).to_device("cuda"), drawn(rng, 1)
        check(A, names, "before")
        WRITES[write](A, rng)
        check(A, names, write)


@pytest.mark.parametrize("seed", range(6))
def test_writes_one_after_the_other(seed, base_seed):
    """Writes in place follow each other here, because what is kept is dropped by the first."""
    rng = generator("properties", base_seed, seed)
    A = matrix(FORMS[seed % len(FORMS)])
    for write in rng.choice(sorted(set(WRITES) - {"resize", "smaller"}), 6):
        names = drawn(rng, 1)
        check(A, names, f"before {write}")
        WRITES[write](A, rng)
        check(A, names, write)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("form", ["csr", "bitmapr", "fullr", "iso"])
def test_objects_that_share_a_store_part_at_a_write(form, write):
    rng = generator("shared", form, write)
    A = matrix(form)
    before = facts(A)
    B, C = A.dup(), pickle.loads(pickle.dumps(A))
    assert facts(B) == facts(C) == before
    WRITES[write](B, rng)
    check(B, [], write)
    assert facts(A) == facts(C) == before
    WRITES[write](C, rng)
    check(C, [], write)
    assert facts(A) == before
    WRITES[write](A, rng)
    check(A, [], write)


@pytest.mark.parametrize("form", FORMS)
def test_values_that_change_in_place_leave_nothing_stale(form):
    """Only what shares no arrays with the matrix is asked for here, so that a change may be in place."""
    A, in_place = matrix(form, 60), []
    for k in range(4):
        G = Graph(A)
        assert G.is_symmetric == (k == 0)
        assert G.nself + G.out_degree.nvals + int(G.emin) and G.emax == (99 + k if k else int(G.emax))
        i = int(G.out_degree.to_coo()[0][0])
        j = int(A[i, :].new().to_coo()[0][-1])
        before = weakref.ref(A._store)
        del G
        A[i, j] = 100.0 + k
        A.wait()
        in_place.append(before() is A._store)
    assert facts(A) == facts(fresh(A))
    on_host = select.current().name == "cpu"  # a device writes to a copy of a matrix
    assert form != "csr" or not on_host or in_place[1:] == [True] * 3


def test_a_copy_of_another_type_has_its_own_properties():
    A = gb.Matrix.from_coo([0, 1], [1, 0], [0.25, 0.75], nrows=2, ncols=2)
    assert not Graph(A).is_symmetric and Graph(A).emax == 0.75
    B = A.dup(int)
    assert Graph(B).is_symmetric and Graph(B).emax == 0 and not Graph(A).is_symmetric


def test_what_is_known_is_not_computed_again():
    A, asked = matrix("csr"), []
    for _ in range(3):
        G = Graph(A)
        assert G.keep("sum", lambda: asked.append(1) or 5) == 5 and gb.graph.cached(A, "sum", lambda: 7) == 5
        assert G.out_degree is Graph(A.dup()).out_degree
    assert len(asked) == 1
    A[0, 0] = 2.0
    assert gb.graph.known(A) == {} and gb.graph.cached(A, "sum", lambda: 7) == 7
    gb.graph.cached(A, "other", lambda: 8)
    gb.graph.forget(A, "sum", "never asked for")
    assert gb.graph.known(A) == {"other": 8}
    gb.graph.forget(A)
    assert gb.graph.known(A) == {}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_no_numbers(value):
    """NaN is not equal to NaN, so that a matrix of it is symmetric in its structure alone."""
    for values in (value, [value, 1.0]):
        A = gb.Matrix.from_coo([0, 1], [1, 0], values, float, nrows=2, ncols=2)
        assert gb.graph.is_symmetric_structure(A) and Graph(A).is_symmetric == (value == np.inf and values == value)


def test_an_error_keeps_nothing():
    A = matrix("csr")

    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        gb.graph.cached(A, "x", fail)
    assert gb.graph.known(A) == {}
    with pytest.raises(TypeError, match="A: expected a Matrix, got list"):
        gb.graph.cached([], "x", fail)


def test_a_symmetric_matrix_keeps_no_transpose_and_a_search_finds_it_out():
    A = matrix("csr")
    A << gb.binary.max(A | A.T)
    assert alg.bfs(A, 0).levels.nvals and Graph(A).known_symmetric
    assert "transpose" not in A._store.forms and Graph(A).AT is A
    assert A.T.new().isequal(A)
    A[0, 1] = A.get(0, 1, 0.0) + 100.0
    assert not Graph(A).is_symmetric and Graph(A).AT[1, 0].value == A[0, 1].value


def test_a_wrong_promise_is_no_property_of_the_matrix():
    rng = generator("promise")
    A = other(rng)
    for name in EVERY:
        outcome(name, Graph.of_symmetric(A))
    check(A, SURE, "after a wrong promise")


@pytest.mark.parametrize("directed", [True, False])
def test_what_is_declared_is_no_property_of_the_matrix(directed):
    A = matrix("csr")
    for name in EVERY:
        outcome(name, Graph(A, directed))
    check(A, SURE, "after a declaration")
    assert gb.graph.is_symmetric(A)


def changed(found):
    """Write to everything that a result consists of."""
    if isinstance(found, (gb.Vector, gb.Matrix)):
        found << 7
        found.clear()
    elif isinstance(found, np.ndarray) and found.flags.writeable and found.dtype.kind in "biuf":
        found[...] = 1
    elif isinstance(found, Graph):
        changed(found.A)
    elif isinstance(found, (tuple, list)):
        [changed(each) for each in found]
    elif hasattr(found, "__dataclass_fields__"):
        [changed(getattr(found, name)) for name in found.__dataclass_fields__]


@pytest.mark.parametrize("name", EVERY)
def test_a_caller_may_write_to_a_result(name):
    A = matrix("csr")
    first = outcome(name, A)
    with contextlib.suppress(Exception):
        changed(EVERY[name](A))
    assert alike(outcome(name, A), first)
    assert facts(A) == facts(fresh(A))


@pytest.mark.parametrize(
    ("symmetric", "backend"),
    [
        (True, "the default"),
        (False, "the default"),
        (True, "cuda"),
        pytest.param(False, "cuda", marks=pytest.mark.slow),
    ],
)
def test_a_matrix_is_freed_with_what_is_kept(symmetric, backend):
    """No property refers to its own store: the store ends with the matrix, by its count of references alone."""
    with using_shim() if backend == "cuda" else contextlib.nullcontext():
        A = matrix("csr") if symmetric else other(generator("freed"))
        facts(A)
        assert not _left_by_algorithms(A)


def _left_by_algorithms(A):
    """The algorithms after which a matrix stays when nothing refers to it any more."""
    left = []
    gc.collect()
    gc.disable()
    try:
        for name in EVERY:
            B = fresh(A)
            outcome(name, B)
            store = weakref.ref(B._store)
            del B
            if store() is not None:
                left.append(name)
    finally:
        gc.enable()
    return left


def test_a_device_out_of_memory_drops_all_but_numbers():
    with using_shim() as backend:
        for A in (matrix("csr").to_device("cuda"), matrix("csr")):
            before = facts(A)
            backend.device.make_room()
            kept = gb.graph.known(A)
            assert kept["is_symmetric"] and {"out_degree", "in_degree"}.isdisjoint(kept)
            assert facts(A) == before


@pytest.mark.parametrize("values", ["symmetric", "of the structure alone", "none"])
def test_symmetry_is_decided_on_the_device_in_at_most_three_passes(values, monkeypatch):
    """The transpose, a comparison, and one of the structure where values differ; the host copies no array."""
    passes, copied = [], []
    with using_shim() as backend:
        A = matrix("csr")
        if values != "symmetric":
            A[A.to_coo(values=False)[0][0], A.to_coo(values=False)[1][0]] = 100.0
        if values == "none":
            del A[A.to_coo(values=False)[1][0], A.to_coo(values=False)[0][0]]
        A = A.to_device("cuda")
        A.wait()
        device = backend.device

        def counted(name, run):
            def call(store, *more):
                if name != "transpose" or cached_transpose(store) is None:
                    passes.append(name)
                return run(store, *more)

            return call

        for name in ("transpose", "is_equal", "intersect", "union"):
            monkeypatch.setattr(backend, name, counted(name, getattr(backend, name)))
        host = device.host
        monkeypatch.setattr(type(device), "host", lambda self, x: copied.append(x.nbytes) or host(x))
        G = Graph(A)
        expected = {"symmetric": (True, True), "of the structure alone": (True, False), "none": (False, False)}[values]
        assert (G.is_symmetric_structure, G.is_symmetric) == expected
        assert len(passes) <= 3 and sum(copied) <= 64, (passes, copied)
        assert (G.is_symmetric_structure, G.is_symmetric) == expected and len(passes) <= 3
