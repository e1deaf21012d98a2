"""gb.dist: parts of each rank, files, generators, gathering, and what is refused; ranks are threads."""

import json
import sys

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import dist, generators
from grb_tile.backends import select
from grb_tile.backends.distributed.layout import Rows, balanced_ranges, equal_ranges
from grb_tile.exceptions import (
    DimensionMismatch,
    DistributedError,
    GraphblasException,
    IndexOutOfBound,
    InvalidValue,
)
from grb_tile.io.errors import BadFile
from support.seeds import generator

RANKS = (1, 2, 3, 4)
world_module = sys.modules[dist.World.__module__]


def same(results):
    """The result of rank 0, which those of the others equal."""
    first, *others = results
    for other in others:
        assert other == first
    return first


def tuples(x):
    return [np.asarray(part).tolist() for part in x.to_coo()]


# ---------------------------------------------------------------- ranges


@pytest.mark.parametrize("size", RANKS)
@pytest.mark.parametrize("length", (0, 1, 63, 64, 65, 1000, 2**60))
def test_equal_ranges_cover_the_dimension(length, size):
    starts = equal_ranges(length, size)
    assert starts[0] == 0 and starts[-1] == length and starts == sorted(starts) and len(starts) == size + 1
    assert all(start % 64 == 0 or start == length for start in starts)


@pytest.mark.parametrize("size", (2, 3, 7))
def test_balanced_ranges_share_entries_and_rows(size):
    rng = generator("balanced", size)
    rows = np.minimum(rng.exponential(3000, 200_000).astype(np.int64), 63_999)
    starts = balanced_ranges(rows, 64_000, size)
    cost = [np.count_nonzero((rows >= a) & (rows < b)) + (b - a) for a, b in zip(starts, starts[1:], strict=False)]
    assert sum(cost) == rows.size + 64_000
    assert max(cost) < 1.1 * sum(cost) / size
    assert balanced_ranges(rows[::10], 64_000, size, rows.size) == pytest.approx(starts, abs=1500)


def test_owners_where_ranks_own_nothing():
    layout = Rows([0, 0, 5, 5, 9], 1)
    assert [layout.owner_of(k) for k in range(9)] == layout.owners(np.arange(9)).tolist() == [1] * 5 + [3] * 4
    assert layout.cuts(np.array([0, 4, 5, 8])).tolist() == [0, 0, 2, 2, 4]


# ---------------------------------------------------------------- of what each rank has


@pytest.mark.parametrize("ranks", RANKS)
def test_from_coo_takes_any_entries_of_any_rank(ranks):
    rng = generator("from_coo", ranks)
    rows, cols = rng.integers(0, 300, (2, 4000))
    values = rng.integers(-5, 6, 4000)

    def call(world):
        mine = slice(world.rank, None, world.size)
        A = dist.from_coo(rows[mine], cols[mine], values[mine], nrows=310, ncols=300, dup_op=gb.binary.plus)
        B = dist.from_coo(rows[mine], cols[mine], True, nrows=310, ncols=300)
        return tuples(A), tuples(B), A.nvals, A.shape

    want = gb.Matrix.from_coo(rows, cols, values, nrows=310, ncols=300, dup_op=gb.binary.plus)
    pattern = gb.Matrix.from_coo(rows, cols, True, nrows=310, ncols=300)
    assert same(dist.run(ranks, call)) == (tuples(want), tuples(pattern), want.nvals, (310, 300))


def test_entries_that_ranks_repeat_are_combined_in_the_order_of_ranks():
    def call(world):
        return dist.from_coo([0], [0], [world.rank + 1], nrows=1, ncols=1, dup_op=gb.binary.minus)[0, 0].new().value

    assert same(dist.run(3, call)) == 1 - 2 - 3


