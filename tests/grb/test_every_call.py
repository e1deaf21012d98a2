"""Each operation with drawn descriptors, masks, accumulators; each method and each refusal, row by row of a table."""

import graphblas as oracle
import numpy as np
import pytest

import grb_tile as gb
from grb_tile import exceptions as exc, grb
from support.seeds import generator

N = 6


class Pairs:
    """Random objects of one name, the same in both libraries: `o.A` is (ours, the oracle's)."""

    def __init__(self, rng):
        self.rng, self.of = rng, {}

    def __getattr__(self, name):
        if name not in self.of:
            shape = (N,) if name.islower() else (N, N)
            here = self.rng.random(shape) < 0.55
            values = self.rng.integers(-3, 4, int(here.sum()))
            sizes = {"size": N} if name.islower() else {"nrows": N, "ncols": N}
            made = [lib.Vector if name.islower() else lib.Matrix for lib in (gb, oracle)]
            self.of[name] = [cls.from_coo(*np.nonzero(here), values, dtype=int, **sizes) for cls in made]
        return self.of[name]


# name -> (kind of the output, our call of (output, mask, accum, objects, desc), what the oracle computes)
# in which t0 and t1 transpose what the descriptor transposes
OPERATIONS = {
    "mxm": ("C", lambda c, m, a, o, d: grb.mxm(c, m, a, grb.PLUS_TIMES_SEMIRING_INT64, o.A[0], o.B[0], d),
            lambda o, t0, t1: t0(o.A[1]).mxm(t1(o.B[1]), "plus_times")),
    "mxv": ("w", lambda c, m, a, o, d: grb.mxv(c, m, a, grb.MIN_FIRST_SEMIRING_INT64, o.A[0], o.u[0], d),
            lambda o, t0, t1: t0(o.A[1]).mxv(o.u[1], "min_first")),
    "vxm": ("w", lambda c, m, a, o, d: grb.vxm(c, m, a, grb.MIN_FIRST_SEMIRING_INT64, o.u[0], o.A[0], d),
            lambda o, t0, t1: o.u[1].vxm(t1(o.A[1]), "min_first")),
    "eWiseAdd": ("C", lambda c, m, a, o, d: grb.eWiseAdd(c, m, a, grb.MINUS_INT64, o.A[0], o.B[0], d),
                 lambda o, t0, t1: t0(o.A[1]).ewise_add(t1(o.B[1]), oracle.binary.minus)),
    "eWiseAdd vectors": ("w", lambda c, m, a, o, d: grb.eWiseAdd(c, m, a, grb.MINUS_INT64, o.u[0], o.v[0], d),
                         lambda o, t0, t1: o.u[1].ewise_add(o.v[1], oracle.binary.minus)),
    "eWiseMult": ("C", lambda c, m, a, o, d: grb.eWiseMult(c, m, a, grb.MINUS_INT64, o.A[0], o.B[0], d),
                  lambda o, t0, t1: t0(o.A[1]).ewise_mult(t1(o.B[1]), oracle.binary.minus)),
    "eWiseMult monoid": ("w", lambda c, m, a, o, d: grb.eWiseMult(c, m, a, grb.MAX_MONOID_INT64, o.u[0], o.v[0], d),
                         lambda o, t0, t1: o.u[1].ewise_mult(o.v[1], oracle.binary.max)),
    "eWiseUnion": ("C", lambda c, m, a, o, d: grb.eWiseUnion(c, m, a, grb.MINUS_INT64, o.A[0], 7, o.B[0], 9, d),
                   lambda o, t0, t1: t0(o.A[1]).ewise_union(t1(o.B[1]), oracle.binary.minus, 7, 9)),
    "eWiseUnion vectors": (
        "w",
        lambda c, m, a, o, d: grb.eWiseUnion(c, m, a, grb.MINUS_INT64, o.u[0], 7, o.v[0], gb.Scalar.from_value(9), d),
        lambda o, t0, t1: o.u[1].ewise_union(o.v[1], oracle.binary.minus, 7, 9)),
    "apply": ("C", lambda c, m, a, o, d: grb.apply(c, m, a, grb.AINV_INT64, o.A[0], d),
              lambda o, t0, t1: t0(o.A[1]).apply("ainv")),
    "apply vector": ("w", lambda c, m, a, o, d: grb.apply(c, m, a, grb.ABS_INT64, o.u[0], d),
                     lambda o, t0, t1: o.u[1].apply("abs")),
    "apply 1st": ("C", lambda c, m, a, o, d: grb.apply_BinaryOp1st(c, m, a, grb.MINUS_INT64, 5, o.A[0], d),
                  lambda o, t0, t1: t1(o.A[1]).apply(oracle.binary.minus, left=5)),
    "apply 2nd": ("C", lambda c, m, a, o, d: grb.apply_BinaryOp2nd(c, m, a, grb.MINUS_INT64, o.A[0], 5, d),
                  lambda o, t0, t1: t0(o.A[1]).apply(oracle.binary.minus, right=5)),
    "apply 1st, monoid": ("w", lambda c, m, a, o, d: grb.apply_BinaryOp1st(c, m, a, grb.MAX_MONOID_INT64, 1, o.u[0], d),
                          lambda o, t0, t1: o.u[1].apply(oracle.binary.max, left=1)),
    "apply index": ("C", lambda c, m, a, o, d: grb.apply_IndexOp(c, m, a, grb.ROWINDEX_INT64, o.A[0], 3, d),
                    lambda o, t0, t1: t0(o.A[1]).apply(oracle.indexunary.rowindex, 3)),
    "select": ("C", lambda c, m, a, o, d: grb.select(c, m, a, grb.TRIL, o.A[0], 1, d),
               lambda o, t0, t1: t0(o.A[1]).select(oracle.select.tril, 1)),
    "select vector": ("w", lambda c, m, a, o, d: grb.select(c, m, a, grb.VALUELE_INT64, o.u[0], 1, d),
                      lambda o, t0, t1: o.u[1].select(oracle.select.valuele, 1)),
    "reduce": ("w", lambda c, m, a, o, d: grb.reduce(c, m, a, grb.MIN_MONOID_INT64, o.A[0], d),
               lambda o, t0, t1: t0(o.A[1]).reduce_rowwise(oracle.monoid.min)),
    "reduce by an operator": ("w", lambda c, m, a, o, d: grb.reduce(c, m, a, grb.PLUS_INT64, o.A[0], d),
                              lambda o, t0, t1: t0(o.A[1]).reduce_rowwise(oracle.monoid.plus)),
    "transpose": ("C", lambda c, m, a, o, d: grb.transpose(c, m, a, o.A[0], d),
                  lambda o, t0, t1: t0(o.A[1]).T.apply("identity")),
    "extract": ("C", lambda c, m, a, o, d: grb.extract(c, m, a, o.A[0], [5, 0, 2, 2, 1, 3], grb.ALL, d),
                lambda o, t0, t1: t0(o.A[1])[[5, 0, 2, 2, 1, 3], :]),
    "extract columns": ("C", lambda c, m, a, o, d: grb.extract(c, m, a, o.A[0], grb.ALL, [1, 1, 0, 5, 4, 4], d),
                        lambda o, t0, t1: t0(o.A[1])[:, [1, 1, 0, 5, 4, 4]]),
    "extract vector": ("w", lambda c, m, a, o, d: grb.extract(c, m, a, o.u[0], [5, 0, 2, 2, 1, 3], None, d),
                       lambda o, t0, t1: o.u[1][[5, 0, 2, 2, 1, 3]]),
    "extract vector, J": ("w", lambda c, m, a, o, d: grb.extract(c, m, a, o.u[0], slice(None), d),
                          lambda o, t0, t1: o.u[1][:]),
    "Col_extract": ("w", lambda c, m, a, o, d: grb.Col_extract(c, m, a, o.A[0], [3, 3, 1, 0, 5, 2], 4, d),
                    lambda o, t0, t1: t0(o.A[1])[[3, 3, 1, 0, 5, 2], 4]),
    "assign": ("C", lambda c, m, a, o, d: grb.assign(c, m, a, o.A[0], grb.ALL, grb.ALL, d),
               lambda o, t0, t1: t0(o.A[1]).apply("identity")),
    "assign vector, J": ("w", lambda c, m, a, o, d: grb.assign(c, m, a, o.u[0], grb.ALL, d), lambda o, t0, t1: o.u[1]),
    "subassign vector, J": ("w", lambda c, m, a, o, d: grb.subassign(c, m, a, o.u[0], grb.ALL, d),
                            lambda o, t0, t1: o.u[1]),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name):
    kind, ours, theirs = OPERATIONS[name]
    rng = generator("function form", name)
    for turn in range(10):
        o = Pairs(rng)
        replace, structure, complement, first, second, masked = rng.integers(0, 2, 6).astype(bool).tolist()
        accum = (None, "minus", "plus")[turn % 3]
        suffix = "R" * replace + "S" * structure + "C" * complement + "T0" * first + "T1" * second
        desc = getattr(grb, f"DESC_{suffix}") if suffix else None
        if not masked and complement:
            continue  # below
        (c, c2), (m, m2) = getattr(o, kind), getattr(o, "M" if kind == "C" else "m")
        ours(c, m if masked else None, None if accum is None else getattr(gb.binary, accum), o, desc)
        how = {} if accum is None else {"accum": getattr(oracle.binary, accum)}
        if masked:
            how |= {"mask": (~m2.S if complement else m2.S) if structure else (~m2.V if complement else m2.V)}
            how |= {"replace": replace}
        expression = theirs(o, *((lambda x: x.T) if flag else (lambda x: x) for flag in (first, second)))
        c2(**how) << expression
        assert c.isequal(gb.io.from_graphblas(c2), check_dtype=True), (suffix, accum, masked)


