"""Methods of objects by their C names: creation, elements, tuples, sizes, import and export, serialisation.

Spec: GraphBLAS C API 2.1, sections 4.1 (context methods) and 4.2 (object methods).  `wait` and `free` do
nothing: execution is eager, and Python's garbage collector frees objects.
"""

import numpy as np

from ..backends.select import current
from ..core import elements
from ..core.matrix import Matrix
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..dtypes import cast, lookup_dtype
from ..exceptions import DimensionMismatch, InvalidValue, NoValue, OutputNotEmpty
from .operations import _accum, _expect, _indices, _position, _scalar

__all__ = [
    "Matrix_build",
    "Matrix_clear",
    "Matrix_deserialize",
    "Matrix_diag",
    "Matrix_dup",
    "Matrix_export",
    "Matrix_extractElement",
    "Matrix_extractTuples",
    "Matrix_import",
    "Matrix_ncols",
    "Matrix_new",
    "Matrix_nrows",
    "Matrix_nvals",
    "Matrix_removeElement",
    "Matrix_resize",
    "Matrix_serialize",
    "Matrix_setElement",
    "Scalar_clear",
    "Scalar_dup",
    "Scalar_extractElement",
    "Scalar_new",
    "Scalar_nvals",
    "Scalar_setElement",
    "Vector_build",
    "Vector_clear",
    "Vector_dup",
    "Vector_extractElement",
    "Vector_extractTuples",
    "Vector_new",
    "Vector_nvals",
    "Vector_removeElement",
    "Vector_resize",
    "Vector_setElement",
    "Vector_size",
    "error",
    "finalize",
    "free",
    "getVersion",
    "init",
    "wait",
]
_MOST = 2**60


def _dimension(argument, n):
    if isinstance(n, (bool, np.bool_)) or not isinstance(n, (int, np.integer)):
        raise TypeError(f"{argument} is {n!r}; expected an integer")
    if not 0 <= n <= _MOST:
        raise InvalidValue(f"{argument} is {n}; expected 0 .. 2^60")
    return int(n)


def init(mode="blocking"):
    """GrB_init: does nothing (section 4.1.1).  Raises: InvalidValue for another mode than "blocking", "nonblocking"."""
    if mode not in ("blocking", "nonblocking"):
        raise InvalidValue(f"mode is {mode!r}; expected 'blocking' or 'nonblocking'")


def finalize():
    """GrB_finalize: does nothing (section 4.1.2)."""


def getVersion():
    """(version, subversion) of the C API that this module follows (GrB_getVersion, section 4.1.3).

    >>> from grb_tile import grb
    >>> grb.getVersion()
    (2, 1)
    """
    return (2, 1)


def free(obj):
    """GrB_free: does nothing, because Python's garbage collector frees objects (section 4.2.7)."""


def wait(obj, mode=1):
    """GrB_wait: does nothing, because a read merges pending writes and errors are raised at once (section 4.2.8)."""


def error(obj):
    """GrB_error: always "", because errors are raised as exceptions (section 4.2.9)."""
    return ""


def Scalar_new(dtype):
    """An empty Scalar of the type (GrB_Scalar_new)."""
    return Scalar(lookup_dtype(dtype))


def Scalar_dup(s):
    """A copy of s."""
    _expect("Scalar_dup", s=(s, Scalar))
    return s.dup()


def Scalar_clear(s):
    """Remove the value of s."""
    _expect("Scalar_clear", s=(s, Scalar))
    s.clear()


def Scalar_nvals(s):
    """1, or 0 when s is empty."""
    _expect("Scalar_nvals", s=(s, Scalar))
    return int(not s.is_empty)


def Scalar_setElement(s, x):
    """s = x, a number or a Scalar, cast to the type of s.  Raises: EmptyObject for an empty Scalar x."""
    _expect("Scalar_setElement", s=(s, Scalar))
    s.value = _scalar("x", x)


def Scalar_extractElement(s):
    """The value of s.  Raises: NoValue when s is empty."""
    _expect("Scalar_extractElement", s=(s, Scalar))
    if s.is_empty:
        raise NoValue("Scalar_extractElement: s is empty")
    return s.value


def Vector_new(dtype, size):
    """A Vector of the type without entries.  Raises: InvalidValue unless 0 <= size <= 2^60."""
    return Vector(lookup_dtype(dtype), _dimension("size", size))


def Vector_dup(u):
    """A copy of u."""
    _expect("Vector_dup", u=(u, Vector))
    return u.dup()


def Vector_clear(u):
    """Remove all entries."""
    _expect("Vector_clear", u=(u, Vector))
    u.clear()


