"""The cells of bench_cells.py: name, make(library, operands) -> a call without arguments, sizes."""

import numpy as np

EVERY = ("tiny", "medium", "large")
LARGER = ("medium", "large")
CELLS = []


def cell(name, make, sizes=EVERY):
    """Add a cell; make(g, o) returns what the timed call does."""
    if any(name == known for known, _, _ in CELLS):
        raise ValueError(f"two cells are called {name!r}")
    CELLS.append((name, make, sizes))


def new(name, expression, sizes=EVERY, **arguments):
    """A cell that computes expression(g, o).new(**arguments); an argument may be a function of (g, o)."""

    def make(g, o):
        given = {key: value(g, o) if callable(value) else value for key, value in arguments.items()}
        return lambda: expression(g, o).new(**given)

    cell(name, make, sizes)


def write(name, target, expression, sizes=EVERY, fresh=False, **arguments):
    """A cell that writes expression(g, o) into a copy of target(g, o): target(**arguments) << expression.

    fresh: the copy is made in each call, else once, and the call meets what the call before it wrote.
    """

    def make(g, o):
        given = {key: value(g, o) if callable(value) else value for key, value in arguments.items()}
        first = target(g, o).dup()
        first.wait()

        def call():
            C = first.dup() if fresh else first
            C(**given) << expression(g, o)
            return C

        return call

    cell(name, make, sizes)


def assign(name, target, where, value, sizes=EVERY, fresh=False, inside=None, **arguments):
    """A cell that assigns to a part: target(**arguments)[where] << value; inside: mask of the part (subassign)."""

    def make(g, o):
        given = {key: item(g, o) if callable(item) else item for key, item in arguments.items()}
        first, keys = target(g, o).dup(), where(o)
        first.wait()
        mask = None if inside is None else inside(g, o)

        def call():
            C = first.dup() if fresh else first
            if mask is None:
                C(**given)[keys] << value(g, o)
            else:
                C[keys](mask, **given) << value(g, o)
            return C

        return call

    cell(name, make, sizes)


# ---------------------------------------------------------------------- matrix times vector

for form in ("u", "b", "f"):
    words = {"u": "sparse", "b": "bitmap", "f": "full"}[form]
    new(f"mxv plus_times FP64 {words}", lambda g, o, x=form: o.A.mxv(getattr(o, x), g.semiring.plus_times))
    new(f"vxm plus_times FP64 {words}", lambda g, o, x=form: getattr(o, x).vxm(o.A, g.semiring.plus_times))
    new(f"mxv min_plus INT64 {words}", lambda g, o, x=form + "i": o.I.mxv(getattr(o, x), g.semiring.min_plus))
    new(f"vxm min_plus INT64 {words}", lambda g, o, x=form + "i": getattr(o, x).vxm(o.I, g.semiring.min_plus))
    new(f"mxv any_pair BOOL {words}", lambda g, o, x=form + "z": o.P.mxv(getattr(o, x), g.semiring.any_pair))
    new(f"vxm any_pair BOOL {words}", lambda g, o, x=form + "z": getattr(o, x).vxm(o.P, g.semiring.any_pair))
    new(f"mxv lor_land BOOL {words}", lambda g, o, x=form + "z": o.Z.mxv(getattr(o, x), g.semiring.lor_land))
    new(f"vxm lor_land BOOL {words}", lambda g, o, x=form + "z": getattr(o, x).vxm(o.Z, g.semiring.lor_land))
new("mxv plus_second FP32 iso matrix", lambda g, o: o.P.mxv(o.ff, g.semiring.plus_second))
new("mxv plus_times mixed INT64 FP64", lambda g, o: o.I.mxv(o.f, g.semiring.plus_times))
new("mxv plus_pair INT64", lambda g, o: o.A.mxv(o.f, g.semiring.plus_pair))
new("mxv transposed plus_times", lambda g, o: o.A.T.mxv(o.f, g.semiring.plus_times))
new("mxv masked plus_times", lambda g, o: o.A.mxv(o.f, g.semiring.plus_times), mask=lambda g, o: o.mv.V)
new("vxm any_pair masked complement", lambda g, o: o.uz.vxm(o.P, g.semiring.any_pair), mask=lambda g, o: ~o.b.S)
write(
    "mxv accum plus",
    lambda g, o: o.f,
    lambda g, o: o.A.mxv(o.f2, g.semiring.plus_times),
    accum=lambda g, o: g.binary.plus,
)
new("mxv hypersparse", lambda g, o: o.H.mxv(o.hu, g.semiring.plus_times))
new("vxm hypersparse", lambda g, o: o.hu.vxm(o.H, g.semiring.plus_times))

