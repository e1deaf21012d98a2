"""Products and algorithms over ranks against one of them: median seconds, bytes that a rank receives, and the model.

    grb-tile run -n 2 tests/benchmarks/bench_distributed.py --scale 18
    grb-tile run -n 2 tests/benchmarks/bench_distributed.py --backend cuda --record results.md
    python tests/benchmarks/bench_distributed.py --devices 2 --only spmv,pagerank      # ranks are threads
    python tests/benchmarks/bench_distributed.py --model                               # the table of the model alone

On CPUs the graphs are small (--scale); on devices they are those of the targets.  One rank: rank 0 alone computes the
same on its own copy, while the others wait.  Every result is compared with that of one rank.  Each section prints its
line as soon as it is done, makes as many repeats as fit into --seconds, and frees its memory.  Model: the planner's
(choose_ranks), whose rates are of an H200 and of links that are named there.
"""

import argparse
import gc
import statistics
import sys
import time

import numpy as np

import grb_tile as gb
from grb_tile import algorithms, generators
from grb_tile.planner import choose_ranks as model

REPEATS = 9


def pagerank(A):
    return lambda: algorithms.pagerank(A, tol=0, max_iter=20, dtype="FP32", strict=False).values


def spmv(A):
    with_weights = gb.unary.one[gb.dtypes.FP32](A).new()
    x = with_weights.reduce_rowwise(gb.monoid.plus).new()

    def call():
        y = gb.unary.identity(x).new()  # a new vector: the whole of the last one is kept with it
        return with_weights.mxv(y, gb.semiring.plus_second).new()

    return call


def square(A):
    B = gb.unary.one[gb.dtypes.FP32](A).new()
    return lambda: B.mxm(B).new()


def bfs(A):
    source = int(A.reduce_rowwise(gb.monoid.plus[int]).new().apply(gb.unary.identity).new().reduce(gb.monoid.max).new())
    degrees = A.reduce_rowwise(gb.monoid.plus[int]).new()
    hub = int(degrees.select("==", source).new().to_coo()[0][0])
    return lambda: algorithms.bfs(A, hub).levels


CASES = {
    "spmv": spmv,
    "pagerank": pagerank,
    "bfs": bfs,
    "bfs over ranks": bfs,  # by kernels of all devices, or the loop of calls, whatever the planner says
    "components": lambda A: lambda: algorithms.connected_components(A).values,
    "triangles": lambda A: lambda: algorithms.triangle_count(A),
    "square": square,
}
# section: (case, generator, scale, edge factor, least ratio to one device on 2, 4, 8 devices; None: no target)
ON_DEVICES = {
    "spmv-rmat24": ("spmv", "rmat", 24, 16, (1.7, None, None)),
    "spmv-kron21": ("spmv", "kron", 21, 48, (1.7, None, None)),
    "spmv-rmat26": ("spmv", "rmat", 26, 16, (None, 3.2, 5.5)),
    "pagerank-rmat25": ("pagerank", "rmat", 25, 16, (1.7, None, None)),
    "pagerank-rmat26": ("pagerank", "rmat", 26, 16, (None, 3.2, 5.5)),
    "triangles-kron21": ("triangles", "kron", 21, 16, (1.6, None, None)),
    "square-fem": ("square", "fem", 70, 0, (1.5, None, None)),
    "bfs-rmat26": ("bfs over ranks", "rmat", 26, 16, (1.4, None, None)),
    "bfs-kron21": ("bfs", "kron", 21, 48, (1 / 1.15, None, None)),
    "bfs-roads": ("bfs", "grid", 3000, 0, (1 / 1.15, None, None)),
    "components-rmat25": ("components", "rmat", 25, 16, (1.4, None, None)),
}


def on_cpus(scale, factor):
    return {f"{case}-rmat{scale}": (case, "rmat", scale, factor, (None,) * 3) for case in CASES}


def make(kind, scale, factor, over_ranks):
    """The graph, distributed, or this rank's own."""
    if kind == "rmat":
        return (gb.dist if over_ranks else generators).rmat(scale, factor, directed=False, seed=1)
    if over_ranks:
        rank = gb.dist.world().rank
        with gb.dist.local():
            whole = make(kind, scale, factor, False) if rank == 0 else None
        return gb.dist.distribute(whole)
    if kind == "kron":
        return generators.kronecker(scale, factor, seed=1)
    return generators.brick_mesh(scale) if kind == "fem" else generators.grid(scale, scale)


def measured(call, budget, world=None):
    """(median seconds of the slowest rank, bytes received and seconds in exchanges of a call, its result)"""
    result = call()  # compiles
    first = timed(call, world)
    repeats = max(1, min(REPEATS, int(budget / max(first, 1e-6))))
    if world is not None:
        repeats = min(world.allgather(repeats))
    before = dict(world.traffic) if world is not None else {}
    seconds = []
    for _ in range(repeats):
        seconds.append(timed(call, world))
    median = statistics.median(seconds)
    if world is None:
        return median, 0, result
    received = (world.traffic["bytes_received"] - before["bytes_received"]) / repeats
    return max(world.allgather(median)), received, result


