"""Writes that reach few positions: any program of writes and reads equals a dictionary, whoever else holds the arrays.

The bound from which changes are few is set to one entry here, so that small objects keep changes beside their stores.
"""

import sys
import threading

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.operations import written_region
from support import seeds
from support.library import engine
from support.written import Program, entries_of

CASES = {
    "matrix": ((7, 9), "FP64", 0.5),
    "wrapping matrix": ((7, 9), "INT8", 0.4),
    "Boolean matrix": ((6, 6), "BOOL", 0.5),
    "sparse vector": ((400,), "INT64", 0.03),
    "bitmap vector": ((130,), "FP64", 0.7),
    "full vector": ((130,), "INT8", 1.0),
}


def run(shape, dtype, share, name, turn, steps=40):
    rng = seeds.generator("written", name, turn)
    program = Program(rng, shape, dtype, share)
    try:
        for _ in range(steps):
            program.step()
        program.verify()
        program.verify_copies()
    except Exception as error:
        lines = "\n".join(map(str, program.log))
        raise AssertionError(f"GRB_TILE_SEED={seeds.SEED}, turn {turn}: {error}\n{lines}") from error


@pytest.mark.sampled(2)
@pytest.mark.parametrize("few", [1, 64])
@pytest.mark.parametrize("name", CASES)
def test_programs_equal_a_dictionary(name, few, monkeypatch):
    monkeypatch.setattr(written_region, "FEW", few)
    for turn in range(40):
        run(*CASES[name], name, turn)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", ["reference", "numpy"])
def test_programs_equal_a_dictionary_in_other_engines(which, name):
    with engine(which):
        for turn in range(100, 106):
            run(*CASES[name], name, turn)


# ---------------------------------------------------------------------- failures in the middle

N = 300