def Vector_resize(u, size):
    """Change the size of u; entries at positions >= size are removed."""
    _expect("Vector_resize", u=(u, Vector))
    u.resize(_dimension("size", size))


def Vector_size(u):
    """Number of positions."""
    _expect("Vector_size", u=(u, Vector))
    return u.shape[0]


def Vector_nvals(u):
    """Number of stored entries."""
    _expect("Vector_nvals", u=(u, Vector))
    return u.nvals


def _counted(argument, values, n):
    if n is None:
        return values
    if len(values) < n:
        raise DimensionMismatch(f"{argument} has {len(values)} items but n is {n}")
    return values[:n]


def _values(X, n, count, dtype):
    X = np.atleast_1d(np.asarray(_counted("X", X, n)))
    if len(X) not in (1, count):
        raise DimensionMismatch(f"X has {len(X)} values for {count} indices; they must be as many, or one for all")
    return cast(X, dtype)


def Vector_build(w, I, X, n=None, dup=None):
    """w(I(k)) = X(k) for the first n of the arrays (None: all); X may have one value for all.

    dup   the binary operator that combines duplicates; None: they are an InvalidValue
    Raises: OutputNotEmpty when w has entries; IndexOutOfBound, DimensionMismatch for arrays that do not fit.
    """
    _expect("Vector_build", w=(w, Vector))
    if w.nvals:
        raise OutputNotEmpty(f"Vector_build: w has {w.nvals} entries; clear it first")
    I = _indices("I", _counted("I", I, n), w.shape[0])
    values = _values(X, n, len(I), w.dtype)
    dup = _accum("Vector_build", dup, w.dtype, w.dtype, "dup")
    elements.reset(w, current().build_vector(w.shape[0], I, values, dup, w.dtype))


def Vector_setElement(w, x, i):
    """w(i) = x, a number or a Scalar; an empty Scalar removes the entry.  Raises: InvalidIndex."""
    _expect("Vector_setElement", w=(w, Vector))
    i = _position("i", i, w.shape[0])
    if isinstance(x, Scalar) and x.is_empty:
        del w[i]
    else:
        w[i] = x


def Vector_removeElement(w, i):
    """Remove the entry at i if there is one.  Raises: InvalidIndex."""
    _expect("Vector_removeElement", w=(w, Vector))
    del w[_position("i", i, w.shape[0])]


def Vector_extractElement(u, i):
    """u(i).  Raises: NoValue when there is no entry, InvalidIndex."""
    _expect("Vector_extractElement", u=(u, Vector))
    value = u.get(_position("i", i, u.shape[0]))
    if value is None:
        raise NoValue(f"Vector_extractElement: no entry at {i}")
    return value


def Vector_extractTuples(u):
    """(I, X): the indices, ascending, and the values, as NumPy arrays."""
    _expect("Vector_extractTuples", u=(u, Vector))
    return u.to_coo()


def Matrix_new(dtype, nrows, ncols):
    """A Matrix of the type without entries.  Raises: InvalidValue unless 0 <= nrows, ncols <= 2^60."""
    return Matrix(lookup_dtype(dtype), _dimension("nrows", nrows), _dimension("ncols", ncols))


def Matrix_dup(A):
    """A copy of A."""
    _expect("Matrix_dup", A=(A, Matrix))
    return A.dup()


def Matrix_diag(v, k=0):
    """D(i, i + k) = v(i), square of size v.size + |k|; for k < 0, D(i - k, i) = v(i) (section 4.2.5.3)."""
    _expect("Matrix_diag", v=(v, Vector))
    return v.diag(k)


def Matrix_clear(A):
    """Remove all entries."""
    _expect("Matrix_clear", A=(A, Matrix))
    A.clear()


def Matrix_resize(A, nrows, ncols):
    """Change the shape of A; entries outside the new shape are removed."""
    _expect("Matrix_resize", A=(A, Matrix))
    A.resize(_dimension("nrows", nrows), _dimension("ncols", ncols))


def Matrix_nrows(A):
    """Number of rows."""
    _expect("Matrix_nrows", A=(A, Matrix))
    return A.shape[0]


def Matrix_ncols(A):
    """Number of columns."""
    _expect("Matrix_ncols", A=(A, Matrix))
    return A.shape[1]


def Matrix_nvals(A):
    """Number of stored entries."""
    _expect("Matrix_nvals", A=(A, Matrix))
    return A.nvals


