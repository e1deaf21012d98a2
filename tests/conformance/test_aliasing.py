"""Outputs that are inputs or masks at the same time: as if the inputs had been copied first."""

import pytest

from support import coverage
from support.agree import agree
from support.battery import WRITE_OPTIONS
from support.library import WITHOUT_NUMBA
from support.operands import make
from support.seeds import generator

MATRIX_CALLS = {
    "mxm C = C C": lambda lib, C: C.mxm(C),
    "mxm C = C' C": lambda lib, C: C.T.mxm(C),
    "ewise_add C = C + C": lambda lib, C: C.ewise_add(C, "minus"),
    "ewise_mult C = C * C'": lambda lib, C: C.ewise_mult(C.T, "minus"),
    "transpose C = C'": lambda lib, C: C.T,
    "apply C = -C": lambda lib, C: C.apply("ainv"),
    "select C = tril C": lambda lib, C: C.select("tril", 0),
    "extract C = C(p, q)": lambda lib, C: C[::-1, ::-1],
    "ewise_union": lambda lib, C: C.ewise_union(C.T, "minus", 1, 2),
}
VECTOR_CALLS = {
    "mxv w = A w": lambda lib, A, w: A.mxv(w),
    "vxm w = w A": lambda lib, A, w: w.vxm(A),
    "apply": lambda lib, A, w: w.apply("ainv"),
    "ewise_add w = w + w": lambda lib, A, w: w.ewise_add(w, "minus"),
    "extract w = w(reversed)": lambda lib, A, w: w[::-1],
    "select w": lambda lib, A, w: w.select("valuegt", 0),
    "reduce_rowwise": lambda lib, A, w: A.reduce_rowwise(),
}
coverage.owe("aliasing", "matrix", MATRIX_CALLS, WITHOUT_NUMBA)
coverage.owe("aliasing", "vector", VECTOR_CALLS, WITHOUT_NUMBA)
coverage.owe(
    "aliasing",
    "assign",
    ["C[I, J] << C[J, I]", "C[:, 0] << row of C", "C(C.S)[...] << C", "v[I] << v[J]", "copies stay"],
    WITHOUT_NUMBA,
)
KINDS = ("general", "full", "iso", "heavy", "holes", "empty")


@pytest.mark.quick
@pytest.mark.parametrize("name", MATRIX_CALLS)
def test_matrices(name):
    """Every write option with the mask being C itself, and with C an input."""
    for kind in KINDS:
        for option in WRITE_OPTIONS:
            found = {"C": make(generator("alias", kind), (5, 5), "INT64", kind)}

            def call(lib, o, option=option):
                o.C(**option.keywords(lib, o.C)) << MATRIX_CALLS[name](lib, o.C)

            agree(call, found, f"{name} [{option}] {kind}", cells=[("aliasing", "matrix", name)], engines=WITHOUT_NUMBA)


@pytest.mark.quick
@pytest.mark.parametrize("name", VECTOR_CALLS)
def test_vectors(name):
    for kind in KINDS:
        for option in WRITE_OPTIONS:
            rng = generator("alias", kind)
            found = {"A": make(rng, (6, 6), "INT64", kind), "w": make(rng, (6,), "INT64", kind)}

            def call(lib, o, option=option):
                o.w(**option.keywords(lib, o.w)) << VECTOR_CALLS[name](lib, o.A, o.w)

            agree(call, found, f"{name} [{option}] {kind}", cells=[("aliasing", "vector", name)], engines=WITHOUT_NUMBA)


def test_assign():
    def swapped(lib, o):
        o.C[[0, 1], [2, 3]] << o.C[[2, 3], [0, 1]]

    def row(lib, o):
        o.C[:, 0] << o.C[1, :]
        o.C[2, :] << o.C[:, 0]

    def own_mask(lib, o):
        o.C(o.C.V, accum="plus")[:, :] << o.C
        o.C(~o.C.S, replace=True)[:, :] << o.C

    def parts(lib, o):
        o.v[[0, 1, 2]] << o.v[[2, 1, 0]]
        o.v(o.v.V)[1:4] << o.v[0:3]

    def copies(lib, o):
        """A copy keeps its values whatever is done to the original, however it is done."""
        o.D, o.w = o.C.dup(), o.v.dup()
        o.u = o.v[:].new()
        o.E = o.C.T.new()
        o.C[0, 0] = 99
        o.v[0] = 99
        o.v(o.v.S)[:] << 7
        o.C(accum="plus") << o.C
        o.w[1] = 5
        return [o.v.dup(), o.C.dup()]

    calls = {
        "C[I, J] << C[J, I]": swapped,
        "C[:, 0] << row of C": row,
        "C(C.S)[...] << C": own_mask,
        "v[I] << v[J]": parts,
        "copies stay": copies,
    }
    for name, call in calls.items():
        for kind in KINDS:
            rng = generator("alias assign", kind)
            found = {"C": make(rng, (5, 5), "INT64", kind), "v": make(rng, (5,), "INT64", kind)}
            agree(
                call,
                found,
                f"{name} {kind}",
                cells=[("aliasing", "assign", name)],
                engines=WITHOUT_NUMBA,
                may_fail=name == "v[I] << v[J]",
            )
