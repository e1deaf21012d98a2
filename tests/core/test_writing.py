"""`<<` with mask, accumulator and replace, in every spelling, against a dictionary model."""

import itertools
import math
import warnings

import graphblas as oracle
import numpy as np
import pytest

import grb_tile as gb
from grb_tile import Matrix, Scalar, Vector, binary, replace
from grb_tile.exceptions import DimensionMismatch


def model_write(c, t, allowed, accum, clear):
    """The specification in a dozen lines: dicts in, dict out; `allowed` is a predicate on positions."""
    out = {}
    for key in c.keys() | t.keys():
        if not allowed(key):
            if key in c and not clear:
                out[key] = c[key]
        elif key in t:
            out[key] = accum(c[key], t[key]) if accum is not None and key in c else t[key]
        elif accum is not None:
            out[key] = c[key]
    return out


C0 = {0: 1, 1: 2, 2: 3, 5: 4}
T0 = {1: 10, 2: 20, 3: 30, 4: 40}
M0 = {0: 1, 1: 0, 2: 5, 3: 1}
MASKS = {
    "none": lambda key: True,
    "S": lambda key: key in M0,
    "V": lambda key: bool(M0.get(key, 0)),
    "~S": lambda key: key not in M0,
    "~V": lambda key: not M0.get(key, 0),
}


def mask_of(M, kind):
    if kind == "none":
        return None
    mask = getattr(M, kind[-1])
    return ~mask if kind[0] == "~" else mask


