"""HTML forms of graphs and results for notebooks, in the style of those of Matrix and Vector.

A header has the facts, a table below it a few values with the labels of their vertices.  What is shown has a bounded
size, and only that leaves a device.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.core.display_grid import cell_text
from grb_tile.core.display_html import fold, grid_table, info_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grb_tile import Matrix

LONGEST = 40  # characters of a label or a name
ROWS, COLUMNS = 5, 10  # values shown of a Vector; rows and columns shown of a Matrix
FEW = 3  # labels shown of a graph


def graph_html(G: Any, directed: bool | None) -> str:
    """Name, vertices, edges, directed, weighted and labels of a Graph.  directed: None where it is not known yet."""
    A = G.A
    facts: dict[str, Any] = {"vertices": f"{G.n:,}"}
    facts |= {"entries": f"{A.nvals:,}"} if directed is None else {"edges": f"{G.nedges:,}"}
    facts["directed"] = "not asked for yet" if directed is None else _yes(directed)
    same = A.dtype.name == "BOOL" or A.ss.is_iso
    facts["weighted"] = f"{_yes(not same)} ({A.dtype.name}{', all the same' if same and A.ss.is_iso else ''})"
    if G.labels is not None:
        facts["labels"] = ", ".join(map(text, G.labels[:FEW])) + (", ..." if len(G.labels) > FEW else "")
    name = f"<tt>{escape(text(G.name))}</tt>" if G.name else ""
    return fold(name + info_table("Graph", list(facts), list(facts.values())), "")


def result_html(kind: str, facts: dict[str, Any], table: str) -> str:
    """The facts of a result of class `kind`, and a table of values below them."""
    values = [value if isinstance(value, str) else _fact(value) for value in facts.values()]
    return fold(info_table(kind, list(facts), values), table)


def report_facts(report: Any) -> dict[str, Any]:
    """What a Report says in a header: algorithm, iterations, converged, weighted, seconds."""
    facts = {"algorithm": report.algorithm, "iterations": report.iterations}
    if report.converged is not None:
        facts |= {"converged": report.converged, "stopped by": report.stopped_by}
    return facts | {"weighted": report.weighted, "seconds": f"{report.seconds:.3g}"}


def values_table(corner: str, columns: Sequence[str], rows: Sequence[tuple[Any, Sequence[Any]]], cut: bool) -> str:
    """A row of values for each label; None: absent.  cut: whether there are more rows."""
    labels = [text(label) for label, _ in rows]
    body = [["" if value is None else _cell(value) for value in values] for _, values in rows]
    if cut:
        labels.append("...")
        body.append(["..."] * len(columns))
    return grid_table(corner, columns, labels, body) if rows else ""


def matrix_table(M: Matrix, row_labels: Any, column_labels: Any, shown: Any) -> str:
    """The first rows and columns of M.

    row_labels, column_labels: functions that give the label of a number; shown: one that gives what a value is.
    """
    rows, columns = list(range(min(M.nrows, ROWS))), list(range(min(M.ncols, COLUMNS)))
    if not (rows and columns):
        return ""
    part: Any = M[rows, columns].new()
    found = {i: {j: shown(x) for j, x in row.items()} for i, row in part.to_dicts().items()}
    more = ["..."] if M.ncols > COLUMNS else []
    table = [(row_labels(i), [found.get(i, {}).get(j) for j in columns] + more) for i in rows]
    return values_table("", [text(column_labels(j)) for j in columns] + more, table, M.nrows > ROWS)


def text(label: Any) -> str:
    """A label or a name, cut to LONGEST characters."""
    found = str(label)
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 3]}..."


def _cell(value: Any) -> str:
    return text(cell_text(np.float64(value)) if isinstance(value, float) else value)


def _fact(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}" if isinstance(value, float) else text(value)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"
