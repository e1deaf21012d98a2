"""The syntax tree of a user's Python function, and the values of its free names."""

import ast
import builtins
import linecache
import threading

from ..exceptions import UdfParseError

_TREES: dict = {}
_parsing = threading.Lock()


def function_tree(function):
    """(Lambda or FunctionDef node, resolve): `resolve(name)` is the value of a free name, or None.

    Raises: UdfParseError when there is no source (functions typed at a prompt, built by exec, or from C).
    """
    code = getattr(function, "__code__", None)
    if code is None:
        raise UdfParseError(f"{function!r} is not a Python function, so its source cannot be lowered")
    node = _find(code)
    if node is None:
        raise UdfParseError(
            f"{function.__qualname__}: its source cannot be found ({code.co_filename}, line {code.co_firstlineno}); "
            "functions typed at a prompt run on the CPU only, unless cuda= text comes with them"
        )
    cells = dict(zip(code.co_freevars, function.__closure__ or ()))

    def resolve(name):
        if name in cells:
            try:
                return cells[name].cell_contents
            except ValueError:
                return None
        if name in function.__globals__:
            return function.__globals__[name]
        return getattr(builtins, name, None)

    return node, resolve


def parsed(text, mode="exec"):
    """ast.parse, by one thread at a time: Python 3.11 counts the depth of all threads together and may refuse."""
    with _parsing:
        return ast.parse(text, mode=mode)


def _find(code):
    lines = linecache.getlines(code.co_filename)
    if not lines:
        return None
    tree = _file_tree(code.co_filename, lines)
    if tree is None:
        return None
    if code.co_name == "<lambda>":
        return _lambda(tree, code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            if code.co_firstlineno in (node.lineno, *(d.lineno for d in node.decorator_list)):
                return node
    return None


def _file_tree(filename, lines):
    text = "".join(lines)
    known = _TREES.get(filename)
    if known is not None and known[0] == hash(text):
        return known[1]
    try:
        tree = parsed(text)
    except SyntaxError:  # the file has changed since the import
        tree = None
    _TREES[filename] = (hash(text), tree)
    return tree


def _lambda(tree, code):
    """The lambda that spans the source positions of `code`'s instructions.

    Columns distinguish several lambdas on one line.
    """
    names = list(code.co_varnames[: code.co_argcount])
    positions = [
        (line, column)
        for line, _, column, _ in code.co_positions()
        if line is not None and column is not None and (line, column) != (code.co_firstlineno, 0)
    ]
    best = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Lambda) or [a.arg for a in node.args.args] != names:
            continue
        begin, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        if node.lineno == code.co_firstlineno and all(begin <= p <= end for p in positions):
            if best is None or begin > (best.lineno, best.col_offset):
                best = node
    return best
