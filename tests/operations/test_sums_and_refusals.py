"""Sums of products that are not formed against sums of those that are; what records refuse, in their words."""

import itertools
import re

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import operations as ops
from grb_tile.exceptions import DimensionMismatch, InvalidValue
from grb_tile.operations import checks, shaping
from grb_tile.operations.distribution import distributed
from grb_tile.operations.structured_sums import StructuredSum
from grb_tile.operations.write import accumulate_chains
from grb_tile.planner import tuning
from support.seeds import generator

MONOIDS = ("plus", "min", "max", "lor", "land", "lxor")
MULTIPLIES = ("times", "plus", "min", "max", "land", "first", "second", "pair")


def some(rng, nrows, ncols, dtype):
    at = np.unique(rng.integers(0, nrows * ncols, nrows * ncols // 2))
    values = rng.integers(0, 2, at.size) if dtype == "BOOL" else rng.integers(0 if dtype[0] == "U" else -3, 5, at.size)
    return gb.Matrix.from_coo(at // ncols, at % ncols, values, dtype, nrows=nrows, ncols=ncols)


def typed(kind, name, dtype):
    try:
        return getattr(kind, name)[dtype]
    except (AttributeError, KeyError):
        return None


@pytest.mark.parametrize("dtype", ["INT64", "UINT8", "BOOL", "FP64"])
def test_sums_that_are_not_formed(dtype):
    """Kronecker products and powers, by every monoid and multiply: the sums of the product, row, column and all."""
    rng = generator("sums", dtype)
    A, B, C = some(rng, 4, 3, dtype), some(rng, 3, 2, dtype), some(rng, 4, 4, dtype)
    made = set()
    for add, multiply in itertools.product(MONOIDS, MULTIPLIES):
        monoid, op = typed(gb.monoid, add, dtype), typed(gb.binary, multiply, dtype)
        semiring = getattr(gb.semiring, f"{add}_{multiply}", None)
        if monoid is None or op is None or op.return_type is not monoid.type:
            continue
        with gb.config.set(autocompute=True):
            forms = [
                lambda op=op: A.kronecker(B, op),
                lambda op=op: A.T.kronecker(B, op),
                lambda op=op: A.kronecker(B.T, op),
            ]
            if semiring is not None and typed(gb.semiring, f"{add}_{multiply}", dtype) is not None:
                forms += [lambda n=n, M=M, semiring=semiring: M.power(n, semiring) for n, M in ((1, C), (3, C.T))]
            for form, reduce in itertools.product(forms, ("reduce_scalar", "reduce_rowwise", "reduce_columnwise")):
                expr = getattr(form(), reduce)(monoid)
                made.add(type(expr._record) is StructuredSum)
                wanted = getattr(form().new(), reduce)(monoid).new()
                found = expr.new()
                if reduce != "reduce_scalar":
                    assert found.isequal(wanted, check_dtype=True), (add, multiply, reduce)
                    mask = gb.Vector.from_coo([0, 2], True, size=wanted.size)
                    expr = getattr(form(), reduce)(monoid)
                    assert expr.new(mask=~mask.S).isequal(wanted.dup(mask=~mask.S)), (add, multiply, reduce)
                else:
                    assert found.value == wanted.value and found.dtype is wanted.dtype, (add, multiply)
    assert made == {True, False}


def test_where_a_multiply_distributes():
    """In rings of integers, over lattices, and where a product selects an operand; never in floating point's sums."""

    def rule(add, multiply, dtype):
        semiring = typed(gb.semiring, f"{add}_{multiply}", dtype)
        return distributed(semiring, getattr(gb.monoid, add)[dtype])

    once = lambda name: ((name, "sum"), (name, "sum"))  # noqa: E731
    for add, multiply, dtype, wanted in (
        ("plus", "times", "INT64", once("times")), ("plus", "times", "FP64", None), ("plus", "plus", "INT64", None),
        ("plus", "pair", "INT32", (("second", "count"), ("first", "count"))),
        ("plus", "first", "INT32", (("times", "count"), ("first", "sum"))),
        ("plus", "second", "UINT8", (("second", "sum"), ("times", "count"))), ("plus", "first", "FP32", None),
        ("min", "max", "INT8", once("max")), ("max", "min", "INT8", once("min")), ("min", "max", "FP64", None),
        ("min", "min", "INT8", None), ("lor", "land", "BOOL", once("land")), ("land", "lor", "BOOL", once("lor")),
        ("lxor", "land", "BOOL", once("land")), ("min", "first", "FP64", once("first")),
        ("max", "second", "INT8", once("second")), ("min", "plus", "INT64", None),
        ("min", "pair", "INT64", once("pair")),
        ("times", "first", "INT64", None),
    ):  # fmt: skip
        assert rule(add, multiply, dtype) == wanted, (add, multiply, dtype)
    plus_times = gb.semiring.plus_times["INT64"]
    assert distributed(plus_times, gb.monoid.min["INT64"]) is None
    assert distributed(plus_times, gb.monoid.plus["INT32"]) is None
    assert distributed(gb.semiring.ss.min_firsti["INT64"], gb.monoid.min["INT64"]) is None


def test_powers_of_many_factors_are_formed():
    A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 1])
    with gb.config.set(autocompute=True):
        for n, kind in ((tuning.POWER_FACTORS, True), (tuning.POWER_FACTORS + 1, False), (0, False)):
            expr = A.power(n, "plus_times").reduce_rowwise("plus")
            assert (type(expr._record) is StructuredSum) == kind
            assert expr.new().to_dense().tolist() == [1, 1]


@pytest.mark.parametrize("op, dtype", [("plus", "INT64"), ("minus", "FP64"), ("second", "INT8"), ("first", "INT8"),
                                       ("max", "UINT8"), ("truediv", "INT32"), ("eq", "FP32")])  # fmt: skip
def test_chains_of_accumulated_values(op, dtype):
    """Left to right, each result in C's type; the first value starts where there is none: few chains, and many."""
    binary = gb.binary.from_string(op)
    binary = binary[dtype] if dtype in binary else binary["FP64"]
    own = gb.dtypes.lookup_dtype(dtype)
    rng = generator("chains", op)
    for count in (1, tuning.FOLDED_CHAINS - 1, tuning.FOLDED_CHAINS, 9):
        chains = [rng.integers(1, 9, rng.integers(1, 5)).tolist() for _ in range(count)]
        present = rng.random(count) < 0.5
        values = rng.integers(1, 9, count).astype(own.np_type)
        wanted = []
        for value, there, chain in zip(values, present, chains, strict=True):
            z = gb.Vector.from_coo([0], [value], own, size=1) if there else gb.Vector(own, 1)
            for x in chain:
                z(binary) << gb.Vector.from_coo([0], [x], own, size=1)
            wanted.append(z[0].new().value)
        accumulate_chains(values, present, chains, binary, own)
        assert values.tolist() == wanted, (op, count)


A, v = gb.Matrix(int, 3, 4), gb.Vector(int, 4)
HUGE = gb.Matrix(int, 2**40, 3)
ONE = gb.graph.one_pass(lambda x, y=None: x + 1)
REFUSED = {
    "inner": (lambda: v.inner(gb.Vector(int, 3)), DimensionMismatch, "4 .* 3"),
    "mxm": (lambda: A.mxm(A), DimensionMismatch, r"mxm: A is 3 x 4 and B is 3 x 4; the inner dimensions 4 and 3"),
    "mxv": (lambda: A.T.mxv(v), DimensionMismatch, "mxv: A is 4 x 3 and .* is 4; the inner dimensions 3 and 4"),
    "reuse": (lambda: A.mxv(v, reuse=gb.Vector(int, 3)), DimensionMismatch,
              "mxv: reuse has size 3 and the vector 4; give one of the same size"),
    "kronecker": (lambda: HUGE.kronecker(HUGE), InvalidValue,
                  r"the result would be 1208925819614629174706176 x 9; a dimension is at most 2\^60"),
    "concat rows": (lambda: shaping.concat_matrices([[A._store, A._store], [A._store]], A.dtype), DimensionMismatch,
                    "concat: row 1 of tiles has 1 tiles, row 0 has 2"),
    "concat tile": (lambda: shaping.concat_matrices([[A._store], [A.T.new()._store]], A.dtype), DimensionMismatch,
                    r"concat: tile \(1, 0\) is 4 x 3, but its row of tiles is 4 high and its column of tiles 4 wide"),
    "concat size": (lambda: shaping.concat_matrices([[gb.Matrix(int, 2**60, 3)._store]] * 2, None), InvalidValue,
                    "concat: the result would be"),
    "concat vectors": (lambda: shaping.concat_vectors([gb.Vector(int, 2**60)._store] * 2, None), InvalidValue, "the"),
    "split": (lambda: shaping.split_matrix(A._store, [3], [3]), DimensionMismatch,
              "split: heights sum to 3 and widths to 3, but the matrix is 3 x 4"),
    "split vector": (lambda: shaping.split_vector(v._store, [1, 2]), DimensionMismatch,
                     "split: sizes sum to 3, but the vector has size 4"),
    "region": (lambda: checks.region_shape("assign", (2,), (3,)), DimensionMismatch,
               "assign: the value has shape 2 but the indexed region has shape 3"),
    "mask": (lambda: checks.mask_shape("mxm", (2, 2), (3, 2)), DimensionMismatch,
             "mxm: the mask has shape 2 x 2 but must have the shape 3 x 2 of what it controls"),
    "output": (lambda: checks.output_shape("mxm", (2, 2), (3, 2)), DimensionMismatch,
               "mxm: the output has shape 2 x 2 but the result has shape 3 x 2"),
    "shapes": (lambda: checks.same_shape("ewise_add", (2, 2), (3, 2)), DimensionMismatch, "shapes, 2 x 2 and 3 x 2"),
    "symmetric": (lambda: checks.symmetric("bfs", False), InvalidValue, r"bfs: A has entries A\(i, j\) without"),
    "pass without a vector": (lambda: ONE(3), TypeError, "expected one Vector at least"),
    "pass of integers": (lambda: ONE(v), TypeError, r"expected vectors all of FP32 or all of FP64, got \['INT64'\]"),
    "pass of two types": (lambda: gb.graph.one_pass(lambda x, y: x + y)(
        gb.Vector(float, 3), gb.Vector("FP32", 3)), TypeError, r"\['FP64', 'FP32'\]; cast them"),
    "pass of two sizes": (lambda: gb.graph.one_pass(lambda x, y: x + y)(
        gb.Vector(float, 3), gb.Vector(float, 4)), DimensionMismatch, r"the vectors have the sizes \[3, 4\]"),
    "pass of a text": (lambda: gb.graph.one_pass(lambda x, y: x + y)(gb.Vector(float, 3), "a"), TypeError,
                       "expected Vectors, real numbers and Totals, got str; make a Vector"),
    "pass of inf": (lambda: gb.graph.one_pass(lambda x: x + float("inf"))(gb.Vector(float, 3)), ValueError,
                    "a pass has finite constants, got inf; give it as an operand"),
    "pass that branches": (lambda: gb.graph.one_pass(lambda x: x if x else -x)(gb.Vector(float, 3)), TypeError,
                           "a pass is traced once for all values, so it cannot branch"),
    "pass of nothing": (lambda: gb.graph.one_pass(lambda x: 3)(gb.Vector(float, 3)), TypeError,
                        "expected a result computed from its operands, got 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        call()


def test_nothing_concatenated():
    dtype = gb.dtypes.FP32
    for tiles in ([], [[]], [[], []]):
        made = shaping.concat_matrices(tiles, dtype)
        assert made.shape == (0, 0) and made.dtype is dtype
    made = shaping.concat_vectors([], dtype)
    assert made.size == 0 and made.dtype is dtype


def test_totals_of_a_pass():
    step = gb.graph.one_pass(lambda x: (x.sum(), 2 + x))
    total, y = step(gb.Vector.from_dense([1.0, 2.5]))
    assert total.send() is total and total.is_ready and total.value == 3.5 and repr(total) == "Total(3.5)"
    assert y.to_dense().tolist() == [3.0, 4.5]
    again = gb.graph.one_pass(lambda x, t: x * t)(y, total)
    assert again.to_dense().tolist() == [10.5, 15.75]


def test_every_record_has_a_name_and_notation():
    with pytest.raises(NotImplementedError):
        ops.Record().compute()


def test_what_a_descriptor_says_of_the_old_entries():
    """Plain: none counts. Anew: T alone is left. In the records of the C names, and in `w(...)`."""
    w, M = gb.Vector(int, 4), gb.Vector.from_coo([1], [True], size=4)
    plus = gb.binary.plus["INT64"]
    for mask, accum, replace in itertools.product((None, M.S, ~M.S), (None, plus), (False, True)):
        if replace and mask is None:
            continue
        plain, anew = mask is None and accum is None, accum is None and (mask is None or replace)
        for made in (ops.Descriptor(mask, accum, replace), w(mask=mask, accum=accum, replace=replace)):
            assert (made.is_plain, made.is_anew) == (plain, anew), (mask, accum, replace)
    A = gb.Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 2, 3])
    value = gb.Vector.from_coo([1], [10], size=2)
    for accum, wanted in ((None, {0: {1: 10}, 1: {1: 3}}), (plus, {0: {0: 1, 1: 12}, 1: {1: 3}})):
        store = ops.assign(
            A.dup()._store, value._store, 0, None, dtype=A.dtype, desc=ops.Descriptor(None, accum), subassign=False
        )
        assert gb.Matrix._from_store(store).to_dicts() == wanted


def test_calls_of_extractions():
    A, u = gb.Matrix.from_coo([0, 1], [1, 2], [5, 6], nrows=3, ncols=4), gb.Vector.from_coo([0, 2], [5, 6], size=4)
    for part, call in (
        (lambda: u[0], "GrB_Vector_extractElement"), (lambda: u[[0, 2]], "GrB_Vector_extract("),
        (lambda: A[0, 1], "GrB_Matrix_extractElement"), (lambda: A[:2, [0, 1]], "GrB_Matrix_extract("),
        (lambda: A[0, :], "GrB_Col_extract(v, NULL, NULL, M, GrB_ALL, 0, GrB_DESC_T0);"),
        (lambda: A[:, 1], "GrB_Col_extract(v, NULL, NULL, M, GrB_ALL, 1, NULL);"),
        (lambda: A.T[[0, 1], 2], "GrB_Col_extract(v, NULL, NULL, M, [0 1], 2, GrB_DESC_T0);"),
        (lambda: A.T[3, [0, 2]], "GrB_Col_extract(v, NULL, NULL, M, [0 2], 3, NULL);"),
    ):  # fmt: skip
        with gb.Recorder() as recorder:
            part().new()
        assert call in re.sub(r"_\d+", "", recorder.data[-1]), recorder.data


def test_products_that_chains_do_not_form():
    A, M = gb.Matrix.from_coo([0, 1], [1, 0], [5, 6]), gb.Matrix.from_coo([0], [0], [True], nrows=2, ncols=2)
    with gb.config.set(autocompute=True):
        for chain, kind in (
            (lambda x: x.select(">", 3), ops.SelectedProduct), (lambda x: x.select(M.S), ops.SelectedProduct),
            (lambda x: x.select(M.S).select(">", 3), ops.SelectedProduct), (lambda x: x.reduce_rowwise("max"), None),
            (lambda x: x.select(">", 3).select(M.S), ops.SelectedProduct),
            (lambda x: x.select(">", 3).reduce_scalar("plus"), None), (lambda x: x.reduce_columnwise("plus"), None),
        ):  # fmt: skip
            expr = A.mxm(A, "plus_times")
            found = chain(expr)
            assert expr._value is None and type(found._record).__name__ in ("SelectedProduct", "ReducedProduct")
            assert kind is None or type(found._record) is kind
        expr = A.mxm(A, "plus_times")
        twice = expr.select(">", 3).select("<", 99)
        assert twice.new().to_dicts() == {0: {0: 30}, 1: {1: 30}}
