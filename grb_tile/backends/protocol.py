"""What a backend can do: the primitives from which every GraphBLAS operation is put together; loops: graph.py.

Stores come in (storage/store.py), stores go out.  For every primitive:

- operands are never changed, and an array that goes from an operand into a result marks both `shared`;
- the result holds nothing outside `mask` (a `StoredMask`, or None for everywhere).  A mask may have other
  formats than the result: any vector format for vectors, CSR or DCSR for matrices;
- the result's dtype is the operator's `return_type`; operands are cast to the types that the operator takes
  (`op.type`, `op.type2`) with the rules of `dtypes.cast`;
- operators are typed (`TypedBinaryOp`, ...).  Shapes have been checked by the caller, indices too;
- a vector comes out sparse or as a bitmap, whichever `convert.choose_format` prefers, a matrix as CSR or DCSR;
- nothing of the size of a dimension is allocated when the stores are sparse or DCSR: dimensions go up to 2^60.

Positions.  A positional multiply sees the entries A(i,k) and B(k,j), or A(i,k) and x(k,0): firsti = i, firstj = k,
secondi = k, secondj = j.  Element-wise both operands stand at the same position (i,j), or (i,0) in a vector.  The
variants with a final 1 count from 1.

Iso.  Results are iso where that costs nothing: pair, structure-only products under an idempotent monoid, apply of an
iso operand, union and intersect where the values are the same by their kind.  A caller may rely on values only, not on
`iso`.

A new backend is a folder in this package with a subclass of Backend, and one line in `select.AVAILABLE`.  It
implements what has no body below; the rest may be inherited: placement and arrays of a backend that computes on NumPy's
arrays.  Nothing above backends/ imports a backend or compares its name to find a method (tests/test_architecture.py);
tests/backends/test_protocol.py compares the signatures of all backends.
"""

from __future__ import annotations

import threading
from contextlib import nullcontext
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.exceptions import NotImplementedException
from grb_tile.planner.device_profile import CPU
from grb_tile.planner.statistics import edges_of
from grb_tile.storage.host_memory import check_memory
from grb_tile.storage.place import host

from . import plain
from .graph import GraphOperations
from .indices import IndexArrays
from .planned import PlannedProducts
from .rearranged import RearrangedEntries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from types import ModuleType

    from grb_tile.dtypes import DataType
    from grb_tile.planner import Plan
    from grb_tile.storage.store import BitmapVector, Compressed, Dense, SparseVector, StoredMask

    VectorStore = SparseVector | BitmapVector
    Store = SparseVector | BitmapVector | Compressed
    Positions = np.ndarray | range | None


