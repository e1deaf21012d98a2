"""Rows of what computes a new object: the operations, and the operators that Python writes between objects."""

import operator

from calls.table import refused, row

THREE = (
    ("Matrix", lambda o, x: getattr(o, x)),
    ("TransposedMatrix", lambda o, x: getattr(o, x).T),
    ("Vector", lambda o, x: getattr(o, {"A": "v", "B": "u", "C": "u", "Q": "w", "M": "m", "N": "m"}[x])),
)


def all_masks(mask):
    return mask.S, mask.V, ~mask.S, ~mask.V


def computes(member, kinds, **options):
    row(member, kinds, receivers=True, **options)


for cls, take in THREE:
    matrix = cls != "Vector"
    computes(
        f"{cls}.apply",
        {
            "unary": lambda lib, o, t=take: t(o, "A").apply(lib.unary.ainv).new(),
            "named": lambda lib, o, t=take: t(o, "A").apply("abs").new(),
            "typed result": lambda lib, o, t=take: t(o, "A").apply(lib.unary.abs).new("FP64"),
            "right": lambda lib, o, t=take: t(o, "A").apply(lib.binary.minus, right=2).new(),
            "left": lambda lib, o, t=take: t(o, "A").apply(lib.binary.minus, left=2).new(),
            "Scalar": lambda lib, o, t=take: t(o, "A").apply(lib.binary.plus, right=o.s).new(),
            "monoid": lambda lib, o, t=take: t(o, "A").apply(lib.monoid.max, left=1).new(),
            "comparison": lambda lib, o, t=take: t(o, "A").apply(lib.binary.ge, 1).new(),
            "positions": lambda lib, o, t=take: [
                t(o, "A").apply(lib.indexunary.rowindex if t(o, "A").ndim == 2 else lib.indexunary.index, k).new()
                for k in (0, 3)
            ],
            "index": lambda lib, o, t=take: (
                t(o, "A").apply(lib.indexunary.diagindex if t(o, "A").ndim == 2 else lib.indexunary.indexle, 2).new()
            ),
            "masks": lambda lib, o, t=take: [
                t(o, "A").apply(lib.unary.one).new(mask=m) for m in all_masks(t(o, "M").dup())
            ],
        },
    )
    row(
        f"{cls}.apply",
        {
            "refused: both sides": refused(lambda lib, o, t=take: t(o, "A").apply(lib.binary.plus, 1, left=2).new()),
            "refused: no operand": refused(lambda lib, o, t=take: t(o, "A").apply(lib.binary.plus).new()),
            "refused: a semiring": refused(lambda lib, o, t=take: t(o, "A").apply(lib.semiring.plus_times).new()),
            "refused: an empty Scalar": refused(lambda lib, o, t=take: t(o, "A").apply(lib.binary.plus, o.e).new()),
        },
    )
    computes(
        f"{cls}.select",
        {
            **{
                f"text {sign}": lambda lib, o, t=take, sign=sign: t(o, "A").select(sign, 1).new()
                for sign in ("==", "!=", "<", "<=", ">", ">=")
            },
            "operator": lambda lib, o, t=take: t(o, "A").select(lib.select.valuegt, o.s).new(),
            "two in a chain": lambda lib, o, t=take: t(o, "A").select(">", -2).select("<", 2).new(),
            "three in a chain": lambda lib, o, t=take: t(o, "A").select("!=", 0).select(">", -2).select("<", 2).new(),
            "a chain with a mask": lambda lib, o, t=take: [
                t(o, "A").select("!=", 0).select(m).select("<", 2).new() for m in all_masks(t(o, "M").dup())
            ],
            "mask": lambda lib, o, t=take: [t(o, "A").select(m).new() for m in all_masks(t(o, "M").dup())],
            "masked": lambda lib, o, t=take: [
                t(o, "A").select("!=", 1).new(mask=m) for m in all_masks(t(o, "M").dup())
            ],
            **(
                {
                    name: lambda lib, o, t=take, name=name: [
                        t(o, "A").select(getattr(lib.select, name), k).new() for k in (-2, 0, 1, 3)
                    ]
                    for name in ("tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt")
                }
                if matrix
                else {
                    name: lambda lib, o, t=take, name=name: [
                        t(o, "A").select(getattr(lib.select, name), k).new() for k in (-1, 0, 3, 9)
                    ]
                    for name in ("indexle", "indexgt")
                }
            ),
        },
    )
    row(f"{cls}.select", {"refused: text": refused(lambda lib, o, t=take: t(o, "A").select("=>", 1).new())})
    ops = ("plus", "minus", "min", "first", "second")
    computes(
        f"{cls}.ewise_add",
        {
            name: lambda lib, o, t=take, name=name: t(o, "A").ewise_add(t(o, "B"), getattr(lib.binary, name)).new()
            for name in ops
        }
        | {
            "itself": lambda lib, o, t=take: t(o, "A").ewise_add(t(o, "A"), lib.monoid.plus).new(),
            "masks": lambda lib, o, t=take: [
                t(o, "A").ewise_add(t(o, "B"), lib.monoid.max).new(mask=m) for m in all_masks(t(o, "M").dup())
            ],
            "typed": lambda lib, o, t=take: t(o, "A").ewise_add(t(o, "B"), lib.monoid.plus).new("FP64"),
        },
    )
    computes(
        f"{cls}.ewise_mult",
        {
            name: lambda lib, o, t=take, name=name: t(o, "A").ewise_mult(t(o, "B"), getattr(lib.binary, name)).new()
            for name in (*ops, "pair")
        }
        | {
            "itself": lambda lib, o, t=take: t(o, "A").ewise_mult(t(o, "A"), lib.binary.times).new(),
            "masks": lambda lib, o, t=take: [
                t(o, "A").ewise_mult(t(o, "B"), lib.binary.minus).new(mask=m) for m in all_masks(t(o, "M").dup())
            ],
        },
    )
    computes(
        f"{cls}.ewise_union",
        {
            "numbers": lambda lib, o, t=take: t(o, "A").ewise_union(t(o, "B"), lib.binary.minus, 1, 2).new(),
            "Scalars": lambda lib, o, t=take: t(o, "A").ewise_union(t(o, "B"), lib.binary.minus, o.s, o.t).new(),
            "masks": lambda lib, o, t=take: [
                t(o, "A").ewise_union(t(o, "B"), lib.binary.minus, 3, 4).new(mask=m) for m in all_masks(t(o, "M").dup())
            ],
        },
    )
    row(
        f"{cls}.ewise_add",
        {"refused: shapes": refused(lambda lib, o, t=take: t(o, "A").ewise_add(t(o, "Q"), "plus").new())},
    )
    offsets = ((0, 0), (1, 2), (-1, -3), (9, 9)) if matrix else ((0,), (2,), (-3,), (9,))
    sizes = {"nrows": 4, "ncols": 9} if matrix else {"size": 9}
    computes(
        f"{cls}.reposition",
        {str(by): lambda lib, o, t=take, by=by: t(o, "A").reposition(*by).new() for by in offsets}
        | {"sized": lambda lib, o, t=take, by=offsets[1], sizes=sizes: t(o, "A").reposition(*by, **sizes).new()},
    )
    for name, function in (
        ("__add__", operator.add),
        ("__sub__", operator.sub),
        ("__mul__", operator.mul),
        ("__lt__", operator.lt),
        ("__le__", operator.le),
        ("__gt__", operator.gt),
        ("__ge__", operator.ge),
        ("__eq__", operator.eq),
        ("__ne__", operator.ne),
        ("__truediv__", operator.truediv),
        ("__floordiv__", operator.floordiv),
        ("__mod__", operator.mod),
        ("__pow__", operator.pow),
    ):
        divides = name in ("__truediv__", "__floordiv__", "__mod__", "__pow__")

        def other(lib, o, t=take, divides=divides):
            found = t(o, "B")  # without zeros, by which the two libraries divide differently
            return lib.binary.plus(lib.unary.one(found).new(), 1).new() if divides else found

        cells = {
            "object": lambda lib, o, t=take, f=function, other=other: f(t(o, "A"), other(lib, o)).new(),
            "number": lambda lib, o, t=take, f=function: f(t(o, "A"), 2).new(),
            "Scalar": lambda lib, o, t=take, f=function: f(t(o, "A"), o.s).new(),
        }
        if matrix:
            cells["Vector by rows"] = lambda lib, o, t=take, f=function, other=other: f(
                t(o, "A"), lib.unary.one(o.v if t(o, "A").ncols == o.R.nrows else o.w).new()
            ).new()
        computes(f"{cls}.{name}", cells)
        reverse = f"__r{name[2:]}"
        if name not in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
            computes(
                f"{cls}.{reverse}",
                {
                    "number": lambda lib, o, f=function, other=other: f(2, other(lib, o)).new(),
                    "Scalar": lambda lib, o, f=function, other=other: f(o.s, other(lib, o)).new(),
                },
            )
    computes(f"{cls}.__abs__", {"": lambda lib, o, t=take: abs(t(o, "A")).new()})
    computes(f"{cls}.__neg__", {"": lambda lib, o, t=take: (-t(o, "A")).new()})
    row(
        f"{cls}.__invert__",
        {
            "BOOL": lambda lib, o, t=take: (~t(o, "M")).new(),
            "refused: numbers": refused(lambda lib, o, t=take: (~t(o, "A")).new()),
        },
    )
    computes(
        f"{cls}.__divmod__",
        {"number": lambda lib, o, t=take: [x.new() for x in divmod(t(o, "A"), 3)]},
    )
    computes(
        f"{cls}.__rdivmod__",
        {"number": lambda lib, o, t=take: [x.new() for x in divmod(7, lib.unary.one(t(o, "A")).new())]},
    )
    for name, function in (("or", operator.or_), ("and", operator.and_), ("xor", operator.xor)):
        row(
            f"{cls}.__{name}__",
            {
                "BOOL": lambda lib, o, t=take, f=function: f(t(o, "M"), t(o, "N")).new(),
                "refused: BOOL and a number type": refused(
                    lambda lib, o, t=take, f=function: f(t(o, "M"), t(o, "A")).new()
                ),
                "refused: a number type and BOOL": refused(
                    lambda lib, o, t=take, f=function: f(t(o, "A"), t(o, "M")).new()
                ),
                "refused: number types": refused(lambda lib, o, t=take, f=function: f(t(o, "A"), t(o, "B")).new()),
            },
        )
        row(
            f"{cls}.__r{name}__",
            {"refused: a number": refused(lambda lib, o, t=take, f=function: f(1, t(o, "A")).new())},
        )
    row(
        f"{cls}.__or__",
        {
            "closed by an operator": lambda lib, o, t=take: lib.monoid.plus(t(o, "A") | t(o, "B")).new(),
            "a chain": lambda lib, o, t=take: lib.binary.minus(t(o, "A") | t(o, "B") | t(o, "C")).new(),
            "defaults": lambda lib, o, t=take: lib.binary.minus(
                t(o, "A") | t(o, "B"), left_default=10, right_default=20
            ).new(),
            "defaults of a chain": lambda lib, o, t=take: [
                lib.binary.minus(x | y | z, left_default=10, right_default=20).new()
                for x, y, z in ((t(o, "A"), t(o, "B"), t(o, "C")), (t(o, "C"), t(o, "A"), t(o, "B")))
            ],
            "defaults of a chain on the right": lambda lib, o, t=take: lib.binary.minus(
                t(o, "A") | (t(o, "B") | t(o, "C")), left_default=10, right_default=20
            ).new(),
            "refused: one default": refused(
                lambda lib, o, t=take: lib.binary.plus(t(o, "A") | t(o, "B"), left_default=1).new()
            ),
            "refused: mixed": refused(lambda lib, o, t=take: lib.binary.plus(t(o, "A") | t(o, "B") & t(o, "C")).new()),
        },
    )
    row(
        f"{cls}.__and__",
        {
            "closed by an operator": lambda lib, o, t=take: lib.binary.minus(t(o, "A") & t(o, "B")).new(),
            "a chain": lambda lib, o, t=take: lib.binary.minus(t(o, "A") & t(o, "B") & t(o, "C")).new(),
            "refused: defaults": refused(
                lambda lib, o, t=take: lib.binary.plus(t(o, "A") & t(o, "B"), left_default=1, right_default=1).new()
            ),
        },
    )
