"""Objects of several ranges of rows that meet, ordinary ones that change between calls, and what ranks are told."""

import numpy as np
import pytest
from distributed.test_arguments import own, raised

import grb_tile as gb
from grb_tile import dist
from grb_tile.backends.distributed import building, communicator, connect, environment
from grb_tile.backends.distributed.alone import Alone
from grb_tile.backends.distributed.layout import Rows, equal_ranges
from grb_tile.backends.select import current
from grb_tile.exceptions import InvalidValue

N = 200
CUTS = ([0, 64, 128, N], [0, 13, 150, N], [0, 0, N, N], [0, 96, 160, N])


def whole(k, form):
    at = np.arange(k, N, {"full": 1, "bitmap": 2, "list": 40}[form])
    at = np.arange(N) if form == "full" else at
    return gb.Vector.from_coo(at, at * 0.5 + k, size=N)


@pytest.mark.parametrize("form", ["full", "bitmap", "list"])
def test_objects_of_several_ranges_meet_in_any_order(form):
    """Each pair in each order, one object with several others one after the other, and again."""
    ordinary = [whole(k, form) for k in range(len(CUTS))]
    wanted = {
        (i, j): ((x + y).new(), (x * y).new(), x.inner(y).new().value, x.dup(mask=y.S), x.dup(mask=~y.S))
        for i, x in enumerate(ordinary) for j, y in enumerate(ordinary)
    }  # fmt: skip

    def call(world):
        parts = []
        for cuts, x in zip(CUTS, ordinary, strict=True):
            current().set_layout(cuts)
            parts.append(dist.distribute(x if world.rank == 0 else None))
        assert [x._store.layout.starts.tolist() for x in parts] == [list(cuts) for cuts in CUTS]
        for _ in range(2):
            for i, j in wanted:
                x, y = parts[i], parts[j]
                found = ((x + y).new(), (x * y).new(), x.inner(y).new().value, x.dup(mask=y.S), x.dup(mask=~y.S))
                for a, b in zip(found, wanted[i, j], strict=True):
                    if not isinstance(b, gb.Vector):
                        assert a == b or abs(a - b) <= 1e-9 * abs(b), (i, j)
                        continue
                    with_all = a.gather()
                    with dist.local():
                        assert with_all.isclose(b), (i, j, with_all, b)

    dist.run(3, call, timeout=20)


CHANGES = {
    "an element": lambda x: x.__setitem__(3, 99.0),
    "an element that is new": lambda x: x.__setitem__(4, 99.0),
    "all values": lambda x: x(x.S) << 5.0,
    "values in place": lambda x: x("plus") << 1.0,
    "entries of a mask": lambda x: x(x > 4.0) << 0.25,
    "an element that goes": lambda x: x.__delitem__(5),
    "nothing is left": lambda x: x.clear(),
}


@pytest.mark.parametrize("form", ["full", "bitmap", "list"])
def test_ordinary_operands_that_change_between_calls(form):
    """An ordinary vector is an operand on all ranks, is changed on each by itself, and is an operand again."""

    for name, change in CHANGES.items():

        def found(y, change=change):
            x = own(lambda: whole(1, form)) if hasattr(current(), "comm") else whole(1, form)
            A, made = y.diag(), []
            for _ in range(3):
                made += [
                    (x + y).new(),
                    (y * x).new(),
                    A.mxv(x).new(),
                    y.dup(mask=x.S),
                    y.inner(x).new(),
                    (x + 0.0).new(),
                ]
                own(lambda: change(x)) if hasattr(current(), "comm") else change(x)
            return [z.to_dense(fill_value=-7).tolist() if isinstance(z, gb.Vector) else z.value for z in made]

        def call(world):
            return found(dist.distribute(own(lambda: whole(3, "bitmap"))))

        assert dist.run(2, call, timeout=20) == [found(whole(3, "bitmap"))] * 2, name


def test_an_ordinary_operand_is_its_entries():
    """Whatever stands at absent positions of its array, and in whichever form a rank has it."""

    def call(world):
        def made():
            x = whole(0, "full")
            x[::2] << float(world.rank)
            for k in range(0, N, 2):
                del x[k]
            return x

        x, y = own(made), dist.distribute(own(lambda: whole(1, "bitmap")))
        return (x + y).new().to_dense(fill_value=-7).tolist()

    assert len({tuple(found) for found in dist.run(3, call, timeout=20)}) == 1


def test_the_error_of_the_first_rank_is_that_of_all():
    """Though each rank has one of its own."""

    def call(world):
        dist.from_coo([0] * (2 + world.rank), [0], [1], nrows=4, ncols=4)

    assert "rows 2, columns 1" in raised(ValueError, call)

    def of_kinds(world):
        dist.from_local(own(lambda: gb.Vector(int, 4)), first_row=(None, "1", -3)[world.rank])

    raised(TypeError, of_kinds)
    raised(InvalidValue, lambda world: dist.from_local(own(lambda: gb.Vector(("INT8", "FP32", "BOOL")[world.rank], 4))))


def test_random_choices_of_ranks_are_their_own():
    """Rows that are alike on all ranks do not all choose alike."""

    def call(world):
        A = gb.Matrix.from_coo(np.repeat(np.arange(192), 9), np.tile(np.arange(9), 192), 1.0, nrows=192, ncols=9)
        return A.ss.selectk("random", 1).to_coo(values=False)[1].tolist()

    first, *others = dist.run(3, call, timeout=20)
    assert others == [first] * 2 and len(first) == 192
    assert first[:64] != first[64:128] != first[128:] != first[:64]


