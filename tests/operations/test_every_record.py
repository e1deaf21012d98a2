"""Every operation written under drawn masks, accumulators and replace, operands in drawn forms, against SuiteSparse.

tests/conformance has every cell of the specification, of which a quick run takes a sample; here each operation runs.
Most turns take few entries for many, so that changes are kept beside the store, or written in place, as with large
objects.
Outputs, masks and regions of another shape are refused.
"""

import numpy as np
import pytest

from grb_tile.operations import written_region
from grb_tile.planner import tuning
from support.agree import Raised, expected_outcome, outcome, report
from support.library import LIBRARY, gb, oracle
from support.operands import scalar
from support.plain import difference
from support.seeds import generator
from support.stored import MATRIX_FORMS, VECTOR_FORMS, stored

if LIBRARY == "graphblas":
    pytest.skip("the forms are this library's", allow_module_level=True)

SHAPES = {
    "A": (5, 7), "B": (5, 7), "F": (7, 5), "Q": (5, 5), "K": (2, 3), "L": (3, 2),
    "u": (7,), "v": (7,), "x": (5,), "y": (5,),
}  # fmt: skip
I, J = [3, 0, 3, 4, 1], [6, 2, 0, 2, 5, 1, 1]

# the output's shape -> operations: the expression, or what is assigned
RECORDS = {
    (5, 7): {
        "mxm": lambda lib, o: o.Q.mxm(o.A, "plus_times"),
        "mxm, left transposed": lambda lib, o: o.Q.T.mxm(o.A, "min_plus"),
        "mxm, right transposed": lambda lib, o: o.Q.mxm(o.F.T, "max_first"),
        "mxm, both transposed": lambda lib, o: o.Q.T.mxm(o.F.T, "any_pair"),
        "outer": lambda lib, o: o.x.outer(o.u, lib.binary.minus),
        "ewise_add": lambda lib, o: o.A.ewise_add(o.B, lib.binary.minus),
        "ewise_add, transposed": lambda lib, o: o.A.ewise_add(o.F.T, lib.binary.first),
        "ewise_add, a row": lambda lib, o: o.A.ewise_add(o.u, lib.binary.minus),
        "ewise_add, a column": lambda lib, o: o.x.ewise_add(o.A, lib.binary.minus),
        "ewise_mult": lambda lib, o: o.A.ewise_mult(o.B, lib.binary.minus),
        "ewise_mult, transposed": lambda lib, o: o.F.T.ewise_mult(o.A, lib.binary.second),
        "ewise_mult, a row": lambda lib, o: o.A.ewise_mult(o.u, lib.binary.minus),
        "ewise_mult, a column": lambda lib, o: o.x.ewise_mult(o.F.T, lib.binary.minus),
        "ewise_union": lambda lib, o: o.A.ewise_union(o.B, lib.binary.minus, 3, 5),
        "ewise_union, transposed": lambda lib, o: o.F.T.ewise_union(o.A, lib.binary.minus, 3, 5),
        "ewise_union, a row": lambda lib, o: o.A.ewise_union(o.u, lib.binary.minus, 3, 5),
        "apply": lambda lib, o: o.A.apply(lib.unary.ainv),
        "apply, transposed": lambda lib, o: o.F.T.apply(lib.unary.abs),
        "apply, left": lambda lib, o: o.A.apply(lib.binary.minus, left=2),
        "apply, right": lambda lib, o: o.F.T.apply(lib.binary.minus, right=o.s),
        "apply, index": lambda lib, o: o.A.apply(lib.indexunary.colindex, 3),
        "apply, index, transposed": lambda lib, o: o.F.T.apply(lib.indexunary.rowindex, 1),
        "select": lambda lib, o: o.A.select(">", 0),
        "select, transposed": lambda lib, o: o.F.T.select("triu", 1),
        "select, a mask": lambda lib, o: o.A.select(o.B.S),
        "select, a complemented mask": lambda lib, o: o.A.select(~o.B.V),
        "transpose": lambda lib, o: o.F.T,
        "itself": lambda lib, o: o.A,
        "extract": lambda lib, o: o.A[I, J],
        "extract, transposed": lambda lib, o: o.F.T[I, J],
        "extract, ranges": lambda lib, o: o.A[::-1, ::-1],
        "selected product": lambda lib, o: o.Q.mxm(o.A, "plus_times").select(o.B.S),
        "product selected by value": lambda lib, o: o.Q.mxm(o.A, "plus_times").select(">", 0),
        "product selected twice": lambda lib, o: o.Q.mxm(o.A, "plus_times").select(~o.B.V).select("<=", 1),
        "reposition": lambda lib, o: o.A.reposition(1, -2),
        "a number": lambda lib, o: 4,
        "a Scalar": lambda lib, o: o.s,
    },
    (5, 5): {
        "product with a transpose": lambda lib, o: o.A.mxm(o.B.T, "min_first"),
        "power": lambda lib, o: o.Q.power(3, "min_plus"),
        "diagonal": lambda lib, o: o.x.diag(),
    },
    (6, 6): {
        "kronecker": lambda lib, o: o.K.kronecker(o.L, lib.binary.minus),
        "kronecker, transposed": lambda lib, o: o.L.T.kronecker(o.K.T, lib.binary.minus),
        "kronecker, selected": lambda lib, o: o.K.kronecker(o.L, "times").select(">", 0),
    },
    (5,): {
        "mxv": lambda lib, o: o.A.mxv(o.u, "plus_times"),
        "mxv, transposed": lambda lib, o: o.F.T.mxv(o.u, "min_plus"),
        "vxm": lambda lib, o: o.u.vxm(o.F, "plus_first"),
        "vxm, transposed": lambda lib, o: o.u.vxm(o.A.T, "max_second"),
        "rows": lambda lib, o: o.A.reduce_rowwise("min"),
        "rows, transposed": lambda lib, o: o.F.T.reduce_rowwise("plus"),
        "columns": lambda lib, o: o.F.reduce_columnwise("plus"),
        "columns, transposed": lambda lib, o: o.A.T.reduce_columnwise("max"),
        "rows by an aggregator": lambda lib, o: o.A.reduce_rowwise(lib.agg.sum_of_squares),
        "columns by an aggregator": lambda lib, o: o.F.reduce_columnwise(lib.agg.peak_to_peak),
        "rows of a product": lambda lib, o: o.A.mxm(o.B.T, "plus_times").reduce_rowwise("plus"),
        "columns of a product": lambda lib, o: o.A.mxm(o.B.T, "plus_first").reduce_columnwise("plus"),
        "columns of a product, 2": lambda lib, o: o.A.mxm(o.F, "plus_second").reduce_columnwise("plus"),
        "rows of a product, pairs": lambda lib, o: o.A.mxm(o.F, "plus_pair").reduce_rowwise("plus"),
        "rows of a product, max of min": lambda lib, o: o.A.mxm(o.F, "max_min").reduce_rowwise("max"),
        "rows of a selected product": lambda lib, o: o.Q.mxm(o.A, "plus_times").select(o.B.S).reduce_rowwise("max"),
        "columns of a selected product": lambda lib, o: (
            o.A.mxm(o.F, "plus_times").select(~o.Q.S).reduce_columnwise("min")
        ),
        "rows of a power": lambda lib, o: o.Q.power(3, "plus_times").reduce_rowwise("plus"),
        "columns of a power": lambda lib, o: o.Q.power(2, "plus_times").reduce_columnwise("plus"),
        "ewise_add": lambda lib, o: o.x.ewise_add(o.y, lib.binary.minus),
        "ewise_mult": lambda lib, o: o.x.ewise_mult(o.y, lib.binary.minus),
        "ewise_union": lambda lib, o: o.x.ewise_union(o.y, lib.binary.minus, 3, o.s),
        "apply": lambda lib, o: o.x.apply(lib.unary.ainv),
        "apply, left": lambda lib, o: o.x.apply(lib.binary.minus, left=2),
        "apply, index": lambda lib, o: o.x.apply(lib.indexunary.index, 3),
        "select": lambda lib, o: o.x.select(lib.select.indexle, 2),
        "select, a mask": lambda lib, o: o.x.select(~o.y.S),
        "extract": lambda lib, o: o.u[[6, 0, 2, 2, 1]],
        "a column": lambda lib, o: o.A[:, 2],
        "a column by rows": lambda lib, o: o.A[I, 6],
        "a row": lambda lib, o: o.A[4, [6, 2, 2, 0, 1]],
        "a row of a transpose": lambda lib, o: o.F.T[[4, 1, 1, 0, 2], 6],
        "diagonal of": lambda lib, o: o.Q.diag(),
        "reposition": lambda lib, o: o.x.reposition(-2),
        "itself": lambda lib, o: o.y,
        "a number": lambda lib, o: -2,
    },
    (6,): {
        "rows of a kronecker product": lambda lib, o: o.K.kronecker(o.L, "times").reduce_rowwise("plus"),
        "columns of a kronecker product": lambda lib, o: o.K.kronecker(o.L, "first").reduce_columnwise("plus"),
    },
    (): {
        "inner": lambda lib, o: o.u.inner(o.v, "plus_times"),
        "inner, min_plus": lambda lib, o: o.u.inner(o.v, "min_plus"),
        "reduce": lambda lib, o: o.u.reduce("max"),
        "reduce_scalar": lambda lib, o: o.A.reduce_scalar("plus"),
        "reduce_scalar, transposed": lambda lib, o: o.A.T.reduce_scalar("min"),
        "aggregator": lambda lib, o: o.A.reduce_scalar(lib.agg.count),
        "sum of a product": lambda lib, o: o.A.mxm(o.F, "plus_times").reduce_scalar("plus"),
        "most of a selected product": lambda lib, o: o.A.mxm(o.B.T, "plus_times").select(o.Q.S).reduce_scalar("max"),
        "sum of a kronecker product": lambda lib, o: o.K.kronecker(o.L, "times").reduce_scalar("plus"),
        "sum of a power": lambda lib, o: o.Q.power(2, "plus_times").reduce_scalar("plus"),
        "an element": lambda lib, o: o.A[2, 3],
        "an element of a vector": lambda lib, o: o.u[4],
    },
}  # fmt: skip
CASES = [(shape, name) for shape, records in RECORDS.items() for name in records]
DRAWS = 10
FEW = written_region.FEW, 1  # of so many entries one may change and be kept beside the store
IN_PLACE = tuning.OVERWRITTEN_SHARE, 0  # of so many positions of a bitmap one may be written in place


