"""Edges in tables: data frames of pandas and Polars, tables of pyarrow, none of which is imported here.

Columns are found as in a CSV file with a header, vertices are numbered as in an edge list (docs/FORMATS.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from grb_tile.core.arguments import flags
from grb_tile.io.build import matrix_of_edges
from grb_tile.io.dialect import columns_by_name
from grb_tile.io.edge_list import EdgeList, numbered

if TYPE_CHECKING:
    from .annotations import DTypeLike, DupOp


def is_table(x: Any) -> bool:
    """Is it a data frame of pandas or Polars, or a Table of pyarrow?"""
    return (hasattr(x, "columns") and (hasattr(x, "iloc") or hasattr(x, "get_column"))) or hasattr(x, "column_names")


def is_adjacency(x: Any) -> bool:
    """Is it a data frame of pandas with the same labels of rows and columns: a matrix, and no list of edges?

    Four edges with four columns, none of which has a name, have such labels too.
    """
    if not (hasattr(x, "iloc") and x.shape[0] == x.shape[1] > 0):
        return False
    labels = list(x.columns)
    return labels == list(x.index) and (len(labels) > 4 or not all(isinstance(label, int) for label in labels))


def from_dataframe(
    df: Any,
    source: Any = None,
    target: Any = None,
    weight: Any = None,
    *,
    directed: bool = True,
    dup_op: DupOp | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> EdgeList:
    """A(i, j) = the weight of the edge (row of `df`) from vertex i to vertex j.

    Parameters
    ----------
    df : data frame of pandas or Polars, or Table of pyarrow, one row an edge
    source, target : names of its columns; None: one called source, target (from, to, src, dst ...), else the first and
        second column
    weight : name of the column of weights; None: one called weight (value, cost, length ...), else the first of the
        other columns, if there is one, which must hold numbers; False: no weights, BOOL, all true
    directed : False enters each edge in both directions
    dup_op : combines the weights of repeated edges; "error": they are an error; None: the minimum is stored, and a
        RepeatedEdges warning has their number.  Without weights repeated edges are one entry
    dtype, name : of the matrix

    Columns of categories (Categorical, Enum, dictionaries) are read by their codes; unused ones are no vertices.

    Returns
    -------
    EdgeList(matrix, labels)
        labels is None where the vertices are the integers 0 .. n - 1; range(1, n + 1) where they are 1 .. n; a list of
        integers, ascending, where numbers are missing; a list in order of appearance for all other labels.

    Raises
    ------
    TypeError : `df` is no table
    KeyError : a column is missing; the message lists the columns of `df`
    ValueError : a label or a weight is missing (NaN, None, null), with the row; weights are no numbers

    >>> import pandas as pd
    >>> from grb_tile.io import from_dataframe
    >>> A, labels = from_dataframe(pd.DataFrame({"from": ["ann", "bob"], "to": ["bob", "cyd"], "km": [3, 4]}))
    >>> A.nvals, A.dtype.name, labels
    (2, 'INT64', ['ann', 'bob', 'cyd'])
    >>> from_dataframe(pd.DataFrame({"u": [7, 5], "v": [5, 9]})).labels
    [5, 7, 9]
    """
    flags(directed=directed)
    if is_adjacency(df) and source is None and target is None:
        raise ValueError(
            f"df: rows and columns have the same labels, so it is a matrix ({df.shape[0]} x {df.shape[1]}) and no list "
            "of edges; algorithms.Graph(df) takes it, gb.Matrix.from_dense(df.to_numpy(), missing_value=0) too"
        )
    if not is_table(df):
        raise TypeError(f"df: expected a data frame or a table, got {type(df).__name__}; write pandas.DataFrame(df)")
    source, target, weight = _chosen(df, source, target, weight)
    columns = checked_columns(df, weight)
    rows, cols, labels, count = _vertices(*_ends(df, source, target))
    values = None if weight is None else numbers_of(columns[weight], weight)
    matrix = matrix_of_edges(
        (count, count), rows, cols, values, directed=directed, dtype=dtype, dup_op=dup_op, name=name
    )
    return EdgeList(matrix, labels)


def _names(df: Any) -> list[Any]:
    return list(df.column_names if hasattr(df, "column_names") else df.columns)


def _chosen(df: Any, source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    """The names of the columns; weight None: there is none."""
    if weight is True:
        raise TypeError("weight: expected the name of a column, False (no weights) or None (find it), got True")
    names = _names(df)
    named = [source, target, None if weight is False else weight]
    for column in named:
        _require(names, column)
    if len(names) < 2:
        raise ValueError(f"df: two columns of vertices were expected, and it has {names}; name them: source=, target=")
    given = [None if column is None else names.index(column) for column in named]
    at = columns_by_name([str(column).lower() for column in names], len(names), *given)
    found = [None if k is None else names[k] for k in at]
    return found[0], found[1], None if weight is False else found[2]


def _require(names: list[Any], column: Any) -> None:
    if column is not None and column not in names:
        raise KeyError(f"the data frame has no column {column!r}; it has {names}")


def checked_columns(df: Any, *names: Any) -> dict[Any, Any]:
    """{name: column as an array} of those that are not None.

    Raises: KeyError for a column that `df` has not; ValueError for one with a row without a value.
    """
    found = {}
    for name in names:
        if name is None:
            continue
        _require(_names(df), name)
        found[name], empty = _column(df, name)
        _complete(name, empty)
    return found


def _complete(name: Any, empty: np.ndarray) -> None:
    if empty.size:
        raise ValueError(
            f"column {name!r} has no value in row {empty[0]} (of {empty.size} such rows): drop them, in pandas "
            f"with df.dropna(subset=[{name!r}])"
        )


class Coded(NamedTuple):
    """A column of categories: values[codes[k]] in row k."""

    codes: np.ndarray
    values: list[Any]

    def array(self) -> np.ndarray:
        """The column as pandas has it: of integers where all categories are."""
        whole = all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in self.values)
        values = np.empty(len(self.values), np.int64 if whole and self.values else object)
        values[:] = self.values
        return values[self.codes]


def _ends(df: Any, source: Any, target: Any) -> list[np.ndarray | Coded]:
    """Both columns of vertices: Coded where both have categories that are no numbers, else arrays."""
    coded = [_coded(df, name) for name in (source, target)]
    if all(each is not None and any(isinstance(value, str) for value in each.values) for each in coded):
        return coded  # type: ignore[return-value]
    return [
        checked_columns(df, name)[name] if each is None else each.array()
        for name, each in zip((source, target), coded, strict=True)
    ]


def _coded(df: Any, name: Any) -> Coded | None:
    """A column of pandas' or Polars' categories, or of a dictionary of pyarrow, by its codes; None for others."""
    values = None
    if hasattr(df, "iloc"):
        column = df[name]
        if not hasattr(getattr(column, "dtype", None), "categories"):
            return None
        codes, values = column.cat.codes.to_numpy(), column.cat.categories.tolist()
    elif hasattr(df, "column_names"):
        column = df.column(name)
        if not hasattr(getattr(column, "type", None), "value_type") or not hasattr(column.type, "ordered"):
            return None
        column = column.unify_dictionaries().combine_chunks()
        chunks = getattr(column, "chunks", [column])
        coded = [chunk.indices.cast("int64").fill_null(-1) for chunk in chunks]  # -1: of no unsigned type
        codes = np.concatenate([chunk.to_numpy(zero_copy_only=False) for chunk in coded])
        values = chunks[0].dictionary.to_pylist()
    else:
        column = df.get_column(name)
        if not str(getattr(column, "dtype", "")).startswith(("Categorical", "Enum")):
            return None
        # codes of Polars may be those of a cache that other columns share: each is read where it is first
        codes = column.to_physical().cast(int).fill_null(-1).to_numpy()
    _complete(name, np.flatnonzero(codes < 0))
    if values is None:
        codes, firsts = _in_order(codes)
        values = column.gather(firsts.tolist()).to_list()
    return Coded(codes, values)


def _column(df: Any, name: Any) -> tuple[np.ndarray, np.ndarray]:
    """(the column as an array, the rows where it has no value)"""
    if hasattr(df, "iloc"):
        column = df[name]
        if getattr(column, "ndim", 1) != 1:
            raise ValueError(f"the data frame has several columns called {name!r}; give them names of their own")
        empty = np.flatnonzero(column.isna().to_numpy())
        plain = getattr(column.dtype, "numpy_dtype", None)  # of a type that has its own mark for no value
        if empty.size == 0 and isinstance(plain, np.dtype) and plain.kind in "biuf":
            return column.to_numpy(dtype=plain), empty
        return column.to_numpy(), empty
    column = df.column(name) if hasattr(df, "column_names") else df.get_column(name)
    missing = column.null_count() if callable(column.null_count) else column.null_count  # Polars, pyarrow
    array = np.asarray(column.to_numpy())
    empty = np.flatnonzero(column.is_null().to_numpy()) if missing else np.zeros(0, np.int64)
    if not missing and array.dtype.kind == "f":
        empty = np.flatnonzero(np.isnan(array))
    return array, empty


def numbers_of(array: np.ndarray, name: Any) -> np.ndarray:
    """`array` where it holds numbers.  Raises: ValueError that names the column."""
    if array.dtype.kind not in "biufc":
        raise ValueError(
            f"column {name!r} holds {array.dtype} values, numbers were expected: name another as weight=, or pass "
            "weight=False"
        )
    return array


def _are_whole(ends: np.ndarray) -> bool:
    return bool((ends == np.trunc(ends)).all() and (np.abs(ends) < 2**53).all())


def _vertices(sources: np.ndarray | Coded, targets: np.ndarray | Coded) -> tuple[np.ndarray, np.ndarray, Any, int]:
    """(rows, columns, labels, their number) as an edge list has them."""
    if isinstance(sources, Coded) and isinstance(targets, Coded):
        number: dict[Any, int] = {}
        ends = [
            np.array([number.setdefault(value, len(number)) for value in values], np.int64)[codes]
            for codes, values in (sources, targets)
        ]
        each = np.stack(ends, axis=1).ravel()
        codes, firsts = _in_order(each)
        names = list(number)
        return codes[0::2], codes[1::2], [names[k] for k in each[firsts].tolist()], len(firsts)
    assert isinstance(sources, np.ndarray) and isinstance(targets, np.ndarray)
    edges = sources.size
    if edges and all(end.dtype.kind == "f" and _are_whole(end) for end in (sources, targets)):  # ints that had gaps
        sources, targets = sources.astype(np.int64), targets.astype(np.int64)
    if edges and all(end.dtype.kind in "iu" and end.min() >= 0 and end.max() < 2**60 for end in (sources, targets)):
        return numbered(sources.astype(np.int64, copy=False), targets.astype(np.int64, copy=False), None)
    if sources.dtype != targets.dtype or sources.dtype.kind in "bc":  # a common type may merge large integers
        sources, targets = sources.astype(object), targets.astype(object)
    # in the order in which a file would have them
    codes, labels = _factorized(np.stack([sources, targets], axis=1).ravel())
    return codes[0::2], codes[1::2], labels, len(labels)


def _factorized(values: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """(the number of each value, the values) in order of appearance; by pandas where it is there, which is faster."""
    try:
        import pandas
    except ImportError:  # pragma: no cover
        numbers: dict[Any, int] = {}
        codes = np.fromiter((numbers.setdefault(each, len(numbers)) for each in values.tolist()), np.int64, values.size)
        return codes, list(numbers)
    codes, labels = pandas.factorize(values)
    return codes, labels.tolist()


def _in_order(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(the codes numbered in order of appearance, where each of them is first); a table of all codes up to the last."""
    total = codes.size
    places = np.full(int(codes.max()) + 1 if total else 0, total, np.int64)
    places[codes[::-1]] = np.arange(total - 1, -1, -1)  # of equal codes the last one written stays, which is the first
    order = np.argsort(places, kind="stable")[: np.count_nonzero(places < total)]
    rank = np.empty_like(places)
    rank[order] = np.arange(order.size)
    return rank[codes], places[order]
