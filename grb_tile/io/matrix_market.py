"""Matrix Market files: mmread, mmwrite, mminfo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.io.build import matrix_from_triples
from grb_tile.io.errors import bad_file, missing_library
from grb_tile.io.market_header import COMMENT_TYPES, read_header
from grb_tile.io.market_read import read_market
from grb_tile.io.streams import Source, Target

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DTypeLike, DupOp, Readable, Writable
    from .market_header import Header

ENGINES = ("auto", "scipy", "fmm", "fast_matrix_market")
# Types that the banner determines need no comment.
PLAIN_TYPES = ("INT64", "FP64", "FC64")


def _check_engine(engine):
    if engine.lower() not in ENGINES:
        raise ValueError(f'Bad engine value: {engine!r}. Must be "auto", "scipy", "fmm", or "fast_matrix_market"')


def mmread(
    source: Readable,
    engine: str = "auto",
    *,
    dup_op: DupOp | None = None,
    name: str | None = None,
    dtype: DTypeLike | None = None,
    graphblas_types: bool = True,
    progress: bool | None = None,
    **kwargs: Any,
) -> Matrix:
    """The Matrix in a Matrix Market file.

    Parameters
    ----------
    source : path or open file (bytes or text); plain, or .gz, .bz2, .xz, recognised by content
    engine : for compatibility; all names select scipy.io, which contains the fast_matrix_market engine
    dup_op : how equal entries combine; None: they are an error
    name : of the matrix
    dtype : of the matrix; default: that of a `%%GraphBLAS type` comment, otherwise INT64, FP64 or FC64 by the banner's
        field; FP64 with all values 1 (iso) for `pattern`
    graphblas_types : False ignores the comment
    progress : True, False, or None: on stderr when that is a terminal and the file is large

    Returns
    -------
    Matrix

    Raises
    ------
    BadFile (an InvalidValue and a ValueError)
        names the file, the line, the error and the remedy; no entry is dropped silently
    ImportError
        scipy is missing

    References: NISTIR 5935 (the format); LAGraph_MMRead.c (the comment).

    >>> import io
    >>> from grb_tile.io import mmread
    >>> text = "%%MatrixMarket matrix coordinate integer symmetric\\n3 3 2\\n2 1 5\\n3 3 7\\n"
    >>> A = mmread(io.StringIO(text))
    >>> A.nvals, A.dtype.name
    (3, 'INT64')
    """
    _check_engine(engine)
    kwargs.pop("parallelism", None)
    kwargs.pop("long_type", None)
    kwargs.pop("spmatrix", None)
    if kwargs:
        raise TypeError(f"mmread() got an unexpected keyword argument {next(iter(kwargs))!r}")
    with Source(source) as stream:
        triples = read_market(stream, types=graphblas_types, progress=progress)
    if triples.dense is not None:
        from grb_tile import Matrix

        return Matrix.from_dense(triples.dense, dtype=dtype, name=name)
    try:
        return matrix_from_triples(
            triples.nrows,
            triples.ncols,
            triples.rows,
            triples.cols,
            triples.values,
            dtype=dtype,
            dup_op=dup_op,
            name=name,
        )
    except ValueError as error:
        if dup_op is None and "uplicate" in str(error):
            raise bad_file(stream.name, None, str(error).rstrip("."), "") from None
        raise


def mminfo(source: Readable) -> Header:
    """The header of a Matrix Market file: format, field, symmetry, nrows, ncols, entries, type_name, comments.

    >>> import io
    >>> from grb_tile.io import mminfo
    >>> h = mminfo(io.StringIO("%%MatrixMarket matrix coordinate pattern general\\n3 4 1\\n2 1\\n"))
    >>> h.nrows, h.ncols, h.entries, h.field
    (3, 4, 1, 'pattern')
    """
    with Source(source) as stream:
        return read_header(stream)


def mmwrite(
    target: Writable,
    matrix: Matrix,
    engine: str = "auto",
    *,
    comment: str = "",
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = None,
    **kwargs: Any,
) -> None:
    """Write `matrix` as a Matrix Market file.

    Parameters
    ----------
    target : path (.mtx is appended when it has no known ending; .mtx.gz, .mtx.bz2, .mtx.xz compress) or binary file
    matrix : Matrix
    comment : text for the header of the file
    field : "real", "complex", "pattern" or "integer"; default: by the type, "pattern" for an all-true BOOL
    precision : digits of real and complex values; default: enough to read the same values back
    symmetry : "general", "symmetric", "skew-symmetric" or "hermitian"; default: detected from the values

    Types that the banner does not determine (INT8, FP32, BOOL ...) are written in a `%%GraphBLAS type` comment, so
    that mmread gives the same type.
    """
    _check_engine(engine)
    kwargs.pop("parallelism", None)
    if kwargs:
        raise TypeError(f"mmwrite() got an unexpected keyword argument {next(iter(kwargs))!r}")
    try:
        from scipy.io import mmwrite as write
        from scipy.sparse import coo_array
    except ImportError:  # pragma: no cover
        raise missing_library("scipy", "write Matrix Market files") from None
    rows, cols, values = matrix.to_coo()
    if matrix.dtype.name == "BOOL" and field is None:
        field = "pattern" if values.all() else "integer"
    if values.dtype.kind == "b":
        values = values.astype(np.int8)  # SciPy writes no Booleans
    if matrix.dtype.name not in PLAIN_TYPES and field != "pattern" or matrix.dtype.name == "BOOL":
        c_name = next((c for c, numpy in COMMENT_TYPES.items() if numpy == matrix.dtype.np_type.name), None)
        if c_name is not None and _field_fits(field, matrix.dtype.np_type):
            comment = f"%GraphBLAS type {c_name}" + (f"\n{comment}" if comment else "")
    array = coo_array((values, (rows, cols)), shape=matrix.shape)
    if hasattr(target, "write"):
        write(target, array, comment=comment, field=field, precision=precision, symmetry=symmetry)
        return
    path = str(target)
    if not path.endswith((".mtx", ".gz", ".bz2", ".xz")):
        path += ".mtx"
    with Target(path) as out:
        write(_Plain(out.stream), array, comment=comment, field=field, precision=precision, symmetry=symmetry)


class _Plain:
    """A stream without seek for SciPy's engine, because compressed streams cannot seek."""

    def __init__(self, stream):
        self.write = stream.write
        self.flush = stream.flush


def _field_fits(field, np_type):
    """Can values written as `field` be read as the type?"""
    return field is None or field in ("pattern", "integer", "real") and np_type.kind != "c"
