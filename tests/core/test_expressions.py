"""Expressions, infix forms, calls of operators, Python's operators, autocompute."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import Matrix, Scalar, Vector, agg, binary, indexunary, monoid, op, select, semiring, unary
from grb_tile.exceptions import DimensionMismatch, EmptyObject


@pytest.fixture
def A():
    return Matrix.from_coo([0, 0, 1, 2], [0, 1, 2, 0], [1, 2, 3, 4], name="A")


@pytest.fixture
def B():
    return Matrix.from_coo([0, 1, 2], [1, 1, 2], [10, 20, 30], name="B")


@pytest.fixture
def v():
    return Vector.from_coo([0, 2], [5, 7], size=3, name="v")


def same(expr, other):
    return expr.new().isequal(other.new(), check_dtype=True)


def test_calls_are_methods(A, B, v):
    assert same(op.plus(A | B), A.ewise_add(B, binary.plus))
    assert same(monoid.min(A | B), A.ewise_add(B, "min"))
    assert same(binary.minus(A & B), A.ewise_mult(B, binary.minus))
    assert same(op.minus(A | B, left_default=1, right_default=2), A.ewise_union(B, "minus", 1, 2))
    assert same(semiring.min_plus(A @ B), A.mxm(B, "min_plus"))
    assert same(semiring.max_first(A.T @ v), A.T.mxv(v, "max_first"))
    assert same(semiring.min_plus(v @ A), v.vxm(A, "min.plus"))
    assert semiring.min_plus(v @ v).new() == v.inner(v, "min_plus").new()
    assert same(unary.ainv(A), A.apply("ainv"))
    assert same(binary.plus(A, 3), A.apply("plus", right=3))
    assert same(binary.minus(3, A.T), A.T.apply("minus", left=3))
    assert same(select.tril(A, -1), A.select("tril", -1))
    assert same(indexunary.rowindex(A, 1), A.apply(indexunary.rowindex, 1))
    assert agg.sum(v).new() == 12
    assert same(op.plus(A | B | A), A.ewise_add(B).new().ewise_add(A))
    assert same(semiring.plus_times(A @ B @ A), A.mxm(B).new().mxm(A))


def test_default_operators(A, B, v):
    assert same(A @ B, A.mxm(B, semiring.plus_times))
    assert same(A @ v, A.mxv(v))
    assert same(v @ A, v.vxm(A))
    assert (v @ v).new() == 74
    P, Q = A.dup(bool), B.dup(bool)
    assert same(P | Q, P.ewise_add(Q, "lor"))
    assert same(P & Q, P.ewise_mult(Q, "land"))
    with pytest.raises(TypeError, match="Bad dtypes for `x | y`"):
        (A | B).new()
    with pytest.raises(TypeError, match="cannot be mixed"):
        op.plus(A | B & A)


def test_python_operators(A, B, v):
    assert same(A + B, A.ewise_add(B, "plus"))
    assert same(A - B, A.ewise_union(B, "minus", 0, 0))
    assert same(A * B, A.ewise_mult(B, "times"))
    assert same(A / 2, A.apply("truediv", right=2))
    assert same(2 // A, A.apply("floordiv", left=2))
    assert same(A % 2, A.apply(binary.numpy.mod, right=2))
    assert same(A**2, A.apply("pow", right=2))
    assert same(A > 2, A.apply("gt", right=2))
    assert abs(-A).new().isequal(A)
    assert same(~A.dup(bool), A.dup(bool).apply("lnot"))
    assert same(v + 1, v.apply("plus", right=1))
    w = v.dup()
    w += v
    w *= 2
    assert w.to_dict() == {0: 20, 2: 28}
    w -= 1
    assert w.to_dict() == {0: 19, 2: 27}
    s = Scalar.from_value(3)
    s += 4
    assert s == 7
    assert (2 - s).new() == -5
    with pytest.raises(TypeError, match="only supported for BOOL"):
        ~A


def test_select_by_comparison(A, v):
    assert select.value(A > 1).new().nvals == 3
    assert select.row(A <= 1).new().to_dicts() == {0: {0: 1, 1: 2}, 1: {2: 3}}
    assert select.row(A < 1).new().to_dicts() == {0: {0: 1, 1: 2}}
    assert select.column(A >= 2).new().to_dicts() == {1: {2: 3}}
    assert select.index(v > 0).new().to_dict() == {2: 7}
    assert same(A.select(A > 1), select.value(A > 1))
    assert A.select(Matrix.from_coo([0], [1], True, nrows=3, ncols=3).S).new().to_dicts() == {0: {1: 2}}
    assert A.select(A.T > 2).new().to_dicts() == {}  # where A.T has an entry above 2, A has none
    with pytest.raises(TypeError, match="Typical usage"):
        select.value(A)


def test_autocompute(A, v):
    expr = A.mxv(v)
    assert expr.nvals == 3
    assert expr[0].value == 5
    assert expr.to_dict() == {0: 5, 1: 21, 2: 20}
    assert (1 in expr, list(expr)) == (True, [0, 1, 2])
    assert A.mxv(A.mxv(v)).isequal(A.mxv(A.mxv(v).new()))
    assert A.reduce_scalar() == 10
    assert float(A.reduce_scalar()) == 10.0
    with gb.config.set(autocompute=False):
        with pytest.raises(TypeError, match="autocompute"):
            expr.nvals
        with pytest.raises(TypeError, match="autocompute"):
            A.mxv(A.mxv(v))
        with pytest.raises(TypeError, match="autocompute"):
            1 in expr
        assert expr.new().nvals == 3
    with pytest.raises(AttributeError):
        expr.nonsense
    with pytest.raises(AttributeError):
        expr.clear


def test_expressions_read_their_operands_when_computed(A, v):
    expr = A.mxv(v)
    v[0] = 100
    assert expr.new()[0].new() == 100


def test_reductions(A, v):
    assert A.reduce_rowwise().new().to_dict() == {0: 3, 1: 3, 2: 4}
    assert A.reduce_columnwise("max").new().to_dict() == {0: 4, 1: 2, 2: 3}
    assert A.T.reduce_rowwise().new().isequal(A.reduce_columnwise().new())
    assert A.T.reduce_scalar("times").new() == 24
    assert Vector(int, 3).reduce().new().is_empty
    assert Vector(int, 3).reduce(allow_empty=False).new() == 0
    assert A.reduce_rowwise(agg.mean).new().to_dict() == {0: 1.5, 1: 3.0, 2: 4.0}
    with pytest.raises(TypeError, match="not known to be part of a Monoid"):
        v.reduce("minus")
    with pytest.raises(ValueError, match="allow_empty"):
        v.reduce(agg.mean, allow_empty=False)


def test_wrong_operators_name_the_remedy(A, v):
    with pytest.raises(TypeError, match="Expected type: Semiring"):
        A.mxm(A, binary.plus)
    with pytest.raises(TypeError, match=r"You may do `plus_times\.binaryop` or `plus_times\.monoid`"):
        A.ewise_add(A, semiring.plus_times)
    with pytest.raises(TypeError, match="apply only accepts"):
        A.apply(binary.plus)
    with pytest.raises(TypeError, match="both `left` and `right`"):
        A.apply(binary.plus, 1, left=2)
    with pytest.raises(TypeError, match="Literal scalars also accepted"):
        A.apply(binary.plus, right=v)
    with pytest.raises(EmptyObject):
        A.apply(binary.plus, right=Scalar(int))
    with pytest.raises(TypeError, match="Bad type for argument `other`"):
        A.mxv(A)


def test_defaults_of_a_union_leave_no_place_for_a_second_operand(A):
    for arguments in ((A | A, A), (A & A,), (A,)):
        with pytest.raises(TypeError, match="implies performing `ewise_union`"):
            op.plus(*arguments, left_default=1, right_default=2)


def test_shapes(A, v):
    wide = Matrix(int, 2, 5)
    for make in (
        lambda: wide.mxm(wide), lambda: wide @ v, lambda: v @ wide, lambda: wide | A, lambda: wide.ewise_mult(A),
        lambda: wide.ewise_add(v), lambda: v.ewise_mult(wide), lambda: v.inner(Vector(int, 2)), lambda: wide.power(2),
    ):  # fmt: skip
        with pytest.raises(DimensionMismatch):
            make()


def test_vector_broadcasts_over_matrix(A, v):
    dense, line = A.to_dense(0), v.to_dense(0)
    by_rows = A.ewise_mult(v, "times").new().to_dense(0)
    np.testing.assert_array_equal(by_rows, dense * line[None, :])
    by_columns = v.ewise_mult(A, "times").new().to_dense(0)
    np.testing.assert_array_equal(by_columns, dense * line[:, None])
    assert A.ewise_add(v, "plus").new().nvals == 7


def test_recipes(A, v):
    assert same(A.power(5), A.mxm(A).new().mxm(A).new().mxm(A).new().mxm(A))
    assert A.power(0).new().to_dicts() == {i: {i: 1} for i in range(3)}
    assert A.power(0).new().dtype == A.dtype
    assert A.reposition(1, -1).new().to_dicts() == {1: {0: 2}, 2: {1: 3}}
    assert v.reposition(1, size=5).new().to_dict() == {1: 5, 3: 7}
    C = A.dup()
    C.setdiag([7, 8, 9])
    assert C.diag().to_dict() == {0: 7, 1: 8, 2: 9}
    C.setdiag(Vector.from_coo([1], [1], size=2), k=1)
    assert C.diag(1).to_dict() == {1: 1}
    C.setdiag(1, accum="plus", mask=Vector.from_coo([0], True, size=3).S)
    assert C.diag().to_dict() == {0: 8, 1: 8, 2: 9}
    with pytest.raises(IndexError, match="too large"):
        C.setdiag(1, k=3)
    with pytest.raises(ValueError, match="nonnegative"):
        A.power(-1)


def test_masks_combine(A, B):
    S, T = A.S, B.S
    both = (S & T).new().to_dicts()
    assert both == {0: {1: True}}
    assert (S | T).new().nvals == 6
    assert (S & ~T).new().nvals == 3
    assert (~S & ~T).new().nvals == 9 - 6
    assert (~S | T).new().nvals == 9 - 3
    assert S.new(complement=True).nvals == 5
    with pytest.raises(TypeError, match="__bool__"):
        bool(S)


def test_texts(A, v):
    for x in (
        A,
        A.T,
        A.S,
        ~v.V,
        v,
        Scalar(int),
        A.mxv(v),
        A @ v,
        A | A,
        A[0, 1],
        A[[0], :],
        v[0],
        A.reduce_scalar(),
        gb.Matrix(int, 2**60, 2**60),
        A.power(3),
    ):
        assert "gb." in repr(x) or "Mask" in repr(x)
        assert "<" in x._repr_html_()
    assert "A.mxv(v, op=semiring.plus_times[INT64])" in repr(A.mxv(v))
    assert "A[0, :]" in repr(A[0, :])
    assert repr(Scalar.from_value(3, name="s")).splitlines() == ['"s"        value  dtype', "gb.Scalar      3  INT64"]


@pytest.mark.parametrize("engine", ["numpy", "numba", "reference"])
@pytest.mark.parametrize(
    ("dtype", "values"),
    [("UINT64", [0, 1, 2**63]), ("INT8", [-128, -1, 0, 44, 127]), ("UINT8", [0, 44, 255]), ("FP32", [-1.5, 0, 2.5])],
)
def test_select_compares_a_thunk_of_another_type_as_a_number(dtype, values, engine):
    """docs/DIFFERENCES.md: python-graphblas reads the thunk's bytes as the values' type."""
    v = gb.Vector.from_coo(range(len(values)), values, dtype=dtype)
    with gb.plan(force=engine):
        for thunk in (-1, 0, 300, 2.5, -1.5, 2**40):
            for name, keeps in (("gt", lambda x, y: x > y), ("eq", lambda x, y: x == y), ("le", lambda x, y: x <= y)):
                found = v.select(f"value{name}", thunk).new().to_coo()[0].tolist()
                assert found == [i for i, x in enumerate(values) if keeps(x, thunk)], (name, thunk)


def test_a_scalar_without_a_name_is_shown_by_its_value():
    A = gb.Matrix.from_coo([0], [0], [3], name="A")
    v = gb.Vector.from_coo([0], [1], name="v")
    named, unnamed = (gb.Scalar.from_value(7, name=name) for name in ("seven", ""))
    for call in (
        lambda s: A.apply("minus", right=s),
        lambda s: A.apply("minus", left=s),
        lambda s: A.ewise_union(A, "plus", s, s),
        lambda s: v.select(">", s),
        lambda s: A + s,
    ):
        assert repr(call(unnamed)).replace(" ", "") == repr(call(7)).replace(" ", "")
        assert "seven" in repr(call(named)) and "7" not in repr(call(named)).split("\n")[1]
