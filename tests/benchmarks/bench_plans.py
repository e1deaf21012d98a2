"""What the planner's choice costs against the best forced plan, on graphs that no threshold was set on.

    python3 tests/benchmarks/bench_plans.py [--backend cuda] [--small] [--only=GRAPH,...] [--seconds=190] [--cpu-time]

Each case (product, BFS, SSSP) runs under the planner's choice and under every plan that can be forced for it; results
are compared. A case's ratio is the time of the choice over the least time of all, 1 where the choice is the best; at
the end stand the geometric means. Times are those of a call among several that are queued, the device waited for at
their end: what a loop that a user writes pays. The transpose is cached, kernels are compiled, what is built after some
products is built. --cpu-time counts processor seconds of all threads, which a loaded machine changes less. With OUT
set, plans.jsonl (a line a case) and plans.md (the tables) are written there.
"""

import json
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))
sys.path.insert(0, str(HERE))
import held_out
import numpy as np

import grb_tile as gb
from grb_tile import dtypes, generators
from grb_tile.algorithms import Graph, bfs, sssp
from grb_tile.backends import select
from grb_tile.cli.timing import timed
from grb_tile.operations import multiply
from grb_tile.operators import get_typed_op
from grb_tile.planner import explain, tuning
from grb_tile.planner.record import KERNEL_METHODS
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector, StoredMask

START = time.perf_counter()
OUT = os.environ.get("OUT")
TARGET = 1.15
GIVEN_UP = 5.0  # times the choice's time from which a forced plan is timed once only
MOST_SORTED = 30_000_000  # products that are still sorted (ESC)
SOURCES = 3
QUEUED = 0.005  # seconds of calls that are queued
ROUTES = {
    "gpu": {
        "product": ["rows", "cols", *KERNEL_METHODS],
        "bfs": ["push", "pull", "grid_wide", "grid_low_skew", "blocks_high_diameter", "bittiled"],
        "sssp": ["grid_wide", "blocks_high_diameter"],
    },
    "cpu": {"product": ["rows", "cols"], "bfs": ["push", "pull"], "sssp": []},
}  # fmt: skip
FORMS = [  # name, semiring, type, densities of x
    ("plus_times", "FP32", (1.0, 0.1, 0.01, 0.001)),
    ("any_pair", "BOOL", (1.0, 0.1, 0.01, 0.001)),
]


class Machine:
    """The backend, its array module and how to wait for it."""

    def __init__(self, name, clock=time.perf_counter):
        gb.config.set(backend=name)
        self.clock = clock
        self.backend = select.current()
        self.on_gpu = name == "cuda"
        if self.on_gpu:
            import cupy

            self.xp = cupy
        else:
            self.xp = np

    def host(self, array):
        return self.xp.asnumpy(array) if self.on_gpu else array

    def free(self):
        if self.on_gpu:
            self.xp.get_default_memory_pool().free_all_blocks()

    def seconds(self, call, limit=None):
        """Time of a call among queued ones: the least of three; of one alone where it takes longer than `limit`."""
        call()
        _, one = timed(call, clock=self.clock)
        if limit is not None and one > limit or one > 0.5:
            return one
        for _ in range(tuning.BUILD_AFTER if self.on_gpu else 0):
            call()
        repeats = int(min(max(QUEUED / max(one, 1e-6), 1), 20))
        return min(timed(call, repeats, self.clock)[1] for _ in range(3))


def checksum(machine, w):
    """Number of entries, and the sum of the values in FP64."""
    w = machine.backend.convert(w, "sparse")
    values = machine.host(w.values).astype(np.float64)
    return w.nvals, float(values.sum() * (w.nvals if w.iso else 1))


def vector(machine, n, dtype, density, rng):
    xp = machine.xp
    if density == 1.0:
        values = xp.asarray(rng.random(n, np.float32) + np.float32(0.5))
        return BitmapVector(
            n, dtype, None, values if dtype is dtypes.FP32 else xp.ones(1, bool), n, dtype is dtypes.BOOL
        )
    at = np.sort(rng.choice(n, max(1, int(n * density)), replace=False)).astype(np.int32)
    values = rng.random(at.size, np.float32) + np.float32(0.5) if dtype is dtypes.FP32 else np.ones(1, bool)
    u = SparseVector(n, dtype, xp.asarray(at), xp.asarray(values), dtype is dtypes.BOOL)
    return machine.backend.convert(u, "bitmap") if density >= 0.1 else u