class Backend(GraphOperations, IndexArrays, RearrangedEntries, PlannedProducts):
    """Base class of backends; each method states what the primitive returns."""

    name = "abstract"  # for reports and messages
    profile = CPU  # planner.device_profile: what launches, atomics and gathers cost
    on_device = False  # are stores moved to a device, whose arrays are not NumPy's?  Read inside backends/ alone
    asynchronous = False  # does a call return before its result is complete?  `synchronize` waits
    merging: Any = threading.RLock()  # held by a thread that merges an object's pending elements (core/elements.py)
    updates_in_place = False  # may operations/write.py change a bitmap vector by `put_entries` and `clear_bits`?

    @classmethod
    def is_available(cls) -> bool:
        """Can this backend compute here?  "auto" takes the first of select.AVAILABLE that can."""
        return True

    def _missing(self, primitive: str) -> Any:
        raise NotImplementedException(f"backend {self.name!r} does not have the primitive {primitive!r}")

    # ------------------------------------------------------------------ structure

    def build_vector(
        self, size: int, indices: np.ndarray, values: np.ndarray, dup: Any, dtype: DataType
    ) -> VectorStore:
        """t[i] = values[k1] (dup) values[k2] (dup) ...   over the k with indices[k] = i, in input order, left to right.

        Types: indices int64 array in 0 .. size-1; `values` has as many elements, or one (iso: the value of every
        entry).
        dup: TypedBinaryOp (operands cast to its types, results cast to dtype), or None: duplicates are an error.
        Raises: InvalidValue naming the first duplicate when dup is None.
        """
        return self._missing("build_vector")

    def build_matrix(
        self, nrows: int, ncols: int, rows: np.ndarray, cols: np.ndarray, values: np.ndarray, dup: Any, dtype: DataType
    ) -> Compressed:
        """T[i,j] = values[k1] (dup) values[k2] ...   over the k with (rows[k], cols[k]) = (i,j); see build_vector."""
        return self._missing("build_matrix")

    def tuples_vector(self, u: VectorStore) -> tuple[np.ndarray, np.ndarray]:
        """(indices, values) of the entries as fresh NumPy arrays, ascending; int64 indices, iso values expanded."""
        return self._missing("tuples_vector")

    def tuples_matrix(self, A: Compressed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(rows, cols, values) of the entries by rows as fresh NumPy arrays, ascending; int64, iso values expanded."""
        return self._missing("tuples_matrix")

    def convert(self, store: Store, format: str) -> Any:
        """The same entries as "sparse", "bitmap", "csr" or "dcsr" (the store itself when it is that)."""
        return self._missing("convert")

    def transpose(self, A: Compressed) -> Compressed:
        """T[j,i] = A[i,j]; kept with A, and A is found again from T while it lives (storage/convert.py)."""
        return self._missing("transpose")

    def cast(self, store: Store, dtype: DataType) -> Store:
        """The same pattern, values cast to dtype (the store itself when it has that type)."""
        return self._missing("cast")

    def gather_vector(self, u: VectorStore, I: Positions) -> VectorStore:
        """t[k] = u[I[k]]   for 0 <= k < len(I); I an int64 array in any order with repeats, a range, or None for all.

        A range (any step but 0) costs nothing of its length on a sparse or DCSR store, so that slices of huge
        dimensions work.
        """
        return self._missing("gather_vector")

    def gather_matrix(self, A: Compressed, I: Positions, J: Positions) -> Compressed:
        """T[k,l] = A[I[k], J[l]]; I, J int64 arrays in any order with repeats, ranges, or None for all."""
        return self._missing("gather_matrix")

    def expand_vector(self, u: VectorStore, I: Positions, size: int) -> VectorStore:
        """t[I[k]] = u[k]; t has dimension `size`.

        I: int64 array without duplicates or a range, one index for each position of u; None: all (size >= u.size).
        """
        return self._missing("expand_vector")

    def expand_matrix(self, A: Compressed, I: Positions, J: Positions, nrows: int, ncols: int) -> Compressed:
        """T[I[k], J[l]] = A[k,l]; T is nrows x ncols; I, J as for expand_vector."""
        return self._missing("expand_matrix")

    def outside(self, A: Any, I: Positions, J: Positions) -> Any:
        """T[i,j] = A[i,j] unless i is in I and j in J (each an int64 array without duplicates, a range, or None).

        Of a vector A (J None): t[i] = A[i] unless i is in I.
        """
        return plain.outside(self, A, I, J)

    def check_memory(self, wanted: int, what: str, remedy: str) -> None:
        """Raises: OutOfMemory, which names them all, where `wanted` bytes for arrays of this backend are not free.

        On a device only what is more than all its memory is refused: less may find room where it is allocated.
        """
        check_memory(wanted, what, remedy)

    # ------------------------------------------------------------------ facts for the planner

    def edges_of(self, A: Compressed, u: VectorStore, at_most: bool = False) -> float:
        """[+_i nvals(A[i,:])] over the entries i of u: counted if cheap, else estimated; at_most: a bound of it."""
        return edges_of(A, u)

    def sorts_products(self, A: Compressed, u: VectorStore, semiring: Any) -> bool:
        """Does a column-wise product sort its products, because their values have no atomic?"""
        return False

    def tile_facts(self, A: Compressed) -> tuple[float, int]:
        """(mean entries of a non-empty 16 x 16 tile, estimated from a sample; entries of the longest row) of a CSR."""
        return self._missing("tile_facts")

    # ------------------------------------------------------------------ products

    def matvec_rows(
        self, A: Compressed, x: VectorStore, semiring: Any, mask: StoredMask | None = None, plan: Plan | None = None
    ) -> VectorStore:
        """w[i] = (+)_k A[i,k] (x) x[k]   for i in mask: reads the rows of A that are allowed, each against x."""
        return self._missing("matvec_rows")

    def matvec_cols(
        self, AT: Compressed, x: VectorStore, semiring: Any, mask: StoredMask | None = None, plan: Plan | None = None
    ) -> VectorStore:
        """w[i] = (+)_k A[i,k] (x) x[k]   for i in mask, where AT[k,i] = A[i,k]: reads the rows k of AT where x[k] is.

        The first argument of the multiply is A's entry, as in matvec_rows: both give the same w.
        """
        return self._missing("matvec_cols")

    def matmul(
        self, A: Compressed, B: Compressed | None, semiring: Any, mask: StoredMask | None = None,
        plan: Plan | None = None,
        BT: Compressed | None = None, keep: tuple[Any, Any] | None = None,
    ) -> Compressed:  # fmt: skip
        """C[i,j] = (+)_k A[i,k] (x) B[k,j]   for (i,j) in mask.

        plan: its method "gustavson" (None, too): rows of B are gathered for each row of A; "dot": for each allowed
        (i,j) row i of A meets row j of BT, which needs an mask that is not a complement.
        BT: the transpose of B, when the caller has it; B may then be None.
        keep: (select operator for C's type, its thunk): the result is select(C, operator, thunk).
        """
        return self._missing("matmul")

    def reduce_matmul(
        self, A: Compressed, B: Compressed | None, semiring: Any, monoid: Any, axis: int | None = None,
        mask: StoredMask | None = None, plan: Plan | None = None, BT: Compressed | None = None,
        keep: tuple[Any, Any] | None = None,
    ) -> Any:  # fmt: skip
        """The product C that `matmul` computes, reduced by `monoid`, whose type C's values are cast to.

        axis None: (+)_ij C[i,j] as a NumPy scalar, None when C is empty; 1: w[i] = (+)_j C[i,j]; 0: w[j] = (+)_i C[i,j]
        as a vector store, with an entry for each row or column of C that has one.
        """
        return plain.reduce_matmul(self, A, B, semiring, monoid, axis, mask, plan, BT, keep)

    def matmul_inner(self, A: Compressed, at: bool, B: Compressed, bt: bool, semiring: Any) -> tuple | None:
        """(C, its plan), C[i,j] = (+)_k (A or A')[i,k] (x) (B or B')[k,j] by windows of k, with nothing transposed.

        None: C has many rows or columns, or another method takes less time; `matmul` serves.
        """
        return None

    def dense_product(
        self, A: Compressed, B: Compressed, semiring: Any, mask: StoredMask | None = None, notes: list | None = None
    ) -> tuple | None:
        """(C<mask> = A B, name of the method) where A or B is dense; None: `matmul` of their CSR is as good.

        notes: gets what explain() says of rounding (planner/choose_precision.py), where the backend rounds.
        """
        return None

    def dense_matvec(self, A: Dense, x: VectorStore, semiring: Any, mask: StoredMask | None = None) -> Any:
        """w[i] = (+)_k A[i,k] (x) x[k] for i in mask, A dense; NotImplemented: a product with its CSR serves."""
        return NotImplemented

    def dense_matmul(self, A: Dense, B: Dense, semiring: Any) -> Any:
        """C[i,j] = (+)_k A[i,k] (x) B[k,j], row-major, for full A and B; on a device for bitmaps, too.

        NotImplemented: as `spmm`.
        """
        return NotImplemented

    def spmm(self, A: Compressed, X: Dense, semiring: Any, notes: list | None = None) -> Any:
        """C[i,j] = (+)_k A[i,k] (x) X[k,j], A CSR, X and C dense, row-major; NotImplemented: `matmul` serves."""
        return NotImplemented

    def sddmm(self, A: Dense, B: Dense, semiring: Any, pattern: Compressed) -> Any:
        """C[i,j] = (+)_k A[i,k] (x) B[k,j] for the entries (i,j) of `pattern`; C has its structure.

        A is full and row-major, B full and column-major, A.ncols at least 1.  NotImplemented: `matmul` serves.
        """
        return NotImplemented

    # ------------------------------------------------------------------ element-wise

    def inner(self, u: VectorStore, v: VectorStore, semiring: Any) -> np.generic | None:
        """s = (+)_k u(k) (x) v(k) over the k present in both; None when there is none.  As a row times a vector."""
        return plain.inner(self, u, v, semiring)

    def is_equal(self, x: Store, y: Store, op: Any, tolerance: tuple[float, float] | None = None) -> bool:
        """Have x and y, of one shape, entries at the same positions, and op(x[p], y[p]) at each of them?

        op: eq on their common type.  tolerance (rel, tol): |x[p] - y[p]| <= max(rel max(|x[p]|, |y[p]|), tol) in place
        of it, in FP64 for integers; infinities are equal to themselves only, NaN to nothing.
        """
        return plain.is_equal(self, x, y, op, tolerance)

    def is_ready(self, primitive: str, *operands: Any, **options: Any) -> bool | None:
        """Is the fast form of a primitive ready?  False: a slower one runs until it is compiled; None: there is none.

        primitive: "matvec_rows" (A, x, semiring, mask), "matvec_cols" (AT, x, semiring, mask), "transpose" (A) or
        "matmul" (A, B, semiring, mask, method), where method is "gustavson" or "dot", with B's transpose for B.
        Costs microseconds and changes nothing.
        """
        return True

    def compile_ahead(
        self, progress: Callable[[int, int], None] | None = None
    ) -> tuple[int, list[tuple[str, str]], float]:
        """Compile the kernels of a release into the cache of this machine, except those that are compiled already.

        progress(done, total): called now and then.
        Returns (how many were compiled, [(kernel, reason)] of those that failed, seconds).
        """
        return 0, [], 0.0

    def count_saving(self, seconds: float, primitive: str, *operands: Any) -> None:
        """Count towards a compilation the time that a call lost because this primitive's fast form is not ready.

        primitive and operands: as is_ready.
        """

    def union(
        self,
        x: Store,
        y: Store,
        op: Any,
        mask: StoredMask | None = None,
        left_default: np.generic | None = None,
        right_default: np.generic | None = None,
        dtype: DataType | None = None,
    ) -> Store:
        """t[p] = x[p] (op) y[p] where both are present; a lone entry is copied.

        A lone entry is cast from its own type straight to the result's (SuiteSparse's eWiseAdd), not through op.type.
        With defaults (NumPy scalars, eWiseUnion) a lone x[p] gives x[p] (op) right_default and a lone y[p]
        left_default (op) y[p]: default and entry are cast to op.type / op.type2.
        op None: where both are present y's entry stands (callers use it for disjoint operands).
        dtype: type of the result; None: op.return_type, or x's type when op is None.  Combined values are cast from
        op.return_type to it, lone ones straight from their operand's type (what an accumulator needs).
        """
        return self._missing("union")

    def intersect(self, x: Store, y: Store, op: Any, mask: StoredMask | None = None) -> Store:
        """t[p] = x[p] (op) y[p] where both are present."""
        return self._missing("intersect")

    def restrict(self, x: Store, mask: StoredMask) -> Store:
        """t[p] = x[p] where p is in mask."""
        return self._missing("restrict")

    def select(self, x: Store, op: Any, thunk: Any, mask: StoredMask | None = None) -> Store:
        """t[p] = x[p] where op(x[p], i, j, thunk); values keep x's type.  Vectors give j = 0."""
        return self._missing("select")

    def apply(
        self, x: Store, op: Any, mask: StoredMask | None = None, left: Any = None, right: Any = None, thunk: Any = None
    ) -> Store:
        """t[p] = op(x[p]);  op(left, x[p]);  op(x[p], right);  op(x[p], i, j, thunk).

        op: TypedUnaryOp | TypedBinaryOp with `left` or `right` (a NumPy scalar) | TypedIndexUnaryOp with thunk.
        Positional: a unary i, j is the entry's row, column; for a binary op with a bound scalar firsti and secondi are
        the entry's row, firstj and secondj its column (0 in a vector).
        """
        return self._missing("apply")

    def reduce(self, x: Store, monoid: Any) -> np.generic | None:
        """(+)_p x[p]   as a NumPy scalar of monoid.type, or None when x is empty; x is cast to monoid.type first."""
        return self._missing("reduce")

    def scan(self, x: Store, monoid: Any) -> Store:
        """t[i] = x[i0] (+) ... (+) x[i], over the entries up to i; of a matrix in each row.  As monoid.type."""
        return self._missing("scan")

    def first_of_rows(self, x: Store, how: str, k: int, seed: int = 0) -> Store:
        """T = the first k entries of each row of x, or of a vector, by `how`: "first", "last" (by column); "smallest"
        (NaN last, equal values by column), "largest" (its reverse); "random" (by hashes of the numbers under `seed`).
        """
        return self._missing("first_of_rows")

    def reduce_lines(self, A: Dense, monoid: Any, axis: int) -> Any:
        """w[i] = (+)_j A[i,j] (axis 1) or w[j] = (+)_i A[i,j] (axis 0) of a dense A.

        NotImplemented: a product with a vector of ones is as good.
        """
        return NotImplemented

    def broadcast(self, u: VectorStore, pattern: Compressed, axis: int) -> Compressed:
        """T[i,j] = u[i] (axis 0) or u[j] (axis 1)   for (i,j) in the matrix `pattern` where u has that entry.

        Types: the result has u's type; the values of `pattern` are not read.
        """
        return self._missing("broadcast")

    def broadcast_over(self, u: VectorStore, A: Compressed, axis: int) -> tuple[Compressed, Compressed]:
        """(B, T): T = broadcast(u, A, axis), and B with the entries of A at T's positions, or more of them.

        A backend whose B and T share their structure saves `intersect` the search for common positions.
        """
        return A, self.broadcast(u, A, axis)

    def broadcast_combine(self, A: Dense, u: VectorStore, op: Any, axis: int) -> Any:
        """C[i,j] = op(A[i,j], u[j]) (axis 1) or op(u[i], A[i,j]) (axis 0) where A and u are full.

        NotImplemented: an intersection with the broadcast u serves.
        """
        return NotImplemented

    def kronecker(self, A: Compressed, B: Compressed, op: Any, mask: StoredMask | None = None) -> Compressed:
        """C[i*B.nrows + k, j*B.ncols + l] = A[i,j] (op) B[k,l].

        A positional op sees the positions of A(i,j) and B(k,l).
        """
        return self._missing("kronecker")

    # ------------------------------------------------------------------ the write step

    def overwrite(self, c: Store, t: Store, mask: StoredMask) -> Store:
        """C<mask> = T without accumulator: T inside the mask, C outside it.

        T has C's type and no entry outside `mask`.  C's arrays may be written into where they are not shared; the
        caller drops C.
        """
        return self._missing("overwrite")

    def fill(self, c: VectorStore, value: np.generic, pattern: VectorStore) -> VectorStore:
        """C<M> = value, which has C's type, M the structure of `pattern`.  NotImplemented: `overwrite` is as good."""
        return self._missing("fill")

    def put_entries(self, words: np.ndarray | None, dense: np.ndarray, u: SparseVector) -> int:
        """dense[i] = u[i] and bit i of `words` (None: all are set) for the entries of u; the number of bits newly set.

        u.values has the type of `dense`; both arrays are the caller's own.  Called only where `updates_in_place`.
        """
        return plain.put_entries(words, dense, u)

    def clear_bits(self, words: np.ndarray, indices: np.ndarray) -> int:
        """Clear the bits `indices` (ascending, distinct) of `words`; the number that were set.  As `put_entries`."""
        return plain.clear_bits(words, indices)

    # ------------------------------------------------------------------ placement, for plans and timings

    def to_device(self, operand: Any) -> Any:
        """A store or a StoredMask (or None) with arrays where this backend computes: what a planner should see.

        A device moves it once and keeps the copy with it; a user-defined type, which has no device form, stays.
        """
        return operand

    def operands_to_device(
        self, A: Compressed, u: VectorStore, mask: StoredMask | None
    ) -> tuple[Compressed, VectorStore, StoredMask | None]:
        """to_device of a product's matrix, vector and mask, in one call."""
        return A, u, mask

    def synchronize(self) -> None:
        """Wait until every result is complete."""

    def copy_here(self, store: Store) -> Store:
        """A store from anywhere with arrays where this backend computes; on the host for a user-defined type."""
        return host(store)

    def agreed(self, value: Any) -> Any:
        """The value, a small Python object; of ranks that compute together, that of rank 0: seeds that each draws."""
        return value

    def bind(self) -> None:
        """Make this backend's device the current one of the calling thread, for CuPy too."""

    def bound(self) -> AbstractContextManager:
        """A context manager within which this backend's device is the current one of the calling thread."""
        return nullcontext()

    def run_reported(self, function: Callable[[], Any], name: str) -> Any:
        """function(); errors of the backend's own libraries leave it as the library's exceptions, naming `name`."""
        return function()

    def device_report(self) -> dict[str, Any] | None:
        """{"device", "costs", "kernels"} of the device that computes: facts, figures, texts; None: the host."""
        return None

    def describe_device(self) -> str | None:
        """The name of the device that computes; None: the host's processor."""
        return None

    # ------------------------------------------------------------------ arrays

    @property
    def xp(self) -> ModuleType:
        """The array module of the arrays in this backend's stores: NumPy, or CuPy."""
        return np

    def array(self, data: Any, dtype: Any = None) -> Any:
        """`data` as a contiguous array of this backend's (`data` itself where it is one), from the host or from a GPU.

        Types: NumPy's, a device's, and what offers `__cuda_array_interface__` or, on the GPU, `__dlpack__`.
        """
        return plain.host_array(data, dtype)

    def received(self, data: np.ndarray) -> Any:
        """A complete copy of a large host array as an array of this backend; None: the host should keep it."""
        return None

    def is_array(self, x: Any) -> bool:
        """Is `x` an array of the class that this backend's stores have?"""
        return isinstance(x, np.ndarray)

    def cast_array(self, values: Any, have: DataType, want: DataType) -> Any:
        """The one-dimensional array `values` of type `have` as `want`, with the rules of dtypes.cast."""
        return self._missing("cast_array")

    def line_numbers(self, indptr: Any, names: Any = None, count: int | None = None, dtype: Any = np.int64) -> Any:
        """r[k] = i, or names[i], for indptr[i] <= k < indptr[i + 1]: the row of each entry.  count: indptr[-1]."""
        return self._missing("line_numbers")

    def has_ascending_columns(self, A: Compressed) -> bool:
        """Do the column indices of each row ascend without repeats?"""
        return self._missing("has_ascending_columns")

    def tuples(self, x: Store) -> Sequence[Any]:
        """tuples_vector or tuples_matrix as fresh arrays of this backend's, not copied to the host."""
        return self._missing("tuples")


PRIMITIVES = [
    name
    for cls in (Backend, GraphOperations, IndexArrays, RearrangedEntries)
    for name, value in vars(cls).items()
    if isinstance(value, FunctionType) and not name.startswith("_")
]
