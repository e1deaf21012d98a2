"""GrB_get and GrB_set: fields of objects that the C API 2.1 can read and set.

    grb.get(A, grb.EL_TYPE_CODE)             # 11: the elements are FP64
    grb.set(A, "roads", grb.NAME)
    grb.get(grb.GLOBAL, grb.API_VER_MINOR)   # 1

Spec: GraphBLAS C API 2.1, sections 3.7 (fields, their values and types) and 4.2.1 (get, set).
"""

import enum

from .. import __version__
from ..core.matrix import Matrix
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..dtypes.types import DataType
from ..exceptions import AlreadySet, EmptyObject, InvalidValue, NoValue
from ..operators.base import TypedOpBase
from .descriptor import (
    COMP,
    COMP_STRUCTURE,
    DEFAULT,
    INP0,
    INP1,
    MASK,
    OUTP,
    REPLACE,
    STRUCTURE,
    TRAN,
    Descriptor,
    Descriptor_set,
)


class Field(enum.IntEnum):
    """GrB_Field."""

    OUTP_FIELD, MASK_FIELD, INP0_FIELD, INP1_FIELD = 0, 1, 2, 3
    NAME = 10
    LIBRARY_VER_MAJOR, LIBRARY_VER_MINOR, LIBRARY_VER_PATCH = 11, 12, 13
    API_VER_MAJOR, API_VER_MINOR, API_VER_PATCH = 14, 15, 16
    BLOCKING_MODE = 17
    STORAGE_ORIENTATION_HINT = 100
    EL_TYPE_CODE, EL_TYPE_STRING = 102, 106
    INP0_TYPE_CODE, INP1_TYPE_CODE, OUTP_TYPE_CODE = 103, 104, 105
    INP0_TYPE_STRING, INP1_TYPE_STRING, OUTP_TYPE_STRING = 107, 108, 109
    SIZE = 110


class Orientation(enum.IntEnum):
    """GrB_Orientation."""

    ROWMAJOR, COLMAJOR, BOTH, UNKNOWN = 0, 1, 2, 3


class Mode(enum.IntEnum):
    """GrB_Mode."""

    NONBLOCKING, BLOCKING = 0, 1


class Global:
    """GrB_GLOBAL, the library itself: `grb.GLOBAL`."""

    def __repr__(self):
        return "grb.GLOBAL"


GLOBAL = Global()
globals().update({member.name: member for kind in (Field, Orientation, Mode) for member in kind})
__all__ = ["GLOBAL", "get", "set", *(member.name for kind in (Field, Orientation, Mode) for member in kind)]

# GrB_Type_Code; the complex types are SuiteSparse's
_CODES = {
    name: code
    for code, name in enumerate(
        ("BOOL", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "FP32", "FP64"), 1
    )
}
_CODES |= {"FC32": 7070, "FC64": 7071}
_DESCRIPTOR = {Field.OUTP_FIELD: OUTP, Field.MASK_FIELD: MASK, Field.INP0_FIELD: INP0, Field.INP1_FIELD: INP1}
_OPERANDS = {
    Field.INP0_TYPE_CODE: 0,
    Field.INP1_TYPE_CODE: 1,
    Field.OUTP_TYPE_CODE: 2,
    Field.INP0_TYPE_STRING: 0,
    Field.INP1_TYPE_STRING: 1,
    Field.OUTP_TYPE_STRING: 2,
}
_ELEMENT = (Field.EL_TYPE_CODE, Field.EL_TYPE_STRING)


def get(obj, field):
    """The value of a field of an object (GrB_get, section 4.2.1.1): an int or a str; a descriptor's values by name.

    obj     a type, a typed operator, monoid or semiring, a Matrix, Vector, Scalar or Descriptor, or grb.GLOBAL
    field   such as grb.NAME, grb.EL_TYPE_CODE, grb.SIZE
    Raises: InvalidValue for a field that this kind of object does not have; NoValue for the type of an operand that
    this operator does not take or does not read.

    >>> from grb_tile import grb
    >>> grb.get(grb.PLUS_TIMES_SEMIRING_FP32, grb.OUTP_TYPE_STRING), grb.get(grb.INT16, grb.SIZE)
    ('GrB_FP32', 2)
    """
    try:
        field = Field(field)
    except ValueError:
        raise InvalidValue(f"field is {field!r}; expected a GrB_Field such as grb.NAME or grb.EL_TYPE_CODE") from None
    value = _of_kind(obj)(obj, field)
    if value is None:
        raise InvalidValue(f"field {field.name} does not go with {obj!r}")
    return value


