"""A program's function with its innermost loops as calls that decide where they run.

    while test:            def body(a, b): ...; return False, (a, b)
        ...                def test_(a, b): return test
                           a, b = run(number, test_, body, (("a", lambda: a), ("b", lambda: b)), None, ("b",))

with a, b the names that the loop binds; b is one that each turn binds before it reads it, and nothing else reads.
`for turn in gb.loop(condition, max_turns=...)` and `for turn in range(stop)` become such a loop that counts its turns.
`if x: break` as the last statement ends the body with the flag x.  Another `if` becomes functions of its branches:

    if test:               def then(a): ...; return (a,)
        ...                def otherwise(a): return (a,)
                           a, = branch(test, then, otherwise, (("a", lambda: a),))

`continue` and `break` that end a branch put the statements after the `if` into the other branch.  `return`, `yield`,
`with`, `try` and loops within keep the loop as it is, turn by turn in Python.
"""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, NamedTuple

from ..exceptions import CaptureError

RUN, NOT, BOTH, RANGE, UNDEFINED = "__gb_run", "__gb_not", "__gb_both", "__gb_range", "__gb_undefined"
BRANCH = "__gb_branch"
_STOP = "__gb_stop"
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Continue, ast.Global, ast.Nonlocal, ast.Delete,
           ast.With, ast.AsyncWith, ast.Try, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import,
           ast.ImportFrom, ast.Match)  # fmt: skip
_OWN_NAMES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.While, ast.For, ast.AsyncFor)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class Found(NamedTuple):
    """A loop of the source: its line, and why it stays in Python (None: it may run on the device)."""

    line: int
    reason: str | None


