"""build with and without an operator for duplicates, extraction of tuples, and the constructors from other forms."""

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.library import TYPES, WITHOUT_NUMBA, dtype_of
from support.operands import DIMENSIONS, HUGE, HUGE_SCENE, SCENES, make, values
from support.plain import NUMPY_TYPES
from support.seeds import generator

DUPLICATES = ("plus", "minus", "times", "first", "second", "min", "max", "any", "rminus", "lor")
CONSTRUCTORS = (
    "from_coo",
    "from_edgelist",
    "from_pairs",
    "from_dict",
    "from_dicts",
    "from_dense",
    "from_csr",
    "from_csc",
    "from_dcsr",
    "from_dcsc",
    "from_scalar",
    "build",
)
EXPORTS = ("to_coo", "to_edgelist", "to_dict", "to_dicts", "to_dense", "to_csr", "to_csc", "to_dcsr", "to_dcsc")
coverage.owe("build", "duplicates", DUPLICATES, WITHOUT_NUMBA)
coverage.owe("build", "type", TYPES, WITHOUT_NUMBA)
coverage.owe("build", "constructor", CONSTRUCTORS, WITHOUT_NUMBA)
coverage.owe("build", "values of another type", TYPES, WITHOUT_NUMBA)
coverage.owe(
    "build", "error", ["duplicates", "index too large", "output not empty", "duplicates of a matrix"], WITHOUT_NUMBA
)
coverage.owe("extract tuples", "export", EXPORTS, WITHOUT_NUMBA)
coverage.owe("extract tuples", "type", TYPES, WITHOUT_NUMBA)


@pytest.mark.quick
@pytest.mark.parametrize("name", DUPLICATES)
def test_duplicates(name):
    """Duplicates are combined from left to right in the order given: minus and first show it."""
    for dtype in ("INT64", "FP64", "INT8"):
        for size, count in ((1, 5), (6, 40), (200, 2000), (7, 3), (HUGE, 30)):
            rng = generator("duplicates", name, dtype, size)
            pool = [0, 5, 2**33, HUGE - 1] if size == HUGE else range(size)
            rows, columns = (np.array([pool[k] for k in rng.integers(0, len(pool), count)], np.int64) for _ in range(2))
            found = values(rng, dtype, count)
            if name == "any":
                found[:] = found[0]

            def call(lib, o, rows=rows, columns=columns, found=found, size=size, dtype=dtype):
                op = getattr(lib.binary, name)
                return [
                    lib.Vector.from_coo(rows, found, dtype_of(lib, dtype), size=size, dup_op=op),
                    lib.Matrix.from_coo(rows, columns, found, dtype_of(lib, dtype), nrows=size, ncols=size, dup_op=op),
                ]

            agree(call, {}, f"build {name} {dtype} {size}", cells=[("build", "duplicates", name)])


@pytest.mark.parametrize("dtype", TYPES)
def test_types(dtype):
    """Unsorted tuples in; sorted tuples of the same type out; the type of the values given may be another one."""
    for scene in (*SCENES, HUGE_SCENE):
        m, n, _ = DIMENSIONS[scene[0]]
        rng = generator("build types", dtype, scene)
        A, v = make(rng, (m, n), dtype, scene[1]), make(rng, (n,), dtype, scene[1])
        order, other = rng.permutation(A.nvals), rng.permutation(v.nvals)

        def call(lib, o, A=A, v=v, order=order, other=other):
            B = lib.Matrix.from_coo(
                A.indices[0][order], A.indices[1][order], A.values[order], nrows=A.shape[0], ncols=A.shape[1]
            )
            w = lib.Vector.from_coo(v.indices[0][other], v.values[other], size=v.shape[0])
            return [
                B,
                w,
                *B.to_coo()[:2],
                *w.to_coo()[:1],
                B.to_coo(dtype="FP64")[2] if not dtype.startswith("FC") else B.to_coo()[2],
            ]

        agree(call, {}, f"build {dtype} {scene}", cells=[("build", "type", dtype)])
    numbers = np.array([0, 1, 2.75, -3.5, 300.25, -1e10, 1e30, np.nan, np.inf, -np.inf])
    if dtype.startswith(
        ("INT", "UINT")
    ):  # what does not fit into an integer is cast by NumPy in the oracle, as the machine likes
        numbers = np.array([0, 1, 2.75, 0.5, 100.25, 7, 0.999, 127, 3, 4])
    for given in (
        numbers,
        numbers.astype(np.float32),
        np.array([0, 1, -1, 127, 128, 255, 256, -300, 2**40, 2**62]),
        np.array([True, False] * 5),
        np.arange(10, dtype=np.uint8),
        [1, 2, 3, 0, -5, 6, 7, 8, 9, 10],
    ):

        def cast(lib, o, given=given):
            places = np.arange(10)
            return [
                lib.Vector.from_coo(places, given, dtype_of(lib, dtype)),
                lib.Matrix.from_coo(places, places, given, dtype_of(lib, dtype)),
            ]

        agree(
            cast,
            {},
            f"build {dtype} from {given}",
            cells=[("build", "values of another type", dtype)],
            engines=WITHOUT_NUMBA,
            may_fail=True,
        )


