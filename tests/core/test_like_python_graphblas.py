"""Calls that give the same in python-graphblas: aggregators, Scalars, constructors, records of calls, texts.

A row is a function of the library; what it returns is compared, or the class of what it raises.  tests/calls has the
public members; here are kinds of arguments that few calls take.
"""

import math
import warnings

import numpy as np
import pytest

from grb_tile.core.aggregate import AGGREGATORS
from support.agree import Raised, agree, expected_outcome, outcome
from support.library import LIBRARY, WITHOUT_NUMBA, gb
from support.plain import difference
from support.seeds import generator
from support.stored import stored

if LIBRARY == "graphblas":
    pytest.skip("both sides are the same library", allow_module_level=True)

POSITIONS = ("argmin", "argmax", "first", "last", "first_index", "last_index")

COMPILED = ("L1norm", "Linfnorm")  # by python-graphblas, for seconds


def aggregator(lib, name):
    return getattr(lib.agg.ss if name in POSITIONS else lib.agg, name)


def instead(lib, name, o):
    """(aggregator, operands): what python-graphblas would compile for seconds, of the absolute values."""
    if lib is gb or name not in COMPILED:
        return aggregator(lib, name), o
    absolute = type("Absolute", (), {key: lib.unary.abs(getattr(o, key)).new() for key in ("A", "v", "empty", "none")})
    absolute.m = o.m
    return lib.agg.sum if name == "L1norm" else lib.agg.max, absolute


@pytest.mark.parametrize("name", sorted(AGGREGATORS))
def test_aggregators(name):
    """By rows, by columns, to a scalar, of a vector, typed, masked; conformance has them over every type and form."""
    for turn, dtype in enumerate(("FP64", "INT64", "BOOL", "INT32")):
        if dtype == "BOOL" and name in COMPILED:
            continue
        rng = generator("aggregators", name, dtype)
        forms = ("csr", "bitmapc", "iso", "fullr"), ("sparse", "bitmap", "iso", "full")
        given = {
            "A": stored(rng, (5, 7), dtype, forms[0][turn]),
            "v": stored(rng, (7,), dtype, forms[1][turn]),
            "m": stored(rng, (5,), "BOOL", "sparse"),
            "empty": stored(rng, (4, 3), dtype, "empty"),
            "none": stored(rng, (3,), dtype, "empty"),
        }

        def call(lib, o):
            op, o = instead(lib, name, o)
            found = [o.A.reduce_rowwise(op).new(), o.A.T.reduce_rowwise(op).new(), o.A.reduce_columnwise(op).new()]
            found += [o.A.T.reduce_columnwise(op).new(mask=o.m.S), o.A.reduce_rowwise(op).new(mask=~o.m.V)]
            found += [o.v.reduce(op).new(), o.none.reduce(op).new(), op(o.v).new(), op(o.A, rowwise=True).new()]
            found += [op(o.A, columnwise=True).new(), o.empty.reduce_rowwise(op).new()]
            if name not in ("argmin", "argmax", "first_index", "last_index"):
                found += [o.A.reduce_scalar(op).new(), o.A.T.reduce_scalar(op).new(), op(o.A).new()]
                found += [o.empty.reduce_scalar(op).new()]
            return [x.apply(lib.unary.one).new() for x in found] if name == "any_value" else found

        agree(call, given, f"{name} {dtype}", engines=WITHOUT_NUMBA[:1], tolerance=1e-12, may_fail=True)


def test_typed_aggregators():
    for name in sorted(set(AGGREGATORS) - set(COMPILED)):
        for dtype in ("BOOL", "INT8", "UINT64", "FP32", "FC64"):

            def call(lib, o):
                typed = aggregator(lib, name)[dtype]
                return [dtype in aggregator(lib, name), typed.type.name, typed.return_type.name, name in repr(typed)]

            expected, got = expected_outcome(call, {}, may_fail=True)[0], outcome(gb, call, {}, may_fail=True)[0]
            if isinstance(expected, Raised):
                assert isinstance(got, Raised) and got.name == expected.name, (name, dtype, expected, got)
            else:
                assert not isinstance(got, Raised) and got == expected, (name, dtype, expected, got)


