"""Elements: reading, writing, removing, asking; dup, clear and resize."""

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.library import TYPES, WITHOUT_NUMBA
from support.operands import DIMENSIONS, HUGE, HUGE_SCENE, SCENES, make, mask_for, scalar
from support.seeds import generator

ACTIONS = (
    "read",
    "get with default",
    "contains",
    "iterate",
    "set",
    "set with accum",
    "remove",
    "remove absent",
    "set a Scalar",
    "clear",
    "dup",
    "nvals",
    "many in turn",
)
coverage.owe("elements", "action", ACTIONS, WITHOUT_NUMBA)
coverage.owe("elements", "type", TYPES, WITHOUT_NUMBA)
coverage.owe("resize", "to", ["smaller", "larger", "same", "one dimension", "nothing", "huge"], WITHOUT_NUMBA)
coverage.owe("dup", "variant", ["dtype", "clear", "mask S", "mask ~V", "mask and dtype"], WITHOUT_NUMBA)


def objects(scene, dtype, name=""):
    m, n, _ = DIMENSIONS[scene[0]]
    rng = generator("elements", name, scene, dtype)
    return {
        "A": make(rng, (m, n), dtype, scene[1]),
        "v": make(rng, (n,), dtype, scene[1]),
        "x": scalar(1, dtype),
        "e": scalar(None, dtype),
    }


