"""gb.graph's functions with each of their arguments at its bounds, in seldom forms, and wrong, on each backend.

What a backend has no loop for is None, and is skipped; the errors are those of all backends.
"""

import gc
import itertools
import weakref

import numpy as np
import pytest
from test_every_graph_function import BACKENDS

import grb_tile as gb
from grb_tile import graph
from grb_tile.backends.cpu.graph import compiled
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.backends.outcome import LoopOutcome
from grb_tile.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from grb_tile.graph import communities
from support.seeds import generator

N = 9
SQUARE = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=N, ncols=N)
WIDE, FULL = gb.Matrix(float, 3, 4), gb.Vector.from_scalar(1.0, N)
OWN = gb.Vector.from_dense(np.arange(N))

VERTICES = {  # calls with a vertex, or a list of them
    "bfs": lambda v: graph.bfs(SQUARE, v),
    "bfs of several": lambda v: graph.bfs(SQUARE, [0, v]),
    "bfs to a target": lambda v: graph.bfs(SQUARE, 0, target=v),
    "bfs of several to a target": lambda v: graph.bfs(SQUARE, [0, 1], target=v),
    "bfs_multi": lambda v: graph.bfs_multi(SQUARE, [0, v]),
    "sssp": lambda v: graph.sssp(SQUARE, v),
    "distances": lambda v: graph.distances(SQUARE, [0, v]),
    "dependencies": lambda v: graph.dependencies(SQUARE, [0, v]),
}
SQUARES = {  # calls with a matrix that is to be square
    "spanning_forest": graph.spanning_forest,
    "greedy_colours": lambda A: graph.greedy_colours(A, OWN),
    "independent_set": lambda A: graph.independent_set(A, OWN, gb.Vector(bool, N)),
    "distances": lambda A: graph.distances(A, [0]),
    "triangle_corners": graph.triangle_corners,
    "peel_truss": lambda A: graph.peel_truss(A, gb.Matrix(int, *A.shape) if hasattr(A, "shape") else A, 1),
    "random_walks": lambda A: graph.random_walks(A, [0], 3, 1),
    "topological_levels": graph.topological_levels,
    "cuthill_mckee": graph.cuthill_mckee,
}
FLAGS = {
    "bfs": (lambda **f: graph.bfs(SQUARE, 0, **f), ("symmetric", "pull", "levels", "parents")),
    "bfs_multi": (lambda **f: graph.bfs_multi(SQUARE, [0], **f), ("symmetric", "levels", "parents")),
    "sssp": (lambda **f: graph.sssp(SQUARE, 0, **f), ("symmetric", "predecessors")),
    "distances": (lambda **f: graph.distances(SQUARE, [0], **f), ("parents",)),
    "dependencies": (lambda **f: graph.dependencies(SQUARE, [0], **f), ("weighted", "endpoints", "by_edge")),
    "components": (lambda **f: graph.components(SQUARE, **f), ("symmetric",)),
    "strong_components": (lambda **f: graph.strong_components(SQUARE, **f), ("symmetric",)),
    "spanning_forest": (lambda **f: graph.spanning_forest(SQUARE, **f), ("maximum",)),
    "random_walks": (lambda **f: graph.random_walks(SQUARE, [0], 2, 1, **f), ("weighted",)),
    "mode": (lambda **f: graph.mode(SQUARE, OWN, **f), ("weighted",)),
}


@pytest.fixture(autouse=True, scope="module")
def loops_are_compiled():
    """Else the CPU has none for the first calls."""
    for name, constants in compiled.KERNELS:
        assert jit.plain_kernel(name, **constants).load() is not None, name


def orders(n):
    """(order of n vertices, its error)"""
    good = np.arange(n)
    wrong = {"one twice": [0, *range(n - 1)], "one beyond": [*range(n - 1), n], "one before": [-1, *range(1, n)]}
    wrong |= {"of the last as -1": [*range(n - 1), -1], "another": [*range(1, n), 2**40]}
    return [(good, None), (good[::-1], None), *((np.array(x), ValueError) for x in wrong.values()),
            (np.arange(n - 1), DimensionMismatch), (np.arange(n + 1), DimensionMismatch)]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
