"""DistributedBackend: each rank has a range of the rows of every matrix, and of the positions of every vector.

Every rank runs the same program and makes the same calls.  A primitive takes parts (parts.py) and gives parts; a store
that is none has all entries on each rank, so that each takes its own positions and nothing moves.  What a primitive
computes at a position depends on its operands there, so element-wise calls move nothing; products replicate the vector
(or the rows of B, one rank's after another's) and write what they own, so that no sum crosses ranks but those that
`reduced` says.  Local stores are computed by `local`, another backend, with its own plans.

What each primitive moves: docs/DISTRIBUTED.md.  An operator that reads positions gets stores of the whole's shape that
have this rank's entries (movement.spread).  Decisions that lead to an exchange depend on facts that all ranks know.
"""

from __future__ import annotations

import itertools
import threading
import zlib
from typing import Any

import numpy as np

from ...exceptions import GraphblasException, InvalidValue
from ...operators import get_typed_op
from ...storage import place
from ...storage.constructors import (
    column_matrix,
    diagonal_of,
    row_matrix,
    vector_of_column,
    vector_of_row,
)
from ...storage.convert import cached_transpose, to_sparse
from ...storage.dense import compressed as without_dense
from ...storage.store import BitmapVector, StoredMask, forms_of
from .. import plain
from ..cpu.backend import CpuBackend
from ..dense import reads_positions
from ..planned import PlannedProducts
from ..protocol import PRIMITIVES, Backend
from .building import Building
from .exchanged import ExchangedArrays
from .joint import RankSums, failing_together, portable
from .known import Known, known_of_elementwise, known_of_ordinary
from .label_rounds import LabelRounds
from .layout import Rows, equal_ranges
from .movement import array_of, own_range, redistribute, spread, whole_matrix, whole_vector
from .parts import Part, PartArray, PartMatrix, PartVector
from .products import DistributedProducts
from .whole_loops import WholeLoops

_numbers = itertools.count()


