"""Facts about operators against their definitions: bits of each place, what a product reads, types, names made late."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from operators.catalogue import operator_names
from operators.nasty import operands

from grb_tile import binary, dtypes, indexunary, monoid, select, semiring, unary
from grb_tile.operators import BinaryOp, Monoid, iso_products
from grb_tile.operators.to_python import helper

SEMIRINGS = [op for op in (getattr(semiring, name) for name in sorted(operator_names(semiring))) if op._builtin]
BITS = {  # of the whole number x and the place y, from 1: what is left of x, without bounds on either
    "bget": lambda x, y: x >> y - 1 & 1,
    "bset": lambda x, y: x | 1 << y - 1,
    "bclr": lambda x, y: x & ~(1 << y - 1),
}


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("signed", [True, False])
def test_compiled_bits_of_every_place(name, signed):
    """Of a place that the type has not bget gives 0, the others x; a processor takes such a count modulo 64."""
    numba = pytest.importorskip("numba", reason="Numba is not installed: the text cannot be compiled")
    function = numba.njit(helper(name if signed else f"{name}_unsigned"))
    word = np.int64 if signed else np.uint64
    for bits in (8, 16, 32, 64):
        highest = (1 << bits - 1) - 1 if signed else (1 << bits) - 1
        for x in {0, 1, 5, highest, highest - 2} | ({-1, -6, -highest - 1} if signed else set()):
            for y in [*(range(-2, 1) if signed else [0]), *range(1, bits + 3), 63, 64, 65, 66, 100, 127, 128, 129]:
                found = int(function(word(x), word(y), bits))
                wanted = BITS[name](x, y) if 1 <= y <= bits else 0 if name == "bget" else x
                assert (found - wanted) % 2**bits == 0, (name, bits, x, y)


def multiplied(op):
    """(typed operator, two arrays of operands) for each type, NaN left out."""
    for dtype in op.types:
        typed = op[dtype]
        x = operands(typed.type.np_type)
        x = x[x == x]
        yield typed, x[::3], x[1::3][: len(x[::3])]


def test_what_a_product_reads():
    """An operand whose values are said not to be read may be any other."""
    unread = set()
    for op in {id(of.binaryop): of.binaryop for of in SEMIRINGS}.values():
        if op.is_positional:
            continue
        for typed, x, y in multiplied(op):
            if typed.kind == "any":
                continue
            x, y = (a[: min(len(x), len(y))] for a in (x, y))
            result = typed.numpy(x, y)
            for place, read in enumerate(iso_products.uses(typed)):
                given = [x, y]
                given[place] = given[place][::-1]
                same = np.array_equal(typed.numpy(*given), result, equal_nan=True)
                assert read or same, (typed, place)
                if not read:
                    unread.add((typed.kind, place))
    assert unread == {("first", 1), ("second", 0), ("pair", 0), ("pair", 1)}


def test_products_of_one_value():
    """A product said to have one value has it, however many terms each entry is the sum of; first, max and so on do."""
    found = set()
    for op in SEMIRINGS:
        for dtype in op.types:
            typed = op[dtype]
            multiply = typed.binaryop
            if multiply.positional:
                assert not iso_products.one_result(typed, True, True)
                continue
            if not iso_products.one_result(typed, True, True):
                continue
            found.add(typed.monoid.binaryop.name)
            assert not iso_products.one_result(typed, False, True) and not iso_products.one_result(typed, True, False)
            value = multiply.numpy(*(np.array([3]).astype(multiply.type.np_type) for _ in range(2)))
            add, total = typed.monoid.binaryop, value
            for _ in range(3):
                total = add.numpy(total, value)
                assert np.array_equal(total, value), typed
    assert found == iso_products.IDEMPOTENT | {"times"}


def test_types_that_are_named_later():
    """A type has one DataType, whichever way it is met; a name is given to the one that is there."""
    parts = np.dtype([("tests_later", np.int16), ("b", np.float32)])
    first = dtypes.lookup_dtype(parts)
    assert first.name == "{'tests_later': INT16, 'b': FP32}" and first._is_anonymous
    assert dtypes.register_anonymous(parts) is first and first.name.startswith("{")
    assert dtypes.register_anonymous(parts, "a name") is first and first.name == "a name"
    assert dtypes.register_anonymous({"tests_later": "INT16", "b": "FP32"}) is not None
    for made in (first, dtypes.register_anonymous("INT8[2, 3]"), dtypes.register_anonymous(np.dtype((float, 5)))):
        for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made)):
            assert again is made
        name, dtype = made.name, made.np_type
        kept = dtypes.types._REGISTRY.pop(dtype)
        try:  # as a process that has not met it
            again = pickle.loads(pickle.dumps(kept))
            assert again.name == name and again.np_type == dtype and again._is_anonymous
        finally:
            dtypes.types._REGISTRY[dtype] = kept
    with pytest.raises(ValueError, match="must not be a builtin type"):
        dtypes.register_anonymous(np.int64, "mine")
    assert dtypes.register_anonymous(np.int64, "GrB_INT64") is dtypes.INT64 and dtypes.INT64.name == "INT64"


OWN = binary.register_anonymous(lambda x, y: x + y)  # a monoid of the library's plus would be its monoid from then on
LATE = {
    unary: (lambda x: x + 1,),
    binary: (lambda x, y: x - y,),
    indexunary: (lambda x, i, j, thunk: i < j,),
    select: (lambda x, i, j, thunk: j < i,),
    monoid: (OWN, 0),
    semiring: (monoid.plus, binary.minus),
}


def halves(x):
    return x / 2


def squares(x, y):
    return x * x + y * y


def above(x, i, j, thunk):
    return x > thunk


@pytest.mark.parametrize("space", LATE, ids=lambda space: space.__name__.rpartition(".")[2])
def test_names_that_are_made_at_their_first_use(space):
    """In each namespace the operator is there, once, and so is the one that is registered with it."""
    name = f"tests_late_{space.__name__.rpartition('.')[2]}"
    assert space.register_new(name, *LATE[space], lazy=True) is None
    assert name in dir(space)
    with pytest.raises(AttributeError, match="already defined"):
        space.register_new(name, *LATE[space])
    if space is indexunary:
        assert name not in dir(select), "a select operator is registered by the namespace of that name"
    for each in (indexunary, select) if space is select else (space,):
        assert name in dir(each)
        made = getattr(each, name)
        assert made.name == name and getattr(each, name) is made and each.from_string(name) is made
        assert made["INT64"].return_type is (dtypes.BOOL if each in (indexunary, select) else dtypes.INT64)


def test_a_family_of_operators_keeps_its_monoids():
    def plus(a=0):
        return lambda x, y: x + y + a

    family = BinaryOp.register_anonymous(plus, parameterized=True)
    assert family(1).monoid is None
    whole = Monoid.register_anonymous(family, lambda a=0: -a)
    for turn in range(3):
        for a in (0, 3, 4):
            assert family(a).monoid is whole(a) and family(a) is family(a), turn
            assert whole(a).identities[dtypes.INT64] == -a
    assert family.monoid is whole


@pytest.mark.parametrize("is_udt", [False, True])
def test_a_function_that_is_tried_warns_of_nothing(is_udt):
    """Its type is found by a call with numbers of no meaning."""

    def total(**terms):  # which Numba does not compile
        return terms["a"] + terms["b"] + terms["c"]

    def strange(x):
        return total(a=np.log(x - x), b=1 / np.float64(x - x), c=np.sqrt(-abs(x) - 1.0))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = unary.register_anonymous(strange, is_udt=is_udt)
        assert made["FP64"].return_type is dtypes.FP64


def test_operators_come_back_from_their_bytes():
    """Those of the library and named ones are themselves again; anonymous ones are made anew, with name and values."""
    x, y, total = np.array([7, -3]), np.array([2, 5]), binary.register_anonymous(squares)
    made_of = {
        unary: (unary.abs, (halves,), (x / 1,)),
        binary: (binary.minus, (squares,), (x / 1, y / 1)),
        indexunary: (indexunary.tril, (above,), (x / 1, x, y, y / 1)),
        select: (select.tril, (above,), (x / 1, x, y, y / 1)),
        monoid: (monoid.times, (total, 0), (x / 1, y / 1)),
        semiring: (semiring.min_plus, (monoid.plus, total), (x / 1, y / 1)),
    }
    for space, (builtin, arguments, operands_of) in made_of.items():
        named = space.register_new(f"tests_bytes_{space.__name__.rpartition('.')[2]}", *arguments)
        for one in (builtin, named):
            assert pickle.loads(pickle.dumps(one)) is one and copy.deepcopy(one) is one
        if space not in (indexunary, select):  # as in a process that has not met it
            data = pickle.dumps(named)
            delattr(space, named.name)
            again = pickle.loads(data)
            assert getattr(space, named.name) is again and not again._anonymous
        for name in (None, "a name of its own"):
            first = space.register_anonymous(*arguments, name)
            again = pickle.loads(pickle.dumps(first))
            assert again is not named and (again.name, repr(again)) == (first.name, repr(first)) and again._anonymous
            typed, other = again["FP64"], first["FP64"]
            if space is semiring:
                assert typed.monoid is monoid.plus["FP64"]
            if space is monoid:
                assert typed.identity == other.identity == 0
            typed, other = (getattr(of, "binaryop", of) for of in (typed, other))
            assert np.array_equal(typed.numpy(*operands_of), other.numpy(*operands_of)), (space, name)
