"""Users' functions: return types as python-graphblas has them, lowering, refusals, fallbacks, registration,
pickling."""

import math
import pickle
import warnings

import graphblas as gb
import numpy as np
import pytest
from operators.nasty import differences, operands

from grb_tile import Vector, binary, config, dtypes, indexunary, monoid, op, select, semiring, unary
from grb_tile.exceptions import UdfParseError
from grb_tile.operators import BinaryOp, IndexUnaryOp, Monoid, SelectOp, Semiring, UnaryOp
from grb_tile.operators.ir import cast, postorder
from grb_tile.operators.to_numpy import numpy_function

LIMIT = 7


def clipped(x):
    """if, elif, return, and a doc string"""
    if x > 10:
        return 10
    elif x < -10:
        return -10
    return x


def collatz(x):
    y = x
    if x % 2 == 0:
        y //= 2
    else:
        y = 3 * y + 1
    return y


UNARY = {
    "add": lambda x: x + 1, "scaled": lambda x: x * 2.5, "sign": lambda x: x > 0, "root": lambda x: math.sqrt(x * x),
    "choose": lambda x: x if x > 3 else 0, "chain": lambda x: 1 < x < 60 and x != LIMIT, "whole": lambda x: 1,
    "clipped": clipped, "collatz": collatz, "sine": lambda x: np.sin(x), "modulo": lambda x: x % 3 + x // 3,
}  # fmt: skip
BINARY = {
    "weighted": lambda x, y: 2 * x + 3 * y, "distance": lambda x, y: x - y if x > y else y - x, "both": lambda x,
    y: (x > 0) & (y > 0),
}  # fmt: skip
# What Numba, and so python-graphblas, gives for BOOL, INT8, UINT8, INT64, UINT64, FP32, FP64, FC64 (None: no such
# operator).
COLUMNS = ("BOOL", "INT8", "UINT8", "INT64", "UINT64", "FP32", "FP64", "FC64")
EXPECTED = {
    "add": ("INT8", "INT8", "UINT8", "INT64", "UINT64", "FP32", "FP64", "FC64"),
    "scaled": ("FP64", "FP64", "FP64", "FP64", "FP64", "FP32", "FP64", "FC64"),
    "sign": ("BOOL", "BOOL", "BOOL", "BOOL", "BOOL", "BOOL", "BOOL", None),
    "root": ("FP64", "FP64", "FP64", "FP64", "FP64", "FP32", "FP64", None),
    "choose": ("INT8", "INT8", "UINT8", "INT64", "UINT64", "FP32", "FP64", None),
    "whole": ("INT8", "INT8", "UINT8", "INT64", "UINT64", "INT64", "INT64", "INT64"),
    "sine": ("FP32", "FP32", "FP32", "FP64", "FP64", "FP32", "FP64", "FC64"),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_return_types(name):
    mine = UnaryOp.register_anonymous(UNARY[name])
    assert mine._user.refusal is None
    assert tuple(str(mine.types[dtypes.lookup_dtype(c)]) if c in mine else None for c in COLUMNS) == EXPECTED[name]


def small(dtype):
    values = {"b": [0, 1], "i": [0, 1, -1, 2, 5, -7, 11, 20], "u": [0, 1, 2, 5, 7, 11, 20], "c": [0, 1, 2 + 1j],
              "f": [0, 1, -1, 0.5, 2.25, -7, 11, 20]}[dtype.np_type.kind]  # fmt: skip
    return np.array(values, dtype.np_type)


@pytest.mark.parametrize("name", UNARY)
def test_values_are_pythons(name):
    function = UNARY[name]
    mine = UnaryOp.register_anonymous(function)
    for dtype, result in mine.types.items():
        typed = mine[dtype]
        assert typed.lowerable
        x = small(dtype)
        got = typed.numpy(x)
        assert got.dtype == result.np_type
        if dtype.np_type.kind == "c":
            continue
        expected = np.array([function(int(v) if v.dtype == bool else v.item()) for v in x]).astype(result.np_type)
        assert not differences(got, expected, 1e-6).any(), (dtype, got, expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_types_and_values_against_python_graphblas(name):
    is_unary = name in UNARY
    function = UNARY[name] if is_unary else BINARY[name]
    gb.unary.abs  # noqa: B018  python-graphblas initialises itself on first use
    from graphblas.core import operator as theirs

    mine = (UnaryOp if is_unary else BinaryOp).register_anonymous(function)
    other = (theirs.UnaryOp if is_unary else theirs.BinaryOp).register_anonymous(function)
    assert {t.name: r.name for t, r in mine.types.items()} == {t.name: r.name for t, r in other.types.items()}
    for dtype in mine.types:
        x = small(dtype)
        if is_unary:
            expected = gb.Vector.from_coo(np.arange(len(x)), x, dtype=dtype.name).apply(other).new().to_coo()[1]
            got = mine[dtype].numpy(x)
        else:
            a, b = np.repeat(x, len(x)), np.tile(x, len(x))
            v, w = (gb.Vector.from_coo(np.arange(len(a)), c, dtype=dtype.name) for c in (a, b))
            expected, got = v.ewise_mult(w, other).new().to_coo()[1], mine[dtype].numpy(a, b)
        assert not differences(got, expected, 1e-5).any(), dtype


def test_positions_are_signed():
    mine = IndexUnaryOp.register_anonymous(lambda x, i, j, thunk: j - i)
    i, j = np.array([0, 3]), np.array([2, 1])
    assert mine["INT64"].numpy(np.zeros(2, np.int64), i, j, np.int64(0)).tolist() == [2, -2]
    chosen = SelectOp.register_anonymous(lambda x, i, j, thunk: i + j <= thunk)
    assert chosen["FP64"].numpy(np.zeros(2), i, j, np.float64(2)).tolist() == [True, False]
    with pytest.raises(ValueError, match="BOOL return type"):
        SelectOp.register_anonymous(lambda x, i, j, thunk: i)


REFUSED = {
    "loop": ("def f(x):\n    while x > 1:\n        x = x / 2\n    return x", "While cannot be lowered"),
    "list": ("def f(x):\n    y = [x, x]\n    return y[0]", "List cannot be lowered"),
    "call": ("def f(x):\n    return undefined_function(x)", "call of a function that cannot be lowered"),
    "name": ("def f(x):\n    return x + undefined", "neither an argument"),
    "text": ("def f(x):\n    return x + 'a'", "only numbers"),
    "nothing": ("def f(x):\n    if x > 1:\n        return x", "returns nothing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_lowering_refuses_with_line_and_column(name, tmp_path):
    from grb_tile.operators.from_python import expression_from_tree
    from grb_tile.operators.source import function_tree

    text, reason = REFUSED[name]
    path = tmp_path / "functions.py"
    path.write_text(f"# a comment first\n{text}\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    tree, resolve = function_tree(space["f"])
    with pytest.raises(UdfParseError, match=rf"f, line \d+, column \d+: .*{reason}"):
        expression_from_tree(tree, resolve, "f", (dtypes.FP64,))


def test_functions_that_cannot_be_lowered_run_on_the_cpu():
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    mine = UnaryOp.register_anonymous(halved, is_udt=True)
    typed = mine["FP64"]
    assert not typed.lowerable and typed.python_function is halved
    assert "While" in str(typed.refusal)
    assert typed.numpy(np.array([8.0, 3.0, 0.5])).tolist() == [1.0, 0.75, 0.5]
    space = {}
    exec("def typed_at_a_prompt(x, y):\n    return x * 10 + y", space)
    other = BinaryOp.register_anonymous(space["typed_at_a_prompt"], is_udt=True)["INT64", "INT64"]
    assert not other.lowerable
    assert other.numpy(np.array([1, 2]), np.array([3, 4])).tolist() == [13, 24]
    assert other.flip().numpy(np.array([1, 2]), np.array([3, 4])).tolist() == [31, 42]


def test_functions_that_are_no_operators_are_refused():
    v = object()
    with pytest.raises(UdfParseError, match="Unable to parse function using Numba"):
        unary.register_anonymous(lambda x: v)
    with pytest.raises(TypeError, match="UDF argument must be a function"):
        binary.register_anonymous(np.add)
    with pytest.raises(TypeError, match="UDF argument must be a function"):
        unary.register_anonymous(5)
    with pytest.raises(UdfParseError, match="takes 1 arguments"):
        unary.register_anonymous(lambda x, y: x)


def test_mixed_types():
    mine = BinaryOp.register_anonymous(lambda x, y: x * y, is_udt=True)
    typed = mine["INT64", "FP64"]
    assert (typed.type, typed.type2, typed.return_type) == (dtypes.INT64, dtypes.FP64, dtypes.FP64)
    assert typed.numpy(np.array([2]), np.array([1.5])).tolist() == [3.0]
    assert typed is mine["INT64", "FP64"]
    assert pickle.loads(pickle.dumps(binary.plus["INT64"])) is binary.plus["INT64"]


FP32_CHOICES = {          # is every operation one of FP32?
    "capped": (lambda x, y: min(1000000.0, x + y), True),
    "whole": (lambda x, y: 7 if x + y > 7 else x + y, True),
    "nested": (lambda x, y: max(min(x, 2.5), y if y > -0.5 else -0.0), True),
    "branch": (lambda x, y: x if x <= 0.5 else math.nan if y != y else y, True),
    "beyond": (lambda x, y: min(x + y, 1e300) if x < 1e39 else y, False),
    "tenth": (lambda x, y: x if x > 0.1 else y, False),
    "product": (lambda x, y: min(x * 0.5, y), False),
}  # fmt: skip


@pytest.mark.parametrize("name", FP32_CHOICES)
def test_fp32_is_compared_as_fp32(name):
    """A literal makes both sides FP64: where they are FP32 numbers nothing is converted, and every bit is the same."""
    function, plain = FP32_CHOICES[name]
    mine = BinaryOp.register_anonymous(function)
    typed = mine[dtypes.FP32]
    assert (dtypes.FP64 not in {node.type for node in postorder(typed.expression)}) is plain
    whole = cast(mine._user.natural_expression((dtypes.FP32, dtypes.FP32)), dtypes.FP32)
    assert dtypes.FP64 in {node.type for node in postorder(whole)}
    values = np.append(operands(np.float32), np.array([0.1, 1e6, 5e5, np.nextafter(np.float32(0.1), 0)], np.float32))
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    want = numpy_function(whole, 2)(x, y)
    got = typed.numpy(x, y)
    assert got.dtype == np.float32
    assert (got.view(np.uint32) == want.view(np.uint32))[~np.isnan(want)].all() and np.isnan(got[np.isnan(want)]).all()


def test_two_lambdas_on_a_line_are_told_apart():
    first, second = UnaryOp.register_anonymous(lambda x: x + 1), UnaryOp.register_anonymous(lambda x: x + 2)
    assert first["INT64"].numpy(np.array([1])).tolist() == [2]
    assert second["INT64"].numpy(np.array([1])).tolist() == [3]


def test_closures_and_inner_functions():
    def twice(x):
        return 2 * x

    offset = 5
    mine = UnaryOp.register_anonymous(lambda x: twice(x) + offset)
    assert mine["INT64"].lowerable
    assert mine["INT64"].numpy(np.array([1, 2])).tolist() == [7, 9]


def test_registration_and_lazy_names():
    made = unary.register_new("tests.first.plus_nine", lambda x: x + 9)
    assert unary.tests.first.plus_nine is made and repr(made) == "unary.tests.first.plus_nine"
    assert op.tests.first.plus_nine is made
    with pytest.raises(AttributeError, match="already defined"):
        unary.register_new("tests.first.plus_nine", lambda x: x)
    with pytest.raises(AttributeError, match="Cannot use as a nested path"):
        unary.register_new("abs.mine", lambda x: x)
    with pytest.raises(AttributeError, match="already defined"):
        binary.register_new("plus", lambda x, y: x)
    assert binary.register_new("tests_lazy", lambda x, y: x + y, lazy=True) is None
    assert "tests_lazy" in dir(binary)
    assert binary.tests_lazy["INT8"].numpy(np.array([1], np.int8), np.array([2], np.int8)).tolist() == [3]
    assert monoid.register_new("tests_monoid", binary.tests_lazy, 0) is monoid.tests_monoid
    made = semiring.register_new("tests_semiring", monoid.tests_monoid, binary.times)
    assert made["INT64"].monoid is monoid.tests_monoid["INT64"] and made["INT64"].flip() is made["INT64"]
    assert indexunary.register_new("tests_above", lambda x, i, j, thunk: i < j) is indexunary.tests_above
    assert select.tests_above["INT8"].return_type is dtypes.BOOL
    with pytest.raises(ValueError, match="BOOL"):
        select.register_new("tests_wrong", lambda x, i, j, thunk: i + j)
    assert not hasattr(indexunary, "tests_wrong")


def test_parameterized():
    def plus_x(x=1):
        def inner(y):
            return y + x

        return inner

    mine = UnaryOp.register_anonymous(plus_x, parameterized=True)
    assert mine(10) is mine(10)
    assert mine(10)["INT64"].numpy(np.array([1])).tolist() == [11]
    assert binary.isclose(rel_tol=0.1)["FP64"].numpy(np.array([1.0]), np.array([1.05])).tolist() == [True]
    assert binary.isclose.is_commutative and binary.isclose()["FP32"].return_type is dtypes.BOOL

    def plus_plus(a=0):
        def inner(x, y):
            return x + y + a

        return inner

    def start(a=0):
        return -a

    op_ = BinaryOp.register_anonymous(plus_plus, parameterized=True)
    own = Monoid.register_anonymous(op_, start)
    assert own(3).identities[dtypes.INT64] == -3 and op_(3).monoid is own(3)
    assert Semiring.register_anonymous(own, op_)(3).monoid is own(3)
    ways = {"both": (own, op_), "multiply": (monoid.plus, op_), "monoid": (own, binary.times), "names": ("plus", op_)}
    for name, (adder, multiply) in ways.items():
        made = [semiring.register_new(f"tests_parameterized.{name}", adder, multiply)]
        if name != "names":
            made.append(Semiring.register_anonymous(adder, multiply))
        for each in made:
            typed = each(3)["INT64"]
            assert typed.monoid.binaryop.numpy(*np.array([[2], [5]])) == [7 + 3 * (adder is own)]
            assert typed.binaryop.numpy(*np.array([[2], [5]])) == [7 + 3 if multiply is op_ else 10]
    with pytest.raises(TypeError, match="At least one"):
        type(Semiring.register_anonymous(own, op_))("x", monoid.plus, binary.plus)
    with pytest.raises(ValueError, match="must be the same"):
        Monoid.register_anonymous(op_, lambda b: b)


def squared_distance(x, y):
    return (x - y) * (x - y)


def test_pickling():
    for operator in (binary.plus, unary.exp, monoid.min, semiring.min_plus, select.tril, indexunary.rowindex,
        semiring.ss.any_secondi,
                     binary.numpy.mod, binary.isclose, dtypes.FP32):  # fmt: skip
        assert pickle.loads(pickle.dumps(operator)) is operator
    for typed in (
        binary.plus["INT8"],
        monoid.lor["BOOL"],
        semiring.plus_times["FP64"],
        select.tril["BOOL"],
        binary.atan2["FP64"].flip(),
    ):
        assert pickle.loads(pickle.dumps(typed)) is typed
    mine = pickle.loads(pickle.dumps(BinaryOp.register_anonymous(squared_distance)))
    assert mine["INT64"].numpy(np.array([5]), np.array([2])).tolist() == [9]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(binary.isclose(rel_tol=0.5))) is binary.isclose(rel_tol=0.5)


def test_user_defined_types():
    point = dtypes.register_anonymous(np.dtype([("x", np.int64), ("y", np.float64)], align=True), "point")
    assert point._is_udt and point in binary.first and point in unary.identity and point not in binary.plus
    values = np.array([(1, 2.0), (3, 4.0)], point.np_type)
    assert (binary.first[point].numpy(values, values[::-1]) == values).all()
    assert binary.eq[point].numpy(values, values[::-1]).tolist() == [False, False]
    assert binary.pair[point, point].numpy(values, values).tolist() == [1, 1]
    get_x = UnaryOp.register_anonymous(lambda p: p["x"] + 1, is_udt=True)
    assert get_x[point].return_type is dtypes.INT64
    assert get_x[point].numpy(values).tolist() == [2, 4]
    assert monoid.any[point].reduceat(values, np.array([0, 1])).tolist() == values.tolist()


@pytest.mark.parametrize("function", [lambda x, y: max(x, y), lambda x, y: min(x, y)], ids=["max", "min"])
@pytest.mark.parametrize("signs", [(0.0, -0.0), (-0.0, 0.0)])
def test_of_equal_values_the_first_is_taken(function, signs):
    """As Python does it: of 0.0 and -0.0, which are equal, the one that stands first."""
    op = binary.register_anonymous(function)
    x, y = (Vector.from_coo([0, 1], [sign, sign]) for sign in signs)
    for engine in ("cpu", "numpy", "reference"):
        with config.set(backend=engine):
            found = op(x & y).new().to_coo()[1]
        assert np.signbit(found).tolist() == [np.signbit(signs[0])] * 2, engine


def test_functions_that_run_in_python_are_named_once(caplog):
    def of_text(x):
        return float(format(x))  # what Numba refuses at once; str(x) it compiles for seconds

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # Numba's, too
        for _ in range(2):
            slow = unary.register_anonymous(of_text)
            assert Vector.from_dense([1.5, 2.0]).apply(slow).new().to_dict() == {0: 1.5, 1: 2.0}
        unary.register_anonymous(lambda x: x + 3)(Vector.from_dense([1.5])).new()
    (record,) = caplog.records
    text = record.getMessage()
    assert (record.name, record.levelname) == ("grb_tile", "WARNING")
    assert "of_text" in text and "runs in Python" in text and "format(x)" in text and __file__ in text