@pytest.mark.parametrize("dtype", TYPES)
def test_exports(dtype):
    for scene in SCENES:
        m, n, _ = DIMENSIONS[scene[0]]
        rng = generator("exports", dtype, scene)
        found = {"A": make(rng, (m, n), dtype, scene[1]), "v": make(rng, (n,), dtype, scene[1])}
        fill = NUMPY_TYPES[dtype](1)
        calls = {
            "to_coo": lambda lib, o: [*o.A.to_coo(), *o.v.to_coo(), *o.A.T.to_coo(), o.A.to_coo(rows=False)[1]],
            "to_edgelist": lambda lib, o: [*o.A.to_edgelist(), *o.A.T.to_edgelist()],
            "to_dict": lambda lib, o: o.v.to_dict(),
            "to_dicts": lambda lib, o: [o.A.to_dicts(), o.A.to_dicts(order="columnwise"), o.A.T.to_dicts()],
            "to_dense": lambda lib, o, fill=fill: [o.A.to_dense(fill), o.v.to_dense(fill), o.A.T.to_dense(fill)],
            "to_csr": lambda lib, o: [*o.A.to_csr(), *o.A.T.to_csr()],
            "to_csc": lambda lib, o: [*o.A.to_csc(), *o.A.T.to_csc()],
            "to_dcsr": lambda lib, o: [*o.A.to_dcsr(), *o.A.T.to_dcsr()],
            "to_dcsc": lambda lib, o: [*o.A.to_dcsc(), *o.A.T.to_dcsc()],
        }
        assert tuple(calls) == EXPORTS
        if scene[1] == "empty":
            del calls["to_dicts"]  # the oracle raises ValueError there
        for name, call in calls.items():
            agree(
                call,
                found,
                f"{name} {dtype} {scene}",
                cells=[("extract tuples", "export", name), ("extract tuples", "type", dtype)],
                engines=WITHOUT_NUMBA,
            )


