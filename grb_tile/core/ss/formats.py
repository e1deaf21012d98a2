"""Import and export of arrays in SuiteSparse's formats csr, hypercsr, bitmapr, fullr, coo, ...

    info = A.ss.export("csr")          a dict: indptr, col_indices, values, nrows, ncols, is_iso, sorted_cols, format
    Matrix.ss.import_csr(**info)       the matrix again; import_any detects the format from its arguments

Arrays are copied.  Only an import of a full matrix with `take_ownership` shares the array where its type and order fit:
do not change it afterwards.  `give_ownership` empties the exported object.

Source: SuiteSparse:GraphBLAS 9.4 user guide, sections 6.12 and 6.13; python-graphblas, core/ss/matrix.py.
"""

from inspect import Parameter, Signature

import numpy as np

from ...backends.select import current
from ...dtypes import BOOL, lookup_dtype
from ...exceptions import InvalidValue
from ...operations.checks import output_shape
from ...storage.constructors import iso_like
from ...storage.place import arrays_of, host_array
from ...storage.store import BitmapVector, Dense
from .. import kinds
from ..arguments import check_options, values_array

MATRIX_FORMATS = (
    "csr", "csc", "hypercsr", "hypercsc", "bitmapr", "bitmapc", "fullr", "fullc", "coo", "coor", "cooc",
)  # fmt: skip
VECTOR_FORMATS = ("sparse", "bitmap", "full")
_ORIENTATIONS = {"rowwise": "r", "columnwise": "c", "colwise": "c"}  # the storage format with that orientation
_IGNORED = {
    "take_ownership", "secure_import", "sorted_rows", "sorted_cols", "sorted_index", "nvec", "nvals", "is_iso",
}  # fmt: skip


def _iso_or_all(obj, values):
    """(values, is_iso): an array of one value for an iso object."""
    store = obj._store
    if not store.iso or not store.nvals:
        return _own(values, store), False
    return np.array(host_array(arrays_of(store).values[:1])), True


def _own(array, store):
    """The array, copied where the store has its memory: exporters make others for the caller."""
    arrays = arrays_of(store)
    parts = (getattr(arrays, name, None) for name in ("values", "indices", "indptr", "rows"))
    kept = any(type(part) is np.ndarray and np.may_share_memory(array, part) for part in parts)
    return array.copy() if kept else array


def _positions(array, store):
    """The positions as uint64, an array of the caller's own."""
    is_ours = array.dtype == np.int64 and array.flags.writeable and array.base is None
    return _own(array, store).view(np.uint64) if is_ours else array.astype(np.uint64)


def export_matrix(A, format=None, raw=False):
    """The dict of arrays of matrix A in `format`, by default its storage format.

    Raises: ValueError for an unknown format; InvalidValue for a full one when positions are absent.
    """
    stored = {"dcsr": "hypercsr"}.get(A._store.format, A._store.format)
    format = stored if format is None else format.lower()
    if format in _ORIENTATIONS:
        format = stored[:-1] + _ORIENTATIONS[format]
    if format not in MATRIX_FORMATS:
        raise ValueError(f"Invalid format: {format}")
    by_columns = format.endswith("c")
    nrows, ncols = A.shape
    info = {"format": format, "nrows": nrows, "ncols": ncols}
    minor = "row" if by_columns else "col"
    if format in ("csr", "csc"):
        info["indptr"], info[f"{minor}_indices"], values = A._compressed(by_columns, None)
        info[f"sorted_{minor}s"] = True
    elif format.startswith("hyper"):
        lines, info["indptr"], info[f"{minor}_indices"], values = A._doubly_compressed(by_columns, None)
        info["cols" if by_columns else "rows"] = lines
        info[f"sorted_{minor}s"] = True
        if raw:
            info["nvec"] = len(lines)
    elif format.startswith("coo"):
        major, other, values = A._by_lines(by_columns, None)
        rows, cols = (_positions(x, A._store) for x in ((other, major) if by_columns else (major, other)))
        info.update(
            format="coor" if format == "coo" else format, rows=rows, cols=cols,
            sorted_rows=True, sorted_cols=True,
        )  # fmt: skip
    else:
        values = _dense_parts(A, info, format, raw)
    info["values"], info["is_iso"] = _iso_or_all(A, values)
    return _with_type(info, A, raw)


