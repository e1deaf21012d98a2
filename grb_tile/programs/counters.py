"""What a `for` of a program counts its turns by: Python's `range`, `gb.loop`, or neither."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable

from .names import value_of


def counter_of(function: Callable, definition: ast.FunctionDef, loop: Callable) -> Callable[[ast.expr], str]:
    """The function that says of what a `for` calls: "range", "loop", or "" where that is another of the same name.

    definition: the function's syntax tree.  loop: gb.loop.
    """
    known = {**vars(builtins), **function.__globals__}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        known[name] = value_of(lambda cell=cell: cell.cell_contents)
    own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
    imports = [x for x in ast.walk(definition) if isinstance(x, ast.Import | ast.ImportFrom)]
    imported = {(name.asname or name.name).partition(".")[0] for x in imports for name in x.names}

    def counter(called):
        first = called.value if isinstance(called, ast.Attribute) else called
        if not isinstance(first, ast.Name):
            return ""
        last = called.attr if isinstance(called, ast.Attribute) else called.id
        if first.id in own:
            return last if last == "loop" and first.id in imported else ""
        meant = known.get(first.id)
        if isinstance(called, ast.Attribute):
            meant = getattr(meant, called.attr, None)
        return "range" if meant is range else "loop" if meant is loop else ""

    return counter