def large_matrix():
    at = np.arange(3 * N)
    return gb.Matrix.from_coo(at % N, at * 7 % 100 + 100 * (at // N), np.arange(3.0 * N), nrows=N, ncols=N)


def large_vector():
    return gb.Vector.from_coo(np.arange(0, 60 * N, 60), np.arange(1.0, N + 1), size=60 * N)


def dense_vector():
    return gb.Vector.from_coo(np.arange(0, N, 2), np.arange(1.0, N // 2 + 1), size=N)


def matrix_of(entries, shape=(N, N)):
    rows, cols = zip(*entries, strict=True)
    return gb.Matrix.from_coo(rows, cols, np.arange(1.0, len(rows) + 1), nrows=shape[0], ncols=shape[1])


def vector_of(places, size):
    return gb.Vector.from_coo(places, np.arange(1.0, len(places) + 1), size=size)


M = matrix_of([(3, 21), (5, 5), (7, 8)])
FEW3 = matrix_of([(0, 1), (1, 0), (2, 2)], (3, 3))
SOME = vector_of([1, 21, 90], N)


MATRIX_WRITES = {
    "element": lambda A: A.__setitem__((5, 7), 1),
    "accumulated element": lambda A: A("plus")[3, 21] << 1,
    "deleted element": lambda A: A.__delitem__((3, 21)),
    "mask": lambda A: A(M.S).__setitem__((slice(None), slice(None)), 2),
    "mask and object": lambda A: A(M.S) << large_matrix().T.new(),
    "mask and accumulator": lambda A: A(M.S, "plus") << 3,
    "accumulated object": lambda A: A("plus") << M,
    "row": lambda A: A.__setitem__((5, slice(None)), SOME),
    "column": lambda A: A.__setitem__((slice(None), 21), SOME),
    "deleted columns": lambda A: A.__delitem__((slice(None), [21, 5])),
    "rows and columns": lambda A: A.__setitem__(([1, 2, 3], [1, 2, 3]), FEW3),
    "subassign": lambda A: A[[1, 2, 3], [1, 2, 3]](FEW3.S, replace=True) << 4,
    "several": [
        lambda A: A.__setitem__((5, 7), 1),
        lambda A: A("plus")[5, 7] << 2,
        lambda A: A("minus")[6, 42] << 2,
        lambda A: A.__delitem__((3, 21)),
        lambda A: A.__setitem__((5, slice(None)), SOME),
        lambda A: A.__setitem__((slice(None), 21), SOME),
        lambda A: A("plus") << M,
    ],
}
VECTOR_WRITES = {
    "element": lambda v: v.__setitem__(60, 1),
    "accumulated element": lambda v: v("plus")[60] << 1,
    "mask": lambda v: v(vector_of([0, 1, 60], v.size).S) << 3,
    "accumulated object": lambda v: v("plus") << vector_of([0, 1, 60], v.size),
    "mask and less": lambda v: v(vector_of([0, 1, 60], v.size).S) << vector_of([1, 7], v.size),
    "complement": lambda v: v(~vector_of([0, 1, 60], v.size).S) << vector_of([1, 7], v.size),
    "list": lambda v: v.__setitem__([60, 7, 9], 5),
    "list with replace": lambda v: v(vector_of([0, 7, 60], v.size).S, replace=True).__setitem__([60, 7, 9], 5),
    "several": [
        lambda v: v.__setitem__(4, 1),
        lambda v: v("minus")[5] << 2,
        lambda v: v.__delitem__(0),
        lambda v: v("plus")[60] << 2,
        lambda v: v(vector_of([0, 1, 60], v.size).S) << vector_of([1, 7], v.size),
    ],
}
FAILURES = {("matrix", name): (large_matrix, write) for name, write in MATRIX_WRITES.items()}
FAILURES |= {("sparse", name): (large_vector, write) for name, write in VECTOR_WRITES.items()}
FAILURES |= {("bitmap", name): (dense_vector, write) for name, write in VECTOR_WRITES.items()}


class Interrupt:
    """Raises an error the n-th time that Python would handle a signal in grb_tile.

    That is where a Python function begins or a C function returns.
    """

    def __init__(self, n, error):
        self.left, self.error = n, error

    def __call__(self, frame, event, argument):
        if "grb_tile" in frame.f_code.co_filename and event in ("call", "c_return"):
            self.left -= 1
            if self.left == 0:
                sys.setprofile(None)
                raise self.error("planted")

    def __enter__(self):
        sys.setprofile(self)

    def __exit__(self, *_):
        sys.setprofile(None)


def same_or(obj, states):
    found = entries_of(obj)
    assert found in states, {p: x for p, x in found.items() if x != states[0].get(p)}
    assert obj.nvals == len(found)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("case", FAILURES, ids="-".join)
def test_what_is_interrupted_is_done_or_not_done(case, error):
    """Interrupted at points all over the write, and over the read after it, an object is as before or as after."""
    make, writes = FAILURES[case]
    writes = writes if type(writes) is list else [writes]
    step = make()
    states = [entries_of(step)]
    for write in writes:
        write(step)
        states.append(entries_of(step))
    rng, n, points = seeds.generator("interrupt", *case), 1, 0
    while True:
        obj = make()
        obj("plus") << obj.dup(clear=True)  # its arrays are its own now
        with Interrupt(n, error):
            try:
                for write in writes:
                    write(obj)
                obj.nvals  # noqa: B018
                obj.wait()
                sys.setprofile(None)
                break
            except (KeyboardInterrupt, MemoryError, gb.exceptions.OutOfMemory):
                points += 1
        same_or(obj, states)
        key = (9, 9) if obj.ndim == 2 else 9
        obj[key] = 8
        assert obj.get(*key if obj.ndim == 2 else (key,)) == 8
        n += int(rng.integers(1, 12))
    assert points > 3
    same_or(obj, states[-1:])
    obj[key] = 9
    reader = threading.Thread(target=entries_of, args=(obj,), daemon=True)
    reader.start()
    reader.join(60)
    assert not reader.is_alive(), "the lock of merges is still held"
