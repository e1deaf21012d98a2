"""Rows of what changes an object: elements, assignments with every kind of index and value, build, resize, setdiag."""

import numpy as np

from calls.indices import KINDS, REFUSED, keeps, picked
from calls.table import own, refused, row
from grb_tile.exceptions import DimensionMismatch, EmptyObject
from support.battery import WRITE_OPTIONS
from support.plain import Plain

# The specification leaves assignments with repeated indices undefined, and SuiteSparse breaks its heap: the random
# programs of tests/operations/test_in_place.py have them, against a dictionary.
PLACES = [kind for kind in KINDS if kind != "repeats"]
OPTIONS = [option for option in WRITE_OPTIONS if option.accum in (None, "plus")]


def shape_of(indices, sizes):
    """The shape of what indices pick of an object of those sizes."""
    return tuple(len(picked(kind, n)) for kind, n in zip(indices, sizes, strict=True) if keeps(kind))


def object_of(lib, shape, x):
    """An object of that shape in the library, about half of its positions present, of values that follow x."""
    here = np.arange(int(np.prod(shape))).reshape(shape) % 3 != 1
    where = np.nonzero(here)
    values = (np.arange(len(where[0])) + x) % 5
    if len(shape) == 1:
        return lib.Vector.from_coo(where[0], values, "INT64", size=shape[0])
    return lib.Matrix.from_coo(*where, values, "INT64", nrows=shape[0], ncols=shape[1])


def value_of(lib, o, kind, shape):
    """A value of that kind that fits the region."""
    if kind == "number":
        return 6
    if kind == "zero":
        return 0
    if kind == "Scalar":
        return o.s
    if kind == "empty Scalar":
        return o.e
    if kind == "list":
        return (np.arange(int(np.prod(shape))).reshape(shape) % 4).tolist()
    if kind == "array":
        return np.arange(int(np.prod(shape)), dtype=np.int16).reshape(shape)
    made = object_of(lib, shape, 2)
    return lib.unary.ainv(made) if kind == "expression" else made


VALUES = ("number", "object", "empty Scalar", "array", "zero", "Scalar", "list", "expression")


def fits(kind, shape):
    return (
        bool(shape)
        and 0 not in shape
        or kind in ("number", "zero", "Scalar", "empty Scalar", "object")
        and (bool(shape) or kind != "object")
    )


def assigned(indices, kind, option, inside):
    """C[I] = value, or C(mask, accum, replace)[I] << value, or C[I](mask, ...) << value."""

    def call(lib, o):
        C = o.A if len(indices) == 2 else o.v
        shape = shape_of(indices, C.shape)
        keys = tuple(KINDS[index](lib) for index in indices)
        keys = keys if len(keys) == 2 else keys[0]
        value = value_of(lib, o, kind, shape)
        mask = o.M if len(indices) == 2 else o.m
        if inside:
            mask = object_of(lib, shape, 0)
        how = option.keywords(lib, mask)
        if not how:
            C[keys] = value
        elif inside:
            C[keys](**how) << value
        else:
            C(**how)[keys] << value

    return call


def assignments(pairs, everything):
    """{name: call}: of each kind of index either all values and options, or one after the other, changed each time."""
    found, turn = {}, 0
    for indices in pairs:
        shape = shape_of(indices, (5, 7) if len(indices) == 2 else (7,))
        kinds = [kind for kind in VALUES if fits(kind, shape)]
        if everything:
            chosen = [(kind, option) for option in OPTIONS for kind in kinds]
        else:
            chosen = [(kinds[(turn + k) % len(kinds)], OPTIONS[(turn * 5 + k * 7) % len(OPTIONS)]) for k in range(3)]
        for kind, option in chosen:
            turn += 1
            inside = bool(shape) and option.mask != "none" and turn % 2 == 0
            text = f"{', '.join(indices)} = {kind} [{option}{' of the region' if inside else ''}]"
            found[text] = assigned(indices, kind, option, inside)
    return found


