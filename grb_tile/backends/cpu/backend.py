"""NumpyBackend does every primitive in NumPy.

CpuBackend tries the kernels compiled by Numba first (compiled/dispatch.py).
"""

import numpy as np

from ...dtypes import cast
from ...planner import forced
from ...storage import convert as conversions
from ...storage.embed import iso_like
from ...storage.store import Allow, same_structure
from .. import dense_products
from ..dense import DenseForms
from ..plain import use_plain_rows
from ..protocol import Backend
from .graph import bfs_numpy
from .graph.methods import CompiledLoops
from .jit.cache import in_numpy, tried, tried_first
from .vectorised import (
    broadcast,
    dense_lines,
    elementwise,
    few,
    mapping,
    matmul,
    matvec,
    product_chains,
    structure,
    tiles,
)

try:
    from .compiled import dispatch as accelerate
except ImportError as error:  # pragma: no cover
    if (error.name or "").startswith("grb_tile"):
        raise  # a fault of ours, not a missing or unfit Numba
    accelerate = None


def tiled_format(plan):
    """The tiled form that a plan (an object with `format`, a name, or None) names, or None."""
    if plan is None:
        return None
    format = plan if type(plan) is str else plan.format
    return format if format in tiles.FORMATS else None


class NumpyPrimitives(Backend):
    """Every primitive in NumPy.  Meanings: backends/protocol.py."""

    name = "numpy"
    updates_in_place = True

    # ------------------------------------------------------------------ structure

    build_vector = staticmethod(structure.build_vector)
    build_matrix = staticmethod(structure.build_matrix)
    tuples_vector = staticmethod(structure.tuples_vector)
    convert = staticmethod(conversions.convert)
    transpose = staticmethod(conversions.transpose_of)
    cast = staticmethod(structure.cast_store)
    gather_vector = staticmethod(structure.gather_vector)
    gather_matrix = staticmethod(structure.gather_matrix)
    expand_vector = staticmethod(structure.expand_vector)

    def tuples_matrix(self, A):
        return structure.tuples_matrix(A)

    def expand_matrix(self, A, I, J, nrows, ncols):
        return structure.expand_matrix(A, I, J, nrows, ncols, self.gather_matrix)

    def concat_matrices(self, tiles, dtype):
        return structure.concat_matrices(tiles, dtype, structure.copy_rows)

    def outside(self, A, I, J):
        if A.indices.shape[0] > structure.FEW_FLAGS:
            return super().outside(A, I, J)
        return structure.outside(A, I, J)

    # ------------------------------------------------------------------ products

    def matvec_rows(self, A, x, semiring, allow=None, plan=None):
        format = tiled_format(plan)
        if format is not None:
            result = tiles.matvec(A, x, semiring, allow, format)
            if result is not NotImplemented:
                if type(plan) is not str:
                    plan.engine = "numpy"
                return result
            use_plain_rows(plan)
        return self._plain_rows(A, x, semiring, allow, plan)

    def _plain_rows(self, A, x, semiring, allow, plan):
        return matvec.matvec_rows(A, x, semiring, allow)

    def matvec_cols(self, AT, x, semiring, allow=None, plan=None):
        return matvec.matvec_cols(AT, x, semiring, allow)

    def dense_matvec(self, A, x, semiring, allow=None):
        return dense_lines.matvec(A, x, semiring, allow)

    def dense_matmul(self, A, B, semiring):
        return dense_lines.matmul(A, B, semiring)

    _general_product = staticmethod(matmul.matmul)

    def matmul(self, A, B, semiring, allow=None, plan=None, BT=None, keep=None):
        result = matmul.scaled(A, B, semiring, allow, BT, self.restrict)
        if result is NotImplemented:
            result = self._general_product(A, B, semiring, allow, plan, BT)
        return result if keep is None else self.select(result, *keep)

    def is_ready(self, primitive, *operands, **options):
        return None  # no compiled form

    # ------------------------------------------------------------------ element-wise

    union = staticmethod(elementwise.union)
    intersect = staticmethod(elementwise.intersect)
    restrict = staticmethod(elementwise.restrict)
    select = staticmethod(mapping.select)

    def apply(self, x, op, allow=None, left=None, right=None, thunk=None):
        return mapping.apply(x, op, allow, left, right, thunk)

    reduce = staticmethod(mapping.reduce)

    kronecker = staticmethod(broadcast.kronecker)
    broadcast_over = staticmethod(broadcast.broadcast_over)
    broadcast = staticmethod(broadcast.broadcast)
    broadcast_combine = staticmethod(dense_lines.combine)

    # ------------------------------------------------------------------ the write step

    def overwrite(self, c, t, allow):
        if allow.complement or not same_structure(t, allow.pattern):  # else T has an entry wherever C loses one
            c = self.restrict(c, ~allow)
        return self.union(c, t, None)

    def fill(self, c, value, pattern):
        return self.overwrite(c, iso_like(pattern, c.dtype, value), Allow(pattern))

    # ------------------------------------------------------------------ arrays

    def cast_array(self, values, have, want):
        return cast(values, want)

    def line_numbers(self, indptr, names=None):
        lines = np.arange(indptr.shape[0] - 1, dtype=np.int64) if names is None else names
        return np.repeat(lines, np.diff(indptr))

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

    def _bfs_by_rows(self, A, AT, sources, levels, parents, max_level, target):
        return bfs_numpy.bfs(A, sources, levels, parents, max_level, target)


