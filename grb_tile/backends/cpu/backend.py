"""NumpyBackend does every primitive in NumPy.

CpuBackend tries the kernels compiled by Numba first (compiled/dispatch.py): `TwoForms` names both forms of a primitive.
"""

from functools import partial, update_wrapper

import numpy as np

from ...dtypes import cast
from ...planner import forced
from ...storage import convert as conversions
from ...storage.constructors import iso_like
from ...storage.store import StoredMask, same_structure
from .. import dense_products, plain
from ..dense import DenseForms
from ..protocol import Backend
from .compiled import (
    bound_matmul,
    bound_matvec,
    bound_merge,
    bound_overwrite,
    build,
    dense_products as compiled_dense,
    dispatch,
    gather,
    hypersparse,
    kronecker,
    transpose_and_merge,
)
from .graph import bfs_numpy, traversal
from .graph.methods import CompiledLoops
from .jit.cache import tried, tried_first
from .vectorised import (
    broadcast,
    dense_lines,
    elementwise,
    expand,
    first_of_rows,
    mapping,
    matmul,
    matvec,
    product_chains,
    restrict_by_search,
    structure,
    tiles,
)


def ran_compiled(plan, result):
    """The result; the plan records that compiled code computed it."""
    if plan is not None:
        plan.engine = "numba"
    return result


class TwoForms(staticmethod):
    """A primitive's form in NumPy, and the compiled one, which returns NotImplemented where it declines."""

    def __init__(self, in_numpy, compiled):
        super().__init__(in_numpy)
        self.compiled_first = staticmethod(update_wrapper(partial(tried_first, compiled, in_numpy), in_numpy))


