"""The scalar Python text of every operator: run as plain Python for all, compiled by Numba for one type of each
kind."""

import warnings
import zlib

import numpy as np
import pytest
from operators.catalogue import lowered_operators
from operators.nasty import differences, operands, pairs

from grb_tile import dtypes
from grb_tile.operators.to_python import helper, helper_names, scalar_source
from support.seeds import SEED

OPERATORS = lowered_operators()
PARTS = 8  # into which GRB_TILE_SEED divides them: the quick run compiles one


def arguments(typed):
    """Nasty operands for a typed operator, as equally long arrays of exactly its types."""
    if typed.opclass == "UnaryOp":
        return (operands(typed.type.np_type),)
    x, y = pairs(typed.type.np_type)
    if typed.opclass == "BinaryOp":
        return x, y
    k = np.arange(len(x)) % 7
    thunk = y if typed.thunk_type is typed.type else (k - 3).astype(typed.thunk_type.np_type)
    return x, k, (k * 3) % 5, thunk


def tolerance(dtype):
    return 3e-6 if dtype in (np.float32, np.complex64) else 1e-13


def undefined(typed, inputs):
    none = np.zeros(len(inputs[0]), bool)
    if typed.name in ("pow", "rpow", "numpy.float_power") and typed.type.np_type.kind == "f":
        base, exponent = inputs if typed.name != "rpow" else inputs[::-1]
        # NumPy's scalar power takes a root there, which compiled code does not
        return (exponent == 0.5) & np.isinf(base)
    if typed.name == "pow" and typed.type.np_type.kind in "iu":
        with np.errstate(all="ignore"):
            size = np.power(np.abs(inputs[0].astype(float)), inputs[1].astype(float))
        return (size > 2.0**53) & (size < 2.0**64)
    return none


def check(typed, function):
    inputs = arguments(typed)
    expected = typed.numpy(*inputs)
    got = np.empty(len(inputs[0]), typed.return_type.np_type)
    for k, scalars in enumerate(zip(*inputs)):
        got[k] = function(*scalars)
    wrong = np.flatnonzero(differences(got, expected, tolerance(got.dtype)) & ~undefined(typed, inputs))
    assert not len(wrong), [(typed, *(a[k] for a in inputs), "gives", got[k], "not", expected[k]) for k in wrong[:5]]


def test_as_plain_python():
    assert len(OPERATORS) > 1000
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's scalars warn where they wrap; compiled code does not
        for typed in OPERATORS:
            preamble, source = scalar_source(typed, "f")
            space = {}
            exec(f"{preamble}\n{source}", space)
            check(typed, space["f"])


def test_helpers_stand_alone():
    import builtins
    import dis

    for name in helper_names():
        loaded = {i.argval for i in dis.get_instructions(helper(name)) if i.opname == "LOAD_GLOBAL"}
        assert {n for n in loaded if not hasattr(builtins, n)} <= {"np", "math"}, name


@pytest.mark.sampled(5)
@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, PARTS))])
@pytest.mark.parametrize("kind", ["BOOL", "INT8", "UINT64", "FP32", "FC32"])
def test_under_numba(kind, part):
    numba = pytest.importorskip("numba", reason="Numba is not installed: the text cannot be compiled")
    from numba.extending import register_jitable

    helpers = {name: register_jitable(helper(name)) for name in helper_names()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for typed in OPERATORS:
            if typed.type.name == kind and part == zlib.crc32(f"{SEED}/{typed!r}".encode()) % PARTS:
                compile_and_check(numba, helpers, typed)


@pytest.mark.parametrize("name", ["plus", "min", "cdiv", "bshift", "pow", "iseq", "land", "truediv"])
def test_under_numba_for_the_common_ones(name):
    numba = pytest.importorskip("numba", reason="Numba is not installed: the text cannot be compiled")
    from numba.extending import register_jitable

    from grb_tile import binary

    helpers = {n: register_jitable(helper(n)) for n in helper_names()}
    op = getattr(binary, name)
    compile_and_check(numba, helpers, op["INT8" if "INT8" in op else "FP32"])


def compile_and_check(numba, helpers, typed):
    _, source = scalar_source(typed, "f")
    space = {"np": np, **helpers}
    exec(source, space)
    function = numba.njit(space["f"])
    if typed.opclass == "IndexUnaryOp":
        signature = (typed.type.numba_type, numba.int64, numba.int64, typed.thunk_type.numba_type)
    else:
        signature = (typed.type.numba_type,) * len(arguments(typed))
    function.compile(signature)
    assert dtypes.lookup_dtype(function.overloads[signature].signature.return_type) is typed.return_type, source
    check(typed, function)


def test_positional_operators_have_no_text():
    from grb_tile import binary

    with pytest.raises(ValueError, match="positional"):
        scalar_source(binary.ss.firsti["INT64"], "f")


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_compiled_shifts_by_about_as_many_bits_as_the_type_has(bits):
    """A processor takes such a count modulo 64."""
    numba = pytest.importorskip("numba", reason="Numba is not installed: the text cannot be compiled")
    names = ("shift_left", "shift_right", "shift_left_unsigned", "shift_right_unsigned", "bshift")
    left, right, unsigned_left, unsigned_right, both = (numba.njit(helper(name)) for name in names)
    for count in (bits - 1, bits, bits + 1, 64, 65):
        for x in (1, 100, 2 ** (bits - 1) - 1):
            # of the words that hold them only the low `bits` count
            assert (int(left(np.int64(x), np.int64(count), bits)) - (x << count)) % 2**bits == 0
            assert (int(unsigned_left(np.uint64(x), np.uint64(count), bits)) - (x << count)) % 2**bits == 0
            assert int(unsigned_right(np.uint64(x), np.uint64(count), bits)) == x >> count
            for value in (x, -x):
                assert int(right(np.int64(value), np.int64(count), bits)) == value >> count
                assert (int(both(np.int64(value), np.int64(count), bits)) - (value << count)) % 2**bits == 0
                assert int(both(np.int64(value), np.int64(-count), bits)) == value >> count
