"""What is printed: each value at its row and column, and the result of an expression where autocompute says so."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

import grb_tile as gb
from grb_tile.core import display, display_grid, display_pandas
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


@pytest.mark.parametrize("kind", ["S", "V", "~S", "~V"])
@pytest.mark.parametrize("ndim", [1, 2])
def test_a_mask_is_shown_as_what_it_allows(kind, ndim):
    """1 where an entry's position may be written, else 0: in the text, in pandas's table and in the page."""
    v = gb.Vector.from_coo([0, 2, 3], [True, False, True], size=5)
    x = v if ndim == 1 else v._as_matrix().T.new()
    mask = getattr(x, kind[-1])
    mask = ~mask if kind[0] == "~" else mask
    allowed = {i: int((kind[-1] == "S" or value) != (kind[0] == "~")) for i, value in v.to_dict().items()}
    wanted = {("value" if ndim == 1 else "0", str(i)): str(allow) for i, allow in allowed.items()}
    assert in_frame(display_pandas.frame(x, mask)) == wanted
    corner, columns, labels, body = display_grid.grid(x, mask)
    assert {(a, b): text for a, row in zip(labels, body) for b, text in zip(columns, row) if text} == wanted
    cells = re.findall(r"<td>(\d)</td>", mask._repr_html_())
    assert cells[-3:] == [str(allow) for allow in allowed.values()]


@pytest.mark.parametrize("value, text", [
    (np.float64("nan"), "nan"), (np.float64(0), "0.0"), (np.float32(1.5), "1.5"), (np.float64(2), "2.0"),
    (np.float64(1e-4), "0.0001"), (np.float64(9.9e-5), "9.9e-05"), (np.float64(9999999.0), "9999999.0"),
    (np.float64(1e7), "1e+07"), (np.float64(-1e7), "-1e+07"), (np.float64(1 / 3), "0.333333"), (np.int8(-3), "-3"),
    (np.float64(np.inf), "inf"), (np.bool_(True), "True"), (np.complex64(1 + 2j), "(1+2j)"), (np.float64(100), "100.0"),
])  # fmt: skip
def test_values_as_text(value, text):
    assert display_grid.cell_text(value) == text


@pytest.mark.parametrize("draw", range(12))
def test_as_many_columns_as_fit(draw):
    """All columns if they fit; else from both ends in turn, the left one first, until the next is too wide."""
    rng = generator("columns", draw)
    columns = [*range(7), None, *range(90, 97)] if draw % 2 else list(range(15))
    known = [j for j in columns if j is not None]
    table = {(0, j): "x" * int(rng.integers(1, 12)) for j in known} | {
        (1, j): "y" * int(rng.integers(1, 12)) for j in known
    }
    widths = {j: max(len(str(j)), *(len(table[i, j]) for i in (0, 1))) + 2 for j in known}
    total = sum(widths.values()) + 8
    assert display_grid._fitting(columns, table, total) == columns
    for width in (total - 1, total // 2, 40, 30, 12):
        shown = display_grid._fitting(columns, table, width)
        cut = shown.index(None)
        left, right = shown[:cut], shown[cut + 1 :]
        assert (
            left == known[: len(left)]
            and right == known[len(known) - len(right) :]
            and len(left) - len(right) in (0, 1)
        )
        used = 12 + sum(widths[j] for j in (*left, *right))
        following = known[len(left)] if len(left) == len(right) else known[-len(right) - 1]
        assert (used <= width or not left) and used + widths[following] > width


@pytest.mark.parametrize("count", [9, 10, 11, 59, 60, 61])
def test_a_list_ends_with_dots_where_entries_are_left_out(count):
    """Entries in a corner that the grid does not show: a list of them; all of 60, ten of more."""
    at = np.arange(count) + 300
    for x in (gb.Vector.from_coo(at, at, size=1000), gb.Matrix.from_coo(at, at, at, nrows=1000, ncols=1000)):
        _, names, labels, body = display_grid.grid(x)
        shown = count if count <= 60 else 10
        positions = [str(300 + k) for k in range(shown)]
        rows = [[p] * (x.ndim + 1) for p in positions]
        assert names == (["index", "val"] if x.ndim == 1 else ["row", "col", "val"])
        assert body == rows + [["..."] * len(names)] * (shown < count)
        assert labels == [str(k) for k in range(shown)] + ["..."] * (shown < count)
        data = display_pandas.frame(x)
        assert [list(map(str, row)) for row in data.values.tolist()] == body
