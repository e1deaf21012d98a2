"""Forms of constructors, of `ss`, of operators that are called, and of what is printed, as in python-graphblas.

The programs of `test_every_form.py` write with the operations; these are of what surrounds them.
"""

import itertools
import re

import pytest
from core import forms
from core.test_every_form import products

from support.library import LIBRARY, gb

if LIBRARY == "graphblas":
    pytest.skip("both sides are the same library", allow_module_level=True)

LISTS = ("[0, 2]", "[2, 0]", "[1, 1]", "[]", "[0, 9]", "[-1, 0]", "[0, 1, 2]", "np.uint8([0, 2])")
CHUNKS = ("2", "1", "0", "-1", "3", "9", "[1, 2]", "[2, None]", "[None, None]", "[None, [1, 3]]", "[[1, None], 2]",
        "[[2, 1], [4]]",
          "[[2, 2], [4]]", "[2, [5, None]]", "[[1, None, None], 2]", "[[1.5, 2], 2]", "[2, -2]", "np.array([1, 2])",
          "np.array([1.5, 2])",
          "[np.array([1, 2]), 4]", "[np.array([[1, 2]]), 4]", "[np.array([-1, 4]), 4]", "[np.array([1.0]), 4]",
          "'a'", "['a', 2]",
          "[4]", "[[1, 3]]", "[2, 2, 2]", "None", "[[None, 1], None]", "(2, (1, 2, 1))", "[0, 2]",
          "[{}, 2]")  # fmt: skip
