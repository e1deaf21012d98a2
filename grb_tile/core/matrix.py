"""Matrix: a sparse matrix of a GraphBLAS type.

Spec: GraphBLAS C API 2.1, sections 3.5.3 (matrices) and 4.2.5 (their methods).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from .. import operations as ops
from ..backends.select import current
from ..dtypes import FP64
from ..storage.constructors import empty_matrix, vector_of_column
from . import elements, kinds, recipes, recorder
from .arguments import check_options, dimension, scalar_of, type_argument
from .base import ToolsProperty
from .expression import MatrixExpression, forward_public
from .index import position
from .indexed import MatrixIndexExpr
from .infix import MatrixInfixExpr
from .matrix_build import MatrixBuild
from .matrix_export import MatrixExport
from .matrix_operations import MatrixOperations
from .stored import Stored
from .transposed import TransposedMatrix
from .updater import Updater

if TYPE_CHECKING:
    from typing import Any

    from .annotations import ArrayLike, DTypeLike, MaskLike, OperatorLike, ScalarLike, VectorLike
    from .ss import MatrixTools


@kinds.register
class Matrix(MatrixOperations, MatrixBuild, MatrixExport, Stored):
    """An nrows x ncols matrix of type `dtype`, empty at first.

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1], [1, 2], [3, 4], nrows=3, ncols=3)
    >>> A.nvals, A.shape, A.dtype
    (2, (3, 3), INT64)
    """

    __slots__ = (
        "_dtype",
        "name",
        "_shape",
        "_nrows",
        "_ncols",
        "_store",
        "_pending",
        "_base",
        "_exported",
        "__weakref__",
    )
    ndim = 2
    __networkx_backend__ = __networkx_plugin__ = "grb_tile"
    _name_counter = itertools.count()
    if TYPE_CHECKING:
        ss: MatrixTools
    else:
        ss = ToolsProperty("MatrixTools")
    _expression_type = MatrixExpression

    def __init__(self, dtype: DTypeLike = FP64, nrows: int = 0, ncols: int = 0, *, name: str | None = None) -> None:
        self._dtype = dtype = type_argument(dtype, "Matrix")
        self._set_shape(dimension(nrows, "nrows"), dimension(ncols, "ncols"))
        self.name = f"M_{next(Matrix._name_counter)}" if name is None else name
        self._pending = None
        self._store = empty_matrix(self._nrows, self._ncols, dtype)
        if recorder.active is not None:
            recorder.note_new(self)

    @classmethod
    def _from_store(cls, store, dtype=None, name=None):
        self = cls.__new__(cls)
        self._dtype = store.dtype if dtype is None else dtype
        self._set_shape(store.nrows, store.ncols)
        self.name = f"M_{next(Matrix._name_counter)}" if name is None else name
        self._pending = None
        self._store = store
        return self

    def _set_shape(self, nrows, ncols):
        self._nrows = nrows
        self._ncols = ncols
        self._shape = (nrows, ncols)

    # ---------------------------------------------------------------- what it is

    @property
    def nrows(self) -> int:
        """The number of rows.

        Examples:
        >>> gb.Matrix(float, 2, 5).nrows
        2
        """
        return self._nrows

    @property
    def ncols(self) -> int:
        """The number of columns."""
        return self._ncols

    @property
    def T(self) -> TransposedMatrix:
        """The transpose, as a view.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.T.new().to_dense(0).tolist()
        [[1, 0], [2, 3]]
        """
        return TransposedMatrix(self)

    def _tuples(self):
        return current().tuples_matrix(self._store)

    # ---------------------------------------------------------------- elements

    def __setitem__(self, keys: Any, value: Any, **opts: Any) -> None:
        """Write an element or a submatrix: a scalar, an object of the indices' shape, or an expression.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A[1, 0] = 9
        >>> A[0, :] = 7
        >>> A.to_dense().tolist()
        [[7, 7], [9, 3]]
        """
        if opts:
            check_options(opts)
        if type(keys) is tuple and type(value) in (int, float, bool) and recorder.active is None:
            if len(keys) == 2 and type(keys[0]) is int and type(keys[1]) is int:
                where = position(keys[0], self._nrows), position(keys[1], self._ncols)
                elements.put(self, where, scalar_of(value, self.dtype))
                return
        Updater(self)[keys] = value

    # ---------------------------------------------------------------- whole-object changes

    def clear(self) -> None:
        """Remove all entries.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.clear()
        >>> A.nvals, A.shape
        (0, (2, 2))
        """
        elements.note_write(self)
        elements.reset(self, empty_matrix(self._nrows, self._ncols, self.dtype))
        self._log("clear")

    def resize(self, nrows: int, ncols: int) -> None:
        """Change the shape; entries outside a smaller one are dropped.

        Examples:
        >>> A = gb.Matrix.from_dense([[1, 2], [0, 3]], missing_value=0)
        >>> A.resize(1, 3)
        >>> A.shape, A.to_dicts()
        ((1, 3), {0: {0: 1, 1: 2}})
        """
        nrows, ncols = dimension(nrows, "nrows"), dimension(ncols, "ncols")
        elements.note_write(self)
        self._store = ops.resize_matrix(self._store, nrows, ncols)
        self._set_shape(nrows, ncols)
        self._log("resize", f"{nrows}, {ncols}")

    def setdiag(
        self,
        values: VectorLike | ScalarLike | ArrayLike,
        k: int = 0,
        *,
        mask: MaskLike | None = None,
        accum: OperatorLike | None = None,
        **opts: Any,
    ) -> None:
        """A(i, i + k) = values(i) for a Vector, an array, a list or a scalar.

        mask   Vector mask over the diagonal, or a Matrix mask, of which the diagonal counts
        accum  combines the values there are with the new ones
        Raises: IndexError for a diagonal that does not exist, DimensionMismatch for values of another length.

        Examples:
        >>> A = gb.Matrix(int, 3, 3)
        >>> A.setdiag([1, 2, 3])
        >>> A.to_dicts()
        {0: {0: 1}, 1: {1: 2}, 2: {2: 3}}
        """
        recipes.setdiag(self, values, k, mask, accum, opts)

    def _as_vector(self, *, name=None):
        """The Vector of the only column."""
        if self._ncols != 1:
            raise ValueError(f"Matrix must have a single column (not {self._ncols}) to be cast to a Vector")
        self._store.shared = True
        return kinds.Vector._from_store(vector_of_column(self._store), self.dtype, self.name if name is None else name)


for _cls in (MatrixExpression, MatrixIndexExpr, MatrixInfixExpr):
    forward_public(_cls, Matrix)