def test_sizes_are_those_of_all_ranks():
    assert same(dist.run(3, lambda world: dist.from_coo([world.rank * 10], [5 - world.rank], 1).shape)) == (21, 6)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda world: dist.from_coo([0], [0], [1], nrows=1, ncols=1), ValueError),  # each rank has it
        (lambda world: dist.from_coo([world.rank], [0], [1], nrows=1, ncols=1), IndexOutOfBound),
        (lambda world: dist.from_coo([0], [0], [1], nrows=world.rank + 1, ncols=1), InvalidValue),
        (lambda world: dist.from_coo([], [], 1), ValueError),
        (lambda world: dist.from_coo([0, 1], [0], 1), ValueError),
        (lambda world: dist.read(f"no file {world.rank}.mtx"), FileNotFoundError),
    ],
)
def test_every_rank_gets_the_error(call, error):
    found = []

    def caught(world):
        with pytest.raises(error) as info:
            call(world)
        found.append(str(info.value))
        return gb.Vector.from_coo([0], [1]).nvals  # the ranks are still in step

    assert dist.run(3, caught, timeout=10) == [1, 1, 1] and len(found) == 3


@pytest.mark.parametrize("sizes", [(64, 64, 5), (3, 70, 0), (0, 0, 1), (128, 0, 64)])
def test_from_local_joins_the_parts(sizes):
    firsts = [0, *np.cumsum(sizes).tolist()]

    def call(world):
        size, first = sizes[world.rank], firsts[world.rank]
        with dist.local():
            v = gb.Vector.from_dense(np.arange(first, first + size)) if size else gb.Vector(int, 0)
            A = gb.Matrix(int, size, 4)
            if size:
                A[size - 1, world.rank] = first
        w, B = dist.from_local(v), dist.from_local(A, first)
        longer = dist.from_local(v, nrows=firsts[-1] + 100)
        return tuples(w), w.size, tuples(B), B.shape, longer.size, longer.nvals

    v, size, B, shape, longer, nvals = same(dist.run(3, call))
    assert v == [list(range(firsts[-1]))] * 2 and size == nvals == firsts[-1] and longer == firsts[-1] + 100
    assert B[2] == [first for first, part in zip(firsts, sizes, strict=False) if part] and shape == (firsts[-1], 4)


def test_parts_that_do_not_fit():
    def gap(world):
        with dist.local():
            v = gb.Vector.from_dense([1, 2])
        with pytest.raises(DimensionMismatch, match="first_row of rank 1 is 7"):
            dist.from_local(v, 7 * world.rank)
        with dist.local():
            A = gb.Matrix(int, 2, 2 + world.rank)
        with pytest.raises(DimensionMismatch, match="rank 1 has 3"):
            dist.from_local(A)
        with pytest.raises(DimensionMismatch, match="nrows"):
            dist.from_local(v, nrows=3)

    dist.run(2, gap, timeout=10)


@pytest.mark.parametrize("ranks", RANKS)
def test_distribute_and_gather(ranks):
    A = generators.rmat(8, 8, seed=1, weights=(1, 9))
    v = gb.Vector.from_coo([0, 200, 255], [1.5, 2.5, 3.5], size=256)
    root = ranks - 1

    def call(world):
        B = dist.distribute(A if world.rank == root else None, root)
        w = dist.distribute(v if world.rank == root else None, root)
        everywhere, there = B.gather(), B.gather(root=0)
        assert (there is None) == (world.rank != 0)
        first, part = B.local
        with dist.local():
            mine = tuples(part)
        assert B.placement.first == first and w.gather().placement is None
        return tuples(everywhere), there is None or tuples(there), tuples(w), (first, mine)

    results = dist.run(ranks, call)
    for everywhere, there, w, _ in results:
        assert everywhere == tuples(A) and there in (True, tuples(A)) and w == tuples(v)
    rows = [first + i for *_, (first, mine) in results for i in mine[0]]
    assert rows == tuples(A)[0]


