"""Every public name of python-graphblas exists here and takes arguments of the same names, or is listed with a reason.

Compared are the installed python-graphblas and grb_tile, object by object: the classes, what expressions offer, masks,
operators, and the namespaces.  ABSENT and OTHER_ARGUMENTS list what differs; an entry that is no longer needed fails
too.
"""

import fnmatch
import functools
import inspect
import json
import subprocess
import sys

import pytest

import grb_tile

theirs = pytest.importorskip("graphblas")

_C_CALL = "describes the call into the C library that the expression stands for"
_CONTEXT = "SuiteSparse's own: contexts, burble"
_HASH = "SuiteSparse's hash of the hyperlist"
ABSENT = {          # "where.name" (patterns) -> why
    "*Expression.args": _C_CALL, "*Expression.at": _C_CALL, "*Expression.bt": _C_CALL,
    "*Expression.cfunc_name": _C_CALL, "*Expression.construct_output": _C_CALL, "*Expression.expr_repr": _C_CALL,
    "Updater.opts": "options of SuiteSparse's descriptors are checked and not kept",
    "Recorder.record": "called by their library, with handles of the C library",
    "Matrix.ss.pack_hyperhash": _HASH, "Matrix.ss.unpack_hyperhash": _HASH,
    "gb.ss.Context": _CONTEXT, "gb.ss.burble": _CONTEXT, "gb.ss.global_context": _CONTEXT,
    "gb.exceptions.check_status_carg": "raises from a handle of the C library",
    "gb.ss.*.register_new": "registers C code with SuiteSparse's run-time compiler",
}  # fmt: skip
OTHER_ARGUMENTS = {
    "gb.exceptions.check_status": "their second argument is a list of handles of the C library; here it is the message",
}
NAMESPACES = [
    "", "agg", "agg.ss", "binary", "binary.numpy", "binary.ss", "dtypes", "dtypes.ss", "exceptions", "indexunary",
    "indexunary.ss", "io", "monoid", "monoid.numpy", "monoid.ss", "op", "op.numpy", "op.ss", "select", "select.ss",
    "semiring", "semiring.numpy", "semiring.ss", "ss", "unary", "unary.numpy", "unary.ss", "viz",
]  # fmt: skip
DEPRECATED = {"gb.agg": {"argmax", "argmin", "first", "first_index", "last", "last_index"}}  # they live in agg.ss


def objects(gb):
    """{name: an object of each public class}"""
    A = gb.Matrix.from_coo([0, 1], [1, 0], [True, False])
    B = gb.Matrix.from_coo([0, 1], [1, 0], [1, 1])
    v = gb.Vector.from_coo([0, 1], [True, False])
    s = gb.Scalar.from_value(True)
    found = {
        "Matrix": A, "Vector": v, "Scalar": s, "TransposedMatrix": A.T, "Recorder": gb.Recorder(start=False),
        "StructuralMask": A.S, "ValueMask": v.V, "ComplementedStructuralMask": ~A.S, "ComplementedValueMask": ~A.V,
        "MatrixExpression": A.mxm(A, "any_pair"), "VectorExpression": A.mxv(v, "any_pair"),
        "ScalarExpression": v.reduce("lor"), "MatrixEwiseAddExpr": A | A, "VectorEwiseMultExpr": v & v,
        "ScalarEwiseAddExpr": s | s, "MatrixMatMulExpr": B @ B, "MatrixIndexExpr": A[:, :],
        "VectorIndexExpr": A[0, :], "ScalarIndexExpr": A[0, 0], "Updater": A(), "Assigner": A()[0, :],
        "Matrix.ss": A.ss, "Vector.ss": v.ss, "DataType": A.dtype, "ParameterizedBinaryOp": gb.binary.isclose,
    }  # fmt: skip
    for kind, name in (
        ("unary", "exp"), ("binary", "plus"), ("monoid", "plus"), ("semiring", "plus_times"), ("indexunary",
        "rowindex"),
        ("select", "valuegt"), ("agg", "sum"),
    ):  # fmt: skip
        op = getattr(getattr(gb, kind), name)
        found[f"{kind}.{name}"] = op
        found[f"typed {kind}.{name}"] = op["INT64"] if kind != "unary" else op["FP64"]
    return found


@pytest.fixture(scope="module", autouse=True)
def _autocompute():
    theirs.init("suitesparse", blocking=False)
    with theirs.config.set(autocompute=True), grb_tile.config.set(autocompute=True):
        yield


THEIRS, OURS = {}, {}


def pair(name):
    if not THEIRS:
        with theirs.config.set(autocompute=True), grb_tile.config.set(autocompute=True):
            THEIRS.update(objects(theirs))
            OURS.update(objects(grb_tile))
    return THEIRS[name], OURS[name]


def namespaces(path):
    pair = [theirs, grb_tile]
    for part in filter(None, path.split(".")):
        pair = [getattr(x, part) for x in pair]
    return pair


@functools.cache
def names():
    """{namespace: their names} in a new process: in this one other tests have asked for operators, which makes them."""
    program = f"""
import functools, json, graphblas
graphblas.init("suitesparse", blocking=False)
found = dict((path, dir(functools.reduce(getattr, filter(None, path.split(".")), graphblas))) for path in {NAMESPACES})
print(json.dumps(found))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


INTERNAL_DUNDERS = {"__del__", "__dict__", "__module__", "__slots__", "__weakref__", "__annotations__"}


def public(x):
    return {name for name in dir(x) if name[0] != "_" or (name.endswith("__") and name not in INTERNAL_DUNDERS)}


def listed(table, where, name):
    return any(fnmatch.fnmatchcase(f"{where}.{name}", pattern) for pattern in table)


def arguments(function):
    """(positional ones in order, keyword-only ones sorted, whether others are taken too); None without a signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    only, rest = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD
    return (
        [p.name for p in parameters if p.kind not in (only, rest)],
        sorted(p.name for p in parameters if p.kind is only),
        any(p.kind is rest for p in parameters),
    )


