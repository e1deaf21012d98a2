"""The operations of the specification: records that compute, and the write step.

Builders check shapes and return a record (see record.py); `write` computes it into an output under mask, accumulator
and replace; `assign` does the same for the indexed forms.  Operators are typed.
"""

from .elementwise import EWiseAdd, EWiseMult, EWiseUnion
from .indexing import EMPTY, Extract, assign, fill
from .mapping import Apply, ApplyBind, ApplyIndex, Select
from .multiply import Inner, MxM, MxV, Outer, VxM
from .product_chains import SelectedProduct, chained
from .record import Record
from .reduction import ReduceRows, ReduceScalar
from .shaping import (
    Copy,
    Kronecker,
    Transpose,
    concat_matrices,
    concat_vectors,
    diagonal,
    diagonal_matrix,
    resize_matrix,
    resize_vector,
    shift_matrix,
    shift_vector,
    split_matrix,
    split_vector,
)
from .write import (
    PLAIN,
    Descriptor,
    accumulate_chains,
    accumulate_scalar,
    compute,
    finish,
    replace_entries,
    replace_values,
    stored_mask,
    write,
)
from .written_region import can_keep_changes, part_of_assign, part_of_write

__all__ = [
    "EMPTY",
    "PLAIN",
    "Descriptor",
    "MxM",
    "Record",
    "SelectedProduct",
    "accumulate_chains",
    "accumulate_scalar",
    "stored_mask",
    "apply",
    "apply_bind",
    "apply_index",
    "assign",
    "can_keep_changes",
    "chained",
    "compute",
    "concat_matrices",
    "concat_vectors",
    "copy",
    "diagonal",
    "diagonal_matrix",
    "ewise_add",
    "ewise_mult",
    "ewise_union",
    "extract",
    "fill",
    "finish",
    "inner",
    "kronecker",
    "mxm",
    "mxv",
    "outer",
    "part_of_assign",
    "part_of_write",
    "reduce_rows",
    "reduce_scalar",
    "replace_entries",
    "replace_values",
    "resize_matrix",
    "resize_vector",
    "select",
    "shift_matrix",
    "shift_vector",
    "split_matrix",
    "split_vector",
    "transpose",
    "vxm",
    "write",
]

# builders check shapes and return a record, with its arguments: a function around each would be one more call
mxm, mxv, vxm, inner, outer = MxM, MxV, VxM, Inner, Outer
ewise_add, ewise_mult, ewise_union = EWiseAdd, EWiseMult, EWiseUnion
apply, apply_bind, apply_index, select = Apply, ApplyBind, ApplyIndex, Select
reduce_rows, reduce_scalar = ReduceRows, ReduceScalar
extract, transpose, copy, kronecker = Extract, Transpose, Copy, Kronecker
