"""Copies through page-locked memory (backends/cuda/runtime/host_copies.py)."""

import gc
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from cuda_emulation.backend import shim
from grb_tile.backends.cuda.runtime import array_block, host_copies, moves
from support.seeds import generator


@pytest.fixture
def small(monkeypatch):
    """Sizes at which a few hundred bytes are many."""
    for name, value in {"FETCHED_FROM": 64, "THREADS_FROM": 512, "PART": 160, "CHUNK": 256, "THREADS": 3}.items():
        monkeypatch.setattr(host_copies, name, value)
    device = shim().device
    monkeypatch.setattr(device, "copies", host_copies.HostCopies(device.xp, device.number))
    return device


def numbers(dtype, count):
    return (generator("copies", dtype, count).random(count) * 200).astype(dtype)


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "complex128"])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 511, 512, 513, 767, 768, 769, 1535, 1536, 1537, 5000])
def test_both_ways(small, dtype, count):
    """Parts and chunks that are exactly full, one more and one less."""
    data = numbers(dtype, count)
    there = small.upload(data)
    small.copies.to_device(there, data) if count else None  # as what is small for Device.upload, too
    back = small.host(there)
    assert type(back) is np.ndarray and back.dtype == data.dtype and np.array_equal(back, data)
    assert back.flags.writeable and back.flags.c_contiguous


def test_a_copy_is_the_callers_own(small):
    """Neither the source nor another copy changes with it; it is ordinary memory, which a forked process has."""
    there = small.array(np.arange(40.0))
    first, second = small.host(there), small.host(there)
    assert first.base is None and second.flags.owndata
    first[:] = -1
    assert second.tolist() == small.host(there).tolist() == list(range(40))
    kept = second[10:]
    del first, second
    gc.collect()
    others = [small.host(small.array(np.full(40, float(k)))) for k in range(8)]
    assert kept.tolist() == list(range(10, 40)) and [x[0] for x in others] == list(range(8))


def test_views_and_several_dimensions(small):
    data = numbers("float32", 600)
    there = small.array(data)
    assert np.array_equal(small.host(there[::3]), data[::3])
    assert np.array_equal(small.host(there.reshape(20, 30)), data.reshape(20, 30))
    square = small.upload(data[:400].reshape(20, 20))
    assert np.array_equal(small.host(square), data[:400].reshape(20, 20))


def test_threads_share_the_buffers(small):
    found = {}

    def work(k):
        data = numbers("int64", 300 + k)
        found[k] = all(np.array_equal(small.host(small.upload(data)), data) for _ in range(20))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == dict.fromkeys(range(4), True)


def test_sources_in_page_locked_memory_are_waited_for(small, monkeypatch):
    """A copy from them has not read its source when it returns: the caller may write to it then."""
    waited = []
    memory = small.xp.cuda.alloc_pinned_memory(480)  # the caller's own
    source = np.ndarray(60, np.float64, buffer=memory)
    stream = type(small.xp.cuda.get_current_stream())
    monkeypatch.setattr(stream, "synchronize", lambda self: waited.append("stream"))
    monkeypatch.setattr(small.xp.cuda.runtime, "streamSynchronize", lambda stream: waited.append("handle"))
    for data, waits in ((source, True), (source[5:], True), (np.arange(60.0), False), (np.arange(60.0)[5:], False)):
        waited.clear()
        small.upload(data)
        assert bool(waited) is waits
    for data, waits in ((source, True), (source[5:], True), (np.arange(60.0), False)):
        waited.clear()
        small.copies.to_device(small.empty(data.size, data.dtype), data)
        assert bool(waited) is waits


def test_without_threads_or_memory_to_lock_a_copy_is_plain(small, monkeypatch):
    data = numbers("int64", 400)

    def refused(*_):
        raise RuntimeError("planted")

    for what in ((host_copies._Stage, "__init__"), (host_copies.ThreadPoolExecutor, "submit")):
        with monkeypatch.context() as patch:
            patch.setattr(*what, refused)
            there = small.zeros(400, np.int64)
            small.copies.to_device(there, data)
        assert np.array_equal(small.host(there), data)
    small.copies._stages.clear()
    monkeypatch.setattr(small.xp.cuda, "alloc_pinned_memory", refused)
    assert np.array_equal(small.host(there), data)


def test_an_interrupt_leaves_no_thread_writing(small, monkeypatch):
    """It is raised when the copies have ended."""
    ended, plain = [], host_copies.wait

    def interrupted(jobs):
        monkeypatch.setattr(host_copies, "wait", lambda jobs: ended.extend(plain(jobs).done))
        raise KeyboardInterrupt

    monkeypatch.setattr(host_copies, "wait", interrupted)
    data = numbers("int64", 400)
    there = small.zeros(400, np.int64)
    with pytest.raises(KeyboardInterrupt):
        small.copies.to_device(there, data)
    assert len(ended) == 3 and np.array_equal(small.host(there), data)


def test_an_error_of_a_thread_is_raised_when_all_have_ended(small, monkeypatch):
    data = numbers("int64", 400)
    there, copies = small.upload(data), small.copies
    send, ended = host_copies._Stage.send, []

    def failing(stage, part, to, begin):
        send(stage, part, to, begin)
        ended.append(part.size)
        if len(ended) == 1:
            raise MemoryError("planted")

    monkeypatch.setattr(host_copies._Stage, "send", failing)
    with pytest.raises(MemoryError, match="planted"):
        copies.to_device(there, data)
    assert sum(ended) == data.nbytes


def test_small_arrays_are_written_where_the_block_has_them():
    """What one copy writes has each array at its address, whatever lies between; an emulated block has no such copy."""
    given = [np.arange(3, dtype=np.int32), None, np.arange(40.0), np.zeros(0, np.int64), np.array([True, False])]
    fields = array_block.layout(*(None if x is None else (x.size, x.dtype) for x in given))
    memory = SimpleNamespace(ptr=1 << 20)
    module = SimpleNamespace(ndarray=None, cuda=SimpleNamespace(alloc=lambda total: memory))
    block = array_block.ArrayBlock(module, fields)
    address, content = block.staged(given)
    assert address == memory.ptr and len(content) <= fields.total
    for x, at in zip(given, block.addresses, strict=True):
        if x is not None:
            assert content[at - address :][: x.nbytes] == x.tobytes()


def test_several_small_arrays_go_together():
    device = shim().device
    given = [np.arange(5), None, np.arange(7.0).astype(np.float32), np.array([1 + 2j])]
    found = moves.uploaded(device, *given)
    assert found[1] is None
    for x, copy in zip(given, found, strict=True):
        assert x is None or copy.dtype == x.dtype and np.array_equal(device.host(copy), x)
    long = [np.arange(5000), np.arange(3)]
    assert all(
        np.array_equal(device.host(copy), x) for x, copy in zip(long, moves.uploaded(device, *long), strict=True)
    )
