"""transpose, kronecker, inner and outer products."""

from support.algebra import minus, plus_times
from support.battery import Operation, battery
from support.operands import SCENES, make, mask_for, scalar

SMALL = tuple(scene for scene in SCENES if scene[0] != "words")


def transposed(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    return {
        "C": make(rng, (m, n), dtype),
        "M": mask_for(rng, (m, n), kind),
        "A": make(rng, (m, n) if at else (n, m), dtype, kind),
    }


def transpose(lib, o, how):
    o.C(**how) << (o.A if o.variant == "copy" else o.A.T)


def factors(rng, dims, dtype, kind, at=False, bt=False):
    (m, n), (p, q) = dims[:2], (2, 3)
    return {
        "C": make(rng, (m * p, n * q), dtype),
        "M": mask_for(rng, (m * p, n * q), kind),
        "A": make(rng, (n, m) if at else (m, n), dtype, kind),
        "B": make(rng, (q, p) if bt else (p, q), dtype),
    }


def kronecker(lib, o, how):
    A, B = (o.A.T if "A.T" in o.variant else o.A), (o.B.T if "B.T" in o.variant else o.B)
    o.C(**how) << A.kronecker(B, minus(lib, o.A.dtype.name))


def two_vectors(rng, dims, dtype, kind):
    return {"C": scalar(1, dtype), "A": make(rng, dims[:1], dtype, kind), "B": make(rng, dims[:1], dtype)}


def inner(lib, o, how):
    o.C(**how) << o.A.inner(o.B, plus_times(lib, o.A.dtype.name))


def rows_and_columns(rng, dims, dtype, kind):
    m, n, _ = dims
    return {
        "C": make(rng, (m, n), dtype),
        "M": mask_for(rng, (m, n), kind),
        "A": make(rng, (m,), dtype, kind),
        "B": make(rng, (n,), dtype),
    }


def outer(lib, o, how):
    o.C(**how) << o.A.outer(o.B, lib.binary.lor if o.A.dtype.name == "BOOL" else lib.binary.minus)


test_write_options, test_types, test_casts = battery(
    Operation("transpose", transposed, transpose, variants={"plain": {}, "copy": {"at": True}}),
    Operation(
        "kronecker",
        factors,
        kronecker,
        huge=False,
        scenes=SMALL,
        second="B",
        variants={"plain": {}, "A.T": {"at": True}, "B.T": {"bt": True}, "A.T B.T": {"at": True, "bt": True}},
    ),
    Operation("inner", two_vectors, inner, masked=False, casts=(), second="B"),
    Operation("outer", rows_and_columns, outer, second="B"),
)
