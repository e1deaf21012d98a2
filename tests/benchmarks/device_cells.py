"""The cells of bench_cells.py --backend cuda: a call, the form and type of its operands, what it must touch.

The calls are those of tests/calls, one of each public member, and the most used ones in every form and type.  Three
things have calls here: indices of a large object (INDEXED), calls whose row does more than the call in order to compare
its result (OWN), and those for which no call of the table is of a size that means something on a GPU.
"""

import dataclasses
import operator
import zlib
from collections.abc import Callable

import numpy as np
from calls import computing, files, operators, reading, scalars, tools, writing  # noqa: F401  rows
from calls.table import ROWS
from device_operands import DENSE, MATRIX_FORMS, TYPES, VECTOR_FORMS

from grb_tile.backends import select


@dataclasses.dataclass(frozen=True)
class Cell:
    """call(library, operands) in a form and type.

    touches: "all" of the operands read and the results; "part": what the results hold, read and written; "region": the
    operands but the one that is changed; "nothing".  changes: operands that it writes to, of which each call has a copy
    of its own.  compared(library, result): what is compared in the place of the result.  calls: of the library in one
    call of the cell; None: as many as it gives objects and numbers.
    """

    name: str
    call: Callable
    matrices: str = "csr"
    vectors: str = "full"
    dtype: str = "FP64"
    touches: str = "all"
    changes: tuple = ()
    compared: Callable | None = None
    calls: int | None = None

    @property
    def label(self):
        return f"{self.name} | {self.matrices} {self.vectors} {self.dtype}"


ENTRIES = "Python objects, or text, for each of millions of entries"
CHANGED = "see its cells by kind of index"
ATTRIBUTES = "computes nothing"
SIZED = "its rows have sizes of their own, or a result that no memory holds"
LEFT_OUT = {  # member -> why it has no cell
    member: reason
    for reason, members in {
        ENTRIES: (
            *(f"{cls}.{name}" for cls in ("Matrix", "TransposedMatrix") for name in ("__iter__", "to_dicts")),
            *(f"{c}.ss.{name}" for c in ("Matrix", "Vector") for name in ("iterkeys", "itervalues", "iteritems")),
            "Vector.__iter__", "Vector.to_dict", "Matrix.from_dicts", "io.to_networkx", "io.mmwrite", "io.write",
            "io.write_edge_list", "io.save_npz",
        ),
        "needs python-graphblas": ("io.to_graphblas",),
        CHANGED: (
            *(f"{cls}.{name}" for cls in ("Matrix", "Vector") for name in ("__setitem__", "__call__", "__delitem__")),
            "Matrix.__getitem__", "Vector.__getitem__", "TransposedMatrix.__getitem__",
        ),
        SIZED: (
            "io.from_csr", "Matrix.to_device", "Vector.to_device", "Matrix.storage", "Vector.storage",
        ),
        ATTRIBUTES: (
            *(f"{cls}.{name}" for cls in ("Matrix", "Vector", "TransposedMatrix", "Scalar") for name in
              ("shape", "ndim", "dtype", "name", "wait")),
            *(f"{cls}.{name}" for cls in ("Matrix", "TransposedMatrix") for name in ("nrows", "ncols")),
            *(f"{cls}.{name}" for cls in ("Matrix", "Vector") for name in ("device", "nbytes", "S", "V", "ss")),
            *(f"{cls}.ss.{name}" for cls in ("Matrix", "Vector") for name in
              ("format", "nbytes", "is_iso", "iso_value", "config")),
            "Vector.size", "Matrix.ss.orientation", "Scalar.is_cscalar", "Scalar.is_grbscalar",
        ),
    }.items()
    for member in members
}  # fmt: skip
KIND = {  # the kind that stands for a member, where it is not the first
    "Matrix.power": "2 plus_times", "TransposedMatrix.power": "2 plus_times",
    "Matrix.mxm": "plus_times", "TransposedMatrix.mxm": "plus_times",
    "Matrix.ss.export": "csr", "Matrix.ss.import_any": "csr", "Matrix.ss.pack_any": "csr",
    "Matrix.resize": "3 x 7",
}  # fmt: skip
NOTHING = ("nvals", "get", "clear", "__contains__", "head")
DENSE_ALONE = ("to_dense", "from_dense", "to_numpy", "from_numpy", "as_numpy", "__array__", "bitmap", "full")
NOT_BOOL = (  # operators that have no Boolean form
    "neg", "invert", "abs", "divmod", "floordiv", "truediv", "mod", "pow", "indexunary", "agg", "matmul", "scan", "mx",
    "reduce", "vxm",
)  # fmt: skip
WRITERS = ("__lshift__", "update", "clear", "resize", "build", "setdiag", "unpack", "pack_", "__call__")


