"""The definition of a function as a syntax tree, and names of it that functions within it share with a loop."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable

from ..exceptions import CaptureError
from .jumps import SCOPES, within

# Functions of Python that see the names, or the first argument, of the function that they are called in.
_OF_THE_FRAME = {"dir", "eval", "exec", "locals", "super", "vars"}


def definition_of(function: Callable) -> ast.FunctionDef:
    """Its `def`, with the lines of the file, without decorators, and without its defaults, which have been computed.

    Raises: CaptureError where its source is not to be had.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        text, indented = "".join(lines), lines[0][:1].isspace()
        tree = ast.parse(f"if True:\n{text}" if indented else text)  # indented: strings keep their spaces
    except (OSError, TypeError, SyntaxError) as error:
        raise CaptureError(
            f"program: the source of {function.__name__} is not to be had ({error}): define it in a file or a notebook"
        ) from None
    ast.increment_lineno(tree, first - 1 - indented)
    definition = tree.body[0].body[0] if indented else tree.body[0]  # type: ignore[attr-defined]
    if not isinstance(definition, ast.FunctionDef):
        raise CaptureError(f"program: expected a function defined by `def`, got {type(definition).__name__}")
    definition.decorator_list = []
    given = definition.args
    given.defaults = [ast.Constant(None) for _ in given.defaults]
    given.kw_defaults = [default and ast.Constant(None) for default in given.kw_defaults]
    _Private.of(function).visit(definition)
    return definition


class _Private(ast.NodeTransformer):
    """Private names `__x` of a class as Python has them in its methods: `_Class__x`."""

    def __init__(self, name: str) -> None:
        self._prefix = f"_{name.lstrip('_')}"

    @classmethod
    def of(cls, function):
        """That of the class around a function, which its full name tells."""
        names = function.__qualname__.split(".")
        around = [a for a, b in zip(names, names[1:], strict=False) if b != "<locals>" and a != "<locals>"]
        return cls(around[-1] if around else "")

    def visit(self, node):
        for field in ("id", "attr", "arg", "name"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name[:2] == "__" and name[-2:] != "__" and self._prefix != "_":
                setattr(node, field, self._prefix + name)
        return self.generic_visit(node)


class Surroundings:
    """What a function does with the names that a loop in it binds; read before its tree is changed."""

    def __init__(self, definition: ast.FunctionDef, heads: set[int]) -> None:
        """heads: ids of the functions that are conditions of loops, which see the names as the loops do."""
        nodes = list(ast.walk(definition))
        at_once = {id(x) for call in nodes if isinstance(call, ast.Call) for x in call.args} | heads | {id(definition)}
        late = [x for x in nodes if isinstance(x, (*SCOPES, ast.GeneratorExp)) and id(x) not in at_once]
        self._functions = [(x.lineno, _free_in(x)) for x in late]
        outer = [x for x in within(definition) if isinstance(x, (ast.Global, ast.Nonlocal))]
        self._outer = {name for x in outer for name in x.names}
        self._read = [(x.id, x.lineno) for x in nodes if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)]
        self._caught = [(x.body[0].lineno, x.body[-1].end_lineno or 0) for x in nodes if _catches(x)]

    def why_not(self, loop: ast.stmt, bound: set[str], again: bool) -> str | None:
        """Why the names that a loop binds cannot be its own while it runs; None where they can.

        bound: these names.  again: a loop around it may come to it again.
        """
        first, last = loop.lineno, loop.end_lineno or 0
        for name, line in self._read:
            if name in _OF_THE_FRAME and first <= line <= last:
                return f"line {line}: `{name}` within, which sees the names of its function"
        if names := bound & self._outer:
            return f"`{min(names)}` is bound in it, a name of an outer scope: bind another, and that one after the loop"
        for line, free in self._functions:
            if (line <= last or again) and (names := bound & free):
                return f"line {line}: a function reads `{min(names)}`, which the loop binds: give it as an argument"
        if any(start <= first <= end for start, end in self._caught):
            others = {name for name, line in self._read if not first <= line <= last}
            if names := bound & others:
                return f"`{min(names)}` may be read after an exception in the `try` around it"
        return None


def _free_in(scope):
    """The names that a function within another reads, which are not its own."""
    arguments = getattr(scope, "args", None)
    own = {x.arg for x in ast.walk(arguments) if isinstance(x, ast.arg)} if arguments else set()
    free, outer = set(), set()
    for inner in ast.walk(scope):
        if isinstance(inner, (ast.Global, ast.Nonlocal)):
            outer.update(inner.names)
        elif isinstance(inner, ast.Name):
            (free if isinstance(inner.ctx, ast.Load) else own).add(inner.id)
    return free - own | outer


def _catches(part):
    """Is it a `try`, or a `with` that may end an exception?"""
    if isinstance(part, ast.With):
        called = [x.context_expr.func for x in part.items if isinstance(x.context_expr, ast.Call)]
        return any(getattr(x, "attr", getattr(x, "id", "")) in ("suppress", "raises", "assertRaises") for x in called)
    return isinstance(part, ast.Try | ast.TryStar)
