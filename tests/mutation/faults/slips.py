"""Faults planted a layer at a time by somebody who had not written the tests, which its quick tests had not noticed."""

from . import Fault

PATHS = ("tests/algorithms/test_paths_and_distances.py",)
IN_PLACE = ("tests/operations/test_in_place.py",)
EDGES = ("tests/io/test_edge_list.py",)

FAULTS = [
    Fault(
        "algorithms/distances.py",
        "apsp: Floyd and Warshall's matrix counted by the sources",
        'needed = (G.n if method == "floyd_warshall" else len(wanted)) * G.n',
        "needed = len(wanted) * G.n",
        PATHS,
    ),
    Fault(
        "algorithms/distances.py",
        "apsp: as many sources as vertices taken for all in order",
        'D = D if sources is None else D[wanted, :].new(name="distances")',
        'D = D if len(wanted) == G.n else D[wanted, :].new(name="distances")',
        PATHS,
    ),
    Fault(
        "algorithms/distances.py",
        "apsp: stopped between batches, sources without a row",
        "        done = wanted[: sum(block.nrows for block in rows)]\n",
        "        done = wanted\n",
        PATHS,
    ),
    Fault(
        "grb_tile/core/scalar.py",
        "isclose: relative to the other one alone",
        "abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)\n\n",
        "abs(a - b) <= max(rel_tol * abs(b), abs_tol)\n\n",
        ("tests/core/test_like_python_graphblas.py",),
    ),
    Fault(
        "grb_tile/storage/convert.py",
        "rows without entries dropped: the last row ends where it begins",
        "    kept[:-1], kept[-1] = indptr[used], indptr[-1]",
        "    kept[:-1], kept[-1] = indptr[used], indptr[used[-1]] if used.size else 0",
        ("tests/storage/test_formats.py",),
    ),
    Fault(
        "grb_tile/storage/report.py",
        "the longest row of a full matrix is as long as its columns",
        "int(np.count_nonzero(counts)),\n        A.ncols if full",
        "int(np.count_nonzero(counts)),\n        A.nrows if full",
        ("tests/storage/test_formats.py",),
    ),
    Fault(
        "grb_tile/operators/resolve.py",
        "a registered semiring is found by its name and monoid alone",
        "if typed.monoid is monoid and typed.binaryop is operator:",
        "if typed.monoid is monoid:",
        ("tests/operators/test_monoids.py",),
    ),
    Fault(
        "grb_tile/operators/indexunary.py",
        "a family of index operators is published for select",
        "        if chosen is not None and (cls is SelectOp or not parameterized):",
        "        if chosen is not None:",
        ("tests/operators/test_names.py",),
    ),
    Fault(
        "grb_tile/operations/shaping.py",
        "concat: the widths of tiles are not compared",
        "if A.shape != (heights[r], widths[c]):",
        "if A.nrows != heights[r]:",
        IN_PLACE,
    ),
    Fault(
        "grb_tile/operations/indexing.py",
        "a bitmap of one value taken for full",
        'if not c.iso or c.nvals != c.size or c.format != "bitmap" or not is_host(c):',
        'if not c.iso or c.format != "bitmap" or not is_host(c):',
        IN_PLACE,
    ),
    Fault(
        "grb_tile/io/edge_list.py",
        "as many vertices as the comment says, from 0 with a gap, said to be from 1",
        "    if nodes is not None and first and last == nodes:",
        "    if nodes is not None and last == nodes:",
        EDGES,
    ),
    Fault(
        "grb_tile/io/dialect.py",
        "DIMACS: weights of edges are not read",
        "    found.columns = 3 if found.kind in ARCS or lines and len(lines[0].split()) == 4 else 2",
        "    found.columns = 3 if found.kind in ARCS else 2",
        EDGES,
    ),
    Fault(
        "grb_tile/graph/paths.py",
        "sssp: sums of INT64 may be as large as those of UINT64",
        "(2**64 if store.dtype is UINT64 else 2**63)",
        "2**64",
        ("tests/algorithms/test_sssp.py",),
    ),
    Fault(
        "algorithms/clustering.py",
        "weighted clustering: the largest weight is looked for among edges that are no loops",
        "largest, total = float(G.emax), float(",
        "largest, total = float(W.reduce_scalar(monoid.max).new().value), float(",
        ("tests/algorithms/test_clustering.py",),
    ),
    Fault(
        "algorithms/degrees.py",
        "sums of negative weights beyond the type are not refused",
        "max(abs(int(G.emin or 0)), abs(int(G.emax or 0)))",
        "abs(int(G.emax or 0))",
        ("tests/algorithms/test_degrees.py",),
    ),
]
