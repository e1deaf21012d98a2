"""What compiled kernels offer to the CPU backend: a store, or NotImplemented, in which case NumPy does the work.

NotImplemented means: no kernel for this operator, type or form; or none compiled yet and the work is too small to pay
for it (jit.py).  Meanings of the primitives: backends/protocol.py.
"""
from . import jit
from .accelerate_matmul import matmul
from .accelerate_matvec import drop_accumulators, matvec_cols, matvec_rows

__all__ = ["drop_accumulators", "jit", "matmul", "matvec_cols", "matvec_rows"]
