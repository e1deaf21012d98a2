"""Ranks that compute on devices (the CPU emulation): parts reside there, and what is exchanged, by NCCL or the host."""

import time

import numpy as np
import pytest
from exchanges import error_of

import grb_tile as gb
from cuda_emulation.arrays import Traffic
from cuda_emulation.backend import EMULATED, using_shim
from grb_tile import algorithms
from grb_tile.backends import select
from grb_tile.exceptions import DistributedError
from grb_tile.planner import choose_ranks
from support.emulated_devices import emulated_devices
from support.ranks import on_ranks
from support.results_of_ranks import compare, results

pytestmark = pytest.mark.skipif(not EMULATED, reason="tests/gpu/test_ranks.py has these on devices")


def test_calls_on_ranks_of_one_device():
    want = results()
    with using_shim():
        compare(on_ranks("ranks2", results, local=select.current().name, timeout=60), want)


def test_loops_on_the_whole_graph_wait_for_no_rank_while_they_hold_the_device(monkeypatch):
    """Whether the graph is symmetric, and its in-edges, are questions to all ranks, here of one device."""
    monkeypatch.setattr(choose_ranks, "saved_by_whole", lambda *facts: 1.0)
    monkeypatch.setattr(choose_ranks, "cost_of_whole", lambda *facts: 0.0)

    def program(world):
        A = gb.Matrix.from_coo(np.arange(90), np.arange(90) * 7 % 83, np.arange(90) % 5 + 1.0, nrows=90, ncols=90)
        paths = algorithms.sssp(A, 3, predecessors=True)
        return algorithms.connected_components(A).count, paths.distances.to_dict()

    want = gb.dist.run(1, program)
    with emulated_devices(2):
        compare(gb.dist.run(2, program, devices=1, timeout=20), want[0])


@pytest.mark.parametrize("count", (2, pytest.param(3, marks=pytest.mark.slow)))
def test_calls_on_ranks_with_a_device_each(count):
    want, moves = results(), count == 2  # in the ranges of one count of ranks each
    with emulated_devices(count) as nccl:
        ended = on_ranks(f"ranks{count}", lambda: results(moves), devices=count, timeout=60)  # ranges end anywhere
        compare(ended, want)
        assert {name for name, _ in nccl.calls} >= {"send", "recv", "abort"}
        compare(gb.dist.run(count, lambda world: results(not moves), devices=count), want)


CALLS = {
    "mxv, full": lambda A, B, u, v: A.mxv(u).new(),
    "mxv, list": lambda A, B, u, v: A.mxv(v).new(),
    "mxv, bitmap": lambda A, B, u, v: A.mxv(u.select(">", -600.0).new()).new(),
    "vxm by terms": lambda A, B, u, v: v.vxm(A).new(),
    "transpose": lambda A, B, u, v: B.T.new(),
    "transpose, one value": lambda A, B, u, v: gb.unary.one(B).new().T.new(),
    "mxm": lambda A, B, u, v: A.mxm(A).new(mask=A.S),
    "triangles": lambda A, B, u, v: A.mxm(A.T).new(mask=A.S).reduce_scalar().new().value,
    "reduce by columns": lambda A, B, u, v: B.reduce_columnwise().new(),
    "reduce": lambda A, B, u, v: u.reduce().new().value,
    "extract": lambda A, B, u, v: u[100:900].new(),
    "element-wise": lambda A, B, u, v: u.ewise_add(v).new(),
    "kronecker": lambda A, B, u, v: B[:40, :40].new().kronecker(B[:20, :20].new()).new(),
    "pagerank": lambda A, B, u, v: algorithms.pagerank(A, tol=0, max_iter=1).values,
    "bfs": lambda A, B, u, v: algorithms.bfs(A, 0).levels,
}


