"""Pairs of stores that are equal, or differ in one thing, and what a comparison of them has to say."""

import numpy as np

from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.reference import entries
from grb_tile.operators import get_typed_op
from grb_tile.storage import convert
from grb_tile.storage.dense import to_dense
from grb_tile.storage.store import SparseVector, index_dtype

from .agree import snapshot
from .samples import choice, values

TYPES = [getattr(dtypes, name) for name in ("BOOL", "INT8", "INT64", "UINT64", "FP32", "FP64", "FC64")]
PAIRS = [(one, other) for one in TYPES for other in TYPES if one is other or (one.rank + other.rank) % 3]
FEW_PAIRS = [  # each is an instance of a kernel
    (dtypes.FP64, dtypes.FP64), (dtypes.INT64, dtypes.INT64), (dtypes.FC64, dtypes.FP32), (dtypes.BOOL, dtypes.INT8),
]  # fmt: skip
TOLERANCES = (None, (1e-7, 0.0), (0.0, 0.75), (0.3, 0.0))
VECTORS = ("sparse", "bitmap")
MATRICES = ("csr", "dcsr", "bitmapr", "bitmapc", "fullr", "fullc")


def expected(x, y, op, tolerance):
    """Loops over dictionaries; rounding as NumPy's in the common type."""
    one, two = entries(x), entries(y)
    if one.keys() != two.keys():
        return False
    kind = op.type.np_type
    for key in one:
        p, q = (np.asarray(v).astype(kind).reshape(())[()] for v in (one[key], two[key]))
        if tolerance is None:
            if not p == q:
                return False
            continue
        rel, tol = tolerance
        if kind.kind in "biu":
            p, q = np.float64(p), np.float64(q)
        with np.errstate(all="ignore"):
            close = (
                np.isfinite(p)
                and np.isfinite(q)
                and abs(p - q) <= max(rel * max(abs(p), abs(q)), np.abs(p).dtype.type(tol))
            )
        if not (p == q or close):
            return False
    return True


def vector_of(size, dtype, indices, found, iso, format):
    u = SparseVector(size, dtype, indices.astype(index_dtype(size)), found, iso)
    return convert.convert(u, format)


def changed(rng, at, found, size):
    """The entries with one thing changed; or as they are."""
    what = choice(rng, ["same", "same", "value", "nearly", "gone", "moved", "moved", "nan"])
    at, found = at.copy(), found.copy()
    if at.size and what != "same":
        k = int(rng.integers(at.size))
        if what == "value":
            found[k] = (
                not found[k] if found.dtype.kind == "b" else found[k] // 2 + 1 if found.dtype.kind in "iu" else -1.5
            )
        elif what == "nearly" and found.dtype.kind in "fc":
            found[k] *= found.dtype.type(1 + choice(rng, [1e-9, 1e-6, 0.2]))
        elif what == "nan" and found.dtype.kind in "fc":
            found[k] = choice(rng, [np.nan, np.inf])
        elif what == "gone":
            at, found = np.delete(at, k), np.delete(found, k)
        elif what == "moved" and at.size < size:
            free = np.setdiff1d(np.arange(size), at)
            at[k] = choice(rng, free)
            order = at.argsort()
            at, found = at[order], found[order]
    return at, found


def cases(rng, count, pairs):
    """(x, y, op, tolerance) in every format, x and y of types of their own."""
    for _ in range(count):
        rows, cols = int(rng.choice([1, 3, 40])), int(rng.choice([1, 2, 33]))
        is_vector, size = bool(rng.integers(2)), 0
        size = int(rng.choice([0, 1, 5, 64, 70, 900])) if is_vector else rows * cols
        dtype, other = choice(rng, pairs)
        share = choice(rng, [0.0, 0.1, 0.6, 1.0, 1.0])
        at = (rng.random(size) < share).nonzero()[0]
        found = values(rng, dtype, at.size)
        if other.np_type.kind in "bu":
            found = np.abs(found)
        if rng.integers(4) == 0:
            found[:] = found[0] if found.size else 0
        at2, found2 = changed(rng, at, found.astype(dtype.np_type), size)
        with np.errstate(all="ignore"):
            found2 = (found2.real if other.np_type.kind != "c" and found2.dtype.kind == "c" else found2).astype(
                other.np_type
            )
        pair = []
        for kind, places, those in ((dtype, at, found), (other, at2, found2)):
            iso = places.size > 0 and bool((those == those[0]).all()) and bool(rng.integers(2))
            those = those[:1] if iso else those
            if is_vector:
                pair.append(vector_of(size, kind, places, those, iso, choice(rng, VECTORS)))
                continue
            A = convert.compressed(
                rows, cols, kind, places // cols, (places % cols).astype(index_dtype(cols)), those, iso
            )
            format = choice(rng, MATRICES[:2] if places.size < size else MATRICES)
            if rng.integers(2) and places.size < size:
                format = choice(rng, MATRICES[2:4])
            pair.append(to_dense(A, format) if format in MATRICES[2:] else select.named("numpy").convert(A, format))
        yield *pair, get_typed_op("eq", dtype, other, kind="binary"), choice(rng, TOLERANCES)


def at_the_bounds():
    """As `cases`: one pair of values about as far from each other as the tolerance allows, in either order."""
    equal = get_typed_op("eq", dtypes.FP64, dtypes.FP64, kind="binary")
    for tolerance in ((0.125, 0.0), (0.0, 1.0), (0.125, 0.5), (0.0625, 1.0)):  # of 8 the first one allows 1
        for y in (6.9, 7.0, 7.1, 8.0, 8.9, 9.0, 9.1, 9.2, -8.0):
            pair = [vector_of(5, dtypes.FP64, np.array([2]), np.array([value]), False, "sparse") for value in (8.0, y)]
            yield *pair, equal, tolerance
            yield *pair[::-1], equal, tolerance


def check(backend, rng, count, pairs):
    """Every case on a backend; operands are left as they were."""
    met = set()
    for number, (x, y, op, tolerance) in enumerate((*at_the_bounds(), *cases(rng, count, pairs))):
        want = expected(x, y, op, tolerance)
        before = snapshot(x, y)
        got = backend.is_equal(backend.to_device(x), backend.to_device(y), op, tolerance)
        where = f"case {number}: {x.format} {x.dtype} {y.format} {y.dtype} {tolerance}"
        assert got is want, where
        assert snapshot(x, y) == before, where
        met.add((want, tolerance is None, x.format == y.format))
    assert {pair[:2] for pair in met} == {(True, True), (True, False), (False, True), (False, False)}