row("Matrix.__setitem__", assignments([(a, b) for a in PLACES for b in PLACES], everything=False), thin=True)
row("Vector.__setitem__", assignments([(a,) for a in PLACES], everything=False))
EVERY = {  # few kinds of index, every value, mask, accumulator and replace
    "Vector": [("step",), ("list",), ("all",), ("backwards",)],
    "Matrix": [("all", "int"), ("int", "all"), ("step", "list"), ("all", "all"), ("from with step", "last")],
}
for cls, pairs in EVERY.items():
    row(f"{cls}.__call__", assignments(pairs, everything=True), thin=True)
for cls, name in (("Matrix", "A"), ("Vector", "v")):
    for kind in REFUSED:

        def bad(lib, o, name=name, kind=kind):
            index = REFUSED[kind](lib)
            getattr(o, name)[(index, 0) if name == "A" else index] = 1

        row(f"{cls}.__setitem__", {f"refused: {kind}": refused(bad)})

row(
    "Matrix.__setitem__",
    {
        "every element": lambda lib, o: [o.A.__setitem__((i, j), i + j) for i in range(5) for j in range(7)] and None,
        "each column in turn": lambda lib, o: (
            [o.A.__setitem__((slice(None), j), object_of(lib, (5,), j)) for j in range(7)] and None
        ),
        "each row in turn": lambda lib, o: (
            [o.A.__setitem__((i, slice(None)), object_of(lib, (7,), i)) for i in range(5)] and None
        ),
        "a column, then a row": lambda lib, o: (
            [o.A.__setitem__((slice(None), 3), o.w), o.A.__setitem__((2, slice(None)), o.u)] and None
        ),
        "a transpose": lambda lib, o: o.Q.__setitem__((slice(None), slice(None)), o.Q.T),
        "itself": lambda lib, o: o.A.__setitem__((slice(None), slice(None, None, -1)), o.A),
        "its own row": lambda lib, o: o.A.__setitem__((0, slice(None)), o.A[4, :].new()),
        "refused: a list of another length": refused(lambda lib, o: o.A.__setitem__((0, slice(None)), [1, 2])),
        "refused: an object of another size": refused(lambda lib, o: o.A.__setitem__((0, slice(None)), o.w)),
        "refused: text as a value": refused(lambda lib, o: o.A.__setitem__((0, 0), "one")),
    },
)
row(
    "Vector.__setitem__",
    {
        "every element": lambda lib, o: [o.v.__setitem__(i, 9 - i) for i in range(7)] and None,
        "itself backwards": lambda lib, o: o.v.__setitem__(slice(None, None, -1), o.v),
        "refused: an object of another size": refused(lambda lib, o: o.v.__setitem__(slice(None), o.w)),
        "refused: a list of another length": refused(lambda lib, o: o.v.__setitem__([0, 1], [1, 2, 3])),
    },
)

# ---------------------------------------------------------------------- deleted elements, whole objects


def deleted(x, *indices):
    """del x[index] for each index, x an operand."""

    def call(lib, o):
        for index in indices:
            del getattr(o, x)[index]

    return call


def lines_deleted(lib, o):
    del o.A[1, :]
    del o.A[:, [0, 2]]
    del o.A[3:, ::3]
    return o.A


def without(x, gone):
    """x as Plain without the positions for which gone(...) holds."""
    kept = np.array([not gone(*map(int, p)) for p in zip(*x.indices, strict=True)], bool)
    return Plain(x.shape, x.dtype, tuple(i[kept] for i in x.indices), x.values[kept])


def in_lines(i, j):
    return i == 1 or j in (0, 2) or (i >= 3 and j % 3 == 0)


row(
    "Matrix.__delitem__",
    {
        "elements": deleted("A", (0, 0), (-1, -1), (2, 3), (np.int64(4), 1)),
        "lines and regions": own(lines_deleted, lambda o: without(o.A, in_lines)),
        "refused: too large": refused(lambda lib, o: o.A.__delitem__((5, 0))),
    },
)
row(
    "Vector.__delitem__",
    {
        "elements": deleted("v", 0, -1, np.uint8(3)),
        "a slice": own(
            lambda lib, o: o.v.__delitem__(slice(1, None, 2)) or o.v, lambda o: without(o.v, lambda i: i % 2)
        ),
        "refused: too large": refused(lambda lib, o: o.v.__delitem__(7)),
    },
)