def timed(call, world=None):
    settle()
    if world is not None:
        world.barrier()
    start = time.perf_counter()
    result = call()
    settle()
    del result
    return time.perf_counter() - start


def settle():
    from grb_tile.backends import select

    select.current().synchronize()


def plain(x):
    """Numbers that the results of ranks and of one rank have in common: sums and a sample, not all entries."""
    if isinstance(x, int):
        return [x]
    monoid = gb.monoid.plus
    if isinstance(x, gb.Matrix):
        return [x.nvals, float(x.reduce_scalar(monoid[float]).new().value)]
    sample = [x.get(int(k), 0) for k in np.linspace(0, x.size - 1, 9)]
    return [x.nvals, float(gb.unary.identity[float](x).new().reduce(monoid).new().value), *map(float, sample)]


def same(x, y):
    return np.allclose(np.array(x, float), np.array(y, float), rtol=1e-3, atol=1e-9)


def task_of(case, n, nvals):
    """The model's Task; products of matrices are not modelled from sizes alone."""
    levels = model.levels_of(n, nvals)
    found = {
        "spmv": lambda: model.spmv(n, nvals), "pagerank": lambda: model.spmv(n, nvals, turns=20),
        "components": lambda: model.components(n, nvals, levels), "bfs": lambda: model.bfs(n, nvals, levels),
        "bfs over ranks": lambda: model.bfs_in_kernels(n, nvals, levels),
    }  # fmt: skip
    return found[case]() if case in found else None


def section(world, name, case, kind, scale, factor, targets, budget, say):
    """One line: made, measured over ranks, on rank 0 alone, compared."""
    backend = world._backend
    backend.replicates = case != "bfs over ranks"
    A = make(kind, scale, factor, True)
    n, nvals = A.nrows, A.nvals
    call = CASES[case](A)
    if case == "bfs":  # until the planner's counter has paid for the copy
        for _ in range(20):
            call()
    seconds, received, result = measured(call, budget, world)
    found = plain(result)
    del A, call, result
    free()
    alone, right = 0.0, True
    with gb.dist.local():
        if world.rank == 0:
            own = CASES[case](make(kind, scale, factor, False))
            alone, _, result = measured(own, budget)
            right = same(plain(result), found)
            del own, result
    free()
    alone, right = world.broadcast((alone, right))
    task = task_of(case, n, nvals)
    predicted = "" if task is None else f"{model.nanoseconds(task, world.size, backend.link) / 1e6:.2f}"
    target = dict(zip((2, 4, 8), targets, strict=True)).get(world.size)
    ratio = alone / seconds if seconds else 0.0
    verdict = "" if target is None else f"{target:.2f} {'ok' if ratio >= target else 'MISSED'}"
    say(
        f"| {name} | {nvals:,} | {alone * 1e3:.2f} | {seconds * 1e3:.2f} | {ratio:.2f} | {verdict} | "
        f"{received / 1e6:.2f} | {predicted} | {'equal' if right else 'DIFFERS'} |"
    )
    return right


def weak_scaling(world, scale, budget, say):
    """PageRank of `scale` on one rank against scale + log2(ranks) on all."""
    more = scale + (world.size - 1).bit_length()
    A = make("rmat", more, 16, True)
    seconds, _, _ = measured(pagerank(A), budget, world)
    del A
    free()
    alone = 0.0
    with gb.dist.local():
        if world.rank == 0:
            alone = measured(pagerank(make("rmat", scale, 16, False)), budget)[0]
    free()
    alone = world.broadcast(alone)
    ratio = alone / seconds if seconds else 0.0
    least = 0.8 if world.size == 2 else 0.75
    verdict = f"{least} {'ok' if ratio >= least else 'MISSED'}" if world.size in (2, 8) else ""
    say(
        f"| weak: rmat {scale} on one, {more} on {world.size} | | {alone * 1e3:.2f} | {seconds * 1e3:.2f} | "
        f"{ratio:.2f} | {verdict} | | | |"
    )


def free():
    gc.collect()
    if "cupy" in sys.modules:
        sys.modules["cupy"].get_default_memory_pool().free_all_blocks()


