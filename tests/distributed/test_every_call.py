"""Calls of gb.dist with each kind of argument: those of the ordinary functions are the model."""

import inspect

import numpy as np
import pytest
from distributed.test_arguments import own, raised

import grb_tile as gb
from grb_tile import dist, generators
from grb_tile.backends.distributed import connect
from grb_tile.exceptions import InvalidValue


def defaults(function):
    return {p.name: p.default for p in inspect.signature(function).parameters.values() if p.default is not p.empty}


@pytest.mark.parametrize("name", ["rmat", "uniform_random"])
def test_generators_have_the_defaults_and_the_refusals_of_the_ordinary_ones(name):
    ours, theirs = getattr(dist, name), getattr(generators, name)
    both = defaults(ours).keys() & defaults(theirs).keys()
    assert {key: defaults(ours)[key] for key in both} == {key: defaults(theirs)[key] for key in both}
    assert both >= {"directed", "weights", "dtype", "seed"}
    given = {"scale": 5} if name == "rmat" else {"n": 40, "nedges": 90}
    small = {key: np.int8(value) for key, value in given.items()} | {"seed": np.int64(3)}
    want = [theirs(**given), theirs(**given | {"seed": 3}, directed=False)]

    def call(world):
        found = [ours(**given), ours(**small, directed=False)]
        return [A.gather().isequal(B) for A, B in zip(found, own(lambda: [B.dup() for B in want]), strict=True)]

    assert dist.run(2, call) == [[True, True]] * 2
    wrong = [{"directed": 2}, {"seed": -1}, {"seed": 1.5}, {"weights": (3, 1)}, {"weights": 5}, {"dtype": "FP64"}]
    wrong += [{key: value} for key in given for value in (-1, 1 << 50, True, 2.0)]
    wrong += [{"edge_factor": 0}, {"a": 2.0}] if name == "rmat" else []
    for change in wrong:
        with pytest.raises((TypeError, ValueError)) as ordinary:
            theirs(**given | change)
        says = raised(type(ordinary.value), lambda world, change=change: ours(**given | change), ranks=2)
        assert says == str(ordinary.value)


def test_all_waits_have_one_limit():
    """The seconds of docs/DISTRIBUTED.md, wherever a communicator is made."""
    found = {defaults(function)["timeout"] for function in (connect.connect, dist.init, dist.run)}
    assert found == {300.0}


@pytest.mark.parametrize("wrong", [3, "A", None, [1, 2]])
def test_what_is_no_object_is_not_distributed(wrong):
    for root in (0, 1):
        says = raised(TypeError, lambda world, root=root: dist.distribute(wrong, root), ranks=2)
        assert f"x: expected a Matrix or a Vector on rank {root}, got {type(wrong).__name__}" in says


@pytest.mark.parametrize("kind", ["vector", "matrix", "dense matrix"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("rows", [64, 70])  # parts that stay where they are, and parts that move
def test_a_whole_that_is_longer_than_its_parts(kind, ranks, rows):
    """What is beyond the parts has no entries, on the last rank."""

    def part(rank):
        if kind == "vector":
            return gb.Vector.from_coo([0, rows - 1], [rank, 5], size=rows)
        if kind == "matrix":
            return gb.Matrix.from_coo([0, rows - 1], [1, 2], [rank, 5], nrows=rows, ncols=3)
        return gb.Matrix.from_dense(np.full((rows, 3), rank))

    def call(world, more):
        whole = dist.from_local(own(lambda: part(world.rank)), None, rows * ranks + more)
        every = gb.Vector.from_scalar(1.0, whole.shape[0])
        sums = whole if kind == "vector" else whole.reduce_rowwise().new()
        assert (whole + whole).new().nvals == whole.nvals and (sums + every).new().nvals == whole.shape[0]
        return whole.shape, [array.tolist() for array in whole.to_coo()]

    parts = [[array.tolist() for array in part(rank).to_coo()] for rank in range(ranks)]
    for more in (0, 1, 200):
        positions = [row + rows * rank for rank, (found, *_) in enumerate(parts) for row in found]
        rest = [[x for found in parts for x in found[k]] for k in range(1, len(parts[0]))]
        shape = (rows * ranks + more,) if kind == "vector" else (rows * ranks + more, 3)
        assert dist.run(ranks, call, more, timeout=10) == [(shape, [positions, *rest])] * ranks


def test_what_a_communicator_is_made_of(monkeypatch):
    class Comm:
        def Get_rank(self):
            return 0

        Get_size = Dup = Get_rank

    seen = []
    monkeypatch.setattr(connect, "_mpi", lambda comm, timeout: seen.append((comm, timeout)) or "made")
    comm = Comm()
    assert connect.connect(comm) == "made" and connect.connect(comm, 7.0) == "made"
    assert seen == [(comm, 300.0), (comm, 7.0)]
    for missing in ("Get_rank", "Get_size", "Dup"):
        names = {"Get_rank", "Get_size", "Dup"} - {missing}
        with pytest.raises(InvalidValue, match="expected an mpi4py communicator"):
            connect.connect(type("Half", (), dict.fromkeys(names, len))())
    for wrong in (3, "world", object()):
        with pytest.raises(InvalidValue, match="expected an mpi4py communicator"):
            connect.connect(wrong)
    alone = connect.connect()
    assert connect.connect(alone) is alone and alone.size == 1
