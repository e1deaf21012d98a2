"""Arguments of the methods of core: their kind, scalars from literals, arrays from lists, texts of errors."""

import operator
import struct

import numpy as np

from ..config import config
from ..dtypes import BOOL, FP64, INT64, DataType, cast, cast_scalar, lookup_dtype
from ..exceptions import InvalidValue
from ..operators import find_opclass
from . import kinds
from .device_input import expect_below_limit, expect_indices, from_gpu, indices_on_device, on_device, values_on_device

AUTOCOMPUTE_HINT = (
    "Hint: use `gb.config.set(autocompute=True)` to automatically compute arguments that are expressions."
)
FEW = 16  # positions that Python looks at sooner than NumPy
_EXACT = {bool: (np.bool_, BOOL), int: (np.int64, INT64), float: (np.float64, FP64)}
_NOT_SCALARS = (str, bytes, list, tuple, dict, set, frozenset, type, type(None))
OPTIONS = {"nthreads", "chunk", "axb_method", "sort", "compression", "import", "secure_import", "gpu_id", "context"}

_OPTION_VALUES = {
    "axb_method": ("default", "dot", "gustavson", "hash", "saxpy"),
    "sort": (False, True), "secure_import": (False, True),
}  # fmt: skip


def output_type(x):
    """The class that `x` is or will be once computed: Vector for a Vector and for every expression of a vector."""
    cls = type(x)
    return getattr(cls, "output_type", cls)


def check_options(opts):
    """SuiteSparse's per-call options are accepted and have no effect; others are refused."""
    names = [name.lower() for name in opts]
    if len(set(names)) < len(names):
        raise ValueError(f"Duplicate descriptor option: {', '.join(sorted(opts))}")
    unknown = set(names) - OPTIONS
    if unknown:
        raise ValueError(
            f"Unknown descriptor option: {', '.join(sorted(unknown))}.  "
            f"Known (accepted, without effect): {', '.join(sorted(OPTIONS))}"
        )
    for name, value in opts.items():
        known = _OPTION_VALUES.get(name.lower())
        if known is not None and value is not None and value not in known:
            raise ValueError(
                f"Invalid value for {name!r} descriptor option: {value!r}.  "
                f"Must be one of {', '.join(map(repr, known))}"
            )


def expect_type(self, x, types, *, within, argname=None, keyword_name=None, op=None, extra_message=""):
    """`x` if its class is among `types`, or the value of an expression of one with autocompute on; else TypeError."""
    if type(types) is not tuple:
        types = (types,)
    if type(x) in types:
        return x
    if output_type(x) in types:
        if config.get("autocompute"):
            return x.new()
        extra_message = f"{extra_message}\n\n{AUTOCOMPUTE_HINT}" if extra_message else AUTOCOMPUTE_HINT
    if argname:
        where = f"for argument `{argname}` "
    elif keyword_name:
        where = f"for keyword argument `{keyword_name}=` "
    else:
        where = ""
    makers = [cls.__name__ for cls in (kinds.Vector, kinds.Matrix) if cls in types]
    if makers and isinstance(x, (np.ndarray, list)):
        two = x.ndim > 1 if isinstance(x, np.ndarray) else bool(x) and isinstance(x[0], (list, tuple, np.ndarray))
        remedy = f"Make one of it first: gb.{makers[-1] if two else makers[0]}.from_dense(x)."
        extra_message = f"{extra_message}\n{remedy}" if extra_message else remedy
    op, opclass = find_opclass(op)
    call = "..." if opclass == "UnknownOpClass" else f"op={op}"
    raise TypeError(
        f"Bad type {where}in {type(self).__name__}.{within}({call}).\n"
        f"    - Expected type: {', '.join(cls.__name__ for cls in types)}.\n"
        f"    - Got: {type(x)}." + (f"\n{extra_message}" if extra_message else "")
    )


