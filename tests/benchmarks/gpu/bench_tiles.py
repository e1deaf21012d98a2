"""Tiles on the device against CSR: bytes, making them, products over them, searches over them.

    python3 tests/benchmarks/gpu/bench_tiles.py [bytes convert search bits products tries] [--graphs fem40,cnr-2000]
    [--sources 8]

bytes     bytes of a stored entry: bit tiles of each width against CSR (structure only, row pointers as they are stored)
convert   making tiles beside one search of the same graph (TileSpMSpV's bound: one search in normal cases, ten at
worst)
products  sparse x at densities 0.5 to 0.001, entries at random or side by side, over tiles with values of each width
          against CSR rows and columns: plus_times FP32 and, without an atomic, FC64.  x is new in each call, so that
          the time of tiling it counts.  floor: bytes of the tiles that meet x over the bandwidth
bits      any_pair over bit tiles, each direction by name, against CSR, x at densities 1 to 0.001
search    whole searches over bit tiles, each direction and width by name, against the search over CSR
tries     widths and thresholds of the search (not run unless asked for)
Every result is verified: products against the rows of CSR, searches edge by edge.  Lines of JSON go to
$OUT/tiles.jsonl.
"""

import argparse
import json
import os
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import bench_bfs
import bench_spmv
import cupy as cp
import numpy as np
from device_graphs import fem, from_keys, grid, real, rmat
from timing import best_ms, call_us, device_us

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.algorithms import Graph, bfs
from grb_tile.backends import select
from grb_tile.backends.cuda.graph import bfs_tiles as traverse_tiles
from grb_tile.backends.cuda.products import tiles
from grb_tile.operations import multiply
from grb_tile.operators import get_typed_op
from grb_tile.planner import unrecorded
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector

WIDTHS = (16, 32, 64)
DENSITIES = (1, 0.1, 0.01, 0.001)
SPARSE = (0.5, 0.1, 0.01, 0.001)
DIRECTIONS = ("bittiled", *tiles.DIRECTIONS)
SIZED = (*DIRECTIONS, "bittiled nt32", "bittiled nt64")
RANDOM = np.random.default_rng(11)


def say(**figures):
    print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()), flush=True)
    if os.environ.get("OUT"):
        with open(Path(os.environ["OUT"]) / "tiles.jsonl", "a") as file:
            file.write(json.dumps(figures, default=str) + "\n")


# ---------------------------------------------------------------------- graphs