class CpuPrimitives(CompiledLoops, NumpyPrimitives):
    """NumPy for everything, Numba where a compiled kernel accepts the operands.  Meanings: backends/protocol.py."""

    name = "cpu"

    def build_vector(self, size, indices, values, dup, dtype):
        found = tried(_ordered_indices, size, indices)
        if found is not NotImplemented:
            order, indices = found
            values = values if values.shape[0] == 1 else values[order]
        return in_numpy(structure.build_vector, size, indices, values, dup, dtype)

    def build_matrix(self, nrows, ncols, rows, cols, values, dup, dtype):
        found = tried(_ordered_pairs, nrows, ncols, rows, cols)
        if found is not NotImplemented:
            order, rows, cols = found
            values = values if values.shape[0] == 1 else values[order]
        return in_numpy(structure.build_matrix, nrows, ncols, rows, cols, values, dup, dtype)

    def transpose(self, A):
        known = conversions.cached_transpose(A)
        if known is not None:
            return known
        result = tried(_transpose, A)
        return (
            in_numpy(conversions.transpose_of, A) if result is NotImplemented else conversions.keep_transpose(A, result)
        )

    def gather_matrix(self, A, I, J):
        return tried_first(_gather_matrix, structure.gather_matrix, A, I, J)

    def concat_matrices(self, tiles, dtype):
        return structure.concat_matrices(tiles, dtype, _copy_rows)

    def _plain_rows(self, A, x, semiring, allow, plan):
        return tried_first(_matvec_rows, super()._plain_rows, A, x, semiring, allow, plan)

    def matvec_cols(self, AT, x, semiring, allow=None, plan=None):
        return tried_first(_matvec_cols, super().matvec_cols, AT, x, semiring, allow, plan)

    def _general_product(self, A, B, semiring, allow, plan, BT):
        return tried_first(_matmul, matmul.matmul, A, B, semiring, allow, plan, BT)

    def matmul(self, A, B, semiring, allow=None, plan=None, BT=None, keep=None):
        result = NotImplemented if keep is None else self._consumed(A, B, semiring, allow, plan, BT, keep, None, None)
        if result is NotImplemented:
            result = super().matmul(A, B, semiring, allow, plan, BT, keep)
        return result

    def reduce_matmul(self, A, B, semiring, monoid, axis=None, allow=None, plan=None, BT=None, keep=None):
        result = self._consumed(A, B, semiring, allow, plan, BT, keep, monoid, axis)
        if result is NotImplemented:
            result = super().reduce_matmul(A, B, semiring, monoid, axis, allow, plan, BT, keep)
        return result

    def _consumed(self, A, B, semiring, allow, plan, BT, keep, monoid, axis):
        """A product whose blocks of rows are selected from and reduced as they are computed, by a compiled kernel."""
        other = BT if B is None else B
        if not product_chains.consumes(keep, monoid):
            return NotImplemented
        if matmul.is_full_diagonal(A) or matmul.is_full_diagonal(other):
            return NotImplemented  # `scaled` is faster
        shape = A.nrows, other.nrows if B is None else other.ncols
        chain = product_chains.ProductChain(shape, semiring.return_type, keep, monoid, axis)
        return tried(_matmul, A, B, semiring, allow, plan, BT, chain)

    def dense_matvec(self, A, x, semiring, allow=None):
        return dense_lines.matvec(A, x, semiring, allow, lambda: dense_products.matvec(self, A, x, semiring, allow))

    def dense_matmul(self, A, B, semiring):
        return dense_lines.matmul(A, B, semiring, lambda: tried(_matmul_full, A, B, semiring))

    def spmm(self, A, X, semiring, said=None):
        return tried(_spmm, A, X, semiring)

    def sddmm(self, A, B, semiring, pattern):
        return tried(_sddmm, A, B, semiring, pattern)

    def is_ready(self, primitive, *operands, **options):
        return _ready(primitive, *operands, **options)

    def count_saving(self, seconds, primitive, *operands):
        _count_saving(seconds, primitive, *operands)

    def compile_ahead(self, progress=None):
        from .jit.prebuild import fill_cache

        return fill_cache(progress)

    def union(self, x, y, op, allow=None, left_default=None, right_default=None, dtype=None):
        return tried_first(_union, elementwise.union, x, y, op, allow, left_default, right_default, dtype)

    def intersect(self, x, y, op, allow=None):
        return tried_first(_intersect, elementwise.intersect, x, y, op, allow)

    def restrict(self, x, allow):
        result = few.restrict(x, allow)
        return tried_first(_restrict, elementwise.restrict, x, allow) if result is NotImplemented else result

    def select(self, x, op, thunk, allow=None):
        if allow is not None:
            x = self.restrict(x, allow)
        return tried_first(_select, mapping.select, x, op, thunk)

    def apply(self, x, op, allow=None, left=None, right=None, thunk=None):
        if allow is not None:
            x = self.restrict(x, allow)
        return mapping.apply(x, op, None, left, right, thunk, _row_ids)

    def tuples_matrix(self, A):
        return structure.tuples_matrix(A, _row_ids)

    def kronecker(self, A, B, op, allow=None):
        if broadcast.follows_mask(A.indices.shape[0] * B.indices.shape[0], allow):
            return broadcast.kronecker(A, B, op, allow)
        result = tried(_kronecker, A, B, op)
        if result is NotImplemented:
            return in_numpy(broadcast.kronecker, A, B, op, allow)
        return result if allow is None else self.restrict(result, allow)

    def _bfs_by_rows(self, A, AT, sources, levels, parents, max_level, target):
        return tried_first(_bfs, super()._bfs_by_rows, A, AT, sources, levels, parents, max_level, target)

    def put_entries(self, words, dense, u):
        return tried_first(_put_entries, super().put_entries, words, dense, u)

    def clear_bits(self, words, indices):
        return tried_first(_clear_bits, super().clear_bits, words, indices)