def _dense_parts(A, info, format, raw):
    order = "F" if format.endswith("c") else "C"
    if format.startswith("full") and A.nvals != A.nrows * A.ncols:
        raise InvalidValue(
            f"format {format!r} needs an entry everywhere; {A.name} has {A.nvals} of {A.nrows * A.ncols}"
        )
    if A.nvals == A.nrows * A.ncols:
        by_columns = order == "F" and not A.dtype._is_udt
        values = A.T.to_dense().T if by_columns else np.asarray(A.to_dense(), order=order)
        bitmap = None
    elif A.dtype._is_udt:
        i, j, v = A._tuples()
        values, bitmap = np.zeros(A.shape, v.dtype, order=order), np.zeros(A.shape, bool, order=order)
        values[i, j], bitmap[i, j] = v, True
    else:
        B = A.T if order == "F" else A
        values, bitmap = B.to_dense(0, A.dtype), _flags_of(A, order)
        values = values.T if order == "F" else values
    if format.startswith("bitmap"):
        info["bitmap"] = np.ones(A.shape, bool, order=order) if bitmap is None else bitmap
        info["nvals"] = A.nvals
    if raw:
        info |= {key: info[key].ravel(order) for key in ("bitmap",) if key in info}
        return values.ravel(order)
    if not (A._store.iso and format.startswith("full")):
        del info["nrows"], info["ncols"]
    return values


def _flags_of(x, order="C"):
    """An array of bool: which positions of the object have an entry?"""
    flags = type(x)._from_store(iso_like(x._store, BOOL, np.bool_(True)), BOOL, "")
    return flags.T.to_dense(False, BOOL).T if order == "F" else flags.to_dense(False, BOOL)


def _at_flags(cls, flags, values, shape, dtype, name):
    """The object with an entry at each position whose flag is set; values: of that shape, or a number (ndim 0)."""
    mask = cls.from_dense(flags).V
    if values.ndim == 0:
        return cls.from_scalar(values[()], *shape, dtype).dup(mask=mask, name=name)
    return cls.from_dense(values, dtype=dtype).dup(mask=mask, name=name)


def export_vector(v, format=None, raw=False):
    """The dict of arrays of vector v in `format`, by default its storage format; errors as export_matrix."""
    if format is None:
        format = "sparse" if v._store.format == "sparse" else "full" if v.nvals == v.size else "bitmap"
    format = format.lower()
    if format not in VECTOR_FORMATS:
        raise ValueError(f"Invalid format: {format}")
    if format == "full" and v.nvals != v.size:
        raise InvalidValue(f"format 'full' needs an entry everywhere; {v.name} has {v.nvals} of {v.size}")
    dense = format == "full" or format == "bitmap" and not v.dtype._is_udt
    indices, stored = (None, v.to_dense(0, v.dtype)) if dense else v._tuples()
    info = {"format": format, "size": v.size}
    if format == "sparse":
        info.update(indices=_positions(indices, v._store), sorted_index=True)
        values = stored
        if raw:
            info["nvals"] = v.nvals
    else:
        values = stored
        if format == "bitmap" and dense:
            info["bitmap"] = _flags_of(v)
        elif format == "bitmap":
            values, info["bitmap"] = np.zeros(v.size, stored.dtype), np.zeros(v.size, bool)
            values[indices], info["bitmap"][indices] = stored, True
        if format == "bitmap":
            info["nvals"] = v.nvals
        if not raw and not (v._store.iso and format == "full"):
            del info["size"]
    info["values"], info["is_iso"] = _iso_or_all(v, values)
    return _with_type(info, v, raw)


def _with_type(info, obj, raw):
    if raw or obj.dtype._is_udt:
        info["dtype"] = obj.dtype
    return info


def _one_value(values, is_iso, dtype, subarray_after=None, picked=False):
    """(array, DataType): of one value for a Scalar, a number or is_iso, otherwise of all values.

    picked: the host picks those of a bitmap.
    """
    if type(values) is kinds.Scalar:
        values = values._value
    values, dtype = values_array(values, dtype, subarray_after, stays=is_iso or picked)
    if is_iso and values.ndim and values.size:
        values = values.reshape(-1)[0]
    return values, dtype


