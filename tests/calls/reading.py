"""Rows of what reads an object: elements, extracts, arrays and dictionaries, properties, comparisons, conversions."""

import numpy as np

from calls.indices import KINDS, REFUSED
from calls.table import own, refused, row


def reads(member, kinds, **options):
    row(member, kinds, receivers=True, **options)


def elements(rows, columns):
    return [(i, j) for i in range(rows) for j in range(columns)]


# ---------------------------------------------------------------------- elements and extracts

for matrix, take in (("Matrix", lambda o: o.A), ("TransposedMatrix", lambda o: o.A.T)):
    reads(
        f"{matrix}.__getitem__",
        {
            f"{rows}, {columns}": lambda lib, o, take=take, rows=rows, columns=columns: take(o)[
                KINDS[rows](lib), KINDS[columns](lib)
            ].new()
            for rows in KINDS
            for columns in KINDS
        },
        thin=True,
    )
    row(
        f"{matrix}.__getitem__",
        {
            "every element": lambda lib, o, take=take: [take(o)[i, j].new() for i, j in elements(*take(o).shape)],
            "as another type": lambda lib, o, take=take: [
                take(o)[1, 1].new("FP32"), take(o)[::2, 1].new("INT16"), take(o)[[0, 1], :].new("FP64")
            ],
            "every row": lambda lib, o, take=take: [take(o)[i, :].new() for i in range(take(o).nrows)],
            "every column": lambda lib, o, take=take: [take(o)[:, j].new() for j in range(take(o).ncols)],
            "masks": lambda lib, o, take=take: [
                take(o)[[1, 3], 1:].new(mask=mask)
                for M in [take(o)[[0, 2], 1:].new()]
                for mask in (M.S, M.V, ~M.S, ~M.V)
            ],
            "input mask": lambda lib, o, take=take: [
                o.A[[3, 0], ::2].new(input_mask=o.M.V), o.A[2, ::3].new(input_mask=o.m.S),
                o.A[::2, 3].new(input_mask=~o.n.V),
            ],
            **{f"refused: {kind}, int": refused(lambda lib, o, t=take, kind=kind: t(o)[REFUSED[kind](lib), 0].new())
               for kind in REFUSED},
            **{f"refused: all, {kind}": refused(lambda lib, o, t=take, kind=kind: t(o)[:, REFUSED[kind](lib)].new())
               for kind in REFUSED},
            "refused: one index": refused(lambda lib, o, take=take: take(o)[0].new()),
            "refused: three indices": refused(lambda lib, o, take=take: take(o)[0, 0, 0].new()),
        },
    )  # fmt: skip
    reads(
        f"{matrix}.get",
        {
            "int": lambda lib, o, take=take: [take(o).get(i, j) for i, j in elements(*take(o).shape)],
            "negative": lambda lib, o, take=take: [take(o).get(-1, -5), take(o).get(-2, 1)],
            "NumPy": lambda lib, o, take=take: take(o).get(np.int64(1), np.uint8(2)),
            "default": lambda lib, o, take=take: [take(o).get(i, i, default="none") for i in range(5)],
        },
    )
    row(f"{matrix}.get", {"refused: too large": refused(lambda lib, o, take=take: take(o).get(7, 0))})
    reads(
        f"{matrix}.__contains__",
        {
            "pairs": lambda lib, o, take=take: [(i, j) in take(o) for i, j in elements(*take(o).shape)],
            "negative": lambda lib, o, take=take: [(-1, -5) in take(o), (np.int32(1), -1) in take(o)],
        },
    )
    row(f"{matrix}.__contains__", {"refused: int": refused(lambda lib, o, take=take: 1 in take(o))})
    reads(
        f"{matrix}.__iter__", {"pairs": lambda lib, o, take=take: sorted(map(tuple, np.array(list(take(o))).tolist()))}
    )
    both = {
        "shape": lambda lib, o, x: list(x.shape),
        "nrows": lambda lib, o, x: x.nrows,
        "ncols": lambda lib, o, x: x.ncols,
        "ndim": lambda lib, o, x: x.ndim,
        "nvals": lambda lib, o, x: x.nvals,
        "dtype": lambda lib, o, x: x.dtype.name,
    }
    for name, call in both.items():
        reads(f"{matrix}.{name}", {"": lambda lib, o, take=take, call=call: call(lib, o, take(o))})
    for order in ("to_csr", "to_csc", "to_dcsr", "to_dcsc"):
        reads(
            f"{matrix}.{order}",
            {
                "": lambda lib, o, take=take, order=order: [np.array(x) for x in getattr(take(o), order)()],
                "typed": lambda lib, o, take=take, order=order: [
                    np.array(x) for x in getattr(take(o), order)(dtype="FP32")
                ],
            },
        )
    reads(
        f"{matrix}.to_coo",
        {
            "": lambda lib, o, take=take: list(_by_rows(take(o).to_coo())),
            "typed": lambda lib, o, take=take: list(_by_rows(take(o).to_coo(dtype="FC64"))),
            "rows": lambda lib, o, take=take: np.sort(take(o).dup().to_coo(columns=False, values=False)[0]).astype(int),
            "columns": lambda lib, o, take=take: np.sort(take(o).dup().to_coo(rows=False, values=False)[1]).astype(int),
        },
    )
    reads(
        f"{matrix}.to_edgelist",
        {
            "": lambda lib, o, take=take: list(_by_rows((*take(o).to_edgelist()[0].T, take(o).to_edgelist()[1]))),
            "typed": lambda lib, o, take=take: np.sort(take(o).to_edgelist(dtype="FP64")[1]),
        },
    )
    reads(
        f"{matrix}.to_dense",
        {
            "filled": lambda lib, o, take=take: take(o).to_dense(fill_value=7),
            "typed": lambda lib, o, take=take: take(o).to_dense(fill_value=0, dtype="FP64"),
            "not filled": lambda lib, o, take=take: take(o).to_dense(),
        },
    )
    reads(
        f"{matrix}.to_dicts",
        {
            # the oracle cannot list the rows of a matrix without entries
            "rows": lambda lib, o, take=take: take(o).nvals and _nested(take(o).to_dicts()),
            "columns": lambda lib, o, take=take: take(o).nvals and _nested(take(o).to_dicts(order="colwise")),
        },
    )
    row(f"{matrix}.to_dicts", {"refused: order": refused(lambda lib, o, take=take: take(o).to_dicts(order="up"))})
    row(
        f"{matrix}.__array__",
        {
            "where it is full": own(
                lambda lib, o, take=take: _dense(take(o)), lambda o, turn=matrix: _dense_plain(o.A, turn)
            )
        },
    )