MONOIDS = ("plus", "min", "max", "times")
AGGREGATES = ("count", "sum", "exists", "sum_of_squares", "peak_to_peak")
for cls, take in THREE[:2]:
    for name in ("reduce_rowwise", "reduce_columnwise"):
        computes(
            f"{cls}.{name}",
            {
                op: lambda lib, o, t=take, name=name, op=op: getattr(t(o, "A"), name)(getattr(lib.monoid, op)).new()
                for op in MONOIDS
            }
            | {
                op: lambda lib, o, t=take, name=name, op=op: getattr(t(o, "A"), name)(getattr(lib.agg, op)).new()
                for op in AGGREGATES
            }
            | {
                "after two selects": lambda lib, o, t=take, name=name: getattr(
                    t(o, "A").select(">", -2).select("<", 2), name
                )(lib.monoid.plus).new()
            },
        )
    computes(
        f"{cls}.reduce_scalar",
        {op: lambda lib, o, t=take, op=op: t(o, "A").reduce_scalar(getattr(lib.monoid, op)).new() for op in MONOIDS}
        | {op: lambda lib, o, t=take, op=op: t(o, "A").reduce_scalar(getattr(lib.agg, op)).new() for op in AGGREGATES}
        | {
            "not empty": lambda lib, o, t=take: t(o, "A").reduce_scalar("plus", allow_empty=False).new(),
            "after two selects": lambda lib, o, t=take: (
                t(o, "A").select(">", -2).select("<", 2).reduce_scalar("plus").new()
            ),
        },
    )
    semirings = ("plus_times", "min_plus", "any_pair", "plus_pair", "max_first", "plus_second")
    other = "B" if cls == "TransposedMatrix" else "C"
    computes(
        f"{cls}.mxm",
        {
            op: lambda lib, o, t=take, op=op, x=other: t(o, "A").mxm(t(o, x).T, getattr(lib.semiring, op)).new()
            for op in semirings
        }
        | {
            "not transposed": lambda lib, o, t=take: (
                t(o, "A").T.dup().T.mxm(o.R if t(o, "A").ncols == o.R.nrows else o.Q, "min_plus").new()
            ),
            "masks": lambda lib, o, t=take: [
                t(o, "A").mxm(t(o, "B").T, "plus_times").new(mask=m)
                for m in all_masks(lib.unary.one["BOOL"](o.Q if t(o, "A").nrows == o.Q.nrows else o.R).new())
            ],
            "two selects of it": lambda lib, o, t=take: (
                t(o, "A").mxm(t(o, "B").T, "plus_times").select(">", -3).select("<", 3).new()
            ),
            "selects and a mask of it": lambda lib, o, t=take: [
                t(o, "A").mxm(t(o, "B").T, "plus_times").select(">", -3).select(m).reduce_rowwise("plus").new()
                for m in all_masks(lib.unary.one["BOOL"](o.Q if t(o, "A").nrows == o.Q.nrows else o.R).new())
            ],
        },
    )
    row(f"{cls}.mxm", {"refused: shapes": refused(lambda lib, o, t=take: t(o, "A").mxm(t(o, "B")).new())})
    computes(
        f"{cls}.mxv",
        {
            op: lambda lib, o, t=take, op=op: (
                t(o, "A").mxv(o.v if t(o, "A").ncols == o.R.nrows else o.w, getattr(lib.semiring, op)).new()
            )
            for op in semirings
        }
        | {
            "masks": lambda lib, o, t=take: [
                t(o, "A").mxv(o.v if t(o, "A").ncols == o.R.nrows else o.w, "min_plus").new(mask=m)
                for m in all_masks(o.n if t(o, "A").nrows == o.Q.nrows else o.m)
            ]
        },
    )
    computes(
        f"{cls}.__matmul__",
        {
            "Matrix": lambda lib, o, t=take: (t(o, "A") @ t(o, "B").T).new(),
            "Vector": lambda lib, o, t=take: (t(o, "A") @ (o.v if t(o, "A").ncols == o.R.nrows else o.w)).new(),
            "closed": lambda lib, o, t=take: lib.semiring.max_plus(t(o, "A") @ t(o, "B").T).new(),
        },
    )
    row(f"{cls}.__rmatmul__", {"refused: a number": refused(lambda lib, o, t=take: 1 @ t(o, "A"))})
    row(
        f"{cls}.kronecker",
        {
            op: lambda lib, o, t=take, op=op: t(o, "K").kronecker(o.L, getattr(lib.binary, op)).new()
            for op in ("times", "minus", "first", "second")
        }
        | {
            "transposed": lambda lib, o, t=take: t(o, "K").kronecker(o.L.T, lib.binary.plus).new(),
            "two selects of it": lambda lib, o, t=take: (
                t(o, "K").kronecker(o.L, "times").select(">", -3).select("<", 3).new()
            ),
            "summed": lambda lib, o, t=take: t(o, "K").kronecker(o.L, "times").reduce_rowwise("plus").new(),
        },
    )
    row(
        f"{cls}.power",
        {
            f"{k} {op}": lambda lib, o, t=take, k=k, op=op: t(o, "Q").power(k, getattr(lib.semiring, op)).new()
            for k in (1, 2, 3, 5)
            for op in ("plus_times", "min_plus", "any_pair")
        }
        | {
            "refused: a float": refused(lambda lib, o, t=take: t(o, "Q").power(1.5).new()),
            "refused: negative": refused(lambda lib, o, t=take: t(o, "Q").power(-1).new()),
            "refused: shape": refused(lambda lib, o, t=take: t(o, "A").power(2).new()),
        },
    )
    row(f"{cls}.diag", {str(k): lambda lib, o, t=take, k=k: t(o, "A").diag(k) for k in (0, 1, -2, 4)})
