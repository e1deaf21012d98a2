"""What predefined operators compute, against SuiteSparse 9.4.5, over nasty operands of every type; nothing warns."""

import warnings

import graphblas as gb
import numpy as np
import pytest
from operators.catalogue import operator_labels, theirs
from operators.nasty import differences, operands, pairs

from grb_tile import Vector, binary, dtypes, unary

UNARY = [p for p in operator_labels(("unary",)) if not p[1].is_positional]
BINARY = [p for p in operator_labels(("binary",)) if not p[1].is_positional]
# python-graphblas compiles these with Numba, a second each; the quick run takes a sample of them
COMPILED = {
    "unary": "numpy.reciprocal numpy.sign numpy.deg2rad numpy.square numpy.signbit numpy.rad2deg numpy.degrees "
    "numpy.spacing numpy.radians numpy.fabs",
    "binary": "numpy.gcd numpy.lcm numpy.logaddexp numpy.logaddexp2 numpy.mod numpy.hypot numpy.maximum numpy.minimum "
    "numpy.nextafter numpy.left_shift numpy.remainder numpy.floor_divide numpy.fmod numpy.right_shift rpow absfirst "
    "abssecond floordiv rfloordiv",
}


def cases(found, compiled):
    """The parameters of those that python-graphblas compiles, or of the others."""
    names = {f"{kind}.{name}" for kind, listed in COMPILED.items() for name in listed.split()}
    return [pytest.param(label, mine, id=label) for label, mine in found if (label in names) == compiled]


def tolerance(dtype):
    return 3e-5 if dtype in (np.float32, np.complex64) else 1e-12


def undefined(label, dtype, x, y=None):
    """Operands for which C (and so SuiteSparse, or Numba under python-graphblas) leaves the result open, or errs."""
    none = np.zeros(x.shape, bool)
    name = label.rsplit(".", 1)[1]
    kind = dtype.np_type.kind
    if name == "reciprocal":
        return x == 0  # integer 1 / 0
    if name == "sign":
        return none if kind != "u" else x > dtype.max // 2  # Numba takes large unsigned numbers for negative ones
    if name in ("floordiv", "rfloordiv"):
        divisor = y if name == "floordiv" else x
        # a ZeroDivisionError inside the compiled function leaves the old memory; INT64_MIN // -1 does too
        return (divisor == 0) | (kind == "i") & (divisor == -1)
    if name == "floor_divide":
        return (y == -1) if kind == "i" else _not_divisible(x, y) if kind == "f" else none
    if name in ("mod", "remainder") and kind == "i":
        return (y == -1) | (y == 0)  # INT_MIN % -1 stops the process
    if name == "fmod" and ".numpy." in label and kind == "i":
        return ~none  # Numba's integer fmod is wrong for negative operands; ours is C's
    if name == "rpow":
        if kind in "iu":
            with np.errstate(all="ignore"):
                size = np.power(np.abs(y.astype(float)), np.abs(x.astype(float)))
            return ~(size < 2.0**31) | (x < 0) | (x.astype(float) > 2.0**31)
        return ~(np.isfinite(x) & np.isfinite(y)) | (y == 0) if kind == "c" else none
    if name == "ldexp":
        return y.astype(float) >= 2.0**31  # int(y) overflows
    if name in ("left_shift", "right_shift"):
        return (y < 0) | (y.astype(float) >= 8 * dtype.np_type.itemsize)
    if name == "lcm":
        with np.errstate(all="ignore"):
            return ~(np.abs(x.astype(float) * y.astype(float)) < 2.0**62)
    if name == "gcd":
        return (x == dtype.min) | (y == dtype.min) if kind == "i" else none
    if name in ("pow", "power", "float_power") and kind == "c":
        return np.abs(y) > 100  # single precision loses the angle; ours is computed in double
    if name in ("pow", "power") and kind in "iu":
        with np.errstate(all="ignore"):
            size = np.power(np.abs(x.astype(float)), y.astype(float))
        return (size > 2.0**53) & (size < 2.0**64)  # the last place of pow() is the C library's affair
    return none


def _not_divisible(x, y):
    """Where floor(x / y) and NumPy's floor division differ: nothing finite, or a quotient whose rounding shows."""
    with np.errstate(all="ignore"):
        return (
            ~(np.isfinite(x) & np.isfinite(y) & (y != 0)) | (np.abs(x / y) < 1e-20) & (x != 0) | (np.abs(x / y) > 1e6)
        )