def _dense(x):
    """NumPy's array of x, or the name of the exception."""
    try:
        return np.asarray(x)
    except TypeError:
        return "TypeError"


def _dense_plain(x, cls):
    if x.nvals < np.prod(x.shape):
        return "TypeError"
    made = x.values.reshape(x.shape)
    return made.T if cls == "TransposedMatrix" else made


def _nested(found):
    return sorted((int(i), sorted((int(j), x) for j, x in line.items())) for i, line in found.items())


def _by_rows(arrays):
    rows, columns, values = map(np.asarray, arrays)
    order = np.lexsort((columns, rows))
    return rows[order].astype(np.int64), columns[order].astype(np.int64), values[order]


reads("Vector.__getitem__", {kind: lambda lib, o, kind=kind: o.v[KINDS[kind](lib)].new() for kind in KINDS})
row(
    "Vector.__getitem__",
    {
        "every element": lambda lib, o: [o.v[i].new() for i in range(7)],
        "as another type": lambda lib, o: [o.v[1].new("FP32"), o.v[::2].new("INT16")],
        "masks": lambda lib, o: [
            o.v[[1, 5, 2]].new(mask=mask)
            for m in [o.u[[0, 2, 6]].new()]
            for mask in (m.S, m.V, ~m.S, ~m.V)
        ],
        "input mask": lambda lib, o: [o.v[[3, 0]].new(input_mask=mask) for mask in (o.m.S, ~o.m.S, o.m.V, ~o.m.V)],
        **{f"refused: {kind}": refused(lambda lib, o, kind=kind: o.v[REFUSED[kind](lib)].new()) for kind in REFUSED},
        "refused: a pair": refused(lambda lib, o: o.v[0, 1].new()),
    },
)  # fmt: skip
reads(
    "Vector.get",
    {
        "int": lambda lib, o: [o.v.get(i) for i in range(7)],
        "negative": lambda lib, o: [o.v.get(-i) for i in range(1, 8)],
        "default": lambda lib, o: [o.v.get(np.uint8(i), -1) for i in range(7)],
    },
)
row("Vector.get", {"refused: too large": refused(lambda lib, o: o.v.get(7))})
reads("Vector.__contains__", {"int": lambda lib, o: [i in o.v for i in range(-7, 7)]})
row("Vector.__contains__", {"refused: slice": refused(lambda lib, o: slice(1) in o.v)})
reads("Vector.__iter__", {"indices": lambda lib, o: sorted(map(int, o.v))})
for name in ("shape", "size", "ndim", "nvals"):
    reads(f"Vector.{name}", {"": lambda lib, o, name=name: np.array(getattr(o.v, name)).tolist()})
