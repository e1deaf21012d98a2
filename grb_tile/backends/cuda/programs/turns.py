"""A loop on the device: its turn captured once in each direction, and launched as WHILE nodes.

    loop = DeviceLoop(device)
    loop.carry(stores, others)               # the vectors that change from turn to turn, copied into slots
    loop.rehearse(turn, PUSH, left)          # a turn that runs at once: kernels get compiled, forms made
    loop.capture(turn)                       # the turn as a graph: nothing runs
    loop.launch(turn, left)                  # turns until the condition fails, at most `left`
    stores = loop.results(unchanged)

`turn(stores)` gives (the stores that it leaves, the vector of size 1 that is the condition, or a bool).  While it runs
`device.turns` is the loop: in a capture, what would read from the device or write to it from the host raises
CaptureError, and the planner asks `direction` for the method of a product.

Arrays of a captured turn come from a memory pool of the graph's own and stay there as long as the graph, and so does
what calls leave for one another.  Without graphs (the emulation) turns run one by one under the same rules.
Kernels: kernels/programs/turns.cuh.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from ....dtypes import lookup_dtype
from ....exceptions import CaptureError, GraphblasException
from ....planner import tuning
from ....planner.choose_lowering import product_fits
from ..products.columns import add_edges
from ..runtime.mailbox import PinnedAddress, wait_for
from . import slots
from .bound_loop import BoundLoop, take_back
from .doubt import DOUBT, forgotten
from .persistent import LOWERING, OneKernel
from .slots import Choice, Form, Slot, Wider, as_before, bits_of, chosen, copy_arrays, form_of, number_of, parts_of

PUSH, PULL = 0, 1
_METHODS = {PUSH: "cols", PULL: "rows"}
_STATE = 5  # numbers of TurnState: turns, pulled, goes, direction, left
_STOP, _DONE, _TURNS, _PULLED, _INITIAL = 0, 1, 2, 3, 4  # page-locked words
MOST_FORMS = 4  # times that a loop begins again


class DeviceLoop:
    """One loop; used under the device's lock."""

    arrays_of = staticmethod(slots.arrays_of)

    def __init__(self, device: Any) -> None:
        self.device, self.lock = device, device.lock
        self.place: tuple | None = None  # (graph, stream, the body that is recorded)
        self.inner: list[Any] = []  # loops within the turn
        self.capturing = False  # is what needs the host refused?
        self.turns = self.pulled = 0  # of the latest launch
        self._nodes: dict[str, int] = {}  # of the bodies of the graph
        self._slots: list[Slot] = []
        self._forms: list[Form] = []
        self._begun: list = []
        self._now, self._choice = PUSH, None
        self._copied: dict[int, Any] = {}  # address of a slot's array -> what the turn has copied there
        self._graph, self._of_graph, self._held, self.captured = None, [], [], False
        self.slot_of: Callable[[Any], int | None] = lambda store: None  # the number of the slot whose vector has it
        self._memory = memory = device.xp.cuda.alloc_pinned_memory(8 * (_INITIAL + _STATE))
        self._address = PinnedAddress(memory.ptr)
        self._initial = PinnedAddress(memory.ptr + 8 * _INITIAL)
        self._words = (ctypes.c_int64 * (_INITIAL + _STATE)).from_address(memory.ptr)
        self.held: dict[int, Any] = {}  # of vectors that no turn writes: the store whose entries the slot has
        self.lent: list = []  # weak references to the Lent that read the slots (bound_loop.py)
        self._told = False  # has the latest launch told counts and numbers?
        self._found: Any = ()
        self.stop_address, self.stop_words = self._address, self._words
        self.state = device.zeros(_STATE, np.int64)
        self._edges, self._heard = device.zeros(1, np.uint64), device.zeros(1, np.uint64)  # heard: of the stop word
        self.doubt = device.zeros(1, np.uint64)  # not 0: a turn met what only a call from Python can do
        self._cleared = [(self.doubt, None)]  # as the loop is loaded
        self.one = OneKernel()

    # ------------------------------------------------------------------ what it carries

    def carry(self, stores: list, others: list) -> None:
        """Slots in the forms of these vectors, which are loaded; a NumPy scalar is a full vector of size 1.

        others: vectors that later calls may begin with, in the order of `stores`, or None; the forms hold them, too,
        where there is one that does.
        Raises: CaptureError where one has no such form.
        """
        self._begun, self._forms = stores, []
        self._vectors = sum(not isinstance(store, np.generic) for store in stores)  # the slots before the numbers
        for store in self._here(stores):
            if isinstance(store, np.generic):
                self._forms.append(Form(1, lookup_dtype(store.dtype), True, 0))
            else:
                self._forms.append(form_of(self.device, store))
        for k, store in enumerate(self._here(others)):
            wider = None if store is None else self._forms[k].wider(form_of(self.device, store))
            self._forms[k] = wider or self._forms[k]
        self._make_slots()

    def _make_slots(self):
        stores = self._here(self._begun)
        self._slots = [
            Slot(self.device, form, store.values if form.value else None)
            for form, store in zip(self._forms, stores, strict=True)
        ]
        self.load(self._begun)

    def fits(self, stores: list) -> bool:
        """Can the slots hold these?  None fits everywhere: a name that no turn has bound yet."""
        return all(
            store is None or isinstance(store, np.generic) or slot.fits(store)
            for slot, store in zip(self._slots, self._here(stores), strict=True)
        )

    def forget(self) -> None:
        """Nothing runs here: the loop is the backend's."""
        self._slots, self._begun = [], []

    def bound(self, unchanged: set[int]) -> BoundLoop:
        """It with what calls of one kind take; unchanged: the vectors that no turn writes."""
        return BoundLoop(self, unchanged)

    def load(self, stores: list) -> None:
        """What the loop begins with."""
        take_back(self.lent)
        self.held.clear()
        pairs: list = list(self._cleared)
        for slot, store in zip(self._slots, self._here(stores), strict=True):
            if isinstance(store, np.generic):
                pairs.append((slot.values, bits_of(store, slot.values.dtype)))
            elif store is not None:
                pairs += slot.load(store)
        copy_arrays(self.device, pairs)

    def results(self, unchanged: set[int]) -> list:
        """What the slots hold: vectors of their own, NumPy scalars; None for those slots that no turn writes."""
        vectors, numbers = self._slots[: self._vectors], [slot.values for slot in self._slots[self._vectors :]]
        counts, found = [None] * len(vectors), []
        if self._told:  # by the launch
            *found, doubt = self._found
            if doubt:
                raise CaptureError(DOUBT)
            counts = [None if slot.count is None else found.pop(0) for slot in vectors]
        elif numbers:
            found = self.device.read(*(x.view(np.uint8 if x.dtype.itemsize == 1 else np.int64) for x in numbers))
        made = [
            (None, []) if k in unchanged else slot.result(nvals)
            for k, (slot, nvals) in enumerate(zip(vectors, counts, strict=True))
        ]
        copy_arrays(self.device, [pair for _, pairs in made for pair in pairs])
        return [store for store, _ in made] + [number_of(bits, x.dtype) for bits, x in zip(found, numbers, strict=True)]

    def _here(self, stores):
        """The vectors on the device; one that is known to be empty has nothing to copy there."""
        to_device = self.device.to_device
        return [
            x if x is None or isinstance(x, np.generic) or x.nvals_if_read == 0 and x.size else to_device(x)
            for x in stores
        ]

    def copy(self, to: Any, source: Any) -> None:
        """to[:] = source, arrays of the same bytes, as a launch of a turn."""
        copy_arrays(self.device, [(to, source)] * (to.nbytes > 0))

    def chosen(self, flag: Any, first: Any, second: Any) -> Any:
        """A vector with the entries of `first` where the one BOOL of the vector `flag` is true, else of `second`.

        Raises: CaptureError where their sizes or types differ.
        """
        flag, first, second = self._here([flag, first, second])
        return chosen(self.device, flag.values, first, second)

    # ------------------------------------------------------------------ one turn

    def direction(self, A: Any, transposed: bool, transpose: Any, u: Any, mask: Any, costs: Callable) -> str:
        """The method of w<mask> = E u in this turn: "rows" or "cols".  costs(): the DirectionCosts.

        A turn's direction is decided before it begins, by the entries that its first product then finds; so that
        must multiply a vector that the loop carries, under no mask or one that it carries.  What counts are their
        entries as the turn begins.  Otherwise it is the method that costs less for a vector without gaps, in all turns.
        """
        by_columns = A if transposed else transpose
        if transpose is None or by_columns.rows is not None:
            return "cols" if transposed else "rows"
        if self._choice is None:
            slot, admitted = self._slot_of(u), None if mask is None else self._slot_of(mask.pattern)
            if slot is None or mask is not None and admitted is None:
                figures = costs()
                open_rows = figures.open_rows(0 if mask is None else mask.pattern.estimated_nvals)
                rows = figures.rows(figures.entries, open_rows)
                return "cols" if figures.columns(figures.entries, u.size) < rows else "rows"
            self._choice = Choice(costs, by_columns, slot, admitted)
            self._choice.weigh(self.device)
        return _METHODS[self._now]

    def _slot_of(self, store):
        """The slot of the vector that has this store, if its number of entries is on the device; else None."""
        found = self.slot_of(store)
        return None if found is None or self._forms[found].full else self._slots[found]

    def _run(self, turn):
        """The turn, with what it leaves copied into the slots; its condition."""
        stores, test = turn([slot.store() for slot in self._slots])
        pairs, stores = [], self._here(stores)
        if not self.capturing and any(not slot.fits(x) for slot, x in zip(self._slots, stores, strict=True)):
            forms = [form.wider(form_of(self.device, x)) for form, x in zip(self._forms, stores, strict=True)]
            if None not in forms and forms != self._forms:
                self._forms = forms
                raise Wider
        for slot, store in zip(self._slots, stores, strict=True):
            pairs += slot.copies(store)
        copy_arrays(self.device, pairs)
        written = {to.data.ptr for to, _ in pairs}
        self._copied = {
            to.data.ptr: x for to, x in pairs if x is not None and type(x) is not int and x.data.ptr not in written
        }
        return test if isinstance(test, bool) else self._here([test])[0]

    def _end(self, test, begun=True, both=0, push=0, pull=0):
        """Queue the kernel that ends a turn, or begins the first."""
        device, choice, recorder = self.device, self._choice, self.device.launcher.recorder
        if test is True:
            pointer, width = None, 0
        elif test is False:
            pointer, width = self._edges.view(np.uint8), 0  # there, and no byte of it is looked at: it does not hold
        else:
            pointer, width = test.values.view(np.uint8), test.values.dtype.itemsize
        count = admitted = costs = None
        if choice is not None:
            u = choice.u.store()
            if recorder is not None:
                recorder.clear(self._edges)
            add_edges(device, choice.by_columns, None, self._source_of(u.words), u.size, self._edges)
            count, costs = self._source_of(choice.u.count), choice.costs
            admitted = choice.admitted and self._source_of(choice.admitted.count)
        kernel = device.launcher.kernel("programs/turns.cuh", "end_turn")
        # in one kernel every block runs it, from numbers that only the first may read or clear
        heard, cleared = (None, self._edges) if recorder is None else (int(self._heard.data.ptr), None)
        kernel(1, 32, (
            pointer, width, self.stop_address, heard, count, self._edges, cleared, admitted, costs, self.state,
            self._initial, begun, both, push, pull,
        ))  # fmt: skip

    def _source_of(self, array):
        """The array that the turn has copied to that one, which need not wait for the copy; or that one."""
        return self._copied.get(array.data.ptr, array)

    @contextmanager
    def _within(self, capturing):
        device = self.device
        before, self.capturing = (device.turns, self.capturing), capturing
        device.turns = self
        try:
            yield
        except GraphblasException:
            raise
        except RuntimeError as error:  # of CUDA, for what it cannot capture
            if capturing:
                raise CaptureError(f"programs: {error}") from error
            raise
        finally:
            device.turns, self.capturing = before

    def rehearse(self, turn: Callable, direction: int, left: int) -> bool:
        """One turn at once, which may read from the device; does the loop go on?"""
        return self._one(turn, direction, left, False)[0]

    def settle(
        self, turn: Callable, left: int, undone: bool = False, enough: Callable[[], bool] = lambda: False
    ) -> tuple[int, bool]:
        """(turns run, does the loop go on): turns from the beginning in each direction, after which forms stay.

        enough(), after the first: none in the other direction.  undone: they run for the forms alone, whether the loop
        goes on or not.  Where a vector that has gaps, or several values, after a turn had none before, the slots take
        the wider form and begin again.
        """
        for _ in range(MOST_FORMS):
            try:
                with forgotten(self) if undone else nullcontext():
                    going, turns = self.rehearse(turn, PUSH, left), 1
                    if (going or undone) and left > 1 and self.can_pull() and not enough():
                        going, turns = self.rehearse(turn, PULL, left - 1), 2
                if not undone and self.device.read(self.doubt)[0]:
                    raise CaptureError(DOUBT)
                return turns, going
            except Wider:
                self._choice = None
                self._make_slots()
        raise CaptureError("programs: the forms of the loop's vectors change from turn to turn")

    def _one(self, turn, direction, left, capturing):
        """(does the loop go on, in which direction) after one turn, run at once."""
        self._now = direction
        self._start(direction, left)
        self._begin()
        with self._within(capturing):
            test = self._run(turn)
        self._end(test)
        _, _, goes, direction, _ = self.device.read(self.state)
        return bool(goes), direction

    def _start(self, direction, left):
        """What the loop begins with, which _begin reads."""
        words = self._words
        words[_STOP] = words[_DONE] = 0
        words[_INITIAL : _INITIAL + _STATE] = [0, 0, 1, direction, left]
        self._told = False
        return self.device.current_stream()

    def _begin(self, test=True, **handles):
        """Queue the kernel that takes the state from _start and decides on the first turn."""
        self._copied = {}
        self._end(test, begun=False, **handles)

    @property
    def has_graph(self) -> bool:
        """Is the turn recorded?"""
        return self._graph is not None or self.one.kernel is not None

    def can_pull(self) -> bool:
        """Has a turn a product that may run either way?"""
        return self._choice is not None

    # ------------------------------------------------------------------ all turns

    def capture(self, turn: Callable, matrices: list) -> None:
        """Record the turn, which reads these matrices.  Raises: CaptureError where it needs the host."""
        self._prepare_to_tell()
        if self._choice is not None:
            self._choice.weigh(self.device)
        one = self.one
        if self.inner:
            one.refuse("a loop is within it")
        else:
            one.consider(self, turn)
        if one.kernel is None and one.wanted:  # the products of nodes have forms of their own, after some products
            one.wanted = False
            with as_before(self.device, self._slots), forgotten(self):
                for direction in (PUSH, PULL)[: 1 + self.can_pull()] * (tuning.BUILD_AFTER + 1):
                    self._one(turn, direction, 1, False)
        if one.kernel is None and self.device.launcher.has_graphs:
            self._weigh_inner()
            with self._within(True):
                self._record(turn)
        self._held += [parts_of(store) for store in matrices]
        self.captured = True

    @property
    def nodes(self) -> dict[str, int]:
        """Steps of a turn, by direction."""
        return self.one.nodes or self._nodes

    def as_step(self, A: Any, s: Any) -> bool:
        """Is a product with all of A's entries to be by a kernel that takes any grid?"""
        item = 4 + (A.values.dtype.itemsize if s.reads_a and not A.iso else 0)
        return self.one.wanted and (
            LOWERING["persistent"] == "always" or product_fits(A.indices.shape[0], item, self.device.profile)
        )

    def directions(self) -> list[str]:
        """Of the bodies."""
        return [_METHODS[PUSH], _METHODS[PULL]] if self.can_pull() else [_METHODS[PUSH]]

    def kept_numbers(self) -> list[int]:
        """Addresses of the numbers that a turn leaves to the next one and to the host."""
        arrays = [a for slot in self._slots for a in (slot.count, slot.values) if a is not None]
        return [int(a.data.ptr) for a in (*arrays, self.state)]

    def parts(self, turn: Callable) -> list[Callable]:
        """What is queued before the first turn, in a turn of each direction, and after the last one."""

        def body(direction):
            self._now = direction
            with self._within(True):
                self._end(self._run(turn))

        bodies = [lambda d=d: body(d) for d in ((PUSH, PULL) if self.can_pull() else (PUSH,))]
        return [self._begin, *bodies, self._tell]

    @contextmanager
    def set_aside(self, held: list) -> Iterator[None]:
        """Within it launches take nothing that others left for them, and leave nothing; that goes to `held`."""
        device = self.device
        before = device.partial, [(kept, kept.item) for kept in device.all_kept()]
        device.partial = None
        for kept, _ in before[1]:
            kept.item = None
        try:
            yield
        finally:
            held += [device.partial, *(kept.item for kept in device.all_kept())]
            device.partial = before[0]
            for kept in device.all_kept():
                kept.item = None
            for kept, item in before[1]:
                kept.item = item

    def _record(self, turn):
        from .graph import Graph, recording

        graph, held = Graph(), self._of_graph
        with self.set_aside(held), recording(self.device, held) as stream:
            self.place = graph, stream, graph.graph
            last = self._record_nodes(turn, [])
            graph.capture(stream, graph.graph, self._tell, after=last)
        graph.instantiate()
        self._graph = graph

    def _record_nodes(self, turn, after, test=True):
        """The WHILE nodes of the loop, after those nodes of the body or graph of self.place; the last node."""
        (graph, stream, root), two = self.place, self.can_pull()
        container, both, pull, node = root, 0, 0, None
        if two:
            both = graph.new_handle(root)
            node, container = graph.add_while(root, [], both)
            pull = graph.new_handle(container)
        push = graph.new_handle(container)
        first, push_body = graph.add_while(container, [], push)
        bodies = [(PUSH, push_body)]
        if two:
            bodies.append((PULL, graph.add_while(container, [first], pull)[1]))
        outer = node or first
        handles = {"both": both, "push": push, "pull": pull}

        def body():
            self._end(self._run(turn), **handles)

        begins = graph.capture(stream, root, lambda: self._begin(test, **handles), after=after)
        graph.add_order(root, begins, outer)
        for direction, found in bodies:
            self._now, self.place = direction, (graph, stream, found)
            with self.set_aside(self._of_graph):  # a body may run without the others
                graph.capture(stream, found, body)
            self._nodes[_METHODS[direction]] = graph.nodes_of(found)
        return [outer]

    def _weigh_inner(self):
        """Before a capture, which nothing can be uploaded in."""
        for loop in self.inner:
            if loop._choice is not None:
                loop._choice.weigh(self.device)
            loop._weigh_inner()

    def _prepare_to_tell(self):
        """Page-locked words for the counts of vectors with gaps and for the numbers, and where these lie: (address,
        bytes) of each in an array on the device.
        """
        device, vectors = self.device, self._slots[: self._vectors]
        arrays = [slot.count[:1] for slot in vectors if slot.count is not None]
        arrays += [*(slot.values for slot in self._slots[self._vectors :]), self.doubt]
        count = len(arrays)
        self._found_memory = memory = device.xp.cuda.alloc_pinned_memory(8 * max(count, 1))
        self._found = (ctypes.c_int64 * count).from_address(memory.ptr)
        places = device.upload(np.array([x for a in arrays for x in (a.data.ptr, a.dtype.itemsize)], np.int64))
        self._telling = places, count, PinnedAddress(memory.ptr)

    def _tell(self):
        kernel = self.device.launcher.kernel("programs/turns.cuh", "tell_host")
        kernel(1, 32, (self.state, self._address, *self._telling))

    def launch(self, turn: Callable, left: int) -> None:
        """Turns until the condition fails, at most `left`; self.turns of them ran.  turn: as `capture` was given it.

        Raises: KeyboardInterrupt and errors of the device, after the turn that runs.
        """
        if self.one._waiting is not None:
            self.one.look()
        if self._graph is None and self.one.kernel is None:
            self._one_by_one(turn, left)
            return
        words, stream = self._words, self._start(PUSH, left)
        if self.one.kernel is not None:
            self._graph, self._of_graph = None, []  # which has run until now
            self.one.kernel.launch(stream)
        else:
            self._graph.launch(stream)
        try:
            wait_for(words, _DONE, stream)
        except BaseException:
            words[_STOP] = 1
            stream.synchronize()
            raise
        self.turns, self.pulled, self._told = words[_TURNS], words[_PULLED], True

    def _one_by_one(self, turn, left):
        self.turns = self.pulled = 0
        self._start(PUSH, left)
        self._begin()
        _, _, goes, direction, _ = self.device.read(self.state)
        while goes:
            self.turns += 1
            self.pulled += direction == PULL
            goes, direction = self._one(turn, direction, left - self.turns + 1, True)
            goes = goes and not self._words[_STOP]  # as end_turn reads it in a graph
        self._tell()
        self.device.synchronize()
        self._told = True
