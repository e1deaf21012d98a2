"""Copies of a turn of a program, and captures that are refused for once."""

import numpy as np
import pytest
from backends.cuda.test_programs import N, agree, matrix, on_the_device  # noqa: F401  (a fixture of each test)

import grb_tile as gb
from cuda_emulation.backend import shim
from grb_tile.backends.cuda.products import matvec, segments
from grb_tile.backends.cuda.programs import persistent
from grb_tile.backends.cuda.programs.slots import Form, Slot, bits_of, copy_arrays, number_of
from grb_tile.backends.cuda.runtime.late_vector import LateVector


@pytest.mark.parametrize("size", [3, 8, 13, 5000])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 16, 17])
def test_copies_in_one_launch_and_more(count, size):
    """Arrays of bytes that pass theirs on in a circle, some of which get zeros or a number, beside a longer one."""
    device = shim().device
    given = [np.arange(k, k + size).astype(np.uint8) for k in range(count)]
    arrays, longer = [device.array(x) for x in given], device.array(np.arange(size + 9.0))
    number = bits_of(-2, np.int64)
    sources = {3: None, 4: number}
    pairs = [(arrays[k], sources.get(k % 5, arrays[(k + 1) % count])) for k in range(count - 1)]
    to = device.zeros(size + 9, np.float64)
    copy_arrays(device, [*pairs, (to, longer)])
    for k in range(count):
        wanted = given[k] if k == count - 1 else given[(k + 1) % count]
        if k < count - 1 and k % 5 in sources:
            wanted = given[k] * 0 if k % 5 == 3 else np.resize(np.frombuffer(np.int64(-2).tobytes(), np.uint8), size)
        assert np.array_equal(device.host(arrays[k]), wanted)
    assert np.array_equal(device.host(to), np.arange(size + 9.0))


@pytest.mark.parametrize("value", [True, False, np.int64(-(2**63)), np.int64(5), np.float64(-0.0), np.float64("-inf")])
def test_numbers_as_bits(value):
    """Of 1 and 8 bytes, read back as signed or unsigned words."""
    value = np.asarray(value)[()]
    bits = bits_of(value, value.dtype)
    for found in (number_of(bits, value.dtype), number_of(bits % 2**64, value.dtype)):
        assert found.dtype == value.dtype and found.tobytes() == value.tobytes()


def test_a_form_that_is_due_while_a_turn_is_captured(monkeypatch):
    """CUDA refuses what reads from the device then; the next call has the form."""
    made, refused = segments.segments_of, []

    def due(device, A):
        if device.turns is not None and device.turns.capturing and not refused:
            refused.append(A)
            raise RuntimeError("the current stream is capturing, so D2H transfers are disallowed")
        return made(device, A)

    def one_row_wise(A, u, turns):
        for _ in gb.loop(max_turns=turns):
            v = A.mxv(u, "min_second").new()
            u("min") << v
        return u

    monkeypatch.setitem(persistent.LOWERING, "persistent", "never")  # which has no segments
    monkeypatch.setattr(matvec, "bound_rows", lambda A, s: None)  # which would not ask for the form
    program, A = gb.program(one_row_wise), matrix(4)
    u = gb.Vector.from_dense(np.arange(N)[::-1].astype(float))
    wanted = one_row_wise(A, u.dup(), 4)
    assert agree(program(A, u.dup(), 4), wanted)
    monkeypatch.setattr(segments, "segments_of", due)
    for k in range(3):
        assert agree(program(A, u.dup(), 4), wanted)
        assert ("tries again" if k == 0 else "turns on the device") in program.explain()
    assert refused


@pytest.mark.parametrize("form", ["bitmap", "full", "sparse", "empty", "one value", "late", "late, counted"])
def test_what_a_turn_leaves_is_copied_into_the_slot(form):
    """A slot for vectors with gaps takes any form, whether its number of entries is on the host or on the device."""
    size, backend = 130, shim()
    device = backend.device
    at = {"full": np.arange(size), "empty": np.arange(0), "sparse": np.array([3, 99])}.get(form, np.arange(0, size, 2))
    values = np.full(at.size, 7.0) if form == "one value" else at + 0.5
    with gb.config.set(backend="cuda"):
        v = gb.Vector.from_coo(at, values[0] if form == "one value" else values, "FP64", size=size)
        store = device.to_device(v._store)
        if form.startswith("late"):
            counter = device.array(np.array([at.size, 0, 0, 0], np.uint64))
            store = LateVector(device, size, store.dtype, store.words, store.values, counter)
            assert store.nvals == at.size if form == "late, counted" else store.counter is not None
        slot = Slot(device, Form(size, store.dtype, False, 0))
        copy_arrays(device, slot.load(device.to_device(gb.Vector.from_coo([5], [1.0], size=size)._store)))
        assert gb.Vector._from_store(slot.store()).to_dict() == {5: 1.0}
        copy_arrays(device, slot.copies(store))
        left = gb.Vector._from_store(slot.store())
        assert left.nvals == at.size and left.to_dict() == dict(zip(at.tolist(), values.tolist(), strict=True))
