"""What constructors refuse: indices that are no integers, and data where a type stands."""

import array
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import grb_tile as gb

WRONG = {
    "half": [0.5], "half beside integers": [1, 0.5], "tuple": (0.5, 1), "NaN": [float("nan")], "Boolean": [True],
    "Boolean beside integers": [2, 1, True], "Boolean of NumPy": [np.False_, 1], "text": ["1"], "bytes": [b"1"],
    "None": [None], "complex": [1j], "Decimal": [Decimal("1.5")], "Fraction": [Fraction(1, 2)],
    "array of floats": np.array([1.0]), "array of halves": np.array([0.5]), "array of Booleans": np.array([True]),
    "array of texts": np.array(["1"]), "array of objects": np.array([1], object), "two axes": np.array([[1]]),
    "lists": [[1]], "buffer of floats": array.array("d", [1.5]), "dates": np.array(["2020"], "M8[Y]"),
}  # fmt: skip
NO_LIST = {"a text": "1", "a set": {1}, "a number": 1}


def constructors(indices, count):
    """Every constructor and method that takes these indices."""
    ones, zeros = [1.0] * count, [0] * count
    M, v = gb.Matrix, gb.Vector
    yield "Vector.from_coo", lambda: v.from_coo(indices, ones, size=9)
    yield "Vector.from_coo, one value", lambda: v.from_coo(indices, 1.0, size=9)
    yield "Vector.build", lambda: v(float, 9).build(indices, ones)
    yield "Matrix.from_coo, rows", lambda: M.from_coo(indices, zeros, ones, nrows=9, ncols=9)
    yield "Matrix.from_coo, columns", lambda: M.from_coo(zeros, indices, ones, nrows=9, ncols=9)
    yield "Matrix.build", lambda: M(float, 9, 9).build(zeros, indices, ones)
    yield "Matrix.from_csr", lambda: M.from_csr([0, count], indices, ones, ncols=9)
    yield "Matrix.from_csc", lambda: M.from_csc([0, count], indices, ones, nrows=9)
    yield "Matrix.from_dcsr", lambda: M.from_dcsr([0], [0, count], indices, ones, nrows=9, ncols=9)
    yield "Vector.ss.build_scalar", lambda: v(float, 9).ss.build_scalar(indices, 1.0)
    yield "Matrix.ss.build_scalar", lambda: M(float, 9, 9).ss.build_scalar(indices, zeros, 1.0)


@pytest.mark.parametrize("what", WRONG)
def test_indices_that_are_no_integers(what):
    for name, call in constructors(WRONG[what], len(WRONG[what])):
        with pytest.raises(ValueError, match="must be integers|must have one dimension"):
            pytest.fail(f"{name}: {call()}")


@pytest.mark.parametrize("what", NO_LIST)
def test_indices_that_are_no_list(what):
    for name, call in constructors(NO_LIST[what], 1):
        with pytest.raises(TypeError, match="must be a list or an array of integers"):
            pytest.fail(f"{name}: {call()}")


@pytest.mark.parametrize(
    "right",
    [
        [1, 3], (1, 3), [1.0, 3.0], [np.int8(1), 3], [np.float32(1), np.uint64(3)], range(1, 4, 2),
        np.array([1, 3], "u1"), np.array([1, 3], ">i4"), array.array("i", [1, 3]), {1: "a", 3: "b"}.keys(),
        np.array([[1, 0], [3, 0]])[:, 0],
    ],
)  # fmt: skip
def test_indices_that_are(right):
    """Whole numbers of any type; a list may have them as floats, as in python-graphblas."""
    assert gb.Vector.from_coo(right, [5, 7], size=9).to_dict() == {1: 5, 3: 7}
    assert gb.Matrix.from_coo(right, [0, 1], 1).shape == (4, 2)


def test_empty_indices_are_of_any_type():
    for nothing in ([], (), np.array([]), np.array([], bool)[:0].astype(int), range(0)):
        assert gb.Vector.from_coo(nothing, [], size=3, dtype=int).nvals == 0