def expect_op(self, op, classes, *, within, argname=None, keyword_name=None, extra_message=""):
    """Raise TypeError, with the remedy, unless the typed operator's class is in `classes` (a name or several)."""
    opclass = op.opclass
    if opclass == classes or (type(classes) is tuple and opclass in classes):
        return
    if type(classes) is not tuple:
        classes = (classes,)
    where = f"for argument `{argname}` " if argname else f"for keyword argument `{keyword_name}=` "
    remedy = ""
    if opclass == "Semiring":
        names = {"binaryop": "BinaryOp", "monoid": "Monoid"}
        parts = [part for part, name in names.items() if name in classes]
        if parts:
            remedy = (
                f"\nYou may do {' or '.join(f'`{op.name}.{part}`' for part in parts)} "
                f"to get the {' or '.join(names[part] for part in parts)}."
            )
    elif opclass == "BinaryOp" and "Monoid" in classes and op.monoid is None:
        remedy = f"\nThe BinaryOp {op.name} is not known to be part of a Monoid"
        remedy += f" for {op.type} datatype." if op.parent.monoid is not None else "."
    raise TypeError(
        f"Bad type {where}in {type(self).__name__}.{within}(...).\n"
        f"    - Expected type: {', '.join(classes)}.\n"
        f"    - Got: {opclass} ({op})." + (f"\n{extra_message}" if extra_message else "") + remedy
    )


def literal_dtype(value):
    """The DataType of a Python or NumPy scalar.  Raises: TypeError for what is none."""
    if not isinstance(value, _NOT_SCALARS):
        try:
            return lookup_dtype(type(value), value)
        except (ValueError, TypeError):
            pass
    raise TypeError(f"Argument of from_value must be a known scalar type, not {type(value)}")


def literal(value, dtype=None):
    """(NumPy scalar, DataType) of a Python or NumPy scalar."""
    if dtype is None:
        kind = type(value)
        if kind in _EXACT and (kind is not int or -(2**63) <= value < 2**63):
            make, dtype = _EXACT[kind]
            return make(value), dtype
        dtype = literal_dtype(value)
    else:
        dtype = lookup_dtype(dtype)
    most = 2**63 if dtype is INT64 else 2**64
    if type(value) is int and dtype.np_type.kind in "iu" and not -(2**63) <= value < most:
        raise OverflowError(f"{value} does not fit in {dtype}; use a floating-point type")
    return scalar_of(value, dtype), dtype


def scalar_of(value, dtype):
    """`value` as a NumPy scalar of `dtype`.  Raises: TypeError, ValueError for what NumPy refuses."""
    kind = type(value)
    if kind is dtype.np_type.type:
        return value
    if dtype._is_udt:
        return _udt_scalar(value, dtype.np_type)
    if kind is bool or kind is int or kind is float or kind is complex or isinstance(value, np.generic):
        return cast_scalar(value, dtype)
    array = np.asarray(value)
    if array.ndim or array.dtype.hasobject or array.dtype.kind not in "biufc":
        raise TypeError(f"a scalar of type {dtype} is expected; got: {value!r}")
    return cast_scalar(array[()], dtype)


def _udt_scalar(value, np_type):
    """An element of a record or sub-array type; dicts give records by field name."""
    if isinstance(value, dict) and np_type.names is not None:
        value = _record_of(np_type, value)
    if np_type.subdtype is not None:
        out = np.empty(np_type.subdtype[1], np_type.subdtype[0])
        out[...] = value
        return out
    out = np.array(value, np_type)[()]
    if isinstance(out, np.ndarray):
        raise TypeError(f"one value of type {np_type} is expected; got {out.size}")
    return out


def _record_of(np_type, fields):
    parts = ((np_type.fields[name][0], fields[name]) for name in np_type.names)
    return tuple(_record_of(t, x) if t.names is not None and isinstance(x, dict) else x for t, x in parts)


def indices_array(array, name="array"):
    """An int64 array of positions, from an array of integers or a list of integers, which may be written as 2.0.

    Raises: ValueError for what is not of integers (Booleans, texts, fractions), TypeError for what is no list and no
    array, OverflowError for a list with a negative one, InvalidValue for positions beyond every dimension.
    """
    if type(array) is list and 0 < len(array) <= FEW and set(map(type, array)) == {int}:
        if min(array) >= 0 and max(array) <= 2**60:  # the usual short list, in a third of the time
            return np.array(array, np.int64)
    found = on_device(array)
    if found is not None:
        if type(found) is not np.ndarray:
            return indices_on_device(found, name, type(array) is np.ndarray)
        array = found
    if not isinstance(array, np.ndarray):
        if isinstance(array, (str, bytes, set, frozenset)) or not hasattr(array, "__iter__"):
            raise TypeError(f"{name} must be a list or an array of integers; got {array!r}")
        if not (hasattr(array, "__array__") or isinstance(array, memoryview)):
            return _listed(array if type(array) in (list, tuple) else list(array), name)
        array = np.asarray(array)
    expect_indices(array, name)
    if array.dtype.kind == "u":
        expect_below_limit(array, name)
    return np.ascontiguousarray(array, np.int64)


