"""What is printed: each value at its row and column, and the result of an expression where autocompute says so."""

import re
import sys

import pandas as pd
import pytest

import grb_tile as gb
from grb_tile.core import display, display_pandas
from support.library import LIBRARY
from support.seeds import generator
from support.stored import MATRIX_FORMS, VECTOR_FORMS, stored

if LIBRARY == "graphblas":
    pytest.skip("python-graphblas prints by pandas", allow_module_level=True)


def is_list(head):
    return list(head) in (["index", "val"], ["row", "col", "val"])


def in_text(text):
    """{(row, column): value} of the grid that is printed without pandas, whose columns end as their labels end."""
    head, *lines = text.partition("\n---")[2].splitlines()[1:]
    if is_list(head.split()):
        entries = [["value", *line.split()[1:]][-3:] for line in lines if not line.startswith("...")]
        return {(row, column): value for row, column, value in entries}
    ends = {label.end(): label.group() for label in re.finditer(r"\S+", head)}
    found = {}
    for line in lines:
        row, *words = re.finditer(r"\S+", line)
        found |= {(row.group(), ends[word.end()]): word.group() for word in words if word.group().strip(".")}
    return found


def in_frame(data):
    """The same of pandas's DataFrame."""
    if is_list(data.columns):
        entries = [["value", *map(str, row)][-3:] for row in data.values.tolist() if "..." not in row]
        return {(row, column): value for row, column, value in entries}
    return {(str(i), str(j)): str(x) for j, column in data.items() for i, x in column.items() if x not in ("", "...")}


@pytest.mark.parametrize("pandas", [False, True])
@pytest.mark.parametrize("shape", [(6,), (15,), (400,), (3, 4), (9, 70), (130, 5), (130, 70)], ids=str)
def test_values_stand_at_their_row_and_column(shape, pandas, monkeypatch):
    assert pd.__name__ in sys.modules  # its tables are printed where it is loaded
    if not pandas:
        monkeypatch.setattr(display, "as_text", lambda *_: None)
    rng = generator("shown", *shape)
    for form in VECTOR_FORMS if len(shape) == 1 else MATRIX_FORMS:
        given = stored(rng, shape, "INT64", form)
        if "iso" not in form:  # a value for each position
            given.values[:] = sum(k * index for k, index in zip((1, 1000), given.indices[::-1]))
        A = given.build(gb)
        for x in (A,) if A.ndim == 1 else (A, A.T):
            rows = {"value": x.to_dict()} if x.ndim == 1 else x.to_dicts()
            wanted = {(str(i), str(j)): str(value) for i, row in rows.items() for j, value in row.items()}
            shown = in_frame(display_pandas.frame(x)) if pandas else in_text(repr(x))
            if x.ndim == 2 and form != "empty":
                assert len({row for row, _ in shown}) > 1
            assert len(shown) >= min(len(wanted), 4), form
            assert shown == {at: wanted.get(at) for at in shown}, form


@pytest.mark.parametrize("autocompute", [False, True])
def test_the_result_of_an_expression_is_shown_where_it_is_computed(autocompute):
    rng = generator("results")
    A, B = (stored(rng, (5, 5), "INT64", "csr").build(gb) for _ in range(2))
    v, w = (stored(rng, (5,), "INT64", "sparse").build(gb) for _ in range(2))
    C, s = A.dup(bool), gb.Scalar.from_value(3)
    computed = (
        A.mxv(v), A @ B, v @ w, A.apply("ainv"), v.apply("abs"), A.ewise_add(B), A.ewise_mult(B, "minus"), A.T.mxm(B),
        A.select("tril"), v.select(">", 1), A.reduce_rowwise(), A.reduce_scalar(), v.reduce(), A[1, :], v[[0, 2]],
        A[0, 0], v[1], A.kronecker(B), C | C, C & C, A.power(2), A.ewise_union(B, "minus", 1, 2), s.apply("ainv"),
    )  # fmt: skip
    with gb.config.set(autocompute=autocompute):
        for x in computed:
            assert ('"Result"' in repr(x)) == ("Result" in x._repr_html_()) == autocompute, repr(x)
        for x in (A | B, A & B, v | w, v & w):
            assert '"Result"' not in repr(x)