def blocked_grid(width, block=8):
    """Four neighbours each, numbered block by block."""
    at = cp.arange(width * width, dtype=cp.int64)
    x, y = at % width, at // width
    name = ((y // block) * (width // block) + x // block) * block * block + y % block * block + x % block
    by_place = cp.empty((width, width), cp.int64)
    by_place[y, x] = name
    keys = []
    for one, two in ((by_place[:, :-1], by_place[:, 1:]), (by_place[:-1], by_place[1:])):
        keys += [one.ravel() << 32 | two.ravel(), two.ravel() << 32 | one.ravel()]
    keys = cp.concatenate(keys)
    keys.sort()
    return from_keys(width * width, keys)


GRAPHS = {
    "fem40": lambda: fem(40), "fem70": lambda: fem(70),
    "stanford-dragon": lambda: real("stanford-dragon"),
    "pace17-he184": lambda: real("pace17-he184"),
    "cnr-2000": lambda: real("cnr-2000"), "grid-blocked": lambda: blocked_grid(2000),
    "road-NY": lambda: real("USA-road-NY"), "road-NE": lambda: real("USA-road-NE"),
    "Slashdot": lambda: real("soc-Slashdot0902"), "ego-Twitter": lambda: real("ego-Twitter"),
    "grid2000": lambda: grid(2000), "kron18": lambda: rmat(18, 16), "kron20": lambda: rmat(20, 16),
}  # fmt: skip


def fresh(A):
    """The same matrix without what was derived from it."""
    return Compressed(A.nrows, A.ncols, A.dtype, A.indptr, A.indices, A.values, A.iso)


def search_ms(A, sources):
    """Median of calls of the search over CSR."""
    G = Graph.of_symmetric(gb.Matrix._from_store(A, dtypes.BOOL))
    with gb.plan(force="csr"):
        return float(np.median([best_ms(partial(bfs, G, s), 3) for s in sources])), G


def sources_of(A, count):
    degrees = cp.asnumpy(cp.diff(A.indptr))
    return [int(s) for s in np.random.RandomState(3).choice(np.flatnonzero(degrees), count)]


# ---------------------------------------------------------------------- parts


def part_bytes(backend, name, A, sources):
    csr = 8 * (A.nrows + 1) + 4 * A.nvals
    figures = {"csr": csr / A.nvals}
    for nt in WIDTHS:
        T = tiles.bit_tiles_of(backend.device, fresh(A), nt)
        figures[f"nt{nt}"], figures[f"nt{nt}_of_csr"] = T.nbytes / A.nvals, T.nbytes / csr
        figures[f"nt{nt}_symmetric"], figures[f"nt{nt}_entries_a_tile"] = T.symmetric, A.nvals / max(T.ntiles, 1)
        del T
    say(part="bytes", matrix=name, n=A.nrows, entries=A.nvals, **figures)


def part_convert(backend, name, A, sources):
    search, _ = search_ms(A, sources)
    figures = {"search_ms": search}
    for nt in WIDTHS:
        ms = best_ms(lambda nt=nt: tiles.bit_tiles_of(backend.device, fresh(A), nt))
        known = best_ms(lambda nt=nt: tiles.bit_tiles_of(backend.device, fresh(A), nt, symmetric=True))
        figures[f"nt{nt}_ms"], figures[f"nt{nt}_known_symmetric_ms"], figures[f"nt{nt}_searches"] = (
            ms,
            known,
            ms / search,
        )
        ms = best_ms(lambda nt=nt: tiles.tiled_of(backend.device, fresh(A), nt))
        figures[f"tiled{nt}_ms"], figures[f"tiled{nt}_searches"] = ms, ms / search
    say(part="convert", matrix=name, **figures)


def vector(n, dtype, density):
    if density == 1:
        return (
            BitmapVector(n, dtype, None, cp.ones(1, dtype.np_type), n, True)
            if dtype is dtypes.BOOL
            else bench_spmv.dense(n, dtype)
        )
    places = np.sort(RANDOM.choice(n, max(1, int(n * density)), replace=False)).astype(np.int32)
    if dtype is dtypes.BOOL:
        return SparseVector(n, dtype, cp.asarray(places), cp.ones(1, bool), True)
    return SparseVector(n, dtype, cp.asarray(places), cp.asarray(RANDOM.random(places.size).astype(np.float32)))


def same(one, other, what):
    one, other = (gb.Vector._from_store(w, w.dtype) for w in (one, other))
    assert one.isclose(other, rel_tol=2e-4), f"{what}: differs from CSR's rows"


def compare(backend, name, A, semiring, formats, part):
    AT = backend.transpose(A)
    for density in DENSITIES:
        x = vector(A.nrows, semiring.type, density)
        want = backend.matvec_rows(A, x, semiring)
        timer = device_us if density == 1 else call_us
        figures = {"csr_rows_us": timer(partial(backend.matvec_rows, A, x, semiring))}
        if density < 1:
            figures["csr_columns_us"] = timer(partial(backend.matvec_cols, AT, x, semiring))
        for format in formats:
            form, *size = format.split()
            try:
                call = partial(backend.matvec_rows, A, x, semiring, None, unrecorded(form))
                with gb.plan(force=size):
                    same(call(), want, f"{name} {density} {format}")
                    figures[f"{format}_us"] = timer(call)
            except Exception as error:  # noqa: BLE001  one direction's failure must not hide the others' figures
                figures[f"{format}_failed"] = repr(error)[:300]
        say(part=part, matrix=name, density=density, **figures)


def sparse_arrays(n, dtype, density, layout):
    count = max(1, int(n * density))
    if layout == "random":
        at = cp.asarray(np.sort(RANDOM.choice(n, count, replace=False)).astype(np.int32))
    else:
        at = cp.arange(n // 3, n // 3 + count, dtype=cp.int32)
    return at, cp.asarray(RANDOM.random(count)).astype(dtype.np_type)


def floor_us(T, x, value):
    """Columns of all tiles, what of those that meet x, the remainder, over the bandwidth."""
    live = x.x_ptr[T.tile_col] >= 0
    entries = int(cp.diff(T.tile_nnz)[live].sum())
    tile = 8 + T.nt * T.row_start.itemsize
    moved = T.ntiles * 8 + int(live.sum()) * tile + entries * (1 + value) + T.rest_row.shape[0] * 5
    return moved / bench_spmv.BANDWIDTH * 1e6


def product_figures(backend, name, B, density, layout):
    """Device times of B x by rows, by columns and over tiles of each width; floors; x made anew for each call."""
    BT, dtype = backend.transpose(B), B.dtype
    semiring = get_typed_op("plus_times", dtype, kind="semiring")
    arrays = sparse_arrays(B.nrows, dtype, density, layout)

    def product(method, A, plan=None):
        return method(A, SparseVector(B.nrows, dtype, *arrays), semiring, None, plan)

    want = product(backend.matvec_rows, B)
    figures = {
        "rows_us": device_us(partial(product, backend.matvec_rows, B), 10),
        "cols_us": device_us(partial(product, backend.matvec_cols, BT), 10),
    }
    planned = partial(product, lambda A, x, op, *_: multiply.matvec(A, False, x, op, None), B)
    for nt in WIDTHS:
        with gb.plan(force=f"nt{nt}"):
            call = partial(product, backend.matvec_rows, B, unrecorded("tiled"))
            same(call(), want, f"{name} {density} {layout} {nt}")
            figures[f"tiled{nt}_us"] = device_us(call, 10)
        T, x = B.forms[f"tiled{nt}"], SparseVector(B.nrows, dtype, *arrays)
        x = tiles.tiled_vector_of(backend.device, x, nt)
        figures[f"floor{nt}_us"] = floor_us(T, x, dtype.np_type.itemsize)
        figures[f"in_tiles{nt}"] = T.local_col.shape[0] / B.nvals
    figures["planned_us"] = device_us(planned, 10)
    plan = gb.explain().plans[0]
    figures["planned"] = f"{plan.method} over {plan.format}"
    return figures


def part_products(backend, name, A, sources):
    for dtype in (dtypes.FP32, dtypes.FC64):
        B = bench_spmv.matrix((A.nrows, A.indptr, A.indices), dtype)
        for density in SPARSE if dtype is dtypes.FP32 else SPARSE[1:3]:
            for layout in ("random", "together"):
                figures = product_figures(backend, name, B, density, layout)
                say(part="products", matrix=name, type=str(dtype), density=density, layout=layout, **figures)


def part_bits(backend, name, A, sources):
    compare(backend, name, fresh(A), get_typed_op("any_pair", dtypes.BOOL, kind="semiring"), SIZED, "bits")


def part_search(backend, name, A, sources):
    csr, G = search_ms(A, sources)
    figures = {"csr_ms": csr, "planned_ms": float(np.median([best_ms(partial(bfs, G, s), 3) for s in sources]))}
    plan = gb.explain().plans[0]
    figures["planned_over"], figures["entries_a_tile"] = plan.format, tiles.entries_per_tile(backend.device, A, 16)
    print("  ", bench_bfs.by_level(bfs(G, sources[0]), 24), flush=True)
    for direction in SIZED:
        with gb.plan(force=direction):
            try:
                for k, source in enumerate(sources[:4]):
                    found = bfs(G, source, parents=k % 2 == 0)
                    bench_bfs.check(A, source, found)
                figures[f"{direction}_ms"] = float(np.median([best_ms(partial(bfs, G, s), 3) for s in sources]))
                if direction == "bittiled":
                    print("  ", bench_bfs.by_level(found, 24), flush=True)
            except (Exception, SystemExit) as error:  # noqa: BLE001
                figures[f"{direction}_failed"] = repr(error)[:300]
    say(part="search", matrix=name, **figures)


def clock_ms(G, sources, rounds=3):
    """Median over sources of the best time on the device, by its clock."""
    return float(np.median([min(bench_bfs._seconds(bfs(G, s)) * 1e3 for _ in range(rounds)) for s in sources]))


def part_tries(backend, name, A, sources):
    """Widths, launch configurations and thresholds worth comparing (device clock)."""
    _, G = search_ms(A, sources[:1])
    with gb.plan(force="csr"):
        figures, before = {"csr": clock_ms(G, sources)}, dict(traverse_tiles.LAUNCH)
    changes = [{"width": nt} for nt in WIDTHS]
    changes += [
        {"width": nt, "block": block, "per_processor": each}
        for nt in (16, 32)
        for block, each in ((1024, 1), (768, 1), (256, 1), (512, 2), (256, 2), (256, 4))
    ]
    changes += [{"sparse": k} for k in (1, 4, 8, 32)] + [{"few": k} for k in (1, 4, 64)]
    for direction in tiles.DIRECTIONS:
        with gb.plan(force=direction):
            figures[direction] = clock_ms(G, sources)
    with gb.plan(force="bittiled"):
        for change in changes:
            traverse_tiles.LAUNCH.update(change)
            for key in [k for k in A.forms or () if str(k).startswith("traverse_tiles")]:
                A.forms[key].launches.clear()
            label = " ".join(f"{k[0]}{v}" for k, v in change.items())
            try:
                bench_bfs.check(A, sources[0], bfs(G, sources[0], parents=True))
                figures[label] = clock_ms(G, sources)
            except (Exception, SystemExit) as error:  # noqa: BLE001
                figures[label] = repr(error)[:200]
            if set(change) == {"width"}:
                print("  ", label, bench_bfs.by_level(bfs(G, sources[0]), 30), flush=True)
            traverse_tiles.LAUNCH.clear()
            traverse_tiles.LAUNCH.update(before)
    say(part="tries", matrix=name, **figures)


PARTS = {
    "bytes": part_bytes,
    "convert": part_convert,
    "search": part_search,
    "bits": part_bits,
    "products": part_products,
    "tries": part_tries,
}
USUAL = ("fem40", "fem70", "stanford-dragon", "pace17-he184", "cnr-2000", "grid-blocked", "road-NE")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--graphs", default=",".join(USUAL), help=", ".join(GRAPHS))
    parser.add_argument("--sources", type=int, default=8)
    args = parser.parse_args()
    gb.config.set(backend="cuda")
    backend = select.named("cuda")
    for name in args.graphs.split(","):
        A = GRAPHS[name]()
        if A is None:
            continue
        sources = sources_of(A, args.sources)
        for part in args.parts or [part for part in PARTS if part != "tries"]:
            try:
                PARTS[part](backend, name, A, sources)
            except Exception as error:  # noqa: BLE001  the other parts' figures are still wanted
                say(part=part, matrix=name, failed=repr(error)[:400])
        del A
        cp.get_default_memory_pool().free_all_blocks()


if __name__ == "__main__":
    main()
