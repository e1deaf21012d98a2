"""The living definition: every primitive as dictionaries and loops, one entry at a time.

A vector is {i: value}, a matrix {(i, j): value}; values are NumPy arrays of length 1 with the store's type, and
operators are applied to one pair of them at a time.  Slow, and plain enough to be believed: the other backends are
tested against it.  It reads stores through `entries` and makes them with `vector` and `matrix` alone, so that it also
checks formats.
"""

import collections
import itertools

import numpy as np

from grb_tile.dtypes import FP64, INT64, cast
from grb_tile.exceptions import InvalidValue
from grb_tile.hashing import hashes
from grb_tile.operators import ANY
from grb_tile.storage import convert
from grb_tile.storage.store import Compressed, SparseVector, index_dtype

from .protocol import Backend


def entries(store):
    """{i: value} of a vector, {(i, j): value} of a matrix, in ascending order."""
    if store.format == "sparse":
        places = store.indices.tolist()
        at = range(len(places))
    elif store.format == "bitmap":
        words = None if store.words is None else store.words.tolist()
        places = at = [i for i in range(store.size) if words is None or words[i // 64] >> (i % 64) & 1]
    else:
        rows = range(store.nrows) if store.rows is None else store.rows.tolist()
        starts, columns = store.indptr.tolist(), store.indices.tolist()
        at = range(starts[0], starts[-1])
        places = [(i, j) for i, lo, hi in zip(rows, starts, starts[1:]) for j in columns[lo:hi]]
    if store.iso:
        return dict.fromkeys(places, store.values[:1])
    return {place: store.values[k : k + 1] for place, k in zip(places, at)}


def _value(store, at):
    return store.values[:1] if store.iso else store.values[at : at + 1]


def vector(size, dtype, found):
    """The sparse vector of {i: value}."""
    indices = np.array(sorted(found), index_dtype(size))
    return SparseVector(size, dtype, indices, _values(found, dtype))


def matrix(nrows, ncols, dtype, found):
    """The matrix of {(i, j): value}; CSR unless it has more rows than an array should."""
    indices = np.array([j for _, j in sorted(found)], index_dtype(ncols))
    count = collections.Counter(i for i, _ in found)
    is_csr = nrows <= 2**16
    rows = range(nrows) if is_csr else sorted(count)
    indptr = np.array([0, *itertools.accumulate(count[i] for i in rows)], np.int64)
    rows = None if is_csr else np.array(rows, np.int64)
    return Compressed(nrows, ncols, dtype, indptr, indices, _values(found, dtype), rows=rows)


def _values(found, dtype):
    values = np.empty(len(found), dtype.np_type)
    for at, position in enumerate(sorted(found)):
        values[at] = cast(found[position], dtype)[0]
    return values


def _is_matrix(x):
    return len(x.shape) == 2


def _like(x, dtype, found):
    if _is_matrix(x):
        return matrix(x.nrows, x.ncols, dtype, found)
    return vector(x.size, dtype, found)


def _allowed(mask):
    """The test whether a position is allowed by a StoredMask or None."""
    if mask is None:
        return lambda position: True
    pattern = entries(mask.pattern)
    if mask.complement:
        return lambda position: position not in pattern
    return lambda position: position in pattern


def _pair(position):
    """(i, j) of a position; a vector is a column."""
    return position if isinstance(position, tuple) else (position, 0)


def _position(name, firsti, firstj, secondi, secondj):
    """The value of a positional operator as a length-1 array."""
    base = {"firsti": firsti, "firstj": firstj, "secondi": secondi, "secondj": secondj}[name.rstrip("1")]
    return np.array([base + name.endswith("1")], np.int64)


def _multiply(op, a, b, firsti, firstj, secondi, secondj):
    """a (op) b, cast on the way in, or the position that a positional op returns."""
    if op.positional is not None:
        return cast(_position(op.positional, firsti, firstj, secondi, secondj), op.return_type)
    return np.asarray(op.numpy(cast(a, op.type), cast(b, op.type2)))


def _fold(monoid, terms):
    """t1 (+) t2 (+) ... from left to right."""
    total = cast(terms[0], monoid.type)
    for term in terms[1:]:
        if monoid.terminal is ANY:
            break
        total = np.asarray(monoid.binaryop.numpy(total, cast(term, monoid.type)))
    return total


def _positions_of(I):
    """The function that gives all k with I[k] = i."""
    if I is None:
        return lambda i: (i,)
    if type(I) is range:
        return lambda i: (I.index(i),) if i in I else ()
    wanted = {}
    for k, i in enumerate(I):
        wanted.setdefault(int(i), []).append(k)
    return lambda i: wanted.get(i, ())


class ReferenceBackend(Backend):
    """Dictionaries and loops.  Meanings: protocol.py."""

    name = "reference"

    # ------------------------------------------------------------------ structure

    def _build(self, positions, values, dup, dtype, name):
        found = {}
        for at, position in enumerate(positions):
            value = values[:1] if values.shape[0] == 1 else values[at : at + 1]
            if position not in found:
                found[position] = value
            elif dup is None:
                raise InvalidValue(f"{name}: {position} occurs more than once and dup_op is None; pass dup_op")
            else:
                i, j = _pair(position)
                found[position] = cast(_multiply(dup, found[position], value, i, j, i, j), dtype)
        return found

    def build_vector(self, size, indices, values, dup, dtype):
        return vector(size, dtype, self._build([int(i) for i in indices], values, dup, dtype, "indices"))

    def build_matrix(self, nrows, ncols, rows, cols, values, dup, dtype):
        positions = [(int(i), int(j)) for i, j in zip(rows, cols, strict=True)]
        return matrix(nrows, ncols, dtype, self._build(positions, values, dup, dtype, "rows, columns"))

    def tuples_vector(self, u):
        found = entries(u)
        return np.array(sorted(found), np.int64), _values(found, u.dtype)

    def tuples_matrix(self, A):
        found = entries(A)
        rows = np.array([i for i, _ in sorted(found)], np.int64)
        cols = np.array([j for _, j in sorted(found)], np.int64)
        return rows, cols, _values(found, A.dtype)

    def convert(self, store, format):
        return convert.convert(store, format)

    def transpose(self, A):
        known = convert.cached_transpose(A)
        if known is not None:
            return known
        T = matrix(A.ncols, A.nrows, A.dtype, {(j, i): value for (i, j), value in entries(A).items()})
        return convert.keep_transpose(A, T)

    def cast(self, store, dtype):
        return store if store.dtype is dtype else _like(store, dtype, entries(store))

    def gather_vector(self, u, I):
        if I is None:
            return u
        if type(I) is range:
            return vector(len(I), u.dtype, {I.index(i): value for i, value in entries(u).items() if i in I})
        found = entries(u)
        return vector(len(I), u.dtype, {k: found[int(i)] for k, i in enumerate(I) if int(i) in found})

    def gather_matrix(self, A, I, J):
        found = entries(A)
        if I is None and J is None:
            return A
        rows, cols = _positions_of(I), _positions_of(J)
        result = {(k, m): value for (i, j), value in found.items() for k in rows(i) for m in cols(j)}
        return matrix(A.nrows if I is None else len(I), A.ncols if J is None else len(J), A.dtype, result)

    def expand_vector(self, u, I, size):
        return vector(size, u.dtype, {i if I is None else int(I[i]): value for i, value in entries(u).items()})

    def expand_matrix(self, A, I, J, nrows, ncols):
        result = {}
        for (i, j), value in entries(A).items():
            result[i if I is None else int(I[i]), j if J is None else int(J[j])] = value
        return matrix(nrows, ncols, A.dtype, result)

    def edges_of(self, A, u, at_most=False):
        frontier = entries(u)
        return float(sum(1 for i, _ in entries(A) if i in frontier))

    # ------------------------------------------------------------------ products

    def matvec_rows(self, A, x, semiring, mask=None, plan=None):
        may, terms = _allowed(mask), {}
        full = x.format == "bitmap" and x.words is None  # may have 2^60 positions: not to be listed
        found = None if full else entries(x)
        for (i, k), a in entries(A).items():
            if (full or k in found) and may(i):
                b = _value(x, k) if full else found[k]
                terms.setdefault(i, []).append(_multiply(semiring.binaryop, a, b, i, k, k, 0))
        result = {i: _fold(semiring.monoid, products) for i, products in terms.items()}
        return vector(A.nrows, semiring.return_type, result)

    def matvec_cols(self, AT, x, semiring, mask=None, plan=None):
        A = matrix(AT.ncols, AT.nrows, AT.dtype, {(i, k): value for (k, i), value in entries(AT).items()})
        return self.matvec_rows(A, x, semiring, mask)

    def matmul(self, A, B, semiring, mask=None, plan=None, BT=None, keep=None):
        if B is None:
            B = matrix(BT.ncols, BT.nrows, BT.dtype, {(k, j): value for (j, k), value in entries(BT).items()})
        may, rows, terms = _allowed(mask), {}, {}
        for (k, j), b in entries(B).items():
            rows.setdefault(k, []).append((j, b))
        for (i, k), a in entries(A).items():
            for j, b in rows.get(k, ()):
                if may((i, j)):
                    terms.setdefault((i, j), []).append(_multiply(semiring.binaryop, a, b, i, k, k, j))
        result = {position: _fold(semiring.monoid, products) for position, products in terms.items()}
        C = matrix(A.nrows, B.ncols, semiring.return_type, result)
        return C if keep is None else self.select(C, *keep)

    # ------------------------------------------------------------------ element-wise

    def union(self, x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
        if dtype is None:
            dtype = x.dtype if op is None else op.return_type
        may, xs, ys, result = _allowed(mask), entries(x), entries(y), {}
        left = None if left_default is None else np.array([left_default])
        right = None if right_default is None else np.array([right_default])
        for position in sorted(set(xs) | set(ys)):
            if not may(position):
                continue
            i, j = _pair(position)
            if position in xs and position in ys:
                value = ys[position] if op is None else _multiply(op, xs[position], ys[position], i, j, i, j)
            elif position in xs:
                value = xs[position] if right is None else _multiply(op, xs[position], right, i, j, i, j)
            else:
                value = ys[position] if left is None else _multiply(op, left, ys[position], i, j, i, j)
            result[position] = cast(value, dtype)
        return _like(x, dtype, result)

    def intersect(self, x, y, op, mask=None):
        may, xs, ys, result = _allowed(mask), entries(x), entries(y), {}
        for position in xs:
            if position in ys and may(position):
                i, j = _pair(position)
                result[position] = _multiply(op, xs[position], ys[position], i, j, i, j)
        return _like(x, op.return_type, result)

    def restrict(self, x, mask):
        may = _allowed(mask)
        return _like(x, x.dtype, {position: value for position, value in entries(x).items() if may(position)})

    def select(self, x, op, thunk, mask=None):
        may, result = _allowed(mask), {}
        for position, value in entries(x).items():
            if may(position) and bool(np.asarray(self._indexed(op, position, value, thunk)).reshape(-1)[0]):
                result[position] = value
        return _like(x, x.dtype, result)

    def _indexed(self, op, position, value, thunk):
        i, j = _pair(position)
        if thunk is not None and op.thunk_type is not None:
            thunk = cast(np.asarray(thunk), op.thunk_type)[()]
        return op.numpy(cast(value, op.type), np.array([i], np.int64), np.array([j], np.int64), thunk)

    def apply(self, x, op, mask=None, left=None, right=None, thunk=None):
        may, result = _allowed(mask), {}
        for position, value in entries(x).items():
            if not may(position):
                continue
            i, j = _pair(position)
            if hasattr(op, "thunk_type"):
                result[position] = np.asarray(self._indexed(op, position, value, thunk)).reshape(1)
            elif left is not None:
                result[position] = _multiply(op, np.array([left]), value, i, j, i, j)
            elif right is not None:
                result[position] = _multiply(op, value, np.array([right]), i, j, i, j)
            elif op.positional is not None:
                result[position] = np.array([(i if op.positional[0] == "i" else j) + op.positional.endswith("1")])
            else:
                result[position] = np.asarray(op.numpy(cast(value, op.type)))
        return _like(x, op.return_type, result)

    def reduce(self, x, monoid):
        found = entries(x)
        return _fold(monoid, list(found.values()))[0] if found else None

    def scan(self, x, monoid):
        found, terms = {}, {}
        for position, value in entries(x).items():
            line = terms.setdefault(position[0] if _is_matrix(x) else 0, [])
            line.append(value)
            found[position] = _fold(monoid, line)
        return _like(x, monoid.type, found)

    def first_of_rows(self, x, how, k, seed=0):
        found, lines = {}, {}
        for number, (position, value) in enumerate(entries(x).items()):
            key = hashes(np, number, number + 1, seed, 0) if how == "random" else value
            lines.setdefault(position[0] if _is_matrix(x) else 0, []).append((position, value, key))
        for line in lines.values():
            order = np.arange(len(line))
            if how in ("smallest", "largest", "random"):
                order = np.concatenate([key for _, _, key in line]).argsort(kind="stable")
            if how in ("last", "largest"):
                order = order[::-1]
            found |= {line[p][0]: line[p][1] for p in order[:k].tolist()}
        return _like(x, x.dtype, found)

    def broadcast(self, u, pattern, axis):
        held = entries(u)
        found = {position: held[position[axis]] for position in entries(pattern) if position[axis] in held}
        return matrix(pattern.nrows, pattern.ncols, u.dtype, found)

    def kronecker(self, A, B, op, mask=None):
        may, result = _allowed(mask), {}
        for (i, j), a in entries(A).items():
            for (k, m), b in entries(B).items():
                position = (i * B.nrows + k, j * B.ncols + m)
                if may(position):
                    result[position] = _multiply(op, a, b, i, j, k, m)
        return matrix(A.nrows * B.nrows, A.ncols * B.ncols, op.return_type, result)

    def best_labels(self, A, labels, weighted, mask, *penalty):
        label_of, may = {k: int(value[0]) for k, value in entries(labels).items()}, _allowed(mask)
        scores = {}
        for (i, k), a in entries(A).items():
            if k in label_of:
                row = scores.setdefault(i, {})
                row[label_of[k]] = row.get(label_of[k], 0.0) + (float(a[0]) if weighted else 1.0)
        if not penalty:
            best = {i: np.array([max(row, key=lambda c: (row[c], -c))]) for i, row in scores.items() if may(i)}
            return (vector(A.nrows, INT64, best),)
        u, v, w = ({i: float(value[0]) for i, value in entries(x).items()} for x in penalty)
        best, gain, kept = {}, {}, {}
        for i, own in filter(lambda item: may(item[0]), label_of.items()):
            row = {own: 0.0} | scores.get(i, {})
            row[own] += u[i] * w[i]
            row = {c: total - u[i] * v[c] for c, total in row.items()}
            found = max(row, key=lambda c: (row[c], c == own, -c))
            other = max((score for c, score in row.items() if c != own), default=-np.inf)
            best[i], gain[i], kept[i] = (np.array([x]) for x in (found, other - row[own], row[own]))
        return vector(A.nrows, INT64, best), vector(A.nrows, FP64, gain), vector(A.nrows, FP64, kept)

    def least_absent(self, A, labels, mask):
        label_of, may = {k: int(value[0]) for k, value in entries(labels).items()}, _allowed(mask)
        near = {i: set() for i in range(A.nrows) if may(i)}
        for i, k in entries(A):
            if i in near and k in label_of:
                near[i].add(label_of[k])
        found = {i: np.array([next(c for c in range(len(used) + 1) if c not in used)]) for i, used in near.items()}
        return vector(A.nrows, INT64, found)

    def sum_by_label(self, labels, values, size):
        sums = np.zeros(size)
        for label, value in zip(labels, values, strict=True):
            sums[label] += value
        return sums

    # ------------------------------------------------------------------ the write step

    def overwrite(self, c, t, mask):
        may = _allowed(mask)
        result = {position: value for position, value in entries(c).items() if not may(position)}
        return _like(c, c.dtype, result | entries(t))

    def fill(self, c, value, pattern):
        result = entries(c)
        for position in entries(pattern):
            result[position] = np.array([value])
        return _like(c, c.dtype, result)

    # ------------------------------------------------------------------ arrays

    def cast_array(self, values, have, want):
        return cast(values, want)

    def line_numbers(self, indptr, names=None, count=None, dtype=np.int64):
        found = []
        for i in range(len(indptr) - 1):
            for _ in range(int(indptr[i]), int(indptr[i + 1])):
                found.append(i if names is None else int(names[i]))
        return np.array(found, dtype)

    def has_ascending_columns(self, A):
        return all(
            A.indices[k] < A.indices[k + 1]
            for i in range(len(A.indptr) - 1)
            for k in range(int(A.indptr[i]), int(A.indptr[i + 1]) - 1)
        )

    def tuples(self, x):
        return self.tuples_matrix(x) if _is_matrix(x) else self.tuples_vector(x)