def check(label, dtype, got, expected, skipped, *inputs):
    assert got.dtype == expected.dtype, (label, dtype)
    wrong = np.flatnonzero(differences(got, expected, tolerance(got.dtype)) & ~skipped)
    report = [(*(a[k] for a in inputs), "gives", got[k], "not", expected[k]) for k in wrong[:5]]
    assert not len(wrong), f"{label}[{dtype}]: {len(wrong)} of {len(got)}: {report}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("label, mine", cases(UNARY, True))
def test_unary_that_the_oracle_compiles(label, mine):
    test_unary(label, mine)


@pytest.mark.parametrize("label, mine", cases(UNARY, False))
def test_unary(label, mine):
    other = theirs(label)
    for dtype in mine.types:
        x = operands(dtype.np_type)
        v = gb.Vector.from_coo(np.arange(len(x)), x, dtype=dtype.name)
        expected = v.apply(other).new().to_coo()[1]
        typed = mine[dtype]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = typed.numpy(dtypes.cast(x, typed.type))
        check(label, dtype, got, expected, undefined(label, dtype, x), x)


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("label, mine", cases(BINARY, True))
def test_binary_that_the_oracle_compiles(label, mine):
    test_binary(label, mine)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("label, mine", cases(BINARY, False))
def test_binary(label, mine):
    other = theirs(label)
    for dtype in mine.types:
        x, y = pairs(dtype.np_type)
        places = np.arange(len(x))
        keep = ~undefined(label, dtype, x, y)  # left out of the oracle's operands, where they would raise
        if not keep.any():
            continue
        x, y, places = x[keep], y[keep], places[keep]
        v = gb.Vector.from_coo(places, x, dtype=dtype.name)
        w = gb.Vector.from_coo(places, y, dtype=dtype.name)
        expected = v.ewise_mult(w, other[dtype.name]).new().to_coo()[1]
        typed = mine[dtype]
        a, b = dtypes.cast(x, typed.type), dtypes.cast(y, typed.type)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            got = typed.numpy(a, b)
            flipped = typed.flip().numpy(b, a)
        check(label, dtype, got, expected, np.zeros(len(x), bool), x, y)
        if typed.kind not in ("any",):
            check(label + ".flip()", dtype, flipped, got, np.zeros(len(x), bool), x, y)


@pytest.mark.parametrize(
    "name", ["plus", "minus", "times", "pow", "min", "truediv", "cdiv", "first", "second", "pair", "land"]
)
def test_scalars_and_lone_entries_broadcast(name):
    from grb_tile import binary

    typed = getattr(binary, name)["FP64"]
    x = operands("float64")
    for y in (np.float64(0.5), np.float64(2.0), np.array([0.5]), np.float64(np.nan)):
        full = np.full(x.shape, np.asarray(y).reshape(-1)[0])
        assert not differences(typed.numpy(x, y), typed.numpy(x, full), 1e-15).any()
        assert not differences(typed.numpy(y, x), typed.numpy(full, x), 1e-15).any()


@pytest.mark.filterwarnings("ignore")
def test_those_of_numpy_are_numpys():
    """What python-graphblas compiles of the namespaces `numpy`, against the ufuncs, for the types that both have."""
    compared = 0
    for label, mine in [case.values for case in cases(UNARY, True) + cases(BINARY, True)]:
        kind, _, name = label.partition(".numpy.")
        if not name:
            continue
        for dtype in mine.types:
            if dtype.np_type.kind == "b" or mine[dtype].type is not dtype:
                continue
            inputs = (operands(dtype.np_type),) if kind == "unary" else pairs(dtype.np_type)
            with np.errstate(all="ignore"):
                try:
                    wanted = getattr(np, name)(*inputs)
                except (TypeError, ValueError):  # integers to a negative power
                    continue
                got = mine[dtype].numpy(*inputs)
            kinds = got.dtype.kind, wanted.dtype.kind
            if wanted.dtype == np.float16 or kinds[0] != kinds[1] and "b" in kinds or kinds == ("f", "c"):
                continue
            skipped = undefined(label, dtype, *inputs) | ~np.isfinite(got) | ~np.isfinite(wanted)
            wrong = differences(got, wanted.astype(got.dtype), tolerance(got.dtype)) & ~skipped
            assert not wrong.any(), (label, dtype, [(*(x[k] for x in inputs), got[k], wanted[k])
                                                    for k in np.flatnonzero(wrong)[:5]])  # fmt: skip
            compared += 1
    assert compared > 100, compared


