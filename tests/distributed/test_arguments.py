"""What ranks give that differs, and what they get that is their own; ranks are threads."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import dist
from grb_tile.backends.distributed import building, connect, environment
from grb_tile.exceptions import DistributedError, InvalidValue


def raised(error, call, ranks=3):
    """The text of the error that `call` raises on every rank, after which the ranks are still in step."""

    def caught(world):
        with pytest.raises(error) as info:
            call(world)
        assert gb.Vector.from_coo([0], [1]).nvals == 1
        return str(info.value)

    first, *others = dist.run(ranks, caught, timeout=10)
    assert others == [first] * (ranks - 1)
    return first


def own(make):
    with dist.local():
        return make()


# ---------------------------------------------------------------- arguments of one rank


def test_a_wrong_argument_of_one_rank_is_an_error_on_all():
    def call(world):
        dist.from_coo([0] * (1 + (world.rank == 1)), [0], [1], nrows=4, ncols=4)

    assert "rows 2, columns 1" in raised(ValueError, call)
    raised(TypeError, lambda world: dist.from_local(gb.Vector(int, 0), first_row="1" if world.rank == 1 else None))


@pytest.mark.parametrize("kind", ["txt", "mtx"])
def test_ranks_that_have_no_line_of_a_file(kind, tmp_path):
    """Lines so long that the cuts of several ranks fall into one: the ranks between read nothing of the next line."""
    path, zeros = tmp_path / f"few.{kind}", "0" * 60
    head = "%%MatrixMarket matrix coordinate real general\n4 4 3\n" if kind == "mtx" else ""
    path.write_text(head + "".join(f"{i} {i + 1} {i}.{zeros}\n" for i in (1, 2, 3)))

    def call(world):
        return [array.tolist() for array in dist.read(path).to_coo()]

    assert dist.run(9, call, timeout=10) == [[[0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0]]] * 9


@pytest.mark.parametrize("kind", ["vector", "matrix"])
def test_one_value_has_nothing_to_combine(kind):
    """As the constructors of ordinary objects say."""
    given = ([0, 1], 2.0) if kind == "vector" else ([0, 1], [0, 1], 2.0)
    make = gb.Vector if kind == "vector" else gb.Matrix
    with pytest.raises(Exception, match="dup_op") as ordinary:
        make.from_coo(*given, dup_op="plus")
    found = raised(type(ordinary.value), lambda world: dist.from_coo(*given, dup_op="plus")) if kind == "matrix" else ""
    assert kind == "vector" or str(ordinary.value) in found


def test_elements_are_read_by_the_rank_that_has_them():
    def read():
        A = gb.Matrix.from_coo([0, 63, 64, 150], [5, 7, 0, 9], [1.5, 2.5, 3.5, 4.5], nrows=151, ncols=10)
        v, found = A[:, 7].new(), []
        for i in (0, 63, 64, 150):
            found += [A.get(i, j) for j in (0, 5, 7, 9)] + [(i, 7) in A, A[i, 9].new().value, v.get(i, -1), i in v]
        return found

    def stored(world):
        A = gb.Matrix.from_coo([0, 63, 64, 150], [5, 7, 0, 9], [1.5, 2.5, 3.5, 4.5], nrows=151, ncols=10)
        part, element = world._backend.part(A._store), world._backend.element
        return [element(part, (i, j)) for i, j in ((0, 5), (63, 7), (64, 0), (150, 9), (0, 0), (150, 0))]

    want = read()
    assert dist.run(3, stored, timeout=10) == [[1.5, 2.5, 3.5, 4.5, None, None]] * 3
    assert dist.run(3, lambda world: read(), timeout=10) == [want] * 3 and set(want) > {1.5, 2.5, 3.5, 4.5}


def test_a_size_without_a_rank_is_refused(monkeypatch):
    monkeypatch.setenv(environment.SIZE_VARIABLE, "3")
    with pytest.raises(DistributedError, match=f"{environment.SIZE_VARIABLE}=3, and neither an MPI launcher nor"):
        connect.connect()
    for alone in ("1", "0", "", "three"):
        monkeypatch.setenv(environment.SIZE_VARIABLE, alone)
        assert connect.connect().size == 1


@pytest.mark.parametrize("form", ["rows", "columns", "bitmap"])
def test_an_ordinary_dense_matrix_is_compared_on_all_ranks(form):
    """It may be an operand where every rank has the same entries."""

    def call(world, differ):
        values = np.arange(12.0).reshape(4, 3) + (world.rank if differ else 0)
        with dist.local():
            A = gb.Matrix.from_dense(values if form == "rows" else np.asfortranarray(values))
            if form == "bitmap":
                del A[1, 2]
        return A.mxv(gb.Vector.from_dense(np.ones(3))).new().to_dict()

    want = {0: 3.0, 1: 7.0 if form == "bitmap" else 12.0, 2: 21.0, 3: 30.0}
    assert dist.run(3, call, False, timeout=10) == [want] * 3
    raised(InvalidValue, lambda world: call(world, True))


def test_rows_are_shared_by_their_entries(monkeypatch):
    """From BALANCED_FROM entries on, where a dimension has no ranges yet."""
    monkeypatch.setattr(building, "BALANCED_FROM", 1000)

    def call(world, length, entries):
        rows = np.r_[np.zeros(entries // 2, int), np.arange(entries // 2) % length]
        with dist.local():
            A = gb.Matrix.from_coo(rows, np.arange(rows.size), 1.0, nrows=length, ncols=rows.size)
        first, part = dist.distribute(A if world.rank == 0 else None).local
        with dist.local():
            return first, part.nvals

    for entries, length in ((2000, 500), (900, 1300)):
        (_, one), (first, two) = dist.run(2, call, length, entries, timeout=10)
        assert one + two == entries, (first, one, two)
        assert first < 0.45 * length if entries > 1000 else abs(first - length / 2) < 64, (first, one)


def test_types_of_ranks():
    def call(world):
        k = world.rank
        return dist.from_coo([k] * k, [0] * k, [k] * k, nrows=4, ncols=1, dup_op="plus").to_coo()[2].tolist()

    assert dist.run(3, call, timeout=10) == [[1, 4]] * 3  # rank 0 gave an empty list
    text = raised(InvalidValue, lambda world: dist.from_coo([0], [0], [(1, 1.5, 2)[world.rank]], nrows=4, ncols=1))
    assert "rank 1: FP64" in text
    raised(InvalidValue, lambda world: dist.from_coo([0], [0], [1] if world.rank else 1, nrows=4, ncols=1))
    raised(InvalidValue, lambda world: dist.from_coo([0], [0], world.rank, nrows=4, ncols=1))


def test_parts_of_several_types():
    def of_types(world):
        dist.from_local(own(lambda: gb.Vector.from_coo([0], [1.5 if world.rank else 1], size=64)))

    def of_classes(world):
        dist.from_local(own(lambda: gb.Vector(int, 64) if world.rank else gb.Matrix(int, 64, 2)))

    assert "FP64" in raised(InvalidValue, of_types)
    assert "Matrix" in raised(InvalidValue, of_classes)


@pytest.mark.parametrize("make", [dist.from_local, dist.distribute])
def test_distributed_objects_are_not_distributed_again(make):
    assert "already" in raised(InvalidValue, lambda world: make(gb.Vector.from_coo([0, 150], [1, 2], size=200)))


def test_duplicates_are_named_by_their_positions_in_the_whole():
    assert "indices: 150" in raised(ValueError, lambda world: gb.Vector.from_coo([1, 150, 150], 3 * [1.0], size=200))
    make = gb.Matrix.from_coo
    assert "(150, 2)" in raised(ValueError, lambda world: make([1, 150, 150], [1, 2, 2], [1, 2, 3], nrows=200))
    assert "(150, 2)" in raised(ValueError, lambda world: dist.from_coo([150], [2], [1], nrows=200, ncols=3))


# ---------------------------------------------------------------- ordinary operands


def test_ordinary_operands_that_differ():
    def values(world):  # a bitmap
        v = own(lambda: gb.Vector.from_coo(np.arange(150), np.arange(150) * (world.rank + 1), size=200))
        gb.Vector.from_coo([0, 100], [1, 2], size=200).ewise_mult(v).new()

    A, B = gb.Matrix.from_coo([0, 1], [0, 1], [1, 2], nrows=200, ncols=200), gb.Matrix.from_coo([0], [0], [1])

    def vector(world):
        v = own(lambda: gb.Vector.from_coo([world.rank], [5], size=200))
        for _ in range(2):
            with pytest.raises(InvalidValue):
                A.mxv(v).new()
        A.mxv(v).new()

    def matrix(world):
        A.mxm(own(lambda: gb.Matrix.from_coo([world.rank], [0], [5], nrows=200, ncols=2))).new()

    def second(world):
        B.kronecker(own(lambda: gb.Matrix.from_coo([0], [0], [world.rank]))).new()

    for call in (values, vector, matrix, second):
        assert "from_local" in raised(InvalidValue, call)


# ---------------------------------------------------------------- what a rank gets is its own


def test_exported_arrays_are_copies():
    n = 1 << 16

    def call(world):
        v = gb.Vector.from_dense(np.arange(float(n))).apply(gb.unary.identity).new()
        assert v.placement is not None
        v.to_dense()[:] = 1
        return v.to_coo()[1].sum() == v.gather().reduce().new().value == n * (n - 1) / 2

    assert dist.run(2, call) == [True, True]


def test_written_elements_are_merged_on_all_ranks_within_local():
    def call(world):
        v = gb.Vector.from_coo(np.arange(200), np.arange(200), size=200)
        w = v.dup()
        v[3], w[3] = 50, 50
        with dist.local():
            first, part = v.local
            return first, part.size, w.nvals, v.placement is not None

    assert dist.run(3, call, timeout=10) == [(0, 128, 200, True), (128, 72, 200, True), (200, 0, 200, True)]


def test_few_entries_decide_about_no_ranges():
    def call(world):
        columns = np.arange(1500) + 1500 * world.rank
        return dist.from_coo(0 * columns, columns, 1, nrows=1000, ncols=3000).placement.starts.tolist()

    assert dist.run(2, call) == [[0, 512, 1000]] * 2


def test_a_matrix_decides_about_a_length_that_vectors_have_already():
    def call(world):
        u = gb.Vector.from_coo([1, 2999], [1, 2], size=3000)
        A = gb.Matrix.from_coo(np.zeros(5000, int), np.arange(5000), 1, nrows=3000, ncols=5000)
        A(gb.binary.plus)[:, 7] << u
        return u.placement.starts[1] == 1024, A.placement.starts[1] < 1024, A[:, 7].new().to_dict(), u.to_dict()

    assert dist.run(3, call, timeout=10) == [(True, True, {0: 1, 1: 1, 2999: 2}, {1: 1, 2999: 2})] * 3


def test_an_object_of_other_ranges_moves_once():
    def call(world):
        v = gb.Vector.from_coo(np.arange(2000), np.arange(2000), size=3000)
        world._backend.set_layout([0, 64, 3000])
        w, bytes_of = gb.Vector.from_coo(np.arange(2000), 1, size=3000), []
        for _ in range(3):
            before = world.traffic["bytes_received"]
            total = w.ewise_add(v, gb.binary.plus).new()
            bytes_of.append(world.traffic["bytes_received"] - before)
            assert total.reduce().new().value == 2000 * 1999 // 2 + 2000
        return bytes_of[0] > 0 and bytes_of[1:] == [0, 0]

    assert all(dist.run(2, call, timeout=10))


def test_values_of_a_sub_array_type():
    kind, values = gb.dtypes.lookup_dtype(np.dtype(("f8", 3))), np.arange(9.0).reshape(3, 3)

    def call():
        v = gb.Vector.from_coo([1, 2, 190], values, kind, size=200)
        A = gb.Matrix.from_coo([1, 2, 190], [0, 1, 2], values, kind, nrows=200, ncols=3)
        some = [v[::2].new().to_coo()[1], A.T.new().to_coo()[2], v.reduce(gb.monoid.any).new().value]
        return [x.tolist() for x in some]

    def shared(world):
        k = world.rank
        return dist.from_coo([3 - k], [0], values[k : k + 1], kind, nrows=4, ncols=1).to_coo()[2].tolist()

    assert dist.run(3, lambda world: call()) == [call()] * 3
    assert dist.run(3, shared) == [values[::-1].tolist()] * 3


def test_full_vectors_of_one_value_that_differ():
    """Compared by the next exchange, at no cost of their own."""

    def call(world, differ):
        A = gb.Matrix.from_coo([0, 70], [1, 2], [1.0, 2.0], nrows=128, ncols=128)
        x = gb.Vector.from_scalar(1.0 + (world.rank if differ else 0), 128)
        w = A.mxv(x).new()
        return w.reduce().new().value

    assert dist.run(2, call, False) == [3.0, 3.0]
    with pytest.raises(DistributedError, match=r"rank 0 in .* times 1.0, rank 1 in .* times 2.0"):
        dist.run(2, call, True)