def masks(machine, n, rng):
    """(name, StoredMask): none, the complement of half the positions, a list of one in a hundred."""
    half = machine.backend.convert(vector(machine, n, dtypes.BOOL, 0.5, rng), "bitmap")
    few = vector(machine, n, dtypes.BOOL, 0.01, rng)
    return (("none", None), ("complement of half", StoredMask(half, True)), ("1 in 100", StoredMask(few, False)))


def products(machine, structure, rng):
    """(case, function to run, function of a result that gives its checksum, edges)"""
    n, indptr, indices = structure[:3]
    allowed = masks(machine, n, rng)
    degrees = machine.host(indptr[1:] - indptr[:-1])
    for name, type_, densities in FORMS:
        dtype = getattr(dtypes, type_)
        if dtype is dtypes.FP32:
            values = machine.xp.asarray(np.float32(0.5)) + (indices % 7).astype(np.float32)
            A = Compressed(n, n, dtype, indptr, indices, values)
        else:
            A = Compressed(n, n, dtype, indptr, indices, machine.xp.ones(1, bool), True)
        machine.backend.transpose(A)
        semiring = get_typed_op(name, dtype, kind="semiring")
        for density in densities:
            x = vector(machine, n, dtype, density, rng)
            edges = int(degrees.sum() * density)
            for mask, allow in allowed:
                if A.forms:
                    A.forms.pop("last_method", None)

                def run(A=A, x=x, semiring=semiring, mask=allow):
                    return multiply.matvec(A, False, x, semiring, allow)

                yield f"{name} x {density:g} mask {mask}", run, edges
        A = None
        machine.free()


def one_case(machine, family, case, run, check, edges, lines):
    """Time the planner's choice and every forced plan; say and return the line."""
    kind = "gpu" if machine.on_gpu else "cpu"
    if not ROUTES[kind][family]:
        return  # nothing to choose
    base = () if machine.on_gpu else ("numba",)
    found, shown, wanted = {}, {}, None
    for name in (None, *ROUTES[kind][family]):
        if name == "sort_products" and edges > MOST_SORTED:
            continue
        if name is not None and time.perf_counter() - START > lines.seconds:
            break
        with gb.plan(force=(*base, name) if name else base or ()):
            try:
                got = check(run())
                plan = explain().plans[0]
                if name is not None and "kernel_unsuited" in (plan.rule, plan.kernel_rule):
                    continue
                limit = None if name is None else GIVEN_UP * found["planned"]
                key = name or "planned"
                found[key] = machine.seconds(run, limit)
                plan = explain().plans[0]
                shown[key] = f"{plan.method} {plan.kernel or plan.engine}"
            except (MemoryError, NotImplementedError, gb.exceptions.GraphblasException) as error:
                print(f"  {case} {name}: {error!r}"[:160], flush=True)
                if name is None:
                    return
                continue
        if wanted is None:
            wanted = got
        elif wanted[0] != got[0] or not np.isclose(wanted[1], got[1], rtol=1e-3):
            raise AssertionError(f"{case}: {name} gives {got}, the choice {wanted}")
    best = min(found, key=found.get)
    lines.add(family, case, found, best, shown)


class Lines:
    """The cases, said as they come, and the tables."""

    def __init__(self, machine, seconds):
        self.machine, self.seconds, self.rows, self.graph = machine, seconds, [], None

    def add(self, family, case, found, best, shown):
        """Say and keep a case.

        choice: what the chosen plan takes when it is forced, over the best forced plan; call: the planned call over the
        best of all, with the planner's own time.
        """
        planned, forced = found["planned"], {name: time for name, time in found.items() if name != "planned"}
        alike = [forced[name] for name in forced if shown[name] == shown["planned"]] if family == "product" else []
        own = min(alike, default=planned)
        row = {
            "graph": self.graph, "family": family, "case": case, "chosen": shown["planned"], "chosen_us": planned * 1e6,
            "best": best, "best_us": found[best] * 1e6, "best_plan": shown[best], "call": planned / found[best],
            "choice": own / min([own, *forced.values()]),
            "all_us": {name: round(seconds * 1e6, 2) for name, seconds in found.items()},
        }  # fmt: skip
        self.rows.append(row)
        print(f"{self.graph} | {case}: {row['chosen']} {row['chosen_us']:.1f} us; best {best} {row['best_us']:.1f} us; "
              f"choice {row['choice']:.2f}, call {row['call']:.2f}", flush=True)  # fmt: skip
        if OUT:
            with open(Path(OUT) / "plans.jsonl", "a") as file:
                file.write(json.dumps(row) + "\n")


