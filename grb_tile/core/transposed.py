"""TransposedMatrix: `A.T`, a view that operations read in the other orientation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import operations as ops
from ..backends.select import current
from . import kinds
from .arguments import check_options
from .collection import Collection
from .display import format_object
from .display_html import format_object_html
from .expression import MatrixExpression, refuse_in_place
from .matrix_export import MatrixExport
from .matrix_operations import MatrixOperations
from .operand import Operand

if TYPE_CHECKING:
    from typing import Any, Self

    from ..dtypes import DataType
    from .annotations import DTypeLike, MaskLike
    from .matrix import Matrix


@kinds.register
class TransposedMatrix(MatrixOperations, MatrixExport, Collection, Operand):
    """The transpose of a Matrix, as a view; `new` makes a Matrix of it, `T` is the matrix."""

    __slots__ = ("_matrix", "__weakref__")
    ndim = 2
    _is_scalar = False
    _is_transposed = True
    __networkx_backend__ = __networkx_plugin__ = "grb_tile"

    def __init__(self, matrix: Matrix) -> None:
        self._matrix = matrix

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) as seen transposed."""
        nrows, ncols = self._matrix.shape
        return (ncols, nrows)

    @property
    def nrows(self) -> int:
        """The number of rows."""
        return self._matrix.ncols

    @property
    def ncols(self) -> int:
        """The number of columns."""
        return self._matrix.nrows

    _nrows, _ncols = nrows, ncols

    @property
    def nvals(self) -> int:
        """The number of entries."""
        return self._matrix.nvals

    _nvals = nvals

    @property
    def dtype(self) -> DataType:
        """The type of the values."""
        return self._matrix.dtype

    @property
    def name(self) -> str:
        """The matrix's name with .T after it."""
        return f"{self._matrix.name}.T"

    _expr_name = name

    @property
    def _name_html(self):
        return f"{self._matrix._name_html}.T"

    @property
    def gb_obj(self) -> Any:
        """The store of the matrix."""
        return self._matrix._store

    @property
    def T(self) -> Matrix:
        """The matrix."""
        return self._matrix

    def new(
        self, dtype: DTypeLike | None = None, *, mask: MaskLike | None = None, name: str | None = None, **opts: Any
    ) -> Matrix:
        """The transpose as a new Matrix."""
        expr = MatrixExpression(ops.transpose(self._matrix), ("{0.name}", self))
        return expr.new(dtype, mask=mask, name=name, **opts)

    def dup(
        self,
        dtype: DTypeLike | None = None,
        *,
        clear: bool = False,
        mask: MaskLike | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Matrix:
        """Like `new`; an empty Matrix of the same shape with clear=True."""
        if clear:
            if opts:
                check_options(opts)
            return kinds.Matrix(self.dtype if dtype is None else dtype, *self.shape, name=name)
        return self.new(dtype, mask=mask, name=name, **opts)

    def to_coo(
        self,
        dtype: DTypeLike | None = None,
        *,
        rows: bool = True,
        columns: bool = True,
        values: bool = True,
        sort: bool = True,
    ) -> tuple[Any, ...]:
        """(rows, columns, values) in the order of the matrix itself: sorted by columns, then rows."""
        j, i, v = self._matrix.to_coo(dtype, rows=columns, columns=rows, values=values, sort=sort)
        return i, j, v

    def wait(self, how: str = "materialize") -> Self:
        """Merge the pending elements of the matrix."""
        self._matrix.wait(how)
        return self

    def _tuples(self):
        return current().tuples_matrix(current().transpose(self._matrix._store))

    def __bool__(self):
        raise TypeError(
            f"__bool__ not defined for objects of type {type(self)}.  Perhaps use .nvals attribute instead."
        )

    def __repr__(self):
        return format_object(self)

    def _repr_html_(self, collapse=False):
        return format_object_html(self, collapse=collapse)


refuse_in_place(TransposedMatrix)
