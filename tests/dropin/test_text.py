"""The text form of objects and expressions is python-graphblas's, apart from the `format` column.

python-graphblas shows tables through pandas, and so does grb_tile once pandas is imported.  Which format holds the
entries is each library's own affair, so that column is cut away on both sides before the texts are compared.
"""

import numpy as np
import pytest

import grb_tile

theirs = pytest.importorskip("graphblas")
pandas = pytest.importorskip("pandas")


def without_format(text):
    """`text` with the header's last column, when it is `format`, and the rule below the header cut away."""
    lines = text.split("\n")
    kept = []
    for k, line in enumerate(lines):
        if set(line) == {"-"}:
            continue
        if line.rstrip().endswith("  format"):
            for below in range(k + 1, len(lines)):
                if lines[below].startswith("---"):
                    last = below - 1
                    break
            else:
                last = k + 1
            words = lines[last].removesuffix(" (iso)").rstrip()
            lines[last] = words[: words.rindex("  ")]
            line = line.rstrip().removesuffix("format")
        kept.append(line.rstrip())
    return "\n".join(kept)


def matrix(gb, rows, cols, values, nrows, ncols, dtype=None, name="A"):
    return gb.Matrix.from_coo(rows, cols, values, dtype, nrows=nrows, ncols=ncols, name=name)


def vector(gb, indices, values, size, dtype=None, name="v"):
    return gb.Vector.from_coo(indices, values, dtype, size=size, name=name)


CASES = {
    "small ints": lambda gb: matrix(gb, [0, 0, 0], [0, 2, 4], [0, 1, 2], 1, 5),
    "transposed": lambda gb: matrix(gb, [0, 0, 0], [0, 2, 4], [0, 1, 2], 1, 5).T,
    "floats": lambda gb: matrix(gb, [0, 1, 2], [1, 0, 2], [1.5, -2.25e-7, 3e30], 3, 3),
    "nan": lambda gb: vector(gb, [0, 1, 3], [1.0, np.nan, np.inf], 4),
    "complex": lambda gb: vector(gb, [0, 3], [1 + 2j, -0.5j], 4),
    "bools": lambda gb: matrix(gb, [0, 1], [1, 0], [True, False], 2, 2),
    "narrow": lambda gb: matrix(gb, [0, 1], [1, 0], [-3, 100], 2, 2, "INT8"),
    "empty": lambda gb: gb.Matrix(int, 2, 3, name="A"),
    "no rows": lambda gb: gb.Matrix(float, 0, 3, name="A"),
    "empty vector": lambda gb: gb.Vector("FP32", 3, name="v"),
    "no size": lambda gb: gb.Vector(int, name="v"),
    "wide vector": lambda gb: vector(gb, [0, 5, 71, 76], [1, 2, 3, 4], 77),
    "large": lambda gb: matrix(
        gb, [0, 0, 0, 35, 35, 69, 69, 69], [4, 39, 72, 4, 39, 4, 39, 72], range(8), 70, 77, name="C"
    ),
    "sparse vector": lambda gb: vector(gb, np.arange(100) ** 2, np.arange(100), 9901),
    "sparse matrix": lambda gb: matrix(gb, np.arange(100) ** 2, np.arange(100) * 10, np.arange(100), 9901, 991),
    "huge": lambda gb: matrix(gb, [0, 2**40], [3, 2**50], [1.0, 2.0], 2**41, 2**51),
    "structure": lambda gb: matrix(gb, [0, 1], [1, 0], [0, 3], 2, 2).S,
    "no structure": lambda gb: ~matrix(gb, [0, 1], [1, 0], [0, 3], 2, 2).S,
    "values": lambda gb: matrix(gb, [0, 1], [1, 0], [0, 3], 2, 2).V,
    "no values": lambda gb: ~vector(gb, [0, 1], [0, 3], 3).V,
    "sparse values": lambda gb: vector(gb, np.arange(100) ** 2, np.arange(100) % 3, 9901).V,
    "no sparse values": lambda gb: (
        ~matrix(gb, np.arange(100) ** 2, np.arange(100) * 10, np.arange(100) % 3, 9901, 991).V
    ),
    "scalar": lambda gb: gb.Scalar.from_value(5, name="s"),
    "empty scalar": lambda gb: gb.Scalar("FP32", name="s"),
    "mxm": lambda gb: (lambda A: A.mxm(A, "min_plus"))(matrix(gb, [0, 1], [1, 0], [1, 2], 2, 2)),
    "mxv": lambda gb: matrix(gb, [0, 1], [1, 0], [1, 2], 2, 2).mxv(vector(gb, [0], [1.5], 2)),
    "apply": lambda gb: gb.binary.plus(vector(gb, [0], [1.5], 2), 2),
    "select": lambda gb: gb.select.tril(matrix(gb, [0, 1], [1, 0], [1, 2], 2, 2)),
    "union": lambda gb: vector(gb, [0], [1], 2) | vector(gb, [1], [2], 2, name="w"),
    "reduce": lambda gb: vector(gb, [0], [1], 2).reduce("max"),
    "extract": lambda gb: matrix(gb, [0, 1], [1, 0], [1, 2], 2, 2)[[0, 1], 0],
    "element": lambda gb: vector(gb, [0], [1], 2)[0],
}


@pytest.fixture(scope="module", autouse=True)
def _started():
    theirs.init("suitesparse", blocking=False)


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize("autocompute", [False, True])
@pytest.mark.parametrize("columns", [0, 26])
def test_same_text(case, autocompute, columns):
    options = ("display.max_columns", columns, "display.width", 100, "display.max_rows", 60, "display.min_rows", 10)
    texts = []
    with pandas.option_context(*options):
        for gb in (theirs, grb_tile):
            with gb.config.set(autocompute=autocompute):
                texts.append(without_format(repr(CASES[case](gb))))
    assert texts[1] == texts[0]


@pytest.mark.parametrize("case", ["small ints", "floats", "nan", "large", "values", "empty"])
def test_same_table_in_html(case):
    """The markup around it is our own; the table itself is pandas's."""
    tables = []
    for gb in (theirs, grb_tile):
        text = CASES[case](gb)._repr_html_()
        tables.append(text[text.index('class="dataframe"') : text.rindex("</table>")])
    assert tables[1] == tables[0]


def test_the_cut_takes_only_the_format():
    one = '"v"        nvals  size  dtype  format\ngb.Vector      3     5   FP64  sparse\n-----\nindex  0 1\nvalue  1'
    two = one.replace("  sparse", "  bitmap (iso)")
    assert without_format(one) == without_format(two)
    assert without_format(one) != without_format(one.replace("FP64", "INT8"))
    assert without_format(one) != without_format(one.replace("index  0 1", "index  0  1"))