@pytest.mark.parametrize("replace", [False, True])
def test_the_complement_of_no_mask_lets_nothing_through(replace):
    o = Pairs(generator("no mask", replace))
    desc = grb.DESC_RC if replace else grb.DESC_C
    for (kind, call, _), was in ((OPERATIONS["apply"], o.C[0].dup()), (OPERATIONS["mxv"], o.w[0].dup())):
        out = getattr(o, kind)[0]
        call(out, None, None, o, desc)
        assert out.nvals == 0 if replace else out.isequal(was)


def test_kronecker_by_a_monoid_and_transposed():
    o = Pairs(generator("kronecker"))
    for suffix, t0, t1 in (("", 0, 0), ("T0", 1, 0), ("T1", 0, 1), ("T0T1", 1, 1)):
        C = gb.Matrix(int, N * N, N * N)
        desc = getattr(grb, f"DESC_{suffix}") if suffix else None
        grb.kronecker(C, None, None, grb.MINUS_INT64 if t0 else grb.PLUS_MONOID_INT64, o.A[0], o.B[0], desc)
        left, right = o.A[1].T if t0 else o.A[1], o.B[1].T if t1 else o.B[1]
        wanted = left.kronecker(right, oracle.binary.minus if t0 else oracle.binary.plus).new()
        assert C.isequal(gb.io.from_graphblas(wanted))