def operands(rng, shape):
    """{name: Plain}: the operands, the output C and a mask M in drawn forms; s a Scalar."""
    dtype = ("INT64", "FP64", "INT64", "INT16")[rng.integers(4)]
    found = {}
    for name, its in SHAPES.items():
        forms = MATRIX_FORMS if len(its) == 2 else VECTOR_FORMS
        found[name] = stored(rng, its, dtype, forms[rng.integers(len(forms))])
    for name in "CM" if shape else "":
        forms = MATRIX_FORMS if len(shape) == 2 else VECTOR_FORMS
        kind = ("BOOL", dtype)[rng.integers(2)] if name == "M" else (dtype, "INT64", "FP64")[rng.integers(3)]
        found[name] = stored(rng, shape, kind, forms[rng.integers(len(forms))])
    if not shape:
        found["C"] = scalar((None, 2)[rng.integers(2)], dtype)
    return found | {"s": scalar(3, dtype)}


def draw(rng, shape):
    """(text, keywords(objects) of a write): mask, accumulator, replace."""
    masks = ("none", "S", "V", "~S", "~V") if shape else ("none",)
    mask, accum = masks[rng.integers(len(masks))], (None, "plus", "minus", "second")[rng.integers(4)]
    replace = mask != "none" and bool(rng.integers(2))

    def keywords(lib, o):
        how = {} if accum is None else {"accum": getattr(lib.binary, accum)}
        if mask != "none":
            how |= {
                "mask": {"S": lambda: o.M.S, "V": lambda: o.M.V, "~S": lambda: ~o.M.S, "~V": lambda: ~o.M.V}[mask]()
            }
            how |= {"replace": replace}
        return how

    return f"mask {mask}, accum {accum}, replace {replace}", keywords


