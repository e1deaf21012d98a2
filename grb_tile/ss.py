"""`gb.ss`: concat and diag, under the name that python-graphblas gives them."""
from .core.ss import concat, diag

__all__ = ["concat", "diag"]