def test_an_ordinary_object_is_one_and_the_same_on_all_ranks():
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2])
    same(dist.run(3, lambda world: (A @ gb.Vector.from_dense([1, 2])).new().to_dict()))

    def call(world):
        with dist.local():
            v = gb.Vector.from_coo([world.rank], [1], size=3)
        with pytest.raises(InvalidValue, match=r"from_local.*distribute"):
            v.ewise_add(gb.Vector.from_coo([0], [1], size=3)).new()

    dist.run(2, call, timeout=10)


def test_objects_of_other_ranks_are_refused():
    kept = []
    dist.run(1, lambda world: kept.append(gb.Vector.from_coo([0], [1], size=2)))

    def call(world):
        with pytest.raises(InvalidValue, match="other ranks"):
            gb.Vector.from_coo([0], [1], size=2).ewise_add(kept[0]).new()

    dist.run(2, call, timeout=10)


# ---------------------------------------------------------------- files and generators


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("kind", ["general", "symmetric", "pattern", "edges", "weighted", "gz"])
def test_files(ranks, kind, tmp_path):
    A = generators.rmat(7, 6, seed=5, directed=kind != "symmetric", weights=None if kind == "pattern" else (1, 99))
    path = tmp_path / (
        "graph.mtx.gz" if kind == "gz" else "graph.txt" if "e" == kind[0] or kind == "weighted" else "g.mtx"
    )
    if path.suffix == ".txt":
        i, j, v = A.to_coo()
        columns = [i, j, v] if kind == "weighted" else [i, j]
        np.savetxt(path, np.column_stack(columns).astype(np.int64), fmt="%d")
        want = gb.Matrix.from_coo(i, j, v if kind == "weighted" else True, nrows=int(max(i.max(), j.max())) + 1,
                                  ncols=int(max(i.max(), j.max())) + 1)  # fmt: skip
    else:
        gb.io.write(path, A)
        want = gb.io.read(path).obj

    def call(world):
        found = dist.read(path)
        return tuples(found), found.shape, found.dtype.name

    assert same(dist.run(ranks, call)) == (tuples(want), want.shape, want.dtype.name)


def test_more_ranks_than_lines_and_other_options(tmp_path):
    path = tmp_path / "few.txt"
    path.write_text("# few\n1 2 5\n2 3 7\n2 3 4\n")

    def call(world):
        return [tuples(dist.read(path)), tuples(dist.read(path, size=9, base=0, directed=False, dup_op="plus"))]

    assert same(dist.run(4, call)) == [
        [[0, 1], [1, 2], [5, 4]], [[1, 2, 2, 3], [2, 1, 3, 2], [5, 5, 11, 11]],
    ]  # fmt: skip


def test_the_line_of_a_malformed_file(tmp_path):
    path = tmp_path / "bad.mtx"
    lines = ["%%MatrixMarket matrix coordinate integer general", "% a comment", "500 500 400"]
    lines += [f"{k + 1} {k + 1} {k}" for k in range(400)]
    lines[350] = "3 x 4"
    path.write_text("\n".join(lines) + "\n")

    def call(world):
        with pytest.raises(BadFile, match="line 351"):
            dist.read(path)
        lines[350] = "3 4 4"
        path2 = path.with_name(f"short {world.rank}.mtx")
        path2.write_text("\n".join(lines[:-2]) + "\n")
        with pytest.raises(BadFile, match="398 entries"):
            dist.read(path2)

    dist.run(3, call, timeout=10)


