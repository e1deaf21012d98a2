"""gb.dist.read with every option on every kind of file, on several ranks, against plain loops over the lines."""

import bz2
import gzip
import itertools
import threading

import numpy as np
import pytest
from distributed.test_arguments import own, raised

import grb_tile as gb
from grb_tile import dist
from grb_tile.exceptions import DistributedError, InvalidValue
from grb_tile.io.errors import BadFile

EDGES = {  # text of an edge list; the first lines are those of rank 0
    "from 0 on the last rank": "7 3\n12 9\n9 12\n3 3\n3 7\n0 11\n",
    "from 1": "7 3\n12 9\n9 12\n3 3\n3 7\n2 1\n",
    "greatest among the columns": "1 3\n2 2\n3 15\n",
    "greatest among the rows": "1 3\n15 2\n3 1\n",
    "weights": "3 1 5\n1 3 2\n2 2 7\n3 1 4\n4 4 9\n1 2 6\n",
    "weights, fractions on the last rank": "3 1 5\n1 3 2\n2 2 7\n4 4 9\n1 2 6.5",
    "a header and comments": "# some\nsource target weight\n3 1 5\n# more\n1 3 2\n2 2 7\n",
    "one edge": "1 2\n",
}
OPTIONS = (
    {}, {"size": 40}, {"base": 0}, {"directed": False}, {"dtype": "FP32"}, {"dtype": "INT64", "base": 0},
    {"dup_op": "max", "directed": False}, {"dup_op": "plus", "directed": False, "size": 21}, {"dup_op": "first"},
    {"directed": False, "base": 0, "name": "N"},
)  # fmt: skip
COMBINE = {None: min, "max": max, "plus": lambda x, y: x + y, "first": lambda x, y: x}


def edges_of(text, size=None, base=None, directed=True, dtype=None, dup_op=None, name=None):
    """(entries, size, type) of the matrix, line by line; of a list without weights repeated entries are one."""
    lines = [line.split() for line in text.splitlines() if line[0].isdigit()]
    edges = [(int(i), int(j), float(w[0]) if w else True) for i, j, *w in lines]
    if base is None:
        base = min(1, *(min(i, j) for i, j, _ in edges))
    both = edges if directed else edges + [(j, i, w) for i, j, w in edges if i != j]
    found = {}
    for i, j, w in both:
        key = i - base, j - base
        found[key] = COMBINE[dup_op](found[key], w) if key in found and w is not True else w
    weighted = len(lines[0]) == 3
    kind = dtype or ("BOOL" if not weighted else "FP64" if "." in text else "INT64")
    return found, size or max(map(max, found)) + 1, kind


def agrees(A, entries, size, kind):
    i, j, w = A.gather().to_coo()
    found = dict(zip(zip(i.tolist(), j.tolist(), strict=True), w.tolist(), strict=True))
    wanted = {key: int(value) if kind == "INT64" else value for key, value in entries.items()}
    return A.shape == (size, size) and A.dtype.name == kind and found == wanted