def vector(**entries):
    return gb.Vector.from_coo([int(k[1:]) for k in entries], list(entries.values()), int, size=5)


def after(change, obj):
    change(obj)
    return obj.value if type(obj) is gb.Scalar else obj.to_dict() if obj.ndim == 1 else obj.to_dicts()


def matrix(entries, nrows=3, ncols=4):
    rows, cols = zip(*entries, strict=True) if entries else ((), ())
    return gb.Matrix.from_coo(rows, cols, list(entries.values()), int, nrows=nrows, ncols=ncols)


def emptied(x):
    """An object whose elements were all deleted, one by one."""
    x[(1,) * x.ndim if x.ndim == 2 else 1] = 9
    del x[(1,) * x.ndim if x.ndim == 2 else 1]
    return x


EMPTY = gb.Scalar(int)
METHODS = {  # what is computed -> what it is
    "init": (lambda: (grb.init(), grb.init("nonblocking"), grb.finalize()), (None, None, None)),
    "version": (grb.getVersion, (2, 1)),
    "free, wait, error": (lambda: (grb.free(vector(a1=2)), grb.wait(vector(a1=2)), grb.error(EMPTY)), (None, None, "")),
    "Scalar_dup": (lambda: grb.Scalar_dup(gb.Scalar.from_value(3)).value, 3),
    "Scalar_clear": (lambda: after(grb.Scalar_clear, gb.Scalar.from_value(3)), None),
    "Scalar_nvals": (lambda: (grb.Scalar_nvals(EMPTY), grb.Scalar_nvals(gb.Scalar.from_value(0))), (0, 1)),
    "Scalar_setElement": (lambda: after(lambda s: grb.Scalar_setElement(s, 300), gb.Scalar("INT8")), 44),
    "Scalar_extractElement": (lambda: grb.Scalar_extractElement(gb.Scalar.from_value(7)), 7),
    "Vector_dup": (lambda: after(lambda u: grb.Vector_setElement(grb.Vector_dup(u), 9, 2), vector(a1=2)), {1: 2}),
    "Vector_clear": (lambda: after(grb.Vector_clear, vector(a1=2)), {}),
    "Vector_resize": (lambda: after(lambda u: grb.Vector_resize(u, 3), vector(a1=2, a3=4)), {1: 2}),
    "Vector_size": (lambda: (grb.Vector_size(vector(a1=2)), grb.Vector_nvals(vector(a1=2, a3=4))), (5, 2)),
    "Vector_removeElement": (lambda: after(lambda u: grb.Vector_removeElement(u, 3), vector(a1=2, a3=4)), {1: 2}),
    "Vector_setElement": (lambda: after(lambda u: grb.Vector_setElement(u, 8, 4), vector(a1=2)), {1: 2, 4: 8}),
    "Vector_setElement, empty": (lambda: after(lambda u: grb.Vector_setElement(u, EMPTY, 1), vector(a1=2)), {}),
    "Vector_extractElement": (lambda: grb.Vector_extractElement(vector(a1=2, a4=7), 4), 7),
    "Vector_extractTuples": (lambda: [x.tolist() for x in grb.Vector_extractTuples(vector(a1=2, a4=7))],
                             [[1, 4], [2, 7]]),
    "Vector_build": (lambda: after(lambda w: grb.Vector_build(w, [3, 1], [4, 5]), vector()), {1: 5, 3: 4}),
    "Vector_build, n": (lambda: after(lambda w: grb.Vector_build(w, [3, 1, 0], [4, 5, 6], 2), vector()), {1: 5, 3: 4}),
    "Vector_build, one value": (lambda: after(lambda w: grb.Vector_build(w, [3, 1], [4]), vector()), {1: 4, 3: 4}),
    "Vector_build, dup": (
        lambda: after(lambda w: grb.Vector_build(w, [3, 3], [4, 6], None, grb.MINUS_INT64), vector()), {3: -2}),
    "Vector_build, cast": (
        lambda: after(lambda w: grb.Vector_build(w, [3], [300]), gb.Vector("INT8", 5)), {3: 44}),
    "Vector_build, emptied": (
        lambda: (lambda w: (grb.Vector_build(w, [3, 1], [4, 5]), w.nvals, w.get(1)))(emptied(vector())), (None, 2, 5)),
    "Matrix_dup": (lambda: after(lambda A: grb.Matrix_clear(grb.Matrix_dup(A)), matrix({(1, 2): 3})), {1: {2: 3}}),
    "Matrix_clear": (lambda: after(grb.Matrix_clear, matrix({(1, 2): 3})), {}),
    "Matrix_diag": (lambda: grb.Matrix_diag(vector(a1=2, a3=4)).to_dicts(), {1: {1: 2}, 3: {3: 4}}),
    "Matrix_diag, k": (lambda: grb.Matrix_diag(vector(a1=2), 2).to_dicts(), {1: {3: 2}}),
    "Matrix_resize": (lambda: after(lambda A: grb.Matrix_resize(A, 2, 5), matrix({(1, 2): 3, (2, 0): 4})), {1: {2: 3}}),
    "Matrix_nrows": (lambda: [f(matrix({(1, 2): 3})) for f in (grb.Matrix_nrows, grb.Matrix_ncols, grb.Matrix_nvals)],
                     [3, 4, 1]),
    "Matrix_setElement": (lambda: after(lambda A: grb.Matrix_setElement(A, 8, 2, 3), matrix({(1, 2): 3})),
                          {1: {2: 3}, 2: {3: 8}}),
    "Matrix_setElement, empty": (
        lambda: after(lambda A: grb.Matrix_setElement(A, EMPTY, 1, 2), matrix({(1, 2): 3})), {}),
    "Matrix_removeElement": (
        lambda: after(lambda A: grb.Matrix_removeElement(A, 1, 2), matrix({(1, 2): 3, (2, 1): 4})), {2: {1: 4}}),
    "Matrix_extractElement": (lambda: grb.Matrix_extractElement(matrix({(1, 2): 3, (2, 1): 4}), 2, 1), 4),
    "Matrix_build": (lambda: after(lambda C: grb.Matrix_build(C, [2, 0], [1, 3], [4, 5]), matrix({})),
                     {0: {3: 5}, 2: {1: 4}}),
    "Matrix_build, n": (lambda: after(lambda C: grb.Matrix_build(C, [2, 0, 9], [1, 3, 9], [4, 5, 6], 2), matrix({})),
                        {0: {3: 5}, 2: {1: 4}}),
    "Matrix_build, dup": (
        lambda: after(lambda C: grb.Matrix_build(C, [2, 2], [1, 1], [4, 6], 2, grb.MINUS_INT64), matrix({})),
        {2: {1: -2}}),
    "Matrix_build, emptied": (
        lambda: (lambda C: (grb.Matrix_build(C, [1, 2], [1, 3], [4, 5]), C.nvals, C.get(1, 1)))(emptied(matrix({}))),
        (None, 2, 4)),
    **{
        f"Matrix_import {name}": (
            lambda parts=parts, more=more: grb.Matrix_import(grb.INT64, 3, 4, *parts, **more).to_dicts(),
            {0: {3: 7}, 2: {1: 8}},
        )
        for name, parts, more in (
            ("default", ([0, 1, 1, 2], [3, 1], [7, 8]), {}),
            ("CSR", ([0, 1, 1, 2], [3, 1], [7, 8]), {"format": "CSR_FORMAT"}),
            ("CSC", ([0, 0, 1, 1, 2], [2, 0], [8, 7]), {"format": "CSC_FORMAT"}),
            ("COO", ([1, 3], [2, 0], [8, 7]), {"format": "COO_FORMAT"}),
        )
    },
    **{
        f"Matrix_export {name}": (
            lambda more=more: [x.tolist() for x in grb.Matrix_export(matrix({(0, 3): 7, (2, 1): 8}), *more)], wanted)
        for name, more, wanted in (
            ("default", (), [[0, 1, 1, 2], [3, 1], [7, 8]]),
            ("CSR", ("CSR_FORMAT",), [[0, 1, 1, 2], [3, 1], [7, 8]]),
            ("CSC", ("CSC_FORMAT",), [[0, 0, 1, 1, 2], [2, 0], [8, 7]]),
            ("COO", ("COO_FORMAT",), [[3, 1], [0, 2], [7, 8]]),
        )
    },
    "Matrix_deserialize": (
        lambda: grb.Matrix_deserialize(grb.Matrix_serialize(matrix({(1, 2): 3})), grb.INT64).to_dicts(), {1: {2: 3}}),
    "assign, a row": (lambda: after(lambda C: grb.Row_assign(C, None, None, 5, 1, [0, 3]), matrix({(1, 2): 3})),
                      {1: {0: 5, 2: 3, 3: 5}}),
    "assign, transposed": (
        lambda: after(lambda C: grb.assign(C, None, None, matrix({(0, 1): 7}, 2, 3), [2, 0, 1], [3, 1], grb.DESC_T0),
                      matrix({})), {0: {3: 7}}),
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods(name):
    compute, wanted = METHODS[name]
    found = compute()
    assert found == wanted and type(found) is type(wanted)


@pytest.mark.parametrize("value", [None, 4, 9])
@pytest.mark.parametrize("accum", [None, "plus"])
def test_reduction_to_a_scalar(value, accum):
    s = gb.Scalar(int) if value is None else gb.Scalar.from_value(value)
    A = matrix({(1, 2): 3, (2, 1): 4})
    for x, total in ((A, 7), (vector(a1=2, a3=6), 8), (gb.Matrix(int, 3, 3), None), (vector(), None)):
        t = s.dup()
        grb.reduce(t, None if accum is None else gb.binary.plus, grb.PLUS_MONOID_INT64, x)
        both = value is not None and total is not None
        assert t.value == (total if accum is None else value + total if both else value if total is None else total)


V, C, S = vector(a1=2), matrix({(1, 2): 3}), gb.Scalar.from_value(1)
REFUSALS = [
    (exc.InvalidValue, "mode is 'fast'", lambda: grb.init("fast")),
    (TypeError, "size is True; expected an integer", lambda: grb.Vector_new("FP64", True)),
    (TypeError, "size is 1.5", lambda: grb.Vector_resize(V, 1.5)),
    (exc.InvalidValue, "format is 'CSR'", lambda: grb.Matrix_export(C, "CSR")),
    (exc.InvalidValue, "format is 'COO'", lambda: grb.Matrix_import("INT64", 1, 1, [0], [0], [1], "COO")),
    (exc.NoValue, "no entry at 0", lambda: grb.Vector_extractElement(V, 0)),
    (exc.NoValue, r"no entry at \(2, 1\)", lambda: grb.Matrix_extractElement(C, 2, 1)),
    (exc.DimensionMismatch, "I has 2 items but n is 3", lambda: grb.Vector_build(vector(), [0, 1], [1, 2, 3], 3)),
    (exc.DimensionMismatch, "X has 2 items but n is 3", lambda: grb.Vector_build(vector(), [0, 1, 2], [1, 2], 3)),
    (exc.DimensionMismatch, "X has 3 values for 2", lambda: grb.Vector_build(vector(), [0, 1], [1, 2, 3])),
    (exc.OutputNotEmpty, "C has 1 entries", lambda: grb.Matrix_build(C, [0], [0], [1])),
    (exc.DimensionMismatch, "I has 2 indices and J 1", lambda: grb.Matrix_build(matrix({}), [0, 1], [0], [1])),
    (exc.IndexOutOfBound, r"J\[1\] is 4, outside 0 .. 3",
     lambda: grb.Matrix_build(matrix({}), [0, 2], [0, 4], [1, 2])),
    (exc.IndexOutOfBound, r"I\[0\] is -1", lambda: grb.Vector_build(vector(), [-1], [1])),
    (exc.IndexOutOfBound, r"I\[0\] is 5, outside 0 .. 4", lambda: grb.Vector_build(vector(), [5], [1])),
    (TypeError, r"I is \[0.5\]", lambda: grb.Vector_build(vector(), [0.5], [1])),
    (TypeError, r"I is \[\[0\]\]", lambda: grb.Vector_build(vector(), [[0]], [1])),
    (TypeError, "i is True", lambda: grb.Vector_setElement(V, 1, True)),
    (exc.InvalidIndex, "j is 4, outside 0 .. 3", lambda: grb.Matrix_setElement(C, 1, 2, 4)),
    (exc.InvalidIndex, "i is -1", lambda: grb.Matrix_removeElement(C, -1, 0)),
    (exc.DomainMismatch, "the data has type INT64, not FP64",
     lambda: grb.Matrix_deserialize(grb.Matrix_serialize(C), "FP64")),
    (TypeError, "desc must be a Descriptor", lambda: grb.Descriptor_set(None, grb.OUTP, grb.REPLACE)),
    (exc.InvalidValue, "field is 'X'", lambda: grb.Descriptor_set(grb.Descriptor_new(), "X", grb.REPLACE)),
    (TypeError, "desc is 'R'; expected None or", lambda: grb.apply(V, None, None, grb.ABS_INT64, V, "R")),
    (TypeError, "A is Vector; expected Matrix", lambda: grb.transpose(C, None, None, V)),
    (TypeError, "C is Scalar; expected Matrix or Vector", lambda: grb.apply(S, None, None, grb.ABS_INT64, V)),
    (exc.NullPointer, "y is None", lambda: grb.apply_BinaryOp2nd(V, None, None, grb.PLUS_INT64, V, None)),
    (exc.EmptyObject, "alpha is an empty", lambda: grb.eWiseUnion(V, None, None, grb.PLUS_INT64, V, EMPTY, V, 1)),
    (TypeError, "reduce to a Vector takes", lambda: grb.reduce(V, None, grb.PLUS_MONOID_INT64)),
    (TypeError, "reduce to a Vector takes", lambda: grb.reduce(V, None, None, grb.PLUS_MONOID_INT64, C, None, 1)),
    (TypeError, "reduce to a Scalar takes", lambda: grb.reduce(S, grb.PLUS_MONOID_INT64)),
    (TypeError, "reduce to a Scalar takes", lambda: grb.reduce(S, None, grb.PLUS_MONOID_INT64, C, None, 1)),
    (exc.InvalidValue, "is no monoid", lambda: grb.reduce(S, None, grb.MINUS_INT64, C)),
    (exc.DimensionMismatch, None, lambda: grb.mxm(C, None, None, grb.PLUS_TIMES_SEMIRING_INT64, C, C)),
    (exc.DimensionMismatch, None, lambda: grb.assign(C, None, None, C, [0, 1], [0, 1])),
    (TypeError, "s is Vector", lambda: grb.Scalar_clear(V)),
    *((exc.NullPointer, f"{name}: u is None", lambda name=name: getattr(grb, name)(C, None, None, None, 0, 0))
      for name in ("Row_assign", "Col_assign", "Row_subassign", "Col_subassign")),
    (exc.NullPointer, "assign: A is None", lambda: grb.assign(C, None, None, None, [0], [0])),
    (exc.NullPointer, "mxv: op is None", lambda: grb.mxv(V, None, None, None, C, V)),
    (TypeError, "A is Vector", lambda: grb.Matrix_nvals(V)),
    (TypeError, "u is Matrix", lambda: grb.Vector_nvals(C)),
]  # fmt: skip


@pytest.mark.parametrize("error, text, call", REFUSALS)
def test_refusals(error, text, call):
    with pytest.raises(error, match=text):
        call()
    assert V.to_dict() == {1: 2} and C.to_dicts() == {1: {2: 3}} and S.value == 1


def test_descriptors_that_are_set():
    for field, value, suffix in (
        (grb.OUTP, grb.REPLACE, "R"), (grb.MASK, grb.COMP, "C"), (grb.MASK, grb.STRUCTURE, "S"),
        (grb.MASK, grb.COMP_STRUCTURE, "SC"), (grb.INP0, grb.TRAN, "T0"), (grb.INP1, grb.TRAN, "T1"),
    ):  # fmt: skip
        desc, wanted = grb.Descriptor_new(), getattr(grb, f"DESC_{suffix}")
        grb.Descriptor_set(desc, field, value)
        flags = ("replace", "structure", "complement", "t0", "t1")
        assert [getattr(desc, flag) for flag in flags] == [getattr(wanted, flag) for flag in flags]
        assert repr(desc) == repr(wanted)
        grb.Descriptor_set(desc, field, grb.DEFAULT)
        assert not any(getattr(desc, flag) for flag in flags)


def test_all_names_are_imported_by_a_star():
    from grb_tile.grb import fields, methods, operations

    space = {}
    exec("from grb_tile.grb import *", space)
    for module in (fields, methods, operations):
        for name in module.__all__:
            assert space[name] is getattr(module, name) is getattr(grb, name), name
    for name in (
        "Descriptor_new",
        "Descriptor_set",
        "OUTP",
        "MASK",
        "INP0",
        "INP1",
        "REPLACE",
        "COMP",
        "TRAN",
        "SUCCESS",
    ):
        assert space[name] is getattr(grb, name), name