# ---------------------------------------------------------------------- matrix times matrix

new("mxm plus_times FP64", lambda g, o: o.A.mxm(o.B, g.semiring.plus_times))
new("mxm min_plus INT64", lambda g, o: o.I.mxm(o.I, g.semiring.min_plus))
new("mxm any_pair BOOL", lambda g, o: o.P.mxm(o.Q, g.semiring.any_pair))
new("mxm mixed INT64 FP64", lambda g, o: o.I.mxm(o.B, g.semiring.plus_times))
new("mxm hypersparse", lambda g, o: o.H.mxm(o.H2, g.semiring.plus_times))
new("mxm masked plus_times", lambda g, o: o.A.mxm(o.B, g.semiring.plus_times), mask=lambda g, o: o.M.S)
new("mxm masked plus_pair B'", lambda g, o: o.P.mxm(o.Q.T, g.semiring.plus_pair), mask=lambda g, o: o.P.S)
new("mxm masked complement", lambda g, o: o.P.mxm(o.Q, g.semiring.any_pair), mask=lambda g, o: ~o.M.S)
new("mxm small mask", lambda g, o: o.A.mxm(o.B, g.semiring.plus_times), mask=lambda g, o: o.small_mask.S)
new("mxm diagonal times matrix", lambda g, o: o.D.mxm(o.A, g.semiring.plus_times))
new("mxm matrix times diagonal", lambda g, o: o.A.mxm(o.D, g.semiring.plus_times))

# ---------------------------------------------------------------------- element-wise, matrices

new("ewise_add plus FP64", lambda g, o: o.A.ewise_add(o.B, g.binary.plus))
new("ewise_add plus FP32 and INT64", lambda g, o: o.F.ewise_add(o.I, g.binary.plus))
new("ewise_add plus FP64 and INT64", lambda g, o: o.A.ewise_add(o.I, g.binary.plus))
new("ewise_add min INT64", lambda g, o: o.I.ewise_add(o.I.T, g.binary.min), LARGER)
new("ewise_add lor BOOL", lambda g, o: o.Z.ewise_add(o.Z2, g.binary.lor))
new("ewise_add any iso BOOL", lambda g, o: o.P.ewise_add(o.Q, g.binary.any))
new("ewise_add same structure", lambda g, o: o.A.ewise_add(o.A2, g.binary.plus))
new("ewise_add hypersparse", lambda g, o: o.H.ewise_add(o.H2, g.binary.plus))
new("ewise_add hypersparse mixed", lambda g, o: o.H.ewise_add(o.HI, g.binary.plus))
new("ewise_add masked", lambda g, o: o.A.ewise_add(o.B, g.binary.plus), mask=lambda g, o: o.M.S)
new("ewise_add masked complement", lambda g, o: o.A.ewise_add(o.B, g.binary.plus), mask=lambda g, o: ~o.M.S)
new("ewise_add small mask", lambda g, o: o.A.ewise_add(o.B, g.binary.plus), mask=lambda g, o: o.small_mask.S)
write(
    "ewise_add accum", lambda g, o: o.A2, lambda g, o: o.A.ewise_add(o.B, g.binary.plus),
    fresh=True, accum=lambda g, o: g.binary.plus,
)  # fmt: skip
write(
    "ewise_add masked replace", lambda g, o: o.A2, lambda g, o: o.A.ewise_add(o.B, g.binary.plus),
    mask=lambda g, o: o.M.S, replace=True,
)  # fmt: skip
new("ewise_mult times FP64", lambda g, o: o.A.ewise_mult(o.B, g.binary.times))
new("ewise_mult overlapping", lambda g, o: o.A.ewise_mult(o.M, g.binary.first))
new("ewise_mult pair", lambda g, o: o.A.ewise_mult(o.M, g.binary.pair))
new("ewise_mult mixed INT64 FP64", lambda g, o: o.I.ewise_mult(o.A, g.binary.times))
new("ewise_mult same structure", lambda g, o: o.A.ewise_mult(o.A2, g.binary.times))
new("ewise_mult gt BOOL", lambda g, o: o.A.ewise_mult(o.A2, g.binary.gt))
new("ewise_mult hypersparse", lambda g, o: o.H.ewise_mult(o.H2, g.binary.times))
new("ewise_mult masked", lambda g, o: o.A.ewise_mult(o.A2, g.binary.times), mask=lambda g, o: o.M.S)
new("ewise_union minus", lambda g, o: o.A.ewise_union(o.B, g.binary.minus, 0, 0))
new("ewise_union mixed", lambda g, o: o.A.ewise_union(o.I, g.binary.minus, 0, 0))
new("ewise_union hypersparse", lambda g, o: o.H.ewise_union(o.H2, g.binary.minus, 1, 2))
new("ewise_union masked", lambda g, o: o.A.ewise_union(o.B, g.binary.minus, 1, 2), mask=lambda g, o: o.M.S)
new("ewise_union ne BOOL", lambda g, o: o.A.ewise_union(o.B, g.binary.ne, 0, 0))