def array_of(values):
    """numpy.array(values) of a list or tuple; of Python's ints in a tenth of the time, by struct."""
    if values and type(values[0]) is int:
        array = np.empty(len(values), np.int64)
        try:
            struct.pack_into(f"{len(values)}q", array, 0, *values)
        except (struct.error, TypeError, ValueError, OverflowError):  # others among them, or beyond INT64
            return np.array(values)
        return array
    return np.array(values)


def _listed(values, name):
    """The int64 array of a list, see indices_array."""
    try:
        array = array_of(values)
    except (ValueError, OverflowError):  # lists of several lengths
        array = np.empty(0, object)
    if array.ndim == 1 and array.size and array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        if low >= 0 and not any_bool(values, array):
            if high > 2**60:
                raise InvalidValue(f"{name} holds {high}, which is beyond every dimension (2^60)")
            return array.astype(np.int64, copy=False)
    numbers = list(map(_whole, values))
    if None in numbers:
        at = numbers.index(None)
        raise ValueError(f"{name} must be integers; number {at} of them is {values[at]!r}")
    beyond = next((number for number in numbers if not 0 <= number < 2**64), None)
    if beyond is not None:
        raise OverflowError(f"{name} holds the index {beyond}; indices are 0 .. 2^60 - 1")
    if numbers and max(numbers) > 2**60:
        raise InvalidValue(f"{name} holds {max(numbers)}, which is beyond every dimension (2^60)")
    return np.array(numbers, np.int64)


def any_bool(values, array):
    """Is one of the `values` a Boolean, which is 0 or 1 in the array of integers that NumPy makes of them?"""
    places = np.flatnonzero(array <= 1)
    return not {bool, np.bool_}.isdisjoint(map(type, map(values.__getitem__, places.tolist())))


def _whole(value):
    """integral(value), but None of a Boolean."""
    return None if isinstance(value, (bool, np.bool_)) else integral(value)


def type_argument(dtype, cls):
    """lookup_dtype(dtype), for the first argument of the class `cls`; what holds data gets the name of a constructor.

    Raises: TypeError for data, ValueError for an unknown type.
    """
    kind = type(dtype)
    if kind is DataType:
        return dtype
    if kind is type and dtype in _EXACT:
        return _EXACT[dtype][1]
    if kind is type or kind is str or kind is DataType or isinstance(dtype, (np.dtype, np.generic)):
        try:
            return lookup_dtype(dtype)
        except ValueError as error:
            if kind is str and "." in dtype:
                raise ValueError(f"{error}; a file is read by gb.io.read({dtype!r})") from None
            raise
    if not hasattr(dtype, "shape"):  # of a SciPy array NumPy takes the dtype, for 0 x 0
        try:
            return lookup_dtype(dtype)
        except ValueError as error:
            if isinstance(dtype, (bool, int, float, complex)):
                raise ValueError(f"{error}; {_maker(dtype, cls)}") from None
            if not hasattr(dtype, "__len__"):
                raise
    raise TypeError(
        f"gb.{cls}: the first argument is a type, such as float; got data, x of type {kind.__name__}: "
        f"{_maker(dtype, cls)}"
    )


def _maker(data, cls):
    """What to write for an object of the class `cls` that holds `data`."""
    if output_type(data) in (kinds.Scalar, *kinds.COLLECTIONS):
        return "write x.dup() for a copy, or x.new() of an expression"
    if cls == "Scalar":
        return "write gb.Scalar.from_value(x)"
    if isinstance(data, (bool, int, float, complex)):
        return f"write gb.{cls}(type, {'nrows, ncols' if cls == 'Matrix' else 'size'}) for an empty one"
    if hasattr(data, "adjacency"):
        return "write gb.io.from_networkx(G)"
    if hasattr(data, "tocoo"):
        return "write gb.io.from_scipy_sparse(x)"
    if "sparse" in str(getattr(data, "layout", "")):
        return "write gb.io.from_torch(x)"
    if cls == "Matrix" and (hasattr(data, "column_names") or hasattr(data, "columns")):
        return "write gb.io.from_dataframe(x) for a table of edges, gb.Matrix.from_dense(x.to_numpy()) for values"
    if isinstance(data, dict):
        return f"write gb.{cls}.{'from_dict' if cls == 'Vector' else 'from_dicts'}(x)"
    return f"write gb.{cls}.from_dense(x), with missing_value=0 to leave zeros out"


