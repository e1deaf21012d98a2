"""Rows of the tools below `.ss`, and of gb.ss: formats, chunks, orders, iteration."""

import numpy as np

from calls.table import own, refused, row
from support.plain import Plain, dense

MATRIX_FORMATS = ("csr", "csc", "hypercsr", "hypercsc", "bitmapr", "bitmapc", "coo", "coor", "cooc", "fullr", "fullc")
VECTOR_FORMATS = ("sparse", "bitmap", "full")


def parts(info):
    """An exported dict in an order, without what says how it is stored."""
    left_out = ("is_iso", "format", "take_ownership", "nvals", "values")  # values: compared where they are imported
    return [
        (key, np.asarray(info[key])) for key in sorted(info) if key not in left_out and not key.startswith("sorted")
    ]


for cls, name, formats in (("Matrix", "A", MATRIX_FORMATS), ("Vector", "v", VECTOR_FORMATS)):
    sizes = ("nrows", "ncols") if cls == "Matrix" else ("size",)
    full = tuple(format for format in formats if format.startswith("full"))

    def exported(lib, o, name, format):
        """What is exported of an object, which is full where the format asks for it."""
        x = getattr(o, name)
        return _filled(lib, x) if format[:4] == "full" else x

    def packed(lib, o, name, format, by):
        """The object of what is exported of it, packed into it again."""
        arrays = exported(lib, o, name, format).dup().ss.export(format)
        arrays = {key: x for key, x in arrays.items() if key not in ("nrows", "ncols", "size", "format")}
        if format == "coo":  # SuiteSparse builds, which asks for an empty object
            getattr(o, name).clear()
        getattr(getattr(o, name).ss, f"pack_{by}")(**arrays, **({"format": format} if by == "any" else {}))
        return getattr(o, name)

    for format in formats:
        made = {
            "comes back": own(  # the oracle's entries by columns come back under other rows
                lambda lib, o, cls=cls, n=name, f=format: getattr(getattr(lib, cls).ss, f"import_{f}")(
                    **_sized(exported(lib, o, n, f).ss.export(f), exported(lib, o, n, f))
                ),
                lambda o, n=name, f=format: filled(getattr(o, n), f),
            ),
        }
        row(f"{cls}.ss.import_{format}", made)
        row(
            f"{cls}.ss.pack_{format}",
            {
                "comes back": own(
                    lambda lib, o, n=name, f=format: packed(lib, o, n, f, f),
                    lambda o, n=name, f=format: filled(getattr(o, n), f),
                )
            },
        )
    row(
        f"{cls}.ss.export",
        {
            format: lambda lib, o, n=name, f=format: parts(exported(lib, o, n, f).ss.export(f))
            for format in formats
            if format[:4] != "full"
        }
        | {"in capitals": lambda lib, o, n=name: parts(getattr(o, n).ss.export("COO" if n == "A" else "Sparse"))}
        | {"refused: format": refused(lambda lib, o, n=name: getattr(o, n).ss.export("rows"), ValueError)},
    )
    row(
        f"{cls}.ss.import_any",
        {
            format: own(
                lambda lib, o, cls=cls, n=name, f=format: getattr(lib, cls).ss.import_any(
                    **_sized(exported(lib, o, n, f).ss.export(f), exported(lib, o, n, f))
                ),
                lambda o, n=name, f=format: filled(getattr(o, n), f),
            )
            for format in formats
        },
    )
    row(
        f"{cls}.ss.pack_any",
        {
            format: own(
                lambda lib, o, n=name, f=format: packed(lib, o, n, f, "any"),
                lambda o, n=name, f=format: filled(getattr(o, n), f),
            )
            for format in formats
        },
    )
    row(f"{cls}.ss.unpack", {"then empty": lambda lib, o, n=name: (getattr(o, n).ss.unpack(), None)[1]})
    row(
        f"{cls}.ss.format",
        {
            "names its form": own(
                lambda lib, o, n=name: getattr(o, n).ss.format in (*MATRIX_FORMATS, *VECTOR_FORMATS), lambda o: True
            )
        },
    )
    row(
        f"{cls}.ss.nbytes",
        {"some": own(lambda lib, o, n=name: getattr(o, n).ss.nbytes > 0 or not getattr(o, n).nvals, lambda o: True)},
    )
    row(
        f"{cls}.ss.is_iso",
        {
            "equal values": own(
                lambda lib, o, n=name: (
                    not getattr(o, n).ss.is_iso or len(set(getattr(o, n).to_coo()[-1].tolist())) <= 1
                ),
                lambda o: True,
            )
        },
    )
    row(
        f"{cls}.ss.iso_value",
        {
            "of equal ones": own(
                lambda lib, o, n=name: getattr(lib, cls_of(n)).from_scalar(4, *getattr(o, n).shape).ss.iso_value.value,
                lambda o: 4,
            )
        },
    )
    row(
        f"{cls}.ss.config",
        {"is there": own(lambda lib, o, n=name: "sparsity_control" in getattr(o, n).ss.config, lambda o: True)},
    )
    if cls == "Matrix":
        row(
            f"{cls}.ss.orientation",
            {"": own(lambda lib, o, n=name: getattr(o, n).ss.orientation in ("rowwise", "columnwise"), lambda o: True)},
        )
    row(
        f"{cls}.ss.serialize",
        {
            "comes back": own(
                lambda lib, o, n=name: [
                    getattr(lib, cls_of(n)).ss.deserialize(getattr(o, n).ss.serialize(**k))
                    for k in ({}, {"compression": "lz4"}, {"compression": None})
                ],
                lambda o, n=name: [getattr(o, n)] * 3,
            )
        },
    )
    row(
        f"{cls}.ss.deserialize",
        {"of the oracle": lambda lib, o, n=name: getattr(lib, cls_of(n)).ss.deserialize(getattr(o, n).ss.serialize())},
    )
    row(
        f"{cls}.ss.iterkeys",
        {
            "": lambda lib, o, n=name: sorted(map(str, getattr(o, n).ss.iterkeys())),
            "seek": own(
                lambda lib, o, n=name: len(list(getattr(o, n).ss.iterkeys(3))),
                lambda o, n=name: max(0, getattr(o, n).nvals - 3),
            ),
        },
    )
    row(f"{cls}.ss.itervalues", {"": lambda lib, o, n=name: sorted(getattr(o, n).ss.itervalues())})
    row(
        f"{cls}.ss.iteritems",
        {"": lambda lib, o, n=name: sorted(map(str, (np.array(x).tolist() for x in getattr(o, n).ss.iteritems())))},
    )
    row(f"{cls}.ss.head", {"all": lambda lib, o, n=name: _by_position(getattr(o, n).ss.head(99, sort=True))})
    row(
        f"{cls}.ss.build_scalar",
        {
            "an empty one": lambda lib, o, n=name: (
                getattr(o, n).clear(),
                getattr(o, n).ss.build_scalar(*([[0, 2], [1, 3]] if n == "A" else [[0, 2]]), 5),
            )[1]
        },
    )
    row(
        f"{cls}.ss.build_diag",
        {
            "": (lambda lib, o: [o.Q.ss.build_diag(o.w), None][1])
            if cls == "Matrix"
            else lambda lib, o: [o.v.ss.build_diag(o.R), None][1]
        },
    )
    row(
        f"{cls}.ss.scan",
        {
            # the oracle's scan of equal values stays equal
            op: own(
                lambda lib, o, n=name, op=op: getattr(o, n).ss.scan(getattr(lib.monoid, op)),
                lambda o, n=name, f=function: scanned(getattr(o, n), f, 0),
            )
            for op, function in (("plus", np.add), ("min", np.minimum), ("times", np.multiply))
        }
        | (
            {"columns": own(lambda lib, o: o.A.ss.scan("plus", "columnwise"), lambda o: scanned(o.A, np.add, 1))}
            if cls == "Matrix"
            else {}
        ),
    )
    row(
        f"{cls}.ss.selectk",
        {
            how: lambda lib, o, n=name, how=how: [getattr(o, n).ss.selectk(how, k).nvals for k in (1, 3)]
            for how in ("first", "last")
        }
        | {
            how: own(
                lambda lib, o, n=name, how=how: [getattr(o, n).ss.selectk(how, k).nvals for k in (1, 3)],
                lambda o, n=name: [int(np.minimum(k, _counts(getattr(o, n))).sum()) for k in (1, 3)],
            )
            for how in ("smallest", "largest")
        }
        | {"refused: negative k": refused(lambda lib, o, n=name: getattr(o, n).ss.selectk("first", -1), ValueError)},
    )
    row(
        f"{cls}.ss.compactify",
        {
            how: lambda lib, o, n=name, how=how: getattr(o, n).ss.compactify(how, 2)
            for how in ("first", "last", "smallest", "largest")
        }
        | ({"columns": lambda lib, o: o.A.ss.compactify("first", 2, "columnwise")} if cls == "Matrix" else {}),
    )
    row(
        f"{cls}.ss.sort",
        {
            "values": lambda lib, o, n=name: [getattr(o, n).ss.sort(op, permutation=False)[0] for op in ("lt", "gt")],
            "permutation": lambda lib, o, n=name: getattr(o, n).ss.sort(lib.binary.lt)[1],
        },
    )
