"""new(), dup() and constructors with every pair of keywords, against python-graphblas."""

import functools
import inspect
import itertools

import graphblas as oracle
import pytest

from grb_tile.exceptions import DimensionMismatch
from support.library import LIBRARY, gb

if LIBRARY == "graphblas":
    pytest.skip("both sides are the same library", allow_module_level=True)

KEYWORDS = {
    "dtype": (None, "FP32", bool, "INT8"), "clear": (False, True), "is_cscalar": (None, True, False),
    "mask": (None, "m.S", "~m.V", "M.S", "~M.V", "m", "short.S"), "name": (None, "x"),
}  # fmt: skip
SOURCES = {
    "Matrix": "A", "TransposedMatrix": "A.T", "Vector": "u", "Scalar": "s", "Scalar, empty": "e", "Scalar of C": "c",
    "matrix expression": "A.apply(lib.unary.ainv)", "infix product": "A @ A", "vector expression": "A.mxv(u)",
    "scalar expression": "u.reduce()", "scalar of a matrix": "A.reduce_scalar('max')", "an element": "A[0, 1]",
    "no element": "A[2, 2]", "a row": "A[1, :]", "a part": "A[[2, 0], :2]", "some elements": "u[[2, 0]]",
    "operation of scalars": "s.ewise_add(c)", "infix of scalars": "yes | no", "inner product": "u @ u",
    "a union": "lib.binary.minus(u | u, left_default=1, right_default=2)", "infix of vectors": "u & u",
    "left of a transposed": "A.T.apply(lib.binary.minus, left=3)",
    "right of a transposed": "A.T.apply('minus', right=3)",
    "part of a transposed": "A.T[[0, 1], 1:]", "selection of a transposed": "A.T.select('triu')",
    "product of a transposed": "A.T.mxv(u, 'min_second')", "union of a transposed": "A.T.ewise_union(A, 'minus', 1, 2)",
    "rows of a transposed": "A.T.reduce_rowwise('max')", "columns of a transposed": "A.T.reduce_columnwise('max')",
    "difference of scalars": "s.ewise_add(c, lib.binary.minus)", "division of scalars": "s.ewise_mult(c, 'truediv')",
    "union of scalars": "e.ewise_union(c, 'minus', 2, 3)", "bound scalar": "s.apply(lib.binary.minus, left=1)",
    "a selection": "A.select('tril')", "a masked selection": "A.select(M.S)",
}  # fmt: skip


def names_of(library):
    return {
        "partial": functools.partial, "lib": library,
        "A": library.Matrix.from_coo([0, 1, 1], [1, 0, 2], [2.5, 0, 300], nrows=3, ncols=3),
        "u": library.Vector.from_coo([0, 2], [1, -2], size=3), "s": library.Scalar.from_value(5),
        "e": library.Scalar(float), "c": library.Scalar.from_value(7, is_cscalar=True),
        "m": library.Vector.from_coo([0, 1], [True, False], size=3),
        "short": library.Vector.from_coo([0], True, size=2),
        "yes": library.Scalar.from_value(True), "no": library.Scalar.from_value(False, is_cscalar=True),
        "M": library.Matrix.from_coo([0, 1], [1, 0], [True, False], nrows=3, ncols=3),
    }  # fmt: skip


def described(library, source, method, given):
    """What the call makes."""
    names = names_of(library)
    try:
        x = eval(source, names)
        if isinstance(given.get("mask"), str):
            given = given | {"mask": eval(given["mask"], names)}
        made = (getattr(x, method) if method else x)(**given)
        kind = type(made).__name__
        facts = [kind, made.dtype.name, made.shape, made.nvals, made.name if given.get("name") else None]
        if kind == "Scalar":
            return [*facts, made.is_cscalar, made.value, made.is_empty]
        return [*facts, sorted(zip(*(part.tolist() for part in made.to_coo()), strict=True))]
    except Exception:  # whose class tests/bad_input checks
        return "refused"


def pairs(keywords):
    """No keyword, each value of each keyword, each pair of values of two keywords."""
    yield {}
    for count in (1, 2):
        for chosen in itertools.combinations(keywords.items(), count):
            for values in itertools.product(*(values for _, values in chosen)):
                yield dict(zip((name for name, _ in chosen), values, strict=True))