def values_array(values, dtype=None, subarray_after=None, stays=False):
    """(array, DataType) of a list, array or scalar; the type is inferred when `dtype` is None.

    subarray_after: the number of dimensions after which further ones make a sub-array type.
    stays: a large array of the host is not copied to the device that computes, nor are values of user-defined types.
    """
    if dtype is None and type(values) is list and 0 < len(values) <= FEW:
        kind, *others = set(map(type, values))
        if not others and kind in _EXACT and (kind is not int or min(values) >= -(2**63) and max(values) < 2**63):
            make, found = _EXACT[kind]  # the usual short list, in a third of the time
            return np.array(values, make), found
    dtype = None if dtype is None else lookup_dtype(dtype)
    if type(values) is np.ndarray and not stays:
        stays = subarray_after is not None and values.ndim > subarray_after or dtype is not None and dtype._is_udt
    found = from_gpu(values) if stays else on_device(values)
    if found is not None:
        if type(found) is not np.ndarray:
            return values_on_device(found, dtype, subarray_after)
        values = found
    if dtype is not None:
        base = dtype.np_type
        while base.subdtype is not None:
            base = base.subdtype[0]
        if isinstance(values, np.ndarray) and not dtype._is_udt and values.dtype.kind in "biufc":
            return cast(values, dtype), dtype
        return np.array(values, base, copy=None), dtype
    array = np.array(values, copy=None)
    if array.dtype.hasobject:
        raise ValueError("object dtype for values is not allowed")
    if not array.dtype.isnative and array.dtype.kind in "iufc":
        array = array.astype(array.dtype.newbyteorder("="))
    dtype = lookup_dtype(array.dtype)
    if subarray_after is not None and array.ndim > subarray_after:
        dtype = lookup_dtype(np.dtype((dtype.np_type, array.shape[subarray_after:])))
    return array, dtype


def own_array(values, given):
    """The array that values_array made of `given`, contiguous, and copied unless its memory is new."""
    if type(given) is np.ndarray:
        is_new = type(values) is not np.ndarray or not np.may_share_memory(values, given)
    else:
        is_new = type(given) is list
    return values if is_new and values.flags.c_contiguous else values.copy()


def flags(**given):
    """Raises: TypeError for a value that is not True or False; the names are those of the caller's arguments."""
    for name, value in given.items():
        if value is not True and value is not False and not isinstance(value, np.bool_):
            raise TypeError(f"{name}: expected True or False, got {value!r} of type {type(value).__name__}")


def flags_or_none(**given):
    """As `flags`, for arguments that may be None, too, which means that the library finds out."""
    flags(**{name: value for name, value in given.items() if value is not None})


def name_of_choice(value, name):
    """`value` in lower case.  Raises: TypeError for what is no text."""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` must be a text; got {value!r} of type {type(value)}")
    return value.lower()


def dimension(value, name):
    """A size as a Python int.  Raises: TypeError, ValueError, OverflowError for what cannot be a size."""
    if type(value) is not int:
        try:
            value = operator.index(value)
        except TypeError:
            raise TypeError(f"`{name}` must be an integer; got {value!r} of type {type(value)}") from None
    if value < 0:
        raise OverflowError(f"`{name}` must not be negative; got {value}")
    if value > 2**60:
        raise InvalidValue(f"`{name}` must be at most 2^60 (gb.MAX_SIZE); got {value}")
    return value


def whole_number(value, name):
    """int(value) for what is a whole number.  Raises: TypeError for anything else."""
    number = integral(value)
    if number is None:
        raise TypeError(f"`{name}` must be an integer; got {value!r}")
    return number


def integral(value):
    """int(value) when it is a whole number (2, 2.0, np.int8(2)), else None."""
    try:
        return operator.index(value)
    except TypeError:
        pass
    if isinstance(value, (float, np.floating)) and value.is_integer():
        return int(value)
    return None
