"""TransposedMatrix: `A.T`, a view that operations read in the other orientation."""

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


@kinds.register
class TransposedMatrix(MatrixOperations, MatrixExport, Collection):
    """The transpose of a Matrix; `new` makes a Matrix of it, `T` gives the original back."""

    __slots__ = ("_matrix", "__weakref__")
    ndim = 2
    _is_scalar = False
    _is_transposed = True
    __networkx_backend__ = __networkx_plugin__ = "grb_tile"

    def __init__(self, matrix):
        self._matrix = matrix

    @property
    def shape(self):
        """(rows, columns) as seen transposed."""
        nrows, ncols = self._matrix.shape
        return (ncols, nrows)

    @property
    def nrows(self):
        """How many rows."""
        return self._matrix.ncols

    @property
    def ncols(self):
        """How many columns."""
        return self._matrix.nrows

    _nrows, _ncols = nrows, ncols

    @property
    def nvals(self):
        """How many entries."""
        return self._matrix.nvals

    _nvals = nvals

    @property
    def dtype(self):
        """The type of the values."""
        return self._matrix.dtype

    @property
    def name(self):
        """The matrix's name with .T after it."""
        return f"{self._matrix.name}.T"

    _expr_name = name

    @property
    def _name_html(self):
        return f"{self._matrix._name_html}.T"

    @property
    def gb_obj(self):
        """The store of the matrix."""
        return self._matrix._store

    @property
    def T(self):
        """The matrix."""
        return self._matrix

    def new(self, dtype=None, *, mask=None, name=None, **opts):
        """The transpose as a new Matrix."""
        expr = MatrixExpression(ops.transpose(self._matrix), ("{0.name}", self))
        return expr.new(dtype, mask=mask, name=name, **opts)

    def dup(self, dtype=None, *, clear=False, mask=None, name=None, **opts):
        """Like `new`; an empty Matrix of the same shape with clear=True."""
        if clear:
            if opts:
                check_options(opts)
            return kinds.Matrix(self.dtype if dtype is None else dtype, *self.shape, name=name)
        return self.new(dtype, mask=mask, name=name, **opts)

    def to_coo(self, dtype=None, *, rows=True, columns=True, values=True, sort=True):
        """(rows, columns, values) in the order of the matrix itself: sorted by columns, then rows."""
        j, i, v = self._matrix.to_coo(dtype, rows=columns, columns=rows, values=values, sort=sort)
        return i, j, v

    def wait(self, how="materialize"):
        """Bring pending elements in."""
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
