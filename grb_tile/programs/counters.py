"""What a `for` of a program counts its turns by: Python's `range`, `gb.loop`, or neither."""

from __future__ import annotations

import ast
from collections.abc import Callable

from .names import UNDEFINED, value_of


class Counter:
    """Says of what a `for` calls: "range", "loop", or "" where that is another of the same name."""

    def __init__(self, function: Callable, definition: ast.FunctionDef, loop: Callable) -> None:
        """definition: the function's syntax tree.  loop: gb.loop."""
        self._loop, self._scope, self._builtins = loop, function.__globals__, function.__builtins__
        self._cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        self._own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        imports = [x for x in ast.walk(definition) if isinstance(x, ast.Import | ast.ImportFrom)]
        self._imported = {(name.asname or name.name).partition(".")[0] for x in imports for name in x.names}
        self._asked: dict[tuple, str] = {}

    def __call__(self, called: ast.expr) -> str:
        first = called.value if isinstance(called, ast.Attribute) else called
        if not isinstance(first, ast.Name):
            return ""
        last = called.attr if isinstance(called, ast.Attribute) else ""
        if first.id in self._own:
            return "loop" if (last or first.id) == "loop" and first.id in self._imported else ""
        found = self._asked[first.id, last] = self._meant(first.id, last)
        return found

    def holds(self) -> bool:
        """Do the names still stand for what they stood for?"""
        for names, found in self._asked.items():
            if self._meant(*names) != found:
                return False
        return True

    def _meant(self, name, attribute):
        cell = self._cells.get(name)
        if cell is not None:
            meant = value_of(lambda: cell.cell_contents)
        else:
            meant = self._scope.get(name, UNDEFINED)
            if meant is UNDEFINED:
                meant = self._builtins.get(name)
        if attribute:
            meant = getattr(meant, attribute, None)
        return "range" if meant is range else "loop" if meant is self._loop else ""