def set_sizes(monkeypatch, turn):
    """Small objects are written as large ones are, in three of four turns."""
    monkeypatch.setattr(written_region, "FEW", FEW[turn % 2])
    monkeypatch.setattr(tuning, "OVERWRITTEN_SHARE", IN_PLACE[turn // 2 % 2])


def check(call, given, where):
    """The call leaves the same in C and in every operand of both libraries."""
    expected, after = expected_outcome(call, given, may_fail=True)
    result, mine = outcome(gb, call, given, may_fail=True)
    assert not isinstance(expected, Raised), report(where, "oracle", repr(expected), given)
    problem = repr(result) if isinstance(result, Raised) else difference(expected, result)
    for name, wanted in after.items():
        found = problem is None and difference(wanted, mine[name])
        problem = f"operand {name} afterwards: {found}" if found else problem
    assert problem is None, report(where, "default", problem, given)


@pytest.fixture(autouse=True)
def autocompute():
    with gb.config.set(autocompute=True), oracle.config.set(autocompute=True):
        yield


@pytest.mark.parametrize("shape, name", CASES, ids=[f"{len(shape)}d {name}" for shape, name in CASES])
def test_written(shape, name, monkeypatch):
    rng = generator("records", shape, name)
    for turn in range(DRAWS):
        set_sizes(monkeypatch, turn)
        given = operands(rng, shape)
        text, keywords = draw(rng, shape)

        def call(lib, o):
            expression = RECORDS[shape][name](lib, o)
            how = keywords(lib, o)
            o.C(**how) << expression
            return o.C

        check(call, given, f"{name} [{text}] turn {turn}")


ASSIGNS = {  # of the output's shape (5, 7) or (7,): the indices, what is assigned, the shape of the region
    "lists": (([3, 0, 4], [6, 1]), lambda lib, o: o.A[:3, :2].new(), (3, 2)),
    "transposed": (([3, 0, 4], [6, 1]), lambda lib, o: o.A[:2, :3].new().T, (3, 2)),
    "slices": ((slice(1, 4), slice(None, None, 3)), lambda lib, o: o.A[:3, :3].new(), (3, 3)),
    "all": ((slice(None), slice(None)), lambda lib, o: o.B, (5, 7)),
    "rows": (([1, 1, 4], slice(None)), lambda lib, o: 5, (3, 7)),
    "a number": (([3, 0, 4], [6, 1]), lambda lib, o: 5, (3, 2)),
    "an empty Scalar": (([3, 0, 4], [6, 1]), lambda lib, o: o.e, (3, 2)),
    "a row": ((2, slice(None)), lambda lib, o: o.u, (7,)),
    "part of a row": ((2, [6, 0, 3]), lambda lib, o: o.u[:3].new(), (3,)),
    "a column": ((slice(None), 3), lambda lib, o: o.x, (5,)),
    "part of a column": (([4, 2], 0), lambda lib, o: o.x[:2].new(), (2,)),
    "a number to a row": ((2, [6, 0, 3]), lambda lib, o: 5, (3,)),
    "a number to a column": ((slice(1, None), 6), lambda lib, o: o.s, (4,)),
    "vector, list": (([6, 0, 3],), lambda lib, o: o.u[:3].new(), (3,)),
    "vector, all": ((slice(None),), lambda lib, o: o.v, (7,)),
    "vector, a number": ((slice(1, 6, 2),), lambda lib, o: 5, (3,)),
    "vector, an empty Scalar": (([6, 0],), lambda lib, o: o.e, (2,)),
    "one position": ((1, 4), lambda lib, o: 5, None),
    "one position, a Scalar": ((4, 6), lambda lib, o: o.s, None),
    "one position, an empty Scalar": ((2, 0), lambda lib, o: o.e, None),
    "vector, one position": ((6,), lambda lib, o: 5, None),
}


@pytest.mark.parametrize(
    "name, inside", [(name, inside) for name in ASSIGNS for inside in (False, True) if ASSIGNS[name][2] or not inside]
)
def test_assigned(name, inside, monkeypatch):
    """C(M, accum, replace)[I, J] << x and, `inside`, C[I, J](M, accum, replace) << x."""
    keys, value, region = ASSIGNS[name]
    shape = (5, 7) if len(keys) == 2 else (7,)
    rng = generator("assigns", name, inside)
    kept = [axis for axis, key in enumerate(keys) if not isinstance(key, int)]
    line = (shape[kept[0]],) if len(keys) == 2 and len(kept) == 1 else None  # one position has masks of C's shape
    for turn in range(DRAWS):
        set_sizes(monkeypatch, turn // 2)
        given = operands(rng, shape) | {"e": scalar(None, "INT64")}
        of_line = line is not None and bool(turn % 2)
        its = region if inside else line if of_line else shape
        forms = MATRIX_FORMS if len(its) == 2 else VECTOR_FORMS
        given["M"] = stored(rng, its, "BOOL", forms[rng.integers(len(forms))])
        text, keywords = draw(rng, its)

        def call(lib, o):
            x, how, at = value(lib, o), keywords(lib, o), keys if len(keys) == 2 else keys[0]
            if inside:
                o.C[at](**how) << x
            else:
                o.C(**how)[at] << x
            return o.C

        check(call, given, f"{name} [{text}] turn {turn}")


def resized(x, *shape):
    x = x.dup()
    x.resize(*shape)
    return x


SHAPED = {
    "diag": lambda lib, o: [x.diag(k) for x in (o.A, o.A.T, o.Q) for k in (0, 1, -1, 4, -4)],
    "Vector.diag": lambda lib, o: [x.diag(k) for x in (o.u, o.x) for k in (0, 2, -3)],
    "concat": lambda lib, o: lib.ss.concat([[o.A, o.Q], [o.F.T, o.Q]]),
    "concat of vectors": lambda lib, o: lib.ss.concat([o.u, o.x, o.v]),
    "split": lambda lib, o: [t for row in o.A.ss.split([[2, 3], [4, 1, 2]]) for t in row],
    "split of a vector": lambda lib, o: o.u.ss.split([3, 0, 4]),
    "resize": lambda lib, o: [resized(o.A, *shape) for shape in ((3, 7), (5, 2), (9, 9), (2, 12), (0, 3))],
    "resize of a vector": lambda lib, o: [resized(o.u, n) for n in (3, 7, 12, 0)],
    "reposition": lambda lib, o: [o.A.reposition(i, j, nrows=6, ncols=4).new() for i in (-2, 0, 3) for j in (-5, 0, 2)],
    "reposition of a vector": lambda lib, o: [o.u.reposition(k, size=5).new() for k in (-8, -2, 0, 3)],
}


@pytest.mark.parametrize("name", SHAPED)
def test_shaped(name):
    rng = generator("shaped", name)
    for turn in range(4):
        check(SHAPED[name], operands(rng, (5, 7)), f"{name} turn {turn}")


NOTATIONS = {
    "bound on the left": (lambda A, v: v.apply(gb.binary.minus, left=3), "GrB_Vector_apply_BinaryOp1st_INT64(C, NULL, "
                          "NULL, GrB_MINUS_INT64, 3, v, NULL);"),
    "bound on the right": (lambda A, v: A.T.apply(gb.binary.minus, right=3), "GrB_Matrix_apply_BinaryOp2nd_INT64(C, "
                           "NULL, NULL, GrB_MINUS_INT64, A, 3, GrB_DESC_T0);"),
    "bound on the left, transposed": (lambda A, v: A.T.apply(gb.binary.minus, left=3), "GrB_Matrix_apply_BinaryOp1st_"
                                      "INT64(C, NULL, NULL, GrB_MINUS_INT64, 3, A, GrB_DESC_T1);"),
    "product": (lambda A, v: A.T.mxm(A.T, "min_plus"), "GrB_mxm(C, NULL, NULL, GrB_MIN_PLUS_SEMIRING_INT64, A, A, "
                "GrB_DESC_T0T1);"),
    "vector and matrix": (lambda A, v: v.vxm(A.T), "GrB_vxm(C, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, v, A, "
                          "GrB_DESC_T1);"),
    "union with defaults": (lambda A, v: v.ewise_union(v, gb.binary.plus, 1, 2), "GxB_Vector_eWiseUnion(C, NULL, NULL, "
                            "GrB_PLUS_INT64, v, 1, v, 2, NULL);"),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTATIONS)
def test_notation(name):
    make, wanted = NOTATIONS[name]
    A = gb.Matrix.from_coo([0, 1], [1, 0], [2, 3], nrows=2, ncols=2, name="A")
    assert make(A, gb.Vector.from_coo([0], [5], size=2, name="v"))._record.notation() == wanted


def test_indices_that_repeat_in_a_long_vector():
    """Few indices of a large dimension: the last of equal ones counts."""
    rng = generator("repeated")
    for size, count in ((10**6, 40), (50, 40)):
        places = rng.integers(0, size, count // 2)
        at = np.concatenate((places, places[::-1], [size - 1, 0]))
        values = rng.integers(1, 99, len(at))
        w = gb.Vector.from_coo([0, 5, size - 1], [7, 8, 9], size=size)
        w[at] << gb.Vector.from_dense(values)
        wanted = {0: 7, 5: 8, size - 1: 9} | dict(zip(at.tolist(), values.tolist(), strict=True))
        assert w.to_dict() == wanted


# ---------------------------------------------------------------------- other shapes

NUMBERS = "a number", "a Scalar"  # which have no shape
OBJECTS = "itself", "diagonal", "diagonal of"  # not expressions


def near(shape):
    """The shapes that differ from it in one dimension, by one, and the transposed one."""
    for axis, size in enumerate(shape):
        for other in (size - 1, size + 1):
            yield (*shape[:axis], other, *shape[axis + 1 :])
    if shape[::-1] != shape:
        yield shape[::-1]


def refused(call, given, where):
    """The call raises DimensionMismatch, and leaves every operand as it was."""
    result, after = outcome(gb, call, given, may_fail=True)
    assert isinstance(result, Raised) and result.name == "DimensionMismatch", f"{where}: {result!r}"
    assert str(result.error).strip(), where
    for name, found in after.items():
        assert difference(given[name], found) is None, f"{where}: operand {name} changed"


@pytest.mark.parametrize("shape, name", [(shape, name) for shape, name in CASES if shape])
def test_outputs_and_masks_of_other_shapes_are_refused(shape, name):
    rng = generator("other shapes", shape, name)
    given, forms = operands(rng, shape), {1: VECTOR_FORMS, 2: MATRIX_FORMS}[len(shape)]
    for wrong in near(shape):
        other = {x: stored(rng, wrong, "BOOL", forms[rng.integers(len(forms))]) for x in "CM"}
        for text, keywords in draw(rng, wrong), ("mask V", lambda lib, o: {"mask": o.M.V}):

            def call(lib, o):
                expression = RECORDS[shape][name](lib, o)
                how = keywords(lib, o)  # noqa: B023
                o.C(**how) << expression

            def new(lib, o):
                return RECORDS[shape][name](lib, o).new(mask=keywords(lib, o)["mask"])  # noqa: B023

            if "mask none" not in text:
                refused(call, given | {"M": other["M"]}, f"{name}, a mask of {wrong} [{text}]")
                if name not in NUMBERS + OBJECTS:
                    refused(new, given | {"M": other["M"]}, f"{name}, a new object's mask of {wrong} [{text}]")
        if name not in NUMBERS:
            refused(call, given | other, f"{name}, an output of {wrong}")


@pytest.mark.parametrize("name", [name for name in ASSIGNS if ASSIGNS[name][2]])
def test_values_and_masks_that_do_not_fit_a_region_are_refused(name):
    keys, value, region = ASSIGNS[name]
    shape = (5, 7) if len(keys) == 2 else (7,)
    rng = generator("other regions", name)
    given = operands(rng, shape) | {"e": scalar(None, "INT64")}
    at = keys if len(keys) == 2 else keys[0]
    for inside, its in (True, region), (False, shape):
        for wrong in near(its):
            M = stored(rng, wrong, "BOOL", "full iso")
            for mask in (lambda M: M.S, lambda M: ~M.V):

                def masked(lib, o):
                    x = value(lib, o)
                    if inside:
                        o.C[at](mask=mask(o.M)) << x  # noqa: B023
                    else:
                        o.C(mask=mask(o.M))[at] << x  # noqa: B023

                refused(masked, given | {"M": M}, f"{name}, inside {inside}, a mask of {wrong}")
    for wrong in near(region):

        def assigned(lib, o):
            o.C[at] << o.W  # noqa: B023

        refused(assigned, given | {"W": stored(rng, wrong, "INT64", "full iso")}, f"{name}, a value of {wrong}")