def Matrix_build(C, I, J, X, n=None, dup=None):
    """C(I(k), J(k)) = X(k) for the first n of the arrays (None: all); X may have one value for all.

    dup   the binary operator that combines duplicates; None: they are an InvalidValue
    Raises: OutputNotEmpty when C has entries; IndexOutOfBound, DimensionMismatch for arrays that do not fit.
    """
    _expect("Matrix_build", C=(C, Matrix))
    if C.nvals:
        raise OutputNotEmpty(f"Matrix_build: C has {C.nvals} entries; clear it first")
    I = _indices("I", _counted("I", I, n), C.shape[0])
    J = _indices("J", _counted("J", J, n), C.shape[1])
    if len(I) != len(J):
        raise DimensionMismatch(f"Matrix_build: I has {len(I)} indices and J {len(J)}; they must be as many")
    values = _values(X, n, len(I), C.dtype)
    dup = _accum("Matrix_build", dup, C.dtype, C.dtype, "dup")
    elements.reset(C, current().build_matrix(*C.shape, I, J, values, dup, C.dtype))


def Matrix_setElement(C, x, i, j):
    """C(i, j) = x, a number or a Scalar; an empty Scalar removes the entry.  Raises: InvalidIndex."""
    _expect("Matrix_setElement", C=(C, Matrix))
    i, j = _position("i", i, C.shape[0]), _position("j", j, C.shape[1])
    if isinstance(x, Scalar) and x.is_empty:
        del C[i, j]
    else:
        C[i, j] = x


def Matrix_removeElement(C, i, j):
    """Remove the entry at (i, j) if there is one.  Raises: InvalidIndex."""
    _expect("Matrix_removeElement", C=(C, Matrix))
    del C[_position("i", i, C.shape[0]), _position("j", j, C.shape[1])]


def Matrix_extractElement(A, i, j):
    """A(i, j).  Raises: NoValue when there is no entry, InvalidIndex."""
    _expect("Matrix_extractElement", A=(A, Matrix))
    value = A.get(_position("i", i, A.shape[0]), _position("j", j, A.shape[1]))
    if value is None:
        raise NoValue(f"Matrix_extractElement: no entry at ({i}, {j})")
    return value


def Matrix_extractTuples(A):
    """(I, J, X): rows, columns and values as NumPy arrays, in row-major order."""
    _expect("Matrix_extractTuples", A=(A, Matrix))
    return A.to_coo()


_FORMATS = ("CSR_FORMAT", "CSC_FORMAT", "COO_FORMAT")


def Matrix_import(dtype, nrows, ncols, indptr, indices, values, format="CSR_FORMAT"):
    """A Matrix from the arrays of a format (GrB_Matrix_import, section 4.2.5.17 and appendix B).

    CSR_FORMAT   indptr: row pointers, indices: columns
    CSC_FORMAT   indptr: column pointers, indices: rows
    COO_FORMAT   indptr: columns, indices: rows, in this order as in C
    Raises: InvalidValue for another format; InvalidValue or InvalidIndex for arrays that are not of the format.
    """
    if format not in _FORMATS:
        raise InvalidValue(f"format is {format!r}; expected one of {', '.join(_FORMATS)}")
    if format == "CSR_FORMAT":
        return Matrix.from_csr(indptr, indices, values, dtype, nrows=nrows, ncols=ncols)
    if format == "CSC_FORMAT":
        return Matrix.from_csc(indptr, indices, values, dtype, nrows=nrows, ncols=ncols)
    return Matrix.from_coo(indices, indptr, values, dtype, nrows=nrows, ncols=ncols)


def Matrix_export(A, format="CSR_FORMAT"):
    """(indptr, indices, values) as Matrix_import takes them (GrB_Matrix_export, section 4.2.5.16)."""
    _expect("Matrix_export", A=(A, Matrix))
    if format not in _FORMATS:
        raise InvalidValue(f"format is {format!r}; expected one of {', '.join(_FORMATS)}")
    if format == "CSR_FORMAT":
        return A.to_csr()
    if format == "CSC_FORMAT":
        return A.to_csc()
    rows, columns, values = A.to_coo()
    return columns, rows, values


def Matrix_serialize(A):
    """A as bytes in the format of docs/FILE_FORMAT.md (section 4.2.5.19)."""
    from ..io.serialize import serialize

    _expect("Matrix_serialize", A=(A, Matrix))
    return serialize(A)


def Matrix_deserialize(data, dtype=None):
    """The matrix of the bytes.  Raises: DomainMismatch unless it has the type `dtype` (None: any), InvalidObject."""
    from ..exceptions import DomainMismatch
    from ..io.serialize import deserialize

    A = deserialize(data)
    _expect("Matrix_deserialize", A=(A, Matrix))
    if dtype is not None and lookup_dtype(dtype) is not A.dtype:
        raise DomainMismatch(f"Matrix_deserialize: the data has type {A.dtype}, not {lookup_dtype(dtype)}")
    return A
