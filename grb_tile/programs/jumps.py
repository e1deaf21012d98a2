"""`break`, `continue` and `return` in the loops of a program as flags and the other branch of an `if`.

    if x: return r         if x:                             after the loop:
                               __gb_returned0 = 1                if __gb_returned0 == 1:
                               break                                 return r

A loop that is left by a `break` leaves all names as they are, so what it returns is computed after it.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

STOP = "__gb_stop"
LOOPS = (ast.While, ast.For, ast.AsyncFor)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_OWN_NAMES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def within(node: ast.AST, loops: bool = True) -> Iterator[ast.AST]:
    """The node and all below it that run in the same scope; loops: also what is in loops below it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, SCOPES) or not loops and isinstance(child, LOOPS):
            yield child
        elif not isinstance(child, _OWN_NAMES):
            yield from within(child, loops)


def of_loop(part: ast.stmt) -> Iterator[ast.AST]:
    """What of a statement of a loop's body belongs to that loop, not to one within."""
    return iter([part]) if isinstance(part, LOOPS) else within(part, False)


def assign(name: str, value: ast.expr) -> ast.stmt:
    """`name = value`"""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def is_break(statement: ast.stmt) -> bool:
    """Is it `if x: break`?"""
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and len(statement.body) == 1
        and isinstance(statement.body[0], ast.Break)
    )


def without_jumps(body: list[ast.stmt], whole: bool = True) -> tuple[list[ast.stmt], bool]:
    """(the statements, is STOP set?): what follows a branch that ends in `continue` or `break` is in the other branch.

    A `break` sets STOP, but for the one that ends the whole body.
    """
    made: list[ast.stmt] = []
    stops = False
    for k, part in enumerate(body):
        rest = body[k + 1 :]
        if isinstance(part, ast.Continue):
            break
        if isinstance(part, ast.Break) and not whole:
            made.append(assign(STOP, ast.Constant(True)))
            stops = True
            break
        if not isinstance(part, ast.If) or whole and is_break(part) and not rest:
            made.append(part)
            continue
        if not any(isinstance(inner, (ast.Break, ast.Continue)) for inner in of_loop(part)):
            made.append(part)
            continue
        branches = [part.body, part.orelse]
        for at, branch in enumerate(branches):
            after = [] if _jumps(branch) else copy.deepcopy(rest)
            branches[at], more = without_jumps([*branch, *after], False)
            stops = stops or more
        changed = ast.If(part.test, branches[0] or [ast.Pass()], branches[1])
        made.append(ast.fix_missing_locations(ast.copy_location(changed, part)))
        break
    return made or [ast.Pass()] * whole, stops


def _jumps(statements):
    """Do the statements end with `continue` or `break`?"""
    return bool(statements) and isinstance(statements[-1], (ast.Continue, ast.Break))


def returns_as_breaks(
    statements: list[ast.stmt], flag: str, is_loop: Callable[[ast.stmt], bool], returns: list[ast.Return]
) -> list[ast.stmt]:
    """The statements of a loop's body with the k-th `return` as `flag = k; break`; these are appended to `returns`.

    is_loop: is a statement a loop that is to be rewritten, too?  After such a one `if flag != 0: break` stands.
    """
    made: list[ast.stmt] = []
    for part in statements:
        new = [part]
        before = len(returns)
        if isinstance(part, ast.Return):
            returns.append(part)
            new = [assign(flag, ast.Constant(len(returns))), ast.Break()]
        elif isinstance(part, ast.If):
            part.body = returns_as_breaks(part.body, flag, is_loop, returns)
            part.orelse = returns_as_breaks(part.orelse, flag, is_loop, returns)
        elif isinstance(part, (ast.While, ast.For)) and is_loop(part):
            part.body = returns_as_breaks(part.body, flag, is_loop, returns)
            if len(returns) > before:
                new.append(ast.If(_compared(flag, ast.NotEq(), 0), [ast.Break()], []))
        made += [ast.fix_missing_locations(ast.copy_location(statement, part)) for statement in new]
        if isinstance(part, ast.Return):
            break
    return made


def returned_after(flag: str, returns: list[ast.Return]) -> list[ast.stmt]:
    """What stands after the loop: the `return` whose number `flag` is."""
    found: list[ast.stmt] = [ast.If(_compared(flag, ast.Eq(), k + 1), [r], []) for k, r in enumerate(returns)]
    return [ast.fix_missing_locations(ast.copy_location(x, r)) for x, r in zip(found, returns, strict=True)]


def _compared(name, operator, number):
    return ast.Compare(ast.Name(name, ast.Load()), [operator], [ast.Constant(number)])
