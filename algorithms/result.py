"""The results of algorithms: values by vertex, with the labels of the graph's vertices.

    found = alg.pagerank(G)
    found.values           the Vector (of a search from several sources: the Matrix with a row for each)
    found.to_numpy()       an array with a value for each vertex
    found.to_dict()        {label: value}
    found.to_pandas()      a DataFrame indexed by label, with a column for each Vector of the result
    found.top(3)           [(label, value), ...], the greatest first
    found.report           what was done

A notebook shows a result as its facts and a few values with their labels: the greatest, or where the numbers only name
groups or vertices (`_ranked`), those of the first vertices.

Where the Graph has no labels, a vertex's label is its number.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np

from grb_tile import Matrix, Vector, binary, monoid, select, semiring, unary

from . import arguments, display_html

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from .report import Report

    Kind = TypeVar("Kind", bound="Vector | Matrix", default=Vector)  # of a result: by vertex, or by source and vertex
else:
    from typing import TypeVar

    Kind = TypeVar("Kind")

NOT_ASKED_FOR: Any = None  # in the place of values: typed as if they were there, because who reads them has asked
# Entries among which NumPy finds the greatest.  Of more, GraphBLAS selects them where they are stored, because a copy
# of more from a GPU takes longer than the selection.
MOST_COPIED = 1 << 16


@dataclass(frozen=True)
class Result:
    """Base of all results: conversions that keep the labels of the vertices.  A subclass has `values`.

    vertices   the labels of the vertices (Graph.labels), None where they are numbers
    sources    of a Matrix: the vertex that each row belongs to, None where row i belongs to vertex i
    """

    _ranked: ClassVar[bool] = True
    _of_vertices: ClassVar[frozenset[str]] = frozenset()  # fields whose values are vertices, shown by their labels
    vertices: Sequence[Any] | None = field(default=None, kw_only=True, repr=False)
    sources: Sequence[int] | None = field(default=None, kw_only=True, repr=False)

    def to_numpy(self, fill: Any = None) -> np.ndarray:
        """values as an array in the order of the vertices; `fill` where a vertex has none.

        Raises: ValueError when a vertex has no value and no fill is given.
        """
        values: Any = self.values  # type: ignore[attr-defined]
        absent = _size(values) - values.nvals
        if fill is None and absent:
            raise ValueError(
                f"fill: {absent} of {_size(values)} values are absent (not reached, or not asked for); name what "
                "stands for them, as in to_numpy(-1), or use to_dict()"
            )
        if fill is None and isinstance(values, Vector):
            return values.to_coo(indices=False)[1]
        return values.to_dense(0 if fill is None else fill)

    def to_dict(self) -> dict[Any, Any]:
        """{label: value} of the vertices that have one; of a Matrix {label of the source: {label: value}}.

        A value that is a vertex, such as a parent, is its label.
        """
        values: Any = self.values  # type: ignore[attr-defined]
        name = next((name for name, each in self._columns().items() if each is values), "")
        if isinstance(values, Vector):
            at, found = values.to_coo()
            return dict(zip(self._labels(at), self._shown(name, found), strict=True))
        rows = {
            k: dict(zip(self._labels(list(row)), self._shown(name, list(row.values())), strict=True))
            for k, row in values.to_dicts().items()
        }
        return {label: rows.get(k, {}) for k, label in enumerate(self._row_labels(range(values.nrows)))}

    def to_pandas(self) -> Any:
        """A DataFrame indexed by label; a column for each Vector, NaN (or <NA>) where a vertex has no value.

        Of a Matrix: a row for each entry, with the columns source, vertex and one for each Matrix.
        """
        import pandas

        columns = self._columns()
        first = next(iter(columns.values()))
        if isinstance(first, Matrix):
            return self._long(pandas, columns)
        reached = sorted(set().union(*(v.to_coo(values=False)[0].tolist() for v in columns.values())))
        if len(reached) == first.size and self.vertices is not None:
            index = pandas.Index(self.vertices, name="vertex")
        else:
            index = pandas.Index(self._labels(reached), name="vertex")
        found = {name: self._column(pandas, name, v, reached) for name, v in columns.items()}
        return pandas.DataFrame(found).set_index(index)

    def top(self, k: int = 10, *, smallest: bool = False) -> list[tuple[Any, Any]]:
        """The k greatest (or smallest) values with their labels, in this order; equal ones by the number of the vertex.

        Raises: TypeError, ValueError for k; TypeError where values is a Matrix.
        """
        values: Any = self.values  # type: ignore[attr-defined]
        arguments.flags(smallest=smallest)
        count = arguments.count(k, "k")
        if not isinstance(values, Vector):
            raise TypeError(
                "top: values is a Matrix, which has no order of vertices; take a row of it: found.values[0, :]"
            )
        at, found = _top(values, count, smallest)
        return list(zip(self._labels(at), found.tolist(), strict=True))

    def _repr_html_(self) -> str:
        facts: dict[str, Any] = self._facts()
        report = getattr(self, "report", None)
        if report is not None:
            facts = {**display_html.report_facts(report), **facts}
        return display_html.result_html(type(self).__name__, facts, self._table(display_html.ROWS))

    def _facts(self) -> dict[str, Any]:
        """The size of the values, and the numbers among the fields, for the header in a notebook."""
        values: Any = self.values  # type: ignore[attr-defined]
        facts: dict[str, Any] = {"vertices": _size(values)} if isinstance(values, Vector) else {}
        facts |= {"values": values.nvals, "dtype": values.dtype.name}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if each.name not in ("vertices", "sources", "n") and isinstance(value, (bool, int, float, np.number)):
                facts[each.name] = value.item() if isinstance(value, np.number) else value
        return facts

    def _table(self, most: int) -> str:
        """The HTML table of the greatest or first values, of a Matrix that of its first rows and columns."""
        values: Any = self.values  # type: ignore[attr-defined]
        if not isinstance(values, Vector):
            name = next((name for name, each in self._columns().items() if each is values), "")
            return display_html.matrix_table(
                values, lambda k: self._row_labels([k])[0], self._label, lambda x: self._shown(name, [x])[0]
            )
        at = _top(values, most, False)[0] if self._ranked else values.ss.selectk("first", most).to_coo(values=False)[0]
        rows = at.tolist()
        columns = {name: v for name, v in self._columns().items() if isinstance(v, Vector) and v.size == values.size}
        columns = columns or {values.name: values}
        found = []
        for name, v in columns.items() if rows else ():
            places, numbers = v[rows].new().to_coo()
            found.append(dict(zip(places.tolist(), self._shown(name, numbers), strict=True)))
        table = [(self._label(i), [column.get(k) for column in found]) for k, i in enumerate(rows)]
        return display_html.values_table("vertex", list(columns), table, values.nvals > len(rows))

    def _columns(self) -> dict[str, Any]:
        found = {}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if isinstance(value, (Vector, Matrix)):
                found[value.name if each.name == "values" else each.name] = value
        return found

    def _column(self, pandas: Any, name: str, v: Vector, reached: list[int]) -> Any:
        at, found = v.to_coo()
        if self._is_labelled(name):
            return pandas.Series(self._labels(found), at).reindex(reached).array
        if at.size == len(reached):
            return found
        return pandas.Series(found, at).convert_dtypes(convert_floating=False).reindex(reached).array

    def _long(self, pandas: Any, columns: dict[str, Matrix]) -> Any:
        frame = None
        for name, M in columns.items():
            i, j, x = M.to_coo()
            x = self._labels(x) if self._is_labelled(name) else x
            part = pandas.DataFrame({"source": self._row_labels(i), "vertex": self._labels(j), name: x})
            frame = part if frame is None else frame.merge(part, how="outer", on=["source", "vertex"])
        return frame

    def _label(self, number: int) -> Any:
        return number if self.vertices is None else self.vertices[number]

    def _row_labels(self, rows: Any) -> list[Any]:
        """What rows of a Matrix are called: the labels of their vertices."""
        return self._labels(rows if self.sources is None else np.asarray(self.sources, np.int64)[rows])

    def _labels(self, numbers: Any) -> list[Any]:
        numbers = numbers.tolist() if hasattr(numbers, "tolist") else numbers
        return numbers if self.vertices is None else [self.vertices[i] for i in numbers]

    def _is_labelled(self, name: str) -> bool:
        """Are the values of the field vertices that have labels?"""
        return name in self._of_vertices and self.vertices is not None

    def _shown(self, name: str, numbers: Any) -> list[Any]:
        """Values of a field: numbers as they are, vertices by their labels."""
        if name in self._of_vertices:
            return self._labels(numbers)
        return numbers.tolist() if hasattr(numbers, "tolist") else numbers


@dataclass(frozen=True)
class VertexResult(Result, Generic[Kind]):
    """values (a Vector: a value by vertex, or a Matrix: a row by source), report.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import Graph, triangles
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], nrows=4, ncols=4)
    >>> found = triangles(Graph(A, labels=["ann", "bob", "cyd", "dan"]))
    >>> found.to_dict()
    {'ann': 1, 'bob': 1, 'cyd': 1, 'dan': 0}
    >>> found.top(2)
    [('ann', 1), ('bob', 1)]
    >>> found.to_numpy().tolist()
    [1, 1, 1, 0]
    """

    values: Kind
    report: Report


@dataclass(frozen=True)
class EdgeResult(Result):
    """values (a Matrix: a value by edge), report; `directed`: whether i -> j and j -> i are two edges.

    to_dict() is {(label, label): value}; an undirected edge is there once, the vertex of the lesser number first.
    """

    values: Matrix
    report: Report
    directed: bool = True

    def to_coo(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(vertices, vertices, values): an undirected edge once, the lesser number first."""
        i, j, x = self.values.to_coo()
        once = slice(None) if self.directed else i <= j
        return i[once], j[once], x[once]

    def to_dict(self) -> dict[Any, Any]:
        """{(label, label): value}."""
        i, j, x = self.to_coo()
        return dict(zip(zip(self._labels(i), self._labels(j), strict=True), x.tolist(), strict=True))

    def to_numpy(self, fill: Any = None) -> np.ndarray:
        """The values in the order of to_coo(); `fill` is not needed."""
        return self.to_coo()[2]

    def to_pandas(self) -> Any:
        """A DataFrame with the columns source, target and the name of the values."""
        import pandas

        i, j, x = self.to_coo()
        return pandas.DataFrame({"source": self._labels(i), "target": self._labels(j), self.values.name: x})

    def top(self, k: int = 10, *, smallest: bool = False) -> list[tuple[Any, Any]]:
        """The k greatest (or smallest) values with their edges, equal ones in the order of to_coo().

        Raises: TypeError, ValueError for k.
        """
        arguments.flags(smallest=smallest)
        count = arguments.count(k, "k")
        i, j, x = self._greatest_rows(count, smallest).to_coo()
        order = _first(x, count, smallest)
        edges = zip(self._labels(i[order]), self._labels(j[order]), strict=True)
        return list(zip(edges, x[order].tolist(), strict=True))

    def _greatest_rows(self, k: int, smallest: bool) -> EdgeResult:
        """The rows that have the k greatest (smallest) values; all where these are few.

        Each row whose greatest value comes before that of another row has a value that comes before all of the other.
        """
        if self.values.nvals <= MOST_COPIED or not _is_ordered(self.values):
            return self
        once = self.values if self.directed else select.triu(self.values).new()
        of_rows = once.reduce_rowwise(monoid.min if smallest else monoid.max).new()
        rows = Vector.from_coo(_top(of_rows, k, smallest)[0], True, size=of_rows.size)
        # E<rows> = E : whole rows
        return EdgeResult(semiring.any_second(rows.diag() @ once).new(), self.report, directed=self.directed)

    def _table(self, most: int) -> str:
        rows = [(" - ".join(map(display_html.text, edge)), [x]) for edge, x in self.top(most + 1)]
        return display_html.values_table("edge", [self.values.name], rows[:most], len(rows) > most)


