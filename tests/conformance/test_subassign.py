"""subassign: C(I, J)<M,r> = C(I, J) (+) A; the mask has the shape of A and nothing outside I x J changes."""

from support.battery import Operation, battery
from support.operands import HUGE, make, mask_for, scalar


def some(rng, n):
    pool = [0, 1, 2, 3, 2**31, HUGE - 1] if n >= HUGE else list(range(n))
    return [int(pool[k]) for k in rng.permutation(len(pool))[: max(1, (2 * len(pool)) // 3)]]


def matrices(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    I, J = some(rng, m), some(rng, n)
    inner = (len(J), len(I)) if at else (len(I), len(J))
    return {
        "C": make(rng, (m, n), dtype),
        "M": mask_for(rng, (len(I), len(J)), kind),
        "I": I,
        "J": J,
        "A": make(rng, inner, dtype, kind),
    }


def rows(rng, dims, dtype, kind):
    found = matrices(rng, dims, dtype, kind)
    size = (len(found["J"]),)
    return found | {"A": make(rng, size, dtype, kind), "M": mask_for(rng, size, kind), "i": found["I"][0]}


def columns(rng, dims, dtype, kind):
    found = matrices(rng, dims, dtype, kind)
    size = (len(found["I"]),)
    return found | {"A": make(rng, size, dtype, kind), "M": mask_for(rng, size, kind), "j": found["J"][0]}


def vectors(rng, dims, dtype, kind):
    I = some(rng, dims[0])
    return {
        "C": make(rng, dims[:1], dtype),
        "M": mask_for(rng, (len(I),), kind),
        "I": I,
        "A": make(rng, (len(I),), dtype, kind),
    }


def scalar_to_matrix(rng, dims, dtype, kind):
    return matrices(rng, dims, dtype, kind) | {"A": scalar(1, dtype)}


def scalar_to_vector(rng, dims, dtype, kind):
    return vectors(rng, dims, dtype, kind) | {"A": scalar(1, dtype)}


def scalar_to_row(rng, dims, dtype, kind):
    return rows(rng, dims, dtype, kind) | {"A": scalar(1, dtype)}


def to_region(lib, o, how):
    o.C[o.I, o.J](**how) << (o.A.T if o.variant == "A.T" else o.A)


def to_row(lib, o, how):
    o.C[o.i, o.J](**how) << o.A


def to_column(lib, o, how):
    o.C[o.I, o.j](**how) << o.A


def to_vector(lib, o, how):
    o.C[o.I](**how) << o.A


test_write_options, test_types, test_casts = battery(
    Operation("subassign matrix", matrices, to_region, variants={"plain": {}, "A.T": {"at": True}}),
    Operation("subassign row", rows, to_row),
    Operation("subassign column", columns, to_column),
    Operation("subassign vector", vectors, to_vector),
    Operation("subassign scalar to matrix", scalar_to_matrix, to_region),
    Operation("subassign scalar to vector", scalar_to_vector, to_vector),
    Operation("subassign scalar to row", scalar_to_row, to_row),
)
