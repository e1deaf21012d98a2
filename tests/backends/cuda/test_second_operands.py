"""What random operands seldom are, on the device: one entry, no entry, lists in any order, operators of positions, huge
dimensions of both index types. Every primitive against the NumPy backend; the types are those of other quick tests, so
that few kernels are compiled for it."""

from operator import attrgetter

import numpy as np
import pytest
from backends import agree, samples

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.storage import convert
from grb_tile.storage.constructors import full_vector
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import StoredMask
from support.graphs import random_graph
from support.seeds import generator

NUMPY = select.named("numpy")
FP64, INT64, BOOL = dtypes.FP64, dtypes.INT64, dtypes.BOOL
HUGE = 2**40


def agrees(name, *given, **options):
    """The device's result is NumPy's."""
    agree.assert_same(getattr(shim(), name)(*given, **options), getattr(NUMPY, name)(*given, **options))


def dim(size, count=None):
    return size, np.arange(size if count is None else count)


def matrices(rng, nrows, ncols, dtype=FP64):
    """Of some entries, of one, of none; CSR and DCSR."""
    one = convert.compressed(nrows, ncols, dtype, np.array([nrows - 2]), np.array([1]), samples.values(rng, dtype, 1))
    made = (
        samples.random_matrix(rng, dim(nrows), dim(ncols), dtype, 0.3), one,
        samples.random_matrix(rng, dim(nrows), dim(ncols), dtype, 0.0),
    )  # fmt: skip
    return [form(A) for A in made for form in (convert.to_csr, convert.to_dcsr)]


def vectors(rng, size, dtype=FP64):
    """Sparse, of one entry, of none, bitmap, full, iso."""
    sparse = convert.to_sparse(samples.random_vector(rng, dim(size), dtype, 0.3))
    one = gb.Vector.from_coo([size - 1], [2.0], FP64, size=size)._store
    none = gb.Vector(FP64, size)._store
    full = convert.to_bitmap(samples.random_vector(rng, dim(size), dtype, 1.0))
    return sparse, one, none, convert.to_bitmap(sparse), full, full_vector(size, FP64, np.float64(3))


LISTS = (None, [], [4], [0, 2, 5], [5, 0, 2], [2, 2, 0, 5, 2], range(1, 5), range(6, 0, -2))


@pytest.mark.parametrize("columns", [7, HUGE])
@pytest.mark.sampled(1)
def test_parts_of_matrices(columns):
    """Lists with gaps, in any order, with repeats; fewer entries than the list has, and more."""
    rng = generator("parts", columns)
    for A in matrices(rng, 9, 7):
        A = A if columns == 7 else convert.compressed(9, HUGE, FP64, *NUMPY.tuples_matrix(A))
        for k, J in enumerate(LISTS):
            if J is None and columns == HUGE:
                continue
            for I in (None, LISTS[k], LISTS[k - 2]):
                lists = [x if x is None or type(x) is range else np.array(x, np.int64) for x in (I, J)]
                agrees("gather_matrix", A, *lists)
            if J is not None and len(set(J)) == len(J):
                agrees("outside", A, None if k % 2 else np.array(J, np.int64), np.array(J, np.int64))
        agrees("expand_matrix", A, np.array([8, 3, 11, 0, 1, 5, 4, 9, 2]), None, 12, A.ncols)
        agrees("transpose", A)


@pytest.mark.sampled(1)
def test_parts_of_vectors():
    rng = generator("parts of vectors")
    for u in vectors(rng, 7):
        for I in LISTS:
            I = I if I is None or type(I) is range else np.array(I, np.int64)
            agrees("gather_vector", u, I)
        for size, I in (
            (7, None),
            (9, None),
            (9, range(1, 8)),
            (9, range(8, 1, -1)),
            (9, np.array([8, 3, 5, 0, 1, 7, 2])),
        ):
            agrees("expand_vector", u, I, size)


@pytest.mark.sampled(1)
def test_products_of_few_entries():
    """One product, none, one row; a mask of one entry, its complement, of none."""
    rng, plus_times = generator("few"), gb.semiring.plus_times[FP64]
    pattern = vectors(rng, 9)[1]
    for A in matrices(rng, 9, 7):
        A = convert.compressed(9, 7, FP64, *NUMPY.tuples_matrix(A))
        for x in vectors(rng, 7)[1:3]:
            x = convert.to_sparse(x)
            agree.assert_same(shim().matvec_cols(transpose_of(A), x, plus_times), NUMPY.matvec_rows(A, x, plus_times))
        for B in matrices(rng, 7, 5):
            B = convert.compressed(7, 5, FP64, *NUMPY.tuples_matrix(B))
            agrees("matmul", A, B, plus_times)
        for complement in (False, True):
            agrees("restrict", vectors(rng, 9)[0], StoredMask(pattern, complement))


@pytest.mark.parametrize("name", ["firsti1", "secondj"])
@pytest.mark.sampled(1)
def test_operators_of_positions(name):
    rng, op = generator("positions", name), attrgetter(f"ss.{name}")(gb.binary)[INT64]
    made = matrices(rng, 9, 7, INT64)
    for k, A in enumerate(made):
        for B in (A, made[k - 1]):
            agrees("intersect", A, B, op)
            agrees("union", A, B, op)
        agrees("apply", A, op, left=np.int64(2))
    agrees("kronecker", made[0], made[3], op)
    for u in vectors(rng, 70):
        agrees("apply", u, op, right=np.float64(2))


