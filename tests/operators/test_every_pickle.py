"""Operators of each class, built in, named and anonymous, typed and not: what comes out of a pickle is the same."""

import pickle

import pytest

import grb_tile as gb
from grb_tile import Vector, binary, indexunary, monoid, select, semiring, unary


def f(x):
    return x + 1


def g(x, y):
    return x - 2 * y


def smaller(x, y):
    return x if x < y else y


def h(x, i, j, thunk):
    return x + thunk


def k(x, i, j, thunk):
    return x > thunk


def made():
    """{label: operator}"""
    minus = binary.register_anonymous(g, "difference")
    # not of binary.min, whose monoid this one would be from then on, as in python-graphblas
    least = monoid.register_anonymous(binary.register_anonymous(smaller, "smaller"), 10**6, "least")
    return {
        "unary": unary.register_anonymous(f, "next"), "binary": minus, "monoid": least,
        "semiring": semiring.register_anonymous(least, minus, "nearest"),
        "index": indexunary.register_anonymous(h, "shifted"), "select": select.register_anonymous(k, "above"),
        "of a built-in monoid": semiring.register_anonymous(monoid.plus, minus, "sums"),
        "built in": unary.abs, "of numpy": binary.numpy.hypot, "of ss": semiring.ss.min_firsti,
        "built-in semiring": semiring.min_plus, "built-in monoid": monoid.lor,
    }  # fmt: skip


@pytest.mark.parametrize("label", made())
def test_names_and_texts(label):
    op = made()[label]
    for one in (op, op["INT64"] if "INT64" in op else op["BOOL"]):
        found = pickle.loads(pickle.dumps(one))
        assert type(found) is type(one) and repr(found) == repr(one) and found.name == one.name
        assert getattr(found, "_anonymous", None) == getattr(one, "_anonymous", None)
        for part in ("monoid", "binaryop"):
            if getattr(one, part, None) is not None:
                assert repr(getattr(found, part)) == repr(getattr(one, part)), part


def test_values():
    v, w = Vector.from_dense([1, 5, 2]), Vector.from_dense([4, 0, 3])
    found = {label: pickle.loads(pickle.dumps(op)) for label, op in made().items()}
    assert v.apply(found["unary"]).new().to_dense().tolist() == [2, 6, 3]
    assert v.ewise_mult(w, found["binary"]).new().to_dense().tolist() == [-7, 5, -4]
    assert v.reduce(found["monoid"]).new() == 1
    assert v.inner(w, found["semiring"]).new() == -7
    assert v.apply(found["index"], 10).new().to_dense().tolist() == [11, 15, 12]
    assert v.select(found["select"], 1).new().nvals == 2
    assert gb.Vector.from_dense([3]).inner(gb.Vector.from_dense([1]), found["of a built-in monoid"]).new() == 1