def test_large_dimensions():
    """A rank whose positions are few has them in short integers; those of the whole are long ones."""

    def call(world):
        for size in (2**31 - 1, 2**31, 2**33, 2**60):
            at = np.array([0, 5, size // 2, size - 1])
            u = gb.Vector.from_coo(at, [1.0, 2.0, 3.0, 4.0], size=size)
            w = gb.Vector.from_coo([5, size - 2], [7.0, 8.0], size=size)
            found = (u + w).new().to_dict()
            assert found == {0: 1.0, 5: 9.0, size // 2: 3.0, size - 2: 8.0, size - 1: 4.0}
            assert u.gather().to_dict() == dict(zip(at.tolist(), [1.0, 2.0, 3.0, 4.0], strict=True))
            assert u[[size - 1, 5]].new().to_dict() == {0: 4.0, 1: 2.0}
            A = gb.Matrix.from_coo([0, size - 1], [5, size - 2], [2.0, 3.0], nrows=size, ncols=size)
            assert A.mxv(w, "plus_times").new().to_dict() == {0: 14.0, size - 1: 24.0}
            assert A.T.mxv(u, "plus_times").new().to_dict() == {5: 2.0, size - 2: 12.0}
            assert (A.T.new() @ A).new().to_dicts() == {5: {5: 4.0}, size - 2: {size - 2: 9.0}}

    dist.run(2, call, timeout=20)


def test_which_ranges_are_aligned():
    for start in range(200):
        assert Rows([0, start, N], 0).is_aligned == (start % 64 == 0)
        assert Rows([0, 64, start, N], 0).is_aligned == (start % 64 == 0)


# ---------------------------------------------------------------- what launchers and hosts say


def test_variables_of_launchers():
    names = [name for names in environment.LAUNCHERS for name in names]
    assert names == ["PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID",
                     "SLURM_STEP_NUM_TASKS"]  # fmt: skip
    for rank, size in environment.LAUNCHERS:
        for given, found in ((("1", "4"), (1, 4)), (("0", "1"), None), (("0", ""), None), (("", "4"), None)):
            assert environment.launched_by_mpi({rank: given[0], size: given[1]}) == found
            assert environment.rank_or_none({rank: given[0], size: given[1]}) == (found[0] if found else None)
    # a batch script of a job of several tasks is one process
    job = {"SLURM_PROCID": "0", "SLURM_NTASKS": "8", "SLURM_NPROCS": "8", "SLURM_JOB_NUM_NODES": "2"}
    assert environment.launched_by_mpi(job) is None
    assert environment.launched_by_mpi(job | {"SLURM_STEP_NUM_TASKS": "8"}) == (0, 8)


@pytest.mark.parametrize(("hosts", "numbers"), [("aaaa", [0, 1, 2, 3]), ("abab", [0, 0, 1, 1]), ("aabb", [0, 1, 0, 1]),
                                                ("abca", [0, 0, 0, 1])])  # fmt: skip
def test_the_number_of_a_rank_on_its_host(hosts, numbers):
    class Host(Alone):
        def allgather(self, item, call):
            return list(hosts)

    for rank, number in enumerate(numbers):
        host = Host()
        host.rank, host.size = rank, len(hosts)
        assert connect.rank_on_host(host) == number


@pytest.mark.parametrize(("text", "checks"), [("", False), ("0", False), (" 0 ", False), ("1", True), ("yes", True)])
def test_whether_errors_name_the_lines(text, checks, monkeypatch):
    monkeypatch.setenv(communicator.CHECK_VARIABLE, text)
    assert Alone().checks is checks
    monkeypatch.delenv(communicator.CHECK_VARIABLE)
    assert Alone().checks is False


@pytest.mark.parametrize("ranks", [("a", "a", "b"), ("a", "b", "b"), ("b", "a", "b", "b")])
def test_an_error_names_the_ranks_that_are_at_another_call(ranks):
    accounts = [communicator.Account(call, call, None, "") for call in ranks]
    few = min(set(ranks), key=ranks.count)
    error = communicator.failure(accounts, "nvals")
    assert error.ranks == tuple(rank for rank, call in enumerate(ranks) if call == few)
    assert all(f"in {call}" in str(error) for call in set(ranks))


def test_wrong_sizes_are_named():
    for name in ("first_row", "nrows"):
        for wrong in ("1", 1.5, -1):
            given = {name: wrong}
            says = raised(
                Exception, lambda world, given=given: dist.from_local(own(lambda: gb.Vector(int, 4)), **given)
            )
            assert name in says and ("nrows" if name == "first_row" else "first_row") not in says


def test_operands_know_their_entries_after_they_were_read():
    def call(world):
        A = dist.rmat(7, 3, seed=4, weights=(1, 9))
        u = gb.Vector.from_coo(np.arange(0, 128, 3), np.arange(0, 128, 3) * 1.0, size=128)
        for product in (A.mxv, lambda x: x.vxm(A), lambda x: x.outer(x), lambda x: A.T.mxv(x)):
            product(u).new()
            assert u.nvals == 43 and u.dup().nvals == 43 and (u * 2).new().nvals == 43
        count = A.nvals
        A.mxm(A, "any_pair").new()
        assert A.nvals == count == A.dup().nvals == sum(part.nvals for part in [A.gather()])

    dist.run(3, call, timeout=20)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_from_how_many_entries_rows_are_shared_by_them(more):
    """BALANCED_FROM entries, all in the first rows: below it the ranges are of equal length."""
    count, length = building.BALANCED_FROM + more, 6400
    equal = equal_ranges(length, 2)

    def call(world):
        mine = np.arange(world.rank, count, 2)
        A = dist.from_coo(mine % 64, mine // 64, 1.0, nrows=length, ncols=100)
        return A._store.layout.starts.tolist() == equal

    assert dist.run(2, call, timeout=20) == [more < 0] * 2
