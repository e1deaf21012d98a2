"""gb.graph.bfs against a plain breadth-first search, every engine and direction."""

import contextlib
from collections import deque

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.algorithms import bfs_multi
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.dtypes import BOOL
from grb_tile.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from grb_tile.planner import tuning
from grb_tile.storage.convert import to_dcsr, transpose_of
from grb_tile.storage.store import Compressed
from support.searches import bfs, bfs_multi as many_at_once


def graph(n, m, seed, symmetric=False):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, n * n, m) if n else np.zeros(0, np.int64)
    rows, cols = keys // max(n, 1), keys % max(n, 1)
    if symmetric:
        keys = np.concatenate((keys, cols * n + rows))
    keys = np.unique(keys)
    indptr = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(keys // max(n, 1), minlength=n), out=indptr[1:])
    return Compressed(n, n, BOOL, indptr, (keys % max(n, 1)).astype(np.int32), np.ones(1, np.bool_), iso=True)


def plain(A, sources, max_level=None):
    level = {int(s): 0 for s in sources}
    queue = deque(level)
    while queue:
        u = queue.popleft()
        if max_level is not None and level[u] == max_level:
            continue
        for v in A.indices[A.indptr[u] : A.indptr[u + 1]].tolist():
            if v not in level:
                level[v] = level[u] + 1
                queue.append(v)
    return level


def as_dict(store):
    if store.format == "sparse":
        return dict(zip(store.indices.tolist(), store.values.tolist(), strict=True))
    present = np.arange(store.size)
    if store.words is not None:
        present = np.flatnonzero(np.unpackbits(store.words.view(np.uint8), bitorder="little")[: store.size])
    assert present.size == store.nvals
    return dict(zip(present.tolist(), store.values[present].tolist(), strict=True))


def check(A, level, parent, wanted, sources):
    if level is not None:
        assert as_dict(level) == wanted
    if parent is not None:
        edges = set(zip(np.repeat(np.arange(A.nrows), np.diff(A.indptr)).tolist(), A.indices.tolist(), strict=True))
        parents = as_dict(parent)
        assert parents.keys() == wanted.keys()
        for v, u in parents.items():
            assert v == u if wanted[v] == 0 else (u, v) in edges and wanted[u] == wanted[v] - 1


@pytest.fixture(params=["numpy", "numba"])
def engine(request):
    with gb.plan(force=request.param):
        yield request.param


@pytest.mark.parametrize("direction", [None, "push", "pull"])
@pytest.mark.parametrize("n, m", [(1, 0), (2, 1), (64, 100), (65, 40), (300, 500), (300, 9000)])
def test_levels_and_parents(engine, direction, n, m):
    for symmetric in (False, True):
        A = graph(n, m, n + m, symmetric)
        AT = A if symmetric else transpose_of(A)
        for sources in ([0], [n - 1, 0]):
            wanted = plain(A, set(sources))
            for ask in ({}, {"parents": True}, {"parents": True, "levels": False}):
                if direction is None:
                    level, parent, report = bfs(A, AT, sources, **ask)
                else:
                    with gb.plan(force=direction):
                        level, parent, report = bfs(A, AT, sources, **ask)
                check(A, level, parent, wanted, sources)
                assert report.engine == engine
                assert report.reached == len(wanted)
                assert sum(row["frontier"] for row in report.levels) == len(wanted)
                if direction and engine == "numba":
                    assert {row["direction"] for row in report.levels} == {direction}


def test_push_only(engine):
    A = graph(200, 300, 7)
    level, parent, _ = bfs(A, None, 3, parents=True)
    check(A, level, parent, plain(A, [3]), [3])


def test_max_level_and_target(engine):
    A = graph(500, 800, 11, symmetric=True)
    source = int(np.argmax(np.diff(A.indptr)))
    full = plain(A, [source])
    for limit in (0, 1, 3):
        level, _, report = bfs(A, A, source, max_level=limit)
        assert as_dict(level) == plain(A, [source], limit)
        assert len(report) == min(limit, max(full.values()) + 1)
    target = max(full, key=full.get)
    near = next(v for v, d in full.items() if d == 2)
    for wanted in (target, near):
        level, _, report = bfs(A, A, source, target=wanted)
        assert as_dict(level) == plain(A, [source], full[wanted])


def test_a_target_nobody_comes_to(engine):
    A = gb.Matrix.from_coo([0, 1, 2, 4], [1, 2, 3, 0], True, nrows=5, ncols=5)._store  # 4 has no in-edges
    for AT in (transpose_of(A), None):
        level, _, _ = bfs(A, AT, 0, target=4)
        assert as_dict(level) == {0: 0, 1: 1, 2: 2, 3: 3}
        level, _, _ = bfs(A, AT, [4], target=4)
        assert as_dict(level) == {4: 0}


def test_a_path_of_many_levels_stays_in_one_call(monkeypatch):
    n = 10_000
    indptr = np.minimum(np.arange(n + 1), n - 1)
    A = Compressed(n, n, BOOL, indptr, np.arange(1, n, dtype=np.int32), np.ones(1, np.bool_), iso=True)
    calls = []
    functions = jit.plain_kernel("bfs", LEVELS=True, PARENTS=False, INDEX="i", IN_INDEX="i").load()
    advance = functions.advance
    monkeypatch.setattr(functions, "advance", lambda *args: (calls.append(1), advance(*args))[1])
    with gb.plan(force="numba"):
        level, _, report = bfs(A, transpose_of(A), 0)
    assert as_dict(level) == {v: v for v in range(n)}
    assert len(report) == n
    assert len(calls) == 3  # the log of levels was full twice


@pytest.mark.sampled(1)
@pytest.mark.parametrize("capacity", [1, 2, 3])
@pytest.mark.parametrize("direction", ["push", "pull", None])
def test_a_full_log_between_any_two_levels(direction, capacity, monkeypatch):
    """After an odd or an even number of pulls: the two frontiers change places in each."""
    from grb_tile.backends.cpu.graph import bfs as compiled_bfs

    monkeypatch.setattr(compiled_bfs, "LOG_LEVELS", capacity)
    A = graph(150, 220, 9, symmetric=True)
    source = int(np.argmax(np.diff(A.indptr)))
    with gb.plan(force="numba"), gb.plan(force=direction) if direction else contextlib.nullcontext():
        level, parent, report = bfs(A, A, source, parents=True)
    check(A, level, parent, plain(A, [source]), [source])
    assert len(report) > 6
    of_level = np.unique(list(as_dict(level).values()), return_counts=True)[1].tolist()
    assert [row["frontier"] for row in report.levels] == of_level and report.expanded == sum(of_level)
    if direction == "push":
        leaving, depths = np.diff(A.indptr), as_dict(level)
        edges = [sum(int(leaving[v]) for v, d in depths.items() if d == k) for k in range(len(of_level))]
        assert [row["edges"] for row in report.levels] == edges
    assert sum(row["ms"] for row in report.levels) == pytest.approx(1e3 * report.seconds)


def test_shared_pulls(monkeypatch):
    """Pulls handed out to threads give what pulls inside the loop give."""
    from grb_tile.backends.cpu.graph import bfs as compiled_bfs

    monkeypatch.setattr(tuning, "PARALLEL_BFS_WORDS", 1)
    monkeypatch.setattr(compiled_bfs, "PULL_WORDS_PER_CHUNK", 1)
    monkeypatch.setattr(jit_threads, "_threads", 2)
    A = graph(700, 9000, 5)
    with gb.plan(force="numba"):
        level, parent, report = bfs(A, transpose_of(A), 1, parents=True)
    check(A, level, parent, plain(A, [1]), [1])
    assert any(row["direction"] == "pull" for row in report.levels)
    assert all(row["ms"] >= 0 for row in report.levels)
    assert sum(row["ms"] for row in report.levels) == pytest.approx(1e3 * report.seconds)


def test_hypersparse():
    A = graph(100, 150, 2)
    with gb.plan(force="numba"):  # declines, NumPy does it
        level, parent, report = bfs(to_dcsr(A), None, 0, parents=True)
    check(A, level, parent, plain(A, [0]), [0])
    assert report.engine == "numpy"


def test_bad_arguments_are_named():
    A = graph(10, 20, 0)
    with pytest.raises(IndexOutOfBound, match="sources has 10"):
        bfs(A, A, 10)
    with pytest.raises(IndexOutOfBound, match="target has -1"):
        bfs(A, A, 0, target=-1)
    with pytest.raises(InvalidValue, match="max_level is -1"):
        bfs(A, A, 0, max_level=-1)
    with pytest.raises(InvalidValue, match="neither levels nor parents"):
        bfs(A, A, 0, levels=False)
    with pytest.raises(DimensionMismatch):
        gb.graph.bfs(gb.Matrix(bool, 3, 4), 0)


@pytest.mark.parametrize("direction", ["bittiled", "push_csc", "push_csr", "pull_csc"])
@pytest.mark.parametrize(
    "n, m, size", [(20, 30, ()), (70, 500, ("nt16",)), (150, 500, ("nt32",)), (11_000, 30_000, ())]
)
def test_bit_tiles(direction, n, m, size):
    """TileBFS in its three directions, and with that which each level's frontier chooses."""
    A = graph(n, m, n)
    with gb.plan(force=(direction, *size)):
        for sources, limit in (([0, n - 1], None), ([1], 2)):
            level, _, report = bfs(A, None, sources, max_level=limit)
            assert as_dict(level) == plain(A, sources, limit)
            assert report.engine == "numpy" and "over bittiled" in str(gb.explain())
            if direction != "bittiled":
                assert {row["direction"] for row in report.levels} == {direction}


def test_bit_tiles_stop_at_a_target_and_leave_parents_to_others():
    A = graph(300, 900, 3)
    full = plain(A, [0])
    target = max(full, key=full.get)
    with gb.plan(force="bittiled"):
        level, _, _ = bfs(A, None, 0, target=target)
        assert as_dict(level) == full
        _, parent, report = bfs(A, None, 0, parents=True)
        check(A, None, parent, full, [0])
        assert report.engine in ("numba", "numpy")


def test_the_paper_chooses_by_the_frontier_and_by_what_is_left():
    from grb_tile.backends.cpu.vectorised.tiles import choose_direction

    assert choose_direction(5, 900, 1000) == "push_csc"
    assert choose_direction(10, 900, 1000) == "push_csr"
    assert choose_direction(500, 49, 1000) == "pull_csc"


def many(A, AT, sources, max_level=None):
    """{vertex: level} of each search, out of bfs_multi, and the report's rows."""
    with gb.plan(force="numba"):
        store, parents, report = many_at_once(A, AT, np.asarray(sources), max_level=max_level)
    assert jit.failures() == [] and parents is None
    assert store.shape == (len(sources), A.nrows)
    found = []
    for k in range(len(sources)):
        row = slice(store.indptr[k], store.indptr[k + 1])
        assert (np.diff(store.indices[row]) > 0).all()
        found.append(dict(zip(store.indices[row].tolist(), store.values[row].tolist(), strict=True)))
    return found, report.levels


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("direction", [None, "push", "pull"])
@pytest.mark.parametrize("n, m", [(1, 0), (2, 1), (64, 100), (300, 500), (300, 9000)])
def test_many_searches(monkeypatch, threads, direction, n, m):
    monkeypatch.setattr(jit_threads, "_threads", threads)
    monkeypatch.setattr(tuning, "PARALLEL_MULTI_BFS", 1)
    rng = np.random.default_rng(n)
    for symmetric in (False, True):
        A = graph(n, m, n + m, symmetric)
        for count, limit in ((3, None), (64, None), (70, 2), (1, 0)):
            sources = rng.integers(0, n, count)
            with gb.plan(force=direction) if direction else gb.plan(force="numba"):
                found, rows = many(A, A if symmetric else transpose_of(A), sources, limit)
            wanted = [plain(A, [s], limit) for s in sources]
            assert found == wanted
            assert direction is None or all(row["direction"] == direction for row in rows)
            batches = [min(64, count - first) for first in range(0, count, 64)]
            assert [row["frontier"] for row in rows if row["level"] == 0] == (batches if limit != 0 else [])
            if limit is None:  # every pair that was found went on from
                assert sum(row["frontier"] for row in rows) == sum(map(len, wanted))


def test_many_searches_along_a_path():
    """More levels than a byte counts."""
    n = 700
    ends = np.arange(n)
    indptr = np.minimum(np.arange(n + 1), n - 1).astype(np.int64)
    A = Compressed(n, n, BOOL, indptr, ends[1:].astype(np.int32), np.ones(1, np.bool_), iso=True)
    for direction in ("push", "pull"):
        with gb.plan(force=direction):
            found, _ = many(A, transpose_of(A), [0, 1, 650])
        assert found == [{v: v - s for v in range(s, n)} for s in (0, 1, 650)]


def test_what_has_no_compiled_loop_for_many_searches():
    A = graph(64, 100, 1)
    AT, H = transpose_of(A), to_dcsr(A)
    asked = [(A, AT, {"parents": True}, "auto"), (H, to_dcsr(AT), {}, "auto")]
    asked += [(A, AT, {}, "numpy"), (A, AT, {}, "reference")]
    for out_edges, in_edges, more, engine in asked:
        with gb.plan(force=() if engine == "auto" else engine):
            assert many_at_once(out_edges, in_edges, [0, 3], **more) is None
            found = bfs_multi(gb.Matrix._from_store(out_edges), [0, 3], parents=True)
        assert list(found.levels.to_dicts().values()) == [plain(A, [source]) for source in (0, 3)]


def test_bfs_multi_is_one_operation_or_a_loop():
    A = gb.Matrix._from_store(graph(300, 900, 3))
    with gb.plan(force="numba"):
        found = bfs_multi(A, range(70), max_level=3)
        assert "bfs_multi" in str(gb.explain())
    with gb.plan(force="numpy"):
        plainly = bfs_multi(A, range(70), max_level=3)
    assert found.levels.isequal(plainly.levels, check_dtype=True)
    assert found.report.stopped_by == plainly.report.stopped_by == "max_level"


@pytest.mark.parametrize("source", [1.5, "0", True, [0, 1.5], [[0, 1]], None])
def test_sources_that_are_no_integers_are_refused(source):
    A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], nrows=5, ncols=5)
    for search in (gb.graph.bfs, gb.graph.bfs_multi, gb.graph.sssp):
        with pytest.raises(TypeError, match="source"):
            search(A, source)
    with pytest.raises(TypeError, match="target"):
        gb.graph.bfs(A, 0, target=1.5)
    with pytest.raises(TypeError, match=r"sources: expected a sequence of vertices, got 3; write \[3\]"):
        gb.graph.bfs_multi(A, 3)


def test_the_plan_of_a_search_without_in_edges_says_push():
    A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], nrows=5, ncols=5)
    gb.graph.bfs(A, 0, pull=False)
    assert gb.explain().plans[0].method == "cols"
    gb.graph.bfs(A, 0)
    assert gb.explain().plans[0].method == "by level"