def vec(lib, indices=(0, 1, 3), values=(5, 6, 7), size=5, dtype=int, name="v"):
    return lib.Vector.from_coo(indices, values, dtype, size=size, name=name)


def mat(lib, rows=(0, 1, 2), cols=(1, 2, 0), values=(3, 4, 5), shape=(3, 3), dtype=int, name="A"):
    return lib.Matrix.from_coo(rows, cols, values, dtype, nrows=shape[0], ncols=shape[1], name=name)


def updated(x, *values, how=None):
    for value in values:
        (x if how is None else x(**how)) << value
    return x


def raised(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def written(x, key, value):
    x[key] = value
    return x


# Scalars, elements and constructors
ROWS = {
    "Scalar, update": lambda lib: [
        updated(lib.Scalar(int), x)
        for v in [vec(lib)]
        for x in (3, 2.7, True, lib.Scalar.from_value(4), lib.Scalar(float), v.reduce(), v[1], v[2])
    ],
    "Scalar, accumulated": lambda lib: [
        updated(lib.Scalar.from_value(10), x, how={"accum": lib.binary.minus})
        for x in (3, lib.Scalar.from_value(4), lib.Scalar(int), vec(lib).reduce(), vec(lib)[1], vec(lib)[2])
    ],
    "empty Scalar, accumulated": lambda lib: [
        updated(lib.Scalar(int), x, how={"accum": lib.binary.minus})
        for x in (3, lib.Scalar(int), vec(lib).reduce(), vec(lib)[1], vec(lib)[2])
    ],
    "Scalar, refused": lambda lib: [
        raised(lambda x=x: updated(lib.Scalar(int), x))
        for x in (vec(lib), mat(lib).T, "a", [1, 2], vec(lib).apply("abs"))
    ],
    "Scalar, cscalars": lambda lib: [
        (x.value, x.dtype.name, x.is_cscalar)
        for s in (lib.Scalar.from_value(3, is_cscalar=True), lib.Scalar.from_value(2.5), lib.Scalar("INT8"))
        for x in (s, s.dup(), s.dup(is_cscalar=True), s.dup("FP64"), s.dup("INT8", is_cscalar=False), s.dup(clear=True))
    ],
    "Scalar, compared": lambda lib: [
        s.isequal(x, check_dtype=check)
        for s in (lib.Scalar.from_value(3), lib.Scalar.from_value(3.0), lib.Scalar(int))
        for x in (3, 3.0, 4, None, lib.Scalar.from_value(3, "INT8"), lib.Scalar(int), lib.Scalar(float))
        for check in (False, True)
    ],
    "Scalar, equality": lambda lib: [
        bool(x == y) for x in (lib.Scalar.from_value(3), lib.Scalar(int)) for y in (3, 3.5, None, lib.Scalar(int))
    ],
    "Vector, from_coo": lambda lib: [
        lib.Vector.from_coo([3, 0], x, dtype, size=n)
        for x, dtype, n in (
            (5, None, None),
            ([1, 2], "INT8", 9),
            (2.5, None, 4),
            ([True, False], None, 5),
            (1, "FP32", 4),
        )
    ],
    "Vector, from_coo, duplicates": lambda lib: [
        lib.Vector.from_coo([1, 0, 1], [1, 2, 3], dup_op=op) for op in (lib.binary.plus, "minus", lib.monoid.max)
    ],
    "Vector, from_pairs": lambda lib: [
        lib.Vector.from_pairs(p, **how)
        for p, how in (
            ([(1, 2.5), (0, 1)], {}),
            ([], {"dtype": int, "size": 3}),
            ([(4, True)], {"size": 7}),
            ({(1, 3), (2, 4)}, {"dtype": "INT8"}),
            ([(1, 2), (1, 5)], {"dup_op": lib.binary.times}),
        )
    ],
    "Vector, from_pairs, refused": lambda lib: [
        raised(lambda p=p: lib.Vector.from_pairs(p))
        for p in (np.array([[1, 2]]), [(1, 2, 3)], [(0, 1), (1, 2, 3)], [1, 2])
    ],
    "Vector, from_dict": lambda lib: [
        lib.Vector.from_dict(d, dtype, size=n)
        for d, dtype, n in (({3: 1, 0: 2}, None, None), ({1: 2.5}, "INT8", 4), ({2: True}, None, None))
    ],
    "Vector, from_scalar": lambda lib: [
        lib.Vector.from_scalar(x, n, dtype)
        for x, n, dtype in ((3, 4, None), (2, 2, "INT8"), (lib.Scalar.from_value(True), 3, None), (1, 0, None))
    ],
    "Vector, from_dense": lambda lib: [
        lib.Vector.from_dense(x, missing, dtype=dtype)
        for x, missing, dtype in (
            ([1, 0, 2], None, None),
            ([1, 0, 2], 0, "FP32"),
            (np.array([1.5, np.nan]), np.nan, None),
            ([], None, int),
        )
    ],
    "Vector, from_dense, refused": lambda lib: [
        raised(lambda x=x, d=d: lib.Vector.from_dense(x, dtype=d))
        for x, d in ((5, None), ([[1, 2]], None), (np.array(["a"]), None), ([1, 2], "no such type"))
    ],
    "Vector, to_coo": lambda lib: [
        [None if x is None else np.array(x) for x in vec(lib).to_coo(**how)]
        for how in ({}, {"dtype": "FP32"}, {"values": False}, {"indices": False}, {"sort": False})
    ],
    "Vector, to_dense": lambda lib: [vec(lib).to_dense(9), vec(lib).to_dense(0.5), vec(lib).to_dense(1, dtype="INT8")],
    "Vector, to_dense, refused": lambda lib: raised(lambda: vec(lib).to_dense()),
    "Vector, refused indices": lambda lib: [
        raised(lambda k=k: vec(lib)[k].new()) for k in (5, -6, 1.5, "a", None, True, (0, 1), [0, 9], lib.Scalar(int))
    ],
    "Vector, indices": lambda lib: [
        vec(lib)[k].new()
        for k in (
            -2,
            np.int8(3),
            lib.Scalar.from_value(1),
            [3, 1, 1],
            np.array([0, 3], np.uint8),
            slice(1, None),
            slice(None, None, -1),
            slice(-3, None, 2),
            slice(3, 3),
            range(4),
            np.array([], int),
        )
    ],
    "Matrix, indices": lambda lib: [
        mat(lib)[k].new()
        for k in (
            (0, 1),
            (-1, -3),
            ([2, 0], 1),
            (1, [2, 2, 0]),
            (slice(None), 0),
            (slice(None, None, -1), slice(1, None)),
            (lib.Scalar.from_value(2), slice(None)),
            ([1], [2]),
            (np.array([2]), np.int64(0)),
        )
    ],
    "Matrix, from_coo": lambda lib: [
        lib.Matrix.from_coo([2, 0], [1, 3], x, dtype, nrows=m, ncols=n)
        for x, dtype, m, n in (
            (5, None, None, None),
            ([1, 2], "INT8", 9, None),
            (2.5, None, 3, 4),
            ([True, False], None, None, 9),
        )
    ],
    "Matrix, from_edgelist": lambda lib: [
        lib.Matrix.from_edgelist(e, x, **how)
        for e, x, how in (
            ([(0, 1), (2, 0)], None, {}),
            ([(0, 1, 5), (2, 0, 2.5)], None, {}),
            (np.array([[0, 1], [2, 0]]), 7, {}),
            ([(0, 1), (2, 0)], [3, 4], {"nrows": 5, "ncols": 6}),
            ([], None, {"nrows": 2, "ncols": 3}),
            (np.array([[0, 1], [2, 0]]), None, {"dtype": "INT8"}),
            ([(0, 1), (0, 1)], [3, 4], {"dup_op": lib.binary.plus}),
        )
    ],
    "Matrix, from_edgelist, refused": lambda lib: [
        raised(lambda e=e, x=x: lib.Matrix.from_edgelist(e, x))
        for e, x in (
            (np.array([1, 2]), None),
            (np.zeros((2, 3), int), None),
            ([(1,)], None),
            ([(0, 1, 2)], 5),
            ([(0, 1)], [1, 2]),
        )
    ],
    "Matrix, from rows and columns": lambda lib: [
        getattr(lib.Matrix, name)(*arrays, values, **how)
        for values in ([7, 8], 5)
        for name, arrays, how in (
            ("from_csr", ([0, 1, 1, 2], [3, 1]), {}),
            ("from_csr", ([0, 1, 1, 2], [3, 1]), {"ncols": 6, "nrows": 3}),
            ("from_csc", ([0, 0, 1, 1, 2], [2, 0]), {}),
            ("from_csc", ([0, 0, 1, 1, 2], [2, 0]), {"nrows": 7}),
            ("from_dcsr", ([0, 4], [0, 1, 2], [3, 1]), {}),
            ("from_dcsr", ([0, 4], [0, 1, 2], [3, 1]), {"nrows": 8, "ncols": 5}),
            ("from_dcsc", ([1, 3], [0, 1, 2], [2, 0]), {}),
            ("from_dcsc", ([1, 3], [0, 1, 2], [2, 0]), {"nrows": 8, "ncols": 5}),
        )
    ],
    "Matrix, from_dicts": lambda lib: [
        lib.Matrix.from_dicts(d, **how)
        for d, how in (
            ({0: {1: 5}, 2: {0: 6, 3: 7}}, {}),
            ([{1: 5}, {}, {0: 6}], {}),
            ({1: {1: 2.5}}, {"nrows": 4, "ncols": 4}),
            ({1: {0: 5}}, {"order": "columnwise"}),
            ([{1: 5}, {0: 2}], {"order": "columnwise", "nrows": 5}),
            ({}, {"nrows": 2, "ncols": 2, "dtype": int}),
        )
    ],
    "Matrix, to_dicts": lambda lib: [mat(lib).to_dicts(), mat(lib).to_dicts("columnwise"), mat(lib).T.to_dicts()],
    "Matrix, from_dense": lambda lib: [
        lib.Matrix.from_dense(x, missing, dtype=dtype)
        for x, missing, dtype in (
            ([[1, 0], [2, 3]], None, None),
            ([[1, 0], [2, 3]], 0, "FP32"),
            (np.array([[1.5, np.nan]]), np.nan, None),
            (np.zeros((0, 3)), None, None),
        )
    ],
    "Matrix, from_dense, refused": lambda lib: [
        raised(lambda x=x: lib.Matrix.from_dense(x)) for x in ([1, 2], np.zeros((2, 2, 2)), np.array([["a"]]))
    ],
    "Matrix, from_scalar": lambda lib: [
        lib.Matrix.from_scalar(x, m, n, dtype)
        for x, m, n, dtype in (
            (3, 2, 3, None),
            (2, 1, 2, "INT8"),
            (lib.Scalar.from_value(True), 2, 2, None),
            (1, 0, 4, None),
        )
    ],
    "typed copies": lambda lib: [
        x.dup(dtype, clear=clear)
        for x in (vec(lib), mat(lib), mat(lib).T)
        for dtype in (None, "FP32")
        for clear in (False, True)
        if not (clear and x.ndim == 2 and type(x).__name__ != "Matrix")
    ],
    "masked copies": lambda lib: [x.dup(mask=mask) for x in (vec(lib), mat(lib)) for mask in (x.S, ~x.S, x.V, ~x.V)],
    "masks of masks": lambda lib: [
        mask.new()
        for a, b in ((mat(lib), mat(lib, (0, 1, 2), (1, 0, 0), (0, 4, 0))),)
        for x in (a.S, a.V, ~a.S, ~a.V)
        for y in (b.S, b.V, ~b.S, ~b.V)
        for mask in (x & y, x | y)
    ],
    "masks as objects": lambda lib: [
        m.new(dtype, mask=mask, complement=c) if c else m.new(dtype, mask=mask)
        for x, y in ((vec(lib), vec(lib, (1, 2), (0, 4))),)
        for m in (x.S, x.V, ~x.S, ~x.V, y.V, ~y.V)
        for dtype in (None, "INT8")
        for mask in (None, y.S, ~y.V)
        for c in (False,)
    ],
    "builds": lambda lib: [
        (lambda v: (v.build([1, 0], [4, 5], clear=True, size=9, dup_op="plus"), v)[1])(vec(lib)),
        (lambda v: (v.build([1, 1], [4, 5], dup_op=lib.binary.minus), v)[1])(lib.Vector(int, 4)),
        (lambda A: (A.build([1, 0], [4, 5], [6, 7], clear=True, nrows=9, ncols=6), A)[1])(mat(lib)),
    ],
    "builds, refused": lambda lib: [
        raised(lambda: vec(lib).build([1], [4])),
        raised(lambda: mat(lib).build([1], [1], [4])),
        raised(lambda: vec(lib).build([9], [4], clear=True)),
        raised(lambda: lib.Vector(int, 3).build([0, 0], [1, 2])),
        raised(lambda: lib.Vector(int, 3).build([0, 1], [1])),
    ],
    "setdiag": lambda lib: [
        (lambda A: (A.setdiag(x, k, **how), A)[1])(mat(lib))
        for x, k, how in (
            (9, 0, {}),
            (9, 1, {"accum": lib.binary.plus}),
            ([7, 8], -1, {}),
            (vec(lib, (0, 2), (1, 2), 3), 0, {}),
            (vec(lib, (0, 2), (1, 2), 3), 0, {"mask": vec(lib, (0, 1), (1, 1), 3).S}),
            (9, 0, {"mask": mat(lib).T.new().S}),
            (lib.Scalar.from_value(4), 2, {"accum": lib.binary.plus}),
            (np.array([7, 8]), 1, {}),
        )
    ],
    "setdiag, refused": lambda lib: [
        raised(lambda x=x, k=k: mat(lib).setdiag(x, k))
        for x, k in ((9, 5), ([1, 2], 0), (9, 1.5), (mat(lib), 0), ("a", 0))
    ],
    "values that are refused": lambda lib: [
        raised(lambda x=x, k=k: written(vec(lib), k, x))
        for x in ([1, 2, 3], mat(lib), vec(lib, size=7))
        for k in (1, [0, 2], slice(None))
    ],
    "rows that are refused": lambda lib: [
        raised(lambda x=x, k=k: written(mat(lib), k, x))
        for x in ([[1]], mat(lib, shape=(3, 4)), vec(lib))
        for k in ((1, 1), (slice(None), 1), ([0, 2], [1, 2]))
    ],
    "masks that are refused": lambda lib: [
        raised(lambda C=C, m=m, k=k: C(mask=m).__setitem__(k, 1))
        for C, ks in ((mat(lib), ((1, 1), (slice(None), 1), ([0, 2], [1, 2]))), (vec(lib), (1, [0, 2], slice(None))))
        for k in ks
        for m in (vec(lib).S, mat(lib).S, vec(lib, (0, 1), (1, 1), 3).S, 3, vec(lib))
    ],
    "submasks that are refused": lambda lib: [
        raised(lambda C=C, m=m, k=k: C[k](mask=m) << 1)
        for C, ks in ((mat(lib), ((1, 1), (slice(None), 1), ([0, 2], [1, 2]))), (vec(lib), (1, [0, 2], slice(None))))
        for k in ks
        for m in (vec(lib).S, mat(lib).S, vec(lib, (0, 1), (1, 1), 2).S)
    ],
    "calls that are refused": lambda lib: [
        raised(call)
        for x in (vec(lib), mat(lib), lib.Scalar(int))
        for call in (
            lambda: x(x.S, x.S),
            lambda: x(lib.unary.abs),
            lambda: x(replace=True),
            lambda: x(mask=x.S, input_mask=x.S),
            lambda: x("no such operator"),
            lambda: x(lib.binary.plus, lib.binary.plus),
            lambda: x(input_mask=3),
        )
    ],
    "refused operators": lambda lib: [
        raised(call)
        for v, A in ((vec(lib), mat(lib)),)
        for call in (
            lambda: A.mxm(A, lib.binary.plus),
            lambda: A.mxv(vec(lib, size=3), lib.monoid.plus),
            lambda: A.mxm(v),
            lambda: v.vxm(A, "plus"),
            lambda: v.inner(A),
            lambda: v.reduce(lib.binary.minus),
            lambda: v.apply(lib.binary.plus),
            lambda: v.apply(lib.unary.abs, 3),
            lambda: v.select("nothing", 3),
            lambda: v.ewise_mult(v, lib.semiring.plus_times),
            lambda: v.ewise_add(3),
            lambda: A.power(-1),
            lambda: A.power("2"),
            lambda: A.kronecker(v),
            lambda: v.reposition(1.5),
            lambda: lib.agg.sum(v, rowwise=True),
            lambda: v | A | A,
            lambda: lib.agg.sum(A, rowwise=True, columnwise=True),
            lambda: (v | v) & v,
            lambda: v & 3,
            lambda: v @ v @ v,
        )
    ],
    "selects by comparisons": lambda lib: [
        x.select(y).new()
        for v, A in ((vec(lib), mat(lib)),)
        for x, y in ((v, v > 5), (v, v == 6), (A, A <= 4), (A, A != 3))
    ],
    "selects by index expressions": lambda lib: [
        lib.select.value(vec(lib) > 5).new(),
        lib.select.index(vec(lib) <= 2).new(),
        lib.select.row(mat(lib) <= 1).new(),
        lib.select.column(mat(lib) > 0).new(),
        lib.select.rowle(mat(lib), 1).new(),
        lib.select.index(vec(lib) < 3).new(),
        lib.select.row(mat(lib) < 2).new(),
        lib.select.column(mat(lib) >= 1).new(),
    ],
    "selects by index expressions, refused": lambda lib: [
        raised(call)
        for call in (
            lambda: lib.select.index(vec(lib) + 5),
            lambda: lib.select.row(mat(lib)),
            lambda: lib.select.column(mat(lib) == 1),
            lambda: lib.select.value(5),
        )
    ],
}


def compared(call):
    """What both libraries give: None where it is the same, else a sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = expected_outcome(lambda lib, o: flat(call(lib)), {}, may_fail=True)[0]
        found = outcome(gb, lambda lib, o: flat(call(lib)), {}, may_fail=True)[0]
    if isinstance(expected, Raised) or isinstance(found, Raised):
        return f"{expected!r}, got {found!r}"
    return difference(expected, found)


def flat(x):
    """A list of objects and values of lists in lists."""
    if type(x).__name__ == "dict":
        return repr(x)
    return (
        [y for z in x for y in (flat(z) if isinstance(z, (list, tuple)) else [z])]
        if isinstance(x, (list, tuple))
        else x
    )


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    problem = compared(ROWS[name])
    assert problem is None, f"{name}: {problem}"


def test_scalars_that_are_close():
    """math.isclose, of numbers; two empty Scalars are close."""
    for value in (1000.0, 0.0):
        for other in (1000.9, 1001.2, 600.0, 1900.0, 0.01, 0.2, 0.0):
            for relative, absolute in ((1e-3, 0.0), (1e-3, 0.05), (0.0, 0.2), (0.5, 0.0)):
                wanted = math.isclose(value, other, rel_tol=relative, abs_tol=absolute)
                for x in (other, gb.Scalar.from_value(other)):
                    s = gb.Scalar.from_value(value)
                    assert s.isclose(x, rel_tol=relative, abs_tol=absolute) == wanted, (value, other)
                    assert s.isclose(x, rel_tol=relative, abs_tol=absolute, check_dtype=True) == wanted
    one, whole, none = gb.Scalar.from_value(1.0), gb.Scalar.from_value(1), gb.Scalar(float)
    assert one.isclose(whole) and not one.isclose(whole, check_dtype=True) and not one.isclose(none)
    assert none.isclose(gb.Scalar(int)) and not none.isclose(gb.Scalar(int), check_dtype=True) and not none.isclose(one)