row(
    "Matrix.ss.split",
    {
        str(c): lambda lib, o, c=c: sum(o.A.ss.split(c), [])
        for c in (2, [3, 4], [[2, 3], [5, 2]], [None, 3], [[2, None], [None, 3]])
    },
)
row("Vector.ss.split", {str(c): lambda lib, o, c=c: o.v.ss.split(c) for c in (2, [3, 4], [3, None])})
row(
    "Matrix.ss.concat",
    {
        "": lambda lib, o: [
            lib.ss.concat([[o.A, o.B], [o.C, o.A]]),
            lib.Matrix(o.A.dtype, 2 * o.A.nrows, 2 * o.A.ncols).ss.concat([[o.A, o.B], [o.C, o.A]]),
        ][0]
    },
)
row("Vector.ss.concat", {"": lambda lib, o: lib.ss.concat([o.v, o.w, o.u])})
row(
    "Matrix.ss.flatten",
    {order: lambda lib, o, order=order: o.A.ss.flatten(order) for order in ("rowwise", "columnwise")},
)
row(
    "Matrix.ss.reshape",
    {
        f"{name} {order}": lambda lib, o, s=s, order=order: o.A.ss.reshape(*s(o.A), order=order)
        for name, s in (
            ("transposed", lambda A: A.shape[::-1]),
            ("one column", lambda A: (A.nrows * A.ncols, 1)),
            ("seven columns", lambda A: (-1, 7)),
        )
        for order in ("rowwise", "columnwise")
    },
)
row(
    "Vector.ss.reshape",
    {order: lambda lib, o, order=order: o.v.ss.reshape(o.v.size, 1, order) for order in ("rowwise", "columnwise")},
)
row(
    "ss.concat",
    {
        "": lambda lib, o: [lib.ss.concat([[o.A, o.B]]), lib.ss.concat([[o.A], [o.B]]), lib.ss.concat([o.v, o.w])],
        "types that no type of NumPy holds": lambda lib, o: [
            lib.ss.concat(
                [lib.Vector.from_coo([0], [2**63 + 5], "UINT64", size=2), lib.Vector.from_coo([0], [-300], size=2)],
                dtype=dtype,
            )
            for dtype in ("UINT64", "INT64", "INT8", "FP64")
        ],
    },
)
row("ss.diag", {str(k): lambda lib, o, k=k: [lib.ss.diag(o.A, k), lib.ss.diag(o.v, k)] for k in (0, 1, -2)})
for cls in ("Matrix", "Vector"):
    # a bitmap and values of different sizes: of a vector the lesser counts, of a matrix values are repeated
    if cls == "Vector":
        row(
            "Vector.ss.import_bitmap",
            {
                f"{n} values": own(
                    lambda lib, o, n=n: lib.Vector.ss.import_bitmap(bitmap=np.ones(4, bool), values=np.arange(n)),
                    lambda o, n=n: plain_of(np.arange(min(n, 4))),
                )
                for n in (3, 4, 9)
            },
        )
        continue
    for format, order in (("bitmapr", "C"), ("bitmapc", "F")):
        row(
            f"Matrix.ss.import_{format}",
            {
                "few values": own(
                    lambda lib, o, f=format, order=order: getattr(lib.Matrix.ss, f"import_{f}")(
                        bitmap=np.ones((4, 6), bool, order=order), values=np.arange(7)
                    ),
                    lambda o, order=order: plain_of(
                        np.resize(np.arange(7), (4, 6)) if order == "C" else np.resize(np.arange(7), (6, 4)).T
                    ),
                ),
                "a part of the shape": lambda lib, o, f=format, order=order: getattr(lib.Matrix.ss, f"import_{f}")(
                    bitmap=np.ones((4, 6), bool, order=order),
                    values=np.asarray(np.arange(24).reshape(4, 6), order=order),
                    nrows=3,
                    ncols=6,
                ),
            },
        )


