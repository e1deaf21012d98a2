"""Operations with operands, masks, operators and options that do not fit."""

import pytest

from support.refusals import Case, names_are_unique, oracle_refuses, refuse

DIMENSION = "DimensionMismatch"


def write(lib, target, how, expression):
    target(**how) << expression


CASES = [
    # shapes of products
    Case("mxm inner dimensions", lambda lib, o: o.A.mxm(o.B), DIMENSION, r"(?i)dimension|shape|mismatch|columns|rows"),
    Case(
        "mxm inner dimensions, A transposed",
        lambda lib, o: o.A.T.mxm(o.D),
        DIMENSION,
        "(?i)dimension|shape|mismatch|columns|rows",
    ),
    Case(
        "mxm inner dimensions, B transposed",
        lambda lib, o: o.A.mxm(o.B.T),
        DIMENSION,
        "(?i)dimension|shape|mismatch|columns|rows",
    ),
    Case("mxm output shape", lambda lib, o: write(lib, o.B, {}, o.A.mxm(o.D)), DIMENSION, "(?i)dimension|shape"),
    Case("mxm with a vector", lambda lib, o: o.A.mxm(o.u), "TypeError", "(?i)vector|mxm"),
    Case("mxm with a number", lambda lib, o: o.A.mxm(3), "TypeError", "(?i)mxm|matrix"),
    Case("mxm with None", lambda lib, o: o.A.mxm(None), "TypeError", "(?i)mxm|matrix|None"),
    Case("mxm with a list", lambda lib, o: o.A.mxm([[1, 2]]), "TypeError", "(?i)mxm|matrix|list"),
    Case("mxm with a unary operator", lambda lib, o: o.A.mxm(o.D, lib.unary.ainv), "TypeError", "(?i)semiring"),
    Case("mxm with a monoid", lambda lib, o: o.A.mxm(o.D, lib.monoid.plus), "TypeError", "(?i)semiring"),
    Case(
        "mxm with an unknown name",
        lambda lib, o: o.A.mxm(o.D, "plus_nonsense"),
        "ValueError",
        "(?i)plus_nonsense|unknown",
    ),
    Case(
        "mxm with a type the semiring has not",
        lambda lib, o: o.Z.mxm(o.Z.T, lib.semiring.min_plus),
        "KeyError",
        "(?i)min_plus",
    ),
    Case("mxv dimension", lambda lib, o: o.A.mxv(o.v), DIMENSION, "(?i)dimension|size|shape|columns"),
    Case("mxv of the transpose", lambda lib, o: o.A.T.mxv(o.u), DIMENSION, "(?i)dimension|size|shape"),
    Case("mxv with a matrix", lambda lib, o: o.A.mxv(o.D), "TypeError", "(?i)mxv|vector"),
    Case("mxv output size", lambda lib, o: write(lib, o.u, {}, o.A.mxv(o.u)), DIMENSION, "(?i)dimension|size|shape"),
    Case("vxm dimension", lambda lib, o: o.u.vxm(o.A), DIMENSION, "(?i)dimension|size|shape"),
    Case("vxm with a vector", lambda lib, o: o.u.vxm(o.u), "TypeError", "(?i)vxm|matrix"),
    Case("vxm output size", lambda lib, o: write(lib, o.v, {}, o.v.vxm(o.A)), DIMENSION, "(?i)dimension|size|shape"),
    Case("inner sizes", lambda lib, o: o.u.inner(o.v), DIMENSION, "(?i)dimension|size|shape"),
    Case("inner with a matrix", lambda lib, o: o.u.inner(o.A), "TypeError", "(?i)inner|vector"),
    Case("outer with a matrix", lambda lib, o: o.u.outer(o.A), "TypeError", "(?i)outer|vector"),
    Case("kronecker with a vector", lambda lib, o: o.A.kronecker(o.u), "TypeError", "(?i)kronecker|matrix"),
    Case(
        "kronecker with a unary operator",
        lambda lib, o: o.A.kronecker(o.A, lib.unary.exp),
        "TypeError",
        "(?i)binary|kronecker",
    ),
    Case("infix product dimensions", lambda lib, o: (o.A @ o.B).new(), DIMENSION, "(?i)dimension|shape|size"),
    Case("infix product of vector and matrix", lambda lib, o: (o.u @ o.A).new(), DIMENSION, "(?i)dimension|shape|size"),
    Case("infix product with a number", lambda lib, o: o.A @ 3, "TypeError", "(?i)matmul|@|matrix|int"),
    Case("power of a rectangular matrix", lambda lib, o: o.A.power(2), DIMENSION, "(?i)square"),
    Case("power with a negative exponent", lambda lib, o: o.C.power(-1), "ValueError", "(?i)nonnegative|negative"),
    Case("power with a fraction", lambda lib, o: o.C.power(1.5), "TypeError", "(?i)integer"),
    # element-wise
    Case("ewise_add shapes", lambda lib, o: o.A.ewise_add(o.B), DIMENSION, "(?i)shape|dimension"),
    Case("ewise_mult shapes", lambda lib, o: o.A.ewise_mult(o.A.T), DIMENSION, "(?i)shape|dimension"),
    Case("ewise_union shapes", lambda lib, o: o.A.ewise_union(o.B, "plus", 0, 0), DIMENSION, "(?i)shape|dimension"),
    Case("ewise_add of vectors", lambda lib, o: o.u.ewise_add(o.v), DIMENSION, "(?i)size|shape|dimension"),
    Case("ewise_mult of vectors", lambda lib, o: o.u.ewise_mult(o.w), DIMENSION, "(?i)size|shape|dimension"),
    Case(
        "ewise_add broadcast size", lambda lib, o: o.A.ewise_add(o.w), DIMENSION, "(?i)size|shape|dimension|broadcast"
    ),
    Case(
        "ewise_mult broadcast from the left",
        lambda lib, o: o.u.ewise_mult(o.A),
        DIMENSION,
        "(?i)size|shape|dimension|broadcast",
    ),
    Case("ewise_add with a number", lambda lib, o: o.A.ewise_add(3), "TypeError", "(?i)ewise_add|int"),
    Case("ewise_mult with a string", lambda lib, o: o.A.ewise_mult("A"), "TypeError", "(?i)ewise_mult|str"),
    Case(
        "ewise_add with a unary operator",
        lambda lib, o: o.A.ewise_add(o.A, lib.unary.exp),
        "TypeError",
        "(?i)binary|monoid|ewise_add",
    ),
    Case(
        "ewise_mult with an aggregator",
        lambda lib, o: o.A.ewise_mult(o.A, lib.agg.sum),
        "TypeError",
        "(?i)binary|monoid|ewise_mult|agg",
    ),
    Case(
        "ewise_add with an unknown operator",
        lambda lib, o: o.A.ewise_add(o.A, "nonsense"),
        "ValueError",
        "(?i)nonsense|unknown",
    ),
    Case("ewise_union without defaults", lambda lib, o: o.A.ewise_union(o.A, "plus"), "TypeError", "(?i)default"),
    Case(
        "ewise_union with a bad default",
        lambda lib, o: o.A.ewise_union(o.A, "plus", "zero", 0),
        "TypeError",
        "(?i)default|scalar|str",
    ),
    Case(
        "ewise_mult on complex with an order", lambda lib, o: o.Z.ewise_mult(o.Z, lib.binary.max), "KeyError", "(?i)max"
    ),
    Case("bitwise on floats", lambda lib, o: o.B.ewise_mult(o.B, lib.binary.band), "KeyError", "(?i)band"),
    Case("| infix shapes", lambda lib, o: lib.binary.plus(o.A | o.B), DIMENSION, "(?i)shape|dimension"),
    Case("& infix sizes", lambda lib, o: lib.binary.plus(o.u & o.v), DIMENSION, "(?i)size|shape|dimension"),
    Case("+ shapes", lambda lib, o: (o.A + o.B).new(), DIMENSION, "(?i)shape|dimension"),
    # apply, select, reduce
    Case(
        "apply a binary operator without scalar",
        lambda lib, o: o.A.apply(lib.binary.plus),
        "TypeError",
        "(?i)left|right|unary|binary",
    ),
    Case(
        "apply with both scalars",
        lambda lib, o: o.A.apply(lib.binary.plus, left=1, right=2),
        "TypeError",
        "(?i)left.*right|both",
    ),
    Case(
        "apply a unary operator with a scalar",
        lambda lib, o: o.A.apply(lib.unary.exp, right=1),
        "TypeError",
        "(?i)binary|right|unary|apply",
    ),
    Case(
        "apply an index operator on the left",
        lambda lib, o: o.A.apply(lib.indexunary.rowindex, left=1),
        "TypeError",
        "(?i)left",
    ),
    Case(
        "apply a semiring", lambda lib, o: o.A.apply(lib.semiring.plus_times), "TypeError", "(?i)unary|semiring|apply"
    ),
    Case("apply None", lambda lib, o: o.A.apply(None), "TypeError", "(?i)None|apply|type"),
    Case("apply an unknown name", lambda lib, o: o.A.apply("nonsense"), "ValueError", "(?i)nonsense|unknown"),
    Case(
        "apply with a matrix as scalar",
        lambda lib, o: o.A.apply("plus", right=o.A),
        "TypeError",
        "(?i)scalar|right|matrix",
    ),
    Case("apply output shape", lambda lib, o: write(lib, o.B, {}, o.A.apply("ainv")), DIMENSION, "(?i)shape|dimension"),
    Case("bnot of floats", lambda lib, o: o.B.apply(lib.unary.bnot), "KeyError", "(?i)bnot"),
    Case("conj of integers is a name error", lambda lib, o: o.A.apply(lib.unary.carg), "KeyError", "(?i)carg"),
    Case("select with a unary operator", lambda lib, o: o.A.select(lib.unary.exp), "TypeError", "(?i)select|index"),
    Case("select with an unknown name", lambda lib, o: o.A.select("nonsense", 1), "ValueError", "(?i)nonsense|unknown"),
    Case("select with a string thunk", lambda lib, o: o.A.select("tril", "one"), "TypeError", "(?i)scalar|thunk|str"),
    Case("select by a mask of another shape", lambda lib, o: o.A.select(o.B.S).new(), DIMENSION, "(?i)shape|dimension"),
    Case(
        "reduce with a binary operator without monoid",
        lambda lib, o: o.A.reduce_rowwise(lib.binary.minus).new(),
        "NotImplementedException",
        "(?i)monoid|minus",
    ),
    Case(
        "reduce with a unary operator",
        lambda lib, o: o.A.reduce_rowwise(lib.unary.exp),
        "TypeError",
        "(?i)monoid|agg|unary",
    ),
    Case(
        "reduce_scalar with a semiring",
        lambda lib, o: o.A.reduce_scalar(lib.semiring.plus_times),
        "TypeError",
        "(?i)monoid|agg|semiring",
    ),
    Case(
        "reduce to a vector of another size",
        lambda lib, o: write(lib, o.w, {}, o.A.reduce_rowwise("plus")),
        DIMENSION,
        "(?i)size|shape|dimension",
    ),
    Case("reduce max of complex", lambda lib, o: o.Z.reduce_scalar(lib.monoid.max), "KeyError", "(?i)max"),
    Case(
        "aggregator not for all of a matrix",
        lambda lib, o: o.A.reduce_scalar(lib.agg.ss.argmin),
        "ValueError",
        "(?i)argmin",
    ),
    Case(
        "reduce_scalar without a monoid", lambda lib, o: o.A.reduce_scalar(lib.binary.minus), "TypeError", "(?i)monoid"
    ),
    Case("reduce of a vector without a monoid", lambda lib, o: o.u.reduce(lib.binary.minus), "TypeError", "(?i)monoid"),
    # masks
    Case(
        "mask shape",
        lambda lib, o: write(lib, o.C, {"mask": o.M.S}, o.C.apply("ainv")),
        DIMENSION,
        "(?i)mask|shape|dimension",
    ),
    Case(
        "mask size",
        lambda lib, o: write(lib, o.u, {"mask": o.n.V}, o.u.apply("ainv")),
        DIMENSION,
        "(?i)mask|size|shape|dimension",
    ),
    Case(
        "complemented mask size",
        lambda lib, o: write(lib, o.u, {"mask": ~o.n.V}, o.u.apply("ainv")),
        DIMENSION,
        "(?i)mask|size|shape|dimension",
    ),
    Case(
        "vector mask for a matrix",
        lambda lib, o: write(lib, o.A, {"mask": o.m.S}, o.A.apply("ainv")),
        "TypeError",
        "(?i)mask",
    ),
    Case(
        "matrix mask for a vector",
        lambda lib, o: write(lib, o.u, {"mask": o.M.S}, o.u.apply("ainv")),
        "TypeError",
        "(?i)mask",
    ),
    Case(
        "mask without .S or .V of integers",
        lambda lib, o: write(lib, o.A, {"mask": o.A}, o.A.apply("ainv")),
        "TypeError",
        "(?i)mask",
    ),
    Case("mask is a string", lambda lib, o: write(lib, o.A, {"mask": "S"}, o.A.apply("ainv")), "TypeError", "(?i)mask"),
    Case("mask of .new()", lambda lib, o: o.A.apply("ainv").new(mask=o.C.S), DIMENSION, "(?i)mask|shape|dimension"),
    Case("mask of .dup()", lambda lib, o: o.A.dup(mask=o.C.S), DIMENSION, "(?i)mask|shape|dimension"),
    Case(
        "mask for a scalar",
        lambda lib, o: write(lib, o.s, {"mask": o.m.S}, o.u.reduce("plus")),
        "TypeError",
        "(?i)mask",
    ),
    Case(
        "replace without mask",
        lambda lib, o: write(lib, o.A, {"replace": True}, o.A.apply("ainv")),
        "TypeError",
        "(?i)replace",
    ),
    Case("two masks", lambda lib, o: o.A(o.M.S, mask=o.M.V), "TypeError", "(?i)mask"),
    Case("two accumulators", lambda lib, o: o.A(lib.binary.plus, accum=lib.binary.plus), "TypeError", "(?i)accum"),
    Case("structure of a transposed view", lambda lib, o: o.A.T.S, "AttributeError", "(?i)\\.S|S|Transposed"),
    Case(
        "input mask for an assignment",
        lambda lib, o: write(lib, o.A, {"input_mask": o.M.S}, o.A.apply("ainv")),
        "TypeError",
        "(?i)input_mask",
    ),
    Case(
        "input mask of another shape",
        lambda lib, o: o.A[[0, 1], [0, 1]].new(input_mask=o.C.S),
        "ValueError",
        "(?i)input_mask|shape",
    ),
    Case(
        "mask and input mask",
        lambda lib, o: o.A[[0, 1, 2], :].new(mask=o.M.S, input_mask=o.M.S),
        "TypeError",
        "(?i)mask",
    ),
    # accumulators, options
    Case(
        "accum is a unary operator",
        lambda lib, o: write(lib, o.A, {"accum": lib.unary.exp}, o.A.apply("ainv")),
        "TypeError",
        "(?i)accum|binary",
    ),
    Case(
        "accum is a number",
        lambda lib, o: write(lib, o.A, {"accum": 3}, o.A.apply("ainv")),
        "TypeError",
        "(?i)accum|type",
    ),
    Case(
        "accum of an unknown name",
        lambda lib, o: write(lib, o.A, {"accum": "nonsense"}, o.A.apply("ainv")),
        "ValueError",
        "(?i)nonsense|unknown",
    ),
    Case(
        "accum for a type it has not",
        lambda lib, o: write(lib, o.Z, {"accum": lib.binary.max}, o.Z.apply("ainv")),
        "KeyError",
        "(?i)max",
    ),
    Case(
        "unknown option",
        lambda lib, o: write(lib, o.A, {"colour": "red"}, o.A.apply("ainv")),
        "ValueError",
        "(?i)colour|option|descriptor",
    ),
    Case("update with nothing", lambda lib, o: o.A << None, "TypeError", "(?i)None|assign|expression"),
    Case("update with a list", lambda lib, o: o.A << [1, 2], "TypeError", "(?i)list|assign|expression"),
    Case("update with a matrix of another shape", lambda lib, o: o.A << o.B, DIMENSION, "(?i)shape|dimension"),
    Case("update a vector with a matrix", lambda lib, o: o.u << o.A, "TypeError", "(?i)vector|matrix|assign"),
    Case("update a matrix with a vector", lambda lib, o: o.A << o.u, "TypeError", "(?i)vector|matrix|assign"),
    Case("update a transposed view", lambda lib, o: o.A.T << o.A, "TypeError", "(?i)transposed|<<|unsupported"),
    Case("update a scalar with a matrix", lambda lib, o: o.s << o.A, "TypeError", "(?i)scalar|matrix"),
    Case("truth of a matrix mask", lambda lib, o: bool(o.M.S), "TypeError", "(?i)bool|mask"),
    Case("new() of an unknown type", lambda lib, o: o.A.apply("ainv").new("INT7"), "ValueError", "(?i)INT7|dtype"),
    Case("dup to an unknown type", lambda lib, o: o.A.dup("colour"), "ValueError", "(?i)colour|dtype"),
    # calling operators
    Case("binary operator on two matrices", lambda lib, o: lib.binary.plus(o.A, o.A), "TypeError", "(?i)binary|&|\\|"),
    Case("unary operator on a string", lambda lib, o: lib.unary.exp("x"), "TypeError", "(?i)unary|exp|type"),
    Case(
        "semiring on an element-wise expression",
        lambda lib, o: lib.semiring.plus_times(o.A | o.A),
        "TypeError",
        "(?i)semiring|@",
    ),
    Case("operator for an unknown type", lambda lib, o: lib.binary.plus["INT7"], "ValueError", "(?i)INT7|dtype"),
    Case("operator for a type it has not", lambda lib, o: lib.binary.band["FP64"], "KeyError", "(?i)band"),
    Case("unknown operator", lambda lib, o: lib.binary.nonsense, "AttributeError", "(?i)nonsense"),
    Case(
        "monoid from a non-operator",
        lambda lib, o: lib.monoid.register_anonymous(3, 0),
        "TypeError",
        "(?i)monoid|binary|type|int",
    ),
    Case(
        "semiring from the wrong way round",
        lambda lib, o: lib.semiring.register_anonymous(lib.binary.plus, lib.monoid.plus),
        "TypeError",
        "(?i)monoid|binary",
    ),
    Case(
        "unary operator from a number",
        lambda lib, o: lib.unary.register_anonymous(3),
        "TypeError",
        "(?i)function|callable|int|udf",
    ),
    Case(
        "user function without sense",
        lambda lib, o: lib.unary.register_anonymous(lambda x: x.nonsense(1)),
        "UdfParseError",
        "(?i)pars|function|udf",
    ),
    Case(
        "semiring of parts that do not fit",
        lambda lib, o: lib.op.from_string("plus.times.minus"),
        "ValueError",
        "(?i)plus.times.minus|unknown",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused(case):
    refuse(case)


@pytest.mark.parametrize("case", [case for case in CASES if case.oracle], ids=lambda case: case.name)
def test_as_the_oracle(case):
    oracle_refuses(case)


def test_names():
    assert names_are_unique(CASES)
