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


def shared_with(
    definition: ast.FunctionDef, loop: ast.stmt, bound: set[str], again: bool, heads: set[int]
) -> str | None:
    """Why the names that a loop binds cannot be its own, None where they can: others see them while it runs.

    bound: these names.  again: a loop around it may come to it again.  heads: ids of conditions of loops.
    """
    for inner in ast.walk(loop):
        if isinstance(inner, ast.Name) and inner.id in _OF_THE_FRAME:
            return f"line {inner.lineno}: `{inner.id}` within, which sees the names of its function"
    for inner in within(definition):
        if isinstance(inner, (ast.Global, ast.Nonlocal)) and (names := bound.intersection(inner.names)):
            return f"`{min(names)}` is bound in it, a name of an outer scope: bind another, and that one after the loop"
    at_once = {id(x) for call in ast.walk(definition) if isinstance(call, ast.Call) for x in call.args}
    for inner in ast.walk(definition):
        late = isinstance(inner, SCOPES) or isinstance(inner, ast.GeneratorExp) and id(inner) not in at_once
        if not late or inner is definition or id(inner) in heads or inner.lineno > (loop.end_lineno or 0) and not again:
            continue
        if names := bound.intersection(_free_in(inner)):
            return f"line {inner.lineno}: a function reads `{min(names)}`, which the loop binds: give it as an argument"
    if names := bound & _read_after_an_error(definition, loop):
        return f"`{min(names)}` may be read after an exception in the `try` around it"
    return None


def _free_in(scope):
    """The names that a function within another reads, which are not its own."""
    arguments = getattr(scope, "args", None)
    own = {x.arg for x in ast.walk(arguments) if isinstance(x, ast.arg)} if arguments else set()
    free = set()
    for inner in ast.walk(scope):
        if isinstance(inner, (ast.Global, ast.Nonlocal)):
            free.update(inner.names)
        elif isinstance(inner, ast.Name):
            (free if isinstance(inner.ctx, ast.Load) else own).add(inner.id)
    outer = {name for x in ast.walk(scope) if isinstance(x, ast.Nonlocal) for name in x.names}
    return free - own | outer


def _read_after_an_error(definition, loop):
    """The names that the function reads beside the loop, where a `try` around the loop may end an exception."""
    if not any(_catches(part, loop) for part in ast.walk(definition)):
        return set()
    own = {id(x) for x in ast.walk(loop)}
    return {x.id for x in ast.walk(definition) if isinstance(x, ast.Name) and id(x) not in own and (
        isinstance(x.ctx, ast.Load)
    )}  # fmt: skip


def _catches(part, loop):
    """Is it a `try` around the loop, or a `with` that may end an exception?"""
    if isinstance(part, ast.With):
        called = [x.context_expr.func for x in part.items if isinstance(x.context_expr, ast.Call)]
        names = {getattr(x, "attr", getattr(x, "id", "")) for x in called}
        if not names & {"suppress", "raises", "assertRaises"}:
            return False
    elif not isinstance(part, ast.Try | ast.TryStar):
        return False
    return any(x is loop for y in part.body for x in ast.walk(y))
