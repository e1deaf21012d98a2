"""Each function with each argument of another kind: objects, operators, indices, shapes; and operands of two types."""

import inspect

import graphblas as oracle
import pytest

import grb_tile as gb
from grb_tile import grb
from grb_tile.exceptions import DimensionMismatch, IndexOutOfBound, InvalidIndex, InvalidValue, NullPointer

N = 4
SEMIRING, BINARY, UNARY = {"Semiring"}, {"BinaryOp", "Monoid", "Semiring"}, {"UnaryOp"}
INDEXED = {"IndexUnaryOp", "SelectOp"}
# of each function: its objects by the name of the argument and their classes, and the kinds of operators that it takes
M, V, S, EITHER = "Matrix", "Vector", "Scalar", "Matrix or Vector"
CALLS = {
    "mxm": ({"C": M, "A": M, "B": M}, SEMIRING),
    "mxv": ({"w": V, "A": M, "u": V}, SEMIRING),
    "vxm": ({"w": V, "u": V, "A": M}, SEMIRING),
    "eWiseAdd": ({"C": EITHER, "A": EITHER, "B": EITHER}, BINARY),
    "eWiseMult": ({"C": EITHER, "A": EITHER, "B": EITHER}, BINARY),
    "eWiseUnion": ({"C": EITHER, "A": EITHER, "B": EITHER}, BINARY),
    "apply": ({"C": EITHER, "A": M}, UNARY),
    "apply_BinaryOp1st": ({"C": EITHER, "A": M}, BINARY),
    "apply_BinaryOp2nd": ({"C": EITHER, "A": M}, BINARY),
    "apply_IndexOp": ({"C": EITHER, "A": M}, INDEXED),
    "select": ({"C": EITHER, "A": M}, INDEXED),
    "transpose": ({"C": M, "A": M}, None),
    "kronecker": ({"C": M, "A": M, "B": M}, BINARY),
    "extract": ({"C": EITHER, "A": M}, None),
    "Col_extract": ({"w": V, "A": M}, None),
    **dict.fromkeys(("assign", "subassign"), ({"C": EITHER}, None)),
    **dict.fromkeys(("Row_assign", "Col_assign", "Row_subassign", "Col_subassign"), ({"C": M}, None)),
    **{f"Scalar_{name}": ({"s": S}, None) for name in ("dup", "clear", "nvals", "setElement", "extractElement")},
    **{f"Vector_{name}": ({"u": V}, None) for name in ("dup", "clear", "resize", "size", "nvals", "extractElement")},
    **{f"Vector_{name}": ({"w": V}, None) for name in ("build", "setElement", "removeElement")},
    "Vector_extractTuples": ({"u": V}, None),
    "Matrix_diag": ({"v": V}, None),
    **{f"Matrix_{name}": ({"A": M}, None) for name in ("dup", "clear", "resize", "nrows", "ncols", "nvals")},
    **{f"Matrix_{name}": ({"A": M}, None) for name in ("extractElement", "extractTuples", "export", "serialize")},
    **{f"Matrix_{name}": ({"C": M}, None) for name in ("build", "setElement", "removeElement")},
}
WITHOUT = {"ALL", "reduce", "Matrix_deserialize", "Matrix_import", "Matrix_new", "Scalar_new", "Vector_new"} | {
    *("error", "finalize", "free", "getVersion", "init", "wait")
}
OPS = {
    "UnaryOp": gb.unary.ainv, "BinaryOp": gb.binary.plus, "Monoid": gb.monoid.min, "Semiring": gb.semiring.min_plus,
    "IndexUnaryOp": gb.indexunary.rowindex, "SelectOp": gb.select.tril, "Aggregator": gb.agg.sum,
}  # fmt: skip
OPERATIONS = [name for name in CALLS if name in grb.operations.__all__]


def objects():
    return {
        M: gb.Matrix.from_coo([0, 2], [1, 3], [5, 6], int, nrows=N, ncols=N),
        V: gb.Vector.from_coo([0, 2], [5, 6], int, size=N),
        S: gb.Scalar.from_value(1),
    }


def arguments(name):
    """Right arguments of the function, by name."""
    classes, kinds = CALLS[name]
    found = {key: objects()[M if of == EITHER else of] for key, of in classes.items()}
    if kinds:
        found["op"] = OPS[max(kinds)]
    if name == "kronecker":
        found["C"] = gb.Matrix(int, N * N, N * N)
    if "assign" in name:
        found |= {"I": [0, 1], "J": [0, 1], "u": 7, "A": 7}
    elif name in {"extract", "Col_extract"}:
        found |= {"I": grb.ALL, "J": grb.ALL}
    elif name.endswith("build"):
        found[min(classes)].clear()
        found |= {"I": [0, 1], "J": [0, 1], "X": [3, 4]}
    numbers = {"i": 0, "j": 1, "x": 1, "y": 1, "alpha": 1, "beta": 1, "thunk": 0, "size": N, "nrows": N, "ncols": N}
    parameters = inspect.signature(getattr(grb, name)).parameters
    found = dict.fromkeys(("Mask", "mask", "accum")) | numbers | found
    return {key: value for key, value in found.items() if key in parameters}


