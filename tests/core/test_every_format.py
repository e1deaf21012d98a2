"""`ss.export`, `ss.import_` and `ss.pack_` in every format, with each argument left out and each of another format
added, as in python-graphblas; expressions that were looked at before; what is kept of a name."""

import itertools

import numpy as np
import pytest
from core import forms
from core.test_every_form import EXPRESSIONS, products

import grb_tile as gb
from grb_tile.core.collection import _view as view
from grb_tile.exceptions import InvalidValue
from support.library import LIBRARY

if LIBRARY == "graphblas":
    pytest.skip("both sides are the same library", allow_module_level=True)

MATRICES = ("A", "A.T.new()", "F", "lib.Matrix.from_scalar(2, 2, 3)", "lib.Matrix(int, 2, 3)")
VECTORS = ("v", "f", "lib.Vector.from_scalar(2, 3)", "lib.Vector(int, 3)")
OF_MATRICES = ("csr", "csc", "hypercsr", "hypercsc", "bitmapr", "bitmapc", "fullr", "fullc", "coo", "coor", "cooc")
OF_VECTORS = ("sparse", "bitmap", "full")


def touched(x, **how):
    """A new object of an expression that autocompute has computed before."""
    for member in ("nvals", "value"):
        if hasattr(x, member):
            break
    made = x.new(**how)
    return made, made.name if "name" in how else None


def named(x, name):
    x.name = name
    return x.name, x


forms.NAMES.update(touched=touched, named=named, setattr=setattr)


PROGRAMS = {
    "exports": products("{}.ss.export({!r})", MATRICES, [name for name in OF_MATRICES if name != "coo"]),
    "exports of vectors": products("{}.ss.export({!r})", VECTORS, OF_VECTORS),
    "other formats": products("{}.ss.export({})", ("A", "v", "F"), ("'other'", "'CSR'", "'csr', other=1", "'full'",
        "'sparse'")),
    "attributes": products("setattr({}, {}, {})", ("A", "v", "s", "c"), ("'name'", "'value'"), ("'n'", "3", "2.5",
        "None", "s", "'a'")),
}  # fmt: skip
TOUCHED = products("touched({}{})", EXPRESSIONS, ("", ", name='n'", ", dtype=float", ", mask=x.S"))
TOUCHED += products("touched({}, is_cscalar={})", ("s.apply('ainv')", "v.reduce()", "v @ f", "s | c"), (True, False))
NAMED = products("named({}, {})", ("A", "v", "s", *EXPRESSIONS[:4]), ("'n'", "''", "None", "3"))


@pytest.mark.parametrize("family", PROGRAMS)
def test_every_form(family):
    forms.check(PROGRAMS[family], strict=False)


@pytest.mark.parametrize("programs", [TOUCHED, NAMED], ids=["touched", "named"])
def test_expressions_that_have_a_value(programs):
    forms.check(programs, True, strict=False)


def objects(kind):
    names = MATRICES if kind == "Matrix" else VECTORS
    return [eval(text, {"lib": gb} | {name: make(gb) for name, make in forms.OPERANDS.items()}) for text in names]


CONFLICTS = {  # arguments of which no format takes both
    "csr": ("row_indices", "cols", "bitmap"), "csc": ("col_indices", "rows", "bitmap"),
    "hypercsr": ("row_indices", "cols", "bitmap"), "hypercsc": ("col_indices", "rows", "bitmap"),
    "bitmap": ("indptr", "rows", "cols", "col_indices", "row_indices"), "coo": ("bitmap",), "sparse": ("bitmap",),
}  # fmt: skip
ALL = [("Matrix", name) for name in OF_MATRICES] + [("Vector", name) for name in OF_VECTORS]


@pytest.mark.parametrize("kind, name", ALL)
def test_there_and_back(kind, name):
    """import_<name>, import_any, pack_<name> of what was exported, raw or not, are the object, and so is what is left
    when an argument that can be found is left out; one of another format, or a missing one, is refused."""
    cls = getattr(gb, kind)
    for x, raw in itertools.product(objects(kind), (False, True)):
        if "full" in name and x.nvals < np.prod(x.shape):
            with pytest.raises(InvalidValue, match=f"{name!r} needs an entry everywhere; .* has {x.nvals} of"):
                x.ss.export(name, raw=raw)
            continue
        arrays = x.ss.export(name, raw=raw)
        assert ("dtype" in arrays) == raw and arrays["format"] in (name, name + "r")
        if raw:
            assert all(value.ndim == 1 for value in arrays.values() if isinstance(value, np.ndarray))
            plain = x.ss.export(name)
            for key, value in plain.items():
                same = value.ravel("F" if name.endswith("c") else "C") if isinstance(value, np.ndarray) else value
                assert np.array_equal(arrays[key], same), key
            assert {"nvals", "nvec"} & set(arrays) == {
                "hypercsr": {"nvec"}, "hypercsc": {"nvec"}, "bitmapr": {"nvals"}, "bitmapc": {"nvals"},
                "sparse": {"nvals"}, "bitmap": {"nvals"},
            }.get(name, set())  # fmt: skip
        arrays.pop("format")
        sizes = dict(zip(("size",) if kind == "Vector" else ("nrows", "ncols"), x.shape))
        conflicts = CONFLICTS.get(name.rstrip("rc") if name[:3] in ("bit", "coo") else name, ())
        for key in conflicts if kind == "Matrix" else {"sparse": ["bitmap"], "bitmap": ["indices"]}.get(name, []):
            with pytest.raises(TypeError, match="Cannot provide both|requires"):
                cls.ss.import_any(**arrays | sizes | {key: np.array([0, 1])})
        for method in (f"import_{name}", *["import_any"] * (not raw)):
            made = getattr(cls.ss, method)(**arrays | sizes, name="n")
            assert made.isequal(x, check_dtype=True) and made.name == "n", method
            for key in arrays if method != "import_any" else ():
                less = {given: value for given, value in arrays.items() if given != key}
                try:
                    found = getattr(cls.ss, method)(**less)
                except (TypeError, ValueError, IndexError, InvalidValue) as error:
                    assert str(error) and not key.startswith("sorted"), key
                else:
                    smaller = found.shape != x.shape
                    assert smaller or key == "bitmap" or found.isequal(x), (method, key)
        if not raw:
            full = cls(x.dtype, *x.shape)
            getattr(full.ss, f"pack_{name}")(**arrays)
            assert full.isequal(x, check_dtype=True)
            left = x.dup()
            left.ss.unpack(name)
            assert left.nvals == 0 and left.shape == x.shape
        with pytest.raises(ValueError, match="Invalid format: 'other'"):
            getattr(cls.ss, f"import_{name}")(**arrays | sizes, format="other")