HOWS = ("'first'", "'last'", "'smallest'", "'largest'", "'FIRST'", "'other'")
CALLED = (
    "A",
    "v",
    "s",
    "3",
    "'a'",
    "None",
    "A @ C.T",
    "v & f",
    "v | f",
    "v @ f",
    "A | F",
    "v[1]",
    "v.reduce()",
    "x",
    "True",
)
PROGRAMS = {
    "Vector.from_coo": products("lib.Vector.from_coo({}, {}, {})", LISTS, ("3", "[4, 5]", "[4, 5, 6]", "'a'",
        "None", "[]", "[1.5, 2]"),
                                ("int", "None, size=3", "size=1", "dup_op=lib.binary.plus",
                                "'INT8', size=12, dup_op=max")),
    "Vector.build": products("put_all(lib.Vector(int, 3), {}, {}, {})", LISTS, ("3", "[4, 5]"), ("", "size=9",
        "dup_op=lib.binary.plus", "clear=True")),
    "Matrix.from_coo": products("lib.Matrix.from_coo({}, {}, {}, {})", LISTS, ("[0, 1]", "[1]", "[]"), ("3",
        "[4, 5]", "[]"),
                                ("int", "nrows=3", "ncols=1", "dup_op=lib.binary.plus", "nrows=-1, ncols=2")),
    "edges": products("lib.Matrix.from_edgelist({}{})", (
        "[(0, 1), (1, 2)]", "[(0, 1, 5), (1, 2, 6)]", "[(0, 1, 5), (1, 2)]", "[(0,), (1,)]", "[]",
        "np.array([[0, 1], [1, 2]])",
        "np.array([[0, 1, 5]])", "np.array([0, 1])", "np.array([[0]])", "[(0, 1), (0, 1)]", "[(0, 1, 2, 3)]",
        "iter([(0, 1)])", "'ab'",
    ), ("", ", 3", ", [4, 5]", ", [4, 5, 6]", ", dtype=float", ", nrows=9", ", ncols=1", ", dup_op=lib.binary.plus",
        ", name='n'")),
    "pairs": products("lib.Vector.from_pairs({}{})", ("[(0, 1), (2, 3)]", "[]", "[(0, 1, 2)]", "[(0,)]",
        "[(1, 2), (1, 3)]", "'ab'", "3"),
                      ("", ", float", ", size=9", ", size=1", ", dup_op=lib.binary.plus", ", name='n'")),
    "dense": products("lib.{}.from_dense({}{})", ("Vector", "Matrix"), (
        "[1, 2, 0]", "[[1, 0], [3, 4]]", "[]", "3", "'a'", "np.arange(4.0)", "[[1, 2], [3]]",
    ), ("", ", 0", ", missing_value=0", ", dtype=float", ", missing_value=0, dtype='INT8'", ", name='n'", ", 1.5",
        ", 'a'")),
    "from a scalar": products("lib.{}.from_scalar({}, {}{})", ("Vector", "Matrix"), ("3", "2.5", "s", "'a'", "v[1]"),
                              ("4", "2, 3", "-1", "nrows=2, ncols=2", "size=3", "'a'"), ("", ", dtype='FP32'",
                              ", name='n'")),
    "dictionaries": products("lib.{}({}{})", ("Vector.from_dict", "Matrix.from_dicts"), (
        "dict()", "{0: 1, 2: 5}", "{0: {1: 2}, 2: {}}", "{0: {1: 2.5}, 2: {0: 1}}", "{'a': 1}", "{-1: 1}", "[1]",
        "[{0: 1}, {}]",
    ), ("", ", float", ", size=9", ", nrows=9, ncols=9", ", name='n'")),
    "compressed": products("lib.Matrix.from_{}({}, {}, {}{})", ("csr", "csc"), ("[0, 1, 3]", "[0, 2, 3]", "[]",
        "[1, 2]", "[0, 3, 1]", "[0]", "[0, 1]"),
                           ("[2, 0, 1]", "[0]", "[]", "[0, 1, -1]"), ("3", "[4, 5, 6]", "[4]", "[]"), ("",
                           ", nrows=4", ", ncols=3", ", int, name='n'")),
    "doubly compressed": products("lib.Matrix.from_{}({}, {}, {}, {}{})", ("dcsr", "dcsc"), ("[0, 2]", "[5, 7]", "[1]",
        "[-1, 0]"), ("[0, 1, 3]", "[0, 2, 1]", "[0, 3, 1]", "[0, 3]", "[1, 2, 3]"), ("[2, 0, 1]", "[0]"),
                                  ("3", "[4, 5, 6]"), ("", ", nrows=9", ", ncols=3", ", nrows=9, ncols=9, name='n'")),
    "exported": products("sorted((k, v) for k, v in {}.ss.export({}).items() if k != 'values')", ("A", "F", "v", "f"), (
        "'csr'", "'CSR'", "'Coo', sort=True", "'hypercsc'", "'BITMAPR'", "'fullc'", "'sparse'", "'Full'", "'bitmap'",
        "'other'", "'csr', sort=True", "format='CSC'", "3",
    )),
    "new objects": products("lib.{}({})", ("Vector", "Matrix", "Scalar"), (
        "", "int", "'INT8'", "None", "3", "int, 3", "int, 3, 4", "int, -1", "int, 2, -1", "int, 2.5", "int, 'a'",
        "int, 3, 4, 5", "int, nrows=2",
        "int, size=2", "dtype=float", "name='n'", "int, name=3", "int, is_cscalar=True", "int, size=s",
        "np.float32, np.int64(2), np.int8(3)", "int, 2**61",
        "v", "[1, 2]", "{0: 1}",
    )),
    "Scalar.from_value": products("lib.Scalar.from_value({}{})", ("3", "2.5", "True", "None", "'a'", "s", "e", "c",
        "v[1]", "v[2]", "v.reduce()", "[1, 2]", "v", "1j", "np.int8(3)"),
                                  ("", ", float", ", 'INT8'", ", is_cscalar=True", ", is_cscalar=False", ", name='n'",
                                  ", dtype='BOOL'")),
    "large numbers": products("{}", [form.format(x) for form in (
        *products("lib.Scalar.from_value({{}}, {})", ("float", "'FP32'", "int", "'UINT64'", "'INT8'", "bool")),
        "lib.Scalar.from_value({})", "put(v, 1, {})", "put(lib.Vector(float, 3), 1, {})", "up(v, {})",
        "v.apply('plus', right={})", "up(lib.Scalar('UINT8'), {})", "v.to_dense({})",
    ) for x in ("2**63 - 1", "-2**63", "300", "-1", "True", "1e300", "-1.5")]),
    "split": [f"{x}.ss.split({chunks}{more})" for x in ("A", "v", "F", "f") for chunks in CHUNKS for more in ("",
        ", name='n'")],
    "selectk": products("{}.ss.selectk({}, {}{})", ("v", "f"), ("'first'", "'last'", "'LAST'", "'other'"), ("1",
        "2", "9", "-1"), ("", ", name='n'", ", order='columnwise'", ", 'other'")),
    "reshape": [f"{x}.ss.reshape({shape}{more})" for x in ("A", "v", "F", "f") for shape in
                ("4, 3", "(4, 3)", "2, 6", "-1, 6", "6, -1", "-1, -1", "-1, 5", "5, -1", "12, 1", "2, 2", "(2, 2)",
                "4", "-1", "(-1, 4)", "(4,)", "[2, 6]",
                 "(2, 3, 2)", "(4, 3), 2", "0, -1", "-1, 0") for more in ("", ", order='columnwise'",
                 ", order='other'", ", inplace=True", ", name='n'", ", nthreads=1", ", other=1")],
    "flatten and scan": products("{}.ss.{}", ("v", "F"), ("flatten()", "flatten('columnwise')",
        "flatten('other')", "flatten(name='n')", "scan()", "scan('min')",
        "scan(lib.monoid.times)", "scan(lib.binary.max)", "scan(order='columnwise')", "scan('max', 'col')",
        "scan('other')", "scan(lib.binary.minus)", "scan(lib.unary.abs)", "scan(other=1)",
        "scan(name='n')", "flatten(other=1)")),
    "iterated": products("list({}.ss.{}({}))", ("F", "f"), ("iterkeys", "itervalues", "iteritems"), ("", "1", "2",
        "-1", "-2", "9", "-9", "seek=1")),
    "head": products("{}.ss.head({})", ("A", "v"), ("", "1", "2", "9", "dtype=float", "2, float", "2, sort=True")),
    "facts": products("{}.ss.{}", ("A", "v", "F", "f", "lib.Vector.from_scalar(2, 3)",
        "lib.Matrix.from_scalar(2, 2, 3)", "lib.Matrix(int, 2, 2)"),
                      ("is_iso", "iso_value", "orientation", "config['format']", "config['other']",
                       "config.__setitem__('format', 'other')", "config.__setitem__('other', 3)",
                       "config.__delitem__('format')")),
    "build_diag": products("done({}, {}.ss.build_diag({}))", ("C",), ("lib.Matrix(int, 3, 3)",
        "lib.Vector(float, 3)"), ("v", "w", "A", "C", "C.T", "w, 1", "w, -1", "C, 1", "3", "w, other=1")),
    "build_scalar": products("kept({}, lambda o: o.ss.build_scalar({}))", ("lib.Vector(int, 3)",
        "lib.Matrix(int, 3, 3)", "v", "A"),
                             ("[0, 2], 5", "[0, 2], [1, 1], 5", "[0, 9], 5", "[0, 2], [1], 5", "[], 5", "[0, 0], 5",
                             "[0, 2], e", "[0, 2], [1, 1], e", "[0, 2], None", "[0, 2], [1, 1], None",
                             "[0, 2], s", "[0, 1], [0, 2], 2.5")),
    "diag and concat": products("lib.ss.{}", ("diag(v)", "diag(v, 1)", "diag(C)", "diag(C, -1)", "diag(s)",
        "diag(v, dtype=float, name='n')", "diag(v, other=1)",
                                "concat([v, w])", "concat([[A], [F]])", "concat([[A, C]])",
                                "concat([v, w], dtype=float)", "concat([v, w], name='n')", "concat([v, 3])",
                                "concat([[A], [C]])", "concat([v], other=1)")),
    "operators called": products("lib.{}({})", ("unary.ainv", "binary.minus", "binary.plus", "monoid.max",
        "semiring.min_plus", "select.triu", "select.valuegt", "indexunary.rowindex"),
                                 (*CALLED, *(f"{a}, {b}" for a, b in itertools.product(("A", "v", "s", "3", "v & f",
                                 "'a'"), ("A", "f", "s", "2", "None", "'a'", "e"))),
                                  "v | f, left_default=1, right_default=2", "v | f, left_default=1",
                                  "v & f, left_default=1, right_default=2", "v, f, left_default=1, right_default=2",
                                  "v | f, left_default=s, right_default=e")),
    "aggregators": products("lib.agg.{}({})", ("sum", "mean", "count"), ("v", "A", "A, rowwise=True",
        "A, columnwise=True", "A, rowwise=True, columnwise=True", "A.T", "s", "3", "v, rowwise=True", "v & f",
        "lib.Vector(int, 3)")),
    "reductions": products("{}", [f"{x}.{reduce}({how})" for x, reduce in (("A", "reduce_rowwise"), ("A",
        "reduce_columnwise"), ("A.T", "reduce_rowwise"), ("A", "reduce_scalar"), ("v", "reduce"),
        ("lib.Vector(int, 3)", "reduce"), ("lib.Matrix(int, 2, 2)", "reduce_scalar"))
                          for how in ("", "'max'", "lib.binary.plus", "lib.binary.minus", "lib.unary.abs",
                          "lib.agg.mean", "lib.agg.ss.first", "lib.agg.ss.argmin", "allow_empty=False",
                          "lib.agg.max, allow_empty=False", "'other'", "lib.monoid.plus['FP64']")]),
    "multiplied": products("{}.{}({})", ("A", "v", "A.T"), ("mxm", "mxv", "vxm", "inner", "outer"),
                           ("A", "v", "w", "C", "A.T", "f", "3", "v, lib.semiring.min_plus", "f, 'max_plus'",
                           "f, lib.binary.plus", "w, lib.monoid.min", "A.T, lib.semiring.plus_first",
                           "f, lib.unary.abs", "v & f")),
    "element-wise": products("{}.{}({})", ("A", "v", "s"), ("ewise_add", "ewise_mult"), ("A", "F", "f", "w", "v",
        "s", "3", "F, 'minus'", "f, lib.binary.minus", "f, lib.monoid.max", "f, lib.semiring.min_plus",
        "f, lib.unary.abs", "C", "A.T", "'a'")),
    "unions": products("{}.ewise_union({}, {}, {}, {})", ("A", "v"), ("F", "f", "3"), ("'minus'", "lib.monoid.max",
        "lib.semiring.min_plus"), ("1", "s", "e", "None", "'a'", "v"), ("2.5", "c")),
    "applied": products("{}.apply({})", ("A", "A.T", "v", "s", "e"), ("'abs'", "lib.unary.one", "'minus', 3",
        "lib.binary.minus, left=3", "lib.binary.minus, 1, left=3", "lib.binary.minus", "lib.binary.minus, right=s",
                         "lib.binary.minus, left=e", "lib.binary.minus, v", "lib.monoid.max, 3",
                         "lib.monoid.max, left=3", "lib.monoid.max", "lib.unary.abs, 3", "'rowindex'",
                         "'rowindex', 2", "lib.indexunary.rowindex, left=1",
                         "lib.indexunary.rowindex, 'a'", "lib.indexunary.colindex, s", "lib.indexunary.rowindex, e",
                         "lib.select.triu", "lib.semiring.min_plus", "'other'", "None", "lib.binary.plus['FP64'], 1")),
    "selected": products("{}.select({})", ("A", "A.T", "v", "s", "e"), ("'triu'", "'tril', 1",
        "lib.select.valuegt, 2", "'valuegt', s", "'valuegt', e", "'valuegt'", "'>', 3", "lib.indexunary.valuegt, 2",
        "lib.indexunary.rowindex, 1",
                          "X.S", "~x.V", "x.S", "x", "'other'", "None", "3", "lib.select.rowle, 1", "'rowle', 'a'",
                          "lib.unary.abs", "'row == 1'", "'1 < value'", "'col >= 1'")),
    "selected by a comparison": products("{}", (
        *products("{0}.select({0} {1} {2})", ("A", "v"), ("<", "<=", ">", ">=", "==", "!="), ("3", "s", "e")),
        *products("lib.select.{}(A {} {})", ("value", "row", "column", "diag"), ("<", "<=", ">", ">=", "==", "!="),
            ("1", "s")),
        *products("lib.select.index(v {} 2)", ("<", "<=", ">", ">=", "==", "!=")), "lib.select.value(A)",
        "lib.select.row(3)",
        "lib.select.value(A.T > 3)", "lib.select.value(3 < A)", "lib.select.value(A + 1)",
        "A.select(C > 3)", "A.select(A + 1)",
        "A.T.select(A > 3)", "A.select(A.apply('abs'))", "lib.select.value(s > 3)", "v.select(A > 3)",
    )),
    "power and others": products("{}", ("C.power(2)", "C.power(0)", "C.power(-1)", "C.power(2, 'min_plus')",
        "A.power(2)", "C.power(1.5)", "C.power('a')", "C.power(3, lib.binary.plus)", "C.power(1)",
                         "C.setdiag(3)", "C.setdiag(w)", "C.setdiag(w, 1)", "C.setdiag([1, 2, 3])", "C.setdiag(v)",
                         "C.setdiag(3, 9)", "C.setdiag(w, mask=w.S)", "C.setdiag(3, accum='plus')", "A.setdiag(s, -1)",
                         "A.kronecker(C)", "A.kronecker(C, 'plus')", "A.kronecker(v)",
                         "A.kronecker(C, lib.unary.abs)", "A.reposition(1, 1)", "A.reposition(-1, 0, nrows=2)",
                         "v.reposition(2)", "v.reposition(-1, size=9)", "A.reposition('a', 1)",
                         "A.to_dcsr()", "A.to_dcsc()", "A.to_csr()", "A.to_csc(float)", "A.to_edgelist()",
                         "A.to_edgelist(values=False)", "A.to_dicts(order='col')", "A.to_dicts('other')",
                         "A._as_vector()", "lib.Matrix(int, 3, 1)._as_vector()", "v._as_matrix()")),
    "chains": products("{}.{}", ("C.mxm(C)", "C.mxm(C, 'min_plus')", "A.T.mxm(A)", "(C @ C.T)", "C.kronecker(C)",
        "C.power(2)", "C.mxm(C).select('triu')", "C.mxm(C).select(C.S)", "(C @ C).select(~C.V).select('>', 9)"), (
        "select('tril')", "select('>', 12)", "select('>', s)", "select(C.S)", "select(~C.S)", "select(X.S)",
        "select(v.S)", "select('>', 'a')", "select(C)", "select('>', 1).select(C.S).select('triu')",
        "select(C.S).select(C.V)", "reduce_scalar()", "reduce_scalar('max')", "reduce_scalar(lib.agg.mean)",
        "reduce_rowwise()", "reduce_columnwise('min')", "reduce_rowwise(lib.agg.count)",
        "select(C.S).reduce_scalar('min')",
        "select('>', 11).reduce_rowwise()", "select(~C.S).reduce_columnwise(lib.monoid.max).new(mask=w.S)",
        "reduce_scalar('minus')", "select('other')", "reduce_scalar(allow_empty=False)", "reduce_rowwise().reduce()",
        "select('>', 999).reduce_scalar(allow_empty=False)", "select(C.S).new(name='n')", "nvals", "apply('ainv')",
    )),
    "chosen twice": products("done({0}, *[expr.{1} for expr in [{2}] for _ in range(2)])", ("C",), (
        "select(C.S)", "select('>', 9).new()", "reduce_scalar()", "reduce_rowwise('max').new(float)",
        "reduce_columnwise()",
    ), ("C.mxm(C)", "C @ C", "C.kronecker(C)", "C.power(3)", "C.mxm(C).select('triu')")),
    "texts": products("repr({})", (
        "A.apply('ainv')", "A.T.apply('ainv')", "A @ C", "C @ A", "A @ v", "v @ f", "v & f", "v | f", "A & F",
        "A[0, 1]", "A[:2, 1:]", "A[::2, [0, 1]]", "v[::-1]", "v[1:3]", "v[[0, 1, 2]]", "v[range(3)]", "A[1, :]",
        "A[:, 1]", "A[-1, -1]",
        "A[:, 3:0:-1]", "v[3:0:-2]", "v[2:]", "v[:0]", "v.reduce()", "A.reduce_rowwise('max')",
        "A.reduce_columnwise()", "A.reduce_scalar(lib.agg.mean)", "v.apply('minus', right=3)",
        "v.apply('minus', left=s)", "A.select('triu')", "A.select('tril', 1)", "A.select(X.S)",
        "v.select(x.V)", "A.ewise_add(F, 'minus')", "A.ewise_union(F, 'minus', 1, s)", "A.kronecker(C)",
        "v.outer(w)", "A.mxv(v, 'min_plus')", "A.T.mxm(A)", "w.vxm(A)", "v.inner(f)", "C.power(2)",
        "A.reposition(1, 1)", "v.diag()", "C.diag()",
        "s.apply('ainv')", "s + 1", "s.ewise_add(c)", "s & c", "s | c", "b & b",
        "lib.binary.minus(v | f, left_default=1, right_default=s)", "lib.semiring.min_plus(A @ v)",
    )),
}  # fmt: skip
# families whose forms take expressions, with autocompute too
COMPUTED = ("operators called", "aggregators", "reductions", "multiplied", "element-wise", "unions", "applied",
        "selected", "chains", "chosen twice",
            "texts", "build_diag", "diag and concat", "Scalar.from_value")  # fmt: skip