def import_matrix(
    values, *, nrows=None, ncols=None, is_iso=False, format=None, dtype=None, name=None, indptr=None, col_indices=None,
    row_indices=None, rows=None, cols=None, bitmap=None, **ignored,
):  # fmt: skip
    """The Matrix of the arrays of `format`; None: the format is detected from the arguments.

    Raises: ValueError, TypeError for arguments that make no matrix of the format.
    """
    check_options({key: value for key, value in ignored.items() if key not in _IGNORED})
    format = _matrix_format(values, indptr, row_indices, col_indices, rows, cols, bitmap) if format is None else format
    format = format.lower()
    major = {"coor": "sorted_rows", "cooc": "sorted_cols"}.get(format)
    if major is not None and not ignored.get(major, True):
        raise ValueError(f"{major} must be True for import_{format}; use import_coo for entries in any order")
    picked = bitmap is not None and np.shape(values) != np.shape(bitmap)
    values, dtype = _one_value(values, is_iso, dtype, 2 if format.startswith("full") else None, picked)
    shape = {"nrows": nrows, "ncols": ncols}
    if format == "csr":
        return kinds.Matrix.from_csr(indptr, col_indices, values, dtype, **shape, name=name)
    if format == "csc":
        return kinds.Matrix.from_csc(indptr, row_indices, values, dtype, **shape, name=name)
    if format == "hypercsr":
        return kinds.Matrix.from_dcsr(rows, indptr, col_indices, values, dtype, **shape, name=name)
    if format == "hypercsc":
        return kinds.Matrix.from_dcsc(cols, indptr, row_indices, values, dtype, **shape, name=name)
    if format.startswith("coo"):
        return kinds.Matrix.from_coo(rows, cols, values, dtype, **shape, name=name)
    if format not in MATRIX_FORMATS:
        raise ValueError(f"Invalid format: {format}")
    order = "F" if format.endswith("c") else "C"
    if bitmap is not None:
        bitmap = np.asarray(bitmap, bool)
        if bitmap.ndim == 1:
            bitmap = bitmap.reshape(_full_shape(nrows, ncols, values), order=order)
        bitmap = bitmap[:nrows, :ncols]
        if values.ndim:
            if values.shape != bitmap.shape:  # too few are repeated, as np.resize does
                values = host_array(values)
                values = np.resize(values.ravel(order), bitmap.shape[::-1] if order == "F" else bitmap.shape)
                values = values.T if order == "F" else values
        if not dtype._is_udt and bitmap.size:
            return _in_form(_at_flags(kinds.Matrix, bitmap, values, bitmap.shape, dtype, name), format)
        i, j = np.nonzero(bitmap)
        values = values[i, j] if values.ndim else values
        made = kinds.Matrix.from_coo(i, j, values, dtype, nrows=bitmap.shape[0], ncols=bitmap.shape[1], name=name)
        return _in_form(made, format)
    if values.ndim == 0:
        return kinds.Matrix.from_scalar(values[()], *_full_shape(nrows, ncols, values), dtype, name=name)
    if values.ndim == 1:
        values = values.reshape(_full_shape(nrows, ncols, values), order=order)
    if ignored.get("take_ownership") and 0 < values.size and dtype.np_type == values.dtype:
        shared = _shared(values, dtype, name)
        if shared is not None:
            return _in_form(shared, format)
    return _in_form(kinds.Matrix.from_dense(values, dtype=dtype, name=name), format)


def _shared(values, dtype, name):
    """The full Matrix that shares a contiguous two-dimensional array; None for an array of another kind."""
    by_columns = values.flags.f_contiguous and not values.flags.c_contiguous
    if type(values) is not np.ndarray or values.ndim != 2 or not (by_columns or values.flags.c_contiguous):
        return None
    flat = BitmapVector(values.size, dtype, None, (values.T if by_columns else values).reshape(-1), values.size)
    flat.shared = True
    return kinds.Matrix._from_store(Dense(*values.shape, flat, by_columns), dtype, name)


def _in_form(A, format):
    """A, converted to the dense `format`; unchanged if it has no positions."""
    if A.nrows * A.ncols:
        A._store = current().convert(A._store, format)
    return A


def _full_shape(nrows, ncols, values):
    if values.ndim == 2:
        return values.shape
    if nrows is None or ncols is None:
        raise ValueError("Either nrows and ncols must be provided, or an array must be 2d (from which to get them)")
    return nrows, ncols


