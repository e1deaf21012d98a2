"""A captured loop of a program: what its names are from turn to turn, and its calls.

Vectors and numbers that a turn changes lie in slots of the device's loop (backends/cuda/programs): first the vectors
that exist before the loop, then those that each turn makes anew under a name, then numbers.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..backends.select import current
from ..core import elements, tracing
from ..core.matrix import Matrix
from ..core.number import Number
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..dtypes import BOOL, INT64
from ..exceptions import CaptureError
from .begun import Begun, as_test
from .bounded import Matrices, within
from .bounds import BoundedMatrix
from .fixpoint import Fixpoint
from .names import (
    NUMBERS,
    ONE_BRANCH,
    UNDEFINED,
    as_number,
    begin_otherwise,
    begins_as,
    both,
    is_matrix,
    is_object,
    negated,
    role_of,
)  # fmt: skip
from .noted import Noted
from .reads import apart
from .results import left_by
from .search import NO_SEARCH, Search

ENDLESS = 2**62  # turns
_ALIASES = "programs: two names stand for one vector as a turn ends: give one of them a .dup()"


class Captured:
    """A loop on the device, for operands of one signature.

    roles: of each name that the loop binds, see role_of.  shapes: of those that are matrices.  next: index of the name
    whose object it is bound to a turn later (itself, unless vectors are swapped).
    """

    def __init__(self, device: Any, carried: Any) -> None:
        self.device = device
        self.turns, self.pulled = 0, 0  # type: int, int | None
        self.tries = 0  # captures that failed before it
        self._recorded: Any = None  # the frame of the call that captured it, where the device has no graphs
        self.changed: set[int] = set()  # of the vectors, those that a turn writes
        self.places: list[int] = []  # of a loop within: which of the vectors that it names are carried
        self.search: Search | Fixpoint | None = None  # which the loop runs as
        self.inner: dict[int, Captured] = {}  # the loops within, in the order in which a turn comes to them
        self.names = carried.names
        self.roles: list[str] = []
        self.types: list[Any] = []
        self.shapes: list[tuple | None] = []
        self.matrices = Matrices()  # those that change
        self.next: list[int] = []
        self.homes: list[int] = []  # index of the vector that a name of role "object" is bound to as a turn begins
        self.vectors: list[int] = []  # the names of role "vector"
        self.numbers: list[int] = []  # of roles "number" and "scalar"
        self.objects: list[tuple[int, int]] = []  # (name, home) of role "object"
        self.begun: dict[int, Any] = {}  # of numbers that begin with another type: that type
        self._kept = [value for _, value in carried.read if not isinstance(value, Vector)]  # their ids stay theirs
        self._stores = [(matrix, matrix._store) for matrix in carried.fixed]

    @property
    def stores(self) -> list[tuple]:
        """(matrix, its store) of those that it reads."""
        return self._stores

    @property
    def is_kept(self) -> bool:
        """Do later calls run as this one did?"""
        return self.device.captured or self.search is not None

    @property
    def is_bindable(self) -> bool:
        """May later calls be told from others by a few comparisons (bound_call.py)?"""
        return self.matrices.backend is None and (self.search is not None or self.device.has_graph)

    @property
    def lowering(self) -> str:
        """How the turns run, for explain()."""
        return self.search.text if self.search is not None else self.device.one.text

    def holds(self) -> bool:
        """Are the matrices as they were?"""
        for matrix, store in self._stores:
            if matrix._store is not store:
                return False
        return True

    def first(self, carried: Any, most: int | None, patterns: list) -> tuple | None:
        """The second call of a signature: a turn from Python, one in each direction, the capture, the others.

        patterns: of positions at which matrices that change may have entries, beside those that they have.
        """
        left = ENDLESS if most is None else most
        if left <= 0 or not carried.test(*carried.values):
            return tuple(carried.values)
        before = [vector._store for vector in carried.vectors]
        (stop, values), self.turns = carried.body(*carried.values), 1
        if stop or left == 1 or not carried.test(*values):
            return tuple(values)
        self.settle(carried, values)
        begun, others = dict(zip(map(id, carried.vectors), before, strict=True)), list(before)
        for role, home, value in zip(self.roles, self.homes, carried.values, strict=True):
            if role == "object":  # of vectors that a turn exchanges, what a later call begins with
                others[home] = begun[id(value)]
        others += [carried.values[k]._store if is_object(carried.values[k]) else None for k in self.vectors]
        before += [carried.values[k]._store if is_object(carried.values[k]) else None for k in self.vectors]
        after = [vector._store for vector in carried.vectors] + [values[k]._store for k in self.vectors]
        made = any(map(is_matrix, values))
        self.matrices = Matrices(current(), [x for x in (*before, *after) if x is not None], patterns, made)
        with traced(self, carried) as frame:
            frame.bounded = most is not None
            self.device.carry(frame.begin(values), [self.matrices.entries_of(store) for store in others])
            turns, going = self.device.settle(frame.turn, left - 1, False, lambda: frame.search is not None)
            self.turns += turns
        self.search = frame.search
        if self.search and (found := self.as_search(carried.vectors, before, carried.values, left)) is not None:
            self.device.forget()
            return found
        with traced(self, carried, frame):
            if frame.search and going:
                turns, going = self.device.settle(frame.turn, left - self.turns)
                self.turns += turns
            self.device.capture(frame.turn, [store for _, store in self._stores])
            if not self.device.has_graph:
                self._recorded, carried.test, carried.body = frame, apart(carried.test), apart(carried.body)
            if going and self.turns < left:
                self.device.launch(frame.turn, left - self.turns)
                self.turns += self.device.turns
            self.pulled = self.device.pulled
        return frame.finish(self.device.results(self._unchanged(carried)), values, self.turns - 1)

    def again(self, carried: Any, most: int | None) -> tuple:
        """Any later call."""
        left = ENDLESS if most is None else most
        self.turns = self.pulled = 0
        if left <= 0 or not carried.test(*carried.values):
            return tuple(carried.values)
        if self.search is not None:
            stores = [vector._store for vector in carried.vectors]
            found = self.as_search(carried.vectors, stores, carried.values, left)
            if found is None:
                raise CaptureError(NO_SEARCH)
            return found
        with traced(self, carried) as frame:
            stores = frame.begin(carried.values)
            if not self.device.fits(stores):
                raise CaptureError("programs: a vector does not have the form that it had when the loop was captured")
            self.device.load(stores)
            with self._as_recorded(frame) as turn:
                self.device.launch(turn, left)
        self.turns, self.pulled = self.device.turns, self.device.pulled
        return frame.finish(self.device.results(self._unchanged(carried)), carried.values, self.turns)

    def as_search(self, vectors: list, stores: list, values: Any, left: int) -> tuple | None:
        """The values after the loop, run as a search from these stores; None where there is none, see Search.run."""
        values = list(values)
        turns = self.search.run(vectors, stores, values, left)  # type: ignore[union-attr]
        if turns is None:
            self.search = None
            return None
        self.turns, self.pulled = turns, None  # directions are a matter of the search, whose plan has them
        return tuple(values)

    @contextmanager
    def _as_recorded(self, frame):
        """The turn that was captured: where the device has no graphs, that of the call that captured it, whose
        functions, constants and vectors it reads as a graph would.
        """
        recorded = self._recorded
        if self.device.has_graph or recorded is None:
            yield frame.turn
            return
        vectors = recorded._carried.vectors
        before = [vector._store for vector in vectors]
        tracing.active, self.device.slot_of = recorded, recorded.slot_of
        try:
            yield recorded.turn
        finally:
            tracing.active = frame
            for vector, store in zip(vectors, before, strict=True):
                elements.reset(vector, store)

    def _unchanged(self, carried):
        return set(range(len(carried.vectors))) - self.changed

    def settle(self, carried, values):
        """What the names are bound to from turn to turn, by the turn that ended with `values`."""
        places = {id(vector): k for k, vector in enumerate(carried.vectors)}
        for name, own, old, new in zip(carried.names, carried.own, carried.values, values, strict=True):
            role = "own" if own else role_of(name, old, new, places)
            if not own and old is UNDEFINED and new is not UNDEFINED and name not in carried.always:
                raise CaptureError(
                    f"programs: `{name}` is bound in a branch or a loop within alone; bind it before the loop"
                )
            self.roles.append(role)
            kind = NUMBERS.get(type(new)) or getattr(new, "dtype", None)
            self.types.append(kind)
            self.shapes.append(new.shape if type(new) is Matrix else None)
            self.homes.append(places[id(new)] if role == "object" else -1)
            self.next.append(len(self.next))
        moved = {
            (places[id(old)], places[id(new)])
            for role, old, new in zip(self.roles, carried.values, values, strict=True)
            if role == "object"
        }
        if not len({old for old, _ in moved}) == len({new for _, new in moved}) == len(moved) or (
            {old for old, _ in moved} != {new for _, new in moved}
        ):
            raise CaptureError(_ALIASES)  # no exchange of vectors: then one has two names, or has lost its name
        self.vectors = [k for k, role in enumerate(self.roles) if role == "vector"]
        self.numbers = [k for k, role in enumerate(self.roles) if role in ("number", "scalar")]
        self.objects = [(k, self.homes[k]) for k, role in enumerate(self.roles) if role == "object"]
        self.begun = begin_otherwise(self, carried)


@contextmanager
def traced(captured: Captured, carried: Any, frame: Frame | None = None) -> Iterator[Frame]:
    """A frame, new where none is given, whose turns core reports to."""
    frame = Frame(captured, carried) if frame is None else frame
    before, tracing.active = tracing.active, frame
    captured.device.slot_of = frame.slot_of
    try:
        with within(captured.matrices.backend):
            yield frame
    finally:
        tracing.active = before
        captured.device.slot_of = lambda store: None


class Frame:
    """The vectors and numbers of one call; the Trace of its turns.

    Slots, in this order: the vectors that exist before the loop, those of names of role "vector", then numbers.
    """

    def __init__(self, captured: Captured, carried: Any) -> None:
        self.thread = threading.get_ident()
        self.captured, self._carried = captured, carried
        self.tried = False  # are the turns run for the forms that they leave, and undone?
        self.flags: list[Number] = []  # is the branch taken whose calls are traced?
        self._met = 0  # loops within, in this turn
        self._written: dict[int, Any] = {}
        self._noted: Any = None  # what a turn did
        self.bounded = False  # has the loop most turns?
        self._numbers: dict[int, Number] = {}  # as the turn began
        self.search: Search | Fixpoint | None = None  # that the latest turn was a level of
        self._logs: list[dict[int, Any]] = []
        self._fixed: list = []
        self._begun: list = []
        self._slots: dict[int, Vector] = {}

    def begin(self, values: Any) -> list:
        """What the slots are loaded with: stores, NumPy scalars, None for a name that is not bound yet."""
        captured = self.captured
        stores: list = [vector._store for vector in self._carried.vectors]
        self._fixed = [UNDEFINED if own else value for own, value in zip(self._carried.own, values, strict=True)]
        for role, home, value in zip(captured.roles, captured.homes, values, strict=True):
            if role == "object":
                stores[home] = value._store
        self._begun = list(stores)
        for k in captured.vectors:
            stores.append(values[k]._store if is_object(values[k]) else None)
        stores = [captured.matrices.entries_of(store) for store in stores]
        for k in captured.numbers:
            value = values[k]
            if isinstance(value, Scalar):
                value = value.value
            if type(value) in (Number, Begun):  # of the loop around this one
                stores.append(as_number(value, captured.types[k], self._carried.names[k]).vector._store)
                continue
            stores.append(begins_as(self._carried.names[k], value, captured.types[k]))
        return stores

    def turn(self, stores: list) -> tuple[list, Any]:
        """One turn on these stores: (those that it leaves, the condition)."""
        captured, carried = self.captured, self._carried
        self._met, self._written = 0, {}
        stores.reverse()  # popped, so that each has one holder and may be written in place
        matrices = captured.matrices
        for vector in carried.vectors:  # no name for the store here: it would be a second holder
            if type(vector) is Vector:
                elements.reset(vector, stores.pop())
            else:
                elements.reset(vector, matrices.of_entries(vector.shape, stores.pop()))
        values = list(self._fixed)
        for k, (role, home) in enumerate(zip(captured.roles, captured.homes, strict=True)):
            if role == "object":
                values[k] = carried.vectors[home]
        for k in captured.vectors:
            values[k] = _object(captured, k, stores.pop())
        for k in captured.numbers:
            values[k] = self._numbers[k] = Number(Vector._from_store(stores.pop(), captured.types[k]))
            if k in captured.begun:
                values[k] = Begun(values[k], carried.names[k], captured.begun[k])
        begun = [*carried.vectors, *(values[k] for k in captured.vectors)]
        self._slots, self._noted = dict(enumerate(begun)), Noted(carried.vectors, captured.device.arrays_of)
        stop, values = carried.body(*values)
        stop, test = as_test(stop), False if stop is True else as_test(carried.test(*values))
        goes = test if stop is True or stop is False else both(True, negated(stop), lambda: test)
        self.search, left = None, self._left(values, begun)
        more = captured.vectors or captured.inner or "scalar" in captured.roles
        if not more and captured.next == list(range(len(captured.next))):
            numbers = {k: (self._numbers[k], values[k]) for k in captured.numbers}
            self.search = self._noted.whole(numbers, goes, self.bounded, (Search, Fixpoint))
        return left, goes.vector._store if type(goes) is Number else bool(goes)

    def _left(self, values, begun):
        """The stores of a turn's end, in the order of the slots."""
        captured, carried = self.captured, self._carried
        places = {id(vector): k for k, vector in enumerate(carried.vectors)}
        stores_of = captured.matrices.entries_of
        stores = [stores_of(vector._store, True) for vector in carried.vectors]
        captured.changed.update(places[key] for key in self._written if key in places)
        for k, (role, value) in enumerate(zip(captured.roles, values, strict=True)):
            name = carried.names[k]
            if role == "object":
                if id(value) not in places:
                    raise CaptureError(f"programs: `{name}` is a vector of before the loop in one turn, not in another")
                stores[captured.homes[k]] = stores_of(value._store, True)
                captured.next[k] = captured.homes.index(places[id(value)])
                if captured.next[k] != k:
                    captured.changed.update((captured.homes[k], places[id(value)]))
            elif is_matrix(value) and value is not self._fixed[k] and role not in ("vector", "own"):
                raise CaptureError(f"programs: `{name}` becomes a Matrix in some turns only")
            elif value is ONE_BRANCH and role != "own":
                raise CaptureError(
                    f"programs: `{name}` is bound in a branch or a loop within alone; bind it before the loop"
                )
            elif role == "constant" and value is not self._fixed[k]:
                raise CaptureError(f"programs: `{name}` changes in some turns only")
            elif role == "vector" and (not is_object(value) or (captured.shapes[k] or value.shape) != value.shape):
                raise CaptureError(f"programs: `{name}` becomes a {type(value).__name__}")
        self._check_aliases(values, places)
        stores += [stores_of(values[k]._store, True) for k in captured.vectors]
        stores += [as_number(values[k], captured.types[k], carried.names[k]).vector._store for k in captured.numbers]
        self._check_written(values, begun)
        return stores

    def _check_aliases(self, values, places):
        """Raises: CaptureError where names share a vector as a turn ends that have slots of their own."""
        captured = self.captured
        made = [id(values[k]) for k in captured.vectors]
        ends: dict[int, set[int]] = {}
        for home, value in zip(captured.homes, values, strict=True):
            if home >= 0:
                ends.setdefault(home, set()).add(id(value))
        bound = set().union(*ends.values()) if ends else set()
        if (
            len(set(made)) < len(made)
            or places.keys() & set(made)
            or len(bound) < sum(map(len, ends.values()))
            or any(len(each) > 1 for each in ends.values())
        ):
            raise CaptureError(_ALIASES)

    def _check_written(self, values, begun):
        """Raises: CaptureError where a turn wrote a vector that others have, too, or that is lost with the turn."""
        bound = {id(value) for value in (*self._carried.vectors, *values)}
        kept = {id(value) for role, value in zip(self.captured.roles, values, strict=True) if role != "own"}
        lost = {id(value) for value in begun} - kept - {id(vector) for vector in self._carried.vectors}
        for key, (target, holders) in self._written.items():
            if key in lost or key not in bound and sys.getrefcount(target) > holders:
                raise CaptureError(
                    "programs: a vector is written that the loop does not name as the turn ends; give it a name"
                )

    def finish(self, results: list, values: Any, turns: int) -> tuple:
        """The values of the names after `turns` turns that began with `values`; vectors get their entries."""
        captured, vectors = self.captured, self._carried.vectors
        count = len(vectors) + len(captured.vectors)
        shapes = [None if type(vector) is Vector else vector.shape for vector in vectors]
        shapes += [captured.shapes[k] for k in captured.vectors]
        stores = [
            store if store is None or shape is None else captured.matrices.matrix_of(shape, store)
            for shape, store in zip(shapes, results, strict=False)
        ]
        return left_by(captured, values, vectors, self._begun, stores, results[count:], turns)

    def slot_of(self, store: Any) -> int | None:
        """The number of the slot whose vector has that store in this turn, None for another one."""
        return next((k for k, vector in self._slots.items() if vector._store is store), None)

    # ---------------------------------------------------------------- what core reports

    def count(self, vector: Any) -> Any:
        """`nvals`: a Number where it is on the device only."""
        store = vector._store
        if store.nvals_if_read is not None:
            return store.nvals
        found = Number(Vector._from_store(current().count_as_vector(store), INT64))
        self._noted.count(vector, found)
        return found

    def number(self, found: Any, dtype: Any) -> Any:
        """The Number that a reduction or a comparison found on the device; else what it found."""
        store = current().number_as_vector(found, dtype)
        return found if store is None else Number(Vector._from_store(store, dtype))

    def compared(self, x: Any, y: Any, found: Any) -> Any:
        """Of the exact comparison of two stores: as `number`."""
        return self._noted.compared(x, y, self.number(found, BOOL))

    def assign(self, number: Any, desc: Any) -> None:
        """Note the number that the next write assigns."""
        self._noted.assign(number, desc)

    def write(self, target: Any, record: Any = None, desc: Any = None) -> None:
        """Note a vector that is written."""
        self._noted.write(target, record, desc, not self.flags)
        if any(target is matrix for matrix in self._carried.fixed):
            raise CaptureError("programs: a Matrix is written in the loop, and no name of it stands left of `<<` there")
        self._written.setdefault(id(target), (target, sys.getrefcount(target) + 1))
        for log in self._logs:
            if id(target) not in log:
                target._store.shared = True  # not in place: the other branch begins with it
                log[id(target)] = target, target._store

    # ---------------------------------------------------------------- loops within, branches

    def next_within(self) -> int:
        """The number, in this turn, of a loop within."""
        self._met += 1
        return self._met - 1

    @contextmanager
    def trial(self) -> Iterator[dict[int, Any]]:
        """As `logged`; loops that are met within are forgotten afterwards."""
        captured = self.captured
        before = captured.inner, self._met, self.tried
        captured.inner, self._met, self.tried = {}, 0, True
        try:
            with self.logged() as log:
                yield log
        finally:
            captured.inner, self._met, self.tried = before

    @contextmanager
    def taken(self, test: Number) -> Iterator[None]:
        """Within it the calls of a branch are traced that is taken where `test` holds."""
        self.flags.append(both(True, self.flags[-1], lambda: test) if self.flags else test)
        try:
            yield
        finally:
            self.flags.pop()

    @contextmanager
    def logged(self) -> Iterator[dict[int, Any]]:
        """A dict that gets {id: (vector, its store before)} of the vectors that are written within."""
        log: dict[int, Any] = {}
        self._logs.append(log)
        try:
            yield log
        finally:
            self._logs.pop()

    def chosen(self, flag: Any, first: Any, second: Any, dtype: Any) -> Any:
        """The store `first` where the BOOL of the store `flag` is true, else `second`."""
        if first is second:
            return first
        if BoundedMatrix in (type(first), type(second)):
            bound = (first if type(first) is BoundedMatrix else second).bound
            return BoundedMatrix(bound, self.chosen(flag, bound.project(first), bound.project(second), dtype))
        return self.captured.device.chosen(flag, first, second)


def _object(captured, k, store):
    """The vector or matrix of a name that has these entries."""
    if captured.shapes[k] is None:
        return Vector._from_store(store, captured.types[k])
    return Matrix._from_store(captured.matrices.of_entries(captured.shapes[k], store), captured.types[k])
