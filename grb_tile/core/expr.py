"""`graphblas.core.expr`: where programs written for python-graphblas take `Updater` and the base of `A & B` from."""

from .index import AxisIndex
from .infix import InfixExpr as InfixExprBase
from .updater import Assigner, Updater

__all__ = ["Assigner", "AxisIndex", "InfixExprBase", "Updater"]