def whole(target, value, option):
    def call(lib, o):
        C, mask = (o.A, o.M) if target == "Matrix" else (o.v, o.m)
        what = {
            "number": lambda: 4,
            "zero": lambda: 0,
            "Scalar": lambda: o.s,
            "empty Scalar": lambda: o.e,
            "object": lambda: o.B if target == "Matrix" else o.u,
            "expression": lambda: (
                lib.binary.plus(o.B & o.C) if target == "Matrix" else lib.semiring.plus_times(o.w @ o.B)
            ),
            "infix": lambda: lib.monoid.plus(o.B | o.C) if target == "Matrix" else lib.monoid.plus(o.u | o.v),
            "extract": lambda: o.C[::-1, :] if target == "Matrix" else o.C[1, :],
            "transpose": lambda: o.C.T.new().T if target == "Matrix" else o.C.T[:, 0],
            "itself": lambda: C,
        }[value]()
        C(**option.keywords(lib, mask)) << what

    return call


WHOLE = ("number", "zero", "Scalar", "empty Scalar", "object", "expression", "infix", "extract", "transpose", "itself")
for cls, name in (("Matrix", "A"), ("Vector", "v")):
    row(
        f"{cls}.__lshift__",
        {f"{value} [{option}]": whole(cls, value, option) for value in WHOLE for option in OPTIONS},
        thin=True,
    )
    row(
        f"{cls}.__lshift__",
        {"refused: text": refused(lambda lib, o, name=name: getattr(o, name).__lshift__("x"))},
    )
    row(
        f"{cls}.__call__",
        {
            "refused: replace without a mask": refused(lambda lib, o, name=name: getattr(o, name)(replace=True)),
            "refused: a mask that is none": refused(lambda lib, o, name=name: getattr(o, name)(mask=getattr(o, name))),
            "refused: two accumulators": refused(
                lambda lib, o, name=name: getattr(o, name)(lib.binary.plus, accum=lib.binary.plus)
            ),
            "refused: a unary accumulator": refused(
                lambda lib, o, name=name: getattr(o, name)(accum=lib.unary.abs) << getattr(o, name)
            ),
        },
    )