def _size(values: Any) -> int:
    return values.size if isinstance(values, Vector) else values.nrows * values.ncols


def _is_ordered(values: Any) -> bool:
    return values.dtype.np_type.kind in "biuf"


def _top(values: Vector, k: int, smallest: bool) -> tuple[np.ndarray, np.ndarray]:
    """(positions, values) of the k greatest (smallest) entries, in this order, equal ones by position; no NaN."""
    if values.nvals > MOST_COPIED > k > 0 and _is_ordered(values):
        values = _selected(values, k, smallest)
    at, found = values.to_coo()
    order = _first(found, k, smallest)
    return at[order], found[order]


def _selected(values: Vector, k: int, smallest: bool) -> Vector:
    """Fewer than 2 k entries, among them those that _top gives."""
    if values.dtype.np_type.kind == "f":
        # v<!isnan(v)> = v
        values = values.dup(mask=~unary.isnan(values).new().V)
    how, worst, before = (
        ("smallest", monoid.max, select.valuelt) if smallest else ("largest", monoid.min, select.valuegt)
    )
    # t = the k-th value;  w = v before t, and the first that equal t
    t = values.ss.selectk(how, k).reduce(worst).new()
    w = before(values, t).new()
    w(binary.first) << select.valueeq(values, t).new().ss.selectk("first", k)
    return w


def _first(found: np.ndarray, k: int, smallest: bool) -> np.ndarray:
    """Positions of the k greatest (smallest) of an array, in this order, equal ones in their order; NaN is last."""
    keep = np.arange(found.size)
    if found.dtype.kind == "f":
        keep = keep[~np.isnan(found)]
    if 0 < k < keep.size:
        cut = k - 1 if smallest else keep.size - k
        bound = np.partition(found[keep], cut)[cut]
        keep = keep[found[keep] <= bound if smallest else found[keep] >= bound]
    # Reversing twice keeps equal values in their order: the sort is stable on the reversed array.
    order = np.argsort(found[keep], kind="stable") if smallest else np.argsort(found[keep][::-1], kind="stable")[::-1]
    order = order if smallest else keep.size - 1 - order
    return keep[order][:k]
