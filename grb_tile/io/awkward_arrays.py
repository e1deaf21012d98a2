"""Awkward Arrays to and from Matrix and Vector, in the layout that python-graphblas uses.

    vec, csr, csc        fields `values` and `indices` (lists of each row or column)
    hypercsr, hypercsc   the same for the non-empty rows or columns, and `offset_labels`, their indices

The parameters "format" and "shape" of the array complete it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from grb_tile.io.errors import missing_library

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.vector import Vector

MATRIX_FORMATS = ("csr", "csc", "hypercsr", "hypercsc")


def _awkward(purpose):
    try:
        import awkward
    except ImportError:
        raise missing_library("awkward", purpose) from None
    return awkward


def to_awkward(A: Matrix | Vector, format: str | None = None) -> Any:
    """awkward.Array of a Matrix (format "csr", "csc", "hypercsr" or "hypercsc"; default "csr") or Vector ("vec").

    Raises: ValueError for another format; ImportError where awkward is missing.
    """
    ak = _awkward("make awkward arrays")
    vector = len(A.shape) == 1
    format = ("vec" if vector else "csr") if format is None else format.lower()
    if vector != (format == "vec") or not vector and format not in MATRIX_FORMATS:
        raise ValueError(f"Invalid format for {'Vector' if vector else 'Matrix'}: {format}")
    if vector:
        indices, values = A.to_coo()
        layout = _record(ak, values, indices)
        return ak.with_parameter(ak.with_parameter(ak.Array(layout), "format", format), "shape", list(A.shape))
    A, labels = cast("Matrix", A), None
    if format.startswith("hyper"):
        labels, indptr, indices, values = A.to_dcsr() if format == "hypercsr" else A.to_dcsc()
    else:
        indptr, indices, values = A.to_csr() if format == "csr" else A.to_csc()
    lists = ak.contents.ListOffsetArray(
        ak.index.Index64(np.ascontiguousarray(indptr, np.int64)), _record(ak, values, indices)
    )
    if labels is not None:
        labels = ak.contents.NumpyArray(np.ascontiguousarray(labels, np.int64))
        lists = ak.contents.RecordArray([lists, labels], ["data", "offset_labels"])
    out = ak.with_parameter(ak.with_parameter(ak.Array(lists), "format", format), "shape", list(A.shape))
    return ak.with_name(out, _hyper_name(ak)) if labels is not None else out


def _record(ak, values, indices):
    contents = [
        ak.contents.NumpyArray(np.ascontiguousarray(values)),
        ak.contents.NumpyArray(np.ascontiguousarray(indices, np.int64)),
    ]
    return ak.contents.RecordArray(contents, ["values", "indices"])


def _hyper_name(ak):
    """Register, once, the behaviour that gives the outer array the `values` and `indices` of its inner lists."""
    name = "grb_tile_doubly_compressed"
    if ("*", name) not in ak.behavior:

        class DoublyCompressed(ak.Array):
            @property
            def values(self):
                return self.data.values

            @property
            def indices(self):
                return self.data.indices

        ak.behavior["*", name] = DoublyCompressed
    return name


def from_awkward(A: Any, *, name: str | None = None) -> Matrix | Vector:
    """Matrix or Vector of an awkward.Array with the fields and parameters that to_awkward writes.

    Raises: ValueError for missing parameters or an unknown format; ImportError where awkward is missing.
    """
    from grb_tile import Matrix, Vector

    _awkward("read awkward arrays")
    parameters = A.layout.parameters
    if missing := {"format", "shape"} - parameters.keys():
        raise ValueError(f"Missing parameters: {missing}")
    format, shape = parameters["format"], parameters["shape"]
    if len(shape) == 1:
        if format != "vec":
            raise ValueError(f"Invalid format for Vector: {format}")
        return Vector.from_coo(A.indices.layout.data, A.values.layout.data, size=shape[0], name=name)
    if format not in MATRIX_FORMATS:
        raise ValueError(f"Invalid format for Matrix: {format}")
    nrows, ncols = shape
    lists = A.data if format.startswith("hyper") else A
    values, indices = lists.values.layout, lists.indices.layout
    arrays = (np.asarray(values.offsets.data), np.asarray(indices.content.data), np.asarray(values.content.data))
    if format == "csr":
        return Matrix.from_csr(*arrays, ncols=ncols, name=name)
    if format == "csc":
        return Matrix.from_csc(*arrays, nrows=nrows, name=name)
    make = Matrix.from_dcsr if format == "hypercsr" else Matrix.from_dcsc
    return make(np.asarray(A.offset_labels.layout.data), *arrays, nrows=nrows, ncols=ncols, name=name)
