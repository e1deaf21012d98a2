"""Operations of Scalars with the backend of a device: the results of the CPU and of plain loops, for every type."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile import Scalar, binary, dtypes, indexunary, select as selects, unary
from grb_tile.backends import select

TYPES = "BOOL INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 FP32 FP64 FC32 FC64".split()
BINARY = "plus minus times first second pair any eq ne iseq truediv floordiv lt ge max min pow land lxor".split()
UNARY = "identity ainv abs minv one lnot".split()


def values(name):
    """Values of a type, extremes among them, and none."""
    kind = getattr(dtypes, name).np_type
    if name == "BOOL":
        found = [True, False]
    elif kind.kind in "iu":
        limits = np.iinfo(kind)
        found = [limits.max, limits.min, 3, 1]
    else:
        found = [2.5, -0.0, np.inf, np.nan] if kind.kind == "f" else [1 + 2j, -0.5j, 3]
    return [kind.type(x) for x in found] + [None]


def result(call):
    """(type, value as bytes), or the class of the exception."""
    try:
        made = call().new()
    except (TypeError, KeyError) as error:
        return type(error).__name__
    value = made._value
    if value is not None and not made.dtype._is_udt:
        assert value.dtype == made.dtype.np_type
        value = "nan" if value != value else value.tobytes()
    return made.dtype.name, value if value is None or isinstance(value, (str, bytes)) else value.tolist()


def check(calls):
    """The calls give the same on a device, on the CPU and by the reference backend; some of them are computed."""
    computed = 0
    for where, call in calls:
        found = []
        for name in ("reference", "cpu"):
            with select.using(name):
                found.append(result(call))
        with using_shim():
            found.append(result(call))
        assert found[0] == found[1] == found[2], where
        computed += isinstance(found[0], tuple)
    assert computed


def pairs(name):
    for a, b in itertools.product(values(name), repeat=2):
        yield (a, b), Scalar._from_value(a, getattr(dtypes, name)), Scalar._from_value(b, getattr(dtypes, name))


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_element_wise(name):
    one = values(name)[0]
    check(
        ((op, method, which), lambda call=call: call(getattr(binary, op)))
        for which, s, t in pairs(name)
        for op in BINARY
        for method, call in {
            "add": lambda op, s=s, t=t: s.ewise_add(t, op),
            "mult": lambda op, s=s, t=t: s.ewise_mult(t, op),
            "union": lambda op, s=s, t=t: s.ewise_union(t, op, one, one),
        }.items()
        if method == "mult" or op in ("plus", "minus", "ge", "first", "truediv")
    )


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_apply_and_select(name):
    dtype = getattr(dtypes, name)
    held = [(x, Scalar._from_value(x, dtype)) for x in values(name)]
    check(((op, x), lambda op=op, s=s: s.apply(getattr(unary, op))) for x, s in held for op in UNARY)
    check(
        ((op, x, y), call)
        for (x, s), (y, t) in itertools.product(held, held[:-1])
        for op in ("plus", "minus", "first", "lt")
        for call in (
            lambda op=op, s=s, t=t: s.apply(getattr(binary, op), right=t),
            lambda op=op, s=s, t=t: s.apply(getattr(binary, op), left=t),
        )
    )
    check((("rowindex", x), lambda s=s: s.apply(indexunary.rowindex, 2)) for x, s in held)
    check(
        ((op, x, y), lambda op=op, s=s, t=t: s.select(getattr(selects, op), t))
        for (x, s), (y, t) in itertools.product(held, held[:-1])
        for op in ("valueeq", "valuene", *(() if name.startswith("FC") else ("valuelt", "valuege")))
    )


def test_numbers_wrap_and_stay_exact():
    def of(value, dtype):
        return Scalar.from_value(value, dtype)

    with using_shim():
        assert (of(127, "INT8") + of(1, "INT8")).new().value == -128
        assert (-of(-128, "INT8")).new().value == -128
        assert (of(2**64 - 1, "UINT64") + of(1, "UINT64")).new().value == 0
        assert (of(2**63 + 1, "UINT64") - of(2, "UINT64")).new().value == 2**63 - 1
        assert (of(2**53 + 1, "INT64") * 1).new().value == 2**53 + 1
        assert (of(True, "BOOL") ^ of(True, "BOOL")).new().value is False
        assert (of(1 + 2j, "FC64") * of(3 - 1j, "FC64")).new().value == 5 + 5j
        assert (of(0.1, "FP32") + of(0.2, "FP32")).new().value == float(np.float32(0.1) + np.float32(0.2))
        empty = Scalar("INT8")
        assert (empty + of(3, "INT8")).new().value == 3 and (empty * of(3, "INT8")).new().is_empty
        assert [x.new().value for x in divmod(of(7, "INT64"), 2)] == [3, 1]
        s = of(120, "INT8")
        s += 10
        assert s.value == -126 and s.dtype == "INT8"
        assert s.dup("UINT8").value == 130 and s.apply("identity").new("FP32").value == -126.0


def rows(x, y):
    return x + 2 * y


def of_one(x):
    return x * x + 1


@pytest.mark.parametrize("name", ["INT8", "UINT64", "FP64", "FC32"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_user_defined_functions(name):
    both, one = binary.register_anonymous(rows), unary.register_anonymous(of_one)
    keeps = selects.register_anonymous(lambda x, i, j, t: x != t)
    calls = [(which, lambda s=s, t=t: s.ewise_mult(t, both)) for which, s, t in pairs(name)]
    calls += [(which, lambda s=s, t=t: s.ewise_add(t, both)) for which, s, t in pairs(name)]
    calls += [(which, lambda s=s: s.apply(one)) for which, s, _ in pairs(name)]
    calls += [(which, lambda s=s, t=t: s.select(keeps, t)) for which, s, t in pairs(name) if which[1] is not None]
    check(calls)


@pytest.mark.parametrize("kind", [np.dtype([("x", np.int32), ("y", np.float64)]), np.dtype((np.int16, 3))])
def test_user_defined_types(kind):
    dtype = dtypes.register_anonymous(kind)
    later = binary.register_anonymous(lambda x, y: y, is_udt=True)
    same = unary.register_anonymous(lambda x: x, is_udt=True)
    a, b = (gb.Scalar.from_value(x, dtype) for x in (((1, 2.5), (3, 4.5)) if kind.names else ([1, 2, 3], [4, 5, 6])))
    none = Scalar(dtype)
    for op in (binary.first, binary.second, later):
        check(
            ((op, method), lambda op=op, s=s, t=t, method=method: getattr(s, method)(t, op))
            for s, t in itertools.product((a, b, none), repeat=2)
            for method in ("ewise_add", "ewise_mult")
        )
    check((op, lambda op=op, s=s: s.apply(op)) for op in (unary.identity, same) for s in (a, none))
    with using_shim():
        assert a.ewise_mult(b, later).new() == b and a.apply(same).new() == a
        assert a != b and none.apply(same).new().is_empty