def rewritten(function: Callable, names: dict[str, Any]) -> tuple[Callable | None, list[Found]]:
    """(the function with its loops as calls of `names`, its loops); None where it has no such loop.

    Raises: CaptureError where its source is not to be had.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError) as error:
        raise CaptureError(
            f"program: the source of {function.__name__} is not to be had ({error}): define it in a file or a notebook"
        ) from None
    ast.increment_lineno(tree, first - 1)
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise CaptureError(f"program: expected a function defined by `def`, got {type(definition).__name__}")
    definition.decorator_list = []
    changed = _Loops(definition)
    definition.body = changed.statements(definition.body)
    if not any(found.reason is None for found in changed.found):
        return None, changed.found
    known = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    outer = ast.parse(f"def __gb_outer({', '.join([*names, *known])}):\n    return {definition.name}")
    outer.body[0].body.insert(0, definition)  # type: ignore[attr-defined]
    ast.fix_missing_locations(outer)
    scope: dict[str, Any] = {}
    exec(compile(outer, inspect.getsourcefile(function) or "<program>", "exec"), function.__globals__, scope)
    code = scope["__gb_outer"](*[None] * (len(names) + len(known))).__code__
    cells = tuple(known[name] if name in known else CellType(names[name]) for name in code.co_freevars)
    made = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made, changed.found


class _Loops:
    """Rewrites the statements of one function."""

    def __init__(self, definition: ast.FunctionDef) -> None:
        self.found: list[Found] = []
        self._definition = definition
        self._count = self._branches = 0
        self._within_loop = False

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            made += self._statement(statement)
        return made

    def _statement(self, statement):
        if isinstance(statement, _SCOPES):
            return [statement]
        if not isinstance(statement, _LOOPS):
            for field in ("body", "orelse", "finalbody"):
                if getattr(statement, field, None):
                    setattr(statement, field, self.statements(getattr(statement, field)))
            for handler in getattr(statement, "handlers", ()):
                handler.body = self.statements(handler.body)
            return [statement]
        if any(isinstance(inner, _LOOPS) for part in statement.body for inner in _within(part)):
            before, self._within_loop = self._within_loop, True
            statement.body = self.statements(statement.body)
            self._within_loop = before
            return [statement]
        counted = None
        if isinstance(statement, ast.For):
            counted = self._turns_of(statement)
            if counted is None:
                return [statement]  # over something else: no loop of a program
        elif isinstance(statement, ast.AsyncFor):
            return [statement]
        written = statement.body
        statement.body, stops = _without_jumps(written)
        reason = _why_not(statement)
        self.found.append(Found(statement.lineno, reason))
        if reason is not None:
            statement.body = written
            return [statement]
        self._count += 1
        return self._as_calls(statement, counted, self._count - 1, stops)

    def _turns_of(self, statement):
        """(condition or None, most turns or None) of `for name in gb.loop(...)` or `range(stop)`, else None."""
        call = statement.iter
        if not isinstance(call, ast.Call) or not isinstance(statement.target, ast.Name) or statement.orelse:
            return None
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name == "range" and len(call.args) == 1 and not call.keywords:
            return None, ast.Call(ast.Name(RANGE, ast.Load()), call.args, [])
        if name != "loop":
            return None
        condition, most = (call.args[0] if call.args else None), None
        for keyword in call.keywords:
            if keyword.arg == "max_turns":
                most = keyword.value
            elif keyword.arg == "condition":
                condition = keyword.value
            else:
                return None
        if condition is not None:
            condition = condition.body if isinstance(condition, ast.Lambda) else ast.Call(condition, [], [])
        return condition, most

    def _as_calls(self, statement, counted, number, stops):
        """The statements that run the loop of that number; counted: what _turns_of found, None for `while`; stops: has
        it a `break` that sets _STOP?
        """
        turn, most = f"__gb_turn{number}", f"__gb_most{number}"
        body, before = list(statement.body), []
        test = None if counted is not None else statement.test
        if counted is not None:
            condition, limit = counted
            before = [_assign(turn, ast.Constant(0)), _assign(most, limit or ast.Constant(None))]
            body = [
                _assign(statement.target.id, ast.Name(turn, ast.Load())),
                _assign(turn, ast.BinOp(ast.Name(turn, ast.Load()), ast.Add(), ast.Constant(1))),
                *body,
            ]
            test = condition or ast.Constant(True)
        stop: ast.expr = ast.Constant(False)
        last = body[-1]
        if _is_break(last):
            body, stop = body[:-1], last.test
        elif isinstance(last, ast.Break):
            body, stop = body[:-1], ast.Constant(True)
        if stops:
            body = [_assign(_STOP, ast.Constant(False)), *body]
            last_stop = ast.Name(_STOP, ast.Load())
            constant = isinstance(stop, ast.Constant) and stop.value is False
            stop = last_stop if constant else ast.BoolOp(ast.Or(), [last_stop, stop])
        bound = sorted(_bound_in([*body, ast.Expr(test), ast.Expr(stop)]) - {_STOP})
        # The first test reads what was bound before the loop, in a loop around it perhaps by this loop's last turn.
        inside = [*statement.body, *([] if self._within_loop else [test])]
        always = tuple(name for name in bound if _binds_first(body, name, False))
        own = tuple(
            name for name in bound
            if _binds_first(body, name) and _reads([self._definition], name) == _reads(inside, name)
        )  # fmt: skip
        body, test, stop = self._calls_of_branches(body), _condition(test), _condition(stop)
        names = ast.Tuple([ast.Name(name, ast.Load()) for name in bound], ast.Load())
        parameters = ", ".join(bound)
        line = f"def __gb_body{number}({parameters}): pass\ndef __gb_test{number}({parameters}): pass"
        body_of, test_of = ast.parse(line).body
        body_of.body = [*body, ast.Return(ast.Tuple([stop, names], ast.Load()))]  # type: ignore[attr-defined]
        test_of.body = [ast.Return(test)]  # type: ignore[attr-defined]
        values = _named(bound)
        limit = ast.Name(most, ast.Load()) if counted is not None else ast.Constant(None)
        call = ast.Call(
            ast.Name(RUN, ast.Load()),
            [ast.Constant(number), ast.Name(f"__gb_test{number}", ast.Load()),
             ast.Name(f"__gb_body{number}", ast.Load()), values, limit, ast.Constant(own), ast.Constant(always)],
            [],
        )  # fmt: skip
        if bound:
            targets = ast.Tuple([ast.Name(name, ast.Store()) for name in bound], ast.Store())
            result: ast.stmt = ast.Assign([targets], call)
        else:
            result = ast.Expr(call)
        made = [*before, body_of, test_of, result]
        for name in bound:  # what no turn has bound is not bound after the loop
            made += _unbinding(name)
        for part in made:
            ast.copy_location(part, statement)
        return made

    def _calls_of_branches(self, body):
        """The statements with each `if` as a call of `branch`."""
        made = []
        for part in body:
            if not isinstance(part, ast.If):
                made.append(_Conditions().visit(part))
                continue
            self._branches += 1
            bound = sorted(_bound_in([part]))
            test, names = _condition(part.test), ", ".join(bound)
            functions = ast.parse("".join(
                f"def __gb_{name}{self._branches}({names}):\n return ({names}{',' * bool(bound)})\n"
                for name in ("then", "else")
            )).body  # fmt: skip
            for function, statements in zip(functions, (part.body, part.orelse), strict=True):
                function.body = [*self._calls_of_branches(statements), *function.body]
            called = [ast.Name(function.name, ast.Load()) for function in functions]
            call = ast.Call(ast.Name(BRANCH, ast.Load()), [test, *called, _named(bound)], [])
            result: ast.stmt = ast.Expr(call)
            if bound:
                result = ast.Assign([ast.Tuple([ast.Name(name, ast.Store()) for name in bound], ast.Store())], call)
            made += [ast.copy_location(statement, part) for statement in (*functions, result)]
        return made


def _bound_in(parts):
    """The names that the statements bind."""
    return {
        name.id for part in parts for name in _within(part)
        if isinstance(name, ast.Name) and isinstance(name.ctx, (ast.Store, ast.Del))
    }  # fmt: skip


def _named(names):
    """`(("a", lambda: a), ...)`"""
    return ast.parse(f"({''.join(f'({name!r}, lambda: {name}), ' for name in names)})", mode="eval").body


def _unbinding(name):
    return ast.parse(f"if {name} is {UNDEFINED}: del {name}").body


def _without_jumps(body, whole=True):
    """(the statements, is _STOP set?): what follows a branch that ends in `continue` or `break` is in the other branch.

    A `break` sets _STOP, but for the one that ends the whole body.
    """
    made, stops = [], False
    for k, part in enumerate(body):
        rest = body[k + 1 :]
        if isinstance(part, ast.Continue):
            break
        if isinstance(part, ast.Break) and not whole:
            made.append(_assign(_STOP, ast.Constant(True)))
            stops = True
            break
        if not isinstance(part, ast.If) or whole and _is_break(part) and not rest:
            made.append(part)
            continue
        if not any(isinstance(inner, (ast.Break, ast.Continue)) for inner in _within(part)):
            made.append(part)
            continue
        branches = [part.body, part.orelse]
        for at, branch in enumerate(branches):
            after = [] if _jumps(branch) else copy.deepcopy(rest)
            branches[at], more = _without_jumps([*branch, *after], False)
            stops = stops or more
        changed = ast.If(part.test, branches[0] or [ast.Pass()], branches[1])
        made.append(ast.fix_missing_locations(ast.copy_location(changed, part)))
        break
    return made or [ast.Pass()] * whole, stops


def _jumps(statements):
    """Do the statements end with `continue` or `break`?"""
    return bool(statements) and isinstance(statements[-1], (ast.Continue, ast.Break))


def _reads(nodes, name):
    """How often the nodes read a name, in functions within them, too."""
    return sum(
        isinstance(inner, ast.Name) and inner.id == name and not isinstance(inner.ctx, ast.Store)
        or isinstance(inner, (ast.Global, ast.Nonlocal)) and name in inner.names
        for node in nodes for inner in ast.walk(node)
    )  # fmt: skip


def _binds_first(body, name, within=True):
    """Does each turn bind the name, by `name = ...`, before it reads it?  within: or a branch that alone reads it."""
    for k, part in enumerate(body):
        if _mentions([part], name):
            if within and isinstance(part, ast.If) and not _mentions([ast.Expr(part.test), *body[k + 1 :]], name):
                parts = part.body, part.orelse  # of which one runs, and nothing after it reads the name
                return all(not _mentions(branch, name) or _binds_first(branch, name) for branch in parts)
            return isinstance(part, ast.Assign) and len(part.targets) == 1 and (
                isinstance(part.targets[0], ast.Name) and part.targets[0].id == name and not _reads([part.value], name)
            )  # fmt: skip
    return False


def _mentions(nodes, name):
    return any(getattr(inner, "id", None) == name for node in nodes for inner in ast.walk(node))


def _within(node):
    """The node and all below it that run in the same scope."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _SCOPES):
            yield child
        elif not isinstance(child, _OWN_NAMES):
            yield from _within(child)


