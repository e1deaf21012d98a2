"""What a backend can do: the primitives from which every GraphBLAS operation is put together.

Stores come in (storage/store.py), stores go out.  For every primitive:

- operands are never changed, and an array that goes from an operand into a result marks both `shared`;
- the result holds nothing outside `allow` (an `Allow`, or None for everywhere).  A mask may have other formats than the
  result: any vector format for vectors, CSR or DCSR for matrices;
- the result's dtype is the operator's `return_type`; operands are cast to the types that the operator takes
  (`op.type`, `op.type2`) with the rules of `dtypes.cast`;
- operators are typed (`TypedBinaryOp`, ...).  Shapes have been checked by the caller, indices too;
- a vector comes out sparse or as a bitmap, whichever `convert.choose_format` prefers, a matrix as CSR or DCSR;
- nothing of the size of a dimension is allocated when the stores are sparse or DCSR: dimensions go up to 2^60.

Positions.  A positional multiply sees the entries A(i,k) and B(k,j), or A(i,k) and x(k,0): firsti = i, firstj = k,
secondi = k, secondj = j.  Element-wise both operands stand at the same place (i,j), or (i,0) in a vector.  The variants
with a final 1 count from 1.

Iso.  Results are iso where that costs nothing: pair, structure-only products under an idempotent monoid, apply of an
iso operand, union and intersect where the values are the same by their kind.  A caller may rely on values only, not on
`iso`.
"""

from grb_tile.exceptions import NotImplementedException
from grb_tile.planner.device_profile import CPU
from grb_tile.planner.statistics import edges_of
from grb_tile.storage.bits import scatter_words


def use_plain_rows(plan):
    """Note in the plan that the form it names has no walk for this product; plan: a Plan, or a name, which takes no note."""
    if type(plan) is not str:
        plan.use_plain_rows()