@pytest.mark.parametrize("packed", ["", ".gz", ".bz2"])
def test_edge_lists(packed, tmp_path):
    cases = []
    for k, (text, options) in enumerate(itertools.product(EDGES.values(), OPTIONS)):
        if packed and k % 3:
            continue
        path = tmp_path / f"edges{k}.txt{packed}"
        path.write_bytes({"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}[packed](text.encode()))
        cases.append((path, text, options))

    def call(world):
        for path, text, options in cases:
            A = dist.read(path, **options)
            assert agrees(A, *edges_of(text, **options)), (text, options, A.gather())
            assert options.get("name") is None or A.name == "N"

    for ranks in (1, 2, 3, 5):
        dist.run(ranks, call, timeout=20)


MARKET = {
    "integers": ("integer general", "4 5 4", ["1 2 3", "4 5 -7", "2 1 9", "3 3 2"]),
    "reals": ("real general", "4 5 3", ["1 2 3.5", "4 5 -7", "2 1 9e2"]),
    "symmetric": ("real symmetric", "4 4 3", ["2 1 3.5", "4 4 -7", "4 1 9"]),
    "skew-symmetric": ("integer skew-symmetric", "4 4 2", ["2 1 3", "4 1 9"]),
    "pattern": ("pattern general", "4 5 3", ["1 2", "4 5", "2 1"]),
    "complex": ("complex general", "4 5 2", ["1 2 1 2", "4 5 0 -1"]),
    "no entries": ("real general", "4 5 0", []),
}


@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market(packed, tmp_path):
    cases = []
    for name, (kind, size, lines) in MARKET.items():
        text = "\n".join([f"%%MatrixMarket matrix coordinate {kind}", "% some", size, *lines]) + "\n"
        path = tmp_path / f"{name}.mtx{'.gz' if packed else ''}"
        path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
        types = (None, "FC64") if name == "complex" else (None, "FP32", "INT8", "FP64")
        cases += [(path, dtype, gb.io.read(path).obj) for dtype in types]
    twice = tmp_path / "twice.mtx"
    twice.write_text("%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 1 2\n2 2 9\n3 1 4\n1 1 5\n")
    array = tmp_path / "array.mtx"
    array.write_text("%%MatrixMarket matrix array real general\n2 3\n" + "\n".join("123456") + "\n")
    whole = [gb.io.read(array).obj, *(gb.io.read(twice, dup_op=op).obj for op in ("plus", "max", "second"))]

    def call(world):
        for path, dtype, want in cases:
            A = dist.read(path, dtype=dtype, name="N")
            with dist.local():
                wanted = want.dup() if dtype is None else want.dup(dtype)
                found = A.gather()
                assert found.isequal(wanted, check_dtype=True), (path, dtype, found, wanted)
            assert A.name == "N" and A.shape == want.shape
        for dtype in (None, "INT16"):
            A = dist.read(array, dtype=dtype, name="N")
            with dist.local():
                assert A.gather().isequal(whole[0].dup(dtype or "FP64"), check_dtype=True) and A.name == "N"
        for op, want in zip(("plus", "max", "second"), whole[1:], strict=True):
            A = dist.read(twice, dup_op=op)
            with dist.local():
                assert A.gather().isequal(want.dup())

    for ranks in (1, 2, 3, 5):
        dist.run(ranks, call, timeout=20)
    assert "uplicate" in raised(ValueError, lambda world: dist.read(twice), ranks=2)


def test_files_of_one_rank_alone_take_the_options(tmp_path):
    """Formats of which no shares can be read."""
    A = gb.Matrix.from_coo([0, 2, 2], [1, 0, 3], [1.5, 2.5, -3.5], nrows=5, ncols=4)
    paths = [tmp_path / name for name in ("A.npz", "A.grb")]
    for path in paths:
        gb.io.write(path, A)

    def call(world):
        for path, dtype in itertools.product(paths, (None, "FP32", "INT64")):
            B = dist.read(path, dtype=dtype, name="N")
            with dist.local():
                assert B.gather().isequal(A.dup(dtype or "FP64"), check_dtype=True) and B.name == "N"

    dist.run(1, call)
    dist.run(3, call, timeout=20)


@pytest.mark.parametrize("bad", [1, 2, 7, 8])
def test_the_line_of_an_error_on_any_rank(bad, tmp_path):
    edges, market, packed = (tmp_path / name for name in ("bad.txt", "bad.mtx", "bad.mtx.gz"))
    lines = [f"{k} {k + 1} 1" for k in range(1, 9)]
    lines[bad - 1] = "3 x y"
    edges.write_text("\n".join(lines) + "\n")
    text = "\n".join(["%%MatrixMarket matrix coordinate integer general", "% a", "9 9 8", *lines]) + "\n"
    market.write_text(text)
    packed.write_bytes(gzip.compress(text.encode()))
    for ranks in (2, 3):
        for path in (market, packed):
            assert f"line {bad + 3}" in raised(BadFile, lambda world, path=path: dist.read(path), ranks=ranks)
        assert f"line {bad}" in raised(BadFile, lambda world: dist.read(edges), ranks=ranks)


# ---------------------------------------------------------------- names, again, limits, traffic


def test_every_constructor_has_a_name():
    def call(world):
        part = own(lambda: gb.Vector.from_coo([0, 5], [1, 2], size=64))
        made = (
            dist.from_coo([0], [1], [2], nrows=3, ncols=3, dup_op="first", name="N"), dist.from_local(part, name="N"),
            dist.from_local(own(lambda: gb.Matrix(int, 64, 2)), name="N"), dist.distribute(part, name="N"),
            dist.rmat(4, 2, name="N"), dist.uniform_random(9, 9, name="N"),
        )  # fmt: skip
        return [x.name for x in made]

    assert dist.run(1, call) == [["N"] * 6]
    assert dist.run(2, call) == [["N"] * 6] * 2


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("make", [dist.from_local, dist.distribute])
def test_distributed_objects_are_refused_on_any_number_of_ranks(make, ranks):
    for whole in (lambda: gb.Vector.from_coo([0, 150], [1, 2], size=200), lambda: dist.rmat(4, 2)):
        assert "already" in raised(InvalidValue, lambda world, whole=whole: make(whole()), ranks=ranks)


def test_ranks_that_do_not_come_in_time():
    def call(world):
        if world.rank == 0:
            with pytest.raises(DistributedError, match=r"rank 1 did not come within 0.2 s"):
                world.barrier()
            done.set()
        else:
            assert done.wait(20)

    done = threading.Event()
    dist.run(2, call, timeout=0.2)


def test_traffic_of_one_way():
    """Rank 0 has all entries, of which each of the others gets a third."""
    whole = gb.Vector.from_dense(np.arange(3 * 6400.0))

    def call(world):
        before = world.traffic
        dist.distribute(whole)
        after = world.traffic
        assert after["seconds"] >= before["seconds"]
        return [after[name] - before[name] > 9_999 for name in ("bytes_sent", "bytes_received")]

    assert dist.run(3, call) == [[True, False], [False, True], [False, True]]


def test_what_a_part_says_of_its_size():
    """Bytes of the whole, the same on every rank: a value and an index of four bytes an entry."""

    def call(world):
        found = []
        for dtype in ("INT8", "FP64"):
            A = dist.from_coo([world.rank], [0], [1], dtype, nrows=200, ncols=3)
            u = dist.from_local(own(lambda dtype=dtype: gb.Vector.from_coo([0, 5], [1, 2], dtype, size=64)))
            found += [A._store.nbytes, u._store.nbytes, A._store.values.nbytes]
        return found

    assert dist.run(2, call) == [[2 * 5, 4 * 5, 2 * 1, 2 * 12, 4 * 12, 2 * 8]] * 2
