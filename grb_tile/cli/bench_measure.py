"""The measurements of `grb-tile bench`: a dictionary for each figure."""

import platform
import warnings
from functools import partial

import numpy as np

from grb_tile.cli import bench_peers, bench_verify
from grb_tile.cli.main import UsageError
from grb_tile.cli.timing import repeated, timed, warm_up

WARM_CALLS, WARM_SECONDS = 2, 0.5  # warm-up after the first call: least number of calls, least time in seconds
QUEUED = 20  # calls that queued_ms launches without waiting


def device_facts():
    """{"backend", "device"}: the names of the backend and of the processor or GPU."""
    from grb_tile.backends import select

    backend = select.current()
    return {"backend": backend.name, "device": backend.describe_device() or _processor()}


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def queued_ms(call):
    """Time per call, in ms, of QUEUED calls that are launched without waiting for each.

    None for a backend whose calls are complete when they return.
    """
    from grb_tile.backends import select

    return timed(call, QUEUED)[1] * 1e3 if select.current().asynchronous else None


def semiring_named(name):
    """gb.semiring's operator of that name, None when there is none."""
    from grb_tile import semiring

    with warnings.catch_warnings():  # names that moved to gb.semiring.ss
        warnings.simplefilter("ignore")
        return getattr(semiring, name, None)


def semiring_of(name, A):
    """gb.semiring's operator of that name, for the type of A."""
    from grb_tile.operators import get_typed_op

    return get_typed_op(semiring_named(name), A.dtype, kind="semiring")


class Bench:
    """A graph, and the figures measured so far."""

    def __init__(self, args, loaded, progress):
        from grb_tile.backends import select
        from grb_tile.storage.place import host_array

        self.args = args
        self.progress = progress
        self.figures = []
        A = loaded.matrix
        if A.nvals == 0:
            raise UsageError(f"{loaded.path} has no entries: there is nothing to measure")
        if "bfs" in args.parts and A.nrows != A.ncols:
            raise UsageError(
                f"{loaded.path} is {A.nrows} by {A.ncols}; searches need a square matrix: --parts spmv,spmspv"
            )
        progress("preparing: transpose, symmetry")
        backend = select.current()
        _, took = timed(lambda: self._prepare(A, args.generate is not None))
        self.store = store = backend.convert(self.G.A._store if self.G else A._store, "csr")
        self.random_values = store.iso or A.dtype.name == "BOOL"
        self.indptr = host_array(store.indptr)
        self.graph = {
            "name": loaded.path,
            "nrows": A.nrows,
            "ncols": A.ncols,
            "entries": A.nvals,
            "symmetric": self.symmetric,
            "load_seconds": loaded.seconds,
            "prepare_seconds": took,
        }

    def _prepare(self, A, symmetric):
        from grb_tile.algorithms import Graph

        self.G = None
        self.symmetric = False
        if A.nrows == A.ncols:
            made_so = symmetric and not self.args.directed
            self.G = G = Graph.of_symmetric(A) if made_so else Graph(A, True if self.args.directed else None)
            self.symmetric = not G.directed
            _ = G.AT

    # ------------------------------------------------------------------ searches

    def bfs(self, parents):
        """Levels (and parents) from each source."""
        from grb_tile import explain
        from grb_tile.algorithms import bfs

        name = "bfs levels and parents" if parents else "bfs levels"
        degrees = np.diff(self.indptr)
        holding = np.flatnonzero(degrees)
        random = np.random.default_rng(self.args.seed)
        sources = random.choice(holding, self.args.sources, replace=len(holding) < self.args.sources).tolist()
        self.progress(f"{name}: first search")
        _, first = timed(lambda: bfs(self.G, sources[0], parents=parents))
        warm_up(lambda: bfs(self.G, sources[-1], parents=parents), WARM_CALLS, WARM_SECONDS)
        middles, edges, pulled, depths = [], [], [], []
        for number, source in enumerate(sources):
            self.progress(f"{name}: source {number + 1} of {len(sources)}")
            found, times = repeated(partial(bfs, self.G, source, parents=parents), self.args.repeat)
            plan = explain(last=1).as_dicts()[0]
            middles.append(float(np.median(times)))
            directions = [level["direction"] for level in found.report.rounds]
            depths.append(len(directions))
            pulled.append(sum(direction.startswith("pull") for direction in directions))
            edges.append(self._searched(name, source, found, degrees))
        queued = queued_ms(lambda: bfs(self.G, sources[0], parents=parents))
        return {
            "figure": name,
            **_times(first, middles, queued),
            "runs": self.args.repeat,
            "sources": len(sources),
            "edges": int(np.median(edges)),
            "gteps": float(np.median(np.array(edges) / np.array(middles))) / 1e9,
            "gb_per_second": None,
            "levels": int(np.median(depths)),
            "pulled": int(np.median(pulled)),
            "plan": plan,
            "verified": self.args.verify,
        }

    def _searched(self, name, source, found, degrees):
        """The number of edges that leave the reached nodes; verifies the result."""
        levels = found.levels.to_dense(-1)
        if self.args.verify:
            parents = None if found.parents is None else found.parents.to_dense(-1)
            xp = bench_verify.array_module(self.store.indptr)
            arrays = [part if part is None else xp.asarray(part) for part in (levels, parents)]
            bench_verify.search(name, self.store, source, *arrays)
        return int(degrees[levels >= 0].sum())

    # ------------------------------------------------------------------ products

    def matrix(self, dtype):
        """The graph's matrix as FP32 or FP64, with random values unless the file's differ; the last one is cached.

        Its transpose is cached, too, where spmspv is measured.
        """
        if getattr(self, "_kept", (None,))[0] != dtype:
            self._kept = dtype, self._matrix(dtype)
        return self._kept[1]

    def _matrix(self, dtype):
        from grb_tile import Matrix, dtypes, generators
        from grb_tile.backends import select
        from grb_tile.storage.store import Compressed

        dtype = dtypes.lookup_dtype(dtype)
        store = self.store
        if self.random_values:
            values = generators.uniform_values(store.nvals, self.args.seed, dtype.np_type.type)
            store = Compressed(store.nrows, store.ncols, dtype, store.indptr, store.indices, values)
        else:
            store = select.current().cast(store, dtype)
        A = Matrix._from_store(store, dtype, "A")
        if "spmspv" in self.args.parts:
            A.T.new()
        return A

    def product(self, semiring, dtype, density=None):
        """w = A x; x full, or sparse with density * size entries."""
        from grb_tile import Vector

        args = self.args
        name = f"{'spmv' if density is None else f'spmspv {density:g}'} {semiring} {dtype}"
        self.progress(f"{name}: making values")
        A = self.matrix(dtype)
        random = np.random.default_rng(args.seed)
        numbers = (random.random(A.ncols) + 0.5).astype(A.dtype.np_type)
        if density is None:
            x = Vector.from_dense(numbers)
        else:
            indices = np.sort(random.choice(A.ncols, max(1, round(density * A.ncols)), replace=False))
            x = Vector.from_coo(indices, numbers[indices], size=A.ncols)
        typed = semiring_of(semiring, A)
        index, value = self.store.indices.dtype.itemsize, A.dtype.np_type.itemsize
        if density is None:
            edges, selected = A.nvals, None
        else:
            edges, selected = self._selected(indices), indices.size

        def moved(w):
            if density is None:
                return edges * (index + value) + A.nrows * (8 + value) + A.ncols * value
            return edges * (index + value) + selected * (16 + index + value) + w.nvals * (index + value)

        return measured(
            self,
            name,
            lambda: A.mxv(x, typed).new(),
            lambda w: bench_verify.product(name, A._store, typed, x, w, args.seed),
            edges,
            moved,
            bench_peers.of("spmv", semiring, A, x) if args.peers else {},
            semiring=semiring,
            type=dtype,
            density=density,
        )

    def _selected(self, columns):
        """The number of entries of these columns."""
        return int(self.columns_counted()[columns].sum())

    def columns_counted(self):
        """The number of entries of each column."""
        if self.symmetric:
            return np.diff(self.indptr)
        if not hasattr(self, "_columns"):
            from grb_tile.storage.place import host_array

            self._columns = np.bincount(host_array(self.store.indices), minlength=self.store.ncols)
        return self._columns