def number_of(text):
    return zlib.crc32(text.encode())


def changed_by(member):
    """The operands that a call of the member may write to."""
    name = member.rpartition(".")[2]
    return ("A", "Q", "R", "v", "s", "e") if name.startswith(WRITERS) else ()


def touched_by(member):
    return "nothing" if member.rpartition(".")[2] in NOTHING or member.startswith("Scalar.") else "all"


# ---------------------------------------------------------------------- calls of their own


def own_divisions(cls, take):
    """{name: call} of operators whose second operand has no zeros: it is made once."""

    def nonzero(lib, o):
        of = {"Matrix": lambda: o.B, "TransposedMatrix": lambda: o.B.T, "Vector": lambda: o.u}[cls]
        return o.keep(f"{cls} without zeros", lambda: lib.binary.plus(lib.unary.one(of()).new(), 1).new())

    found = {f"{cls}.__rdivmod__": lambda lib, o: [x.new() for x in divmod(7, nonzero(lib, o))]}
    for name in ("truediv", "floordiv", "mod", "pow"):
        function, inplace = getattr(operator, name), getattr(operator, f"i{name}")
        found[f"{cls}.__{name}__"] = lambda lib, o, f=function: f(take(o), nonzero(lib, o)).new()
        found[f"{cls}.__r{name}__"] = lambda lib, o, f=function: f(2, nonzero(lib, o)).new()
        if cls != "TransposedMatrix":
            found[f"{cls}.__i{name}__"] = lambda lib, o, f=inplace: f(take(o).dup(), nonzero(lib, o))
    return found


