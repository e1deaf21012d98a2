"""Values of user-defined types, each an array or a record, in every form: what the sparse forms give."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import select
from support.seeds import generator

TRIPLE = np.dtype((np.int16, (3,)))
RECORD = np.dtype([("x", np.int32), ("y", np.float64)])
FORMS = ("fullr", "fullc", "bitmapr", "bitmapc", "iso", "csr")
M = gb.Matrix.from_coo([0, 0, 1, 3, 4], [1, 6, 2, 0, 3], [True, False, True, True, True], nrows=5, ncols=7)
ONES = gb.Vector.from_scalar(1, 7)


def values(rng, kind, shape):
    if kind is TRIPLE:
        return rng.integers(0, 5, (*shape, 3)).astype(np.int16)
    made = np.zeros(shape, RECORD)
    made["x"], made["y"] = rng.integers(0, 5, shape), rng.integers(0, 5, shape)
    return made


def matrix(rng, kind, form):
    """(a 5 x 7 matrix in that form, the same as CSR)"""
    given, dtype = values(rng, kind, (5, 7)), gb.dtypes.lookup_dtype(kind)
    convert = select.current().convert
    if form == "iso":
        A = gb.Matrix.from_scalar(given[0, 0], 5, 7, dtype=dtype)
    else:
        A = gb.Matrix.from_dense(given, dtype=dtype)
        if form[:4] != "full":
            A = A.dup(mask=~M.S)
        A = gb.Matrix._from_store(convert(A._store, form))
    return A, gb.Matrix._from_store(convert(A._store, "csr"))


def written(C, write):
    C = C.dup()
    write(C)
    C.wait()
    return C


CALLS = {
    "union": lambda A, B: gb.binary.any(A | A).new(),
    "intersection": lambda A, B: gb.binary.second(A & B).new(),
    "mask": lambda A, B: A.dup(mask=M.V),
    "complement": lambda A, B: A.dup(mask=~M.V),
    "identity": lambda A, B: A.apply("identity").new(),
    "tril": lambda A, B: A.select("tril").new(),
    "region": lambda A, B: A[1:4, ::2].new(),
    "rows": lambda A, B: A[[3, 1], :].new(),
    "diagonal": lambda A, B: A.diag(),
    "transpose": lambda A, B: A.T.new(),
    "concat": lambda A, B: gb.ss.concat([[A, B], [B, A]]),
    "split": lambda A, B: A.ss.split([2, 3])[1][0],
    "mxv": lambda A, B: gb.semiring.any_pair(A @ ONES).new(),
    "vxm": lambda A, B: gb.semiring.plus_pair(gb.Vector.from_scalar(1, 5) @ A).new(),
    "vxm of values": lambda A, B: gb.semiring.any_second(gb.Vector.from_coo([2], [1], size=5) @ A).new(),
    "resize": lambda A, B: written(A, lambda C: C.resize(8, 3)),
    "write": lambda A, B: written(A, lambda C: C(M.S) << B),
    "replace": lambda A, B: written(A, lambda C: C(~M.S, replace=True) << B),
    "accumulate": lambda A, B: written(A, lambda C: C(M.V, accum=gb.binary.second) << B),
    "assign": lambda A, B: written(A, lambda C: C[[1, 3], [0, 2, 5]] << B[[0, 1], [1, 2, 3]].new()),
    "row": lambda A, B: written(A, lambda C: C[2, :] << B[1, :].new()),
}


@pytest.mark.parametrize("kind", [TRIPLE, RECORD], ids=["array", "record"])
@pytest.mark.parametrize("form", FORMS)
def test_forms_agree(form, kind):
    for other, (name, call) in itertools.product(("fullr", "bitmapc", "iso"), CALLS.items()):
        rng = generator("user types", form, other, name)
        (A, plain_a), (B, plain_b) = matrix(rng, kind, form), matrix(rng, kind, other)
        assert call(A, B).isequal(call(plain_a, plain_b), check_dtype=True), (name, other)


@pytest.mark.parametrize("form", ["sparse", "bitmap", "full", "iso"])
def test_vectors_of_arrays(form):
    """Bitmaps of 300 positions against dictionaries."""
    rng, dtype = generator("vectors of arrays", form), gb.dtypes.lookup_dtype(TRIPLE)
    at = {"sparse": [3, 250], "bitmap": range(0, 300, 2)}.get(form, range(300))
    u = gb.Vector.from_coo(at, values(rng, TRIPLE, (len(at),)), dtype, size=300)
    if form == "iso":
        u = gb.Vector.from_scalar(np.array([4, 5, 6], np.int16), 300, dtype)
    v = gb.Vector.from_coo(range(0, 300, 3), values(rng, TRIPLE, (100,)), dtype, size=300)
    a, b = ({i: x.tolist() for i, x in zip(*w.to_coo(), strict=True)} for w in (u, v))
    assert len(a) == len(at)
    for found, wanted in (
        (gb.binary.second(u | v).new(), {**a, **b}),
        (gb.binary.first(u & v).new(), {i: a[i] for i in a if i in b}),
        (u.dup(mask=~v.S), {i: a[i] for i in a if i not in b}),
        (written(u, lambda w: w(v.S) << v), {**a, **b}),
        (u.apply("identity").new(), a),
        (written(u, lambda w: w[0:100] << v[0:100].new()), {**{i: a[i] for i in a if i > 99},
                                                             **{i: b[i] for i in b if i < 100}}),
    ):  # fmt: skip
        assert {i: x.tolist() for i, x in zip(*found.to_coo(), strict=True)} == wanted
