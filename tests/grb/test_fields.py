"""GrB_get and GrB_set: codes, names and types are those that SuiteSparse gives for its own objects."""

import graphblas as oracle
import numpy as np
import pytest
from suitesparse_graphblas import ffi, lib

import grb_tile as gb
from grb_tile import exceptions, grb
from grb_tile.grb.fields import Field, Mode, Orientation

oracle.init("suitesparse", blocking=False)
TYPES = (
    "BOOL",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "FP32",
    "FP64",
    "FC32",
    "FC64",
)
OPERANDS = (
    "INP0_TYPE_CODE",
    "INP1_TYPE_CODE",
    "OUTP_TYPE_CODE",
    "INP0_TYPE_STRING",
    "INP1_TYPE_STRING",
    "OUTP_TYPE_STRING",
)


def theirs(kind, handle, field):
    """What GrB_<kind>_get returns: an int, a str, or the exception of its status."""
    if field.endswith("STRING") or field == "NAME":
        out = ffi.new("char[256]")
        status = getattr(lib, f"GrB_{kind}_get_String")(handle, out, getattr(lib, f"GrB_{field}"))
        value = ffi.string(out).decode()
    else:
        out = ffi.new("int32_t*")
        status = getattr(lib, f"GrB_{kind}_get_INT32")(handle, out, getattr(lib, f"GrB_{field}"))
        value = out[0]
    return {
        lib.GrB_SUCCESS: value,
        lib.GrB_NO_VALUE: exceptions.NoValue,
        lib.GrB_INVALID_VALUE: exceptions.InvalidValue,
    }[status]


def ours(obj, field):
    try:
        return grb.get(obj, getattr(grb, field))
    except exceptions.GraphblasException as error:
        return type(error)


def test_the_numbers_are_those_of_the_header():
    for kind in (Field, Orientation, Mode):
        for member in kind:
            assert member == getattr(lib, f"GrB_{member.name}") and getattr(grb, member.name) is member
            assert getattr(grb, f"GrB_{member.name}") is member


@pytest.mark.parametrize("name", TYPES)
def test_types(name):
    mine, other = getattr(gb.dtypes, name), getattr(oracle.dtypes, name)
    for field in ("NAME", "EL_TYPE_CODE", "EL_TYPE_STRING", "OUTP_TYPE_CODE"):
        assert ours(mine, field) == theirs("Type", other.gb_obj, field), field
    size = ffi.new("size_t*")
    assert lib.GrB_Type_get_SIZE(other.gb_obj, size, lib.GrB_SIZE) == 0 and grb.get(mine, grb.SIZE) == size[0]


@pytest.mark.parametrize("name", TYPES)
def test_collections(name):
    v, w = gb.Vector(name, 3), oracle.Vector(name, 3)
    A, B = gb.Matrix(name, 2, 3), oracle.Matrix(name, 2, 3)
    for field in ("EL_TYPE_CODE", "EL_TYPE_STRING", "INP0_TYPE_CODE"):
        assert ours(v, field) == theirs("Vector", w._carg, field)
        assert ours(A, field) == theirs("Matrix", B._carg, field)
    assert (
        grb.get(A, grb.STORAGE_ORIENTATION_HINT)
        == theirs("Matrix", B._carg, "STORAGE_ORIENTATION_HINT")
        == grb.ROWMAJOR
    )
    for x in (v, A, gb.Scalar(name)):
        grb.set(x, "a name", grb.NAME)
        assert x.name == grb.get(x, grb.NAME) == "a name"
        assert grb.get(x, grb.EL_TYPE_STRING) == grb.get(getattr(gb.dtypes, name), grb.NAME)


@pytest.mark.parametrize(
    ("space", "name", "dtype"),
    [
        ("unary", "abs", "FP64"),
        ("unary", "isnan", "FP32"),
        ("unary", "lnot", "BOOL"),
        ("binary", "plus", "INT64"),
        ("binary", "lt", "FP32"),
        ("binary", "atan2", "FP32"),
        ("monoid", "min", "INT8"),
        ("monoid", "lor", "BOOL"),
        ("semiring", "plus_times", "FP64"),
        ("semiring", "min_plus", "INT32"),
        ("semiring", "lor_land", "BOOL"),
        ("semiring", "lor_lt", "FP32"),
        ("indexunary", "valuegt", "FP64"),
        ("indexunary", "rowindex", "INT64"),
        ("indexunary", "tril", "BOOL"),
    ],
)
def test_operators(space, name, dtype):
    mine = getattr(getattr(gb, space), name)[dtype]
    other = getattr(getattr(oracle, space), name)[dtype]
    for field in ("NAME", "SIZE", "EL_TYPE_CODE", *OPERANDS):
        if field == "NAME" and space == "indexunary":
            continue  # C has one GrB_TRIL for all types, and so a name without one
        wanted = theirs(mine.opclass, other.gb_obj, field)
        if (space, name, field[:4]) == ("indexunary", "tril", "INP1"):
            continue  # our thunk of a BOOL tril has a type all the same
        assert ours(mine, field) == wanted, field


