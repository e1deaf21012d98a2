"""Products over operands, vectors and masks of every form, to be compared with NumPy's: rows of options that meet one
another in pairs (support/pairwise.py)."""

import numpy as np

import grb_tile as gb
from grb_tile.planner import FORCIBLE
from grb_tile.storage.convert import to_dcsr
from support.pairwise import combinations
from support.seeds import generator

ROWS, COLS = 150, 330
OF_MATRICES = ("two_phases", "tile_pairs", "inner_windows", "merge_at_mask", "esc")
OF_DENSE = ("spmm_rows", "spmm_slabs")
OTHERS = (
    "dot", "gustavson", "numpy", "numba", "reference", "csr", "nt16", "nt32", "nt64", "grid_wide", "grid_low_skew",
    "blocks_high_diameter", "pull", "push",
)  # fmt: skip
OF_VECTORS = [name for name in FORCIBLE if name not in (*OF_MATRICES, *OF_DENSE, *OTHERS)]
SEMIRINGS = {"plus_times": "FP64", "any_pair": "BOOL", "min_first": "INT64", "max_plus": "FP32", "plus_second": "FP32"}
OTHER = {"FP64": "INT64", "BOOL": "FP32", "INT64": "INT8", "FP32": "INT8"}  # the type of the other operand
TYPES = ("same", "first", "second")
MASKS = ("none", "S", "~S", "V", "~V", "a few", "all but a few", "no row")
FORMS = ("csr", "dcsr", "iso", "columns", "dcsc", "a part")