@pytest.mark.parametrize("name", ["coor", "cooc"])
def test_sorted_entries_only(name):
    arrays = objects("Matrix")[0].ss.export(name)
    key = "sorted_rows" if name == "coor" else "sorted_cols"
    with pytest.raises(ValueError, match=f"{key} must be True for import_{name}"):
        getattr(gb.Matrix.ss, f"import_{name}")(**arrays | {key: False})


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_that_is_taken_is_shared(order):
    array = np.array(np.arange(12.0).reshape(3, 4), order=order)
    for name in ("fullr", "fullc"):
        made = getattr(gb.Matrix.ss, f"import_{name}")(array, take_ownership=True)
        assert made.to_dense().tolist() == array.tolist() and made.ss.format == name
        before = array.tolist()
        made[0, 1] = 99
        made(accum="plus") << 1
        assert array.tolist() == before, "a write changes the caller's array"
    assert gb.Matrix.ss.import_fullr(array).to_dense().tolist() == array.tolist()


# what to write instead of an object as the first argument
REMEDIES = {
    "x.dup() for a copy": lambda: gb.Vector(3).apply("abs"),
        "from_networkx": lambda: __import__("networkx").path_graph(3),
    "from_scipy_sparse": lambda: __import__("scipy.sparse").sparse.eye_array(3),
    "from_dataframe": lambda: __import__("pandas").DataFrame({"a": [1]}), "from_dicts": lambda: {0: {1: 2}},
    "from_dense": lambda: [[1, 2]],
}  # fmt: skip


@pytest.mark.parametrize("remedy", list(REMEDIES)[1:])
def test_what_to_write_instead(remedy):
    data = REMEDIES[remedy]()
    with pytest.raises(TypeError, match=f"gb.Matrix: the first argument is a type.*{remedy}"):
        gb.Matrix(data)
    with pytest.raises(TypeError, match="gb.Scalar: the first argument is a type.*gb.Scalar.from_value"):
        gb.Scalar(data)
    wanted = {"from_dicts": "from_dict", "from_dataframe": "from_dense"}.get(remedy, remedy)
    with pytest.raises(TypeError, match=rf"gb.Vector: the first argument is a type.*{wanted}\("):
        gb.Vector(data)
    for x in (gb.Vector(int, 3), gb.Matrix(int, 2, 2).T, gb.Vector(int, 3).apply("abs")):
        with pytest.raises(TypeError, match=r"x.dup\(\) for a copy"):
            gb.Vector(x)


TEXTS = {  # an array that shares memory is refused with the reason
    "is stored as": lambda: gb.Vector.from_coo([1], [2], size=2),
        "one value for all": lambda: gb.Vector.from_scalar(2, 3),
    "has values of type int64, not float64": lambda: gb.Vector.from_dense([1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_why_an_array_needs_a_copy(text):
    with pytest.raises(ValueError, match=f"{text}.* its array needs a copy"):
        view(TEXTS[text](), np.float64 if "float64" in text else None)


@pytest.mark.parametrize("x", ["A", "F", "v", "f"])
def test_iteration_begins_anywhere(x):
    """seek: entries that are passed over, from the end where it is negative."""
    for name, made in itertools.product(("iterkeys", "itervalues", "iteritems"), [forms.OPERANDS[x](gb)]):
        entries = list(getattr(made.ss, name)())
        for seek in range(-len(entries) - 2, len(entries) + 3):
            start = seek if seek >= 0 else max(0, len(entries) + seek)
            assert list(getattr(made.ss, name)(seek)) == entries[start:], (name, seek)


@pytest.mark.parametrize("dtype", ["i4", "f8", "u2", "c16"])
def test_values_of_either_byte_order(dtype):
    wanted = gb.Vector.from_coo([0, 1], np.array([1, 2], f"<{dtype}"))
    assert gb.Vector.from_coo([0, 1], np.array([1, 2], f">{dtype}")).isequal(wanted, check_dtype=True)