def _matrix_format(values, indptr, row_indices, col_indices, rows, cols, bitmap):
    given = {"row_indices": row_indices, "col_indices": col_indices, "rows": rows, "cols": cols, "bitmap": bitmap}
    given = {key for key, value in given.items() if value is not None}
    if indptr is not None:
        for one, other in (("row_indices", "col_indices"), ("rows", "cols")):
            if {one, other} <= given:
                raise TypeError(f"Cannot provide both `{one}` and `{other}`")
        if "bitmap" in given:
            raise TypeError("Cannot provide both `indptr` and `bitmap`")
        if not given & {"row_indices", "col_indices"}:
            raise TypeError("Must provide either `row_indices` or `col_indices`")
        if "rows" in given and "col_indices" not in given:
            raise TypeError("HyperCSR requires col_indices, not row_indices")
        if "cols" in given and "row_indices" not in given:
            raise TypeError("HyperCSC requires row_indices, not col_indices")
        hyper = "hyper" if given & {"rows", "cols"} else ""
        return f"{hyper}{'csr' if 'col_indices' in given else 'csc'}"
    if "bitmap" in given:
        for other in sorted(given - {"bitmap"}):
            raise TypeError(f"Cannot provide both `bitmap` and `{other}`")
        return "bitmapc" if _is_by_columns(values) or _is_by_columns(bitmap) else "bitmapr"
    if given & {"rows", "cols"}:
        if not given >= {"rows", "cols"}:
            raise ValueError("coo requires both `rows` and `cols`")
        return "coo"
    return "fullc" if _is_by_columns(values) else "fullr"


def _is_by_columns(array):
    if not isinstance(array, np.ndarray) or array.ndim != 2:
        return False
    return array.flags.f_contiguous and not array.flags.c_contiguous


def import_vector(
    values, *, size=None, is_iso=False, format=None, dtype=None, name=None, indices=None, bitmap=None, **ignored
):
    """The Vector of the arrays of `format`; None: the format is detected from the arguments.

    Raises: ValueError, TypeError for arguments that make no vector of the format.
    """
    check_options({key: value for key, value in ignored.items() if key not in _IGNORED})
    if indices is not None and bitmap is not None:
        raise TypeError("Cannot provide both `indptr` and `bitmap`")
    if format is not None and format.lower() not in VECTOR_FORMATS:
        raise ValueError(f"Invalid format: {format}")
    picked = bitmap is not None and np.shape(values) != np.shape(bitmap)
    values, dtype = _one_value(values, is_iso, dtype, 1, picked)
    if indices is not None:
        return kinds.Vector.from_coo(indices, values, dtype, size=size, name=name)
    if bitmap is not None:
        bitmap = np.asarray(bitmap, bool)
        if size is None:
            size = min(bitmap.shape[0], values.shape[0]) if values.ndim else bitmap.shape[0]
        bitmap, values = bitmap[:size], values[:size] if values.ndim else values
        if not dtype._is_udt and 0 < size == bitmap.shape[0] and values.shape in ((), (size,)):
            return _at_flags(kinds.Vector, bitmap, values, (size,), dtype, name)
        (at,) = np.nonzero(bitmap)
        return kinds.Vector.from_coo(at, values[at] if values.ndim else values, dtype, size=size, name=name)
    if values.ndim == 0:
        if size is None:
            raise ValueError("size must be given when there is one value for all")
        return kinds.Vector.from_scalar(values[()], size, dtype, name=name)
    return kinds.Vector.from_dense(values[:size], dtype=dtype, name=name)


def add_formats(tools, export, import_, formats):
    """Give a class of tools export, unpack, import_<format> and pack_<format>."""

    def export_method(self, format=None, *, sort=False, give_ownership=False, raw=False, **opts):
        """A dict of arrays; see the docstring of core/ss/formats.py.  `sort`: no effect, entries are always sorted."""
        if opts:
            check_options(opts)
        info = export(self._parent, format, raw)
        if give_ownership:
            self._parent.clear()
        return info

    def unpack(self, format=None, *, sort=False, raw=False, **opts):
        """`export`, after which the object is empty."""
        return export_method(self, format, sort=sort, give_ownership=True, raw=raw, **opts)

    def pack(self, values, *, format=None, **arrays):
        """Replace the object's entries by those of the arrays; its shape and type do not change."""
        parent = self._parent
        sizes = ("size",) if parent.ndim == 1 else ("nrows", "ncols")
        wanted = {**dict(zip(sizes, parent.shape, strict=True)), **{k: v for k, v in arrays.items() if k not in sizes}}
        new = import_(values, format=format, **{"dtype": parent.dtype, **wanted})
        output_shape("pack", parent.shape, new.shape)
        parent.clear()
        parent._store = new.dup(lookup_dtype(parent.dtype))._store

    tools.export, tools.unpack = export_method, unpack
    sizes = ("size",) if formats is VECTOR_FORMATS else ("nrows", "ncols")
    for name in (*formats, "any"):
        imported, packed = _signatures(name, sizes)
        setattr(tools, f"import_{name}", staticmethod(_with_format(import_, f"import_{name}", name, imported, None)))
        setattr(tools, f"pack_{name}", _with_format(pack, f"pack_{name}", name, packed, "self"))