reads("Vector.dtype", {"": lambda lib, o: o.v.dtype.name})
reads(
    "Vector.to_coo",
    {
        "": lambda lib, o: [np.asarray(x) for x in o.v.to_coo()],
        "typed": lambda lib, o: o.v.to_coo(dtype="FC64", indices=False)[1],
        "indices": lambda lib, o: o.v.to_coo(values=False)[0],
    },
)
row("Vector.__array__", {"where it is full": own(lambda lib, o: _dense(o.v), lambda o: _dense_plain(o.v, ""))})
reads(
    "Vector.to_dense",
    {
        "filled": lambda lib, o: o.v.to_dense(fill_value=7),
        "typed": lambda lib, o: o.v.to_dense(fill_value=0, dtype="FP64"),
        "not filled": lambda lib, o: o.v.to_dense(),
    },
)
reads("Vector.to_dict", {"": lambda lib, o: {int(i): x for i, x in o.v.to_dict().items()}})

# ---------------------------------------------------------------------- copies, equality, masks

for cls, first, second in (("Matrix", "A", "B"), ("Vector", "v", "u"), ("TransposedMatrix", "A", "B")):

    def taken(o, name, cls=cls):
        return getattr(o, name).T if cls == "TransposedMatrix" else getattr(o, name)

    mask = {"Matrix": lambda o: o.M, "Vector": lambda o: o.m, "TransposedMatrix": lambda o: o.M.T.new()}[cls]
    reads(
        f"{cls}.dup",
        {
            "": lambda lib, o, take=taken, x=first: take(o, x).dup(),
            "typed": lambda lib, o, take=taken, x=first: take(o, x).dup("FP32"),
            "clear": lambda lib, o, take=taken, x=first: take(o, x).dup("INT16", clear=True),
            "masks": lambda lib, o, take=taken, x=first, mask=mask: [
                take(o, x).dup(mask=m) for M in [mask(o)] for m in (M.S, M.V, ~M.S, ~M.V)
            ],
            "masked and typed": lambda lib, o, take=taken, x=first, mask=mask: take(o, x).dup("FP64", mask=mask(o).V),
        },
    )
    reads(
        f"{cls}.isequal",
        {
            "another": lambda lib, o, take=taken, x=first, y=second: take(o, x).isequal(take(o, y)),
            "itself": lambda lib, o, take=taken, x=first: take(o, x).isequal(take(o, x)),
            "a copy of another type": lambda lib, o, take=taken, x=first: [
                take(o, x).isequal(take(o, x).dup("FC64"), check_dtype=check) for check in (False, True)
            ],
            "one entry differs": lambda lib, o, take=taken, x=first: take(o, x).isequal(
                lib.unary.ainv(take(o, x)).new()
            ),
        },
    )
    reads(
        f"{cls}.isclose",
        {
            "another": lambda lib, o, take=taken, x=first, y=second: take(o, x).isclose(take(o, y)),
            "close": lambda lib, o, take=taken, x=first: [
                take(o, x).isclose(lib.binary.times(take(o, x).dup("FP64"), 1 + by).new(), rel_tol=1e-6)
                for by in (1e-9, 1e-3)
            ],
        },
    )
    if cls != "TransposedMatrix":
        for kind in "SV":
            reads(
                f"{cls}.{kind}",
                {
                    "as a mask": lambda lib, o, take=taken, x=first, y=second, kind=kind: [
                        take(o, y).dup(mask=mask)
                        for M in [take(o, x).dup()]
                        for mask in (getattr(M, kind), ~getattr(M, kind))
                    ],
                },
            )
