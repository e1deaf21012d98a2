"""Operations of Matrix and of TransposedMatrix; a transposed operand is its matrix and a flag."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from .. import operations as ops
from ..exceptions import NotImplementedException
from ..operators import get_typed_op
from . import elements, kinds, recipes
from .arguments import expect_op, expect_type
from .collection import aggregate, default_op, find_aggregator, reduce_expression, refuse_empty
from .expression import MatrixExpression, VectorExpression
from .index import Resolved
from .indexed import MatrixIndexExpr, ScalarIndexExpr, VectorIndexExpr
from .operand import MatrixOperand

if TYPE_CHECKING:
    from typing import Any

    from .annotations import MatrixLike, OperatorLike, Position, Positions, VectorLike
    from .expression import ScalarExpression

_NEEDS_POSITION = {"argmin", "argmax", "first_index", "last_index"}


class MatrixOperations(MatrixOperand):
    """Mixin: what can be computed from a matrix, transposed or not."""

    __slots__ = ()

    # ---------------------------------------------------------------- indexing

    @overload
    def __getitem__(self, keys: tuple[Position, Position]) -> ScalarIndexExpr: ...
    @overload
    def __getitem__(self, keys: tuple[Position, Positions]) -> VectorIndexExpr: ...
    @overload
    def __getitem__(self, keys: tuple[Positions, Position]) -> VectorIndexExpr: ...
    @overload
    def __getitem__(self, keys: tuple[Positions, Positions]) -> MatrixIndexExpr: ...
    @overload
    def __getitem__(self, keys: Any) -> Any: ...
    def __getitem__(self, keys: Any) -> MatrixIndexExpr | VectorIndexExpr | ScalarIndexExpr:
        """A[i, j], A[I, J], A[i, J], A[I, j]: to extract (`.new()`) or to assign to (`<<`).

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A[0, 1].new().value
        2
        >>> A[:, [1]].new().to_dense().tolist()
        [[2], [3]]
        >>> A[0, :] << 7
        >>> A.to_dicts()
        {0: {0: 7, 1: 7}, 1: {1: 3}}
        """
        resolved = Resolved(self, keys)
        count = len(resolved.shape)
        if count == 2:
            return MatrixIndexExpr(self, resolved)
        return VectorIndexExpr(self, resolved) if count else ScalarIndexExpr(self, resolved)

    def __contains__(self, index):
        resolved = Resolved(self, index)
        if resolved.shape:
            raise TypeError(
                f"Invalid index to Matrix contains: {index!r}.  A 2-tuple of ints is expected.  "
                "Doing `(i, j) in my_matrix` checks whether a value is present at that index."
            )
        return self._element(resolved) is not None

    def __iter__(self):
        """(row, column) of the entries, ascending.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> [(int(i), int(j)) for i, j in A]
        [(0, 0), (0, 1), (1, 1)]
        """
        rows, columns, _ = self.to_coo(values=False)
        return zip(rows.flat, columns.flat, strict=True)

    def get(self, row: int, col: int, default: Any = None) -> Any:
        """The element at (row, col) as a Python scalar, `default` where there is none.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.get(0, 1), A.get(1, 0), A.get(1, 0, default=-1)
        (2, None, -1)
        """
        resolved = Resolved(self, (row, col))
        if resolved.shape:
            raise ValueError(
                "Bad row, col arguments in Matrix.get(...).  "
                "Indices should get a single element, and the result will be a Python scalar."
            )
        value = self._element(resolved)
        return default if value is None else value if self.dtype._is_udt else value.item()

    def _element(self, resolved):
        if self._is_transposed:
            return elements.get(self._matrix, resolved.key[::-1])
        return elements.get(self, resolved.key)

    # ---------------------------------------------------------------- products

    def mxm(self, other: MatrixLike, op: OperatorLike | None = None) -> MatrixExpression:
        """C = A (+.x) B.

        Shapes: A is m x k, B is k x n, C is m x n.  Types: `op` (semiring.plus_times by default) decides.
        Raises: DimensionMismatch; TypeError when `op` is no semiring.
        Spec: GraphBLAS C API 2.1, section 4.3.1.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.mxm(A).new().to_dense(0).tolist()
        [[1, 8], [0, 9]]
        >>> A.mxm(A, gb.semiring.min_plus).new().to_dicts()
        {0: {0: 2, 1: 3}, 1: {1: 6}}
        """
        if type(other) is not kinds.Matrix:
            other = expect_type(
                self, other, (kinds.Matrix, kinds.TransposedMatrix), within="mxm", argname="other", op=op
            )
        op = get_typed_op(op or default_op("semiring", "plus_times"), self.dtype, other.dtype, kind="semiring")
        if op.opclass != "Semiring":
            expect_op(self, op, "Semiring", within="mxm", argname="op")
        A, at = (self._matrix, True) if self._is_transposed else (self, False)
        B, bt = (other._matrix, True) if other._is_transposed else (other, False)
        return MatrixExpression(ops.mxm(A, B, op, at, bt), ("{0.name}.mxm({1.name}, op={2})", self, other, op))

    def mxv(
        self, other: VectorLike, op: OperatorLike | None = None, *, reuse: VectorLike | None = None
    ) -> VectorExpression:
        """w = A (+.x) v.

        Shapes: A is m x n, v has n places, w has m.  Types: `op` (semiring.plus_times by default) decides.
        reuse: a hint, a vector of v's size that may take v's place where the product is computed row-wise,
        because the caller knows that what is written is the same: BFS may give the visited vertices for the
        frontier, since w(~visited.S) has no other neighbours of them. A row then stops at its first visited neighbour,
        and the frontier is not converted (operand reuse, push_pull_graphblas_icpp18, section 5.4). The result is wrong
        where that does not hold; it is not checked.
        Raises: DimensionMismatch, also for `reuse`; TypeError when `op` is no semiring, `reuse` no vector.
        Spec: GraphBLAS C API 2.1, section 4.3.3.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> v = gb.Vector.from_dense([10, 1])
        >>> A.mxv(v).new().to_dict()
        {0: 12, 1: 3}
        """
        if type(other) is not kinds.Vector:
            other = expect_type(self, other, kinds.Vector, within="mxv", argname="other", op=op)
        op = get_typed_op(op or default_op("semiring", "plus_times"), self.dtype, other.dtype, kind="semiring")
        if op.opclass != "Semiring":
            expect_op(self, op, "Semiring", within="mxv", argname="op")
        if reuse is not None:
            reuse = expect_type(self, reuse, kinds.Vector, within="mxv", argname="reuse", op=op)
        A = self._matrix if self._is_transposed else self
        record = ops.mxv(A, other, op, self._is_transposed, reuse)
        return VectorExpression(record, ("{0.name}.mxv({1.name}, op={2})", self, other, op))

    def kronecker(self, other: MatrixLike, op: OperatorLike | None = None) -> MatrixExpression:
        """C(i p + k, j q + l) = op(A(i, j), B(k, l)) for a p x q matrix B; binary.times by default.

        Spec: GraphBLAS C API 2.1, section 4.3.12.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.kronecker(A).new().shape, A.kronecker(A).new()[3, 3].new().value
        ((4, 4), 9)
        """
        other = expect_type(
            self, other, (kinds.Matrix, kinds.TransposedMatrix), within="kronecker", argname="other", op=op
        )
        op = get_typed_op(op or default_op("binary", "times"), self.dtype, other.dtype, kind="binary")
        expect_op(self, op, ("BinaryOp", "Monoid"), within="kronecker", argname="op")
        shown, op = op, op.binaryop if op.opclass == "Monoid" else op
        A, at = (self._matrix, True) if self._is_transposed else (self, False)
        B, bt = (other._matrix, True) if other._is_transposed else (other, False)
        text = ("{0.name}.kronecker({1.name}, op={2})", self, other, shown)
        return MatrixExpression(ops.kronecker(A, B, op, at, bt), text)

    def power(self, n: int, op: OperatorLike | None = None) -> MatrixExpression:
        """A (+.x) A (+.x) ... of n factors, by repeated squaring; n = 0 gives the multiply's identity on the diagonal.

        Raises: DimensionMismatch unless square; TypeError, ValueError unless n is a whole number >= 0.

        Examples:
        >>> gb.Matrix.from_coo([0, 1], [1, 2], [2, 3], nrows=3, ncols=3).power(2).new().to_dicts()
        {0: {2: 6}}
        """
        return recipes.power(self, n, op or default_op("semiring", "plus_times"))

    # ---------------------------------------------------------------- reductions

    def reduce_rowwise(self, op: OperatorLike | None = None) -> VectorExpression:
        """w(i) = (+)_j A(i, j); rows without entries have none in w.

        op: Monoid (monoid.plus by default), a BinaryOp that belongs to one, or an Aggregator.
        Spec: GraphBLAS C API 2.1, section 4.3.10.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.reduce_rowwise().new().to_dict()
        {0: 3, 1: 3}
        >>> A.reduce_rowwise(gb.agg.count).new().to_dict()
        {0: 2, 1: 1}
        """
        return self._reduce_to_vector(op, "rowwise")

    def reduce_columnwise(self, op: OperatorLike | None = None) -> VectorExpression:
        """w(j) = (+)_i A(i, j); see reduce_rowwise.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.reduce_columnwise(gb.monoid.max).new().to_dict()
        {0: 1, 1: 3}
        """
        return self._reduce_to_vector(op, "columnwise")

    def _reduce_to_vector(self, op, kind):
        aggregator = None if op is None else find_aggregator(op)
        if aggregator is not None:
            return aggregate(self, aggregator, kind, f"reduce_{kind}")
        op = get_typed_op(op or default_op("monoid", "plus"), self.dtype, kind="binary")
        if op.opclass == "BinaryOp":
            if op.monoid is None:
                raise NotImplementedException(
                    f"reduce_{kind} needs a monoid, and {op} belongs to none; make one with "
                    "Monoid.register_anonymous(op, identity)"
                )
            op = op.monoid
        expect_op(self, op, ("Monoid", "Aggregator"), within=f"reduce_{kind}", argname="op")
        A, at = (self._matrix, True) if self._is_transposed else (self, False)
        record = ops.reduce_rows(A, op, at != (kind == "columnwise"))
        return VectorExpression(record, (f"{{0.name}}.reduce_{kind}({{1}})", self, op))

    def reduce_scalar(self, op: OperatorLike | None = None, *, allow_empty: bool = True) -> ScalarExpression:
        """s = (+)_ij A(i, j); empty when A is, or the monoid's identity with allow_empty=False.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.reduce_scalar().new().value, A.reduce_scalar(gb.monoid.max).new().value
        (6, 3)
        """
        aggregator = None if op is None else find_aggregator(op)
        if aggregator is not None:
            if aggregator.name in _NEEDS_POSITION:
                raise ValueError(f"Aggregator {aggregator.name} may not be used with Matrix.reduce_scalar.")
            if not allow_empty:
                return refuse_empty(self, aggregator, "reduce_scalar")
            return aggregate(self, aggregator, "scalar", "reduce_scalar")
        return reduce_expression(self, op or default_op("monoid", "plus"), allow_empty, "reduce_scalar")

    def reposition(
        self, row_offset: int, column_offset: int, *, nrows: int | None = None, ncols: int | None = None
    ) -> MatrixExpression:
        """C(i + row_offset, j + column_offset) = A(i, j), of A's shape or as given; what falls outside is dropped.

        Examples:
        >>> gb.Matrix.from_coo([0], [1], [5], nrows=3, ncols=3).reposition(1, 1).new().to_dicts()
        {1: {2: 5}}
        """
        return recipes.reposition_matrix(self, row_offset, column_offset, nrows, ncols)
