"""Matrices in every storage form and calls over them: all forms of one matrix give the same results."""

import numpy as np

from support.library import gb

FORMS = ("csr", "fullr", "fullc", "bitmapr", "bitmapc", "iso")
SHAPE = (5, 7)


def matrix(rng, form):
    """A 5 x 7 matrix in that form (half of its entries present, all in a full one); and the same matrix as CSR."""
    values = rng.integers(1, 9, SHAPE).astype(float)
    present = np.ones(SHAPE, bool) if form[:4] == "full" or form == "iso" else rng.random(SHAPE) < 0.5
    if form == "iso":
        values[:] = 3
    i, j = np.nonzero(present)
    plain = gb.Matrix.from_coo(i, j, values[i, j], nrows=5, ncols=7)
    if form == "csr":
        return plain, plain
    if form == "iso":
        return gb.Matrix.from_scalar(3.0, *SHAPE), plain
    made = getattr(gb.Matrix.ss, f"import_{form}")
    made = made(values=values) if form[:4] == "full" else made(bitmap=present, values=values)
    assert made.ss.format == form
    return made, plain


def calls(A, B, M):
    """(name, result) of operations on A and B with masks of M."""
    yield "ewise_add", A.ewise_add(B).new()
    yield "ewise_mult", A.ewise_mult(B).new()
    yield "ewise_mult positional", gb.binary.ss.firstj(A & B).new()
    yield "ewise_union", gb.binary.minus(A | B, left_default=1, right_default=2).new()
    yield "apply", A.apply(gb.unary.ainv).new()
    yield "apply bound", gb.binary.plus(A, 2.0).new()
    yield "apply index", gb.indexunary.colindex(A).new()
    yield "select", A.select(">", 4.0).new()
    yield "tril", A.select("tril", 0).new()
    yield "mask S", A.ewise_add(B).new(mask=M.S)
    yield "mask ~S", A.ewise_add(B).new(mask=~M.S)
    yield "mask ~V", A.apply(gb.unary.abs).new(mask=~M.V)
    for name, write in _WRITES.items():
        C = A.dup()
        write(C, B, M)
        yield name, C
    yield "transpose", A.T.new()
    yield "mxm", A.mxm(B.T).new()
    yield "mxm mask", A.T.mxm(B).new(mask=A.T.mxm(M, "any_pair").new().S)
    yield "mxv", A.mxv(gb.Vector.from_dense(np.arange(7.0))).new()
    yield "vxm", gb.Vector.from_dense(np.arange(5.0)).vxm(A, "min_plus").new()
    yield "reduce rows", A.reduce_rowwise().new()
    yield "reduce columns", A.reduce_columnwise("max").new()
    yield "reduce", A.reduce_scalar("plus").new()
    yield "rows", A[[3, 1], :].new()
    yield "region", A[1:4, ::2].new()
    yield "column", A[:, 2].new()
    yield "cast", A.dup("INT32")
    yield "kronecker", A.kronecker(B).new()
    yield "concat", gb.ss.concat([[A, B], [B, A]])
    yield "resize", _resized(A)


PARTS = {  # (rows, columns) of a 5 x 7 matrix
    "lists": ([4, 0, 2], [6, 1]), "ascending": ([1, 2, 3], [0, 3, 6]), "one row": ([3], slice(None)),
    "one column": (slice(None), [5]), "backwards": (slice(None, None, -1), slice(6, 0, -2)), "none": ([], [2, 3]),
    "all": (slice(None), slice(None)), "steps": (slice(0, 5, 2), slice(1, 7, 3)), "rows": ([0, 1, 2], slice(None)),
}  # fmt: skip


def indexing_calls(A, B, M):
    """(name, result) of extracting and writing parts of A."""
    for name, (I, J) in PARTS.items():
        part = B[I, J].new()
        yield f"extract {name}", part
        for kind, value in (("matrix", part), ("one value", 7), ("nothing", gb.Matrix("FP64", *part.shape))):
            for write, options in (("plain", {}), ("plus", {"accum": gb.binary.plus})):
                C = A.dup()
                C(**options)[I, J] << value
                yield f"{write} {kind} to {name}", C
    yield "repeated", A[[3, 3, 0], [1, 5, 1, 6]].new()
    yield "row", A[4, :].new()
    for op in ("min", "times", "plus"):
        yield f"{op} of rows", A.reduce_rowwise(op).new()
        yield f"{op} of columns", A.reduce_columnwise(op).new()
    for name, mask in (("S", M.S), ("~S", ~M.S), ("V", M.V)):
        C = A.dup()
        C(mask, replace=True)[:, :] << 3
        yield f"one value where {name}, else nothing", C
        C = A.dup()
        C(mask)[:, :] << A.apply(gb.unary.ainv)
        yield f"negated where {name}", C
    wide = gb.Matrix("FP64", 11, 16)
    wide[3:8, 8:15] << A
    yield "into a greater one", wide


def _resized(A):
    C = A.dup()
    C.resize(8, 3)
    return C


def _element(C, B, M):
    C[1, 2] = 99
    del C[0, 0]
    C(gb.binary.plus)[4, 6] << 1
    C.wait()


_WRITES = {
    "write S": lambda C, B, M: C(M.S).__lshift__(B),
    "write ~S plus": lambda C, B, M: C(~M.S, accum=gb.binary.plus).__lshift__(B),
    "write V replace": lambda C, B, M: C(M.V, replace=True).__lshift__(B.apply(gb.unary.ainv)),
    "a row of one value": lambda C, B, M: C[2, :].__lshift__(1),
    "region": lambda C, B, M: C[[1, 3], [0, 2, 5]].__lshift__(B[[0, 1], [1, 2, 3]].new()),
    "everywhere": lambda C, B, M: C(~M.S)[:, :].__lshift__(7),
    "elements": _element,
}


def compare(rng, forms, within, calls=calls):
    """Raise AssertionError where operands in these three forms, computed `within` (a context manager), do not give
    what CSR gives.
    """
    made, plain = zip(*(matrix(rng, form) for form in forms), strict=True)
    for (name, wanted), found in zip(calls(*plain), _within(within, made, calls), strict=True):
        assert found[0] == name
        a, b = (_parts(x) for x in (wanted, found[1]))
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True)), (forms, name, wanted, found[1])
    for A, B in zip(made, plain, strict=True):  # operands as they were
        assert all(np.array_equal(x, y) for x, y in zip(A.to_coo(), B.to_coo(), strict=True))


def _within(within, made, calls):
    with within():
        yield from list(calls(*made))


def _parts(x):
    return x.to_coo() if hasattr(x, "to_coo") else (x.value,)