def test_vertices_and_shapes(backend):
    with BACKENDS[backend]():
        for name, call in VERTICES.items():
            for vertex in (0, N - 1, np.int32(N - 1), np.uint8(0)):
                call(vertex)
            for wrong, error in ((-1, IndexOutOfBound), (N, IndexOutOfBound), (N + 1, IndexOutOfBound),
                                 (2**40, IndexOutOfBound), (0.5, TypeError), ("0", TypeError),
                                 (None, TypeError)):  # fmt: skip
                if wrong is None and "target" in name:
                    continue
                with pytest.raises(error, match="expected vert|integers"):
                    call(wrong)
                    pytest.fail(f"{name} of {wrong!r}")
        for flags in ([True, False], True, np.ones(2, bool), np.ones((2, 2), int)):
            for call in (graph.bfs, graph.dependencies, graph.distances, graph.bfs_multi):
                with pytest.raises(TypeError):
                    call(SQUARE, flags)
        for start in (-1, N):
            with pytest.raises(IndexError, match="expected vertices from 0 to 8"):
                graph.random_walks(SQUARE, [0, start], 3, 1)
        for name, call in SQUARES.items():
            with pytest.raises(DimensionMismatch, match=f"{name}: A is 3 x 4"):
                call(WIDE)
            with pytest.raises(TypeError, match="expected a Matrix"):
                call(FULL)
        with pytest.raises(DimensionMismatch, match="peel_truss: A is 9 x 9 and AT 8 x 8"):
            graph.peel_truss(SQUARE, gb.Matrix(int, 8, 8), 1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_flags_levels_and_orders(backend):
    with BACKENDS[backend]():
        for name, (call, flags) in FLAGS.items():
            for flag in flags:
                for wrong in (1, None, "yes"):
                    with pytest.raises(TypeError, match=flag):
                        call(**{flag: wrong})
                        pytest.fail(f"{name} with {flag}={wrong!r}")
        for call in (
            lambda most: graph.bfs(SQUARE, 0, max_level=most),
            lambda m: graph.bfs_multi(SQUARE, [0], max_level=m),
        ):
            with pytest.raises(InvalidValue, match="max_level is -1; expected 0 or more"):
                call(-1)
            for most, reached in ((0, 1), (1, 2), (2, 3), (9, 3), (None, 3)):
                assert (found := call(most)) is None or found.levels.nvals == reached
        for call in (graph.bfs, lambda A, v, **f: graph.bfs_multi(A, [v], **f)):
            with pytest.raises(InvalidValue, match="neither levels nor parents"):
                call(SQUARE, 0, levels=False, parents=False)
        for order, error in orders(N):
            for call in (graph.greedy_colours, lambda A, o: graph.independent_set(A, o, gb.Vector(bool, N))):
                if error is None:
                    call(SQUARE, gb.Vector.from_dense(order))
                    continue
                with pytest.raises(error, match="order"):
                    call(SQUARE, gb.Vector.from_dense(order))


def test_sizes_of_votes():
    for size in (N - 1, N + 1):
        with pytest.raises(DimensionMismatch, match=f"rows: expected a Vector of size {N}, got {size}"):
            graph.best_move(SQUARE, OWN, FULL, FULL, FULL, rows=gb.Vector(bool, size))
        with pytest.raises(DimensionMismatch, match="colours"):
            graph.mex(SQUARE, gb.Vector(int, size))


@pytest.mark.parametrize("backend", BACKENDS)
def test_repeated_sources(backend):
    """Several sources in any order, some twice: one search from all of them."""
    with BACKENDS[backend]():
        wanted = graph.bfs(SQUARE, [0, 4, 7], parents=True)
        for sources in ([7, 4, 0], [0, 0, 4, 7, 7], (4, 7, 4, 0), np.array([7, 7, 4, 0], np.uint16)):
            found = graph.bfs(SQUARE, sources, parents=True)
            if wanted is None:
                assert found is None
                continue
            assert found.levels.isequal(wanted.levels) and found.parents.isequal(wanted.parents)
            assert [row["frontier"] for row in found.report.levels] == [row["frontier"] for row in wanted.report.levels]
            assert found.report.reached == wanted.report.reached == 5


@pytest.mark.parametrize("backend", BACKENDS)
def test_paths_in_seldom_forms(backend):
    with BACKENDS[backend]():
        # weights beyond 2^63, and as great as the type permits
        for dtype, most in (("UINT64", 2**64 - 1), ("INT64", 2**63 - 1), ("INT32", 2**63 - 1), ("BOOL", 2**63 - 1)):
            top = {"UINT64": 2**64 - 1, "INT64": 2**63 - 1, "INT32": 2**31 - 1, "BOOL": 1}[dtype] // (
                3 if dtype == "UINT64" else 4
            )
            A = gb.Matrix.from_coo([0, 1], [1, 2], [max(1, top), max(1, top)], dtype, nrows=3, ncols=3)
            found = graph.sssp(A, 0)
            assert found is None or found.distances[2].new().value == 2 * max(1, top) <= most
            if dtype[-2:] == "64":
                with pytest.raises(OverflowError, match="may exceed the type"):
                    graph.sssp(gb.Matrix.from_coo([0], [1], [2 * top], dtype, nrows=3, ncols=3), 0)
        # no entries, one vertex, weights that the caller knows
        for n in (1, 4):
            found = graph.sssp(gb.Matrix(float, n, n), 0, predecessors=True)
            assert found is None or (found.distances.to_dict() == {0: 0.0} == found.predecessors.to_dict())
        for least in (-1.0, np.nan, -np.inf):
            with pytest.raises(ValueError, match=f"a weight is {least}"):
                graph.sssp(SQUARE, 0, weights=(least, 3.0))
        # tight edges: of each form and type
        for form, dtype in itertools.product(("csr", "csc", "dcsr"), ("FP64", "INT8", "FP32")):
            A = SQUARE.dup(dtype) if form != "dcsr" else gb.Matrix.from_coo(
                [0, 1, 2**40], [1, 2, 3], 1, dtype, nrows=2**41, ncols=2**41
            )  # fmt: skip
            if form == "csc":
                A = A.T.new()
                A = A.T.new()
            d = gb.Vector.from_coo([0, 1, 2], [0, 1, 3] if form != "dcsr" else [0, 1, 2], "FP64", size=A.nrows)
            E = graph.tight_edges(A, d)
            assert E.dtype == "BOOL" and E.to_dicts() == {0: {1: True}, 1: {2: True}}
            assert A._store.format != "csr" or E._store.format == "csr", (form, dtype, E._store.format)