def scanned(x, function, line):
    """The prefix results of each row (line 0), column (1), or of all of a vector, as Plain."""
    found = x.values.copy()
    lines = x.indices[line] if len(x.shape) == 2 else np.zeros(x.nvals, np.int64)
    for k in np.unique(lines):
        found[lines == k] = function.accumulate(x.values[lines == k], dtype=x.values.dtype)
    return Plain(x.shape, x.dtype, x.indices, found)


def plain_of(values):
    """A full INT64 object as Plain."""
    indices = np.indices(values.shape).reshape(values.ndim, -1).astype(np.int64)
    return Plain(values.shape, "INT64", tuple(indices), values.reshape(-1).astype(np.int64))


def filled(x, format):
    """x with 3 at each missing position where the format is full, else x."""
    if not format.startswith("full"):
        return x
    made = plain_of(dense(x, 3))
    return Plain(x.shape, x.dtype, made.indices, made.values.astype(x.values.dtype))


def _counts(x):
    """The number of entries of each row, or of all of a vector."""
    return np.bincount(x.indices[0], minlength=5) if len(x.shape) == 2 else np.array([x.nvals])


def cls_of(name):
    return "Matrix" if name == "A" else "Vector"


def _filled(lib, x):
    return (lib.Matrix if x.ndim == 2 else lib.Vector).from_dense(x.to_dense(fill_value=3, dtype=x.dtype))


def _sized(info, x):
    """The dict with the sizes, which exports of dense forms leave out."""
    more = dict(zip(("nrows", "ncols") if x.ndim == 2 else ("size",), x.shape, strict=True))
    return {**info, **more} if info["values"].ndim < x.ndim or info.get("is_iso") else info


def _by_position(arrays):
    *keys, values = map(np.asarray, arrays)
    order = np.lexsort(keys[::-1])
    return [key[order].astype(np.int64) for key in keys] + [values[order]]
