"""Shortest paths in one kernel, run as fibers, against SciPy's Dijkstra and the plain loop."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from cuda_emulation.backend import EMULATED, shim, using_shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.graph import sssp as paths, sssp_graph as paths_graph
from grb_tile.planner import force, tuning
from grb_tile.storage import place
from grb_tile.storage.store import Compressed
from support import seeds

TYPES = ["BOOL", "INT8", "UINT8", "INT16", "INT32", "UINT32", "INT64", "UINT64", "FP32", "FP64"]


def store_of(n, rows, cols, weights, dtype, symmetric):
    """CSR of the edges without duplicates; a symmetric one has each edge's weight both ways."""
    rows, cols = np.asarray(rows, np.int64), np.asarray(cols, np.int64)
    if symmetric:
        rows, cols, weights = (
            np.concatenate((rows, cols)),
            np.concatenate((cols, rows)),
            np.concatenate((weights, weights)),
        )
        low, high = np.minimum(rows, cols), np.maximum(rows, cols)
        _, first, back = np.unique(low * n + high, return_index=True, return_inverse=True)
        weights = weights[first][back]
    keys, first = np.unique(rows * n + cols, return_index=True)
    indptr = np.searchsorted(keys // max(n, 1), np.arange(n + 1)).astype(np.int64)
    dtype = dtypes.lookup_dtype(dtype)
    return Compressed(
        n, n, dtype, indptr, (keys % max(n, 1)).astype(np.int32), weights[first].astype(dtype.np_type), False
    )


def generator(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def random_store(n, edges, dtype, salt, symmetric=True, skew=1, lightest=0, heaviest=60):
    rng = generator(salt, n)
    rows, cols = n * rng.random(edges) ** skew, n * rng.random(edges) ** ((skew + 1) / 2)
    weights = rng.integers(lightest, heaviest + 1, edges)
    weights = weights / 7 if dtype.startswith("FP") else weights > lightest if dtype == "BOOL" else weights
    return store_of(n, rows.astype(np.int64), cols.astype(np.int64), weights, dtype, symmetric)


def grid(width, height, salt):
    at = np.arange(width * height).reshape(height, width)
    rows = np.concatenate((at[:, :-1].ravel(), at[:-1].ravel()))
    cols = np.concatenate((at[:, 1:].ravel(), at[1:].ravel()))
    return store_of(width * height, rows, cols, generator(salt).integers(1, 256, rows.size), "INT32", True)


def by_dijkstra(A, source):
    """The same sums in exact integers or in the type's own floats, from the source on."""
    import heapq

    kind = A.values.dtype.type if A.values.dtype.kind == "f" else int
    best, heap = {}, [(kind(0), source)]
    while heap:
        d, v = heapq.heappop(heap)
        if v in best:
            continue
        best[v] = d
        for k in range(A.indptr[v], A.indptr[v + 1]):
            if int(A.indices[k]) not in best:
                heapq.heappush(heap, (d + kind(A.values[k]), int(A.indices[k])))
    return best


def as_dict(store):
    store = place.host(store)
    there = np.unpackbits(store.words.view(np.uint8), bitorder="little")
    assert not there[store.size :].any() and there.sum() == store.nvals
    at = np.flatnonzero(there)
    return dict(zip(at.tolist(), store.values[at].tolist(), strict=True))


def check_tree(A, source, distances, tree):
    """Each vertex's distance comes by an edge from its predecessor, which is nearer."""
    assert tree.keys() == distances.keys() and tree[source] == source
    kind = A.values.dtype.type if A.values.dtype.kind == "f" else int
    for v, u in tree.items():
        if v != source:
            at = A.indptr[u] + np.flatnonzero(A.indices[A.indptr[u] : A.indptr[u + 1]] == v)
            assert at.size == 1 and distances[u] < distances[v]
            assert (kind(distances[u]) + kind(A.values[at[0]] if A.values.size > 1 else A.values[0])) == distances[v]


def check(A, AT, source, delta=None):
    device = shim().device
    heaviest = A.values.max() if A.nvals else 0
    store, tree, outcome = paths.shortest_paths(device, A, lambda: AT, source, heaviest, delta, AT is not None)
    found, wanted = as_dict(store), by_dijkstra(A, source)
    assert found == {v: (d if type(d) is int else d.item()) for v, d in wanted.items()}
    assert outcome.reached == len(wanted)
    integers = dtypes.UINT64 if A.dtype is dtypes.UINT64 else dtypes.INT64
    assert store.dtype is (A.dtype if A.values.dtype.kind == "f" else integers)
    assert store.values.dtype == store.dtype.np_type and (tree is None or tree.dtype is dtypes.INT64)
    graph = paths.graph_of(device, device.to_device(A), heaviest)
    if tree is not None:
        check_tree(A, source, found, as_dict(tree))
    elif AT is not None:
        assert A.values.dtype.kind == "f" or not A.values.all()  # only then may edges have no length
    workspace = graph._table[1]
    counters = device.host(workspace["control"])[:26]  # the blocks' messages may stay
    assert not device.host(workspace["in_list"]).any() and not counters.any()
    return outcome


@pytest.fixture
def launch(monkeypatch):
    return lambda **changes: [monkeypatch.setitem(paths.LAUNCH, key, value) for key, value in changes.items()]


@pytest.fixture
def wide(monkeypatch):
    """Even short rows are pulled."""
    monkeypatch.setattr(tuning, "HIGH_DIAMETER_MEAN", 0)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("symmetric", [True, False])
def test_types(dtype, symmetric, launch):
    A = random_store(500, 5000, dtype, 1, symmetric, skew=3)
    AT = A if symmetric else select.named("numpy").transpose(A)
    for pull_at in (0, 1, 2):
        launch(pull_at=pull_at)
        for delta in (None, 3, np.inf):
            check(A, AT, 7, delta)


def test_every_type_has_lengths_of_its_own():
    for dtype in TYPES:
        A = random_store(40, 120, dtype, 3)
        check(A, A, 5)


@pytest.mark.parametrize("pull_at", [0, 1, 2])
@pytest.mark.parametrize("salt", range(4))
def test_pulls_and_pushes(pull_at, salt, launch, wide):
    """Any place at which the search turns from pushing to pulling; unreached vertices; weights of 0."""
    launch(pull_at=pull_at)
    for n, edges, skew in ((300, 330, 1), (700, 9000, 4), (200, 4000, 1)):
        A = random_store(n, edges, "INT32", 10 + salt, skew=skew, lightest=salt % 2, heaviest=(3, 60, 1000, 255)[salt])
        rng = generator(salt)
        for step in (0.5, 4.0):
            launch(step=step, most=(0, 9)[salt % 2])
            check(A, A, int(rng.integers(n)))


def test_pulls_happen(launch):
    launch(pull_at=2, step=1.0)
    A = random_store(900, 20000, "INT32", 5, skew=4, lightest=1, heaviest=255)
    kinds = {row["direction"] for row in check(A, A, 3).rows()}
    assert {"relax", "raise", "pull", "pull again"} <= kinds


def test_a_long_row_is_pulled_by_a_warp(launch, wide):
    """Rows beyond what a lane looks at alone, in both directions of the search."""
    launch(pull_at=1, step=0.01)
    rng = generator(3)
    rows = np.concatenate((np.zeros(1500), np.full(300, 1999), rng.integers(0, 2000, 900)))
    cols = np.concatenate((np.arange(100, 1600), rng.integers(1, 1999, 300), rng.integers(0, 2000, 900)))
    A = store_of(2000, rows, cols, rng.integers(1, 200, rows.size), "INT32", True)
    for source in (150, 1998, 0):
        check(A, A, source)


@pytest.mark.parametrize("delta", [None, 1e-9, 1, 7, 300, 1e12, np.inf])
def test_any_delta(delta):
    A = random_store(300, 3000, "INT32", 2, lightest=1)
    check(A, A, 0, delta)
    B = random_store(300, 3000, "FP64", 2)
    check(B, B, 0, delta)


def test_sums_at_the_bound():
    """Directed graphs of small weights and a given step: the heaviest edges of many vertices end exactly at a bound."""
    for salt in range(8):
        A = random_store(60, 300, "INT32", 20 + salt, symmetric=False, lightest=1, heaviest=29)
        for delta in (4, 8):
            check(A, None, salt, delta)


def test_entries_of_a_pulled_row_behind_those_read_at_once(launch):
    """Rows of the last vertices: so many light edges to one another, then the one edge that counts, then heavy ones."""
    launch(pull_at=2)
    for light in (12, 15, 16, 17, 18, 19, 20):
        rng = generator(light)
        rows, cols = np.repeat(np.arange(400), 12), rng.integers(0, 400, 4800)
        last = np.arange(40)
        near = np.concatenate([(last + k) % 40 for k in (*range(1, light // 2 + 1), *(20,) * (light % 2))])
        far = rng.permuted(np.tile(np.arange(400), (40, 1)), axis=1)[:, :6]
        rows = np.concatenate((rows, np.tile(last, near.size // 40) + 400, np.repeat(last + 400, 6)))
        cols = np.concatenate((cols, near + 400, far.ravel()))
        weights = rng.integers(1, 4, 4800), np.full(near.size, 900), np.tile((1000, *(5000,) * 5), 40)
        A = store_of(440, rows, cols, np.concatenate(weights), "INT32", True)
        assert check(A, A, 0).rows()[-1]["direction"] == "pull again"


def test_rounds_without_edges_are_recorded(launch):
    """The bound is raised: no edge is relaxed, and that is known."""
    launch(pull_at=0)
    rows = check(A := random_store(300, 3000, "INT32", 2, lightest=1), A, 0, 1).rows()
    assert {row["edges"] for row in rows if row["direction"] == "raise"} == {0}
    assert all(row["edges"] > 0 for row in rows if row["direction"] == "relax")


def test_a_grid():
    A = grid(23, 19, 4)
    for source in (0, 200, 436):
        check(A, A, source)
    check(A, A, 5, 100)


@pytest.fixture
def high_diameter(monkeypatch):
    """Even small graphs with short rows take the high-diameter kernel."""
    monkeypatch.setattr(tuning, "HIGH_DIAMETER_VERTICES", 0)


def is_high_diameter(A):
    here = A.forms.get(("device", shim().device.number), A)
    return here.forms["sssp"].is_high_diameter


@pytest.mark.parametrize("delta", [None, 1, 40, 300, 10**7])
def test_high_diameter(delta, high_diameter):
    A = grid(23, 19, 4)
    for source in (0, 200, 436):
        check(A, A, source, delta)
    assert is_high_diameter(A)
    chain = store_of(90, range(89), range(1, 90), generator(2).integers(0, 50, 89), "INT32", True)
    check(chain, chain, 30, delta)
    B = random_store(400, 420, "INT32", 1, lightest=0)  # several components, weights of 0
    for source in (0, 100, 399):
        check(B, B, source, delta)


@pytest.mark.parametrize("kernel", ["grid_wide", "grid_low_skew", "blocks_high_diameter"])
def test_the_first_vertex_is_not_reached(kernel):
    """What lanes without an item read is its distance, of vertex 0."""
    chain = store_of(90, range(1, 89), range(2, 90), generator(2).integers(1, 50, 88), "INT32", True)
    for source in (1, 30, 89):
        for delta in (2, 40):
            with force(kernel):
                check(chain, chain, source, delta)


@pytest.mark.parametrize("dtype", TYPES)
def test_high_diameter_types(dtype, high_diameter):
    A = random_store(300, 700, dtype, 2, symmetric=False, lightest=0)
    for delta in (None, 5):
        check(A, None, 7, delta)
    assert is_high_diameter(A)


def test_high_diameter_long_rows(high_diameter):
    """Rows of more entries than are read at once; from tuning.SSSP_HIGH_DIAMETER_DEGREE on the other kernel runs."""
    rng = generator(5)
    A = store_of(300, np.repeat(np.arange(30), 12), rng.integers(0, 300, 360), rng.integers(1, 99, 360), "INT32", True)
    check(A, A, 0)
    assert is_high_diameter(A)
    star = store_of(300, np.zeros(299), np.arange(1, 300), rng.integers(1, 99, 299), "INT32", True)
    check(star, star, 5)
    assert not is_high_diameter(star)


@pytest.mark.parametrize("kernel", ["grid_wide", "grid_low_skew", "blocks_high_diameter"])
def test_forced_kernels(kernel):
    A = grid(23, 19, 4)
    with force(kernel):
        choice = check(A, A, 0).choice
    assert choice.rule == ("kernel_unsuited" if kernel == "grid_low_skew" else "forced")


@pytest.mark.parametrize("places", ["queue", "far pile"])
def test_high_diameter_overflows(places, high_diameter, monkeypatch):
    """A queue or a far pile that is too small: the other kernel starts anew."""
    A = grid(25, 30, 6)
    with monkeypatch.context() as small:
        small.setattr(paths_graph, "QUEUE_BYTES", 72 if places == "queue" else 1 << 16)
        small.setattr(paths, "FAR_ITEMS", 9 if places == "far pile" else 1 << 17)
        rows = check(A, A, 300, 500 if places == "queue" else 2).rows()
        assert any(row["direction"] == "raise" for row in rows)
    A = grid(25, 30, 6)  # a new one, because the graph keeps the sizes of its first launch
    rows = check(A, A, 300, 500).rows()
    assert all(row["direction"] == "relax" and row["edges"] is None for row in rows)


def test_weights_beyond_32_bits():
    """Keys of 64 bits, entries of 8 and of 16 bytes; the heaviest path that fits."""
    for dtype, heaviest in (("UINT32", 2**32 - 1), ("INT64", 2**50), ("UINT64", 2**60 // 300 * 16)):
        A = random_store(100, 500, dtype, 6, lightest=heaviest - 1000, heaviest=heaviest)
        check(A, A, 3)
    chain = store_of(6, range(5), range(1, 6), np.full(5, 2**62 // 5, np.int64), "INT64", False)
    check(chain, None, 0)


def test_entries_of_every_size():
    sizes = set()
    for dtype, heaviest in (("INT32", 255), ("INT32", 2**30), ("INT64", 2**50), ("FP32", 9), ("FP64", 9)):
        A = random_store(100, 500, dtype, 6, heaviest=heaviest)
        outcome = check(A, A, 3)
        sizes.add((outcome._graph.key.str[1:], outcome._graph.bytes, outcome._graph.real))
    assert sizes == {("u4", 4, False), ("u8", 8, False), ("u8", 16, False), ("u4", 8, True), ("u8", 16, True)}


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_sums_of_floats_are_those_of_the_loop(dtype, launch):
    """Roundings, infinities, subnormals and -0.0."""
    rng = generator(9)
    weights = np.concatenate(
        (rng.random(3000) * 10.0 ** rng.integers(-30, 30, 3000), [np.inf, 0.0, -0.0, 1e-45, 1e-310])
    )
    rows, cols = rng.integers(0, 250, (2, weights.size))
    with np.errstate(over="ignore"):
        A = store_of(250, rows, cols, weights, dtype, True)
        for pull_at in (0, 1):
            launch(pull_at=pull_at)
            for delta in (None, 1.0, np.inf):
                check(A, A, 0, delta)


@pytest.mark.parametrize(("dtype", "least"), [("FP32", 2.0**-149), ("FP64", 2.0**-1074)])
def test_subnormal_weights_have_their_length(dtype, least):
    """A device's own additions may take them for zeros; -0.0 is one."""
    weights = least * generator(4).integers(1, 9, 199)
    weights[[7, 90]] = 0.0, -0.0
    check(store_of(200, range(199), range(1, 200), weights, dtype, True), None, 0)


def test_a_search_after_one_that_failed_while_in_edges_were_sorted(monkeypatch, wide):
    A = random_store(300, 3000, "INT32", 8, False)
    AT, sort = select.named("numpy").transpose(A), paths_graph.SsspGraph._sorted

    def interrupted(graph, store):
        if hasattr(graph, "out"):  # the out-edges are sorted
            raise KeyboardInterrupt
        return sort(graph, store)

    monkeypatch.setattr(paths_graph.SsspGraph, "_sorted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check(A, AT, 0)
    monkeypatch.setattr(paths_graph.SsspGraph, "_sorted", sort)
    check(A, AT, 0)


def test_nan_and_halves_are_left_to_others():
    A = random_store(50, 200, "FP32", 1)
    A.values[3] = np.nan
    assert paths.shortest_paths(shim().device, A, lambda: A, 0, 9.0, None, False) is NotImplemented


def test_small_graphs():
    for n in (1, 2, 70):
        A = store_of(n, [], [], np.zeros(0), "INT32", False)
        check(A, A, n - 1)
    loops = store_of(3, [0, 1, 1, 2], [0, 1, 2, 2], np.array([3, 0, 2, 1]), "INT32", False)
    check(loops, None, 1)
    equal = store_of(40, range(39), range(1, 40), np.full(39, 5), "INT32", True)
    check(equal, equal, 20)


def test_iso_weights():
    A = random_store(300, 2000, "INT32", 3)
    A.values, A.iso = np.array([4], np.int32), True
    device = shim().device
    store, _, _ = paths.shortest_paths(device, A, lambda: A, 5, 4, None, False)
    plain = csr_array((np.full(A.nvals, 4.0), A.indices, A.indptr), A.shape)
    wanted = dijkstra(plain, indices=5)
    assert as_dict(store) == {v: int(d) for v, d in enumerate(wanted) if np.isfinite(d)}


def test_random_orders_of_threads(monkeypatch):
    """Fibers in another order: what a missing barrier would break."""
    from cuda_emulation.launcher import EmulatedLauncher
    from grb_tile.backends.cuda.runtime.device import Device

    if not EMULATED:
        pytest.skip("the order of threads can be chosen in the CPU emulation only")
    A = random_store(900, 12000, "INT32", 4, skew=4, lightest=1, heaviest=255)
    wanted = by_dijkstra(A, 7)
    for seed in (3, 5):
        device = Device(EmulatedLauncher(seed=seed))
        for pull_at in (0, 1):
            monkeypatch.setitem(paths.LAUNCH, "pull_at", pull_at)
            store, tree, _ = paths.shortest_paths(device, A, lambda: A, 7, 255, None, True)
            assert as_dict(store) == wanted
            check_tree(A, 7, wanted, as_dict(tree))


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
@pytest.mark.sampled(1)
def test_steps_beyond_the_type(dtype):
    """A mean weight near the largest number: a step of many means is taken as that number."""
    import grb_tile as gb
    from grb_tile.algorithms import sssp

    heavy = float(np.finfo(getattr(dtypes, dtype).np_type).max) / 4
    A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 4], [heavy, heavy, np.inf, 1], dtype, nrows=6, ncols=6)
    with using_shim():
        assert sssp(A, 0).distances.to_dict() == {0: 0, 1: heavy, 2: 2 * heavy, 3: np.inf, 4: np.inf}


def test_the_algorithm_reaches_it():
    import grb_tile as gb
    from grb_tile.algorithms import NegativeCycleError, sssp

    A = gb.Matrix._from_store(random_store(300, 2500, "UINT8", 5, lightest=1), dtypes.UINT8)
    cpu = sssp(A, 5, predecessors=True)
    with using_shim() as backend:
        calls = []
        before = backend.sssp
        backend.sssp = lambda *a: calls.append(a) or before(*a)
        try:
            for method in ("auto", "delta", "bellman_ford"):
                found = sssp(A, 5, method=method, predecessors=True)
                assert found.distances.isequal(cpu.distances, check_dtype=True)
                assert found.report.converged and found.report.iterations > 0
                assert "threshold" in found.report.rounds[0]
            assert len(calls) == 3
            stopped = sssp(A, 5, callback=lambda record: True)
            assert stopped.report.stopped_by == "callback" and len(calls) == 3
            B = gb.Matrix.from_coo([0, 1, 2], [1, 2, 1], [1, -3, 1], nrows=3, ncols=3)
            with pytest.raises(NegativeCycleError):
                sssp(B, 0)
            top = np.iinfo(np.int64).max
            C = gb.Matrix.from_coo([0, 1], [1, 2], [top - 5, 6], nrows=3, ncols=3)
            with pytest.raises(OverflowError):
                sssp(C, 0)
            assert len(calls) == 3
        finally:
            del backend.sssp


def test_without_room_the_loop_does_it(monkeypatch):
    """No room to sort the entries, not even when derived forms are dropped."""
    import grb_tile as gb
    from grb_tile.algorithms import sssp

    A, B = (gb.Matrix._from_store(random_store(100, 900, "INT32", 12, lightest=1), dtypes.INT32) for _ in range(2))
    cpu = sssp(A, 5)
    with using_shim() as backend:
        found = sssp(A, 5)
        assert "direction" in found.report.rounds[0]
        before = backend.device.memory
        monkeypatch.setattr(paths_graph, "SORT_BYTES", 1 << 30)
        monkeypatch.setattr(backend.device, "memory", lambda: (1 << 30, before()[1]))
        late = sssp(B, 5)
        assert "direction" not in late.report.rounds[0]
        assert late.distances.isequal(cpu.distances) and found.distances.isequal(cpu.distances)


def test_the_form_is_kept():
    A = random_store(100, 900, "INT32", 8)
    device = shim().device
    assert paths_graph.graph_of(device, device.to_device(A), 60) is paths_graph.graph_of(
        device, device.to_device(A), 60
    )


def test_a_step_that_rounding_loses():
    """The bound is 1 and the least step less than half a unit in its last place: it is raised all the same."""
    n = 5001
    child = np.arange(1, n - 1)
    rows, cols = np.append((child - 1) // 2, n - 1), np.append(child, 0)
    weights = np.append(np.zeros(child.size), 1)  # a tree of edges without length behind an edge of length 1
    outcome = check(store_of(n, rows, cols, weights, "FP32", False), None, n - 1, 1e-12)
    assert outcome.choice.kernel == "blocks_high_diameter"