@pytest.mark.parametrize("backend", BACKENDS)
def test_distances_to_a_target(backend):
    """Vertices that are nearer than the target, and itself, have their distance; those that are farther none."""
    path = gb.Matrix.from_coo(range(N - 1), range(1, N), np.arange(1.0, N), nrows=N, ncols=N)
    whole = np.concatenate([[0.0], np.cumsum(np.arange(1.0, N))])
    with BACKENDS[backend]():
        for target in range(N):
            found = graph.distances(path, [0], target=target, parents=True)
            if found is None:
                return
            D, P = found
            known = np.arange(N) <= target
            assert np.array_equal(np.where(known, whole, -1), D[0]), target
            assert P.reshape(-1)[target] == max(0, target - 1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_shares_keep_the_structure(backend):
    """Of a hypersparse matrix, too, where the backend has a loop for it."""
    for n in (6, 500, 2**33):
        at = np.array([0, 1, 2]) * (n // 4)
        A = gb.Matrix.from_coo(at[:2], at[1:], 1.0, nrows=n, ncols=n)
        if n < 2**30:
            A = A.ss.export("hypercsr", raw=False) and gb.Matrix.ss.import_hypercsr(**_given(A.ss.export("hypercsr")))
        with BACKENDS[backend]():
            found = graph.dependencies(A, [0], by_edge=True)
            assert found is None or found.to_dicts() == {int(at[0]): {int(at[1]): 2.0}, int(at[1]): {int(at[2]): 1.0}}


def _given(exported):
    return {key: value for key, value in exported.items() if key not in ("format", "sorted_cols")}


@pytest.mark.parametrize("backend", BACKENDS)
def test_colours_at_the_ends_of_words(backend):
    """The least colour that is missing, for all sets of colours up to and beyond words of 64."""
    rng, n = generator("mex", backend), 200
    with BACKENDS[backend]():
        for most in (1, 63, 64, 65, 127, 128, 129, 199):
            for lacking in {0, most // 2, most - 1, most, 63, 64, 65}:
                colours = [k for k in range(most) if k != lacking]
                order = rng.permutation(len(colours))
                v = gb.Vector.from_coo(order, np.array(colours, np.int64)[order], "INT64", size=n)
                A = gb.Matrix.from_coo(np.zeros(n, int), np.arange(n), 1, nrows=1, ncols=n)
                assert graph.mex(A, v).to_dict() == {0: min(lacking, most)}, (most, lacking)


@pytest.mark.parametrize("backend", BACKENDS)
def test_matchings_of_more_rows_and_of_more_columns(backend):
    with BACKENDS[backend]():
        for m, n in ((2, 5), (5, 2), (3, 3)):
            B = gb.Matrix.from_coo(*np.nonzero(np.ones((m, n))), 1, nrows=m, ncols=n)
            found = graph.bipartite_matching(B)
            if found is None:
                return
            rows, columns = found
            assert (rows.size, columns.size, rows.name, columns.name) == (m, n, "mate_row", "mate_col")
            assert rows.nvals == columns.nvals == min(m, n)
            assert {j: i for i, j in rows.to_dict().items()} == columns.to_dict()
        rows, columns = graph.bipartite_matching(gb.Matrix.from_coo([0], [2], 1, nrows=3, ncols=3))
        assert (rows.to_dict(), columns.to_dict()) == ({0: 2}, {2: 0})


@pytest.mark.parametrize("backend", BACKENDS)
def test_random_orders_follow_what_goes_first(backend):
    with BACKENDS[backend]():
        plain = graph.random_order(50, 3).to_dense()
        assert sorted(plain.tolist()) == list(range(50))
        for first in (np.arange(50), np.arange(50)[::-1], np.arange(50) // 10, np.zeros(50, int)):
            found = graph.random_order(50, 3, gb.Vector.from_dense(first)).to_dense()
            ranks = {vertex: k for k, vertex in enumerate(plain.tolist())}
            assert found.tolist() == sorted(range(50), key=lambda v: (-first[v], ranks[v]))  # noqa: B023
        few = graph.random_order(50, 3, gb.Vector.from_coo([7, 9], [1, 5], size=50)).to_dense()
        assert few[:2].tolist() == [9, 7]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("plus", ["plus", "max", "min", "times"])
def test_quotients(backend, plus):
    """S' B S over each monoid, with and without the entries within classes, against loops over the entries."""
    rng, combine = (
        generator("quotient", plus),
        {"plus": np.add, "max": np.maximum, "min": np.minimum, "times": np.multiply},
    )
    with BACKENDS[backend]():
        for count in (1, 3, N):
            D = np.triu(rng.integers(0, 4, (N, N)) * (rng.random((N, N)) < 0.5)).astype(float)
            D = D + np.triu(D, 1).T
            labels = np.concatenate([np.arange(count), rng.integers(0, count, N - count)])
            B = gb.Matrix.from_coo(*np.nonzero(D), D[np.nonzero(D)], nrows=N, ncols=N)
            wanted = {}
            for i, j in zip(*np.nonzero(D), strict=True):
                key = labels[i], labels[j]
                wanted[key] = combine[plus](wanted[key], D[i, j]) if key in wanted else D[i, j]
            for inner in (True, False):
                C = communities.quotient(B, communities.array_of(labels), count, plus, inner=inner)
                found = {(i, j): x for i, row in C.to_dicts().items() for j, x in row.items()}
                assert C.shape == (count, count)
                assert found == {k: x for k, x in wanted.items() if inner or k[0] != k[1]}, (count, inner)


@pytest.mark.parametrize("backend", BACKENDS)
def test_entries_of_vectors_of_each_form(backend):
    with BACKENDS[backend]():
        forms = (gb.Vector.from_scalar(3.0, 5), gb.Vector.from_dense([1.0, 2.0, 3.0, 4.0, 5.0]), gb.Vector(float, 5),
                 gb.Vector.from_coo([1, 3], [2.0, 4.0], size=5), gb.Vector.from_coo([1, 3], 2.0, size=5),
                 gb.Vector.from_coo([0, 1, 3, 4], [2.0, 4.0, 1.0, 9.0], size=5))  # fmt: skip
        for v in forms:
            at, values = (
                np.asarray(x.get() if hasattr(x, "get") else x)
                for x in (communities.positions(v), communities.entries(v))
            )
            wanted, numbers = v.to_coo()
            assert at.tolist() == wanted.tolist() and values.tolist() == numbers.tolist(), v
            dense = communities.dense(v)
            assert (
                np.asarray(dense.get() if hasattr(dense, "get") else dense).tolist()
                == v.to_dense(fill_value=0.0).tolist()
            )


@pytest.mark.parametrize("kind", ["itself", "a copy", "another"])
def test_what_is_kept_with_a_matrix_does_not_keep_it(kind):
    def value():
        A = held[0]
        return A if kind == "itself" else A.dup() if kind == "a copy" else A.T.new()

    held = [gb.Matrix.from_coo([0, 1], [1, 2], [1.0, 2.0], nrows=3, ncols=3)]
    found = graph.cached(held[0], "key", value)
    assert found.isequal(value()) and graph.cached(held[0], "key", None).isequal(found)
    assert graph.known(held[0])["key"].isequal(value()) and (kind != "itself" or found is held[0])
    gone = weakref.ref(held.pop())
    del found
    gc.collect()
    assert gone() is None


def test_symmetry_of_rectangles_and_structures():
    for rows, columns in ((3, 4), (4, 3), (1, 2)):
        A = gb.Matrix.from_coo([0], [0], 1, nrows=rows, ncols=columns)
        assert not graph.is_symmetric(A) and not graph.is_symmetric_structure(A)
        assert not graph.is_symmetric(gb.Matrix(int, rows, columns))


@pytest.mark.parametrize("backend", BACKENDS)
def test_labels_and_colours_of_every_type_and_mask(backend):
    """Small, unsigned and Boolean labels count as INT64; rows outside of a mask have no entry."""
    rng = generator("types of labels", backend)
    D = (rng.random((N, N)) < 0.4).astype(float)
    A = gb.Matrix.from_coo(*np.nonzero(D), 1.0, nrows=N, ncols=N)
    some = gb.Vector.from_coo([0, 2, 5, 8], [True, False, True, True], size=N)
    masks = ((None, range(N)), (some.S, (0, 2, 5, 8)), (~some.S, (1, 3, 4, 6, 7)), (some.V, (0, 5, 8)),
             (~some.V, (1, 2, 3, 4, 6, 7)))  # fmt: skip
    with BACKENDS[backend]():
        for dtype in ("BOOL", "INT8", "UINT8", "INT32", "UINT64", "INT64"):
            own = rng.integers(0, 2 if dtype == "BOOL" else N, N)
            labels, ones = gb.Vector.from_dense(own).dup(dtype), gb.Vector.from_scalar(1.0, N)
            sums = graph.sum_of_own(A, labels).to_dense().tolist()
            assert sums == [float(D[i, own == own[i]].sum()) for i in range(N)], dtype
            votes = graph.mode(A, labels).to_dict()
            counts = [np.bincount(own[D[i] > 0], minlength=N) for i in range(N)]
            assert votes == {i: int(np.argmax(counts[i])) for i in range(N) if D[i].any()}, dtype
            assert graph.best_move(A, labels, ones, ones, ones)[0].dtype == "INT64"
            least = [min(set(range(N + 1)) - set(own[D[i] > 0].tolist())) for i in range(N)]
            for mask, rows in masks:
                assert graph.mex(A, labels, mask=mask).to_dict() == {i: least[i] for i in rows}, (dtype, mask)
        for wrong in (gb.Vector.from_scalar(1.5, N), gb.Vector.from_scalar(1j, N)):
            for call in (lambda v: graph.mex(A, v), lambda v: graph.mode(A, v), lambda v: graph.sum_of_own(A, v)):
                with pytest.raises(TypeError, match="expected INT64, got F"):
                    call(wrong)


@pytest.mark.parametrize("backend", BACKENDS)
def test_passes_of_one_result_and_of_several(backend):
    @graph.one_pass
    def one(x):
        return x + 1.0

    @graph.one_pass
    def total(x):
        return (x + 1.0).sum()

    @graph.one_pass
    def mixed(x):
        return x.max(), x * 2.0, x.sum()

    with BACKENDS[backend]():
        x = gb.Vector.from_dense([1.0, 5.0, 3.0])
        assert one(x).to_dense().tolist() == [2.0, 6.0, 4.0] and total(x).value == 12.0
        greatest, doubled, whole = mixed(x)
        assert (greatest.value, doubled.to_dense().tolist(), whole.value) == (5.0, [2.0, 10.0, 6.0], 9.0)


def test_what_a_report_says():
    rows = [{"frontier": 1, "direction": "push"}, {"frontier": 4, "direction": "pull"},
            {"frontier": 7, "direction": "pull, rows"}, {"frontier": 2}]  # fmt: skip
    for seconds, took in ((None, ""), (0.5, ", 500.000 ms")):
        report = graph.LoopReport(LoopOutcome("cpu", "by level", lambda: rows, "csr", 14, seconds))
        assert repr(report) == f"14 reached in 4 levels (2 pulled), cpu{took}" and report.expanded == 14


def test_arrays_of_local_moves_have_a_number_for_each_vertex():
    from grb_tile.graph import local_moves

    good, rule = np.ones(N), (None, 0.0, 0.0)
    x = np.zeros(N, np.int64)
    for size in (N - 1, N + 1):
        for wrong in ({"u": np.ones(size)}, {"k": np.ones(size)}, {"x": np.zeros(size, np.int64)}):
            given = {"x": x, "u": good, "k": good} | wrong
            (name,) = wrong
            for call in (
                lambda g: local_moves.move_rounds(SQUARE, g["x"], g["u"], g["k"], rule, 1, 0),
                lambda g: local_moves.settle(SQUARE, g["x"], g["u"], g["k"], (*rule, None)),
                lambda g: local_moves.join_rounds(SQUARE, g["x"], g["k"], 1.0, 1, 0),
            ):
                if name != "u" or call.__code__.co_names.count("join_rounds") == 0:
                    with pytest.raises(DimensionMismatch, match=f"{name}: expected {N} numbers"):
                        call(given)
    for wrong in (-1, N):
        with pytest.raises(IndexOutOfBound, match="x: expected numbers from 0 to 8"):
            local_moves.join_rounds(SQUARE, np.full(N, wrong), good, 1.0, 1, 0)