@pytest.mark.parametrize(("kind", "clear"), [(k, c) for k in MASKS for c in (False, True) if not (c and k == "none")])
@pytest.mark.parametrize("accum", [None, "plus"])
@pytest.mark.parametrize("ndim", [1, 2])
def test_every_mask_accumulator_and_replace(kind, accum, clear, ndim):
    if ndim == 1:

        def make(d):
            return Vector.from_dict(d, size=6)

        def read(x):
            return x.to_dict()
    else:

        def make(d):
            rows, cols = zip(*((k // 3, k % 3) for k in d), strict=True)
            return Matrix.from_coo(rows, cols, list(d.values()), nrows=2, ncols=3)

        def read(x):
            return {int(i) * 3 + int(j): v for i, j, v in zip(*x.to_coo(), strict=True)}

    c, t, m = make(C0), make(T0), make(M0)
    function = (lambda x, y: x + y) if accum else None
    expected = model_write(C0, T0, MASKS[kind], function, clear)
    mask = mask_of(m, kind)
    c(mask=mask, accum=accum, replace=clear) << t.apply("identity")
    assert read(c) == expected
    c = make(C0)
    c(mask=mask, accum=accum, replace=clear) << t  # a plain object instead of an expression
    assert read(c) == expected
    c = make(C0)
    c(mask=mask, accum=accum, replace=clear)[...] << t  # and as an assignment to everything
    assert read(c) == expected


@pytest.mark.parametrize("number", [7, True, 2.75, -1])
@pytest.mark.parametrize("dtype", ["INT8", "UINT16", "BOOL", "FP32"])
@pytest.mark.parametrize("kind", MASKS)
def test_a_number_everywhere(kind, dtype, number):
    """C(M) << x and C(M)[:] = x say the same; x is cast to C's type."""
    held = gb.dtypes.cast_scalar(number, gb.dtypes.lookup_dtype(dtype))
    for accum, clear in itertools.product((None, binary.plus), (False, True)):
        if clear and kind == "none":
            continue
        C = [Vector.from_dict(C0, dtype, size=8) for _ in range(2)]
        before = C[0].to_dict()
        mask = mask_of(Vector.from_dict(M0, int, size=8), kind)
        C[0](mask=mask, accum=accum, replace=clear) << number
        C[1](mask=mask, accum=accum, replace=clear)[:] = number
        plus = binary.plus[dtype].numpy
        want = model_write(before, dict.fromkeys(range(8), held), MASKS[kind], accum and (
            lambda a, b: plus(np.array([a], held.dtype), np.array([b], held.dtype))[0]), clear)  # fmt: skip
        assert C[0].to_dict() == C[1].to_dict() == want


def test_positional_arguments_in_any_order():
    u = Vector.from_coo([0, 1], [1, 2], size=3)
    m = Vector.from_coo([1, 2], [True, True], size=3)
    results = []
    for args in itertools.permutations([m.S, binary.plus, replace]):
        w = Vector.from_coo([0, 1], [5, 5], size=3)
        w(*args) << u.apply("identity")
        results.append(w.to_dict())
    assert results == [{1: 7}] * 6


def test_boolean_object_is_a_value_mask():
    w, u = Vector.from_coo([0, 1], [5, 5]), Vector.from_coo([0, 1], [1, 2])
    w(Vector.from_coo([0, 1], [True, False])) << u
    assert w.to_dict() == {0: 1, 1: 5}
    with pytest.raises(TypeError, match="Mask must be boolean objects"):
        w(u) << u


@pytest.mark.parametrize(
    ("arguments", "keywords", "message"),
    [
        ((), {"replace": True}, "replace"),
        ((1,), {}, "Invalid item"),
        (("plus", "times"), {}, "multiple values for argument 'accum'"),
        (("plus",), {"accum": "times"}, "multiple values for argument 'accum'"),
    ],
)
def test_refusals(arguments, keywords, message):
    with pytest.raises(TypeError, match=message):
        Vector(int, 3)(*arguments, **keywords)


def test_output_may_be_operand_and_mask():
    A = Matrix.from_coo([0, 1, 2], [1, 2, 0], [1, 2, 3])
    A(A.S, accum="plus") << A.mxm(A.T)
    assert A.to_dicts() == {0: {1: 1}, 1: {2: 2}, 2: {0: 3}}
    w = Vector.from_coo([0, 1], [1, 2], size=3)
    w << A.mxv(w)
    assert w.to_dict() == {0: 2, 2: 3}


def test_shapes_are_checked_and_nothing_changes():
    w = Vector.from_coo([0], [7], size=3)
    u = Vector.from_coo([0], [1], size=4)
    with pytest.raises(DimensionMismatch):
        w << u.apply("identity")
    with pytest.raises(DimensionMismatch):
        w(u.S) << w.apply("identity")
    assert w.to_dict() == {0: 7}


def test_copies_do_not_share_what_is_written():
    v = Vector.from_dense(np.arange(100.0))
    w = v.dup()
    x = Vector(float, 100)
    x << v
    v[3] = -1.0
    v(accum="plus")[[5, 6]] << 100
    assert (w[3].new(), w[5].new(), x[3].new(), x[5].new()) == (3.0, 5.0, 3.0, 5.0)
    w << w.apply("ainv")
    assert x[99].new() == 99


def test_scalar_accumulates_and_empties():
    s = Scalar.from_value(5)
    s("plus") << Vector.from_coo([0, 1], [1, 2]).reduce()
    assert s == 8
    s("plus") << Vector(int, 3).reduce()
    assert s == 8
    s << Vector(int, 3).reduce()
    assert s.is_empty
    assert s == Scalar(int)
    with pytest.raises(TypeError, match="Mask not allowed for Scalars"):
        s(mask=Vector(bool, 1).S)


def test_options_of_suitesparse_are_accepted_and_others_refused():
    v = Vector.from_coo([0, 1], [1, 2])
    assert v.apply("ainv").new(nthreads=4, AXB_method="dot").to_dict() == {0: -1, 1: -2}
    with pytest.raises(ValueError, match="descriptor"):
        v.dup(bad_option=1)
    assert gb.config.get("autocompute") is True


def test_an_entry_of_one_operand_is_cast_as_suitesparse_casts_it_in_place_too():
    """A lone entry goes to C's type directly: 300.0 saturates in INT8, and NaN is 0."""
    w = gb.Vector.from_coo(np.arange(0, 2000, 2), np.arange(1000) % 50 + 1, "INT8", size=4000)
    assert w._store.format == "bitmap" and w[2].value == 2
    w(gb.binary.plus) << gb.Vector.from_coo([1, 2, 3], [300.0, 2.0, float("nan")], size=4000)
    assert [w[k].value for k in (1, 2, 3)] == [127, 4, 0]


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32", "FC64"])
@pytest.mark.parametrize("kind", ["?", "i1", "u2", "i4", "u8", "f4", "f8", "c8", "c16", "O", "U1", "S1", "M8[s]"])
def test_arrays_and_lists_of_every_type(dtype, kind):
    """C[index] = array, and = the list of its values: python-graphblas takes the same, and refuses the same."""

    def written(library, sizes, index, value):
        C = library.Vector(dtype, *sizes) if len(sizes) == 1 else library.Matrix(dtype, *sizes)
        try:
            C[index] = value
        except Exception:
            return "refused"
        return [x.tolist() for x in C.to_coo()]

    every = slice(None)
    for sizes, index, shape in (
        ((4,), every, (4,)), ((4,), [2, 0], (2,)), ((4,), every, (3,)), ((3, 4), (1, every), (4,)),
        ((3, 4), (every, 2), (3,)), ((3, 4), ([2, 0], [1, 3]), (2, 2)), ((3, 4), (every, every), (3, 4)),
        ((3, 4), (every, every), (4, 3)), ((3, 4), (1, 2), ()), ((3, 4), (slice(0, 2), 1), (2,)),
    ):  # fmt: skip
        value = np.arange(1, 1 + math.prod(shape)).reshape(shape).astype(kind)
        value = value * (1 + 2j) if kind[0] == "c" else value
        for given in (value, value.tolist()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy's, of what a cast leaves out
                found, wanted = (written(library, sizes, index, given) for library in (gb, oracle))
            assert found == wanted, (sizes, index, given)