def measured(bench, name, call, check, edges, moved, peers, **facts):
    """The figure of one call: times, rates, plan, and the times of the same product in other libraries.

    check(result) raises WrongResult; moved(result): bytes that the call moves, or None; peers: {name: function}.
    """
    from grb_tile import explain

    bench.progress(f"{name}: first call")
    result, first = timed(call)
    warm_up(call, WARM_CALLS, WARM_SECONDS)
    bench.progress(f"{name}: timing")
    result, times = repeated(call, bench.args.repeat)
    queued = queued_ms(call)
    plan = explain(last=1).as_dicts()[0]
    if bench.args.verify:
        bench.progress(f"{name}: checking")
        check(result)
    figures = _times(first, times, queued)
    total = moved(result)
    return {
        "figure": name,
        **figures,
        "runs": bench.args.repeat,
        **facts,
        "edges": edges,
        "gteps": edges / figures["ms"] / 1e6,
        "bytes": total,
        "gb_per_second": None if total is None else total / figures["ms"] / 1e6,
        "plan": plan,
        "verified": bench.args.verify,
        "peers": {peer: _of_peer(bench, name, peer, function) for peer, function in peers.items()},
    }


def _of_peer(bench, name, peer, function):
    """Median time of another library's call, in ms."""
    bench.progress(f"{name}: {peer}")
    warm_up(function, WARM_CALLS, WARM_SECONDS)
    return float(np.median(repeated(function, bench.args.repeat)[1])) * 1e3


def _times(first, times, queued):
    """The times, given in seconds, as figures in ms; `queued` is in ms already."""
    return {
        "ms": float(np.median(times)) * 1e3,
        "best_ms": min(times) * 1e3,
        "worst_ms": max(times) * 1e3,
        "first_ms": first * 1e3,
        "queued_ms": queued,
    }
