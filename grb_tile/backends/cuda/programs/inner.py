"""A loop in the turn of a loop on the device: WHILE nodes in the body of the other's.

    loop = InnerLoop(around)
    loop.enter(stores, others)           # slots for vectors and numbers like these
    loop.settle(turn, 2, True)           # turns for the forms, which are undone
    stores = loop.run_within(turn, stores, test, left)

Its slots are loaded in each turn of the loop around it and hold what it leaves.  Its state and its handles are its own;
the stop word is that of the outermost loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....dtypes import lookup_dtype
from ....exceptions import CaptureError
from .doubt import forgotten
from .slots import Form, Wider, form_of, store_apart
from .turns import MOST_FORMS, PUSH, DeviceLoop


class InnerLoop(DeviceLoop):
    """A loop within the turn of another."""

    def __init__(self, around: DeviceLoop) -> None:
        super().__init__(around.device)
        self._around = around
        self.one.wanted = False
        self.doubt, self._cleared = around.doubt, []
        around.inner.append(self)
        self.stop_address, self.stop_words = around.stop_address, around.stop_words

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Within it calls run at once that are not the loop's."""
        with forgotten(self), self._within(False):
            yield

    def apart(self, store: Any) -> Any:
        """The vector, without what was found of it so far."""
        return store_apart(self.device, self._here([store])[0])

    def enter(self, stores: list, others: list | None = None) -> None:
        """Slots that hold these vectors and numbers, which are loaded, and vectors like `others`, where they can."""
        forms = []
        here, there = self._here(stores), self._here(others or [None] * len(stores))
        for k, both in enumerate(zip(here, there, strict=True)):
            found = [self._forms[k]] if self._forms else []
            found += [
                Form(1, lookup_dtype(x.dtype), True, 0) if isinstance(x, np.generic) else form_of(self.device, x)
                for x in both if x is not None
            ]  # fmt: skip
            form = found[0] if both[0] is not None else found[0]._replace(value=0)
            for other in found[1:]:
                wider = form.wider(other)
                if wider is None:
                    texts = form.text(), other.text()
                    raise CaptureError(
                        f"programs: a vector of a loop within is {' at one time, '.join(texts)} at another"
                    )
                form = wider
            forms.append(form)
        self._begun = stores
        if forms == self._forms:
            self.load(stores)
        else:
            self._forms = forms
            self._make_slots()

    def run_within(self, turn: Callable, stores: list, test: Any, left: int) -> list:
        """What the slots hold after turns that begin with `stores`, at most `left`, or none where the vector `test` is
        false (True: at least one): run at once, or recorded into the graph of the loop around.
        """
        around = self._around
        self._begun = stores
        test = test if test is True else self._here([test])[0]
        if around.place is not None and around.capturing:
            self._record_within(turn, stores, test, left)
        else:
            self._run_at_once(turn, stores, test, left, around.capturing)
        return [slot.store() for slot in self._slots]

    def _run_at_once(self, turn, stores, test, left, capturing):
        for _ in range(MOST_FORMS):
            try:
                self.enter(stores)
                with self._within(False):
                    self._start(PUSH, left)
                    self._begin(test)
                    _, _, goes, direction, _ = self.device.read(self.state)
                    while goes:
                        goes, direction = self._one(turn, direction, left, capturing)
                        left -= 1
                return
            except Wider:
                self._choice = None
                self._make_slots()
        raise CaptureError("programs: the forms of the vectors of a loop within change from turn to turn")

    def _record_within(self, turn, stores, test, left):
        around = self._around
        graph, stream, body = around.place
        self.enter(stores)
        self._start(PUSH, left)
        with graph.between(stream, body) as (last, after):
            self.place = graph, stream, body
            with self._within(True):
                after += self._record_nodes(turn, last, test)
