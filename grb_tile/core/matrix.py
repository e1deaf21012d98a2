"""Matrix: a sparse matrix of a GraphBLAS type.

Spec: GraphBLAS C API 2.1, section 3.7 (matrices), 4.2.5 (their methods).
"""
import itertools
from operator import attrgetter

from .. import operations as ops
from ..backends.select import current
from ..dtypes import FP64, lookup_dtype
from ..storage.embed import empty_matrix, vector_of_column
from . import elements, recipes, recorder
from .arguments import check_options, dimension, scalar_of
from .base import BaseType, ToolsProperty
from .build import pickled_store, restore
from .collection import Collection
from .expression import MatrixExpression, forward_public
from .index import position
from .indexed import MatrixIndexExpr
from .infix import MatrixInfixExpr
from .mask import StructuralMask, ValueMask
from .matrix_build import MatrixBuild
from .matrix_export import MatrixExport
from .matrix_operations import MatrixOperations
from .transposed import TransposedMatrix
from .updater import Updater


class Matrix(MatrixOperations, MatrixBuild, MatrixExport, Collection, BaseType):
    """An nrows x ncols matrix of type `dtype`, empty at first.

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1], [1, 2], [3, 4], nrows=3, ncols=3)
    >>> A.nvals, A.shape, A.dtype
    (2, (3, 3), INT64)
    """

    __slots__ = ("dtype", "name", "_shape", "_nrows", "_ncols", "_store", "_pending", "_base", "__weakref__")
    shape = property(attrgetter("_shape"), doc="The dimensions, as a tuple; resize() changes them.")
    ndim = 2
    _is_transposed = False
    __networkx_backend__ = __networkx_plugin__ = "grb_tile"
    _name_counter = itertools.count()
    ss = ToolsProperty("MatrixTools")
    _expression_type = MatrixExpression

    def __init__(self, dtype=FP64, nrows=0, ncols=0, *, name=None):
        self.dtype = dtype = lookup_dtype(dtype)
        self._set_shape(dimension(nrows, "nrows"), dimension(ncols, "ncols"))
        self.name = f"M_{next(Matrix._name_counter)}" if name is None else name
        self._pending = None
        self._store = empty_matrix(self._nrows, self._ncols, dtype)
        if recorder.active is not None:
            recorder.note_new(self)

    @classmethod
    def _from_store(cls, store, dtype=None, name=None):
        self = cls.__new__(cls)
        self.dtype = store.dtype if dtype is None else dtype
        self._set_shape(store.nrows, store.ncols)
        self.name = f"M_{next(Matrix._name_counter)}" if name is None else name
        self._pending = None
        self._store = store
        return self

    def _set_shape(self, nrows, ncols):
        self._nrows = nrows
        self._ncols = ncols
        self._shape = (nrows, ncols)

    def __getattr__(self, name):
        if name == "_store":          # taken away while elements are pending: see elements.py
            return elements.merge(self)
        raise AttributeError(f"'Matrix' object has no attribute {name!r}")

    def __reduce__(self):
        return restore, (Matrix, pickled_store(self._store), self.dtype, self.name)

    # ---------------------------------------------------------------- what it is

    @property
    def nrows(self):
        """How many rows."""
        return self._nrows

    @property
    def ncols(self):
        """How many columns."""
        return self._ncols

    @property
    def nvals(self):
        """How many entries."""
        return self._store.nvals

    _nvals = nvals

    @property
    def nbytes(self):
        """Bytes of the arrays that hold the entries."""
        return self._store.nbytes

    @property
    def gb_obj(self):
        """The store that holds the entries."""
        return self._store

    @property
    def S(self):
        """Mask: where there is an entry."""
        return StructuralMask(self)

    @property
    def V(self):
        """Mask: where the entry is true."""
        return ValueMask(self)

    @property
    def T(self):
        """The transpose, as a view."""
        return TransposedMatrix(self)

    def __sizeof__(self):
        return object.__sizeof__(self) + self._store.nbytes

    def storage(self):
        """A report on how the entries are stored."""
        from ..storage.report import report

        return report(self._store)

    def wait(self, how="materialize"):
        """Bring pending elements in.  Raises: ValueError unless `how` is "materialize" or "complete"."""
        from .scalar import check_wait

        check_wait(how)
        self._store  # noqa: B018  (merges)
        return self

    def _tuples(self):
        return current().tuples_matrix(self._store)

    # ---------------------------------------------------------------- elements

    def __setitem__(self, keys, value, **opts):
        if opts:
            check_options(opts)
        if type(keys) is tuple and type(value) in (int, float, bool) and recorder.active is None:
            if len(keys) == 2 and type(keys[0]) is int and type(keys[1]) is int:
                where = position(keys[0], self._nrows), position(keys[1], self._ncols)
                elements.put(self, where, scalar_of(value, self.dtype))
                return
        Updater(self)[keys] = value

    def __delitem__(self, keys, **opts):
        if opts:
            check_options(opts)
        del Updater(self)[keys]

    def _assign_element(self, resolved, value):
        from .vector import _element_value

        value = _element_value(self, value)
        elements.put(self, resolved.key, elements.ABSENT if value is None else value)
        if recorder.active is not None:
            what = "removeElement" if value is None else f"setElement_{self.dtype}"
            i, j = resolved.key
            recorder.record(f"GrB_Matrix_{what}({self.name}, {'' if value is None else f'{value}, '}{i}, {j});")

    def _delete_element(self, resolved):
        elements.put(self, resolved.key, elements.ABSENT)
        if recorder.active is not None:
            recorder.record(f"GrB_Matrix_removeElement({self.name}, {resolved.key[0]}, {resolved.key[1]});")

    # ---------------------------------------------------------------- whole-object changes

    def clear(self):
        """Remove all entries."""
        self._pending = None
        self._store = empty_matrix(self._nrows, self._ncols, self.dtype)
        if recorder.active is not None:
            recorder.record(f"GrB_Matrix_clear({self.name});")

    def resize(self, nrows, ncols):
        """Change the shape; entries outside a smaller one are dropped."""
        nrows, ncols = dimension(nrows, "nrows"), dimension(ncols, "ncols")
        self._store = ops.resize_matrix(self._store, nrows, ncols)
        self._set_shape(nrows, ncols)
        if recorder.active is not None:
            recorder.record(f"GrB_Matrix_resize({self.name}, {nrows}, {ncols});")

    def dup(self, dtype=None, *, clear=False, mask=None, name=None, **opts):
        """A copy, of type `dtype`, of what `mask` lets through; empty with clear=True."""
        if opts:
            check_options(opts)
        if clear:
            return Matrix(self.dtype if dtype is None else dtype, self._nrows, self._ncols, name=name)
        if mask is not None:
            return MatrixExpression(ops.copy(self)).new(dtype, mask=mask, name=name)
        dtype = self.dtype if dtype is None else lookup_dtype(dtype)
        store = current().cast(self._store, dtype)
        store.shared = self._store.shared = True          # arrays are copied by whoever writes first
        out = Matrix._from_store(store, dtype, name)
        if recorder.active is not None:
            recorder.record(f"GrB_Matrix_dup(&{out.name}, {self.name});")
        return out

    def setdiag(self, values, k=0, *, mask=None, accum=None, **opts):
        """A(i, i + k) = values(i) for a Vector, an array, a list or a scalar.

        mask   Vector mask over the diagonal, or a Matrix mask, of which the diagonal counts
        accum  combines the values there are with the new ones
        Raises: IndexError for a diagonal that does not exist, DimensionMismatch for values of another length.
        """
        recipes.setdiag(self, values, k, mask, accum, opts)

    def _as_vector(self, *, name=None):
        """The Vector of the only column."""
        from .vector import Vector

        if self._ncols != 1:
            raise ValueError(f"Matrix must have a single column (not {self._ncols}) to be cast to a Vector")
        self._store.shared = True
        return Vector._from_store(vector_of_column(self._store), self.dtype, self.name if name is None else name)


for _cls in (MatrixExpression, MatrixIndexExpr, MatrixInfixExpr):
    forward_public(_cls, Matrix)

