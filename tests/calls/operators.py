"""Rows of calls of operators, and of the constructors."""

import numpy as np

from calls.table import refused, row

# ---------------------------------------------------------------------- calls of operators

row(
    "operators.unary",
    {
        "Matrix": lambda lib, o: lib.unary.abs(o.A).new(),
        "Vector": lambda lib, o: lib.unary.sqrt["FP64"](lib.unary.abs(o.v).new()).new(),
        "transposed": lambda lib, o: lib.unary.ainv(o.A.T).new(),
        "Scalar": lambda lib, o: lib.unary.ainv(o.s).new(),
        "number": lambda lib, o: lib.unary.ainv(3).new(),
        "refused: a list": refused(lambda lib, o: lib.unary.ainv([1])),
    },
)
row(
    "operators.binary",
    {
        "right": lambda lib, o: lib.binary.minus(o.A, 1).new(),
        "left": lambda lib, o: lib.binary.minus(1, o.v).new(),
        "Scalar": lambda lib, o: lib.binary.minus(o.A, o.s).new(),
        "Scalars": lambda lib, o: lib.binary.minus(o.s, o.t).new(),
        "Scalar and number": lambda lib, o: [lib.binary.minus(o.s, 5).new(), lib.binary.minus(5, o.s).new()],
        "intersection": lambda lib, o: lib.binary.minus(o.A & o.B).new(),
        "union": lambda lib, o: lib.binary.minus(o.A | o.B).new(),
        "refused: two objects": refused(lambda lib, o: lib.binary.minus(o.A, o.B)),
        "refused: one object": refused(lambda lib, o: lib.binary.minus(o.A)),
        "refused: a product": refused(lambda lib, o: lib.binary.minus(o.Q @ o.Q).new()),
    },
)
row(
    "operators.monoid",
    {
        "union": lambda lib, o: lib.monoid.min(o.A | o.B).new(),
        "intersection": lambda lib, o: lib.monoid.min(o.v & o.u).new(),
        "right": lambda lib, o: lib.monoid.max(o.A, 1).new(),
        "defaults": lambda lib, o: lib.monoid.plus(o.v | o.u, left_default=3, right_default=4).new(),
    },
)
row(
    "operators.semiring",
    {
        "Matrices": lambda lib, o: lib.semiring.min_plus(o.A @ o.B.T).new(),
        "Vectors": lambda lib, o: lib.semiring.plus_pair(o.v @ o.u).new(),
        "refused: a union": refused(lambda lib, o: lib.semiring.min_plus(o.A | o.B).new()),
        "refused: an object": refused(lambda lib, o: lib.semiring.min_plus(o.A)),
    },
)


def with_thunks(operators, x, names, thunks):
    """{name: call}: the operators of that namespace and those names, on an operand, with each thunk."""

    def cell(name):
        return lambda lib, o: [getattr(getattr(lib, operators), name)(getattr(o, x), k).new() for k in thunks]

    return {name if x == "A" else f"{name} of a vector": cell(name) for name in names.split()}


row(
    "operators.indexunary",
    with_thunks(
        "indexunary",
        "A",
        "rowindex colindex diagindex tril triu diag offdiag rowle colgt valuegt valuele valueeq",
        (0, 2, -1),
    )
    | with_thunks("indexunary", "v", "index indexle indexgt valuene", (0, 2)),
)
row(
    "operators.select",
    with_thunks(
        "select",
        "A",
        "tril triu diag offdiag rowle rowgt colle colgt valuegt valuele valueeq valuene valuelt valuege",
        (0, 2, -1),
    )
    | {
        "value": lambda lib, o: lib.select.value(o.A >= 1).new(),
        "row": lambda lib, o: lib.select.row(o.A < 2).new(),
        "column": lambda lib, o: lib.select.column(o.A <= 2).new(),
        "index": lambda lib, o: lib.select.index(o.v > 3).new(),
    },
)
row(
    "operators.agg",
    {
        name: lambda lib, o, name=name: [getattr(lib.agg, name)(x).new() for x in (o.v, o.w)]
        for name in (
            "sum",
            "prod",
            "min",
            "max",
            "count",
            "mean",
            "count_nonzero",
            "count_zero",
            "sum_of_squares",
            "peak_to_peak",
            "exists",
            "hypot",
            "L0norm",
            "L1norm",
            "Linfnorm",
        )
    }
    | {"refused: a number": refused(lambda lib, o: lib.agg.sum(3))},
)

# ---------------------------------------------------------------------- constructors

ROWS, COLUMNS, NUMBERS = np.array([3, 0, 3, 1], np.uint64), [1, 2, 0, 4], [5, -1, 2, 0]


def of_repeats(lib, cls, *indices):
    """What repeated indices make with several dup_op."""
    names = ("plus", "min", "first", "second")
    return [cls.from_coo(*indices, [5, 3, 1], dup_op=getattr(lib.binary, name)) for name in names]