row(
    "Matrix.update",
    {
        "object": lambda lib, o: o.A.update(o.B),
        "expression": lambda lib, o: o.A.update(lib.monoid.plus(o.B | o.C)),
        "number": lambda lib, o: o.A.update(3),
        "refused: shape": refused(lambda lib, o: o.A.update(o.Q), DimensionMismatch),
    },
)
row(
    "Vector.update",
    {
        "object": lambda lib, o: o.v.update(o.u),
        "expression": lambda lib, o: o.v.update(lib.monoid.plus(o.u | o.v)),
        "number": lambda lib, o: o.v.update(3),
        "refused: size": refused(lambda lib, o: o.v.update(o.w), DimensionMismatch),
    },
)
row(
    "Matrix.clear",
    {"": lambda lib, o: o.A.clear(), "then written": lambda lib, o: (o.A.clear(), o.A.__setitem__((1, 1), 2)) and None},
)
row(
    "Vector.clear",
    {"": lambda lib, o: o.v.clear(), "then written": lambda lib, o: (o.v.clear(), o.v.__setitem__(1, 2)) and None},
)
row(
    "Matrix.resize",
    {
        f"{m} x {n}": lambda lib, o, m=m, n=n: o.A.resize(m, n)
        for m, n in ((3, 7), (5, 2), (9, 9), (5, 7), (1, 1), (4, 20))
    }
    | {"then written": lambda lib, o: (o.A.resize(8, 3), o.A.__setitem__((7, 2), 5), o.A.resize(9, 9)) and None},
)
row(
    "Vector.resize",
    {f"{n}": lambda lib, o, n=n: o.v.resize(n) for n in (1, 3, 7, 64, 65, 130)}
    | {"and back": lambda lib, o: (o.v.resize(2), o.v.resize(7)) and None},
)
ROWS, COLUMNS = np.array([4, 0, 2, 4], np.uint64), [1, 6, 3, 1]
row(
    "Matrix.build",
    {
        "cleared": lambda lib, o: o.A.build(ROWS, COLUMNS, [1, 2, 3, 4], dup_op=lib.binary.plus, clear=True),
        "a new shape": lambda lib, o: o.A.build([8, 0], [0, 8], [1, 2], clear=True, nrows=9, ncols=9),
        "one that is empty": lambda lib, o: (o.A.clear(), o.A.build(ROWS[1:], COLUMNS[1:], [1, 2, 3])) and None,
        "refused: one with entries": refused(lambda lib, o: lib.Matrix.from_scalar(1, 2, 2).build([0], [0], [1])),
        "refused: lengths": refused(lambda lib, o: o.A.build([0, 1], [0], [1, 2], clear=True)),
    },
)
row(
    "Vector.build",
    {
        "cleared": lambda lib, o: o.v.build(ROWS, [1, 2, 3, 4], dup_op=lib.binary.plus, clear=True),
        "a new size": lambda lib, o: o.v.build([8, 0], [1, 2], clear=True, size=9),
        "one that is empty": lambda lib, o: (o.v.clear(), o.v.build(ROWS[1:], [1, 2, 3])) and None,
    },
)
row(
    "Matrix.setdiag",
    {
        "number": lambda lib, o: [o.A.setdiag(4, k) for k in (0, 2, -1)] and None,
        "Vector": lambda lib, o: o.Q.setdiag(o.w),
        "list": lambda lib, o: o.A.setdiag(list(range(1, o.A.nrows + 1)), 1),
        "array with accum": lambda lib, o: o.Q.setdiag(np.arange(o.Q.nrows), accum=lib.binary.plus),
        "masked": lambda lib, o: [o.Q.setdiag(7, mask=mask) for mask in (o.n.S, ~o.n.V)] and None,
        "refused: empty Scalar": refused(lambda lib, o: o.Q.setdiag(o.e), EmptyObject),
        "refused: length": refused(lambda lib, o: o.Q.setdiag([1, 2])),
    },
)


def in_place(operator, x, y):
    """x operator= y; `x` and `y` give the operands."""

    def call(lib, o):
        space = {"x": x(lib, o), "y": y(lib, o)}
        exec(f"x {operator}= y", space)  # noqa: S102
        return space["x"]

    return call


def operand(name, operator=None):
    """The operand of that name; ones in its place where an operator divides by it: by zero the two libraries differ."""
    return lambda lib, o: lib.unary.one(getattr(o, name)).new() if operator in ("//", "%", "**") else getattr(o, name)


def copied(name):
    return lambda lib, o: getattr(o, name).dup()


def transposed(name):
    return lambda lib, o: getattr(o, name).T


for dunder, operator in (
    ("__iadd__", "+"),
    ("__isub__", "-"),
    ("__imul__", "*"),
    ("__ifloordiv__", "//"),
    ("__itruediv__", "/"),
    ("__imod__", "%"),
    ("__ipow__", "**"),
    ("__iand__", "&"),
    ("__ior__", "|"),
    ("__ixor__", "^"),
    ("__imatmul__", "@"),
):
    logical, product = operator in "&|^", operator == "@"
    for cls, x, y in (
        ("Matrix", *("MN" if logical else "QQ" if product else "AB")),
        ("Vector", *("mm" if logical else "wQ" if product else "vu")),
    ):
        cells = {"object": in_place(operator, copied(x), operand(y, operator))}
        if not (logical or product):
            cells["number"] = in_place(operator, copied(x), lambda lib, o: 2)
        row(f"{cls}.{dunder}", cells)
    of_transposed = (
        in_place(operator, transposed("M"), transposed("N"))
        if logical
        else (in_place(operator, transposed("Q"), operand("Q")))
    )
    row(f"TransposedMatrix.{dunder}", {"refused": refused(of_transposed)})