def test_descriptors():
    desc = grb.Descriptor_new()
    fields = (grb.OUTP_FIELD, grb.MASK_FIELD, grb.INP0_FIELD, grb.INP1_FIELD)
    assert [grb.get(desc, field) for field in fields] == [grb.DEFAULT] * 4
    for field, value in (
        (grb.OUTP_FIELD, grb.REPLACE),
        (grb.MASK_FIELD, grb.STRUCTURE),
        (grb.MASK_FIELD, grb.COMP_STRUCTURE),
        (grb.MASK_FIELD, grb.COMP),
        (grb.INP0_FIELD, grb.TRAN),
        (grb.INP1_FIELD, grb.TRAN),
    ):
        grb.set(desc, value, field)
        assert grb.get(desc, field) == value
    assert desc.replace and desc.complement and not desc.structure and desc.t0 and desc.t1
    with pytest.raises(exceptions.InvalidValue, match="predefined"):
        grb.set(grb.DESC_T0, grb.REPLACE, grb.OUTP_FIELD)
    with pytest.raises(exceptions.InvalidValue, match="TRAN"):
        grb.set(desc, grb.REPLACE, grb.INP0_FIELD)


def test_names_that_can_be_set():
    """Their status of GrB_<kind>_set_String(..., GrB_NAME), twice, and ours."""

    def name_theirs(kind, handle):
        info = getattr(lib, f"GrB_{kind}_set_String")(handle, ffi.new("char[]", b"mine"), lib.GrB_NAME)
        return {0: None, lib.GrB_ALREADY_SET: exceptions.AlreadySet, lib.GrB_INVALID_VALUE: exceptions.InvalidValue}[
            info
        ]

    def name_ours(obj):
        try:
            return grb.set(obj, "mine", grb.NAME)
        except exceptions.GraphblasException as error:
            return type(error)

    record = np.dtype([("named", np.int32)])
    their_desc = ffi.new("GrB_Descriptor*")
    assert lib.GrB_Descriptor_new(their_desc) == 0
    increment = gb.unary.register_anonymous(lambda x: x + 1)["INT64"]
    for kind, handle, mine in (
        ("Type", oracle.dtypes.register_anonymous(record).gb_obj[0], gb.dtypes.register_anonymous(record)),
        ("Type", oracle.dtypes.INT8.gb_obj, gb.dtypes.INT8),
        ("BinaryOp", oracle.binary.plus["INT8"].gb_obj, gb.binary.plus["INT8"]),
        ("Semiring", oracle.semiring.min_plus["INT8"].gb_obj, gb.semiring.min_plus["INT8"]),
        ("Descriptor", their_desc[0], grb.Descriptor_new()),
        ("Descriptor", lib.GrB_DESC_T0, grb.DESC_T0),
        ("Vector", oracle.Vector(int, 3)._carg, gb.Vector(int, 3)),
        ("Global", lib.GrB_GLOBAL, grb.GLOBAL),
    ):
        for _ in range(2):
            assert name_ours(mine) is name_theirs(kind, handle), (kind, mine)
    assert name_ours(increment) is exceptions.AlreadySet  # SuiteSparse lets the program name it once
    desc = grb.Descriptor_new()
    grb.set(desc, "mine", grb.NAME)
    assert grb.get(desc, grb.NAME) == "mine" and grb.get(grb.DESC_RSC, grb.NAME) == "GrB_DESC_RSC"


def test_a_scalar_holds_the_value():
    A = gb.Matrix(int, 2, 2)
    grb.set(A, gb.Scalar.from_value(int(grb.COLMAJOR)), grb.STORAGE_ORIENTATION_HINT)
    with pytest.raises(exceptions.InvalidValue, match="ROWMAJOR"):
        grb.set(A, gb.Scalar.from_value(9), grb.STORAGE_ORIENTATION_HINT)
    with pytest.raises(exceptions.EmptyObject, match="empty Scalar"):
        grb.set(A, gb.Scalar(int), grb.STORAGE_ORIENTATION_HINT)


def test_the_library():
    assert [grb.get(grb.GLOBAL, f) for f in (grb.API_VER_MAJOR, grb.API_VER_MINOR)] == list(grb.getVersion())
    version = ".".join(
        str(grb.get(grb.GLOBAL, f)) for f in (grb.LIBRARY_VER_MAJOR, grb.LIBRARY_VER_MINOR, grb.LIBRARY_VER_PATCH)
    )
    assert gb.__version__.startswith(version) and grb.get(grb.GLOBAL, grb.NAME) == "grb_tile"
    assert grb.get(grb.GLOBAL, grb.BLOCKING_MODE) == grb.BLOCKING
    grb.set(grb.GLOBAL, grb.COLMAJOR, grb.STORAGE_ORIENTATION_HINT)
    assert grb.get(grb.GLOBAL, grb.STORAGE_ORIENTATION_HINT) == grb.ROWMAJOR  # a hint, not an order


def test_user_defined_types_have_code_0():
    point = gb.dtypes.register_anonymous(np.dtype([("x", np.int32), ("y", np.int32)]), "point")
    v = gb.Vector(point, 3)
    assert grb.get(v, grb.EL_TYPE_CODE) == lib.GrB_UDT_CODE and grb.get(v, grb.EL_TYPE_STRING) == "point"
    assert grb.get(point, grb.SIZE) == 8


def test_what_cannot_be_asked_or_set():
    A = gb.Matrix(int, 2, 2)
    for call, message in (
        (lambda: grb.get(A, 9999), "GrB_Field"),
        (lambda: grb.get(A, grb.SIZE), "SIZE does not go with"),
        (lambda: grb.set(A, 3, grb.NAME), "takes a str"),
        (lambda: grb.set(A, 1, grb.EL_TYPE_CODE), "can be read but not set"),
        (lambda: grb.set(A, 7, grb.STORAGE_ORIENTATION_HINT), "ROWMAJOR"),
        (lambda: grb.set(gb.dtypes.FP64, "real", grb.NAME), "can be read but not set"),
    ):
        with pytest.raises(exceptions.InvalidValue, match=message):
            call()
    with pytest.raises(TypeError, match=r"plus\[FP64\]"):
        grb.get(gb.binary.plus, grb.NAME)