@pytest.mark.parametrize("reading", (1, 2, 3))
def test_parts_are_read_by_any_number_of_ranks(reading, tmp_path):
    A = generators.rmat(8, 4, seed=2, weights=(0.0, 1.0), dtype="FP32")
    v = gb.Vector.from_coo([0, 100, 255], [1, 2, 3], size=256)

    def write(world):
        dist.write(tmp_path / "A", A.dup() if world.size == 1 else dist.distribute(A))
        dist.write(tmp_path / "v", dist.distribute(v))

    dist.run(2, write)
    assert json.loads((tmp_path / "A" / "parts.json").read_text())["shape"] == [256, 256]

    def read(world):
        B, w = dist.read(tmp_path / "A"), dist.read(tmp_path / "v")
        return tuples(B), B.dtype.name, tuples(w), w.size

    assert same(dist.run(reading, read)) == (tuples(A), "FP32", tuples(v), 256)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InvalidValue, match="parts.json"):
        dist.run(2, lambda world: dist.read(tmp_path / "nothing"), timeout=10)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("weights", [None, (1, 9), (0.0, 1.0)])
@pytest.mark.parametrize("directed", [False, True])
def test_generators_make_the_same_graphs(ranks, weights, directed):
    options = {"directed": directed, "weights": weights, "seed": 7, "dtype": "FP64" if weights == (0.0, 1.0) else None}
    want = [generators.rmat(7, 5, **options), generators.uniform_random(150, 700, **options)]

    def call(world):
        found = [dist.rmat(7, 5, **options), dist.uniform_random(150, 700, **options)]
        return [(tuples(A), A.dtype.name) for A in found]

    assert same(dist.run(ranks, call)) == [(tuples(A), A.dtype.name) for A in want]


def test_a_rank_holds_a_share_of_a_graph():
    whole = generators.rmat(12, 16, seed=1)

    def call(world):
        first, part = dist.rmat(12, 16, seed=1).local
        with dist.local():
            return part.nvals, part.nrows

    counts = dist.run(4, call)
    assert sum(count for count, _ in counts) == whole.nvals and sum(rows for _, rows in counts) == 1 << 12
    costs = [count + 4 * rows for count, rows in counts]
    assert max(costs) < 1.3 * sum(costs) / 4  # ranges end at multiples of 64 rows


# ---------------------------------------------------------------- the world


def test_one_rank_changes_nothing(monkeypatch):
    monkeypatch.setattr(world_module, "_alone", None)
    with pytest.raises(InvalidValue, match="init"):
        dist.world()
    before = select.current()
    world = dist.init()
    assert (world.rank, world.size) == (0, 1) and select.current() is before
    v = gb.Vector.from_coo([0], [1], size=2)
    assert v.placement is None and v.gather() is v and v.local[0] == 0 and v.local[1] is v
    assert dist.world() is dist.init() is world
    A = dist.from_coo([0, 5], [1, 2], [3, 4])
    assert A.placement is None and tuples(A) == [[0, 5], [1, 2], [3, 4]]


def test_one_rank_alone_may_print():
    def call(world):
        A = dist.rmat(8, 4, seed=1)
        v = A.reduce_rowwise(gb.monoid.plus[int]).new(name="v")
        v[3] = 7  # pending: the merge is all ranks'
        if world.rank == 1:
            text, html = repr(v), v._repr_html_()
            assert "gather()" in text and "gather()" in html and "ranks" in text and " 2" in text
            assert str(A.local[0]) in repr(A) and "gather()" in repr(A.T)
        return v.nvals

    same(dist.run(2, call, timeout=10))


def test_ranks_exchange_objects():
    def call(world):
        world.barrier()
        assert dist.world().rank == world.rank and repr(world) == f"World(rank={world.rank}, size=3)"
        return world.allgather(world.rank), world.broadcast(world.rank * 10, 2), world.traffic["bytes_sent"] >= 0

    assert same(dist.run(3, call)) == ([0, 1, 2], 20, True)


def test_seeds_that_nobody_gave_are_the_same_on_all_ranks():
    A = generators.grid(9, 9)

    def call(world):
        B = dist.distribute(A)
        return gb.algorithms.random_walks(B, [0, 40], 5).walks.tolist(), tuples(B.ss.selectk("random", 1))

    same(dist.run(3, call))