# python-graphblas names its own casts, or another slice; or it changes a Vector into one of another shape
NOT_ALIKE = re.compile(
    r"repr\((A\[:, 3|v\[3|v\[:0|v.outer|v.inner|s |s\.|b &|v.diag|C.diag)|[vf].ss.reshape\(.*inplace|"
    r".*flatten\(name"
)
REFUSED_HERE = re.compile(
    r"lib.Matrix.from_dcs[rc]\((?!\[(0, 2|5, 7)\], \[0, 1, 3\], \[2, |\[1\], \[0, 3\], \[2, )|"
    r"lib.Matrix.from_dcsc\(\[5.*ncols=3|"
    r"lib.Matrix.from_cs[rc]\((\[1, 2\]|"
    r"\[0, 3, 1\]|\[0\], (\[\], \[[^\]]|\[[^\]])|\[0, 1\], (\[2|\[0, 1|\[\]|\[0\], (\[\]|\[4, )))"
)


def put_all(x, *arguments, **more):
    x.build(*arguments, **more)
    return x


def done(*values):
    return values


def kept(x, call):
    return call(x), x


forms.NAMES.update(put_all=put_all, done=done, kept=kept)


@pytest.mark.parametrize(
    "family, autocompute", [*itertools.product(PROGRAMS, [False]), *itertools.product(COMPUTED, [True])]
)
def test_every_form(family, autocompute):
    forms.check(PROGRAMS[family], autocompute, NOT_ALIKE, REFUSED_HERE, strict=False)


def test_a_flattened_matrix_has_its_name():
    assert forms.OPERANDS["F"](gb).ss.flatten(name="n").name == "n"
