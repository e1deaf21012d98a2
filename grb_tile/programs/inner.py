"""A loop in the turn of a captured loop: a loop of the device within it, with vectors and numbers of its own.

What it begins with is copied into its slots, in each turn of the loop around it, and what it leaves is in them.  The
first time a turn comes to it one of its turns is tried, and undone, which tells what its names are (captured.py);
then a turn in each direction, for the forms of the vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..backends.select import current
from ..core import elements
from ..core.number import Number
from ..core.vector import Vector
from ..exceptions import CaptureError
from .captured import ENDLESS, Captured, traced
from .names import ONE_BRANCH, UNDEFINED, Undefined, both, is_matrix

UNROLLED = 8  # turns; a WHILE node's turn costs 4 us and a copy into slots 3, as much as two short kernels
_TRIED = 2  # turns of loops within a turn that is undone


class Inner(NamedTuple):
    """The loop: the frame of the one around it, its operands, its most turns; plain: they are numbered alone."""

    around: Any
    carried: Any
    most: int | None
    plain: bool


def run_within(inner: Inner) -> tuple:
    """The values of the names after the loop.  Raises: CaptureError for what the device cannot carry."""
    frame, carried, most = inner.around, inner.carried, inner.most
    place = frame.next_within()
    matrices = [x for x in (*carried.values, *(x for _, x in carried.read)) if is_matrix(x)]
    if any((x._matrix if x._is_transposed else x)._store.format == "bounded" for x in matrices):
        raise CaptureError("programs: a matrix that changes is used in a loop within; only the inner loop is captured")
    if most is not None and type(most) is not int:
        raise CaptureError(f"programs: max_turns is {type(most).__name__} in a loop within")
    if most is not None and (most <= 0 or inner.plain and most <= UNROLLED):
        values = carried.values
        for _ in range(most):
            _, values = carried.body(*values)
        return tuple(values)
    carried.signature()  # raises, for what the frames do not see change
    test = carried.test(*carried.values)
    sure = test is True and not frame.flags
    if frame.flags:
        own_test, flag = test, frame.flags[-1]
        test = both(True, flag, lambda: own_test)
    known = frame.captured.inner.get(place)
    if known is None:
        if frame.captured.device.capturing:
            raise CaptureError("programs: a loop within was not met in the turns before")
        known = frame.captured.inner[place] = _tried(frame, carried)
    else:
        carried.divide(known.places)
    if type(test) is not Number and not test:
        return tuple(carried.values)
    left = min(ENDLESS if most is None else most, _TRIED if frame.tried else ENDLESS)
    before, read = _apart(known, carried)
    try:
        with traced(known, carried) as own:
            own.tried = frame.tried
            start = test.vector._store if type(test) is Number else True
            results = known.device.run_within(own.turn, own.begin(carried.values), start, left)
    finally:
        for vector, store in (*before, *read):
            elements.reset(vector, store)
    return _after(frame, own, known, carried, results, sure)


def _apart(known, carried):
    """((vector, its store) of those carried, of those read): the latter get stores that share arrays alone.

    What a call finds of a vector and keeps with it, in a turn of the inner loop, may not be there after it.
    """
    for value in (*carried.values, *(value for _, value in carried.read)):
        if type(value) is Number:
            known.device.apart(value.vector._store)  # it is computed before the loop
    read = [(vector, vector._store) for vector in carried.others]
    for vector, store in read:
        elements.reset(vector, known.device.apart(store))
    return [(vector, vector._store) for vector in carried.vectors], read


def _tried(frame, carried):
    """The Captured of a loop that is met the first time; vectors and numbers stay as they were."""
    device = current().inner_loop(frame.captured.device)
    values, vectors = carried.values, carried.vectors
    with frame.trial() as log, device.trial():
        _, after = carried.body(*values)
    bound = {id(value) for value in (*values, *after)}
    places = [k for k, vector in enumerate(vectors) if id(vector) in log or id(vector) in bound]
    carried.divide(places)
    left = [vector._store for vector in carried.vectors]
    for target, store in log.values():
        elements.reset(target, store)
    known = Captured(device, carried)
    known.places = places
    known.settle(carried, after)
    for role, old, new, name in zip(known.roles, values, after, carried.names, strict=True):
        if role == "object" and old is not new:
            raise CaptureError(
                f"programs: `{name}` stands for another vector after a turn of a loop within: write into it instead "
                "(`x << y`), or give it a .dup() before that loop"
            )
    left += [after[k]._store if type(after[k]) is Vector else None for k in known.vectors]
    left += [None for _ in known.numbers]
    before, read = _apart(known, carried)
    try:
        with traced(known, carried) as own:
            own.tried = True
            device.enter(own.begin(values), left)
            device.settle(own.turn, _TRIED, True)
    finally:
        for vector, store in (*before, *read):
            elements.reset(vector, store)
    return known


def _after(frame, own, known, carried, results, sure):
    """The values of the names after the loop, whose slots hold `results`; sure: it has had a turn."""
    found = [UNDEFINED if mine else value for mine, value in zip(carried.own, carried.values, strict=True)]
    rest = iter(results[len(carried.vectors) :])
    for k in (*known.vectors, *known.numbers):
        vector = Vector._from_store(next(rest), known.types[k])
        found[k] = vector if k in known.vectors else Number(vector)
        if isinstance(carried.values[k], Undefined) and not sure:
            found[k] = ONE_BRANCH
    for vector, store in zip(carried.vectors, results, strict=False):
        frame.write(vector)
        elements.reset(vector, store)
    return tuple(found)