@pytest.mark.sampled(1)
def test_operators_that_read_one_side():
    """What is bound is the result, or one of the operands is; nothing is computed."""
    rng = generator("one side")
    for x in (*matrices(rng, 9, 7), *vectors(rng, 70)):
        for op in (gb.binary.first, gb.binary.second, gb.binary.pair):
            for bound in ({"left": np.float64(2)}, {"right": np.float64(-1)}):
                agrees("apply", x, op[FP64], **bound)
        agrees("broadcast", vectors(rng, 9)[2 + len(x.shape) % 2], matrices(rng, 9, 7)[x.nvals % 6], 0)


@pytest.mark.sampled(1)
def test_entries_given_many_times():
    """Runs of duplicates of one to thousands of entries, folded in chunks; the first, the last."""
    rng = generator("many times")
    indices = rng.permutation(np.repeat([3, 8, 60, 61], [1, 5000, 70, 300]))
    for dup in ("plus", "first", "second"):
        op = getattr(gb.binary, dup)[INT64]
        for values in (rng.integers(-9, 9, indices.size), np.array([3])):
            agrees("build_vector", 64, indices, values, op, INT64)
            agrees("build_matrix", 64, 9, indices, np.zeros_like(indices), values, op, INT64)


def arrays_of(device, store):
    """Addresses of what a write may change in place: not of indices, nor of the one value of an iso store."""
    found = [getattr(store, "words", None), None if store.iso else store.values]
    return {device.address(array) for array in found if array is not None and array.nbytes}


def test_arrays_of_two_stores_are_marked():
    """Else a later write into the one would change the other."""
    rng, backend = generator("shared"), shim()
    identity, second = gb.unary.identity[FP64], gb.binary.second[FP64]
    for u in vectors(rng, 70):
        u = backend.to_device(u)
        for call in (
            lambda u: backend.expand_vector(u, None, 90), lambda u: backend.expand_vector(u, range(5, 75), 90),
            lambda u: backend.gather_vector(u, None), lambda u: backend.gather_vector(u, range(70)),
            lambda u: backend.apply(u, identity), lambda u: backend.cast(u, FP64),
            lambda u: backend.union(u, u, second), lambda u: backend.intersect(u, u, second),
            lambda u: backend.convert(u, "sparse"), lambda u: backend.convert(u, "bitmap"),
        ):  # fmt: skip
            u.shared = False
            result = call(u)
            common = arrays_of(backend.device, result) & arrays_of(backend.device, u)
            assert result is u or not common or (result.shared and u.shared)


def test_results_of_a_search_are_written_before_they_are_counted():
    A = gb.Matrix._from_store(random_graph(900, 3000, 5))
    mask = gb.Vector.from_coo(np.arange(3, 900, 7), True, size=900)
    with using_shim():
        found = gb.graph.bfs(A.dup(), 0)
        levels = found.levels
        levels(mask.S) << 77
        got = levels.to_dict()
    wanted = gb.graph.bfs(A, 0).levels.to_dict()
    assert got == wanted | dict.fromkeys(range(3, 900, 7), 77)


LOOPS = {
    "bfs": lambda A, v: gb.graph.bfs(A, 3),
    "bfs_multi": lambda A, v: gb.graph.bfs_multi(A, [3, 997]),
    "sssp": lambda A, v: gb.graph.sssp(A, 3),
    "components": lambda A, v: gb.graph.components(A, symmetric=True),
    "strong_components": lambda A, v: gb.graph.strong_components(A),
    "core_numbers": lambda A, v: gb.graph.core_numbers(A),
    "cuthill_mckee": lambda A, v: gb.graph.cuthill_mckee(A),
    "topological_levels": lambda A, v: gb.graph.topological_levels(A),
    "greedy_colours": lambda A, v: gb.graph.greedy_colours(A, v),
    "independent_set": lambda A, v: gb.graph.independent_set(A, v, gb.Vector(bool, 1000)),
    "dependencies": lambda A, v: gb.graph.dependencies(A, [3]),
    "random_walks": lambda A, v: gb.graph.random_walks(A, [3, 997], 5, seed=1, p=0.5),
}


def test_loops_over_matrices_that_list_their_rows():
    """What a loop gives for CSR, or None: a list of rows is not read as row pointers."""
    i, j = np.array([3, 5, 3, 999]), np.array([5, 997, 997, 997])
    A = convert.compressed(1000, 1000, FP64, np.concatenate((i, j)), np.concatenate((j, i)), np.arange(1.0, 9))
    order = gb.Vector.from_dense(np.arange(1000))
    with using_shim():
        for name, call in LOOPS.items():
            wanted, found = (call(gb.Matrix._from_store(form(A)), order) for form in (convert.to_csr, convert.to_dcsr))
            if found is not None:
                wanted, found = (x[0] if isinstance(x, tuple) else x for x in (wanted, found))
                assert found.isequal(wanted), name