def test_constructors():
    rng = generator("constructors")
    A, v = make(rng, (5, 6), "FP64"), make(rng, (7,), "INT64")
    rows, columns, found = *A.indices, A.values
    indptr = np.concatenate([[0], np.bincount(rows, minlength=5).cumsum()])
    order = np.lexsort((rows, columns))
    column_ptr = np.concatenate([[0], np.bincount(columns, minlength=6).cumsum()])
    stored_rows, stored_columns = np.unique(rows), np.unique(columns)
    dense = np.array([[1.0, 0, 2], [np.nan, 3, 0]])

    def build(lib, o):
        o.B, o.w = lib.Matrix(lib.dtypes.INT64, 5, 6), lib.Vector(lib.dtypes.FP32, 7)
        o.B.build(rows, columns, found)
        o.w.build(v.indices[0], v.values, size=9)
        o.B.build([1, 1, 0], [0, 0, 2], [1, 2, 3], clear=True, dup_op=lib.binary.plus, ncols=10)

    calls = {
        "from_coo": lambda lib, o: [
            lib.Matrix.from_coo(rows, columns, found),
            lib.Matrix.from_coo(rows, columns, 3),
            lib.Matrix.from_coo(rows, columns),
            lib.Vector.from_coo([4, 1], [True, False]),
            lib.Vector.from_coo([4, 1], 2.5, "INT8", size=9),
            lib.Matrix.from_coo([], [], [], "INT32", nrows=2, ncols=2),
            lib.Vector.from_coo([], [], "FP32", size=3),
        ],
        "from_edgelist": lambda lib, o: [
            lib.Matrix.from_edgelist([(0, 1, 2.5), (3, 2, 1.0)]),
            lib.Matrix.from_edgelist([(0, 1), (3, 2)], 7),
            lib.Matrix.from_edgelist(np.array([[0, 1], [3, 2]]), [4, 5], nrows=9, ncols=9),
        ],
        "from_pairs": lambda lib, o: [
            lib.Vector.from_pairs([(0, 1), (5, 2)]),
            lib.Vector.from_pairs([(5, 1.5), (5, 2)], dup_op="plus", size=8),
        ],
        "from_dict": lambda lib, o: [
            lib.Vector.from_dict({3: 1, 0: 2}),
            lib.Vector.from_dict({3: 1.5}, size=5),
            lib.Vector.from_dict({1: True}, "INT8"),
        ],
        "from_dicts": lambda lib, o: [
            lib.Matrix.from_dicts({0: {1: 2, 3: 4}, 2: {0: 1}}),
            lib.Matrix.from_dicts([{1: 2.5}, {}, {0: 1}]),
            lib.Matrix.from_dicts({0: {1: 2}, 4: {0: 1}}, order="columnwise", nrows=5, ncols=6),
        ],
        "from_dense": lambda lib, o: [
            lib.Matrix.from_dense(dense),
            lib.Matrix.from_dense(dense, 0),
            lib.Matrix.from_dense(dense, 0, dtype="FP32"),
            lib.Vector.from_dense([1, 0, 2], 0),
            lib.Vector.from_dense([1, 0, 2]),
            lib.Vector.from_dense(np.array([True, False]), False),
        ],
        "from_csr": lambda lib, o: lib.Matrix.from_csr(indptr, columns, found, ncols=6),
        "from_csc": lambda lib, o: lib.Matrix.from_csc(column_ptr, rows[order], found[order], nrows=5),
        "from_dcsr": lambda lib, o: lib.Matrix.from_dcsr(
            stored_rows, indptr[np.concatenate([stored_rows, [5]])], columns, found, nrows=5, ncols=6
        ),
        "from_dcsc": lambda lib, o: lib.Matrix.from_dcsc(
            stored_columns,
            column_ptr[np.concatenate([stored_columns, [6]])],
            rows[order],
            found[order],
            nrows=5,
            ncols=6,
        ),
        "from_scalar": lambda lib, o: [
            lib.Matrix.from_scalar(2, 3, 4),
            lib.Matrix.from_scalar(True, 2, 2, "INT16"),
            lib.Vector.from_scalar(1.5, 5),
        ],
        "build": build,
    }
    assert tuple(calls) == CONSTRUCTORS
    for name, call in calls.items():
        agree(call, {}, name, cells=[("build", "constructor", name)], engines=WITHOUT_NUMBA)


def test_errors():
    def duplicates(lib, o):
        return lib.Vector.from_coo([1, 3, 1], [1, 2, 3])

    def of_matrix(lib, o):
        return lib.Matrix.from_coo([1, 3, 1], [0, 2, 0], [1, 2, 3])

    def too_large(lib, o):
        return lib.Vector.from_coo([1, 3], [1, 2], size=3)

    def not_empty(lib, o):
        o.v = lib.Vector.from_coo([1], [1], size=3)
        o.v.build([0], [1])

    calls = {
        "duplicates": duplicates,
        "index too large": too_large,
        "output not empty": not_empty,
        "duplicates of a matrix": of_matrix,
    }
    for name, call in calls.items():
        agree(call, {}, name, cells=[("build", "error", name)], engines=WITHOUT_NUMBA, may_fail=True)