def refused(name, error, says, **change):
    """The call with one argument changed raises this, and leaves its output as it was."""
    given = arguments(name) | change
    output = next(iter(given.values()))
    kept = output.dup() if hasattr(output, "dup") else None
    with pytest.raises(error, match=f"^{says}"):
        getattr(grb, name)(**given)
    assert kept is None or output.isequal(kept)


def test_the_table_has_every_function():
    assert set(CALLS) | WITHOUT == {*grb.operations.__all__, *grb.methods.__all__}


@pytest.mark.parametrize("name", CALLS)
def test_objects_of_another_class(name):
    getattr(grb, name)(**arguments(name))
    for argument, wanted in CALLS[name][0].items():
        refused(name, NullPointer, f"{name}: {argument} is None; an object is required", **{argument: None})
        for wrong in (*objects().values(), 3, "A", [1, 2]):
            if type(wrong).__name__ not in wanted:
                says = f"{name}: {argument} is {type(wrong).__name__}; expected {wanted}$"
                refused(name, TypeError, says, **{argument: wrong})


@pytest.mark.parametrize("name", [name for name in CALLS if CALLS[name][1]])
def test_operators_of_another_kind(name):
    refused(name, NullPointer, f"{name}: op is None", op=None)
    for kind, op in OPS.items():
        for given in (op, op[int]):
            if kind in CALLS[name][1]:
                getattr(grb, name)(**arguments(name) | {"op": given})
            else:
                refused(name, TypeError, f"{name}: op is .*; expected ", op=given)
    for wrong in (3, [1], gb.Scalar.from_value(1)):
        refused(name, TypeError, "", op=wrong)
    with pytest.raises(ValueError, match="Unknown|Bad"):
        getattr(grb, name)(**arguments(name) | {"op": "no such name"})


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("kind", OPS)
def test_an_accumulator_is_a_binary_operator(name, kind):
    if kind in {"BinaryOp", "Monoid"}:
        getattr(grb, name)(**arguments(name) | {"accum": OPS[kind]})
    else:
        refused(name, TypeError, f"{name}: accum is .*; expected BinaryOp or Monoid$", accum=OPS[kind])


@pytest.mark.parametrize("kind", OPS)
def test_what_combines_duplicates_and_what_reduces(kind):
    for name in ("Vector_build", "Matrix_build"):
        if kind in {"BinaryOp", "Monoid"}:
            getattr(grb, name)(**arguments(name), dup=OPS[kind])
        else:
            refused(name, TypeError, f"{name}: dup is .*; expected BinaryOp or Monoid$", dup=OPS[kind])
    A, w, s = objects().values()
    for call in (lambda: grb.reduce(w, None, None, OPS[kind], A), lambda: grb.reduce(s, None, OPS[kind], A)):
        if kind in BINARY:
            call()
        else:
            with pytest.raises(TypeError, match="^reduce: op is .*; expected BinaryOp or Monoid or Semiring$"):
                call()


@pytest.mark.parametrize("name", OPERATIONS)
def test_masks_and_descriptors(name):
    mask = "Mask" if "Mask" in inspect.signature(getattr(grb, name)).parameters else "mask"
    refused(name, TypeError, f"{name}: mask is Scalar; expected Matrix or Vector$", **{mask: objects()[S]})
    for wrong in (gb.Matrix(bool, N + 1, 2), gb.Vector(bool, N + 1)):
        shape = " x ".join(map(str, wrong.shape))
        refused(name, DimensionMismatch, f"{name}: the mask has shape {shape} but must", **{mask: wrong})
    refused(name, TypeError, "desc is 1; expected None or a Descriptor", desc=1)


