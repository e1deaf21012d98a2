"""Extract, assign, subassign and single elements against NumPy arrays with NaN for what is missing."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import Matrix, Scalar, Vector
from grb_tile.exceptions import DimensionMismatch

SEED = 20240611


def random_matrix(rng, nrows, ncols, share=0.5):
    dense = rng.integers(1, 100, (nrows, ncols)).astype(float)
    dense[rng.random((nrows, ncols)) > share] = np.nan
    return dense


def matrix_of(dense):
    rows, cols = np.nonzero(~np.isnan(dense))
    return Matrix.from_coo(rows, cols, dense[rows, cols], float, nrows=dense.shape[0], ncols=dense.shape[1])


def dense_of(A):
    out = np.full(A.shape, np.nan)
    *keys, values = A.to_coo()
    out[tuple(key.astype(int) for key in keys)] = values
    return out


INDICES = [slice(None), slice(1, 5, 2), slice(None, None, -1), [4, 0, 2], np.array([5, 1]), slice(3, 3), [-1, -6]]


@pytest.mark.parametrize("rows", INDICES, ids=str)
@pytest.mark.parametrize("cols", INDICES, ids=str)
@pytest.mark.parametrize("transposed", [False, True])
def test_extract_matrix(rows, cols, transposed):
    dense = random_matrix(np.random.default_rng(SEED), 6, 6)
    A = matrix_of(dense).T if transposed else matrix_of(dense)
    expected = (dense.T if transposed else dense)[rows][:, cols]
    np.testing.assert_array_equal(dense_of(A[rows, cols].new()), expected)


@pytest.mark.parametrize("where", INDICES, ids=str)
def test_extract_row_column_and_vector(where):
    dense = random_matrix(np.random.default_rng(SEED), 6, 6)
    A = matrix_of(dense)
    np.testing.assert_array_equal(dense_of(A[2, where].new()), dense[2][where])
    np.testing.assert_array_equal(dense_of(A[where, -1].new()), dense[:, -1][where])
    np.testing.assert_array_equal(dense_of(A.T[where, 3].new()), dense.T[where][:, 3])
    np.testing.assert_array_equal(dense_of(A[2, :].new()[where].new()), dense[2][where])


@pytest.mark.parametrize("where", [i for i in INDICES if not isinstance(i, slice) or i != slice(3, 3)], ids=str)
@pytest.mark.parametrize("accum", [None, "plus"])
def test_assign_matrix(where, accum):
    rng = np.random.default_rng(SEED)
    dense = random_matrix(rng, 6, 6)
    J = [1, 3, 4]
    picked = np.arange(6)[where]
    count = len(picked)
    value = random_matrix(rng, count, 3)
    C = matrix_of(dense)
    C(accum=accum)[where, J] << matrix_of(value)
    expected = dense.copy()
    region = expected[where][:, J]
    if accum is not None:
        both = np.where(np.isnan(region), value, np.where(np.isnan(value), region, region + value))
    else:
        both = value
    expected[np.ix_(picked, J)] = both
    np.testing.assert_array_equal(dense_of(C), expected)


@pytest.mark.parametrize("clear", [False, True])
def test_assign_and_subassign_differ_in_what_the_mask_covers(clear):
    C = Vector.from_coo(range(6), [1, 2, 3, 4, 5, 6])
    M = Vector.from_coo([1, 4], [True, True], size=6)
    C(M.S, replace=clear)[[0, 1, 2]] = 9
    assert C.to_dict() == ({1: 9, 4: 5} if clear else {0: 1, 1: 9, 2: 3, 3: 4, 4: 5, 5: 6})
    C = Vector.from_coo(range(6), [1, 2, 3, 4, 5, 6])
    m = Vector.from_coo([1], [True], size=3)
    C[[0, 1, 2]](m.S, replace=clear) << 9
    assert C.to_dict() == ({1: 9, 3: 4, 4: 5, 5: 6} if clear else {0: 1, 1: 9, 2: 3, 3: 4, 4: 5, 5: 6})


def test_rows_columns_lists_and_scalars():
    A = Matrix(int, 3, 3)
    A[0, :] = [1, 2, 3]
    A[:, 2] << Vector.from_coo([1], [7], size=3)
    assert A.to_dicts() == {0: {0: 1, 1: 2}, 1: {2: 7}}
    A[[1, 2], [0, 1]] = [[5, 6], [7, 8]]
    assert A.to_dense(0).tolist() == [[1, 2, 0], [5, 6, 7], [7, 8, 0]]
    mask = Vector.from_coo([0, 2], [True, True], size=3)
    A(mask.S)[0, :] = 100
    assert A.to_dense(0).tolist() == [[100, 2, 100], [5, 6, 7], [7, 8, 0]]
    A[[0, 1], :] = Scalar(int)  # an empty Scalar deletes
    assert A.to_dicts() == {2: {0: 7, 1: 8}}
    del A[2, 0]
    assert A.to_dicts() == {2: {1: 8}}
    with pytest.raises(ValueError, match="shape mismatch"):
        A[0, :] = [1, 2]
    with pytest.raises(DimensionMismatch):
        A[0, :] = Vector(int, 2)


def test_many_elements_one_by_one():
    rng = np.random.default_rng(SEED)
    A, v, model, line = Matrix(int, 40, 40), Vector(int, 60), {}, {}
    for step in range(2000):
        i, j, x = (int(k) for k in rng.integers(0, 40, 3))
        if x < 8:
            del A[i, j]
            del v[i]
            model.pop((i, j), None)
            line.pop(i, None)
        else:
            A[i, j] = x
            v[i] = x
            model[i, j] = line[i] = x
        if step % 97 == 0:  # a read in between merges
            assert A.nvals == len(model)
            assert v.nvals == len(line)
        assert A.get(i, j) == model.get((i, j))
        assert v.get(i) == line.get(i)
        assert ((i, j) in A) == ((i, j) in model)
    assert {(int(i), int(j)): x for i, j, x in zip(*A.to_coo(), strict=True)} == model
    assert v.to_dict() == line


@pytest.mark.parametrize("kind", ["sparse", "bitmap", "full", "iso", "matrix", "iso matrix"])
def test_a_few_elements_into_many(kind):
    rng = np.random.default_rng(SEED)
    size = 3000
    present = np.arange(size) if kind == "full" else np.sort(rng.choice(size, 1500 if kind == "bitmap" else 200, False))
    values = 7 if "iso" in kind else rng.integers(1, 9, present.size)
    if "matrix" in kind:
        x = Matrix.from_coo(present // 60, present % 60, values, nrows=50, ncols=60)
        held = np.broadcast_to(values, present.size)
        before = {(k // 60, k % 60): v for k, v in zip(present.tolist(), held, strict=True)}
    else:
        x = Vector.from_coo(present, values, size=size)
        before = dict(zip(present.tolist(), np.broadcast_to(values, present.size).tolist(), strict=True))
    copy, model = x.dup(), dict(before)
    for _ in range(6):
        for key in rng.choice(size, 12, False).tolist():
            key = (key // 60, key % 60) if "matrix" in kind else key
            if rng.random() < 0.4:
                del x[key]
                model.pop(key, None)
            else:
                x[key] = model[key] = int(rng.integers(10, 99))
        assert x.nvals == len(model)
    *keys, held = (part.tolist() for part in x.to_coo())
    found = dict(zip(keys[0] if len(keys) == 1 else zip(*keys, strict=True), held, strict=True))
    assert found == model
    assert copy.nvals == len(before)


def test_an_element_of_a_huge_object():
    v, A = Vector(float, 2**60), Matrix(float, 2**60, 2**60)
    v[2**59] = 1.5
    A[2**59, 7] = 2.5
    assert v[2**59].new() == 1.5
    assert A[2**59, 7].value == 2.5
    assert v[0].new().is_empty
    assert A.nvals == v.nvals == 1


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (7, IndexError), (-8, IndexError), ([0, 7], IndexError), (1.5, TypeError), ("a", TypeError), ((0,), TypeError),
        ([True, False], TypeError), (np.array([1.5]), TypeError), ([[1]], TypeError), (True, TypeError),
        (None, TypeError),
    ],
    ids=str,
)  # fmt: skip
def test_refused_indices(index, error):
    v = Vector.from_coo([0, 6], [1, 2])
    with pytest.raises(error):
        v[index].new()
    with pytest.raises(error):
        v[index] = 5
    assert v.to_dict() == {0: 1, 6: 2}


@pytest.mark.parametrize("where", [range(1, 8, 3), range(7, 0, -2), range(5, -1, -1), range(3, 3), range(8)])
def test_ranges_are_the_positions_that_they_list(where):
    v = Vector.from_dense(np.arange(10, 18))
    assert v[where].new().to_dense().tolist() == [10 + k for k in where]
    A = Matrix.from_dense(np.arange(64).reshape(8, 8))
    assert A[where, where].new().isequal(A[list(where), list(where)].new())
    v[where] << 0
    assert v.to_dense().tolist() == [0 if k in where else 10 + k for k in range(8)]


@pytest.mark.parametrize(
    ("kind", "values"),
    [([("a", np.int32), ("b", np.float64)], [(1, 2.0), (3, 4.0)]), ((np.int32, 3), [[1, 2, 3], [4, 5, 6]])],
    ids=["fields", "array"],
)
def test_lists_assigned_to_user_defined_types(kind, values):
    dtype = gb.dtypes.register_anonymous(np.dtype(kind))
    for assigned in (values, np.array(values, np.int32) if isinstance(kind, tuple) else np.array(values, kind)):
        v = Vector(dtype, 3)
        v[[0, 2]] = assigned
        assert v.to_coo()[0].tolist() == [0, 2] and v.to_coo()[1].tolist() == values


def test_masks_are_not_indices():
    v = Vector.from_coo([0, 6], [1, 2])
    for mask in (v, v.S):
        with pytest.raises(TypeError, match="apply a mask"):
            v[mask]
    with pytest.raises(TypeError, match="2-tuple"):
        Matrix(int, 2, 2)[0]
    assert v[gb.Scalar.from_value(6)].new() == 2


def test_input_mask():
    v = Vector.from_coo([0, 1, 2, 3], [1, 2, 3, 4])
    m = Vector.from_coo([1, 3], [True, True], size=4)
    assert v[[3, 2, 1]].new(input_mask=m.S).to_dict() == {0: 4, 2: 2}
    w = Vector(int, 3)
    w(input_mask=m.S) << v[[3, 2, 1]]
    assert w.to_dict() == {0: 4, 2: 2}
    with pytest.raises(ValueError, match="input_mask"):
        v[[0]].new(input_mask=Vector(bool, 3).S)


def test_input_masks_of_another_size_are_named():
    v, A = gb.Vector.from_coo([0], [1], size=4), gb.Matrix.from_coo([0], [0], [1], nrows=3, ncols=4)
    other, B = gb.Vector(bool, 5), gb.Matrix(bool, 4, 3)
    for call, text in (
        (lambda: v[:2].new(input_mask=other.S), "Size of `input_mask` does not match size of input"),
        (lambda: A[:2, :].new(input_mask=B.S), "Shape of `input_mask` does not match shape of input"),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_input_masks_of_rows_and_columns():
    A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 3, 1], [5, 6, 7, 8], nrows=3, ncols=4)
    rows, columns = (gb.Vector.from_coo([0, 1], [True, True], size=n) for n in (3, 4))
    assert A[[0, 2], 1].new(input_mask=rows.S).to_dict() == {0: 5}
    assert A[1, [3, 0]].new(input_mask=columns.S).to_dict() == {1: 6}
    assert A[1, [3, 0]].new(input_mask=~columns.S).to_dict() == {0: 7}
    for call, text in (
        (lambda: A[[0, 2], 1].new(input_mask=columns.S), "nrows of Matrix"),
        (lambda: A[1, [3, 0]].new(input_mask=rows.S), "ncols of Matrix"),
    ):
        with pytest.raises(ValueError, match=f"Size of `input_mask` Vector does not match {text}"):
            call()


@pytest.mark.parametrize("index", [range(-4, 5, 2), range(4, -5, -3), range(-1, 2), range(3, -3, -1)])
def test_ranges_on_both_sides_of_zero(index):
    """As the list of the same positions: negative ones count from the end."""
    values = np.arange(10) * 10
    v, A = gb.Vector.from_dense(values), gb.Matrix.from_dense(np.arange(100).reshape(10, 10))
    assert v[index].new().to_dense().tolist() == values[list(index)].tolist()
    assert A[index, index].new().to_dense().tolist() == np.arange(100).reshape(10, 10)[np.ix_(index, index)].tolist()
    v[index] = 7
    values[list(index)] = 7
    assert v.to_dense().tolist() == values.tolist()