# ---------------------------------------------------------------------- apply

new("apply ainv FP64", lambda g, o: o.A.apply(g.unary.ainv))
new("apply sqrt FP64", lambda g, o: o.A.apply(g.unary.sqrt))
new("apply abs INT64", lambda g, o: o.I.apply(g.unary.abs))
new("apply one", lambda g, o: o.A.apply(g.unary.one))
new("apply plus scalar", lambda g, o: o.A.apply(g.binary.plus, right=1.5))
new("apply scalar minus INT64", lambda g, o: o.I.apply(g.binary.minus, left=7))
new("apply pow scalar", lambda g, o: o.A.apply(g.binary.pow, right=2))
new("apply gt scalar BOOL", lambda g, o: o.A.apply(g.binary.gt, right=50.0))
new("apply rowindex", lambda g, o: o.A.apply(g.indexunary.rowindex))
new("apply hypersparse", lambda g, o: o.H.apply(g.unary.ainv))
new("apply masked", lambda g, o: o.A.apply(g.unary.ainv), mask=lambda g, o: o.M.S)
write("apply accum", lambda g, o: o.A2, lambda g, o: o.A.apply(g.unary.ainv), accum=lambda g, o: g.binary.plus)

# ---------------------------------------------------------------------- select

for name, thunk in (("valuene", 50.0), ("valuegt", 50.0), ("tril", 0), ("triu", 1), ("diag", 0), ("offdiag", 0)):
    new(f"select {name}", lambda g, o, name=name, thunk=thunk: o.A.select(getattr(g.select, name), thunk))