@pytest.mark.parametrize("name", OPERATIONS)
def test_shapes_that_do_not_fit(name):
    """Of the output, then of each operand; the message has both shapes, the wrong one where it belongs."""
    given = arguments(name)
    first, *others = CALLS[name][0]
    if "assign" not in name:
        wrong = type(given[first])(int, *(size + 1 for size in given[first].shape))
        have, want = (" x ".join(map(str, x.shape)) for x in (wrong, given[first]))
        says = f"{name}: the output has shape {have} but the result has shape {want};"
        refused(name, DimensionMismatch, says, **{first: wrong})
    else:
        value, region = (
            "u" if name.startswith(("Row", "Col")) else "A",
            (2,) if name.startswith(("Row", "Col")) else (2, 2),
        )
        wrong = gb.Vector(int, 3) if len(region) == 1 else gb.Matrix(int, 3, 2)
        have, want = (" x ".join(map(str, shape)) for shape in (wrong.shape, region))
        says = f"{name}: the value has shape {have} but the indexed region has shape {want}$"
        refused(name, DimensionMismatch, says, **{value: wrong})
    if name in {"mxm", "mxv", "vxm", "eWiseAdd", "eWiseMult", "eWiseUnion"}:
        for argument in others:
            wrong = type(given[argument])(int, *(size + 1 for size in given[argument].shape))
            refused(name, DimensionMismatch, "", **{argument: wrong})


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("argument", ["I", "J"])
def test_lists_of_indices(name, argument):
    parameters = inspect.signature(getattr(grb, name)).parameters
    if argument not in parameters:
        return
    for wrong in (0, 99, -1, True, "0", None, [0.5], [[0]], slice(0, 2)):
        refused(
            name, TypeError, f"{argument} is .*; expected a list or array of integers, or grb.ALL$", **{argument: wrong}
        )
    for at in (-1, N):
        says = rf"{argument}\[1\] is {at}, outside 0 .. {N - 1}$"
        refused(name, IndexOutOfBound, says, **{argument: [0, at]})


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("argument", ["i", "j"])
def test_positions(name, argument):
    if argument not in inspect.signature(getattr(grb, name)).parameters:
        return
    for at in (-1, N):
        refused(name, InvalidIndex, f"{argument} is {at}, outside 0 .. {N - 1}$", **{argument: at})
    for wrong in (True, 1.0, "0", None, [0], grb.ALL):
        refused(name, TypeError, f"{argument} is .*; expected an integer$", **{argument: wrong})


@pytest.mark.parametrize("call", ["Vector_new", "Vector_resize", "Matrix_new", "Matrix_resize"])
def test_sizes(call):
    sizes = {"size": N} if "Vector" in call else {"nrows": N, "ncols": N}
    start = {"dtype": "INT64"} if call.endswith("new") else {"u" if "Vector" in call else "A": objects()[call[:6]]}
    for argument in sizes:
        for wrong, error in ((-1, InvalidValue), ((1 << 60) + 1, InvalidValue), (True, TypeError), (2.0, TypeError)):
            with pytest.raises(error, match=f"^{argument} is {wrong}; expected (0 .. 2.60|an integer)$"):
                getattr(grb, call)(**start, **sizes | {argument: wrong})


TYPES = ["INT8", "UINT16", "FP32", "BOOL"]


@pytest.mark.parametrize("op", ["first", "second", "minus", "times", "lt"])
@pytest.mark.parametrize("name", ["eWiseAdd", "eWiseMult", "kronecker", "mxm", "mxv", "vxm"])
def test_operands_of_two_types(name, op):
    """By the operator without types: T has the type, and the values, that it has in SuiteSparse."""
    calls = {
        "eWiseAdd": lambda A, B, u, op: A.ewise_add(B, op),
        "eWiseMult": lambda A, B, u, op: A.ewise_mult(B, op),
        "kronecker": lambda A, B, u, op: A.kronecker(B, op),
        "mxm": lambda A, B, u, op: A.mxm(B, op),
        "mxv": lambda A, B, u, op: A.mxv(u, op),
        "vxm": lambda A, B, u, op: u.vxm(A, op),
    }
    monoid = "lor" if op == "lt" else "max"
    text = f"{monoid}_{op}" if name in {"mxm", "mxv", "vxm"} else op
    kind = "semiring" if "_" in text else "binary"
    for left in TYPES:
        for right in TYPES:
            if "BOOL" in (left, right) and op == "minus":
                continue
            pairs = []
            for library in (gb, oracle):
                A = library.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 2], [3, 0, 5, 1], left, nrows=3, ncols=3)
                B = library.Matrix.from_coo([0, 1, 2, 2], [1, 1, 2, 0], [2, 1, 0, 7], right, nrows=3, ncols=3)
                pairs.append((A, B, library.Vector.from_coo([0, 1, 2], [2, 0, 7], right)))
            try:
                wanted = calls[name](*pairs[1], getattr(getattr(oracle, kind), text)).new()
            except Exception:  # no operator for these types
                continue
            (A, B, u), typed = pairs[0], getattr(getattr(gb, kind), text)
            out = gb.Matrix("FP64", *wanted.shape) if wanted.ndim == 2 else gb.Vector("FP64", *wanted.shape)
            given = {"vxm": (u, A), "mxv": (A, u)}.get(name, (A, B))
            getattr(grb, name)(out, None, None, typed, *given)
            expected = gb.io.from_graphblas(wanted)
            assert out.isequal(expected.dup("FP64")), (left, right)


