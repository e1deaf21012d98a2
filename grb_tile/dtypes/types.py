"""DataType objects and their lookup tables."""

import sys
from ast import literal_eval

import numpy as np

from ..spelling import did_you_mean


class DataType:
    """One scalar type: its names in GraphBLAS, NumPy, C, CUDA C++ and Numba.

    Types: built-in ones are interned, so `is` compares them; user-defined types (NumPy records) have `_is_udt` True.
    Spec: GraphBLAS C API 2.1, section 3.3.
    """

    __slots__ = (
        "__weakref__",
        "_is_udt",
        "_numba",
        "c_type",
        "cuda_type",
        "gb_name",
        "max",
        "min",
        "name",
        "np_type",
        "rank",
    )

    def __init__(self, name, gb_name, c_type, cuda_type, np_type, rank):
        self.name = name
        self.gb_name = gb_name
        self._is_udt = gb_name is None
        self.c_type = c_type
        self.cuda_type = cuda_type
        self.np_type = np.dtype(np_type)
        self.rank = rank
        self._numba = None
        kind = self.np_type.kind
        if kind in "iu":
            info = np.iinfo(self.np_type)
            self.min, self.max = self.np_type.type(info.min), self.np_type.type(info.max)
        elif kind == "f":
            self.min, self.max = self.np_type.type(-np.inf), self.np_type.type(np.inf)
        elif kind == "b":
            self.min, self.max = np.False_, np.True_
        else:
            self.min = self.max = None

    @property
    def numba_type(self):
        """The type under Numba, which is imported on first use."""
        if self._numba is None:
            import numba

            self._numba = numba.typeof(self.np_type).dtype if self._is_udt else numba.from_dtype(self.np_type)
        return self._numba

    @property
    def gb_obj(self):
        """The name in the C API, in place of a C library's handle; for a user-defined type its own name."""
        return self.gb_name or self.name

    @property
    def _is_anonymous(self):
        return _REGISTRY.get(self.name) is not self

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        if self is other:
            return True
        try:
            return self is lookup_dtype(other)
        except ValueError:
            raise TypeError(f"Invalid or unknown datatype: {other}") from None

    __hash__ = object.__hash__  # objects are interned: identity suffices, and hashing a NumPy dtype is slow

    def __lt__(self, other):
        try:
            other = lookup_dtype(other).np_type
        except ValueError:
            raise TypeError(f"Invalid or unknown datatype: {other}") from None
        mine = self.np_type
        return (mine.kind, mine.itemsize, mine.name) < (other.kind, other.itemsize, other.name)

    def __reduce__(self):
        if self._is_udt:
            return (_restore, (self.name, self.np_type, self._is_anonymous))
        return (lookup_dtype, (self.name,))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


BOOL = DataType("BOOL", "GrB_BOOL", "_Bool", "bool", np.bool_, 0)
INT8 = DataType("INT8", "GrB_INT8", "int8_t", "int8_t", np.int8, 1)
UINT8 = DataType("UINT8", "GrB_UINT8", "uint8_t", "uint8_t", np.uint8, 2)
INT16 = DataType("INT16", "GrB_INT16", "int16_t", "int16_t", np.int16, 3)
UINT16 = DataType("UINT16", "GrB_UINT16", "uint16_t", "uint16_t", np.uint16, 4)
INT32 = DataType("INT32", "GrB_INT32", "int32_t", "int32_t", np.int32, 5)
UINT32 = DataType("UINT32", "GrB_UINT32", "uint32_t", "uint32_t", np.uint32, 6)
INT64 = DataType("INT64", "GrB_INT64", "int64_t", "int64_t", np.int64, 7)
UINT64 = DataType("UINT64", "GrB_UINT64", "uint64_t", "uint64_t", np.uint64, 8)
FP32 = DataType("FP32", "GrB_FP32", "float", "float", np.float32, 9)
FP64 = DataType("FP64", "GrB_FP64", "double", "double", np.float64, 10)
FC32 = DataType("FC32", "GxB_FC32", "float _Complex", "grb::complex<float>", np.complex64, 11)
FC64 = DataType("FC64", "GxB_FC64", "double _Complex", "grb::complex<double>", np.complex128, 12)
_INDEX = UINT64  # the type of sizes and positions

BUILTIN = (BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64, FP32, FP64, FC32, FC64)

_REGISTRY = {}
for _t in BUILTIN:
    for _key in (_t.name, _t.gb_name, _t.c_type, _t.np_type.name):
        _REGISTRY[_key] = _REGISTRY[_key.lower()] = _REGISTRY[_key.upper()] = _t
    _REGISTRY[_t] = _REGISTRY[_t.np_type] = _REGISTRY[_t.np_type.type] = _REGISTRY[_t.np_type.str] = _t
_REGISTRY.update({bool: BOOL, int: INT64, float: FP64, complex: FC64})
# "float" is FP32 in C and FP64 in Python and NumPy: here FP64, as in python-graphblas.
_REGISTRY.update({"bool": BOOL, "int": INT64, "float": FP64, "complex": FC64})
_UNIFIED = {}


