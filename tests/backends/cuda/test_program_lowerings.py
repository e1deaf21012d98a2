"""Loops of programs as one persistent kernel: the same results as turn by turn, on grids of any size.

On the emulation, whose cooperative launches have as many blocks as a test says, and threads in an order that each
launch draws.  What cannot be one kernel runs as before, and explain() says why.
"""

import numpy as np
import pytest
from backends.cuda.test_programs import (  # noqa: F401  (one is a fixture of each test)
    agree,
    bellman_ford,
    drawn,
    on_the_device,
    pagerank,
    same_as_plain,
    swapped,
)

import grb_tile as gb
from cuda_emulation.backend import EMULATED
from cuda_emulation.launcher import EmulatedKernel
from grb_tile.backends.cuda.programs import persistent
from grb_tile.generators import grid
from grb_tile.planner import tuning

N = 700  # more than the threads of a block; words of presence are no numbers of a block
SHAPES = [(1, 64), (2, 32), (3, 64), (5, 32)] if EMULATED else [(1, 1024), (1, 256)]


@pytest.fixture(autouse=True)
def turn_by_turn(on_the_device, monkeypatch):  # noqa: F811
    """Loops that accumulate a product are no operation of their own here."""
    monkeypatch.setattr(type(on_the_device), "fixpoint", lambda *_: NotImplemented)


@pytest.fixture(params=SHAPES, ids=lambda shape: f"{shape[0]}x{shape[1]}")
def shape(request, monkeypatch):
    """Blocks of the launch (a multiprocessor on a GPU) and threads of each."""
    blocks, threads = request.param
    monkeypatch.setitem(persistent.LOWERING, "persistent", "always")
    monkeypatch.setitem(persistent.LAUNCH, "threads", threads)
    monkeypatch.setitem(persistent.LAUNCH, "per_processor", blocks)
    if blocks % 2:  # a matrix for which a turn's direction is chosen on the device
        monkeypatch.setattr(tuning, "GPU_SMALL_MATRIX", 0)
        monkeypatch.setattr(tuning, "GPU_UNCOUNTED", 0)
    if EMULATED:
        monkeypatch.setattr(EmulatedKernel, "resident_blocks", lambda self, threads, shared=0: blocks)


def matrix(seed):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, N, 2 * N), rng.integers(0, N, 2 * N)
    A = gb.Matrix.from_coo(rows, cols, rng.integers(1, 9, 2 * N) / 8, nrows=N, ncols=N, dup_op="first")
    return gb.binary.first(A | A.T).new()


def bfs(A, source):
    """Levels, and how many vertices have one: two numbers, so no search of the backend."""
    level, f = gb.Vector(int, A.nrows), gb.Vector.from_coo([source], [True], size=A.nrows)
    depth = reached = 0
    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1
        reached += f.nvals
    return level, depth, reached


def least_labels(A, label):
    changed = True
    while changed:
        old = label.dup()
        label("min") << A.mxv(label, "min_second")
        changed = not label.isequal(old)
    return label


def operands_of(function, A, k):
    """Arguments of the k-th call, made anew."""
    if function is bfs or function is bellman_ford:
        return A, 7 * k
    if function is pagerank:
        return A, gb.unary.minv(A.reduce_rowwise("count").new(float)).new(), 0.85, 1e-4
    if function is least_labels:
        return A, gb.Vector.from_dense(np.arange(N)[::-1] + k)
    return A, gb.Vector.from_scalar(1.0 + k, N), gb.Vector.from_scalar(2.0, N), 5


@pytest.mark.parametrize("function", [bfs, pagerank, bellman_ford, least_labels, swapped])
def test_loops_as_one_kernel(function, shape):
    program, A = gb.program(function), matrix(1)
    for k in range(4):
        wanted = function(*operands_of(function, A, k))
        assert agree(program(*operands_of(function, A, k)), wanted), (k, program.explain())
        assert ("one kernel" in program.explain()) == (k > 0), program.explain()