def test_operands_of_a_record_and_a_number():
    """By a function of both, which has no type for the operands the other way round."""
    parts = gb.dtypes.register_anonymous({"a": "INT16", "b": "FP64"})
    A = gb.Matrix(parts, 2, 2)
    A[0, 1], A[1, 0] = (3, 0.5), (5, 0.25)
    B = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [10, 20, 30], "INT8", nrows=2, ncols=2)
    scaled = gb.binary.register_anonymous(lambda x, y: x["b"] * y, is_udt=True)
    total = gb.semiring.register_anonymous(gb.monoid.plus, scaled)
    C, K = gb.Matrix("FP64", 2, 2), gb.Matrix("FP64", 4, 4)
    calls = {
        "eWiseMult": (C, (scaled, A, B), A.ewise_mult(B, scaled)),
        "kronecker": (K, (scaled, A, B), A.kronecker(B, scaled)),
        "mxm": (C, (total, A, B), A.mxm(B, total)),
    }
    for name, (out, given, wanted) in calls.items():
        getattr(grb, name)(out, None, None, *given)
        assert out.nvals and out.isequal(wanted.new("FP64")), name


def full(nrows, ncols):
    return gb.Matrix.from_scalar(1, nrows, ncols)


def test_names_and_blobs_of_another_kind():
    """Names are written as in the specification; the bytes of a Vector are no Matrix."""
    for name in ("PLUS_INT64", "PLUS_TIMES_SEMIRING_INT64", "MIN_MONOID_FP32", "AINV_INT8", "TRIL", "DESC_RSC", "ALL"):
        assert getattr(grb, name) is not None
        for wrong in (name.lower(), name.capitalize(), f"{name}_", f"_{name}", f"X{name}", name.replace("_", "__")):
            if wrong != name:
                with pytest.raises(AttributeError, match=wrong):
                    getattr(grb, wrong)
    with pytest.raises(TypeError, match="^Matrix_deserialize: A is Vector; expected Matrix$"):
        grb.Matrix_deserialize(gb.io.serialize(gb.Vector(int, 3)))


def test_bounds_of_rows_and_columns():
    """Of a matrix of 2 rows and 5 columns, and of its transpose: each index has the bound of its own side."""
    for nrows, ncols, desc in ((2, 5, None), (5, 2, grb.DESC_T0)):
        A = gb.Matrix.from_coo([0, nrows - 1], [0, ncols - 1], [1, 2], int, nrows=nrows, ncols=ncols)
        rows, columns = (nrows, ncols) if desc is None else (ncols, nrows)
        C, w = gb.Matrix(int, 1, 1), gb.Vector(int, 1)
        calls = {
            "build": lambda i, j: grb.Matrix_build(gb.Matrix(int, rows, columns), [i], [j], [1]),
            "set": lambda i, j: grb.Matrix_setElement(gb.Matrix(int, rows, columns), 1, i, j),
            "remove": lambda i, j: grb.Matrix_removeElement(gb.Matrix(int, rows, columns), i, j),
            "element": lambda i, j: grb.Matrix_extractElement(full(rows, columns), i, j),
            "extract": lambda i, j: grb.extract(C, None, None, A, [i], [j], desc),
            "Col_extract": lambda i, j: grb.Col_extract(w, None, None, A, [i], j, desc),
            "assign": lambda i, j: grb.assign(gb.Matrix(int, rows, columns), None, None, 1, [i], [j]),
            "subassign": lambda i, j: grb.subassign(gb.Matrix(int, rows, columns), None, None, 1, [i], [j]),
            "Row_assign": lambda i, j: grb.Row_assign(gb.Matrix(int, rows, columns), None, None, 1, i, [j]),
            "Col_assign": lambda i, j: grb.Col_assign(gb.Matrix(int, rows, columns), None, None, 1, [i], j),
        }
        for name, call in calls.items():
            call(rows - 1, columns - 1)
            for i, j, side, size in ((rows, 0, "i", rows), (0, columns, "j", columns)):
                says = rf"^{side}(\[0\])? is {size}, outside 0 .. {size - 1}$"
                with pytest.raises((IndexOutOfBound, InvalidIndex), match=f"(?i){says}"):
                    call(i, j)
            assert C[0, 0].new().value == (2 if name == "extract" else C.get(0, 0)), name