# format: (arguments by position, required keywords, optional keywords), to which _signatures adds the sizes and the
# common ones.
_ARGUMENTS = {
    "csr": ((), ("indptr", "values", "col_indices"), {"sorted_cols": False}),
    "csc": ((), ("indptr", "values", "row_indices"), {"sorted_rows": False}),
    "hypercsr": ((), ("rows", "indptr", "values", "col_indices"), {"nvec": None, "sorted_cols": False}),
    "hypercsc": ((), ("cols", "indptr", "values", "row_indices"), {"nvec": None, "sorted_rows": False}),
    "bitmapr": ((), ("bitmap", "values"), {"nvals": None}),
    "fullr": (("values",), (), {}),
    "coo": (("rows", "cols", "values"), (), {"sorted_rows": False, "sorted_cols": False}),
    "sparse": ((), ("indices", "values"), {"nvals": None, "sorted_index": False}),
    "any": ((), ("values",), None),
}
for _name, _same in (
    ("bitmapc", "bitmapr"),
    ("fullc", "fullr"),
    ("coor", "coo"),
    ("cooc", "coo"),
    ("bitmap", "bitmapr"),
    ("full", "fullr"),
):
    _ARGUMENTS[_name] = _ARGUMENTS[_same]
_ANY = {
    1: ("indices", "sorted_index", "bitmap", "nvals"),
    2: (
        "indptr",
        "col_indices",
        "sorted_cols",
        "rows",
        "row_indices",
        "sorted_rows",
        "cols",
        "nvec",
        "bitmap",
        "nvals",
    ),
}
_SIZES_NEEDED = {"csr", "csc", "hypercsr", "hypercsc", "coo", "coor", "cooc", "sparse"}


def _signatures(name, sizes):
    """The signatures of import_<name> and pack_<name>."""
    by_position, required, optional = _ARGUMENTS[name]
    if optional is None:
        optional = {key: False if key.startswith("sorted") else None for key in _ANY[len(sizes)]}
    major = {"coor": "sorted_rows", "cooc": "sorted_cols"}.get(name)
    optional = {key: key == major or value for key, value in optional.items()}
    common = {
        "is_iso": False,
        "take_ownership": False,
        "secure_import": False,
        "dtype": None,
        "format": None,
        "name": None,
    }
    first = [Parameter(key, Parameter.POSITIONAL_OR_KEYWORD) for key in by_position]
    rest = [Parameter("opts", Parameter.VAR_KEYWORD)]

    def signature(required, optional):
        keywords = [Parameter(key, Parameter.KEYWORD_ONLY) for key in required]
        return Signature(
            first + keywords + [Parameter(k, Parameter.KEYWORD_ONLY, default=v) for k, v in optional.items()] + rest
        )

    free = dict.fromkeys(sizes)
    imported = signature((*sizes, *required), optional | common) if name in _SIZES_NEEDED else None
    imported = imported or signature(required, optional | free | common)
    return imported, signature(required, optional | free | common)


def _with_format(function, name, fixed, signature, receiver):
    """`function` for the format `fixed`: binds its arguments by `signature`; another format's name is a ValueError."""
    if receiver is not None:
        parameters = [Parameter(receiver, Parameter.POSITIONAL_OR_KEYWORD), *signature.parameters.values()]
        signature = Signature(parameters)

    def method(*args, **kwargs):
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError as exc:
            raise TypeError(f"{name}: {exc}") from None
        given |= given.pop("opts", {})
        format = given.pop("format", None)
        if fixed != "any":
            known = format is None or format.lower() == fixed or (fixed == "coo" and format.lower().startswith("coo"))
            if not known:
                raise ValueError(f"Invalid format: {format!r}.  Must be None or {fixed!r}")
            format = fixed
        first = [given.pop(receiver)] if receiver is not None else []
        return function(*first, given.pop("values"), format=format, **given)

    method.__name__ = method.__qualname__ = name
    method.__signature__ = signature
    method.__doc__ = function.__doc__
    return method