def set(obj, value, field):
    """Set a field of an object (GrB_set, section 4.2.1.2).

    NAME                       of a Matrix, Vector, Scalar or Descriptor: a str
    OUTP_FIELD ... INP1_FIELD  of a Descriptor: the name of the value, such as grb.REPLACE
    STORAGE_ORIENTATION_HINT   a member of Orientation; no effect: sparse matrices are CSR, with a cached transpose
    value                      as above, or a Scalar of it

    Raises: InvalidValue for another field, a value that the field does not take, or a predefined object; AlreadySet for
    the name of a user-defined type or operator, which is set by its registration; EmptyObject for an empty Scalar.
    """
    get(obj, field)
    field = Field(field)
    if isinstance(value, Scalar):
        if value.is_empty:
            raise EmptyObject(f"value is an empty Scalar; the field {field.name} needs a value")
        value = value.value
    if field in _DESCRIPTOR:
        Descriptor_set(obj, _DESCRIPTOR[field], value)
    elif field is Field.NAME and isinstance(obj, (Matrix, Vector, Scalar, Descriptor)):
        if not isinstance(value, str):
            raise InvalidValue(f"value is {value!r}; the field NAME takes a str")
        if getattr(obj, "frozen", False):
            raise InvalidValue(f"{obj!r} is predefined and cannot be renamed; make one with grb.Descriptor_new()")
        obj.name = value
    elif field is Field.NAME and _is_user_defined(obj):
        raise AlreadySet(f"{obj!r} has its name from its registration; register another to have another name")
    elif field is Field.STORAGE_ORIENTATION_HINT:
        if value not in list(Orientation):
            raise InvalidValue(f"value is {value!r}; the hint takes ROWMAJOR, COLMAJOR, BOTH or UNKNOWN")
    else:
        raise InvalidValue(f"field {field.name} of {obj!r} can be read but not set")


def _of_kind(obj):
    for kind, read in (
        (DataType, _of_type),
        (TypedOpBase, _of_operator),
        ((Matrix, Vector, Scalar), _of_collection),
        (Descriptor, _of_descriptor),
        (Global, _of_library),
    ):
        if isinstance(obj, kind):
            return read
    raise TypeError(
        f"obj is {obj!r}; expected a type, a typed operator (plus[FP64], not plus), a Matrix, Vector, Scalar or "
        "Descriptor, or grb.GLOBAL"
    )


def _is_user_defined(obj):
    """Whether a type or an operator was registered by the program."""
    if isinstance(obj, DataType):
        return obj._is_udt
    return isinstance(obj, TypedOpBase) and not obj.gb_name.startswith(("GrB_", "GxB_"))


def _type(dtype, field):
    """A type's code or its name, by the field."""
    if field.name.endswith("_CODE"):
        return _CODES.get(dtype.name, 0)
    return dtype.gb_obj


def _of_type(dtype, field):
    if field is Field.SIZE:
        return dtype.np_type.itemsize
    return _type(dtype, field) if field is Field.NAME or field in _ELEMENT else None


def _of_operator(op, field):
    if field is Field.NAME:
        return op.gb_name
    if field not in _OPERANDS:
        return None
    types = _operand_types(op)[_OPERANDS[field]]
    if types is None:
        raise NoValue(f"{op!r} has no operand whose type {field.name} would be")
    return _type(types, field)


def _operand_types(op):
    """The types (first, second, result); None for an operand that is absent, or whose value is not used."""
    if op.opclass == "Semiring":
        first, second, _ = _operand_types(op.binaryop)
        return first, second, op.return_type
    if op.opclass in ("IndexUnaryOp", "SelectOp"):
        return op.type if op.uses_values else None, op.thunk_type, op.return_type
    if op.is_positional:
        return None, None, op.return_type
    return op.type, None if op.opclass == "UnaryOp" else op.type2, op.return_type


def _of_collection(x, field):
    if field is Field.NAME:
        return x.name
    if field is Field.STORAGE_ORIENTATION_HINT:
        return Orientation.ROWMAJOR
    return _type(x.dtype, field) if field in _ELEMENT else None


def _of_descriptor(desc, field):
    if field is Field.OUTP_FIELD:
        return REPLACE if desc.replace else DEFAULT
    if field is Field.MASK_FIELD:
        return {(False, False): DEFAULT, (False, True): STRUCTURE, (True, False): COMP, (True, True): COMP_STRUCTURE}[
            desc.complement, desc.structure
        ]
    if field in _DESCRIPTOR:
        return TRAN if (desc.t0 if field is Field.INP0_FIELD else desc.t1) else DEFAULT
    return desc.name if field is Field.NAME else None


def _of_library(library, field):
    version = [int(part) for part in __version__.split(".")[:3]]
    return {
        Field.NAME: "grb_tile", Field.BLOCKING_MODE: Mode.BLOCKING,
        Field.STORAGE_ORIENTATION_HINT: Orientation.ROWMAJOR,
        Field.LIBRARY_VER_MAJOR: version[0], Field.LIBRARY_VER_MINOR: version[1], Field.LIBRARY_VER_PATCH: version[2],
        Field.API_VER_MAJOR: 2, Field.API_VER_MINOR: 1, Field.API_VER_PATCH: 0,
    }.get(field)  # fmt: skip