def test_arrays_do_not_cross_the_host():
    """At most 4 KB a call and a rank, whatever the arrays have: sizes, numbers, failures."""
    n, limit = 1024, 4096

    def program(world):
        rows = np.arange(20 * n) % n
        cols = (rows * 7 + np.arange(20 * n) // n * 131) % n
        with gb.dist.local():  # built once, on the host
            ordinary = gb.Matrix.from_coo(rows, cols, np.arange(20.0 * n), nrows=n, ncols=n, dup_op=gb.binary.plus)
        A = gb.dist.distribute(ordinary if world.rank == 0 else None)
        u = gb.Vector.from_dense(np.arange(float(n)))
        v = gb.Vector.from_coo(np.arange(0, n, 100), 1.0, size=n)
        world._backend.replicates = False  # loops run over the ranks
        comm, found = world._backend.comm, {}
        for name, call in CALLS.items():
            B = gb.unary.ainv(A).new()
            A.nvals, B.nvals, u.nvals, v.nvals  # noqa: B018
            call(A, B, u, v)  # constants and kernels
            B = gb.unary.ainv(A).new()
            x, y = gb.unary.ainv(u).new(), v.select(">", 0.0).new()  # without kept copies of the whole, or of positions
            world.barrier()
            before = Traffic.to_device + Traffic.to_host, comm.host_bytes, comm.bytes_received
            world.barrier()
            call(A, B, x, y)
            world.barrier()
            found[name] = (
                (Traffic.to_device + Traffic.to_host - before[0]) / world.size,
                comm.host_bytes - before[1],
                comm.bytes_received - before[2],
            )
            world.barrier()
        return found

    with emulated_devices(2) as nccl:
        each = gb.dist.run(2, program, devices=2, timeout=60)
        for name in CALLS:
            copied, over_host, received = zip(*(found[name] for found in each), strict=True)
            assert max(copied) <= limit and max(over_host) <= limit, (name, copied, over_host)
            silent = "element-wise", "reduce", "bfs"  # a search writes to the other devices' memory
            assert sum(received) > sum(over_host) or name in silent, (name, received)
        assert {name for name, _ in nccl.calls} >= {"allGather", "broadcast", "send", "recv"}


def test_what_has_no_form_on_devices_goes_over_the_host():
    def program(world):
        pair = gb.dtypes.register_anonymous(np.dtype([("a", "i4"), ("b", "f8")]))
        v = gb.Vector.from_coo([1, 70], np.array([(1, 2.5), (3, 4.5)], pair.np_type), dtype=pair, size=128)
        many = gb.Matrix.from_coo([0, 100], [1, 2], np.array([[1, 2], [3, 4]]), dtype="INT64[2]", nrows=128, ncols=4)
        biggest = gb.binary.register_anonymous(lambda x, y: x if x > y else y)
        A = gb.Matrix.from_coo(
            np.arange(300) % 128,
            np.arange(300) * 5 % 128,
            np.arange(300.0),
            nrows=128,
            ncols=128,
            dup_op=gb.binary.plus,
        )
        return (
            v[::2].new().nvals, v.to_coo()[1].tolist(), many.T.new()[2, 100].new().value.tolist(),
            A.apply(biggest, right=7.0).new().reduce_columnwise(gb.monoid.max).new().to_dict(),
        )  # fmt: skip

    want = gb.dist.run(1, program)[0]
    with emulated_devices(2):
        for found in gb.dist.run(2, program, devices=2):
            assert str(found) == str(want)


OTHERS = {  # what rank 1 does where the others multiply: what every rank's error says
    "reduces": (lambda A, u: u.reduce().new().value, "rank 1 in reduce (allgather)"),
    "multiplies another vector": (
        lambda A, u: A.mxv(u.apply(gb.unary.identity[gb.dtypes.FP32]).new()).new(),
        "rank 1 in mxv (all of 1 arrays, 640 FP32)",
    ),
    "fails": (lambda A, u: [].pop(), "rank 1 failed"),
}


@pytest.mark.parametrize("count", (2, 3))
@pytest.mark.parametrize("other", OTHERS)
def test_another_call_than_a_warm_product_is_noticed_on_all_ranks(other, count):
    """A product whose vector's positions are known asks for nothing: what it announces says which call it is."""

    def program(world):
        A, u = gb.Matrix.from_coo(np.arange(640), np.arange(640), 1.0), gb.Vector.from_dense(np.arange(640.0))
        x = gb.unary.identity(u).new()
        A.mxv(x).new()
        comm, asked = world._backend.comm, []
        comm.allgather, allgather = lambda *args: asked.append(args) or allgather(*args), comm.allgather
        A.mxv(gb.unary.identity(x).new()).new()
        assert not asked  # no numbers
        start, call = time.monotonic(), OTHERS[other][0] if world.rank == 1 else lambda A, u: A.mxv(u).new()
        y = gb.unary.ainv(x).new()

        def others():
            try:
                call(A, y)
            except IndexError as error:  # by no primitive
                comm.fail(error, "mxv")
                raise DistributedError("rank 1 failed", (1,), "mxv") from error
            while True:  # as a loop does
                y.reduce().new()
                A.mxv(gb.unary.identity(y).new()).new()

        raised = str(error_of(others))
        assert OTHERS[other][1] in raised, raised
        return time.monotonic() - start

    with emulated_devices(count):
        assert max(gb.dist.run(count, program, devices=count, timeout=60)) < 10


def test_an_error_of_one_rank_leaves_all_in_step(monkeypatch):
    def program(world):
        A, u = gb.Matrix.from_coo(np.arange(640), np.arange(640), 1.0), gb.Vector.from_dense(np.ones(640))
        backend = world._backend
        backend.comm.barrier("start")
        if world.rank == 1:
            monkeypatch.setattr(backend.local, "mxv", lambda *args: [].pop())
        raised = error_of(lambda: (A.mxv(u).new(), u.reduce().new().value), (DistributedError, IndexError))
        assert world.rank == 1 or "rank 1 failed in mxv: IndexError" in str(raised)
        if world.rank == 1:
            monkeypatch.undo()
        return A.mxv(u).new().reduce().new().value

    with emulated_devices(2):
        assert gb.dist.run(2, program, devices=2, timeout=20) == [640, 640]


@pytest.mark.parametrize(
    ("devices", "channel"),
    [
        ([0, 1, 2], "over NCCL 2.28.3"),
        (2, "through the host (ranks 0, 2 have one device)"),
        ([1], "through the host (ranks 0, 1, 2 have one device)"),
    ],
)
def test_which_devices_ranks_have(devices, channel):
    def program(world):
        A = gb.Matrix.from_coo(np.arange(640), np.arange(640), 1.0)
        w = A.mxv(gb.Vector.from_dense(np.ones(640))).new()
        with gb.dist.local():
            where = w.local[1].device
        return world.channel, where, w.reduce().new().value, gb.explain()

    with emulated_devices(3):
        for rank, (found, where, total, plan) in enumerate(gb.dist.run(3, program, devices=devices)):
            assert found == channel and total == 640
            assert where == f"cuda:{[0, 1, 2][rank] if devices == [0, 1, 2] else rank % 2 if devices == 2 else 1}"
            assert f"{channel}, " in str(plan)


def test_no_nccl_is_a_reason_and_other_versions_an_error():
    with emulated_devices(2) as nccl:
        nccl.available = False
        for channel in gb.dist.run(2, lambda world: world.channel, devices=2):
            assert channel.startswith("through the host (rank 0: CuPy has no NCCL: pip install")
        nccl.available = True
        versions = iter((22803, 23001))
        nccl.get_version = lambda: next(versions)
        with pytest.raises(DistributedError, match=r"different versions of NCCL \(rank 0: 2.\d+.\d, rank 1: 2"):
            gb.dist.run(2, lambda world: None, devices=2)
    assert gb.dist.run(2, lambda world: world.channel) == ["", ""]
    with pytest.raises(gb.exceptions.InvalidValue, match="names none"):
        gb.dist.run(2, lambda world: world.channel, devices=[])


@pytest.mark.parametrize(
    ("name", "variable", "number", "wanted"),
    [
        ("cuda", None, 0, "cuda:0"), ("cuda", None, 3, "cuda:1"), ("cuda:1", None, 4, "cuda:1"),
        ("cpu", None, 1, "cpu"), ("cuda", "1", 2, "cuda"), (None, None, 1, "cpu"),
    ],
)  # fmt: skip
def test_the_device_of_a_rank(name, variable, number, wanted, monkeypatch):
    monkeypatch.setattr(select._class_of("cuda"), "count_devices", classmethod(lambda cls: 2))
    if variable is not None:
        monkeypatch.setitem(gb.config._variables, "device", "GRB_TILE_DEVICE")
    with select.using("cpu"):
        assert select.own_device(name, number) == wanted


def test_an_uncaught_error_of_a_rank_ends_all():
    def program(world):
        A = gb.dist.rmat(8, 8, weights=(1, 9), seed=1)
        x = A.reduce_rowwise().new()
        if world.rank == 1:
            raise ValueError("of rank 1")
        return A.mxv(x).new().reduce().new().value

    start = time.monotonic()
    with emulated_devices(2), pytest.raises(ValueError, match="of rank 1"):
        gb.dist.run(2, program, devices=2, timeout=60)
    assert time.monotonic() - start < 10
