"""HTML forms for notebooks: the header and the table of display.py, with a fold."""

from html import escape

from ..config import config
from ..exceptions import OutOfMemory
from . import display, display_grid
from .display_pandas import as_html

CSS_STYLE = """
<style>
table.gb-info-table { border: 1px solid black; max-width: 100%; margin: 0; padding: 0; }
td.gb-info-name-cell { white-space: nowrap; }
details.gb-arg-details, details.gb-expr-details { margin: 0 0 0 10px; padding: 0 0 5px 0; }
summary.gb-arg-summary, summary.gb-expr-summary { display: list-item; outline: none; margin: 0 0 0 -10px; }
table.dataframe { margin: 0; padding: 0; text-align: right; }
.gb-scalar { margin: 0; padding: 0 0 5px 0; }
</style>
"""


def info_table(name, keys, values):
    """A box with the name at the left and facts beside it."""
    keys = "".join(f"<td><pre>{escape(str(key))}</pre></td>" for key in keys)
    values = "".join(f"<td>{escape(str(value))}</td>" for value in values)
    name = f'<td rowspan="2" class="gb-info-name-cell"><pre>{name}</pre></td>'
    return f'<div><table class="gb-info-table"><tr>{name}{keys}</tr><tr>{values}</tr></table></div>'


def data_table(x, mask=None):
    """The grid of values."""
    if 0 in x.shape:
        return ""
    table = as_html(x, mask)
    if table is not None:
        return table
    return grid_table(*display_grid.grid(x, mask, width=10_000))


def grid_table(corner, columns, labels, body):
    """A table of texts: `columns` name its columns, `labels` the rows of `body`."""
    top = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr><th>{escape(label)}</th>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>"
        for label, row in zip(labels, body, strict=True)
    )
    head = f"<thead><tr><th>{escape(corner)}</th>{top}</tr></thead>"
    return f'<table border="1" class="dataframe">{head}<tbody>{rows}</tbody></table>'


def format_object_html(x, *, mask=None, collapse=False, expr=None):
    """A Matrix, Vector, Scalar or TransposedMatrix, or a mask of it."""
    if x.ndim == 0:
        box = info_table("gb.Scalar", ["value", "dtype"], [x.value, x.dtype])
        return f'{CSS_STYLE}<div class="gb-scalar"><tt>{x._name_html}</tt>{box}</div>'
    if (found := display.distributed_facts(x)) is not None:
        return fold(f"<tt>{x._name_html}</tt>{info_table(*found)}", "distributed: gather() has all entries", collapse)
    kind, keys, values = display.facts(x, mask, expr)
    kind = escape("\n".join(kind) if isinstance(kind, list) else kind)
    name = (x if mask is None else mask)._name_html
    return fold(f"<tt>{name}</tt>{info_table(kind, keys, values)}", data_table(x, mask), collapse)


def fold(summary, table, collapse=False):
    """`summary`, and `table` below it, which a click hides or shows.  Both are HTML."""
    state = "" if collapse else " open"
    return (
        f'<div>{CSS_STYLE}<details{state} class="gb-arg-details"><summary class="gb-arg-summary">'
        f"{summary}</summary>{table}</details></div>"
    )


def format_expression_html(expr):
    """An expression, with its value when autocompute is on."""
    keys, values = display.expression_facts(expr)
    value = ""
    if config.get("autocompute") and display.is_auto_computable(expr):
        try:
            value = expr.new(name="Result")._repr_html_()
        except OutOfMemory:
            value = "<em>Result is too large to compute!</em>"
    tip = escape(display.advice(expr, expr._format_expr())).replace("\n", "<br>")
    return (
        f'<div>{CSS_STYLE}<details class="gb-expr-details"><summary class="gb-expr-summary">'
        f'<b><tt>gb.{type(expr).__name__}:</tt></b><span title="how to go on">{tip}</span>'
        f"{info_table(expr._format_expr_html(), keys, values)}</summary>{value}</details></div>"
    )