row(
    "Matrix.from_coo",
    {
        "lists": lambda lib, o: lib.Matrix.from_coo([3, 0], [1, 2], NUMBERS[:2]),
        "arrays": lambda lib, o: lib.Matrix.from_coo(ROWS, COLUMNS, np.array(NUMBERS, np.int8), nrows=9, ncols=9),
        "one value": lambda lib, o: lib.Matrix.from_coo(ROWS, COLUMNS, 7, "FP32", nrows=4, ncols=5),
        "repeats": lambda lib, o: of_repeats(lib, lib.Matrix, [1, 1, 0], [2, 2, 0]),
        "refused: repeats": refused(lambda lib, o: lib.Matrix.from_coo([1, 1], [2, 2], [5, 3])),
        "refused: lengths": refused(lambda lib, o: lib.Matrix.from_coo([1, 1], [2], [5, 3])),
        "refused: too large": refused(lambda lib, o: lib.Matrix.from_coo([9], [2], [5], nrows=3, ncols=3)),
    },
)
row(
    "Vector.from_coo",
    {
        "lists": lambda lib, o: lib.Vector.from_coo([3, 0], NUMBERS[:2]),
        "one value": lambda lib, o: lib.Vector.from_coo(COLUMNS, 7, "FP32", size=9),
        "repeats": lambda lib, o: of_repeats(lib, lib.Vector, [1, 1, 0]),
        "refused: repeats": refused(lambda lib, o: lib.Vector.from_coo([1, 1], [5, 3])),
        "refused: too large": refused(lambda lib, o: lib.Vector.from_coo([9], [5], size=3)),
    },
)
for kind in ("csr", "csc", "dcsr", "dcsc"):
    row(
        f"Matrix.from_{kind}",
        {
            "of its own arrays": lambda lib, o, kind=kind: getattr(lib.Matrix, f"from_{kind}")(
                *getattr(o.A, f"to_{kind}")(), nrows=o.A.nrows, ncols=o.A.ncols
            ),
            "one value": lambda lib, o, kind=kind: getattr(lib.Matrix, f"from_{kind}")(
                *getattr(o.A, f"to_{kind}")()[:-1], 3, nrows=o.A.nrows, ncols=o.A.ncols
            ),
        },
    )


def from_dense(cls, name, fill_value=9, change=np.asarray, **keywords):
    """The object of an operand's array, changed."""

    def call(lib, o):
        return getattr(lib, cls).from_dense(change(getattr(o, name).to_dense(fill_value=fill_value)), **keywords)

    return call


for cls, name in (("Matrix", "A"), ("Vector", "v")):
    row(
        f"{cls}.from_dense",
        {
            "full": from_dense(cls, name),
            "missing": from_dense(cls, name, missing_value=9),
            "by columns": from_dense(cls, name, change=np.asfortranarray),
            "typed": from_dense(cls, name, 2, dtype="FP32"),
            "backwards": from_dense(cls, name, change=lambda array: array[::-1]),
        },
    )
row(
    "Matrix.from_scalar",
    {
        "": lambda lib, o: [
            lib.Matrix.from_scalar(3, 4, 5),
            lib.Matrix.from_scalar(o.s, 2, 3, "FP64"),
            lib.Matrix.from_scalar(1, 0, 3),
        ]
    },
)
row("Vector.from_scalar", {"": lambda lib, o: [lib.Vector.from_scalar(3, 4), lib.Vector.from_scalar(o.s, 2, "FP64")]})
row(
    "Matrix.from_dicts",
    {
        "rows": lambda lib, o: o.A.nvals and lib.Matrix.from_dicts(o.A.to_dicts(), nrows=o.A.nrows, ncols=o.A.ncols),
        "columns": lambda lib, o: (
            o.A.nvals
            and lib.Matrix.from_dicts(o.A.to_dicts("colwise"), order="colwise", nrows=o.A.nrows, ncols=o.A.ncols)
        ),
    },
)
row(
    "Vector.from_dict",
    {"": lambda lib, o: [lib.Vector.from_dict({3: 1, 0: 2}), lib.Vector.from_dict({1: 2.5}, "FP32", size=4)]},
)
row(
    "Vector.from_pairs",
    {
        "": lambda lib, o: [
            lib.Vector.from_pairs([(3, 1), (0, 2)]),
            lib.Vector.from_pairs([(1, 2), (1, 5)], dup_op=lib.binary.plus, size=4),
        ]
    },
)
row(
    "Matrix.from_edgelist",
    {
        "pairs": lambda lib, o: lib.Matrix.from_edgelist([(0, 1), (2, 0)], [3, 4]),
        "triples": lambda lib, o: lib.Matrix.from_edgelist([(0, 1, 5), (2, 0, 6)], nrows=4, ncols=4),
        "array": lambda lib, o: lib.Matrix.from_edgelist(np.array([[0, 1], [2, 2]]), 7),
    },
)
