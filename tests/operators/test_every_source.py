"""Functions written in every way: their source is found and lowered, and it is the right one."""

import numpy as np
import pytest

from grb_tile import Vector, unary


def marked(function):
    function.mark = True
    return function


def named(name):
    def rename(function):
        function.mark = name
        return function

    return rename


def plain(x):
    return x + 1


@marked
def decorated(x):
    return x + 2


@marked
@named("twice")
def decorated_twice(x):
    """A decorator of two lines above, a text here."""
    return x + 3


@named(
    "over lines",
)
def decorated_over_lines(x):
    return x + 4


if True:

    def conditional(x):
        return x + 5

else:

    def conditional(x):
        return x - 5


def of_the_same_name(x):
    return x - 6


first_of_the_name = of_the_same_name


def of_the_same_name(x):  # noqa: F811
    return x + 6


class Holder:
    @staticmethod
    def static(x):
        return x + 7


def within():
    def inner(x):
        return x + 8

    return inner


two = (lambda x: x + 9), (lambda x: x + 10)
(over_lines,) = (
    lambda x:
    x
    + 11,
)  # fmt: skip
WAYS = {
    "plain": (plain, 1), "decorated": (decorated, 2), "twice": (decorated_twice, 3),
    "over lines": (decorated_over_lines, 4), "conditional": (conditional, 5), "the second": (of_the_same_name, 6),
    "the first": (first_of_the_name, -6), "static": (Holder.static, 7), "within": (within(), 8),
    "one of two": (two[0], 9),
    "the other": (two[1], 10), "a lambda over lines": (over_lines, 11),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_it_is_lowered_and_is_the_right_one(way):
    function, added = WAYS[way]
    op = unary.register_anonymous(function)
    assert op["INT64"].lowerable, way
    found = Vector.from_dense(np.arange(4)).apply(op).new()
    assert found.to_dense().tolist() == [k + added for k in range(4)]
