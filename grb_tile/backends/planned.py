"""PlannedProducts: a product of the protocol's primitives, by the method that the planner chooses.

    mxv        w<mask> = E u        row-wise or column-wise
    mxm        C<mask> = A B        dot or Gustavson, over windows, or of dense arrays
    reduced    (+)_ij C[i,j], or the sums of the rows or columns: the latter are products with a vector of ones

Each operand comes with a flag: is it transposed first?  A backend whose parts plan for themselves has its own.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..operators import typed_semiring
from ..planner import choose_matmul, choose_matvec, forced, record_plan
from ..planner.choose_precision import setting
from ..planner.record import FREE
from ..storage.constructors import full_vector
from ..storage.convert import cached_transpose
from ..storage.dense import by_rows, compressed
from ..storage.store import Dense, forms_of

MOST_BOUND = 256  # prepared products that are kept with a matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..storage.store import BitmapVector, Compressed, SparseVector, StoredMask

    VectorStore = SparseVector | BitmapVector


class PlannedProducts:
    """Methods of protocol.Backend."""

    def mxv(
        self: Any, A: Compressed, transposed: bool, u: VectorStore, semiring: Any, mask: StoredMask | None,
        reuse: VectorStore | None = None,
    ) -> VectorStore:  # fmt: skip
        """w = E (+.x) u, where E is A or its transpose; the planner chooses the method.

        rows: row-wise (dot, pull), one dot product for each row that `mask` admits; needs E by rows.
        cols: column-wise (saxpy, push), the columns of E at u's entries; needs E's transpose by rows.
        reuse: a vector that replaces u row-wise; the caller guarantees that w is the same (operand reuse,
        push_pull_graphblas_icpp18, section 5.4).

        What a product of operands of these kinds does is decided once and kept with A (bind_mxv): later calls run the
        prepared function, as long as no plan is forced and nothing is rounded.
        """
        free = reuse is None and forced() is FREE and setting() == "exact"
        key = None
        if free:
            key = self, transposed, semiring, type(u), u.dtype, u.iso, mask and (type(mask.pattern), mask.complement)
            kept = A.forms and A.forms.get("bound")
            run = kept and kept.get(key)
            if run:
                w = run(A, u, mask)
                if w is not NotImplemented:
                    return w
        given = A
        if type(A) is Dense:
            w = self._dense_matvec(A, transposed, u if reuse is None else reuse, semiring, mask)
            if w is not NotImplemented:
                return w
        A, u, mask = self.operands_to_device(A if type(A) is not Dense else by_rows(A), u, mask)
        plan = choose_matvec(A, transposed, u, mask, semiring, self)
        if (plan.method == "rows") == transposed:  # the rows of the transpose are wanted
            A = cached_transpose(A) or self.transpose(A)
        if plan.method == "rows":
            if reuse is not None:
                u = self.to_device(reuse)
            w = self.matvec_rows(A, u, semiring, mask, plan)
        else:
            w = self.matvec_cols(A, u, semiring, mask, plan)
        plan.done(self)
        if free and given.format == "csr" and (run := self.bind_mxv(given, transposed, u, semiring, mask)) is not None:
            kept = forms_of(given).setdefault("bound", {})
            if len(kept) >= MOST_BOUND:  # a program may make a semiring in each turn
                kept.pop(next(iter(kept)), None)
            kept[key] = run
        return w

    def bind_mxv(
        self: Any, A: Compressed, transposed: bool, u: VectorStore, semiring: Any, mask: StoredMask | None
    ) -> Callable[..., Any] | None:
        """The function of (A, u, mask) that computes `mxv` of operands of these kinds, without what is decided once.

        Kinds: A as it is, type and class of u and of the mask's pattern.  The function chooses the method and records
        it, and returns NotImplemented where `mxv` has more to decide.  None where there is none, or not yet.
        """
        return None

    def mxm(
        self: Any, A: Compressed, at: bool, B: Compressed, bt: bool, semiring: Any, mask: StoredMask | None,
        keep: tuple[Any, Any] | None = None,
    ) -> Compressed:  # fmt: skip
        """C = A (+.x) B over stores, each transposed first if its flag is set; the planner chooses dot or Gustavson.

        keep: (select operator, thunk) of the entries of C that are wanted, or None for all.
        """
        if type(A) is Dense or type(B) is Dense:
            C = self._dense_product(A, at, B, bt, semiring, mask)
            if C is not None:
                return C if keep is None else self.select(C, *keep)
        C = self._inner_product(A, at, B, bt, semiring, mask)
        if C is not None:
            return C if keep is None else self.select(C, *keep)
        left, right, BT, mask, plan = self._planned(A, at, B, bt, semiring, mask)
        C = self.matmul(left, right, semiring, mask, plan, BT, keep)
        plan.done(self)
        return C

    def reduce_mxm(
        self: Any, A: Compressed, at: bool, B: Compressed, bt: bool, semiring: Any, mask: StoredMask | None,
        keep: tuple[Any, Any] | None, monoid: Any, axis: int | None,
    ) -> Any:  # fmt: skip
        """The C of `mxm`, reduced: (+)_ij C(i, j), None where C is empty; or over axis 1 (each row) or 0 (columns).

        C is not formed where the backend reduces it directly.
        """
        if type(A) is Dense or type(B) is Dense:
            C = self._dense_product(A, at, B, bt, semiring, mask)
            if C is not None:
                return self.reduced(C if keep is None else self.select(C, *keep), False, monoid, axis)
        C = self._inner_product(A, at, B, bt, semiring, mask)
        if C is not None:
            return self.reduced(C if keep is None else self.select(C, *keep), False, monoid, axis)
        left, right, BT, mask, plan = self._planned(A, at, B, bt, semiring, mask)
        result = self.reduce_matmul(left, right, semiring, monoid, axis, mask, plan, BT, keep)
        plan.done(self)
        return result

    def reduced(
        self: Any, C: Compressed, ct: bool, monoid: Any, axis: int | None, mask: StoredMask | None = None
    ) -> Any:
        """(+)_ij C(i, j), or over axis 1 (each row) or 0 (each column) of C, which is transposed first if `ct`."""
        if axis is None:
            return self.reduce(C, monoid)
        by_columns = (axis == 0) != ct
        if type(C) is Dense:
            w = self.reduce_lines(C, monoid, 0 if by_columns else 1)
            if w is not NotImplemented:
                return w if mask is None else self.restrict(w, mask)
        ones = full_vector(C.nrows if by_columns else C.ncols, monoid.type, 1)
        return self.mxv(C, by_columns, ones, typed_semiring(monoid, "first"), mask)

    def _dense_product(self, A, at, B, bt, semiring, mask):
        """The product where an operand is dense, or None where its CSR serves as well or a method is forced."""
        if forced().product is not None:
            return None
        start = perf_counter()
        A = self.transpose(A) if at else A
        B = self.transpose(B) if bt else B
        notes: list = []
        found = self.dense_product(A, B, semiring, mask, notes)
        if found is None:
            return None
        C, method = found
        rule, figure = {
            "sddmm": ("dense_at_mask", C.nvals_if_read),
            "spmm": ("dense_operand", B.ncols if type(B) is Dense else A.nrows),
            "dense": ("dense_product", C.nrows * C.ncols),
        }[method]
        plan = record_plan("matmul", method, C.format, rule, (figure,))
        for note in notes:
            if type(note) is str:
                plan.use_precision(note)
            else:
                plan.use_kernel(*note)
        plan.done(self)
        plan.seconds = perf_counter() - start
        return C

    def _inner_product(self, A, at, B, bt, semiring, mask):
        """The product by windows of inner indices, where C has no mask and few rows and columns; else None."""
        if mask is not None or type(A) is Dense or type(B) is Dense:
            return None
        found = self.matmul_inner(self.to_device(A), at, self.to_device(B), bt, semiring)
        if found is None:
            return None
        C, plan = found
        plan.done(self)
        return C

    def _dense_matvec(self, A, transposed, u, semiring, mask):
        """w of `mxv` for a dense A; NotImplemented where its CSR serves or a method over CSR is forced."""
        rules = forced()
        if rules.method is not None or rules.format is not None or rules.kernel is not None:
            return NotImplemented
        start = perf_counter()
        w = self.dense_matvec(self.transpose(A) if transposed else A, u, semiring, mask)
        if w is not NotImplemented:
            plan = record_plan("matvec", "dense", A.format, "dense_array", (A.nrows, A.ncols))
            plan.done(self)
            plan.seconds = perf_counter() - start
        return w

    def _planned(self, A, at, B, bt, semiring, mask):
        """(A, B or None, B's transpose or None, mask, plan) as the planned method reads them."""
        if type(A) is Dense or type(B) is Dense or mask is not None:
            A, B, mask = compressed(A), compressed(B), compressed(mask)
        A, B, mask = self.to_device(A), self.to_device(B), self.to_device(mask)
        plan = choose_matmul(A, at, B, bt, mask, semiring)
        left = self.transpose(A) if at else A
        if plan.method == "dot":
            return left, None, B if bt else self.transpose(B), mask, plan
        return left, self.transpose(B) if bt else B, None, mask, plan