@pytest.mark.filterwarnings("ignore")
def test_those_of_python_are_pythons():
    """What python-graphblas compiles from Python functions, against these functions."""
    definitions = {
        "rpow": lambda x, y: y**x, "absfirst": lambda x, y: abs(x), "abssecond": lambda x, y: abs(y),
        "floordiv": lambda x, y: x // y, "rfloordiv": lambda x, y: y // x,
    }  # fmt: skip
    for name, function in definitions.items():
        for dtype in ("INT16", "INT64", "FP64", "FP32"):
            typed = getattr(binary, name)[dtype]
            x, y = pairs(dtypes.lookup_dtype(dtype).np_type)
            few = (np.abs(x.astype(float)) < 7) & (np.abs(y.astype(float)) < 7) & (x != 0) & (y != 0) & (x * 1.0 > 0)
            x, y = x[few], y[few]
            got = typed.numpy(dtypes.cast(x, typed.type), dtypes.cast(y, typed.type))
            wanted = [function(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
            real = [k for k, value in enumerate(wanted) if not isinstance(value, complex)]
            wrong = differences(got[real], np.array([wanted[k] for k in real]).astype(got.dtype), 1e-5)
            assert not wrong.any() and len(real) > 20, (name, dtype)


def test_index_operators():
    from grb_tile import indexunary, select

    rows, cols = np.array([0, 0, 1, 2, 3, 3]), np.array([0, 3, 1, 0, 2, 3])
    values = np.array([5, -1, 0, 7, 2, 2])
    A = gb.Matrix.from_coo(rows, cols, values, dtype="INT64", nrows=4, ncols=4)
    for name in ("rowindex", "colindex", "diagindex", "tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle",
        "colgt",
                 "valueeq", "valuene", "valuelt", "valuele", "valuegt", "valuege"):  # fmt: skip
        for thunk in (-1, 0, 1, 2):
            expected = A.apply(getattr(gb.indexunary, name), thunk).new().to_coo()[2]
            typed = getattr(indexunary, name)[
                "INT64" if name in ("rowindex", "colindex", "diagindex") or "value" in name else "BOOL"
            ]
            got = typed.numpy(values.astype(typed.type.np_type), rows, cols, typed.thunk_type.np_type.type(thunk))
            assert got.dtype == expected.dtype and (got == expected).all(), (name, thunk)
            if typed.return_type.name == "BOOL":
                chosen = getattr(select, name)[typed.type].numpy(values, rows, cols, np.int64(thunk))
                assert (chosen == expected).all()
                assert getattr(select, name)[typed.type].uses_values == name.startswith("value")


@pytest.mark.parametrize("dtype", ["INT32", "INT64", "UINT32", "UINT64"])
def test_ldexp_of_exponents_that_c_int_does_not_hold(dtype):
    """They become INT_MIN, so that the result is 0 with the sign of x: above the range, too."""
    info = np.iinfo(dtype.lower())
    found = [0, 1, 2, 5, 40, 2**31 - 2, 2**31 - 1, 2**31, 2**31 + 5, 2**32 - 2, 2**40, info.max - 1, info.max]
    found += [-1, -3, -(2**31), -(2**31) - 1, info.min]
    values = np.array(sorted({int(x) for x in found if info.min <= x <= info.max}), dtype.lower())
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    mine, other = binary.ldexp[dtype], gb.binary.ldexp[dtype]
    want = gb.Vector.from_dense(x).ewise_mult(gb.Vector.from_dense(y), other).new().to_dense()
    got = Vector.from_dense(x).ewise_mult(Vector.from_dense(y), mine).new().to_dense()
    np.testing.assert_array_equal(got, want)
    assert (np.signbit(got) == np.signbit(want)).all()


def test_the_reciprocal_of_the_integer_zero_is_zero():
    """NumPy's own result for small and unsigned types; compiled by Numba, the oracle has another."""
    for dtype in ("INT8", "UINT8", "INT32", "UINT32", "INT64", "UINT64"):
        v = Vector.from_coo(range(4), np.array([0, 1, 2, 7]), dtype=dtype, size=5)
        assert v.apply(unary.numpy.reciprocal).new().to_dict() == {0: 0, 1: 1, 2: 0, 3: 0}, dtype


@pytest.mark.filterwarnings("ignore")
def test_a_flipped_operator_takes_its_operands_the_other_way_round():
    """All operands, those for which the oracle has no result among them: pow and rpow differ where they overflow."""
    for label, mine in BINARY:
        for dtype in mine.types:
            typed = mine[dtype]
            if typed.kind == "any":
                continue
            x, y = pairs(dtype.np_type)
            a, b = dtypes.cast(x, typed.type), dtypes.cast(y, typed.type2)
            got, expected = typed.flip().numpy(b, a), typed.numpy(a, b)
            check(label + ".flip()", dtype, got, expected, np.zeros(len(x), bool), x, y)