def tables(rows, head):
    """Markdown: the means of graphs and families, then the cases whose choice costs more than the target."""
    families = "product", "bfs", "sssp"
    text = [head, "", f"| graph | {' | '.join(families)} | all | all, planning included |", "|---|---|---|---|---|---|"]
    for name in (*dict.fromkeys(row["graph"] for row in rows), "all"):
        own = [row for row in rows if name in (row["graph"], "all")]
        cells = [mean_of([r["choice"] for r in own if r["family"] == family]) for family in families]
        cells += [mean_of([r[which] for r in own]) for which in ("choice", "call")]
        text.append(f"| {name} | {' | '.join(cells)} |")
    text += [
        "",
        f"Cases whose choice costs more than {TARGET}:",
        "",
        "| graph | case | chosen | us | best | us | choice |",
    ]
    text.append("|---|---|---|---|---|---|---|")
    for r in sorted(rows, key=lambda r: -r["choice"]):
        if r["choice"] > TARGET:
            cells = r["graph"], r["case"], r["chosen"], f"{r['chosen_us']:.1f}", r["best"], f"{r['best_us']:.1f}"
            text.append(f"| {' | '.join(cells)} | {r['choice']:.2f} |")
    return "\n".join(text) + "\n"


def mean_of(ratios):
    """Geometric mean and number of cases, as text."""
    return "-" if not ratios else f"{np.exp(np.mean(np.log(ratios))):.3f} ({len(ratios)})"


def traversals(machine, structure, rng, lines):
    """BFS and SSSP from a few vertices with edges."""
    n, indptr, indices, weights = structure
    degrees = machine.host(indptr[1:] - indptr[:-1])
    sources = [int(v) for v in rng.choice(np.flatnonzero(degrees), SOURCES, replace=False)]

    def checked(results):
        stores = [result._store for result in results]
        sums = [checksum(machine, store) for store in stores]
        return sum(s[0] for s in sums), sum(s[1] for s in sums)

    if weights is not None:
        store = Compressed(n, n, dtypes.INT32, indptr, indices, weights)
        G = Graph(gb.Matrix._from_store(store, dtypes.INT32), directed=False)
        one_case(
            machine,
            "sssp",
            f"sssp, {SOURCES} sources",
            lambda: [sssp(G, s).distances for s in sources],
            checked,
            0,
            lines,
        )
        store = G = None
    store = Compressed(n, n, dtypes.BOOL, indptr, indices, machine.xp.ones(1, bool), True)
    G = Graph(gb.Matrix._from_store(store, dtypes.BOOL), directed=False)
    one_case(machine, "bfs", f"bfs, {SOURCES} sources", lambda: [bfs(G, s).levels for s in sources], checked, 0, lines)


def main():
    options = dict(a[2:].split("=", 1) if "=" in a else (a[2:], True) for a in sys.argv[1:] if a.startswith("--"))
    name = options.get("backend", "cuda" if "cuda" in sys.argv else "cpu")
    machine = Machine(name, time.process_time if "cpu-time" in options else time.perf_counter)
    lines = Lines(machine, float(options.get("seconds", 1e9)))
    xp, only = machine.xp, options.get("only", "").split(",") if "only" in options else None
    profile = machine.backend.profile
    for graph, make in held_out.graphs(machine.on_gpu, "small" in options):
        if (only and graph not in only) or time.perf_counter() - START > lines.seconds:
            continue
        A = make()
        if A is None:
            print(f"{graph}: not available, left out", flush=True)
            continue
        n, big = A.nrows, A.nvals > 1 << 27
        weights = None if big else generators.with_weights(A, 1, 255, dtype="INT32", seed=5)._store.values
        structure = n, *(xp.asarray(x) for x in (A._store.indptr, A._store.indices)), weights
        A = None
        machine.free()
        lines.graph = graph
        print(f"# {graph}: {n} vertices, {structure[2].size} entries, {time.perf_counter() - START:.0f} s", flush=True)
        rng = np.random.default_rng(11)
        traversals(machine, structure, rng, lines)
        for case, run, edges in products(machine, structure, rng):
            if time.perf_counter() - START > lines.seconds:
                break
            one_case(machine, "product", case, run, lambda w: checksum(machine, w), edges, lines)
        structure = None
        machine.free()
    head = f"{profile.name}, grb_tile {gb.__version__}: planner's choice over the best plan (geometric means; cases)"
    text = tables(lines.rows, head)
    if OUT:
        (Path(OUT) / "plans.md").write_text(text)
    print(text, flush=True)


if __name__ == "__main__":
    main()