def corners(o):
    m, n = o.A.shape
    return [(0, 0), (m - 1, n - 1), (m // 2, n // 2), (0, n - 1), (-1, -n)]


def read(lib, o):
    return (
        [o.A[i, j].new() for i, j in corners(o)]
        + [o.v[j].new() for _, j in corners(o)]
        + [o.A.T[j, i].new() for i, j in corners(o)]
    )


def get(lib, o):
    return (
        [o.A.get(i, j) for i, j in corners(o)]
        + [o.v.get(j, "absent") for _, j in corners(o)]
        + [o.A.get(0, 0, 7), o.A.T.get(0, 0)]
    )


def contains(lib, o):
    return [(i, j) in o.A for i, j in corners(o)] + [j in o.v for _, j in corners(o)]


def iterate(lib, o):
    return [np.array(list(o.v), np.int64), np.array(list(o.A), np.int64), np.array(list(o.A.T), np.int64)]


def write(lib, o):
    for k, (i, j) in enumerate(corners(o)):
        o.A[i, j] << k
        o.v[j] = k


def accumulate(lib, o):
    for i, j in corners(o):
        o.A(accum=lib.binary.plus)[i, j] << 1
        o.v(accum=lib.binary.minus)[j] << 1


def remove(lib, o):
    rows, columns, _ = o.A.to_coo()
    for i, j in list(zip(rows.tolist(), columns.tolist(), strict=True))[::2]:
        del o.A[i, j]
    for i in o.v.to_coo()[0].tolist()[::2]:
        del o.v[i]


def remove_absent(lib, o):
    for i, j in corners(o):
        del o.A[i, j]
        del o.A[i, j]
        del o.v[j]


def write_scalars(lib, o):
    o.A[0, 0] << o.x
    o.v[0] << o.x
    o.A[-1, -1] << o.e
    o.v[-1] << o.e


def clear(lib, o):
    o.B = o.A.dup()
    o.A.clear()
    o.v.clear()
    o.x.clear()


def dup(lib, o):
    o.B, o.w, o.y = o.A.dup(), o.v.dup(), o.x.dup()
    o.B[0, 0], o.w[0], o.y.value = 1, 1, 0
    o.D = o.A.dup()


def nvals(lib, o):
    return [o.A.nvals, o.v.nvals, o.x.nvals, o.e.nvals, o.A.T.nvals, o.A.nrows, o.A.ncols, o.v.size, o.e.is_empty]


def many(lib, o):
    """Element writes between operations: nothing may be read from before the write."""
    o.A[0, 0] << 1
    first = o.A.reduce_rowwise(lib.monoid.any).new().nvals
    del o.A[0, 0]
    second = o.A.T.dup().nvals
    o.A[0, o.A.ncols - 1] << 1
    third = o.A.T.new()
    o.v[0] = 1
    fourth = o.A.mxv(o.v, lib.semiring.any_pair).new()
    del o.v[0]
    return [
        first,
        second,
        third,
        fourth,
        o.A.mxv(o.v, lib.semiring.any_pair).new(),
        o.v.reduce(lib.monoid.any).new().nvals,
    ]


CALLS = dict(
    zip(
        ACTIONS,
        (
            read,
            get,
            contains,
            iterate,
            write,
            accumulate,
            remove,
            remove_absent,
            write_scalars,
            clear,
            dup,
            nvals,
            many,
        ),
        strict=True,
    )
)


@pytest.mark.quick
@pytest.mark.parametrize("action", ACTIONS)
def test_actions(action):
    for dtype in ("INT64", "FP64", "BOOL"):
        for scene in (*SCENES, HUGE_SCENE):
            agree(
                CALLS[action],
                objects(scene, dtype),
                f"{action} {dtype} {scene}",
                cells=[("elements", "action", action)],
                engines=WITHOUT_NUMBA,
            )


@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    for action in ("read", "get with default", "set", "set with accum", "set a Scalar"):
        agree(
            CALLS[action],
            objects(SCENES[0], dtype),
            f"{action} {dtype}",
            cells=[("elements", "type", dtype)],
            engines=WITHOUT_NUMBA,
        )


def test_resize():
    def smaller(lib, o):
        o.A.resize(max(1, o.A.nrows // 2), max(1, o.A.ncols // 2))
        o.v.resize(max(1, o.v.size // 2))

    def larger(lib, o):
        o.A.resize(o.A.nrows + 70, o.A.ncols + 3)
        o.v.resize(o.v.size + 100)
        o.v[o.v.size - 1] << 1

    def same(lib, o):
        o.A.resize(o.A.nrows, o.A.ncols)
        o.v.resize(o.v.size)

    def one(lib, o):
        o.A.resize(o.A.nrows, 2)
        o.A.resize(9, 2)

    def nothing(lib, o):
        o.v.resize(0)
        o.A.resize(0, 0)
        o.v.resize(4)
        o.A.resize(3, 3)

    def huge(lib, o):
        o.A.resize(HUGE, HUGE - 1)
        o.v.resize(HUGE)
        o.v[HUGE - 1] << 1
        o.A[HUGE - 1, 0] << 1

    for name, call in {
        "smaller": smaller,
        "larger": larger,
        "same": same,
        "one dimension": one,
        "nothing": nothing,
        "huge": huge,
    }.items():
        for scene in SCENES:
            agree(
                call,
                objects(scene, "INT64", "resize"),
                f"resize {name} {scene}",
                cells=[("resize", "to", name)],
                engines=WITHOUT_NUMBA,
            )


def test_dup():
    for scene in SCENES:
        found = objects(scene, "FP64", "dup")
        rng = generator("dup masks", scene)
        found |= {"M": mask_for(rng, found["A"].shape), "m": mask_for(rng, found["v"].shape)}
        calls = {
            "dtype": lambda lib, o: [o.A.dup("INT8"), o.v.dup(lib.dtypes.BOOL), o.A.T.dup("FC64")],
            "clear": lambda lib, o: [o.A.dup(clear=True), o.v.dup("INT16", clear=True), o.x.dup(clear=True)],
            "mask S": lambda lib, o: [o.A.dup(mask=o.M.S), o.v.dup(mask=o.m.S)],
            "mask ~V": lambda lib, o: [o.A.dup(mask=~o.M.V), o.v.dup(mask=~o.m.V)],
            "mask and dtype": lambda lib, o: [o.A.dup("UINT8", mask=~o.M.S), o.v.dup("FP32", mask=o.m.V)],
        }
        for name, call in calls.items():
            agree(call, found, f"dup {name} {scene}", cells=[("dup", "variant", name)], engines=WITHOUT_NUMBA)
