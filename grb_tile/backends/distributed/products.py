"""Products over ranks: what is replicated, and what is computed where.

w<mask> = A u          u on every rank (where its values are not read, the structure), each computes the rows it owns
w<mask> = A' u         each rank's rows of A with its entries of u give terms of w, which their owners add; from the
                       call on at which as many terms may have moved as A has entries, with the transpose, kept
C<mask> = A B          with the whole of B where every rank has room for it (whole_loops.py), kept from the second time
                       on: each computes its rows at once.  Else in as many stages as there are ranks: in stage r every
                       rank has the rows of B that rank r owns, and adds the products of its rows of A with them
C<mask> = A B'         in stage r the columns of C that rank r's rows of B give, so that nothing is added
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ...operators.iso_products import uses
from ...planner import record_plan
from ...storage.convert import cached_transpose, share
from ...storage.dense import compressed as without_dense
from ...storage.store import Dense, StoredMask, forms_of
from .known import Known
from .movement import from_rank, own_range, redistribute, spread, whole_vector
from .parts import Part, PartMatrix, PartVector

ROW_READERS = frozenset(("firsti", "firsti1"))  # multiplies that read the row of A in A x, A B
MOST_KNOWN = 8  # products of a matrix whose positions are kept as known
INNER_READERS = frozenset(("firstj", "firstj1", "secondi", "secondi1"))  # that read k in A(i,k) x(k)


class _Recorded:
    """The block of DistributedProducts.recorded."""

    __slots__ = ("before", "method", "operation", "start", "world")

    def __init__(self, world: Any, operation: str, method: str) -> None:
        self.world, self.operation, self.method = world, operation, method
        self.before = world.comm.bytes_received, world.comm.seconds
        self.start = perf_counter()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            return
        world, (received, seconds), whole = self.world, self.before, perf_counter() - self.start
        comm = world.comm
        channel = f" {comm.channel}" if comm.channel else ""
        figures = world.size, comm.bytes_received - received, (comm.seconds - seconds) * 1e3, whole * 1e3, channel
        plan = record_plan(self.operation, self.method, "csr", "over_ranks", figures)
        plan.seconds, plan.engine = whole, world.name


class DistributedProducts:
    """Methods of DistributedBackend."""

    def mxv(self: Any, A, transposed, u, semiring, mask, reuse=None):
        """PlannedProducts.mxv: the local product is planned on each rank."""
        with self.recorded("matvec", "terms" if transposed and cached_transpose(A) is None else "rows"):
            return self._mxv(A, transposed, u, semiring, mask, reuse)

    def _mxv(self: Any, A, transposed, u, semiring, mask, reuse):
        A = self.part(A)
        if transposed and not self._wants_transpose(A):
            return self._by_terms(A, u, semiring, mask)
        E = self.transpose(A) if transposed else A
        x = self.local.copy_here(self._everywhere_for(semiring, u) if reuse is None else self.everywhere(reuse, "mxv"))
        layout = E.layout
        if semiring.positional in ROW_READERS:
            w = self.local.mxv(spread(E), False, x, semiring, self._spread(mask, layout, "mxv"))
            w = own_range(self.local, w, layout)
        else:
            w = self.local.mxv(E.local, False, x, semiring, self._local(mask, layout, "mxv"))
        known = _known_of_product(E, u, semiring) if mask is None and type(u) is PartVector else None
        return PartVector(E.nrows, w, layout, self, known)

    def _everywhere_for(self: Any, semiring, u):
        """u on every rank; of a product that reads no values of it the structure alone, all values being 1."""
        if not isinstance(u, PartVector) or uses(semiring.binaryop)[1] or u.dtype._is_udt or "whole" in forms_of(u):
            return self.everywhere(u, "mxv")
        forms = forms_of(u)
        if "whole_structure" not in forms:
            one = u.dtype.np_type.type(1)
            ones = self.local.constant(one) if self.local.on_device else np.array([one])
            local = share(u.local, u.local.with_values(u.dtype, ones, True))
            forms_of(local)["iso_value"] = one  # which nobody needs to read from the device
            forms["whole_structure"] = whole_vector(self, u.alike(local, False), "mxv", one)
        return forms["whole_structure"]

    def recorded(self: Any, operation: str, method: str) -> _Recorded:
        """Record the bytes and the time of the exchanges of the block as a Plan, after those of the local products."""
        return _Recorded(self, operation, method)

    def _wants_transpose(self: Any, A):
        """Is A's transpose kept, or have products by terms moved as much as it takes to make it (ski rental)?

        A product by terms may move an entry for each column to each rank; a transpose moves each entry of A once.
        """
        if self.size == 1 or cached_transpose(A) is not None:
            return True
        forms = forms_of(A)
        moved = forms["terms_moved"] = forms.get("terms_moved", 0) + A.ncols
        return moved > A.nvals

    def _by_terms(self: Any, A, u, semiring, mask):
        """w<mask> = A' u of terms that each rank's rows of A give, added by the ranks that own their positions."""
        layout = A.layout
        if semiring.positional in INNER_READERS:
            terms = self.local.mxv(spread(A), True, self._spread(u, layout, "vxm"), semiring, None)
        else:
            terms = self.local.mxv(A.local, True, self._local(u, layout, "vxm"), semiring, None)
        to = self.layout(A.ncols)
        w = redistribute(self, terms, to, "vxm", semiring.monoid.binaryop)
        if mask is not None:
            w = self.local.restrict(w, self._local(mask, to, "vxm"))
        return PartVector(A.ncols, w, to, self)

    def mxm(self: Any, A, at, B, bt, semiring, mask, keep=None):
        """PlannedProducts.mxm, a stage for each rank."""
        with self.recorded("matmul", "stages"):
            return self._mxm(A, at, B, bt, semiring, mask, keep)

    def _mxm(self: Any, A, at, B, bt, semiring, mask, keep):
        A = self.transpose(A) if at else self.part(A)
        layout, C = A.layout, None
        rows = semiring.positional in ROW_READERS
        of = self._spread if rows else self._local
        left, mask = of(A, layout, "mxm"), of(_sparse(mask), layout, "mxm")
        add = None if bt else semiring.monoid.binaryop
        for block in self._blocks(B, "mxm"):
            found = self.local.mxm(left, False, block, bt, semiring, mask)
            C = found if C is None else self.local.union(C, found, add)
        C = own_range(self.local, C, layout) if rows else without_dense(C)
        result = PartMatrix(A.nrows, C.ncols, C, layout, self)
        return result if keep is None else self.select(result, *keep)

    def reduce_mxm(self: Any, A, at, B, bt, semiring, mask, keep, monoid, axis):
        """PlannedProducts.reduce_mxm: of A B' each rank reduces what it computes, stage by stage."""
        if axis is not None or keep is not None or not bt or semiring.positional in ROW_READERS:
            return self.reduced(self.mxm(A, at, B, bt, semiring, mask, keep), False, monoid, axis)
        A = self.transpose(A) if at else self.part(A)
        own, mask = A.local, _sparse(mask)
        of_itself = A is B and mask is not None and mask.pattern is A and not mask.complement
        mask = self._local(mask, A.layout, "mxm")
        found = []
        for block in self._blocks(B, "mxm"):
            if of_itself and block is forms_of(A).get("kept_whole"):
                own = self.drawn_rows(A)
                mask = StoredMask(own)
            found.append(self.local.reduce_mxm(own, False, block, True, semiring, mask, None, monoid, None))
        return self.combined(self._sum(found, monoid), monoid, "mxm")

    def _blocks(self: Any, B, call):
        """All rows of B, or those that each rank owns, one rank's after another's: matrices of B's shape on every rank.

        A stage looks at all rows of A and of the mask, so one with all of B takes 1 / p of the work of p stages.
        """
        if not isinstance(B, Part):  # every rank has it
            self._check_equal(B)
            yield without_dense(self.local.copy_here(B))
            return
        if self.size > 1 and self.fits_whole(B):
            yield self.whole_for_product(B, call)
            return
        mine = spread(B)
        for root in range(self.size):
            yield mine if self.size == 1 else from_rank(self, mine, root, call)

    def matvec_rows(self: Any, A, x, semiring, mask=None, plan=None):
        return self.mxv(A, False, x, semiring, mask)

    def matvec_cols(self: Any, AT, x, semiring, mask=None, plan=None):
        return self.mxv(AT, True, x, semiring, mask)

    def matmul(self: Any, A, B, semiring, mask=None, plan=None, BT=None, keep=None):
        return self.mxm(A, False, BT if B is None else B, B is None, semiring, mask, keep)

    def reduce_matmul(self: Any, A, B, semiring, monoid, axis=None, mask=None, plan=None, BT=None, keep=None):
        return self.reduce_mxm(A, False, BT if B is None else B, B is None, semiring, mask, keep, monoid, axis)


def _known_of_product(E, u, semiring):
    """Known of E u, shared with the products before of vectors with u's positions; kept with E."""
    kept = forms_of(E).setdefault("known_products", [])
    for positions, by, known in kept:
        if positions is u.known.positions and by is semiring:
            return known
    if len(kept) == MOST_KNOWN:
        kept.pop(0)
    known = Known()
    kept.append((u.known.positions, semiring, known))
    return known


def _sparse(mask):
    """A mask of a dense matrix as one of its CSR."""
    if mask is None or type(mask.pattern) is not Dense:
        return mask
    return StoredMask(without_dense(mask.pattern), mask.complement)