def link(world):
    """(seconds of an exchange of a number, bytes a second of 64 MB over what arrays of products take)"""
    small = min(timed(lambda: world.allgather(0), world) for _ in range(20))
    n = ((1 << 24) - 64) * world.size  # no length of a graph, whose ranges this one would decide
    with gb.dist.local():
        part = gb.Vector.from_dense(np.arange((1 << 24) - 64, dtype=np.float32))
    x = gb.dist.from_local(part)
    backend = world._backend

    def gather():
        return backend.whole(gb.unary.identity(x).new()._store)

    gather()
    large = min(timed(gather, world) for _ in range(3))
    return small, 4 * (n - n // world.size) / large


def program(world, options):
    with_devices = bool(world.channel)
    lines = []

    def say(line):
        if world.rank == 0:
            lines.append(line)
            print(line, flush=True)

    sections = ON_DEVICES if with_devices else on_cpus(options.scale, options.edge_factor)
    names = list(sections) + ["weak"]
    if options.only:
        names = [name for name in names if any(name.startswith(wanted) for wanted in options.only.split(","))]
    say(f"\n{world.size} ranks, {world.channel or 'on CPUs'}")
    if world.size > 1:
        latency, bandwidth = link(world)
        size = 64 * world.size
        say(f"an exchange of a number {latency * 1e6:.0f} us, a vector of {size} MB {bandwidth / 1e9:.2f} GB/s\n")
    say("| | entries | one, ms | ranks, ms | ratio | target | MB received | model, ms | results |")
    say("|---|---|---|---|---|---|---|---|---|")
    right = True
    for name in names:
        start = time.perf_counter()
        if name == "weak":
            weak_scaling(world, 25 if with_devices else options.scale, options.seconds, say)
        else:
            right &= section(world, name, *sections[name], options.seconds, say)
        if options.verbose:
            say(f"<!-- {name}: {time.perf_counter() - start:.1f} s -->")
    if world.rank == 0 and options.record:
        with open(options.record, "a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    if not right:
        raise SystemExit("results on ranks are other ones")


def model_table():
    """What the planner's model says: ratio to one device on 2, 4, 8 devices over NVLink, 16 hosts over a network."""
    rows = [
        "| | one device, ms | 2 | 4 | 8 | 16 hosts | ranks that pay: NVLink | network |",
        "|---|---|---|---|---|---|---|---|",
    ]
    tasks = {
        "SpMV FP32, kron 21, edge factor 48": model.spmv(1 << 21, 182_000_000),
        "SpMV FP32, rmat 24": model.spmv(1 << 24, 31 << 24),
        "SpMV FP32, rmat 26": model.spmv(1 << 26, 31 << 26),
        "PageRank FP32, 20 iterations, rmat 25": model.spmv(1 << 25, 31 << 25, turns=20),
        "PageRank FP32, 20 iterations, rmat 27": model.spmv(1 << 27, 31 << 27, turns=20),
        "triangles, kron 21 (3 x 10^10 products)": model.matmul(3e10, 91_000_000, 1),
        "BFS over ranks, kron 21": model.bfs(1 << 21, 182_000_000, 6),
        "BFS over ranks, rmat 26": model.bfs(1 << 26, 31 << 26, 8),
        "BFS by kernels of ranks, rmat 26": model.bfs_in_kernels(1 << 26, 31 << 26, 8),
        "components over ranks, rmat 25": model.components(1 << 25, 31 << 25, 8),
        "BFS over ranks, roads (24 M vertices)": model.bfs(24_000_000, 58_000_000, 6000),
    }
    for name, task in tasks.items():
        one = model.nanoseconds(task, 1, model.NVLINK)
        ratios = [one / model.nanoseconds(task, ranks, model.NVLINK) for ranks in (2, 4, 8)]
        ratios.append(one / model.nanoseconds(task, 16, model.NETWORK))
        pay = [
            model.best(task, sizes, at)
            for sizes, at in (((1, 2, 4, 8), model.NVLINK), ((1, 2, 4, 8, 16), model.NETWORK))
        ]
        rows.append(
            f"| {name} | {one / 1e6:.2f} | "
            + " | ".join(f"{ratio:.2f}" for ratio in ratios)
            + f" | {pay[0]} | {pay[1]} |"
        )
    return "\n".join(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=16)
    parser.add_argument("--edge-factor", type=int, default=16)
    parser.add_argument("--backend", default=None)
    parser.add_argument("--devices", type=int, help="so many ranks that are threads, with a device each")
    parser.add_argument("--only", default="", help="beginnings of names of sections, with commas between")
    parser.add_argument("--seconds", type=float, default=5.0, help="of repeats of a section, on ranks and on one")
    parser.add_argument("--record", help="a file to which rank 0 appends the table")
    parser.add_argument("--verbose", action="store_true", help="how long each section took")
    parser.add_argument("--model", action="store_true", help="print the model's table and end")
    options = parser.parse_args()
    if options.model:
        print(model_table())
    elif options.devices:
        gb.dist.run(options.devices, program, options, devices=options.devices)
    else:
        program(gb.dist.init(backend=options.backend), options)


if __name__ == "__main__":
    main()
