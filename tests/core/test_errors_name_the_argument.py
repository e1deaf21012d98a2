"""Constructors and their keywords: a value that does not fit is refused in a text that names the keyword."""

import inspect

import pytest

import grb_tile as gb

M, V = gb.Matrix, gb.Vector
REFUSALS = (ValueError, TypeError, IndexError, OverflowError, gb.exceptions.GraphblasException)
# {constructor: ((arguments that fit), {keyword: values that do not fit})}
CALLS = {
    "Matrix": (lambda **more: M(int, **more), {"nrows": (-1, 1.5, "a"), "ncols": (-1, 1.5, "a")}),
    "Vector": (lambda **more: V(int, **more), {"size": (-1, 1.5, "a")}),
    "Matrix.from_coo": (
        lambda **more: M.from_coo([0, 2], [1, 3], [5, 6], **more),
        {"nrows": (-1, 1.5, "a"), "ncols": (-1, 1.5, "a")},
    ),
    "Vector.from_coo": (
        lambda **more: V.from_coo([0, 2], [5, 6], **more), {"size": (-1, 1.5, "a")},
    ),
    "Matrix.from_csr": (
        lambda **more: M.from_csr([0, 1, 2], [3, 1], [5, 6], **more),
        {"nrows": (1, 3, -1), "ncols": (-1, 1.5, "a")},
    ),
    "Matrix.from_csc": (
        lambda **more: M.from_csc([0, 1, 2], [3, 1], [5, 6], **more),
        {"ncols": (1, 3, -1), "nrows": (-1, 1.5, "a")},
    ),
    "Matrix.from_scalar": (lambda **more: M.from_scalar(3, **{"nrows": 2, "ncols": 2} | more),
                           {"nrows": (-1, 1.5, "a"), "ncols": (-1, 1.5, "a")}),
    "Vector.from_scalar": (lambda **more: V.from_scalar(3, **{"size": 2} | more), {"size": (-1, 1.5, "a")}),
    "Vector.from_dict": (lambda **more: V.from_dict({0: 1}, **more), {"size": (-1, 1.5, "a")}),
    "Matrix.from_dicts": (
        lambda **more: M.from_dicts({0: {1: 2}}, **more), {"nrows": (-1, 1.5, "a"), "ncols": (-1, 1.5, "a")},
    ),
    "Matrix.from_edgelist": (
        lambda **more: M.from_edgelist([(0, 1)], **more), {"nrows": (-1, 1.5, "a"), "ncols": (-1, 1.5, "a")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_the_keyword_is_named(name):
    call, wrong = CALLS[name]
    call()
    for keyword, values in wrong.items():
        for value in values:
            with pytest.raises(Exception) as caught:
                call(**{keyword: value})
            assert keyword in str(caught.value) and isinstance(caught.value, (TypeError, ValueError, OverflowError)), (
                keyword, value, caught.value,
            )  # fmt: skip


@pytest.mark.parametrize("make", [M.from_csr, M.from_csc])
def test_the_arrays_of_a_compressed_matrix_are_named(make):
    """No pointers, pointers that do not begin at 0, descend, or end elsewhere; indices that are none."""
    indices = "column indices" if make == M.from_csr else "row indices"
    for given, words in (
        (([], [], []), "indptr"), (([1, 2], [0, 1], [5, 6]), "index pointers|indptr"),
        (([0, 2, 1], [0, 1], [5, 6]), "indptr"),
        (([0, 1, 9], [0, 1], [5, 6]), "indptr"), (([0, 1], [-1], [5]), indices.split()[0]),
        (([0, 1], [1.5], [5]), indices),
    ):  # fmt: skip
        with pytest.raises(REFUSALS, match=words):
            make(*given)
    with pytest.raises(REFUSALS):
        make([0, 2], [0, 1], [5, 6, 7])


def test_every_keyword_of_a_size_has_a_row():
    for name, (_, wrong) in CALLS.items():
        owner, _, member = name.partition(".")
        made = getattr(gb, owner)
        parameters = inspect.signature(getattr(made, member) if member else made).parameters
        assert {"nrows", "ncols", "size"} & set(parameters) <= set(wrong), name