def own_readers():
    """{name: (call, dense alone)}: what tests/calls sorts, or lists, after the call."""
    found = {}
    for cls, take in (("Matrix", lambda o: o.A), ("TransposedMatrix", lambda o: o.A.T)):
        for name in ("to_csr", "to_csc", "to_dcsr", "to_dcsc", "to_coo", "to_edgelist"):
            found[f"{cls}.{name}"] = lambda lib, o, t=take, name=name: getattr(t(o), name)()
        found[f"{cls}.get"] = lambda lib, o, t=take: t(o).get(3, 5)
        found[f"{cls}.__contains__"] = lambda lib, o, t=take: (3, 5) in t(o)
        found |= own_divisions(cls, take)
    found |= own_divisions("Vector", lambda o: o.v)
    found["Vector.to_coo"] = lambda lib, o: o.v.to_coo()
    found["Vector.get"] = lambda lib, o: o.v.get(5)
    found["Vector.__contains__"] = lambda lib, o: 5 in o.v
    for cls, name in (("Matrix", "A"), ("Vector", "v")):
        found[f"{cls}.from_dense"] = lambda lib, o, name=name, cls=cls: getattr(lib, cls).from_dense(
            o.keep(f"{name} as an array", lambda: getattr(o, name).to_dense(3, getattr(o, name).dtype))
        )
        found[f"{cls}.ss.unpack"] = lambda lib, o, name=name: getattr(o, name).ss.unpack(
            "sparse" if name == "v" else "bitmapr"
        )
        found[f"{cls}.ss.head"] = lambda lib, o, name=name: getattr(o, name).ss.head(10)
        found[f"{cls}.ss.serialize"] = lambda lib, o, name=name: getattr(o, name).ss.serialize(compression=None)
        found[f"{cls}.ss.deserialize"] = lambda lib, o, name=name, cls=cls: getattr(lib, cls).ss.deserialize(
            o.keep(f"blob of {name}", lambda: getattr(o, name).ss.serialize(compression=None))
        )
    for kind in ("csr", "csc", "dcsr", "dcsc"):
        found[f"Matrix.from_{kind}"] = lambda lib, o, kind=kind: getattr(lib.Matrix, f"from_{kind}")(
            *o.keep(kind, lambda: getattr(o.A, f"to_{kind}")()), nrows=o.rows, ncols=o.columns
        )
    found["Matrix.from_coo"] = lambda lib, o: lib.Matrix.from_coo(
        *o.keep("coo", lambda: o.A.to_coo()), nrows=o.rows, ncols=o.columns
    )
    found["Vector.from_coo"] = lambda lib, o: lib.Vector.from_coo(
        *o.keep("coo of v", lambda: o.v.to_coo()), size=o.columns
    )
    found["Matrix.from_edgelist"] = lambda lib, o: lib.Matrix.from_edgelist(
        *o.keep("edges", lambda: o.A.to_edgelist()), nrows=o.rows, ncols=o.columns
    )
    found["Matrix.from_scalar"] = lambda lib, o: lib.Matrix.from_scalar(3, 2800, 2800, o.type_name)
    found["Vector.from_scalar"] = lambda lib, o: lib.Vector.from_scalar(3, o.columns, o.type_name)
    found["Vector.outer"] = lambda lib, o: o.w.outer(o.u, lib.binary.times).new(mask=o.A.S)
    found["Matrix.ss.split"] = lambda lib, o: sum(
        o.A.ss.split([[o.rows // 2, o.rows - o.rows // 2], [o.columns // 2, o.columns - o.columns // 2]]), []
    )
    found["Vector.ss.split"] = lambda lib, o: o.v.ss.split([o.columns // 2, o.columns - o.columns // 2])
    found["Matrix.ss.flatten"] = lambda lib, o: o.A.ss.flatten()
    found["Matrix.ss.reshape"] = lambda lib, o: o.A.ss.reshape(o.columns, o.rows)
    found["Vector.ss.reshape"] = lambda lib, o: o.v.ss.reshape(o.columns // 4, 4)
    return found


def arrays_of(lib, o, name, format, sized):
    """What export gives of an operand, kept; without the sizes for pack, which knows them."""
    found = o.keep(f"{format} of {name}", lambda: tools.exported(lib, o, name, format).ss.export(format))
    if sized:
        return tools._sized(found, getattr(o, name))
    return {key: x for key, x in found.items() if key not in ("nrows", "ncols", "size", "format")}


def packed(lib, o, name, format, by):
    x = getattr(o, name)
    if format == "coo":  # it is built, which asks for an empty object
        x.clear()
    getattr(x.ss, f"pack_{by}")(**arrays_of(lib, o, name, format, False), **({"format": format} if by == "any" else {}))
    return x


def own_tools():
    """{name: call} of what tests/calls writes and reads again."""
    found = {}
    for cls, name, formats, first in (
        ("Matrix", "A", tools.MATRIX_FORMATS, "csr"), ("Vector", "v", tools.VECTOR_FORMATS, "sparse"),
    ):  # fmt: skip
        for by, format in [*((each, each) for each in formats), ("any", first)]:
            if f"{cls}.ss.import_{by}" in ROWS:
                found[f"{cls}.ss.import_{by}"] = lambda lib, o, cls=cls, n=name, by=by, f=format: getattr(
                    getattr(lib, cls).ss, f"import_{by}"
                )(**arrays_of(lib, o, n, f, True))
                found[f"{cls}.ss.pack_{by}"] = lambda lib, o, n=name, by=by, f=format: packed(lib, o, n, f, by)
    found["io.to_scipy_sparse"] = lambda lib, o: lib.io.to_scipy_sparse(o.A, "csr")
    found["io.from_numpy"] = lambda lib, o: lib.io.from_numpy(o.keep("array", lambda: lib.io.to_numpy(o.A, 9)), 9)
    found["io.serialize"] = lambda lib, o: lib.io.serialize(o.A)
    found["io.to_suitesparse_blob"] = lambda lib, o: lib.io.to_suitesparse_blob(o.A, "none")
    return found


OWN = own_readers() | own_tools()
READ_BACK = {  # blobs of the same entries differ by the form in which a backend keeps them
    "Matrix.ss.serialize": lambda lib, blob: lib.Matrix.ss.deserialize(blob),
    "Vector.ss.serialize": lambda lib, blob: lib.Vector.ss.deserialize(blob),
    "io.serialize": lambda lib, blob: lib.io.deserialize(blob),
    "io.to_suitesparse_blob": lambda lib, blob: lib.io.from_suitesparse_blob(blob),
    "io.to_scipy_sparse": lambda lib, x: x.toarray(),
}

# ---------------------------------------------------------------------- indices


def shuffled(n, count):
    return np.random.default_rng(7).permutation(n)[:count]


def on_device(array):
    """The array where the backend in use computes: CuPy's on a GPU."""
    device = getattr(select.current(), "device", None)
    return array if device is None else device.xp.asarray(array)


INDICES = {  # kind -> index of a dimension of n
    "range": lambda n: slice(n // 4, n // 4 * 3),
    "step": lambda n: slice(None, None, 3),
    "list": lambda n: shuffled(n, max(3, n // 64)).tolist(),
    "NumPy": lambda n: shuffled(n, n // 3),
    "CuPy": lambda n: on_device(shuffled(n, n // 3)),
}


def index(o, kind, n):
    return o.keep(f"index {kind} {n}", lambda: INDICES[kind](n))


def part(o, name, kind, keys):
    """The part of another operand that is assigned to those positions."""
    return o.keep(f"part {name} {kind}", lambda: getattr(o, name)[keys].new())


def delete(x, keys):
    del x[keys]


def vector_indices():
    """(name, call, touches, changes) of v[...]."""
    for kind in INDICES:
        yield f"v[{kind}]", lambda lib, o, k=kind: o.v[index(o, k, o.columns)].new(), "part", ()
        yield f"v[{kind}] << 1", lambda lib, o, k=kind: o.v[index(o, k, o.columns)] << 1, "region", ("v",)
        yield f"v[{kind}] << u", lambda lib, o, k=kind: o.v[index(o, k, o.columns)] << part(
            o, "u", k, index(o, k, o.columns)), "region", ("v",)  # fmt: skip
        yield f"v(plus)[{kind}] << u", lambda lib, o, k=kind: o.v(lib.binary.plus)[index(o, k, o.columns)] << part(
            o, "u", k, index(o, k, o.columns)), "region", ("v",)  # fmt: skip
        yield f"del v[{kind}]", lambda lib, o, k=kind: delete(o.v, index(o, k, o.columns)), "region", ("v",)
    yield "v[boolean]: dup(mask=m.V)", lambda lib, o: o.v.dup(mask=o.m.V), "all", ()
    yield "v[boolean]: select(m.S)", lambda lib, o: o.v.select(o.m.S).new(), "all", ()
    yield "v(m.V) << 1", lambda lib, o: o.v(o.m.V) << 1, "all", ("v",)
    yield "v(~m.S, replace) << u", lambda lib, o: o.v(~o.m.S, replace=True) << o.u, "all", ("v",)
    yield "v(m.V, plus) << u", lambda lib, o: o.v(o.m.V, lib.binary.plus) << o.u, "all", ("v",)
    yield "v[5] << 1", lambda lib, o: o.v[5] << 1, "nothing", ("v",)
    yield "del v[5]", lambda lib, o: delete(o.v, 5), "nothing", ("v",)


def matrix_indices():
    """(name, call, touches, changes) of A[...]."""
    for kind in INDICES:
        yield f"A[{kind}, :]", lambda lib, o, k=kind: o.A[index(o, k, o.rows), :].new(), "part", ()
        yield f"A[:, {kind}]", lambda lib, o, k=kind: o.A[:, index(o, k, o.columns)].new(), "all", ()
        yield f"A[{kind}, {kind}]", lambda lib, o, k=kind: o.A[
            index(o, k, o.rows), index(o, k, o.columns)].new(), "all", ()  # fmt: skip
        yield f"A[{kind}, :] << B", lambda lib, o, k=kind: o.A[index(o, k, o.rows), :] << part(
            o, "B", k, (index(o, k, o.rows), slice(None))), "all", ("A",)  # fmt: skip
    yield "A[boolean]: dup(mask=M.V)", lambda lib, o: o.A.dup(mask=o.M.V), "all", ()
    yield "A[boolean]: select(M.S)", lambda lib, o: o.A.select(o.M.S).new(), "all", ()
    yield "A(M.V) << 1", lambda lib, o: o.A(o.M.V) << 1, "all", ("A",)
    yield "A(M.S) << B", lambda lib, o: o.A(o.M.S) << o.B, "all", ("A",)
    yield "A(~M.S, plus) << B", lambda lib, o: o.A(~o.M.S, lib.binary.plus) << o.B, "all", ("A",)
    yield "A[5, :]", lambda lib, o: o.A[5, :].new(), "part", ()
    yield "A[:, 5]", lambda lib, o: o.A[:, 5].new(), "part", ()
    yield "A[5, 7] << 1", lambda lib, o: o.A.__setitem__((5, 7), 1), "nothing", ("A",)
    yield "A[5, :] << u", lambda lib, o: o.A[5, :] << o.u, "all", ("A",)
    yield "A[:, 5] << w", lambda lib, o: o.A[:, 5] << o.w, "all", ("A",)
    yield "del A[5, :]", lambda lib, o: delete(o.A, (5, slice(None))), "all", ("A",)


# ---------------------------------------------------------------------- the list

CROSSED = {  # calls in each form and type: member -> kind
    "Vector.apply": "unary", "Vector.select": "text >", "Vector.ewise_add": "plus", "Vector.ewise_mult": "min",
    "Vector.ewise_union": "numbers", "Vector.reduce": "plus", "Vector.vxm": "plus_times", "Vector.inner": "plus_times",
    "Vector.dup": "masks",
    "Matrix.apply": "unary", "Matrix.select": "text >", "Matrix.ewise_add": "plus", "Matrix.ewise_mult": "min",
    "Matrix.ewise_union": "numbers", "Matrix.reduce_rowwise": "plus", "Matrix.reduce_columnwise": "plus",
    "Matrix.reduce_scalar": "plus", "Matrix.mxv": "plus_times", "Matrix.dup": "masks", "Matrix.mxm": "plus_times",
}  # fmt: skip
OF_FLAGS = {  # the same of Boolean operands, where the operator has no Boolean form
    "Vector.ewise_add": lambda lib, o: o.v.ewise_add(o.u, lib.monoid.lor).new(),
    "Vector.ewise_mult": lambda lib, o: o.v.ewise_mult(o.u, lib.binary.land).new(),
    "Vector.ewise_union": lambda lib, o: o.v.ewise_union(o.u, lib.binary.lxor, False, True).new(),
    "Vector.reduce": lambda lib, o: o.v.reduce(lib.monoid.lor).new(),
    "Vector.vxm": lambda lib, o: o.w.vxm(o.A, lib.semiring.lor_land).new(),
    "Vector.inner": lambda lib, o: o.v.inner(o.u, lib.semiring.lor_land).new(),
    "Vector.select": lambda lib, o: o.v.select("==", True).new(),
    "Matrix.ewise_add": lambda lib, o: o.A.ewise_add(o.B, lib.monoid.lor).new(),
    "Matrix.ewise_mult": lambda lib, o: o.A.ewise_mult(o.B, lib.binary.land).new(),
    "Matrix.ewise_union": lambda lib, o: o.A.ewise_union(o.B, lib.binary.lxor, False, True).new(),
    "Matrix.reduce_rowwise": lambda lib, o: o.A.reduce_rowwise(lib.monoid.lor).new(),
    "Matrix.reduce_columnwise": lambda lib, o: o.A.reduce_columnwise(lib.monoid.lor).new(),
    "Matrix.reduce_scalar": lambda lib, o: o.A.reduce_scalar(lib.monoid.lor).new(),
    "Matrix.mxv": lambda lib, o: o.A.mxv(o.v, lib.semiring.lor_land).new(),
    "Matrix.select": lambda lib, o: o.A.select("==", True).new(),
}
INDEXED_FORMS = tuple(form for form in MATRIX_FORMS if form != "iso")


def dense_alone(text):
    return any(word in text for word in DENSE_ALONE)


def members():
    """A cell for each public member, in a form and type that follow its name."""
    for member, kinds in sorted(ROWS.items()):
        kind = KIND.get(member) or next((k for k, cell in kinds.items() if not cell.refused), None)
        call = OWN.get(member)
        if call is None and (kind is None or member in LEFT_OUT) or CROSSED.get(member) == kind:
            continue
        call, text = (call, member) if call else (kinds[kind].call, f"{member} [{kind}]" if kind else member)
        turn = number_of(member)
        of_matrices = not member.startswith(("Vector", "Scalar"))
        forms = DENSE if dense_alone(member) and of_matrices else MATRIX_FORMS if of_matrices else ("csr",)
        types = TYPES[1:] if any(word in member for word in NOT_BOOL) or "Scalar" in member else TYPES
        yield Cell(
            text, call, forms[turn % len(forms)], VECTOR_FORMS[turn // 7 % 3], types[turn // 3 % len(types)],
            touched_by(member), changed_by(member), READ_BACK.get(member), 1 if member in OWN else None,
        )  # fmt: skip


def crossed():
    """The most used calls in each form, and of full vectors and CSR matrices in each type."""
    for member, kind in CROSSED.items():
        cell = ROWS[member][kind]
        of_matrices = member.startswith("Matrix")
        for form in MATRIX_FORMS if of_matrices else VECTOR_FORMS:
            matrices, vectors = (form, "full") if of_matrices else ("csr", form)
            every = form == ("csr" if of_matrices else "full") and member != "Matrix.mxm"
            for dtype in TYPES if every else ("INT64", "FP64") if not of_matrices else ("FP64",):
                flags = dtype == "BOOL" and member in OF_FLAGS
                name = f"{member} [{'flags' if flags else kind}]"
                yield Cell(name, OF_FLAGS[member] if flags else cell.call, matrices, vectors, dtype)


def indexed():
    """Kinds of index in each form; the types change from call to call."""
    for found, of_matrices in ((vector_indices(), False), (matrix_indices(), True)):
        for turn, (name, call, touches, changes) in enumerate(found):
            for at, form in enumerate(INDEXED_FORMS if of_matrices else VECTOR_FORMS):
                dtype = TYPES[(turn + at) % 4]
                matrices, vectors = (form, "full") if of_matrices else ("csr", form)
                merged = changes and touches in ("region", "nothing") and form in ("list", "csr", "dcsr")
                yield Cell(name, call, matrices, vectors, dtype, "all" if merged else touches, changes)


def cells():
    """All of them, without repeats, those that share operands side by side."""
    found = {}
    for cell in (*members(), *crossed(), *indexed()):
        found.setdefault(cell.label, cell)

    def group(cell):
        return MATRIX_FORMS.index(cell.matrices), VECTOR_FORMS.index(cell.vectors), TYPES.index(cell.dtype)

    return sorted(found.values(), key=group)