CALLS = [(name, method) for name in SOURCES for method in ("new", "dup") if name[0].islower() or method == "dup"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name, method", CALLS)
def test_every_pair_of_keywords(name, method):
    taken = inspect.signature(getattr(eval(SOURCES[name], names_of(oracle)), method)).parameters
    for given in pairs({key: values for key, values in KEYWORDS.items() if key in taken}):
        if given.get("clear") and given.get("is_cscalar", False) is None:
            continue  # there True of infix expressions, False of others
        wanted = described(oracle, SOURCES[name], method, given)
        found = described(gb, SOURCES[name], method, given)
        assert found == wanted, (given, found, wanted)


TYPED = {"dtype": (None, int, "FP32", bool, "nothing"), "name": (None, "x", "")}
SIZED = {**TYPED, "nrows": (0, 3, 5, -1, 2.5), "ncols": (0, 4, "a")}
LENGTH = {**TYPED, "size": (0, 3, 5, -1, 2.5)}
OF_SCALARS = {**TYPED, "is_cscalar": (None, False, True)}
CONSTRUCTORS = {
    "lib.Scalar": OF_SCALARS, "lib.Vector": LENGTH, "lib.Matrix": SIZED,
    **{f"partial(lib.Scalar.from_value, {value})": TYPED for value in (3, 2.5, True, None, "lib.Scalar(int)", "s")},
    **{f"partial(lib.Scalar.from_value, is_cscalar={flag}, value=3)": {"name": (None, "x")} for flag in (False, True)},
    "partial(lib.Vector.from_coo, [0, 2], [1.5, 3])": LENGTH | {"dup_op": (None, "plus", "nothing")},
    "partial(lib.Vector.from_coo, [1, 1], 2)": LENGTH | {"dup_op": (None, "plus", "nothing")},
    "partial(lib.Vector.from_coo, [], [])": LENGTH,
    "partial(lib.Vector.from_scalar, 1)": TYPED | {"size": (3, 5, -1, 2.5)},
    "partial(lib.Vector.from_dense, [0, 2, 0])": {"name": (None, "x"), "missing_value": (None, 0, 2.5)},
    "partial(lib.Matrix.from_coo, [0, 2], [1, 0], [1.5, 3])": SIZED | {"dup_op": (None, "min")},
    "partial(lib.Matrix.from_coo, [1, 1], [1, 1], 4)": SIZED | {"dup_op": (None, "min")},
    "partial(lib.Matrix.from_dense, [[0, 2], [3, 0]])": {"name": (None, "x"), "missing_value": (None, 0, 3)},
    "partial(lib.Matrix.from_scalar, 2)": SIZED,
    "partial(lib.Matrix.from_dicts, {0: {1: 2}, 2: {0: 300}})": SIZED | {"ncols": (2, 4, "a")},
    "partial(lib.Vector.from_dict, {2: 300, 0: 1})": LENGTH, "partial(lib.Vector.from_pairs, [(1, 2), (0, 3)])": LENGTH,
    "partial(lib.Matrix.from_edgelist, [(0, 1, 5), (2, 0, 7)])": SIZED,
    "partial(lib.Matrix.from_csr, [0, 1, 1, 2], [2, 0], [1, 2])": {**TYPED, "ncols": (3, 5, 2)},
    "partial(lib.Matrix.from_csc, [0, 1, 1, 2], [2, 0], [1, 2])": {**TYPED, "nrows": (3, 5, 2)},
}  # fmt: skip


@pytest.mark.parametrize("source", CONSTRUCTORS)
def test_every_pair_of_keywords_of_constructors(source):
    for given in pairs(CONSTRUCTORS[source]):
        wanted, found = (described(library, source, None, given) for library in (oracle, gb))
        assert found == wanted, (given, found, wanted)


@pytest.mark.parametrize("receiver", ["A", "A.T", "u", "B", "B.T"])
@pytest.mark.parametrize("mask", ["A.S", "~A.V", "B.V", "~B.S", "u.S", "~v.V", "A", "u"])
def test_masks_of_other_shapes_are_refused(receiver, mask):
    """Of select a mask of another number of dimensions is a TypeError; of the same number a DimensionMismatch."""
    names = {
        "A": gb.Matrix.from_coo([0], [1], [True], nrows=3, ncols=3), "u": gb.Vector.from_coo([0], [True], size=3),
        "B": gb.Matrix.from_coo([0], [1], [True], nrows=3, ncols=2), "v": gb.Vector.from_coo([0], [True], size=2),
    }  # fmt: skip
    x, m = eval(receiver, names), eval(mask, names)
    parent = getattr(m, "parent", m)
    if parent.shape == x.shape:
        x.select(m).new(), x.apply("identity").new(mask=m)
        return
    with pytest.raises(DimensionMismatch if parent.ndim == x.ndim else TypeError):
        x.select(m)
    with pytest.raises((DimensionMismatch, TypeError)):
        x.apply("identity").new(mask=m)