@pytest.mark.parametrize("ranks", [1, 3])
def test_first_of_rows_of_ranks_are_those_of_one(ranks):
    rng = np.random.default_rng(3)
    A = gb.Matrix.from_dense(rng.integers(0, 6, (17, 13)).astype(float), missing_value=0.0)
    v = gb.Vector.from_dense(rng.integers(0, 9, 40).astype(float), missing_value=3.0)
    calls = [
        call
        for how in ("first", "last", "smallest", "largest")
        for call in (
            lambda A, v, how=how: A.ss.selectk(how, 3),
            lambda A, v, how=how: A.ss.selectk(how, 3, "columnwise"),
            lambda A, v, how=how: A.ss.compactify(how, 3),
            lambda A, v, how=how: v.ss.selectk(how, 5),
            lambda A, v, how=how: v.ss.compactify(how, 5),
        )
    ]

    def call(world):
        B, w = dist.distribute(A), dist.distribute(v)
        counts = B.ss.selectk("random", 2).nvals, w.ss.selectk("random", 5).nvals
        return [tuples(each(B, w).gather()) for each in calls], counts

    found, counts = same(dist.run(ranks, call))
    assert found == [tuples(each(A, v)) for each in calls]
    assert counts == (A.ss.selectk("first", 2).nvals, 5)


def test_an_error_of_one_rank_reaches_the_others():
    def call(world):
        v = gb.Vector.from_coo(np.arange(100), 1.0, size=100)
        if world.rank == 1:
            world._backend.local = Broken(world._backend.local)
        try:
            v.reduce(gb.monoid.plus).new()
        finally:
            if world.rank == 1:
                world._backend.local = world._backend.local.whole

    class Broken:
        def __init__(self, whole):
            self.whole = whole

        def __getattr__(self, name):
            return getattr(self.whole, name)

        def reduce(self, *args):
            raise MemoryError("no memory here")

    found = {}

    def caught(world):
        try:
            call(world)
        except (MemoryError, GraphblasException) as error:
            found[world.rank] = error
        return gb.Vector.from_coo([0], [1]).nvals

    assert dist.run(3, caught, timeout=10) == [1, 1, 1]
    assert isinstance(found[1], MemoryError)
    for rank in (0, 2):
        assert isinstance(found[rank], DistributedError) and "rank 1" in str(found[rank]), found[rank]


def test_operands_are_as_they_were_after_an_error():
    def call(world):
        u = gb.Vector.from_coo([0, 5], [1, 2], size=9)
        with pytest.raises(DimensionMismatch):
            u << gb.Vector.from_coo([0], [1], size=8).ewise_add(u)
        with pytest.raises(DimensionMismatch):
            u(gb.Vector(bool, 4).S) << u
        return u.to_dict()

    assert same(dist.run(3, call, timeout=10)) == {0: 1, 5: 2}


# ---------------------------------------------------------------- loops on the whole graph


@pytest.mark.parametrize("ranks", RANKS)
def test_entries_travel_in_turns_and_keep_their_order(ranks, monkeypatch):
    from grb_tile.backends.distributed import building

    monkeypatch.setattr(building, "EXCHANGED", 500)
    rng = generator("turns", ranks)
    given = [rng.integers(0, 70, (2, 30 * (rank + 1) if rank != 1 else 0)) for rank in range(ranks)]

    def call(world):
        rows, cols = given[world.rank]
        order = np.arange(rows.size) + 1000 * world.rank
        A = dist.from_coo(rows, cols, order, nrows=70, ncols=70, dup_op=gb.binary.second)
        return tuples(A)

    rows, cols = np.concatenate(given, axis=1)
    order = np.concatenate([np.arange(some.shape[1]) + 1000 * rank for rank, some in enumerate(given)])
    want = gb.Matrix.from_coo(rows, cols, order, nrows=70, ncols=70, dup_op=gb.binary.second)
    assert same(dist.run(ranks, call)) == tuples(want)