for name in ("rowle", "rowgt", "colle", "colgt"):
    new(f"select {name}", lambda g, o, name=name: o.A.select(getattr(g.select, name), o.n // 3))
new("select valueeq INT64", lambda g, o: o.I.select(g.select.valueeq, 7))
new("select triu FP32", lambda g, o: o.F.select(g.select.triu, 1))
new("select hypersparse value", lambda g, o: o.H.select(g.select.valuegt, 50.0))
new("select hypersparse tril", lambda g, o: o.H.select(g.select.tril, 0))
new("select value masked", lambda g, o: o.A.select(g.select.valuegt, 50.0), mask=lambda g, o: o.M.S)
new("select tril iso", lambda g, o: o.P.select(g.select.tril, -1))

# ---------------------------------------------------------------------- reduce

new("reduce_scalar plus FP64", lambda g, o: o.A.reduce_scalar(g.monoid.plus))
new("reduce_scalar max FP64", lambda g, o: o.A.reduce_scalar(g.monoid.max))
new("reduce_scalar plus INT64", lambda g, o: o.I.reduce_scalar(g.monoid.plus))
new("reduce_scalar plus FP32", lambda g, o: o.F.reduce_scalar(g.monoid.plus))
new("reduce_scalar lor BOOL", lambda g, o: o.Z.reduce_scalar(g.monoid.lor))
new("reduce_scalar hypersparse", lambda g, o: o.H.reduce_scalar(g.monoid.plus))
new("reduce_rowwise plus FP64", lambda g, o: o.A.reduce_rowwise(g.monoid.plus))
new("reduce_rowwise max INT64", lambda g, o: o.I.reduce_rowwise(g.monoid.max))
new("reduce_rowwise any BOOL", lambda g, o: o.P.reduce_rowwise(g.monoid.any))
new("reduce_rowwise count", lambda g, o: o.A.reduce_rowwise(g.agg.count))
new("reduce_rowwise hypersparse", lambda g, o: o.H.reduce_rowwise(g.monoid.plus))
new("reduce_columnwise plus FP64", lambda g, o: o.A.reduce_columnwise(g.monoid.plus))
new("reduce_columnwise min INT64", lambda g, o: o.I.reduce_columnwise(g.monoid.min))
new("reduce_columnwise count", lambda g, o: o.A.reduce_columnwise(g.agg.count))

# ---------------------------------------------------------------------- extract

new("extract slice", lambda g, o: o.A[o.n // 4 : o.n // 2, o.n // 4 : o.n // 2])
new("extract rows of a slice", lambda g, o: o.A[o.n // 4 : o.n // 2, :])
new("extract columns of a slice", lambda g, o: o.A[:, o.n // 4 : o.n // 2])
new("extract strided slice", lambda g, o: o.A[::2, ::2])
new("extract list", lambda g, o: o.A[o.list, o.list])
new("extract shuffled list", lambda g, o: o.A[o.shuffled, o.shuffled])
new("extract rows of a shuffled list", lambda g, o: o.A[o.shuffled, :])
new("extract columns of a list", lambda g, o: o.A[:, o.list])
new("extract row", lambda g, o: o.A[o.n // 2, :])
new("extract column", lambda g, o: o.A[:, o.n // 2])
new("extract permuted", lambda g, o: o.P[o.some, o.some])
new("extract masked", lambda g, o: o.A[o.half, o.half], mask=lambda g, o: o.sub.S)

# ---------------------------------------------------------------------- assign

assign("assign scalar masked", lambda g, o: o.A, lambda o: (slice(None), slice(None)), lambda g, o: 2.0,
       mask=lambda g, o: o.M.S)  # fmt: skip
assign("assign scalar small mask", lambda g, o: o.A, lambda o: (slice(None), slice(None)), lambda g, o: 2.0,
       mask=lambda g, o: o.small_mask.S)  # fmt: skip
write("assign matrix masked", lambda g, o: o.A, lambda g, o: o.B, mask=lambda g, o: o.M.S)
assign("assign submatrix slice", lambda g, o: o.A, lambda o: (slice(0, o.n // 2), slice(0, o.n // 2)),
       lambda g, o: o.sub, fresh=True)  # fmt: skip
assign("assign submatrix list", lambda g, o: o.A, lambda o: (o.half, o.half), lambda g, o: o.sub, fresh=True)
assign("assign submatrix shuffled", lambda g, o: o.A, lambda o: (o.some, o.some), lambda g, o: o.sub, fresh=True)
assign("assign submatrix accum", lambda g, o: o.A, lambda o: (o.half, o.half), lambda g, o: o.sub, fresh=True,
       accum=lambda g, o: g.binary.plus)  # fmt: skip
assign("assign row", lambda g, o: o.A, lambda o: (o.n // 2, slice(None)), lambda g, o: o.u, fresh=True)
assign("assign column", lambda g, o: o.A, lambda o: (slice(None), o.n // 2), lambda g, o: o.u, fresh=True)
assign("subassign submatrix masked", lambda g, o: o.A, lambda o: (o.half, o.half), lambda g, o: o.sub, fresh=True,
       inside=lambda g, o: o.sub.S)  # fmt: skip
assign("subassign scalar masked", lambda g, o: o.A, lambda o: (o.half, o.half), lambda g, o: 3.0, fresh=True,
       inside=lambda g, o: o.sub.S)  # fmt: skip

# ---------------------------------------------------------------------- structure

new("kronecker FP64", lambda g, o: o.K.kronecker(o.K, g.binary.times))
cell("diag of a vector", lambda g, o: lambda: o.f.diag())
cell("diag of a matrix", lambda g, o: lambda: o.A.diag())
cell("build sorted", lambda g, o: lambda: g.Matrix.from_coo(*o.coo, nrows=o.n, ncols=o.n))
cell("build shuffled, duplicates", lambda g, o: lambda: g.Matrix.from_coo(
    *o.shuffled_coo, nrows=o.n, ncols=o.n, dup_op=g.binary.plus))  # fmt: skip
cell("build iso", lambda g, o: lambda: g.Matrix.from_coo(*o.coo[:2], 1.0, nrows=o.n, ncols=o.n))
cell("to_coo", lambda g, o: lambda: o.A.to_coo())
cell("to_csr", lambda g, o: lambda: o.A.to_csr())
cell("dup", lambda g, o: lambda: o.A.dup())
cell("dup cast", lambda g, o: lambda: o.I.dup("FP64"))
cell("dup masked", lambda g, o: lambda: o.A.dup(mask=o.M.S))
cell("dup masked complement", lambda g, o: lambda: o.A.dup(mask=~o.M.S))
cell("dup masked by values", lambda g, o: lambda: o.A.dup(mask=o.Z.V))


def transposed(g, o):
    """The matrix is written to in each call, so that no library answers with a cached transpose."""
    A = o.A.dup()

    def call():
        A[0, 0] << 1.0
        return A.T.new()

    return call


cell("transpose", transposed)
cell("concat", lambda g, o: lambda: g.ss.concat([[o.A, o.B], [o.B, o.A]]))
cell("split", lambda g, o: lambda: sum(o.A.ss.split([o.n // 2, o.n // 2]), []))

# ---------------------------------------------------------------------- vectors

for form in ("u", "b", "f"):
    words = {"u": "sparse", "b": "bitmap", "f": "full"}[form]
    one, two = lambda o, x=form: getattr(o, x), lambda o, x=form: getattr(o, x + "2")
    new(f"vector ewise_add {words}", lambda g, o, p=one, q=two: p(o).ewise_add(q(o), g.binary.plus))
    new(f"vector ewise_mult {words}", lambda g, o, p=one, q=two: p(o).ewise_mult(q(o), g.binary.times))
    new(f"vector ewise_union {words}", lambda g, o, p=one, q=two: p(o).ewise_union(q(o), g.binary.minus, 0, 0))
    new(f"vector apply {words}", lambda g, o, p=one: p(o).apply(g.unary.ainv))
    new(f"vector apply scalar {words}", lambda g, o, p=one: p(o).apply(g.binary.times, right=0.5))
    new(f"vector select {words}", lambda g, o, p=one: p(o).select(g.select.valuegt, 50.0))
    new(f"vector reduce {words}", lambda g, o, p=one: p(o).reduce(g.monoid.plus))
    new(f"vector extract list {words}", lambda g, o, p=one: p(o)[o.shuffled])
    cell(f"vector dup masked {words}", lambda g, o, p=one: lambda: p(o).dup(mask=o.mv.S))
    cell(f"vector to_coo {words}", lambda g, o, p=one: lambda: p(o).to_coo())
    write(f"vector accum {words}", lambda g, o: o.f, lambda g, o, p=one: p(o), accum=lambda g, o: g.binary.plus)
new("vector ewise_add sparse bitmap", lambda g, o: o.u.ewise_add(o.b, g.binary.plus))
new("vector ewise_add sparse full", lambda g, o: o.u.ewise_add(o.f, g.binary.plus))
new("vector ewise_add mixed bitmap", lambda g, o: o.b.ewise_add(o.bi, g.binary.plus))
new("vector ewise_add mixed full", lambda g, o: o.f.ewise_add(o.fi, g.binary.plus))
new("vector ewise_mult bitmap full", lambda g, o: o.b.ewise_mult(o.f, g.binary.times))
new("vector ewise_add masked", lambda g, o: o.f.ewise_add(o.f2, g.binary.plus), mask=lambda g, o: o.mv.V)
new("vector inner", lambda g, o: o.f.inner(o.f2, g.semiring.plus_times))
new("vector outer masked", lambda g, o: o.f.outer(o.f2, g.binary.times), mask=lambda g, o: o.M.S)
new("vector extract slice full", lambda g, o: o.f[o.n // 4 : o.n // 2])
assign("vector assign scalar masked", lambda g, o: o.b, lambda o: slice(None), lambda g, o: 2.0,
       mask=lambda g, o: o.u.S)  # fmt: skip
assign("vector assign list", lambda g, o: o.f, lambda o: o.shuffled, lambda g, o: 2.0)
write("vector masked replace", lambda g, o: o.b, lambda g, o: o.f, mask=lambda g, o: o.mv.V, replace=True)
write("vector masked accum min", lambda g, o: o.f, lambda g, o: o.b, mask=lambda g, o: o.mv.V,
      accum=lambda g, o: g.binary.min)  # fmt: skip
cell("vector build", lambda g, o: lambda: g.Vector.from_coo(o.shuffled, np.ones(o.shuffled.size), size=o.n))
cell("vector from dense", lambda g, o: lambda: g.Vector.from_dense(o.dense))
cell("vector to dense", lambda g, o: lambda: o.f.to_dense())