def lookup_dtype(key, value=None):
    """The DataType that `key` names: a DataType, "INT64", "int64", "<i8", a NumPy dtype or a Python type.

    `value`: an object whose own `dtype` is tried when `key` is unknown.
    Raises: TypeError for None, ValueError for an unknown type.  Unknown NumPy record types are registered anonymously.

    >>> lookup_dtype("<f4")
    FP32
    """
    if type(key) is DataType:
        return key
    try:
        return _REGISTRY[key]
    except (KeyError, TypeError):
        pass
    if value is not None and getattr(value, "dtype", None) in _REGISTRY:
        return _REGISTRY[value.dtype]
    if key is None:
        raise TypeError("Bad dtype: None.  A valid dtype must be provided.")
    remedy = ""
    try:
        return register_anonymous(key)
    except (TypeError, ValueError, SyntaxError) as error:  # not a NumPy type either
        remedy = f" ({error})" if "astype()" in str(error) else ""
    numba = sys.modules.get("numba")
    if numba is not None and isinstance(key, numba.types.Type):
        return lookup_dtype(numba.np.numpy_support.as_dtype(getattr(key, "literal_type", key)))
    near = did_you_mean(key, filter(str.isidentifier, _names())) if isinstance(key, str) else ""
    raise ValueError(f"Unknown dtype: {key} of type {type(key)}{remedy}{near}")


def _names():
    return (name for name in _REGISTRY if isinstance(name, str))


def unify(type1, type2, *, is_left_scalar=False, is_right_scalar=False):
    """The smallest type that represents both; a scalar operand adapts to the other's kind, as in NumPy.

    >>> unify(FP32, INT32)
    FP64
    """
    if type1 is type2:
        return type1
    key = (type1, type2, is_left_scalar, is_right_scalar)
    found = _UNIFIED.get(key)
    if found is None:
        if is_left_scalar and not is_right_scalar:
            joined = np.result_type(np.array(0, type1.np_type), type2.np_type)
        elif is_right_scalar and not is_left_scalar:
            joined = np.result_type(type1.np_type, np.array(0, type2.np_type))
        else:
            joined = np.promote_types(type1.np_type, type2.np_type)
        found = _UNIFIED[key] = lookup_dtype(joined)
    return found


def register_new(name, dtype):
    """Register a user-defined type under `grb_tile.dtypes.<name>`.

    Raises: ValueError when `name` is no identifier or is taken.
    """
    package = sys.modules[__package__]
    if not name.isidentifier():
        raise ValueError(f"`name` argument must be a valid Python identifier; got: {name!r}")
    if name in _REGISTRY or hasattr(package, name):
        raise ValueError(f"{name!r} name for dtype is unavailable")
    new = register_anonymous(dtype, name)
    _REGISTRY[name] = new
    setattr(package, name, new)
    return new


def register_anonymous(dtype, name=None):
    """The DataType of a NumPy dtype (record, sub-array, or a dict of fields), made on first use.

    Raises: ValueError for types holding Python objects, or a built-in type with another name.
    """
    if isinstance(dtype, dict) and not any(isinstance(v, (tuple, list)) for v in dtype.values()):
        dtype = np.dtype([(key, lookup_dtype(val).np_type) for key, val in dtype.items()], align=True)
    else:
        try:
            dtype = np.dtype(dtype)
        except TypeError:
            if not (isinstance(dtype, str) and "[" in dtype and dtype.endswith("]")):
                raise
            base, shape = dtype.split("[", 1)
            dtype = np.dtype((lookup_dtype(base).np_type, literal_eval(f"[{shape}")))
    known = _REGISTRY.get(dtype)
    if known is not None:
        if name is not None:
            if known.gb_name is None:
                known.name = name
            elif name != known.gb_name:
                raise ValueError("dtype must not be a builtin type")
        return known
    if dtype.hasobject:
        raise ValueError("dtype must not allow Python objects")
    if dtype.kind in "iufc" and (not dtype.isnative or dtype.char in "gG"):
        raise ValueError(f"dtype {dtype} has a foreign byte order or is a long double, convert the values: astype()")
    new = DataType(name or _default_name(dtype), None, f"uint8_t[{dtype.itemsize}]", None, dtype, 100)
    _REGISTRY[dtype] = new
    return new


def _default_name(dtype):
    known = _REGISTRY.get(dtype)
    if known is not None and not known._is_udt:
        return known.name
    if dtype.subdtype is not None:
        return f"{_default_name(dtype.subdtype[0])}[{', '.join(map(str, dtype.subdtype[1]))}]"
    if dtype.names:
        return "{" + ", ".join(f"{n!r}: {_default_name(dtype.fields[n][0])}" for n in dtype.names) + "}"
    return repr(dtype)


def _restore(name, dtype, anonymous):
    if anonymous:
        return register_anonymous(dtype, name)
    return _REGISTRY[name] if name in _REGISTRY else register_new(name, dtype)


def _dtype_to_string(dtype):
    """Text from which `_string_to_dtype` makes the same type: a name, or a NumPy dtype's literal.

    >>> _string_to_dtype(_dtype_to_string(INT8)) is INT8
    True
    """
    if not (isinstance(dtype, np.dtype) and dtype not in _REGISTRY):
        dtype = lookup_dtype(dtype)
        if not dtype._is_udt:
            return dtype.name
        dtype = dtype.np_type
    text = str(dtype)
    try:
        if np.dtype(literal_eval(text)) == dtype:
            return text
    except (TypeError, ValueError, SyntaxError):
        pass  # not every dtype's str() is a literal
    if np.dtype(dtype.str) != dtype:
        raise ValueError(f"Unable to reliably convert dtype to string and back: {dtype}")
    return repr(dtype.str)


def _string_to_dtype(text):
    try:
        return lookup_dtype(text)
    except (TypeError, ValueError):
        return lookup_dtype(np.dtype(literal_eval(text)))
