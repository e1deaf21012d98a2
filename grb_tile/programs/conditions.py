"""Conditions and expressions of a loop as calls that a number on the device understands (rewrite.py)."""

from __future__ import annotations

import ast
from typing import Any

from .branches import VALUE
from .functions import FUNCTIONS

NOT, BOTH, BRANCH, CALLED, EITHER = "__gb_not", "__gb_both", "__gb_branch", "__gb_called", "__gb_either"


class Conditions(ast.NodeTransformer):
    """`not x`, `x or y`, `x if test else y` and functions of numbers, such as float(x), as calls, which a number on the
    device understands.
    """

    def visit_Call(self, node: Any) -> Any:
        self.generic_visit(node)
        function = node.func
        name = function.id if isinstance(function, ast.Name) else ""
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            name = function.attr
        if name not in FUNCTIONS or node.keywords or any(isinstance(x, ast.Starred) for x in node.args):
            return node
        return ast.copy_location(ast.Call(ast.Name(CALLED, ast.Load()), [function, *node.args], []), node)

    def visit_BoolOp(self, node: Any) -> Any:
        self.generic_visit(node)
        found = node.values[-1]
        for value in reversed(node.values[:-1]):
            arguments = [ast.Constant(isinstance(node.op, ast.And)), value, _lambda(found)]
            found = ast.Call(ast.Name(EITHER, ast.Load()), arguments, [])
        return ast.copy_location(found, node)

    def visit_IfExp(self, node: Any) -> Any:
        self.generic_visit(node)
        values = [_lambda(ast.Tuple([x], ast.Load()), "_") for x in (node.body, node.orelse)]
        name = ast.parse(repr(((VALUE, None),)), mode="eval").body
        call = ast.Call(ast.Name(BRANCH, ast.Load()), [condition(node.test), *values, name], [])
        return ast.copy_location(ast.Subscript(call, ast.Constant(0), ast.Load()), node)

    def visit_UnaryOp(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return ast.copy_location(ast.Call(ast.Name(NOT, ast.Load()), [node.operand], []), node)
        return node


def _lambda(value, *parameters):
    """`lambda parameters: value`"""
    return ast.Lambda(ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, []), value)


def condition(test: ast.expr) -> ast.expr:
    """`a and b`, `a or b` of a condition as calls that evaluate the second only where it is needed."""
    if isinstance(test, ast.BoolOp):
        every = isinstance(test.op, ast.And)
        found = condition(test.values[-1])
        for value in reversed(test.values[:-1]):
            found = ast.Call(ast.Name(BOTH, ast.Load()), [ast.Constant(every), condition(value), _lambda(found)], [])
        return found
    return Conditions().visit(test)