class Backend:
    """Base class of backends; each method states what the primitive returns."""

    name = "abstract"
    profile = CPU  # planner.device_profile: what launches, atomics and gathers cost
    on_device = False  # True: stores are moved to a device, whose arrays are not NumPy's

    def _missing(self, primitive):
        raise NotImplementedException(f"backend {self.name!r} does not have the primitive {primitive!r}")

    # ------------------------------------------------------------------ structure

    def build_vector(self, size, indices, values, dup, dtype):
        """t[i] = values[k1] (dup) values[k2] (dup) ...   over the k with indices[k] = i, in input order, left to right.

        Types: indices int64 array in 0 .. size-1; `values` has as many places, or one (iso: every entry holds it).
        dup: TypedBinaryOp (operands cast to its types, results cast to dtype), or None: duplicates are an error.
        Raises: InvalidValue naming the first duplicate when dup is None.
        """
        self._missing("build_vector")

    def build_matrix(self, nrows, ncols, rows, cols, values, dup, dtype):
        """T[i,j] = values[k1] (dup) values[k2] ...   over the k with (rows[k], cols[k]) = (i,j); see build_vector."""
        self._missing("build_matrix")

    def tuples_vector(self, u):
        """(indices, values) of the entries, ascending; int64 indices, one value each (iso expanded); fresh arrays."""
        self._missing("tuples_vector")

    def tuples_matrix(self, A):
        """(rows, cols, values) of the entries by rows, ascending, int64 positions; iso expanded; fresh arrays."""
        self._missing("tuples_matrix")

    def convert(self, store, format):
        """The same entries as "sparse", "bitmap", "csr" or "dcsr" (the store itself when it is that)."""
        self._missing("convert")

    def transpose(self, A):
        """T[j,i] = A[i,j]; kept with A, and A is found again from T while it lives (storage/convert.py)."""
        self._missing("transpose")

    def cast(self, store, dtype):
        """The same pattern, values cast to dtype (the store itself when it has that type)."""
        self._missing("cast")

    def gather_vector(self, u, I):
        """t[k] = u[I[k]]   for 0 <= k < len(I); I an int64 array in any order with repeats, a range, or None for all.

        A range (any step but 0) costs nothing of its length on a sparse or DCSR store: so slices of huge dimensions
        work.
        """
        self._missing("gather_vector")

    def gather_matrix(self, A, I, J):
        """T[k,l] = A[I[k], J[l]]; I, J int64 arrays in any order with repeats, ranges, or None for all."""
        self._missing("gather_matrix")

    def expand_vector(self, u, I, size):
        """t[I[k]] = u[k]; t has `size` places.

        I: int64 array without duplicates or a range, one for each place of u; or None for all (then size >= u.size).
        """
        self._missing("expand_vector")

    def expand_matrix(self, A, I, J, nrows, ncols):
        """T[I[k], J[l]] = A[k,l]; T is nrows x ncols; I, J as for expand_vector."""
        self._missing("expand_matrix")

    # ------------------------------------------------------------------ facts for the planner

    def edges_of(self, A, u):
        """Entries in the rows of A at u's entries, counted where that is cheap, else estimated (a float)."""
        return edges_of(A, u)

    # ------------------------------------------------------------------ products

    def matvec_rows(self, A, x, semiring, allow=None, plan=None):
        """w[i] = (+)_k A[i,k] (x) x[k]   for i in allow: reads the rows of A that are allowed, each against x."""
        self._missing("matvec_rows")

    def matvec_cols(self, AT, x, semiring, allow=None, plan=None):
        """w[i] = (+)_k A[i,k] (x) x[k]   for i in allow, where AT[k,i] = A[i,k]: reads the rows k of AT that x holds.

        The first argument of the multiply is A's entry, as in matvec_rows: both give the same w.
        """
        self._missing("matvec_cols")

    def matmul(self, A, B, semiring, allow=None, plan=None, BT=None):
        """C[i,j] = (+)_k A[i,k] (x) B[k,j]   for (i,j) in allow.

        plan: None, a name or an object with the attribute `method`: "gustavson" (rows of B are gathered for each row of
        A) or "dot" (for each allowed (i,j) row i of A meets row j of BT; asks for an allow that is not a complement).
        BT: the transpose of B, when the caller has it; B may then be None.
        """
        self._missing("matmul")

    # ------------------------------------------------------------------ element-wise

    def union(self, x, y, op, allow=None, left_default=None, right_default=None, dtype=None):
        """t[p] = x[p] (op) y[p] where both are present; a lone entry is copied.

        A lone entry is cast from its own type straight to the result's (SuiteSparse's eWiseAdd), not through op.type.
        With defaults (NumPy scalars, eWiseUnion) a lone x[p] gives x[p] (op) right_default and a lone y[p]
        left_default (op) y[p]: default and entry are cast to op.type / op.type2.
        op None: where both are present y's entry stands (callers use it for disjoint operands).
        dtype: type of the result; None: op.return_type, or x's type when op is None.  Combined values are cast from
        op.return_type to it, lone ones straight from their operand's type (what an accumulator needs).
        """
        self._missing("union")

    def intersect(self, x, y, op, allow=None):
        """t[p] = x[p] (op) y[p] where both are present."""
        self._missing("intersect")

    def restrict(self, x, allow):
        """t[p] = x[p] where p is in allow."""
        self._missing("restrict")

    def select(self, x, op, thunk, allow=None):
        """t[p] = x[p] where op(x[p], i, j, thunk); values keep x's type.  Vectors give j = 0."""
        self._missing("select")

    def apply(self, x, op, allow=None, left=None, right=None, thunk=None):
        """t[p] = op(x[p]);  op(left, x[p]);  op(x[p], right);  op(x[p], i, j, thunk).

        op: TypedUnaryOp | TypedBinaryOp with `left` or `right` (a NumPy scalar) | TypedIndexUnaryOp with thunk.
        Positional: a unary i, j is the entry's row, column; for a binary op with a bound scalar firsti and secondi are
        the entry's row, firstj and secondj its column (0 in a vector).
        """
        self._missing("apply")

    def reduce(self, x, monoid):
        """(+)_p x[p]   as a NumPy scalar of monoid.type, or None when x is empty; x is cast to monoid.type first."""
        self._missing("reduce")

    def broadcast(self, u, pattern, axis):
        """T[i,j] = u[i] (axis 0) or u[j] (axis 1)   for (i,j) in the matrix `pattern` where u has that entry.

        Types: the result has u's type; the values of `pattern` are not read.
        """
        self._missing("broadcast")

    def kronecker(self, A, B, op, allow=None):
        """C[i*B.nrows + k, j*B.ncols + l] = A[i,j] (op) B[k,l].

        A positional op sees the positions of A(i,j) and B(k,l).
        """
        self._missing("kronecker")

    # ------------------------------------------------------------------ whole algorithms, where a backend has them

    def shortest_paths(self, A, in_edges, source, heaviest, delta=None, tree=False):
        """d[v] = min over paths from `source` of the sum of their A[i,j]: (store, store of a tree or None, outcome).

        NotImplemented where the backend has no form for it.  tree: ask for the vertex before each vertex on a shortest
        path (INT64, the source's is itself); None where such a tree must be found in another way (edges of weight 0).

        Types: A real or bool (which weighs 0 or 1), all weights >= 0 and no sum of n - 1 of them beyond the result's
        type:
        INT64 for integers and bool (UINT64 for UINT64), FP32, FP64.  Sums of floats go from the source on, as d min= d
        min.+ A
        does.  in_edges(): the store of A', A itself where symmetric; called only if it is wanted.  heaviest: the
        greatest weight.
        delta: how far beyond the last bound distances are made final at a time; None: chosen; inf: no bound.
        outcome.rows(): a dictionary per round.
        """
        return NotImplemented

    # ------------------------------------------------------------------ in place, for the write step alone

    def place(self, words, dense, u):
        """dense[i] = u[i] and bit i of `words` (None: all are set) for the entries of sparse u; how many bits are new.

        Types: u.values has the type of `dense`.  Both arrays are the caller's own and lie in host memory.
        """
        dense[u.indices] = u.values
        return 0 if words is None else scatter_words(words, u.indices, True)

    def unplace(self, words, indices):
        """Clear the bits `indices` (ascending, distinct) of `words`; how many were set."""
        return scatter_words(words, indices, False)