row(
    "Vector.diag",
    {str(k): lambda lib, o, k=k: o.v.diag(k) for k in (0, 1, -2)},
)
computes(
    "Vector.reduce",
    {op: lambda lib, o, op=op: o.v.reduce(getattr(lib.monoid, op)).new() for op in MONOIDS}
    | {op: lambda lib, o, op=op: o.v.reduce(getattr(lib.agg, op)).new() for op in AGGREGATES}
    | {
        "not empty": lambda lib, o: o.v.reduce("plus", allow_empty=False).new(),
        "after two selects": lambda lib, o: o.v.select(">", -2).select("<", 2).reduce("plus").new(),
    },
)
computes(
    "Vector.vxm",
    {op: lambda lib, o, op=op: o.v.vxm(o.A.T, getattr(lib.semiring, op)).new() for op in semirings}
    | {
        "not transposed": lambda lib, o: o.w.vxm(o.A, "min_plus").new(),
        "masks": lambda lib, o: [o.w.vxm(o.B, "max_plus").new(mask=m) for m in all_masks(o.m)],
    },
)
computes(
    "Vector.inner", {op: lambda lib, o, op=op: o.v.inner(o.u, getattr(lib.semiring, op)).new() for op in semirings}
)
computes(
    "Vector.outer",
    {op: lambda lib, o, op=op: o.v.outer(o.u, getattr(lib.binary, op)).new() for op in ("times", "minus", "first")},
)
computes(
    "Vector.__matmul__",
    {
        "Matrix": lambda lib, o: (o.v @ o.A.T).new(),
        "Vector": lambda lib, o: (o.v @ o.u).new(),
        "closed": lambda lib, o: lib.semiring.min_max(o.w @ o.B).new(),
    },
)
row("Vector.__rmatmul__", {"refused: a number": refused(lambda lib, o: 1 @ o.v)})