def has_same_arguments(their, our):
    """Whether a call that python-graphblas accepts binds here: its arguments in order, and its keywords or more."""
    if their is None or our is None:
        return True
    return their[0] == our[0] and set(their[1]) <= set(our[1]) and their[2] <= our[2]


def names_of_classes():
    return [
        "Assigner", "ComplementedStructuralMask", "ComplementedValueMask", "DataType", "Matrix", "Matrix.ss",
        "MatrixEwiseAddExpr", "MatrixExpression", "MatrixIndexExpr", "MatrixMatMulExpr", "ParameterizedBinaryOp",
        "Recorder", "Scalar", "ScalarEwiseAddExpr", "ScalarExpression", "ScalarIndexExpr", "StructuralMask",
        "TransposedMatrix", "Updater", "ValueMask", "Vector", "Vector.ss", "VectorEwiseMultExpr", "VectorExpression",
        "VectorIndexExpr", *(f"{typed}{op}" for typed in ("", "typed ") for op in (
            "agg.sum", "binary.plus", "indexunary.rowindex", "monoid.plus", "select.valuegt", "semiring.plus_times",
            "unary.exp",
        )),
    ]  # fmt: skip


@pytest.mark.parametrize("name", names_of_classes())
def test_attributes_exist(name):
    their, our = pair(name)
    missing = {n for n in public(their) - public(our) if not listed(ABSENT, name, n)}
    assert not missing


@pytest.mark.parametrize("name", names_of_classes())
def test_methods_take_the_same_arguments(name):
    their, our = pair(name)
    for attribute in sorted(n for n in public(their) & public(our) if n[0] != "_"):
        try:
            method = getattr(their, attribute)
        except ValueError:  # iso_value of what is not iso
            continue
        if inspect.ismethod(method) or inspect.isfunction(method):
            mine = getattr(our, attribute)
            if not listed(OTHER_ARGUMENTS, name, attribute):
                ours = arguments(mine)
                assert has_same_arguments(arguments(method), ours), (attribute, arguments(method), ours)


@pytest.mark.parametrize("path", NAMESPACES)
def test_namespaces_hold_the_same_names(path):
    their, our = namespaces(path)
    where = f"gb.{path}" if path else "gb"
    missing = {n for n in set(names()[path]) - set(dir(our)) if n[0] != "_"} - DEPRECATED.get(where, set())
    kind = path.split(".")[0]
    if path.endswith(".ss") and kind in ("unary", "binary", "select", "indexunary"):
        where = f"gb.ss.{kind}"
    assert not {n for n in missing if not listed(ABSENT, where, n)}
    for name in DEPRECATED.get(where, ()):
        with pytest.warns(DeprecationWarning):
            assert getattr(our, name) is getattr(grb_tile.agg.ss, name)


@pytest.mark.parametrize("path", NAMESPACES)
def test_functions_take_the_same_arguments(path):
    their, our = namespaces(path)
    where = f"gb.{path}" if path else "gb"
    for name, function in sorted(vars(their).items()):  # not dir: operators would be compiled
        is_function = inspect.isfunction(function) or inspect.ismethod(function)
        if is_function and name[0] != "_" and name in dir(our) and not listed(OTHER_ARGUMENTS, where, name):
            ours = arguments(getattr(our, name))
            assert has_same_arguments(arguments(function), ours), (name, arguments(function), ours)


@pytest.mark.parametrize(
    "kind", ["unary", pytest.param("binary", marks=pytest.mark.slow), "monoid", "semiring", "indexunary", "select"]
)
def test_operators_have_the_same_types(kind):
    their, our = getattr(theirs, kind), getattr(grb_tile, kind)
    for space in ("", "ss"):  # those of numpy take minutes to compile there; their names are compared above
        a, b = (getattr(x, space) if space else x for x in (their, our))
        for name in set(names()[f"{kind}.{space}".strip(".")]) - set(getattr(a, "_deprecated", ())):
            op = getattr(a, name) if name[0] != "_" and name not in ("ss", "numpy") else None
            if isinstance(getattr(op, "types", None), dict):
                wanted = {str(t): str(r) for t, r in op.types.items()}
                assert {str(t): str(r) for t, r in getattr(b, name).types.items()} == wanted, (kind, space, name)


def test_the_lists_are_needed():
    for pattern in ABSENT:
        where, _, name = pattern.rpartition(".")
        if where.startswith("gb.ss.*"):
            assert not hasattr(grb_tile.unary.ss, name) and hasattr(theirs.unary.ss, name)
        elif where.startswith("gb."):
            their, our = namespaces(where[3:])
            assert name in dir(their) and name not in dir(our), pattern
        else:
            pair("Matrix")
            fitting = [n for n in THEIRS if fnmatch.fnmatchcase(n, where)]
            assert fitting, pattern
            assert all(name in dir(THEIRS[n]) and name not in dir(OURS[n]) for n in fitting), pattern
    for entry in OTHER_ARGUMENTS:
        where, _, name = entry.rpartition(".")
        their, our = (getattr(x, name) for x in namespaces(where[3:]))
        assert not has_same_arguments(arguments(their), arguments(our)), entry