def _is_break(statement):
    """Is it `if x: break`?"""
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and len(statement.body) == 1
        and isinstance(statement.body[0], ast.Break)
    )


def _why_not(statement):
    """Why a loop stays in Python, or None."""
    if statement.orelse:
        return "it has an `else`"
    body = statement.body
    for inner in ast.walk(statement):
        if isinstance(inner, ast.NamedExpr):
            return f"line {inner.lineno}: a `:=` within: bind the name by a statement"
    for part in body:
        for inner in _within(part):
            if isinstance(inner, _LEAVES):
                return f"line {inner.lineno}: a {type(inner).__name__} statement within"
            if isinstance(inner, ast.Break) and not (part is body[-1] and (part is inner or _is_break(part))):
                return f"line {inner.lineno}: a `break` that does not end a branch of an `if`"
    return None


def _assign(name, value):
    return ast.Assign([ast.Name(name, ast.Store())], value)


class _Conditions(ast.NodeTransformer):
    """`not x` as a call, which a number on the device understands."""

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.copy_location(ast.Call(ast.Name(NOT, ast.Load()), [node.operand], []), node)
        return node


def _condition(test):
    """`a and b`, `a or b` of a condition as calls that evaluate the second only where it is needed."""
    if isinstance(test, ast.BoolOp):
        every = isinstance(test.op, ast.And)
        found = _condition(test.values[-1])
        for value in reversed(test.values[:-1]):
            empty = ast.arguments([], [], None, [], [], None, [])
            found = ast.Call(
                ast.Name(BOTH, ast.Load()), [ast.Constant(every), _condition(value), ast.Lambda(empty, found)], []
            )
        return found
    return _Conditions().visit(test)