@pytest.mark.parametrize("shape", [SHAPES[-1]], indirect=True)
@pytest.mark.parametrize("function, most", [(bfs, 2), (bellman_ford, 2), (least_labels, 2), (pagerank, 3)])
def test_barriers_and_copies_of_a_turn(function, most, shape):
    """A vector that the loop carries is written in place: a copy of it takes a pass and a barrier more."""
    program, A = gb.program(function), matrix(1)
    for k in range(3):
        program(*operands_of(function, A, k))
    for captured in program.loops[0].captured.values():
        kernel = captured.device.one.kernel
        # pulls from words that a GPU's search keeps have one more
        assert max(kernel.barriers.values()) <= most + (function is bfs and not EMULATED), kernel.levels
        assert all(level.count("copy_arrays") < 5 for level in kernel.levels["cols"]), kernel.levels


@pytest.mark.skipif(EMULATED, reason="blocks of a whole device, each of which decides on each turn for itself")
@pytest.mark.parametrize("side", [16, 32, 48, 64])
@pytest.mark.parametrize("function", [bfs, bellman_ford, least_labels])
def test_directions_are_those_of_while_nodes(function, side, monkeypatch):
    """Blocks that decide differently give the same entries in the end, in other turns, or wait for each other."""
    monkeypatch.setattr(tuning, "GPU_SMALL_MATRIX", 0)  # both lowerings choose
    monkeypatch.setattr(tuning, "GPU_UNCOUNTED", 0)
    A, pulled = grid(side, side, side).apply("one").new(float), {}
    labels = gb.Vector.from_dense(np.arange(A.nrows))
    for lowering in ("never", "always"):
        monkeypatch.setitem(persistent.LOWERING, "persistent", lowering)
        program = gb.program(function)
        for _ in range(4):
            argument = labels.dup() if function is least_labels else 7
            found = program(A, argument)
            pulled.setdefault(lowering, []).append(program.loops[0].pulled)
        assert agree(found, function(A, labels.dup() if function is least_labels else 7))
    assert pulled["never"][2:] == pulled["always"][2:]


@pytest.mark.skipif(not EMULATED, reason="a GPU has more blocks in all tests here")
@pytest.mark.parametrize("shape", [(288, 32), (289, 32)], indirect=True)
@pytest.mark.parametrize("function", [pagerank, bfs])
@pytest.mark.sampled(1)
def test_parts_of_as_many_blocks_as_a_warp_loads_at_once(function, shape, monkeypatch):
    """A vector that is divided among all blocks: 64 positions each."""
    n = 64 * 289 + 5
    A, source = gb.Matrix.from_coo(np.arange(n - 1), np.arange(1, n), True, nrows=n, ncols=n), n - 4
    w = gb.Vector.from_scalar(1.0, n)
    arguments = (A, source) if function is bfs else (A, w, 0.85, 0.0, 2)
    program, wanted = gb.program(function), function(*arguments)
    for _ in range(3):
        assert agree(program(*arguments), wanted)
    assert "one kernel" in program.explain()


def test_a_vector_for_one_block(shape):
    """Whose steps wait for each other without the grid, and whose reductions have no place for parts."""

    def settled(v, turns):
        for k in gb.loop(max_turns=turns):  # noqa: B007
            v << v * 0.5
            v("plus") << 1.0
            if v.reduce("max").new().value < 2.5:
                break
        return v, k, v.reduce("plus").new().value

    program = gb.program(settled)
    for turns in (9, 9, 9, 2, 7):
        v, w = (gb.Vector.from_dense(np.arange(100.0)) for _ in range(2))
        assert agree(program(v, turns), settled(w, turns))
    assert "one kernel" in program.explain()


@pytest.mark.parametrize("case", [0, 1, 2, *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 40))])
def test_random_programs(case, shape):
    program = same_as_plain(*drawn("lowered program", case), matrix(case).apply("ceil").new(int))
    print(program.explain())
