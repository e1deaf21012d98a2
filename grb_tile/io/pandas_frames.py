"""Edge lists in pandas data frames, with any labels."""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

from grb_tile.core.arguments import flags
from grb_tile.io.build import matrix_of_edges
from grb_tile.io.errors import missing_library
from grb_tile.io.tables import checked_columns, numbers_of

if TYPE_CHECKING:
    from .annotations import DTypeLike, DupOp

LabelledMatrix = namedtuple("LabelledMatrix", "matrix labels")
LabelledMatrix.__doc__ = (
    """A `matrix` and the pandas Index of the `labels` of its rows: labels.get_loc("ann") is ann's row."""
)


def from_pandas_edgelist(
    df: Any,
    source: Any = "source",
    target: Any = "target",
    weight: Any = None,
    *,
    directed: bool = True,
    dup_op: DupOp | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> LabelledMatrix:
    """A(i, j) = the weight of the edge (row of `df`) from vertex i to vertex j, numbered as `labels` lists them.

    `from_dataframe` takes other tables, too, finds the columns and keeps integers as numbers.

    Parameters
    ----------
    df : pandas.DataFrame, one row an edge
    source, target : names of its columns; any hashable labels
    weight : name of the column of weights; None: BOOL, all true
    directed : False enters each edge in both directions
    dup_op, dtype, name : as in from_dataframe

    Returns
    -------
    LabelledMatrix(matrix, labels)

    Raises
    ------
    KeyError : a column is missing; the message lists the columns of `df`
    ValueError : a label or a weight is missing (NaN, None), with the row

    >>> import pandas as pd
    >>> from grb_tile.io import from_pandas_edgelist
    >>> df = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cyd"], "km": [3, 4]})
    >>> A, labels = from_pandas_edgelist(df, weight="km")
    >>> A.nvals, list(labels)
    (2, ['ann', 'bob', 'cyd'])
    """
    flags(directed=directed)
    try:
        import pandas as pd
    except ImportError:  # pragma: no cover
        raise missing_library("pandas", "read edges from a data frame") from None
    columns = checked_columns(df, source, target, weight)
    ends = [df[source], df[target]]
    if ends[0].dtype != ends[1].dtype:  # their common type may be float, which merges large integers
        ends = [column.astype(object) for column in ends]
    codes, labels = pd.factorize(pd.concat(ends, ignore_index=True))
    labels = pd.Index(labels)
    rows, cols = codes[: len(df)], codes[len(df) :]
    values = None if weight is None else numbers_of(columns[weight], weight)
    shape = len(labels), len(labels)
    matrix = matrix_of_edges(shape, rows, cols, values, directed=directed, dtype=dtype, dup_op=dup_op, name=name)
    return LabelledMatrix(matrix, labels)
