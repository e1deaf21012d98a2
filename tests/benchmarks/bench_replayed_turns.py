"""A turn of the loops of bench_small_loops.py on the CPU: as it stands, and as a list of prepared calls.

    python tests/benchmarks/bench_replayed_turns.py [--rounds 150]

The list has what a turn would do that was traced once: records that are made and checked, descriptors, the write step.
No names are bound, no number of the turn is computed, nothing is looked at that could have changed: what a program on
the CPU could save at most.  A figure is the least mean time of 60 turns.
"""

import argparse
import math
import os
import time

from bench_small_loops import LOOPS, VERTICES, edges

import grb_tile as gb
from grb_tile import operations as ops
from grb_tile.backends.select import current
from grb_tile.core import elements

TURNS = 60
FP64, INT64 = gb.dtypes.FP64, gb.dtypes.INT64


def prepared(target, expression, desc):
    """The function that writes an expression into a vector."""
    record, dtype = expression._record, target.dtype

    def run():
        if desc.is_anew:
            target._store = ops.write(None, record, dtype, desc)
        else:
            t, mask = ops.compute(record, desc)
            target._store = ops.finish(elements.store_to_write(target), t, dtype, mask, desc)

    return run


def number_into(target, number, desc):
    """The function that writes a number into a vector."""
    value = target.dtype.np_type.type(number)

    def run():
        target._store = ops.fill(elements.store_to_write(target), value, target.dtype, desc)

    return run


def pagerank(A):
    """(a turn, its list of calls)"""
    n, plus, minus = A.nrows, gb.binary.plus, gb.binary.minus
    degree = A.reduce_rowwise(gb.agg.count).new(float)
    t, w = gb.Vector.from_scalar(1 / n, n), gb.Vector.from_scalar(1 / n, n)
    r, product = t.dup(), gb.semiring.plus_second

    def turn():
        w << t.ewise_mult(degree, gb.binary.truediv)
        r[:] << 0.15 / n
        r(plus) << A.T.mxv(w, product)
        t << t.ewise_add(r, minus)
        t << t.apply(gb.unary.abs)
        return t.reduce(gb.monoid.plus).new().value < 1e-30

    return turn, [
        prepared(w, t.ewise_mult(degree, gb.binary.truediv), ops.PLAIN), number_into(r, 0.15 / n, ops.PLAIN),
        prepared(r, A.T.mxv(w, product), ops.Descriptor(None, plus[FP64])),
        prepared(t, t.ewise_add(r, minus), ops.PLAIN), prepared(t, t.apply(gb.unary.abs), ops.PLAIN),
        t.reduce(gb.monoid.plus)._record.compute,
    ]  # fmt: skip


def until_it_stays(v, product):
    """The same of Bellman-Ford and of the least labels; product(): the expression of a turn."""
    least, equal, backend = gb.binary.min, gb.binary.eq[v.dtype], current()

    def turn():
        old = v.dup()
        v(least) << product()
        return v.isequal(old)

    write, before = prepared(v, product(), ops.Descriptor(None, least[v.dtype])), []

    def keep():
        v._store.shared = True
        before[:] = [v._store]

    return turn, [keep, write, lambda: backend.is_equal(v._store, before[0], equal, None)]


def bfs(A):
    """The same, from the second level on; the next frontier is another vector."""
    pair, level, f = gb.semiring.any_pair, gb.Vector(int, A.nrows), gb.Vector.from_coo([0], True, size=A.nrows)
    for depth in range(2):
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, pair)
    g = f.dup()

    def turn():
        level(f.S) << 2
        g(~level.S, replace=True) << f.vxm(A, pair)
        return g.nvals

    return turn, [
        number_into(level, 2, ops.Descriptor(f.S)),
        prepared(g, f.vxm(A, pair), ops.Descriptor(~level.S, None, True)), lambda: g._store.nvals,
    ]  # fmt: skip


def least_times(turn, calls, rounds):
    """(us of the turn, of the list of calls)"""
    least = [math.inf, math.inf]
    for _ in range(rounds):
        times = [time.perf_counter()]
        for _ in range(TURNS):
            turn()
        times.append(time.perf_counter())
        for _ in range(TURNS):
            for call in calls:
                call()
        times.append(time.perf_counter())
        least = [min(old, b - a) for old, a, b in zip(least, times, times[1:], strict=False)]
    return [x / TURNS * 1e6 for x in least]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=150)
    rounds = parser.parse_args().rounds
    os.environ.setdefault("GRB_TILE_JIT", "always")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    print("| loop | graph | a turn us | as a list us | list / turn |\n|---|---|---|---|---|")
    names = list(LOOPS)
    for kind in ("random", "grid"):
        i, j, x = edges(kind)
        A = gb.Matrix.from_coo(i, j, x, nrows=VERTICES, ncols=VERTICES)
        ends = [loop(gb, A) for loop in LOOPS.values() for _ in range(2)][::2]  # compiled, and forms settled
        d, label = ends[2], ends[3]
        made = (
            bfs(A), pagerank(A), until_it_stays(d, lambda A=A, d=d: d.vxm(A, gb.semiring.min_plus)),
            until_it_stays(label, lambda A=A, label=label: A.mxv(label, gb.semiring.min_second)),
        )  # fmt: skip
        for name, (turn, calls) in zip(names, made, strict=True):
            a, b = least_times(turn, calls, rounds)
            print(f"| {name.split(',')[0]} | {kind} | {a:.1f} | {b:.1f} | {b / a:.2f} |", flush=True)


if __name__ == "__main__":
    main()