class DistributedBackend(ExchangedArrays, Building, LabelRounds, WholeLoops, DistributedProducts, Backend):
    """The primitives over the ranks of `comm`, each of which computes with the backend `local`."""

    name = "distributed"
    on_device = True

    def __init__(self, comm: Any, local: Backend) -> None:
        self.comm, self.local = comm, local
        self.rank, self.size = comm.rank, comm.size
        self.number = next(_numbers)
        self.device_name = f"rank {comm.rank} of {comm.size}"
        self.of_host = CpuBackend() if local.on_device else local
        self.profile = local.profile
        self.merging = threading.RLock()  # of this rank: ranks that are threads merge together
        self._layouts: dict[int, Rows] = {}
        self._decided: set[int] = set()  # lengths that a matrix, or who calls set_layout, has cut
        place.register(PartArray, self.number, self)

    # ------------------------------------------------------------------ layouts and parts

    def layout(self, length: int) -> Rows:
        """The ranges of dimensions of that length: the first large matrix with so many rows decides."""
        found = self._layouts.get(length)
        if found is None:
            found = self._layouts[length] = Rows(self.starts_of(length), self.rank)
        return found

    def starts_of(self, length: int) -> list[int]:
        """The starts of ranges that no matrix has decided."""
        return equal_ranges(length, self.size)

    def set_layout(self, starts: Any) -> Rows:
        """Cut dimensions of the length starts[-1] in this way from now on; objects made before are moved as needed."""
        layout = self._layouts[int(starts[-1])] = Rows(starts, self.rank)
        self._decided.add(layout.length)
        return layout

    def part(self, store: Any) -> Any:
        """The part of a store: itself, or this rank's positions of an ordinary store, kept with it.

        Raises: InvalidValue where the ranks have different ordinary stores.
        """
        if isinstance(store, Part):
            if store.world is not self:
                raise InvalidValue(
                    f"an object of {store.world.size} ranks meets objects of other ranks; gather() it there first"
                )
            return store
        forms = forms_of(store)
        key = "part", self.number
        if key not in forms:
            self._check_equal(store)
            layout = self.layout(store.shape[0])
            local = own_range(self.local, self.local.copy_here(store), layout)
            made = self.made(local, store.shape, layout, known_of_ordinary(store, layout))
            made._nvals = store.nvals
            if store.format == "bitmap":  # its arrays may change in place, and its forms stay
                return made
            forms_of(store)[key] = made  # asked for again: ranks that are threads make the dictionary of one store
            return made
        return forms[key]

    def _check_equal(self, store):
        """Raises: InvalidValue on every rank unless they all have the same ordinary store."""
        if self.size == 1 or store.nvals == 0:
            return
        if store.iso and store.nvals == store.shape[0] and len(store.shape) == 1:
            value = place.first_value(store)  # compared by the next exchange: loops make many of them
            self.comm.note(f"a full vector, {store.nvals} times {value}")
            return
        forms, key = forms_of(store), ("equal", self.number)
        if key in forms:
            return
        keeps = store.format != "bitmap"  # its arrays may change in place, and its forms stay
        store = without_dense(store) if len(store.shape) == 2 else store
        arrays = [getattr(store, name, None) for name in ("indptr", "indices", "rows", "words")]
        is_partial = store.format == "bitmap" and store.words is not None and not store.iso
        arrays += [to_sparse(place.host(store)).values if is_partial else store.values]  # at absent positions any
        digest = 0
        for array in arrays:
            if array is not None:
                digest = zlib.crc32(memoryview(np.ascontiguousarray(place.host_array(array))).cast("B"), digest)
        found = self.comm.allgather((store.shape, store.nvals, digest), "an ordinary object")
        if any(item != found[0] for item in found[1:]):
            shapes = ", ".join(f"rank {r}: {shape}, {count} entries" for r, (shape, count, _) in enumerate(found))
            raise InvalidValue(
                f"an ordinary object that is an operand has other entries on other ranks ({shapes}): make it a part of "
                "a distributed object with gb.dist.from_local(part, first_row), or give every rank the one of rank 0 "
                "with gb.dist.distribute(x)"
            )
        if keeps:
            forms_of(store)[key] = True  # asked for again, see part

    def made(self, local: Any, shape: tuple[int, ...], layout: Rows, known: Known | None = None) -> Any:
        """The part of an object of that shape whose rows of this rank are `local`; known: of a vector."""
        if len(shape) == 1:
            return PartVector(*shape, local, layout, self, known)
        return PartMatrix(*shape, local, layout, self)

    def _local(self, x: Any, layout: Rows, call: str) -> Any:
        """The local store of an operand of any kind (StoredMask, None) in the given layout."""
        if x is None:
            return None
        if type(x) is StoredMask:
            return StoredMask(self._local(x.pattern, layout, call), x.complement)
        x = self.part(x)
        if x.layout == layout:
            return x.local
        forms = forms_of(x)
        if "moved" not in forms or forms["moved"][0] != layout:
            forms["moved"] = layout, redistribute(self, spread(x), layout, call)
        return forms["moved"][1]

    def _joint(self, *operands: Any) -> Rows:
        """The layout in which operands of one shape are combined: that of the first part."""
        stores = [x.pattern if type(x) is StoredMask else x for x in operands if x is not None]
        found = next((x.layout for x in stores if isinstance(x, Part)), None)  # false where this rank has no position
        return self.layout(stores[0].shape[0]) if found is None else found

    def _spread(self, x: Any, layout: Rows, call: str) -> Any:
        """The operand in the given layout as a store of the whole's shape."""
        if x is None:
            return None
        if type(x) is StoredMask:
            return StoredMask(self._spread(x.pattern, layout, call), x.complement)
        x = self.part(x)
        return spread(x if x.layout == layout else self.made(self._local(x, layout, call), x.shape, layout))

    def _elementwise(self, name: str, x: Any, y: Any, op: Any, mask: Any, *args: Any, **options: Any) -> Any:
        """A primitive whose result has x's shape and is computed position by position."""
        layout, spreads = self._joint(x, y), reads_positions(op)
        x, y = self.part(x), None if y is None else self.part(y)
        of = self._spread if spreads else self._local
        stores = [of(store, layout, name) for store in (x, y) if store is not None]
        found = getattr(self.local, name)(*stores, op, *args, **options, mask=of(mask, layout, name))
        found = own_range(self.local, found, layout) if spreads else found
        known = known_of_elementwise(name, x, y, op, options) if mask is None and x.layout is layout else None
        return self.made(found, x.shape, layout, known)

    def _moved(self, found: Any, call: str) -> Any:
        """The part of a store of the whole's shape of which every rank has some entries, wherever they are."""
        layout = self.layout(found.shape[0])
        return self.made(redistribute(self, found, layout, call), found.shape, layout)

    def together(self, function: Any, call: str, kinds: Any = GraphblasException) -> Any:
        """function(), whose error on any rank is raised on all: that of the first rank that has one."""
        result = error = None
        try:
            result = function()
        except kinds as found:
            error = found
        first = next((item for item in self.comm.allgather(portable(error), call) if item is not None), None)
        if first is not None:
            raise error if error is not None and str(error) == str(first) else first
        return result

    def any_of(self, dtype: Any) -> Any:
        """The operator `any` of a type."""
        return get_typed_op("any", dtype, kind="binary")

    def total(self, count: int, call: str) -> int:
        """The sum of the numbers of all ranks."""
        return count if self.size == 1 else sum(self.comm.allgather(count, call))

    def whole(self, x: Any, call: str = "gather") -> Any:
        """The operand with all its entries on every rank, an ordinary store; kept with a vector, not with a matrix, of
        which no rank may have the room for more than its part.
        """
        if not isinstance(x, Part):
            return x
        if len(x.shape) == 2:
            return whole_matrix(self, x, call)
        forms = forms_of(x)
        if "whole" not in forms:
            forms["whole"] = whole_vector(self, x, call)
        return forms["whole"]

    def everywhere(self, x: Any, call: str) -> Any:
        """`whole` of an operand that each rank reads all of: an ordinary one has to be the same on all ranks."""
        if not isinstance(x, Part):
            self._check_equal(x)
        return self.whole(x, call)

    # ------------------------------------------------------------------ structure

    def tuples_vector(self, u):
        return self.local.tuples_vector(self.whole(u))

    def tuples_matrix(self, A):
        return self.local.tuples_matrix(self.whole(A))

    def tuples(self, x):
        """Arrays of the host: `xp` is NumPy, also where ranks compute on devices."""
        return self.tuples_matrix(x) if len(x.shape) == 2 else self.tuples_vector(x)

    def convert(self, store, format):
        """In that form for whoever reads its arrays: all entries, on every rank."""
        return self.local.convert(self.whole(store), format)

    def transpose(self, A):
        A = self.part(A)
        found = cached_transpose(A)
        if found is None:
            found = forms_of(A)["transpose"] = self._moved(self.local.transpose(spread(A)), "transpose")
            found._nvals = A._nvals
        return found

    def cast(self, store, dtype):
        if store.dtype is dtype:
            return store
        return self.part(store).mapped(lambda local: self.local.cast(local, dtype))

    def gather_vector(self, u, I):
        u = self.part(u)
        return u if I is None else self._moved(self.local.gather_vector(spread(u), I), "extract")

    def gather_matrix(self, A, I, J):
        A = self.part(A)
        if I is None:
            return A if J is None else self._columns(A, self.local.gather_matrix(A.local, None, J))
        return self._moved(self.local.gather_matrix(spread(A), I, J), "extract")

    def _columns(self, A, local):
        """A matrix of A's rows and other columns."""
        return PartMatrix(A.nrows, local.ncols, local, A.layout, self)

    def expand_vector(self, u, I, size):
        return self._moved(self.local.expand_vector(spread(self.part(u)), I, size), "assign")

    def expand_matrix(self, A, I, J, nrows, ncols):
        return self._moved(self.local.expand_matrix(spread(self.part(A)), I, J, nrows, ncols), "assign")

    def concat_matrices(self, tiles, dtype):
        parts = [[spread(self.part(A)) for A in row] for row in tiles]
        return self._moved(self.local.concat_matrices(parts, dtype), "concat")

    def outside(self, A, I, J):
        return plain.outside(self, A, I, J)

    def as_row(self, u):
        """The 1 x n matrix whose row is u (storage/constructors.py)."""
        return self._moved(row_matrix(spread(u)), "row")

    def as_column(self, u):
        """The n x 1 matrix whose column is u."""
        return PartMatrix(u.size, 1, column_matrix(u.local), u.layout, self)

    def as_diagonal(self, u):
        """The n x n matrix with u on its diagonal."""
        D = diagonal_of(u.local)
        local = self.local.expand_matrix(D, None, u.layout.own, len(u.layout), u.size)
        return PartMatrix(u.size, u.size, local, u.layout, self)

    def only_row(self, A):
        """The vector of the only row of a 1 x n matrix."""
        return self._moved(vector_of_row(A.local), "row")

    def only_column(self, A):
        """The vector of the only column of A, or of the rows of one that have one entry each at most."""
        return PartVector(A.nrows, vector_of_column(A.local), A.layout, self)

    # ------------------------------------------------------------------ element-wise

    def union(self, x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
        options = {"left_default": left_default, "right_default": right_default, "dtype": dtype}
        return self._elementwise("union", x, y, op, mask, **options)

    def intersect(self, x, y, op, mask=None):
        return self._elementwise("intersect", x, y, op, mask)

    def restrict(self, x, mask):
        layout = self._joint(x, mask)
        local = self.local.restrict(self._local(x, layout, "restrict"), self._local(mask, layout, "restrict"))
        return self.made(local, x.shape, layout)

    def select(self, x, op, thunk, mask=None):
        return self._elementwise("select", x, None, op, mask, thunk)

    def apply(self, x, op, mask=None, left=None, right=None, thunk=None):
        return self._elementwise("apply", x, None, op, mask, left=left, right=right, thunk=thunk)

    def reduce(self, x, monoid):
        return self.combined(self.local.reduce(self.part(x).local, monoid), monoid, "reduce")

    def combined(self, mine, monoid, call):
        """(+) of the numbers of all ranks, None where a rank has none, in their order on every rank."""
        return self._sum(self.comm.allgather(mine, call), monoid)

    def _sum(self, found, monoid):
        found = [value for value in found if value is not None]
        if len(found) < 2:
            return found[0] if found else None
        values = array_of(found, monoid.type)  # numbers of the host: a device would take 0.1 ms to give the sum back
        return self.of_host.reduce(BitmapVector(len(found), monoid.type, None, values, len(found)), monoid)

    def inner(self, u, v, semiring):
        layout = self._joint(u, v)
        of = self._spread if semiring.positional is not None else self._local
        mine = self.local.inner(of(u, layout, "inner"), of(v, layout, "inner"), semiring)
        return self.combined(mine, semiring.monoid, "inner")

    def is_equal(self, x, y, op, tolerance=None):
        layout = self._joint(x, y)
        mine = self.local.is_equal(self._local(x, layout, "isequal"), self._local(y, layout, "isequal"), op, tolerance)
        return all(self.comm.allgather(bool(mine), "isequal"))

    def scan(self, x, monoid):
        x = self.part(x)
        local = self.local.scan(x.local, monoid)
        if len(x.shape) == 2:
            return x.like(local)
        sums = self.comm.allgather(self.local.reduce(x.local, monoid), "scan")
        before = self._sum(sums[: self.rank], monoid)
        if before is not None:
            local = self.local.apply(local, monoid.binaryop, left=before)
        return x.like(local)

    def first_of_rows(self, x, how, k, seed=0):
        x = self.part(x)
        if len(x.shape) == 2:
            return x.like(self.local.first_of_rows(x.local, how, k, seed + self.rank))  # other hashes on each rank
        if how != "random":
            x = x.like(self.local.first_of_rows(x.local, how, k))  # of which those of all ranks are some
        whole = self.local.first_of_rows(self.local.copy_here(self.whole(x, "selectk")), how, k, seed)
        return self.made(own_range(self.local, whole, x.layout), x.shape, x.layout)

    def one_pass(self, program, dtype, size, scalars, *stores):
        layout = self._joint(*stores)
        mine = [self._local(store, layout, "one_pass") for store in stores]
        scalars = [x if isinstance(x, float) else x.value for x in scalars]  # an exchange, before the device is locked
        outputs, sums = self.local.one_pass(program, dtype, len(layout), scalars, *mine)
        totals = RankSums(self.comm, program.monoids, sums)
        return [PartVector(size, store, layout, self, Known(layout.all_positions, True)) for store in outputs], totals

    def broadcast(self, u, pattern, axis):
        pattern = self.part(pattern)
        if axis == 0:
            local = self.local.broadcast(self._local(u, pattern.layout, "broadcast"), pattern.local, 0)
        else:
            local = self.local.broadcast(self.local.copy_here(self.everywhere(u, "broadcast")), pattern.local, 1)
        return self._columns(pattern, local)

    def kronecker(self, A, B, op, mask=None):
        right = without_dense(self.local.copy_here(self.everywhere(B, "kronecker")))
        C = self._moved(self.local.kronecker(spread(self.part(A)), right, op), "kronecker")
        return C if mask is None else self.restrict(C, mask)

    # ------------------------------------------------------------------ the write step

    def overwrite(self, c, t, mask):
        layout = self._joint(c, t, mask)
        local = self.local.overwrite(
            self._local(c, layout, "write"), self._local(t, layout, "write"), self._local(mask, layout, "write")
        )
        return self.made(local, c.shape, layout)

    def fill(self, c, value, pattern):
        layout = self._joint(c, pattern)
        local = self.local.fill(self._local(c, layout, "write"), value, self._local(pattern, layout, "write"))
        return local if local is NotImplemented else self.made(local, c.shape, layout)

    # ------------------------------------------------------------------ placement and arrays

    def to_device(self, operand):
        if operand is None:
            return None
        if type(operand) is StoredMask:
            return StoredMask(self.part(operand.pattern), operand.complement)
        return self.part(operand)

    def copy_here(self, store):
        return self.part(store)

    def synchronize(self):
        self.local.synchronize()

    def wait_stream(self):
        """Exchanges are in the order of calls."""

    def constant(self, value):
        """The array of one value that `with_values` of a part takes."""
        dtype = np.asarray(value).dtype
        return np.array([value], dtype)

    def iso_value(self, store):
        """The value of an iso store; parts are never iso."""
        return place.first_value(self.whole(store))

    def element(self, store, key):
        """The entry at `key`, read by the rank that has it."""
        row, *column = key if isinstance(key, tuple) else (key,)
        owner = store.layout.owner_of(row)
        found = None
        if owner == self.rank:
            i = row - store.layout.first
            if column:
                j = column[0]
                one: Any = self.local.gather_matrix(store.local, range(i, i + 1), range(j, j + 1))
            else:
                one = self.local.convert(self.local.gather_vector(store.local, range(i, i + 1)), "sparse")
            found = place.first_value(one) if one.nvals else None
        return self.comm.broadcast(found, owner, "element")

    def host_array(self, array):
        """An array of the whole, as its form has it, on every rank."""
        if not isinstance(array, PartArray):
            return self.local.host_array(array)
        part = array.part
        found = getattr(self.local.convert(self.whole(part), part.format), array.name)
        return np.array(place.host_array(found))  # the caller's own: the whole is kept

    def close(self) -> None:
        """The ranks part; objects that are left cannot be used."""
        place.unregister(PartArray, self.number)

    def agreed(self, value):
        return self.comm.broadcast(value, 0, "agreed")

    def bind(self):
        self.local.bind()

    def bound(self):
        return self.local.bound()

    def run_reported(self, function, name):
        return function()

    def describe_device(self):
        return f"{self.size} ranks of {self.local.describe_device() or 'this processor'}"

    def cast_array(self, values, have, want):
        return self.local.cast_array(values, have, want)

    def line_numbers(self, indptr, names=None, count=None, dtype=np.int64):
        return self.local.line_numbers(indptr, names, count, dtype)

    def has_ascending_columns(self, A):
        return self.local.has_ascending_columns(self.whole(A))


_OF_RANKS = ("agreed_type", "agreed_shape", "build_shared", "scattered", "of_parts", "gathered")  # what gb.dist calls

for _name in (*PRIMITIVES, *vars(PlannedProducts), *_OF_RANKS):
    _primitive = getattr(DistributedBackend, _name)
    if not _name.startswith("_") and _primitive is not getattr(Backend, _name, None):
        setattr(DistributedBackend, _name, failing_together(_name, _primitive))