reads("Matrix.T", {"": lambda lib, o: [o.A.T.new(), o.A.T.new("FP64"), o.A.T.new(mask=~o.M.T.new().S), o.A.T.T.dup()]})
reads("TransposedMatrix.T", {"": lambda lib, o: o.A.T.T.dup()})
row(
    "TransposedMatrix.new",
    {
        "": lambda lib, o: o.A.T.new(),
        "typed": lambda lib, o: o.A.T.new("FP32"),
        "masks": lambda lib, o: [o.A.T.new(mask=m) for M in [o.M.T.new()] for m in (M.S, M.V, ~M.S, ~M.V)],
    },
)
reads("Matrix.ss", {"": lambda lib, o: o.A.dup().ss.head(1)[2].size})
reads("Vector.ss", {"": lambda lib, o: o.v.dup().ss.head(1)[1].size})
for cls, name in (("Matrix", "A"), ("Vector", "v")):
    row(f"{cls}.name", {"given": lambda lib, o, name=name: _renamed(getattr(o, name))})
    row(
        f"{cls}.wait",
        {how: lambda lib, o, name=name, how=how: getattr(o, name).wait(how) for how in ("complete", "materialize")},
    )
    row(
        f"{cls}.device",
        {
            "the CPU": own(
                lambda lib, o, name=name: getattr(o, name).device.partition(":")[0] in ("cpu", "cuda"), lambda o: True
            )
        },
    )
    row(
        f"{cls}.to_device",
        {
            "the CPU": own(
                lambda lib, o, name=name: getattr(o, name).to_device("cpu"), lambda o, name=name: getattr(o, name)
            )
        },
    )
    row(
        f"{cls}.storage",
        {
            "names its form": own(
                lambda lib, o, name=name: getattr(o, name)._store.format in str(getattr(o, name).storage()),
                lambda o: True,
            )
        },
    )
    row(
        f"{cls}.nbytes",
        {
            "some": own(
                lambda lib, o, name=name: getattr(o, name).nbytes > 0 or not getattr(o, name).nvals, lambda o: True
            )
        },
    )
    row(f"{cls}.__bool__", {"refused": refused(lambda lib, o, name=name: bool(getattr(o, name)))})


row("TransposedMatrix.__bool__", {"refused": refused(lambda lib, o: bool(o.A.T))})
row("TransposedMatrix.name", {"of its matrix": own(lambda lib, o: o.A.T.name == f"{o.A.name}.T", lambda o: True)})
row("TransposedMatrix.wait", {"": lambda lib, o: o.A.T.wait().dup()})


def _renamed(x):
    x.name = "another"
    return x.name
