"""Matrix Market files: mmread, mmwrite, mminfo."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.core.arguments import flags, flags_or_none, name_of_choice
from grb_tile.dtypes import lookup_dtype
from grb_tile.io.build import matrix_from_triples
from grb_tile.io.errors import bad_file, missing_library
from grb_tile.io.labels import matrix_counted_from_one
from grb_tile.io.market_header import COMMENT_TYPES, LONGEST_HEADER, read_header
from grb_tile.io.market_read import read_market
from grb_tile.io.streams import Target, opened
from grb_tile.io.symmetry import KINDS, symmetry_of

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DTypeLike, DupOp, Readable, Writable
    from .market_header import Header

ENGINES = ("auto", "scipy", "fmm", "fast_matrix_market")
# Types that the banner's field determines: written without a type comment.
PLAIN_TYPES = ("INT64", "FP64", "FC64")
KNOWN_TYPES = {lookup_dtype(numpy).name: c for c, numpy in COMMENT_TYPES.items()}


def _check_engine(engine):
    if name_of_choice(engine, "engine") not in ENGINES:
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
    dup_op : combines the values of one position; None: duplicates are an error
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
    flags(graphblas_types=graphblas_types)
    flags_or_none(progress=progress)
    _check_engine(engine)
    kwargs.pop("parallelism", None)
    kwargs.pop("long_type", None)
    kwargs.pop("spmatrix", None)
    if kwargs:
        raise TypeError(f"mmread() got an unexpected keyword argument {next(iter(kwargs))!r}")
    with opened(source) as stream:
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

    Raises: BadFile for an invalid header.

    >>> import io
    >>> from grb_tile.io import mminfo
    >>> h = mminfo(io.StringIO("%%MatrixMarket matrix coordinate pattern general\\n3 4 1\\n2 1\\n"))
    >>> h.nrows, h.ncols, h.entries, h.field
    (3, 4, 1, 'pattern')
    """
    with opened(source) as stream:
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
    matrix : Matrix; or a Graph, or what a reader gave, without labels or with those of a file numbered from 1
    comment : text for the header of the file
    field : "real", "complex", "pattern" or "integer"; default: by the type, "pattern" for an all-true BOOL
    precision : digits of real and complex values; default: enough to read the same values back
    symmetry : "general", "symmetric", "skew-symmetric" or "hermitian"; default: detected from the values, zeros with
        their signs

    Types that the banner does not determine (INT8, FP32, BOOL ...) are written in a `%%GraphBLAS type` comment, from
    which mmread restores them.  The file appears complete or not at all.

    Raises: ValueError when `field` cannot hold the values exactly or the matrix has not that `symmetry`; TypeError for
    user-defined types; ImportError where SciPy is missing.
    """
    _check_engine(engine)
    kwargs.pop("parallelism", None)
    if kwargs:
        raise TypeError(f"mmwrite() got an unexpected keyword argument {next(iter(kwargs))!r}")
    matrix = matrix_counted_from_one(matrix, "Matrix Market")
    values, field, comment = _contents(matrix, field, comment)
    symmetry = _symmetry(matrix, field, symmetry)
    if not hasattr(target, "write"):
        target = os.fsdecode(target)
        special = os.path.exists(target) and not os.path.isfile(target)
        if not target.endswith((".mtx", ".gz", ".bz2", ".xz")) and not special:
            target += ".mtx"
    with Target(target) as out:
        if matrix.nvals:
            _write(out.stream, matrix, values, comment, field, precision, symmetry)
        else:  # SciPy would write the field `pattern`
            lines = ["%MatrixMarket matrix coordinate " + f"{field} general", *comment.split("\n")]
            text = "".join(f"%{line}\n" for line in lines) + f"{matrix.nrows} {matrix.ncols} 0\n"
            out.stream.write(text.encode())


def _contents(matrix, field, comment):
    """(values as written, field, comment with the type), checked so that mmread restores the values."""
    dtype = matrix.dtype
    if dtype.name not in KNOWN_TYPES:
        raise TypeError(f"Matrix Market files do not support the user-defined type {dtype.name}")
    if field is not None and field not in ("real", "complex", "pattern", "integer"):
        raise ValueError(f'Invalid field {field!r}. Must be "real", "complex", "pattern" or "integer"')
    if len(comment) > LONGEST_HEADER // 8:
        raise ValueError(f"the comment has {len(comment)} characters, {LONGEST_HEADER // 8} fit into a header")
    values = matrix.to_coo(rows=False, columns=False)[2]
    comment = re.sub("(?im)^(?=%+graphblas)", " ", comment)  # no line of the user's is read as a type comment
    by_type = {"c": "complex", "f": "real"}.get(dtype.np_type.kind, "integer")
    if field is None:
        field = "pattern" if dtype.name == "BOOL" and values.all() else by_type
    if dtype.name == "BOOL" or dtype.name not in PLAIN_TYPES and field != "pattern":
        if field != "complex" or by_type == "complex":
            comment = f"%GraphBLAS type {KNOWN_TYPES[dtype.name]}" + (f"\n{comment}" if comment else "")
    if field == "pattern":
        return values, field, comment
    if values.dtype.kind == "b":
        values = values.astype(np.int8)  # SciPy writes no Booleans
    if field != by_type:
        kind = {"real": np.float64, "complex": np.complex128, "integer": np.int64}[field]
        with np.errstate(all="ignore"):
            wide = (values if field == "complex" else values.real).astype(kind)
        if not _same_numbers(values, wide):
            raise ValueError(f"field={field!r} cannot hold the values of {dtype.name} exactly: use field={by_type!r}")
        values = wide
    return values, field, comment


def _same_numbers(values, wide):
    """Are the numbers equal?  Compared as integers where one side has them, because FP64 is exact up to 2^53 only."""
    if values.dtype.kind in "iu" and wide.dtype.kind in "fc":
        return bool((np.abs(wide.real) < 2.0**63).all()) and bool((wide.real.astype(np.int64) == values).all())
    if wide.dtype.kind in "iu" and not (np.abs(values.real) < 2.0**63).all():
        return False
    with np.errstate(all="ignore"):
        return bool(((values == wide) | np.isnan(values) & np.isnan(wide)).all())


def _symmetry(matrix, field, wish):
    """The symmetry that is written: `wish`, checked, or the detected one for None."""
    if wish is not None and wish not in KINDS:
        raise ValueError(f"Invalid symmetry {wish!r}. Must be one of: {', '.join(KINDS)}")
    if wish == "general":
        return wish
    found = symmetry_of(matrix, field == "pattern")
    if wish is None:
        return found[0]
    if wish not in found:
        raise ValueError(f"symmetry={wish!r}: the matrix is not {wish}; pass symmetry=None, which finds it out")
    return wish


def _write(stream, matrix, values, comment, field, precision, symmetry):
    try:
        from scipy.io import mmwrite as write
        from scipy.sparse import coo_array
    except ImportError:  # pragma: no cover
        raise missing_library("scipy", "write Matrix Market files") from None
    rows, cols = matrix.to_coo(values=False)[:2]
    if symmetry != "general":
        lower = rows >= cols
        rows, cols, values = rows[lower], cols[lower], values[lower]
    if values.dtype.kind in "iu" and values.dtype != np.uint64:
        values = values.astype(np.int64)  # with smaller types SciPy 1.17 writes indices modulo 2^32
    array = coo_array((values, (rows, cols)), shape=matrix.shape)
    field = "pattern" if field == "pattern" else None
    write(_Plain(stream), array, comment=comment, field=field, precision=precision, symmetry=symmetry)


class _Plain:
    """A stream without seek for SciPy's engine, because compressed streams cannot seek."""

    def __init__(self, stream):
        self.write = stream.write
        self.flush = stream.flush
