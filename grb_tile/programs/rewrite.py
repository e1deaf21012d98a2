"""A program's function with its loops as calls that decide where they run.

    while test:            def body(a, b): ...; return False, (a, b)
        ...                def test_(a, b): return test
                           a, b = run(number, test_, body, (("a", lambda: a), ("b", lambda: b)), None, ("b",))

with a, b the names that the loop binds; b is one that each turn binds before it reads it, and nothing else reads.
`for turn in gb.loop(condition, max_turns=...)` and `for turn in range(stop)` become such a loop that counts its turns.
`if x: break` as the last statement ends the body with the flag x.  Another `if` becomes functions of its branches:

    if test:               def then(a): ...; return (a,)
        ...                def otherwise(a): return (a,)
                           a, = branch(test, then, otherwise, (("a", lambda: a),))

`continue`, `break` and `return` that end a branch put the statements after the `if` into the other branch (jumps.py).
`x if test else y` is such a branch, too, and `float(x)` a call of functions.called.  A loop within is such a call in
the body.  `yield`, `with` and `try` keep the loop as it is, turn by turn in Python.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any, NamedTuple

from .conditions import BRANCH, Conditions, condition as condition_of
from .counters import Counter
from .definitions import Surroundings, definition_of
from .jumps import (
    LOOPS,
    SCOPES,
    STOP,
    assign,
    is_break,
    of_loop,
    returned_after,
    returns_as_breaks,
    within,
    without_jumps,
)

RUN, RANGE, TURNS, CONDITION = "__gb_run", "__gb_range", "__gb_turns", "__gb_condition"
UNDEFINED = "__gb_undefined"
_LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Continue, ast.Global, ast.Nonlocal, ast.Delete,
           ast.With, ast.AsyncWith, ast.Try, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import,
           ast.ImportFrom, ast.Match)  # fmt: skip


class Found(NamedTuple):
    """A loop of the source: its line, why it stays in Python (None: it may run on the device), and the names that stand
    left of `<<`.
    """

    line: int
    reason: str | None
    written: tuple = ()


def rewritten(
    function: Callable, names: dict[str, Any], loop: Callable
) -> tuple[Callable | None, list[Found], Callable[[], bool]]:
    """(the function with its loops as calls of `names`, its loops, a function that says whether `range` and `gb.loop`
    in it still stand for these); None where it has no such loop.

    loop: gb.loop.

    Raises: CaptureError where its source is not to be had.
    """
    definition = definition_of(function)
    counter = Counter(function, definition, loop)
    changed = _Loops(definition, counter)
    definition.body = changed.statements(definition.body)
    if not any(found.reason is None for found in changed.found):
        return None, changed.found, counter.holds
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
    return made, changed.found, counter.holds


class _Loops:
    """Rewrites the statements of one function.

    counter: a Counter.
    """

    def __init__(self, definition: ast.FunctionDef, counter: Callable[[ast.expr], str]) -> None:
        self.found: list[Found] = []
        self._definition, self._counter = definition, counter
        self._moved: list[ast.stmt] = []  # what stands after loops with a `return`
        self._numbers: dict[tuple[int, int], int | None] = {}  # of loops, by their places
        self._count = self._branches = 0
        self._within_loop = False
        heads = [x.iter for x in ast.walk(definition) if isinstance(x, ast.For) and self._turns_of(x)]
        self._around = Surroundings(definition, {id(x) for head in heads for x in ast.walk(head)})

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            made += self._statement(statement)
        return made

    def _statement(self, statement):
        if isinstance(statement, SCOPES):
            return [statement]
        if not isinstance(statement, LOOPS):
            for field in ("body", "orelse", "finalbody"):
                if getattr(statement, field, None):
                    setattr(statement, field, self.statements(getattr(statement, field)))
            for handler in getattr(statement, "handlers", ()):
                handler.body = self.statements(handler.body)
            return [statement]
        if not self._is_loop(statement):  # over something else: no loop of a program
            return self._turn_by_turn(statement)
        written, known = copy.deepcopy(statement.body), len(self._moved)
        flag, returns = f"__gb_returned{len(self.found)}", []
        statement.body = returns_as_breaks(statement.body, flag, self._is_loop, returns)
        after = returned_after(flag, returns)
        self._moved += after
        statement.body, stops = without_jumps(statement.body)
        number = self._number_of(statement)
        if number is None:
            statement.body = written
            del self._moved[known:]
            return self._turn_by_turn(statement)
        made = self._as_calls(statement, number, stops)
        if returns:
            first = ast.fix_missing_locations(ast.copy_location(assign(flag, ast.Constant(0)), statement))
            made = [first, *made, *after]
        return made

    def _turn_by_turn(self, statement):
        """The loop as it is, with what is within as calls."""
        before, self._within_loop = self._within_loop, True
        statement.body = self.statements(statement.body)
        self._within_loop = before
        return [statement]

    def _is_loop(self, statement):
        """Is it a loop of a program?"""
        return isinstance(statement, ast.While) or isinstance(statement, ast.For) and self._turns_of(statement)

    def _number_of(self, statement, within_turn=False):
        """The number of the loop at that place, None where it stays in Python; a loop that was copied keeps its own."""
        place = statement.lineno, statement.col_offset
        if place not in self._numbers:
            reason = self._why_not(statement)
            if reason is None and not within_turn:
                bound, again = _bound_in([statement]), self._within_loop
                reason = self._around.why_not(statement, bound, again)
            self.found.append(Found(statement.lineno, reason, _written_in(statement)))
            self._numbers[place] = None if reason is not None else self._count
            self._count += reason is None
        return self._numbers[place]

    def _why_not(self, statement):
        """Why a loop stays in Python, or None."""
        if statement.orelse:
            return "it has an `else`"
        body = statement.body
        for inner in ast.walk(statement):
            if isinstance(inner, ast.NamedExpr):
                return f"line {inner.lineno}: a `:=` within: bind the name by a statement"
        for part in body:
            for inner in of_loop(part):
                if isinstance(inner, _LEAVES):
                    return f"line {inner.lineno}: a {type(inner).__name__} statement within"
                if isinstance(inner, ast.Break) and not (part is body[-1] and (part is inner or is_break(part))):
                    return f"line {inner.lineno}: a `break` that does not end a branch of an `if`"
            for inner in within(part):
                if isinstance(inner, LOOPS):
                    reason = self._why_not_within(inner)
                    if reason is not None:
                        return reason
        return None

    def _why_not_within(self, loop):
        """The same of a loop within."""
        if self._is_loop(loop):
            loop = copy.deepcopy(loop)
            loop.body, _ = without_jumps(loop.body)
            return self._why_not(loop)
        leaves = [
            x for part in loop.body for x in within(part) if isinstance(x, _LEAVES) and type(x) is not ast.Continue
        ]
        if isinstance(loop, ast.AsyncFor) or leaves:
            return f"line {(leaves or [loop])[0].lineno}: a {type((leaves or [loop])[0]).__name__} statement within"
        return None

    def _turns_of(self, statement):
        """(condition or None, most turns or None) of `for name in gb.loop(...)` or `range(stop)`, else None."""
        call = statement.iter
        if not isinstance(call, ast.Call) or not isinstance(statement.target, ast.Name) or statement.orelse:
            return None
        name = self._counter(call.func)
        if name == "range" and len(call.args) == 1 and not call.keywords:
            return None, ast.Call(ast.Name(RANGE, ast.Load()), call.args, [])
        if name != "loop":
            return None
        condition, most = (call.args[0] if call.args else None), None
        for keyword in call.keywords:
            if keyword.arg == "max_turns":
                most = ast.Call(ast.Name(TURNS, ast.Load()), [keyword.value], [])
            elif keyword.arg == "condition":
                condition = keyword.value
            else:
                return None
        if isinstance(condition, ast.Lambda) and any(ast.iter_child_nodes(condition.args)):
            return None
        return condition, most

    def _as_calls(self, statement, number, stops, within_turn=False):
        """The statements that run the loop of that number; stops: has it a `break` that sets STOP?  within_turn: it is
        in the body of another.
        """
        counted = self._turns_of(statement) if isinstance(statement, ast.For) else None
        turn, most = f"__gb_turn{number}", f"__gb_most{number}"
        body, before = list(statement.body), []
        test = None if counted is not None else statement.test
        if counted is not None:
            condition, limit = counted
            before = [assign(turn, ast.Constant(0)), assign(most, limit or ast.Constant(None))]
            if isinstance(condition, ast.Lambda):
                test = condition.body
            elif condition is not None:  # a function, which stays the loop's
                function = f"__gb_condition{number}"
                before.insert(0, assign(function, ast.Call(ast.Name(CONDITION, ast.Load()), [condition], [])))
                test = ast.Call(ast.Name(function, ast.Load()), [], [])
            body = [
                assign(statement.target.id, ast.Name(turn, ast.Load())),
                assign(turn, ast.BinOp(ast.Name(turn, ast.Load()), ast.Add(), ast.Constant(1))),
                *body,
            ]
            test = test or ast.Constant(True)
        stop: ast.expr = ast.Constant(False)
        last = body[-1]
        if is_break(last):
            body, stop = body[:-1], last.test
        elif isinstance(last, ast.Break):
            body, stop = body[:-1], ast.Constant(True)
        if stops:
            body = [assign(STOP, ast.Constant(False)), *body]
            last_stop = ast.Name(STOP, ast.Load())
            constant = isinstance(stop, ast.Constant) and stop.value is False
            stop = last_stop if constant else ast.BoolOp(ast.Or(), [last_stop, stop])
        bound = sorted(_bound_in([*body, ast.Expr(test), ast.Expr(stop)]) - {STOP})
        turn_of = [*body, ast.Expr(test), ast.Expr(stop)]
        always = tuple(name for name in bound if _binds_first(body, name, False))
        own = tuple(
            name for name in bound
            if _binds_first(turn_of, name) and self._is_dead_after(statement, name, test, within_turn)
        )  # fmt: skip
        plain = isinstance(stop, ast.Constant) and stop.value is False and isinstance(test, ast.Constant)
        body, test, stop = self._calls_of_branches(body), condition_of(test), condition_of(stop)
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
             ast.Name(f"__gb_body{number}", ast.Load()), values, limit, ast.Constant(own), ast.Constant(always),
             ast.Constant(plain)],
            [],
        )  # fmt: skip
        if bound:
            targets = ast.Tuple([ast.Name(name, ast.Store()) for name in bound], ast.Store())
            result: ast.stmt = ast.Assign([targets], call)
        else:
            result = ast.Expr(call)
        made = [*before, body_of, test_of, result]
        for name in () if within_turn else bound:  # what no turn has bound is not bound after the loop
            made += _unbinding(name)
        for part in made:
            ast.copy_location(part, statement)
        return made

    def _is_dead_after(self, loop, name, test, within_turn):
        """Does nothing read what the name stands for as the loop ends?"""
        # The first test reads what was bound before the loop, in a loop around it perhaps by this loop's last turn.
        if (self._within_loop or within_turn) and _mentions([test], name) or _mentions(self._moved, name):
            return False
        own = {id(inner) for inner in ast.walk(loop)}
        for inner in ast.walk(self._definition):  # a function may be called at any time
            if isinstance(inner, SCOPES) and inner is not self._definition and id(inner) not in own:
                if _mentions([inner], name):
                    return False
        return bool(_dead_after(self._definition.body, name, loop))

    def _calls_of_branches(self, body):
        """The statements with each `if` as a call of `branch`."""
        made = []
        for part in body:
            if isinstance(part, LOOPS):
                made += self._loop_within(part)
                continue
            if not isinstance(part, ast.If):
                made.append(Conditions().visit(part))
                continue
            self._branches += 1
            bound = sorted(_bound_in([part]))
            test, names = condition_of(part.test), ", ".join(bound)
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

    def _loop_within(self, loop):
        """The statements for a loop in the body of another."""
        if self._is_loop(loop):
            loop.body, stops = without_jumps(loop.body)
            return self._as_calls(loop, self._number_of(loop, True), stops, within_turn=True)
        if any(isinstance(x, (ast.Break, ast.Continue)) for part in loop.body for x in of_loop(part)):
            return [Conditions().visit(loop)]
        loop.body = self._calls_of_branches(loop.body)
        return [loop]


def _bound_in(parts):
    """The names that the statements bind."""
    return {
        name.id for part in parts for name in within(part)
        if isinstance(name, ast.Name) and isinstance(name.ctx, (ast.Store, ast.Del))
    }  # fmt: skip


def _named(names):
    """`(("a", lambda: a), ...)`"""
    return ast.parse(f"({''.join(f'({name!r}, lambda: {name}), ' for name in names)})", mode="eval").body


def _unbinding(name):
    return ast.parse(f"if {name} is {UNDEFINED}: del {name}").body


def _reads(nodes, name):
    """How often the nodes read a name, in functions within them, too."""
    return sum(
        isinstance(inner, ast.Name) and inner.id == name and not isinstance(inner.ctx, ast.Store)
        or isinstance(inner, (ast.Global, ast.Nonlocal)) and name in inner.names
        for node in nodes for inner in ast.walk(node)
    )  # fmt: skip


def _binds_first(body, name, branches=True):
    """Does each turn bind the name, by `name = ...` or `name, x = ...`, before it reads it?

    branches: or each branch, or loop within, that reads it, for itself.
    """
    found = False
    for part in body:
        if not _mentions([part], name):
            continue
        if _is_counted(part) and (_mentions([part.target], name) or _binds_first(part.body, name, False)):
            return True
        if branches and isinstance(part, ast.For) and not _mentions([part.iter], name):
            found = _mentions([part.target], name) or _binds_first(part.body, name)
        elif branches and isinstance(part, (ast.If, ast.While)) and not _mentions([ast.Expr(part.test)], name):
            found = all(not _mentions(x, name) or _binds_first(x, name) for x in (part.body, part.orelse))
        else:
            return isinstance(part, ast.Assign) and len(part.targets) == 1 and (
                name in _names_in(part.targets[0]) and not _reads([part.value], name)
            )  # fmt: skip
        if not found:
            return False
    return found


def _written_in(statement):
    """The names x of `x << y`, `x(mask) << y`, `x[i] << y` within."""
    found = set()
    for part in ast.walk(statement):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.LShift):
            target = part.left
            while isinstance(target, (ast.Call, ast.Subscript)):
                target = target.func if isinstance(target, ast.Call) else target.value
            found |= set(_names_in(target))
    return tuple(sorted(found))


def _names_in(target):
    """The names that `target = ...` binds, one or a tuple of them."""
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _is_counted(part):
    """Is it `for k in range(n)` with a number n > 0 of the text?"""
    call = part.iter if isinstance(part, ast.For) and isinstance(part.iter, ast.Call) else None
    if call is None or getattr(call.func, "id", "") != "range" or len(call.args) != 1:
        return False
    return isinstance(call.args[0], ast.Constant) and type(call.args[0].value) is int and call.args[0].value > 0


def _dead_after(block, name, loop):
    """Does what may run after the loop bind the name before it reads it?  None where the loop is not in the block."""
    for k, part in enumerate(block):
        others, found = [block[:k], block[k + 1 :]], True if part is loop else None
        for inner in [] if part is loop or isinstance(part, SCOPES) else _blocks_of(part):
            dead = _dead_after(inner, name, loop)
            if dead is None:
                others.append(inner)
            else:
                found = dead
        if found is None:
            continue
        target = getattr(part, "target", None)  # which each turn binds
        heads = [x for x in ast.iter_child_nodes(part) if isinstance(x, (ast.expr, ast.withitem)) and x is not target]
        heads = [] if part is loop else heads
        return found and not _mentions(heads, name) and all(
            not _mentions(other, name) or _binds_first(other, name) for other in others
        )  # fmt: skip
    return None


def _blocks_of(part):
    handlers = [handler.body for handler in getattr(part, "handlers", ())]
    return [*(getattr(part, field, None) or [] for field in ("body", "orelse", "finalbody")), *handlers]


def _mentions(nodes, name):
    return any(getattr(inner, "id", None) == name for node in nodes for inner in ast.walk(node))