@pytest.mark.parametrize("key", [0.5, True, "1", None])
def test_keys_of_dictionaries(key):
    for call in (
        lambda: gb.Vector.from_dict({key: 1.0, 2: 2.0}),
        lambda: gb.Vector.from_pairs([(key, 1.0)]),
        lambda: gb.Matrix.from_dicts({key: {0: 1.0}}),
        lambda: gb.Matrix.from_dicts({0: {key: 1.0, 3: 1.0}}),
        lambda: gb.Matrix.from_dicts([{key: 1.0}]),
        lambda: gb.Matrix.from_edgelist([(key, 1)]),
        lambda: gb.Matrix.from_edgelist([(0, key, 3.0)]),
    ):
        with pytest.raises(ValueError, match="must be integers"):
            call()
    assert gb.Vector.from_dict({1.0: 5, 3: 7}).to_dict() == {1: 5, 3: 7}


@pytest.mark.parametrize("index", [[True, 1], [0, np.False_], [True], [0.5], ["0"], True, 0.5, "0"])
def test_indices_between_brackets(index):
    v, A = gb.Vector.from_coo([0, 1], [1, 2], size=3), gb.Matrix.from_coo([0], [1], [5], nrows=3, ncols=3)
    for call in (lambda: v[index].new(), lambda: A[index, 0].new(), lambda: A[[0], index].new()):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError):
        v[index] = 3
    assert v.to_dict() == {0: 1, 1: 2}


DATA = {
    "sparse array": (scipy.sparse.eye_array(3), "gb.io.from_scipy_sparse"),
    "sparse matrix": (scipy.sparse.eye(3), "gb.io.from_scipy_sparse"),
    "array": (np.eye(3), "from_dense"),
    "one axis": (np.zeros(3), "from_dense"),
    "list": ([1, 2], "from_dense"),
    "lists": ([[1, 2]], "from_dense"),
    "Matrix": (gb.Matrix(int, 2, 2), r"x\.dup\(\)"),
    "Vector": (gb.Vector(int, 2), r"x\.dup\(\)"),
    "transposed": (gb.Matrix(int, 2, 2).T, r"x\.new\(\)"),
    "dict": ({0: 1}, "from_dict"),
}


@pytest.mark.parametrize("what", DATA)
@pytest.mark.parametrize("cls", [gb.Matrix, gb.Vector])
def test_data_in_the_place_of_the_type(cls, what):
    """SciPy's array has a dtype, and NumPy takes that: the matrix used to be 0 x 0."""
    data, remedy = DATA[what]
    with pytest.raises(TypeError, match=f"gb.{cls.__name__}: the first argument is a type.*{remedy}"):
        cls(data)


def test_types_are_types():
    record = {"a": int, "b": float}
    for dtype in (
        float,
        "INT8",
        "int32",
        np.dtype("u2"),
        np.float32,
        gb.dtypes.BOOL,
        record,
        [("a", int)],
        (int, (2,)),
    ):
        assert gb.Matrix(dtype, 2, 3).shape == (2, 3)
        assert gb.Vector(dtype, 2).dtype == gb.Matrix(dtype).dtype == gb.Scalar(dtype).dtype
    with pytest.raises(ValueError, match="Unknown dtype"):
        gb.Matrix("bogus")
    with pytest.raises(TypeError, match=r"gb.Scalar.*gb\.Scalar\.from_value"):
        gb.Scalar(np.eye(2))


@pytest.mark.parametrize("cls", [gb.Vector, gb.Matrix])
@pytest.mark.parametrize("missing", [0, "a", [0], None])
@pytest.mark.parametrize("shape", [(), (1,), (2, 2), (1, 1, 1)])
def test_shapes_and_missing_values_of_from_dense(cls, missing, shape):
    """A vector, a matrix, elements that are arrays, or an error that names the argument."""
    values = np.ones(shape)
    plain = len(shape) == (1 if cls is gb.Vector else 2)
    nested = len(shape) > (1 if cls is gb.Vector else 2)
    if (plain and (missing == 0 or missing is None)) or (nested and missing is None):
        assert cls.from_dense(values, missing).nvals
        return
    with pytest.raises((TypeError, ValueError)) as caught:
        cls.from_dense(values, missing)
    if plain or nested:
        assert f"{cls.__name__}.from_dense: `missing_value`" in str(caught.value) and repr(missing) in str(caught.value)