class NumpyBackend(DenseForms, NumpyPrimitives):
    """The primitives in NumPy, dense matrices included."""


class CpuBackend(DenseForms, CpuPrimitives):
    """The primitives of NumPy and Numba, dense matrices included."""


def _row_ids(A):
    known = A.forms.get("row_ids") if A.forms else None
    return tried_first(_compiled_row_ids, conversions.row_ids, A) if known is None else known


def _copy_rows(*arguments):
    return tried_first(_copied_rows, structure.copy_rows, *arguments)


def _declines(*_):
    return NotImplemented


_matvec_rows = getattr(accelerate, "matvec_rows", _declines)
_matvec_cols = getattr(accelerate, "matvec_cols", _declines)
_matmul = getattr(accelerate, "matmul", _declines)
_matmul_full = getattr(accelerate, "matmul_full", _declines)
_spmm = getattr(accelerate, "spmm", _declines)
_sddmm = getattr(accelerate, "sddmm", _declines)
_ready = getattr(accelerate, "ready", lambda *_, **__: None)
_count_saving = getattr(accelerate, "count_saving", _declines)
_union = getattr(accelerate, "union", _declines)
_intersect = getattr(accelerate, "intersect", _declines)
_restrict = getattr(accelerate, "restrict", _declines)
_select = getattr(accelerate, "select", _declines)
_bfs = getattr(accelerate, "bfs", _declines)
_transpose = getattr(accelerate, "transpose", _declines)
_ordered_indices = getattr(accelerate, "ordered_indices", _declines)
_ordered_pairs = getattr(accelerate, "ordered_pairs", _declines)
_gather_matrix = getattr(accelerate, "gather_matrix", _declines)
_compiled_row_ids = getattr(accelerate, "row_ids", _declines)
_copied_rows = getattr(accelerate, "copy_rows", _declines)
_kronecker = getattr(accelerate, "kronecker", _declines)
_put_entries = getattr(accelerate, "put_entries", _declines)
_clear_bits = getattr(accelerate, "clear_bits", _declines)
