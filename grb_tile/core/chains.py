"""Chains on an expression of a product: `A.mxm(B, op).select(M.S).reduce_scalar(monoid)` does not form the product.

    expr.select(op, thunk), expr.select(mask)                             one of each, in any order
    expr.reduce_scalar(monoid), .reduce_rowwise(monoid), .reduce_columnwise(monoid)      also of kronecker and power

Where expr is a product of matrices that was not computed and autocompute is on, these methods give the expression of
the chain (operations/product_chains.py).  A second chain on the same expression computes the product and keeps it.
"""

from __future__ import annotations

import functools

from .. import operations as ops
from ..config import config
from .collection import Collection
from .expression import MatrixExpression
from .infix import MatrixInfixExpr
from .mask import check_mask
from .matrix import Matrix
from .matrix_operations import MatrixOperations
from .operand import Operand

CHAINS = ("select", "reduce_scalar", "reduce_rowwise", "reduce_columnwise")


class PendingProduct(MatrixOperations, Collection, Operand):
    """The product of an expression as an operand: its shape and type, but no store."""

    __slots__ = ("expr",)
    ndim = 2
    _is_scalar = _is_transposed = False
    output_type = Matrix

    def __init__(self, expr):
        self.expr = expr

    shape = property(lambda self: self.expr.shape)
    dtype = property(lambda self: self.expr.dtype)
    name = property(lambda self: f"({self.expr._format_expr()})")
    _name_html = property(lambda self: f"({self.expr._format_expr_html()})")

    def _select_mask(self, mask):
        mask, product = check_mask(mask), self.expr._record
        ops.checks.mask_shape("select", mask.parent.shape, self.shape)
        if not isinstance(product, ops.MxM):
            return None
        if type(product) is ops.SelectedProduct:
            if product.mask is not None:
                return None
            record = ops.SelectedProduct(product, mask, product.keep)
        else:
            record = ops.SelectedProduct(product, mask)
        return MatrixExpression(record, ("{0.name}.select({1.name})", self, mask))


PendingProduct.__name__ = Matrix.__name__  # what messages call the operand of a method


def _chain(name):
    @functools.wraps(getattr(Matrix, name))
    def method(self, *args, **options):
        found = _continued(self._to_expr(), name, args, options) if config.get("autocompute") else None
        return getattr(self._get_value(name), name)(*args, **options) if found is None else found

    return method


def _continued(expr, name, args, options):
    """The expression of the method `name` of a product that is not formed; None where it has to be."""
    product = expr._record
    if expr._value is not None or getattr(product, "used", True):
        return None
    found = getattr(PendingProduct(expr), name)(*args, **options)
    if found is not None and type(found._record) is not ops.SelectedProduct:
        chain = ops.chained(product, found._record)
        if chain is None:
            return None
        found._record = chain
    product.used = found is not None
    return found


for _name in CHAINS:
    _method = _chain(_name)
    for _cls in (MatrixExpression, MatrixInfixExpr):
        setattr(_cls, _name, _method)
