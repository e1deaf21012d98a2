"""What the element-wise operations' conformance tests share: operands in each orientation, and a vector beside a
matrix."""

import pytest

from support import coverage
from support.agree import agree
from support.library import WITHOUT_NUMBA
from support.operands import DIMENSIONS, SCENES, make, mask_for
from support.seeds import generator

FLAGS = {"plain": {}, "A.T": {"at": True}, "B.T": {"bt": True}, "A.T B.T": {"at": True, "bt": True}}
BROADCASTS = ("matrix with vector", "vector with matrix", "transposed with vector")


def matrices(rng, dims, dtype, kind, at=False, bt=False):
    m, n, _ = dims
    return {
        "C": make(rng, (m, n), dtype),
        "M": mask_for(rng, (m, n), kind),
        "A": make(rng, (n, m) if at else (m, n), dtype, kind),
        "B": make(rng, (n, m) if bt else (m, n), dtype),
    }


def vectors(rng, dims, dtype, kind):
    return {
        "C": make(rng, dims[:1], dtype),
        "M": mask_for(rng, dims[:1], kind),
        "A": make(rng, dims[:1], dtype, kind),
        "B": make(rng, dims[:1], dtype),
    }


def factors(o):
    """A and B, or their transposes, as the variant says."""
    return (o.A.T if "A.T" in o.variant else o.A), (o.B.T if "B.T" in o.variant else o.B)


def broadcast(method):
    """The test that a vector on the right meets each row of the matrix, and on the left each column."""
    coverage.owe(method, "broadcast", BROADCASTS, WITHOUT_NUMBA)

    @pytest.mark.parametrize("which", BROADCASTS)
    def test_broadcast(which):
        for scene in SCENES:
            m, n, _ = DIMENSIONS[scene[0]]
            rng = generator(which, scene)
            found = matrices(rng, (m, n, 1), "INT64", scene[1], at=which.startswith("transposed"))
            found["v"] = make(rng, (m if which.startswith("vector") else n,), "INT64")

            def call(lib, o):
                A = o.A.T if which.startswith("transposed") else o.A
                x, y = (o.v, A) if which.startswith("vector") else (A, o.v)
                o.C(o.M.S, accum="plus") << getattr(x, method)(y, lib.binary.minus)
                return getattr(x, method)(y, lib.binary.minus).new()

            agree(call, found, f"{which} {scene}", cells=[(method, "broadcast", which)], engines=WITHOUT_NUMBA)

    return test_broadcast