class NumpyPrimitives(Backend):
    """Every primitive in NumPy.  Meanings: backends/protocol.py."""

    name = "numpy"
    updates_in_place = True

    # ------------------------------------------------------------------ structure

    build_vector = TwoForms(structure.build_vector, build.build_vector)
    build_matrix = TwoForms(structure.build_matrix, build.build_matrix)
    tuples_vector = staticmethod(structure.tuples_vector)
    convert = staticmethod(conversions.convert)
    _transpose = TwoForms(conversions.transpose_of, dispatch.transpose)
    cast = staticmethod(structure.cast_store)
    gather_vector = staticmethod(structure.gather_vector)
    gather_matrix = TwoForms(structure.gather_matrix, gather.gather_matrix)
    expand_vector = staticmethod(expand.expand_vector)
    _copy_rows = TwoForms(structure.copy_rows, gather.copy_rows)
    _new_row_ids = TwoForms(conversions.row_ids, transpose_and_merge.row_ids)

    def transpose(self, A):
        known = conversions.cached_transpose(A)
        return self._transpose(A) if known is None else known

    def _row_ids(self, A):
        known = A.forms.get("row_ids") if A.forms else None
        return self._new_row_ids(A) if known is None else known

    def tuples_matrix(self, A):
        return structure.tuples_matrix(A, self._row_ids)

    def expand_matrix(self, A, I, J, nrows, ncols):
        return expand.expand_matrix(A, I, J, nrows, ncols, self.gather_matrix)

    def concat_matrices(self, tiles, dtype):
        return structure.concat_matrices(tiles, dtype, self._copy_rows)

    def outside(self, A, I, J):
        if len(A.shape) == 1 or A.indices.shape[0] > structure.FEW_FLAGS:
            return super().outside(A, I, J)
        return structure.outside(A, I, J)

    # ------------------------------------------------------------------ products

    def matvec_rows(self, A, x, semiring, mask=None, plan=None):
        if plan is not None and plan.format in tiles.FORMATS:
            result = tiles.matvec(A, x, semiring, mask, plan.format)
            if result is not NotImplemented:
                plan.engine = "numpy"
                return result
            plan.use_plain_rows()
        return self._matvec_rows(A, x, semiring, mask, plan)

    _matvec_rows = TwoForms(matvec.matvec_rows, dispatch.matvec_rows)
    _matvec_cols = TwoForms(matvec.matvec_cols, dispatch.matvec_cols)

    def matvec_cols(self, AT, x, semiring, mask=None, plan=None):
        return self._matvec_cols(AT, x, semiring, mask, plan)

    def dense_matvec(self, A, x, semiring, mask=None):
        return dense_lines.matvec(A, x, semiring, mask)

    def dense_matmul(self, A, B, semiring):
        return dense_lines.matmul(A, B, semiring)

    _general_product = TwoForms(matmul.matmul, dispatch.matmul)

    def matmul(self, A, B, semiring, mask=None, plan=None, BT=None, keep=None):
        result = matmul.scaled(A, B, semiring, mask, BT, self.restrict)
        if result is NotImplemented:
            result = self._general_product(A, B, semiring, mask, plan, BT)
        return result if keep is None else self.select(result, *keep)

    def is_ready(self, primitive, *operands, **options):
        return None  # no compiled form

    # ------------------------------------------------------------------ element-wise

    _union = TwoForms(elementwise.union, dispatch.union)
    _intersect = TwoForms(elementwise.intersect, dispatch.intersect)

    def union(self, x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
        return self._union(x, y, op, mask, left_default, right_default, dtype)

    def intersect(self, x, y, op, mask=None):
        return self._intersect(x, y, op, mask)

    _restrict = TwoForms(elementwise.restrict, dispatch.restrict)
    _select = TwoForms(mapping.select, dispatch.select)

    def restrict(self, x, mask):
        result = restrict_by_search.restrict(x, mask)
        return self._restrict(x, mask) if result is NotImplemented else result

    def select(self, x, op, thunk, mask=None):
        return self._select(x if mask is None else self.restrict(x, mask), op, thunk)

    def apply(self, x, op, mask=None, left=None, right=None, thunk=None):
        x = x if mask is None else self.restrict(x, mask)
        return mapping.apply(x, op, left, right, thunk, self._row_ids)

    reduce = staticmethod(mapping.reduce)
    scan = staticmethod(mapping.scan)
    first_of_rows = staticmethod(first_of_rows.first_of_rows)

    _kronecker = TwoForms(broadcast.kronecker, kronecker.kronecker)

    def kronecker(self, A, B, op, mask=None):
        if broadcast.follows_mask(A.indices.shape[0] * B.indices.shape[0], mask):
            return broadcast.kronecker_at(A, B, op, mask.pattern)
        C = self._kronecker(A, B, op)
        return C if mask is None else self.restrict(C, mask)

    broadcast_over = staticmethod(broadcast.broadcast_over)
    broadcast = staticmethod(broadcast.broadcast)
    broadcast_combine = staticmethod(dense_lines.combine)

    # ------------------------------------------------------------------ the write step

    def overwrite(self, c, t, mask):
        if mask.complement or not same_structure(t, mask.pattern):  # else T has an entry wherever C loses one
            c = self.restrict(c, ~mask)
        return self.union(c, t, None)

    def fill(self, c, value, pattern):
        return self.overwrite(c, iso_like(pattern, c.dtype, value), StoredMask(pattern))

    put_entries = TwoForms(plain.put_entries, transpose_and_merge.put_entries)
    clear_bits = TwoForms(plain.clear_bits, transpose_and_merge.clear_bits)

    # ------------------------------------------------------------------ arrays

    def cast_array(self, values, have, want):
        return cast(values, want)

    def line_numbers(self, indptr, names=None, count=None, dtype=np.int64):
        lines = np.arange(indptr.shape[0] - 1, dtype=np.int64) if names is None else names
        return np.repeat(lines, np.diff(indptr)).astype(dtype, copy=False)

    def has_ascending_columns(self, A):
        rows = self.line_numbers(A.indptr)
        return bool(((rows[1:] != rows[:-1]) | (A.indices[1:] > A.indices[:-1])).all())

    def tuples(self, x):
        return self.tuples_matrix(x) if x.format in ("csr", "dcsr") else self.tuples_vector(x)

    # ------------------------------------------------------------------ whole loops

    def bfs(self, A, AT, sources, levels=True, parents=False, max_level=None, target=None):
        if type(sources) is int:
            sources = np.array([sources], np.int64)
        result = NotImplemented
        if forced().format is not None:
            result = tiles.bfs(A, sources, parents, max_level, target)
        if result is NotImplemented:
            result = self._bfs_by_rows(A, AT, sources, levels, parents, max_level, target)
        return result

    _bfs_by_rows = TwoForms(bfs_numpy.bfs, traversal.bfs)


def compiled_first(cls):
    """`cls`, a subclass of NumpyPrimitives, where each primitive of two forms is the compiled one if that accepts."""
    for name, form in vars(NumpyPrimitives).items():
        if isinstance(form, TwoForms):
            setattr(cls, name, form.compiled_first)
    return cls


_VECTORS = frozenset(("sparse", "bitmap"))


@compiled_first
class CpuPrimitives(CompiledLoops, NumpyPrimitives):
    """NumPy for everything, Numba where a compiled kernel accepts the operands.  Meanings: backends/protocol.py."""

    name = "cpu"

    def matvec_rows(self, A, x, semiring, mask=None, plan=None):
        rules = forced()
        if A.rows is not None and rules.engine != "numpy":
            w = hypersparse.matvec(A, x, semiring, mask, True, self.matvec_rows)
            if w is not NotImplemented:
                return ran_compiled(plan, w)
        if rules.engine != "numpy" and rules.kernel is None and (plan is None or plan.format == "csr"):
            w = bound_matvec.matvec_rows(A, x, semiring, mask)
            if w is not NotImplemented:
                return ran_compiled(plan, w)
        return super().matvec_rows(A, x, semiring, mask, plan)

    def matvec_cols(self, AT, x, semiring, mask=None, plan=None):
        if forced().engine != "numpy":
            if AT.rows is not None:
                w = hypersparse.matvec(AT, x, semiring, mask, False, self.matvec_cols)
            else:
                w = bound_matvec.matvec_cols(AT, x, semiring, mask)
            if w is not NotImplemented:
                return ran_compiled(plan, w)
        return self._matvec_cols(AT, x, semiring, mask, plan)

    def bind_mxv(self, A, transposed, u, semiring, mask):
        return bound_matvec.bind(self, A, transposed, u, semiring, mask)

    def union(self, x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
        if x.format in _VECTORS and forced().engine != "numpy":
            if mask is not None:
                x, y, mask = self.restrict(x, mask), self.restrict(y, mask), None
            want = dtype or (x.dtype if op is None else op.return_type)
            t = bound_merge.union(x, y, op, want, left_default, right_default)
            if t is not NotImplemented:
                return t
        return self._union(x, y, op, mask, left_default, right_default, dtype)

    def intersect(self, x, y, op, mask=None):
        if x.format in _VECTORS and forced().engine != "numpy":
            if mask is not None:
                x, mask = self.restrict(x, mask), None
            t = bound_merge.intersect(x, y, op)
            if t is not NotImplemented:
                return t
        return self._intersect(x, y, op, mask)

    def restrict(self, x, mask):
        if len(x.shape) == 1 and forced().engine != "numpy":
            t = bound_merge.restrict(x, mask)
            if t is not NotImplemented:
                return t
        return super().restrict(x, mask)

    def overwrite(self, c, t, mask):
        if len(c.shape) == 2 and forced().engine != "numpy" and not t.iso:  # else the result may be iso
            result = bound_overwrite.overwrite(c, t, mask)
            if result is not NotImplemented:
                return result
        return super().overwrite(c, t, mask)

    def apply(self, x, op, mask=None, left=None, right=None, thunk=None):
        if mask is left is right is thunk is None and x.format in _VECTORS and forced().engine != "numpy":
            t = bound_merge.apply(x, op)
            if t is not NotImplemented:
                return t
        return super().apply(x, op, mask, left, right, thunk)

    def fill(self, c, value, pattern):
        if c.format in _VECTORS and forced().engine != "numpy":
            result = bound_merge.fill(c, value, pattern)
            if result is not NotImplemented:
                return result
        return super().fill(c, value, pattern)

    def matmul(self, A, B, semiring, mask=None, plan=None, BT=None, keep=None):
        if keep is None and forced().engine != "numpy" and not matmul.is_better_scaled(A, BT if B is None else B):
            dot = plan is not None and plan.method == "dot"
            right = BT if dot else B
            C = NotImplemented if right is None else bound_matmul.matmul(A, right, semiring, mask, dot)
            if C is not NotImplemented:
                return ran_compiled(plan, C)
        result = NotImplemented if keep is None else self._consumed(A, B, semiring, mask, plan, BT, keep, None, None)
        if result is NotImplemented:
            result = super().matmul(A, B, semiring, mask, plan, BT, keep)
        return result

    def reduce_matmul(self, A, B, semiring, monoid, axis=None, mask=None, plan=None, BT=None, keep=None):
        result = self._consumed(A, B, semiring, mask, plan, BT, keep, monoid, axis)
        if result is NotImplemented:
            result = super().reduce_matmul(A, B, semiring, monoid, axis, mask, plan, BT, keep)
        return result

    def _consumed(self, A, B, semiring, mask, plan, BT, keep, monoid, axis):
        """A product whose blocks of rows are selected from and reduced as they are computed, by a compiled kernel."""
        other = BT if B is None else B
        if not product_chains.consumes(keep, monoid):
            return NotImplemented
        if matmul.is_full_diagonal(A) or matmul.is_full_diagonal(other):
            return NotImplemented  # `scaled` is faster
        shape = A.nrows, other.nrows if B is None else other.ncols
        chain = product_chains.ProductChain(shape, semiring.return_type, keep, monoid, axis)
        return tried(dispatch.matmul, A, B, semiring, mask, plan, BT, chain)

    def dense_matvec(self, A, x, semiring, mask=None):
        return dense_lines.matvec(A, x, semiring, mask, lambda: dense_products.matvec(self, A, x, semiring, mask))

    def dense_matmul(self, A, B, semiring):
        return dense_lines.matmul(A, B, semiring, lambda: tried(compiled_dense.matmul_full, A, B, semiring))

    def spmm(self, A, X, semiring, notes=None):
        return tried(compiled_dense.spmm, A, X, semiring)

    def sddmm(self, A, B, semiring, pattern):
        return tried(compiled_dense.sddmm, A, B, semiring, pattern)

    def is_ready(self, primitive, *operands, **options):
        return dispatch.ready(primitive, *operands, **options)

    def count_saving(self, seconds, primitive, *operands):
        dispatch.count_saving(seconds, primitive, *operands)

    def compile_ahead(self, progress=None):
        from .jit.prebuild import fill_cache

        return fill_cache(progress)


class NumpyBackend(DenseForms, NumpyPrimitives):
    """The primitives in NumPy, dense matrices included."""


class CpuBackend(DenseForms, CpuPrimitives):
    """The primitives of NumPy and Numba, dense matrices included."""