def matrix(rng, nrows, ncols, dtype, form):
    """Rows of every length: empty ones, one that is full, a column with most rows; dcsr, dcsc: few rows or columns."""
    present = rng.random((nrows, ncols)) < rng.choice([0.0, 0.01, 0.1, 0.3], (nrows, 1), p=[0.2, 0.3, 0.4, 0.1])
    present[nrows // 3] = True
    present[: nrows // 2, ncols // 2] = True
    if form == "dcsr":
        present[rng.permutation(nrows)[nrows // 8 + 2 :]] = False
    if form == "dcsc":
        present[:, rng.permutation(ncols)[ncols // 8 + 2 :]] = False
    i, j = np.nonzero(present)
    values = np.ones(i.size) if form == "iso" else rng.integers(1, 9, i.size)
    make = {"nrows": nrows, "ncols": ncols}
    if form in ("columns", "dcsc"):  # given as the transpose of what is stored
        made = gb.Matrix.from_coo(j, i, values, dtype, nrows=ncols, ncols=nrows)
        made._store = to_dcsr(made._store) if form == "dcsc" else made._store
        return made.T
    if form == "a part":  # of a larger one, so that arrays begin anywhere
        return gb.Matrix.from_coo(i + 3, j + 5, values, dtype, nrows=nrows + 7, ncols=ncols + 9)[
            3 : nrows + 3, 5 : ncols + 5
        ].new()
    if form == "iso":
        return gb.Matrix.from_coo(i, j, 1, dtype, **make)
    made = gb.Matrix.from_coo(i, j, values, dtype, **make)
    if form == "dcsr":
        made._store = to_dcsr(made._store)
    return made


def vector(rng, size, dtype, form):
    share = {"full": 1.1, "full iso": 1.1, "bitmap": 0.7, "list": 0.05, "one": 0.0, "none": 0.0}[form]
    at = np.flatnonzero(rng.random(size) < share)
    at = np.array([size - 1]) if form == "one" else at
    if form == "full iso":
        return gb.Vector.from_scalar(2, size, dtype)
    return gb.Vector.from_coo(at, rng.integers(1, 9, at.size), dtype, size=size)


def mask_of(rng, shape, kind):
    """A mask of that shape, some of whose entries are false."""
    if kind == "none":
        return None
    share = {"a few": 0.03, "all but a few": 0.03, "no row": 0.0}.get(kind, 0.6)
    at = np.nonzero(rng.random(shape) < share)
    values = rng.random(at[0].size) < 0.7
    if len(shape) == 1:
        M = gb.Vector.from_coo(*at, values, bool, size=shape[0])
    else:
        M = gb.Matrix.from_coo(*at, values, bool, nrows=shape[0], ncols=shape[1])
    return {"S": M.S, "~S": ~M.S, "V": M.V, "~V": ~M.V, "a few": M.S, "all but a few": ~M.S, "no row": M.V}[kind]


def agree(block, kernel, made, **row):
    """Twice within block(), because what is kept of the first call serves the second."""
    with gb.plan(force="numpy"):
        wanted = made()
    with block(), gb.plan(force=kernel):
        for turn in range(2):
            found = made()
            assert found.dtype == wanted.dtype and found.shape == wanted.shape, (kernel, row)
            if row["semiring"] == "plus_second":
                assert found.isclose(wanted, rel_tol=1e-5), (kernel, row, turn)
            else:
                assert found.isequal(wanted, check_dtype=True), (kernel, row, turn)


def types_of(row):
    """(type of A, type of the other operand, the semiring)"""
    dtype, semiring = SEMIRINGS[row["semiring"]], getattr(gb.semiring, row["semiring"])
    return {"same": (dtype, dtype), "first": (OTHER[dtype], dtype), "second": (dtype, OTHER[dtype])}[row["types"]] + (
        semiring,
    )


def with_a_vector(block, kernel, row, seed):
    rng = generator("forced", kernel, seed)
    dtype, other, name = types_of(row)
    A = matrix(rng, ROWS, COLS, dtype, row["A"])
    x = vector(rng, COLS if row["call"] in ("mxv", "vxm") else ROWS, other, row["x"])
    mask = mask_of(rng, (ROWS if row["call"] in ("mxv", "vxm") else COLS,), row["mask"])
    call = {
        "mxv": lambda: A.mxv(x, name), "vxm": lambda: x.vxm(A.T, name), "mxv of T": lambda: A.T.mxv(x, name),
        "vxm of A": lambda: x.vxm(A, name),
    }[row["call"]]  # fmt: skip
    agree(block, kernel, lambda: call().new(mask=mask), **row)


def of_matrices(block, kernel, row, seed):
    rng = generator("forced", kernel, seed)
    dtype, other, name = types_of(row)
    rows, inner, cols = {"wide": (70, 150, 90), "short": (5, 700, 6), "one": (1, 130, 70)}[row["shape"]]
    A, B = matrix(rng, rows, inner, dtype, row["A"]), matrix(rng, inner, cols, other, row["B"])
    mask = mask_of(rng, (rows, cols), row["mask"])
    agree(block, kernel, lambda: A.mxm(B, name).new(mask=mask), **row)


def with_a_dense_matrix(block, kernel, row, seed):
    rng = generator("forced", kernel, seed)
    dtype, other, name = types_of(row)
    A = matrix(rng, 70, 130, dtype, row["A"])
    X = gb.Matrix.from_dense(rng.integers(1, 9, (130, row["width"])), dtype=other)
    mask = mask_of(rng, (70, row["width"]), row["mask"])
    agree(block, kernel, lambda: A.mxm(X, name).new(mask=mask), **row)


def rows_of(kernel):
    """[(row, the function that checks it)], in the order that the seed decides.  kernel: a name, or several."""
    if kernel in (*OF_MATRICES, "dot", "gustavson"):
        shapes = ("short", "one") if kernel == "inner_windows" else ("wide", "short", "one")
        options = {"shape": shapes, "A": FORMS, "B": FORMS, "mask": MASKS, "semiring": SEMIRINGS, "types": TYPES}
        check = of_matrices
    elif kernel in OF_DENSE:
        options = {"A": FORMS, "width": (1, 2, 7, 33), "mask": MASKS, "semiring": SEMIRINGS, "types": TYPES}
        check = with_a_dense_matrix
    else:
        options = {
            "A": FORMS, "x": ("full", "full iso", "bitmap", "list", "one", "none"), "mask": MASKS,
            "semiring": SEMIRINGS, "types": TYPES, "call": ("mxv", "vxm", "mxv of T", "vxm of A"),
        }  # fmt: skip
        check = with_a_vector
    return [(row, check) for row in combinations(kernel, **options)]


def check(block, kernel, share, shares):
    """One of so many shares of the rows of a kernel."""
    for seed, (row, one) in enumerate(rows_of(kernel)):
        if seed % shares == share:
            one(block, kernel, row, seed)
