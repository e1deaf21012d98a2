"""Kernels beside each other (backends/cuda/runtime/side_streams.py): which stream waits for what."""

from types import SimpleNamespace

import pytest

from cuda_emulation.backend import EMULATED
from grb_tile.backends.cuda.runtime.side_streams import SideStreams


class Cuda:
    """CuPy's streams and events, which write what they do into a list."""

    def __init__(self):
        self.done, self.current = [], []
        self.current.append(self.Stream())

    def get_current_stream(self):
        return self.current[-1]

    def Event(self, disable_timing):
        return SimpleNamespace(stream=None)

    def Stream(self, non_blocking=True):
        return Stream(self)

    def launch(self, name):
        self.done.append((name, self.current[-1]))


class Stream:
    def __init__(self, cuda):
        self.cuda = cuda

    def record(self, event):
        event.stream, event.after = self, [name for name, stream in self.cuda.done if stream is self]
        return event

    def wait_event(self, event):
        self.cuda.done.append((("after", *event.after), self))

    def __enter__(self):
        self.cuda.current.append(self)

    def __exit__(self, *error):
        self.cuda.current.pop()


def of(cuda, stream):
    return [name for name, on in cuda.done if on is stream]


def test_side_streams_wait_for_what_came_before_and_are_waited_for():
    cuda = Cuda()
    beside, main = SideStreams(cuda), cuda.get_current_stream()
    for _ in range(2):  # the streams are kept
        cuda.done.clear()
        cuda.launch("before")
        with beside(3) as aside:
            for name in "abc":
                with aside():
                    cuda.launch(name)
        cuda.launch("later")
        first, second = beside._streams
        for stream, name in ((first, "a"), (second, "b")):
            assert of(cuda, stream) == [("after", "before"), name]
        waits = [("after", ("after", "before"), "a"), ("after", ("after", "before"), "b")]
        assert of(cuda, main) == ["before", "c", *waits, "later"]


def test_one_launch_has_no_stream_of_its_own():
    cuda = Cuda()
    beside = SideStreams(cuda)
    with beside(1) as aside, aside():
        cuda.launch("a")
    assert cuda.done == [("a", cuda.current[0])] and not beside._streams


def test_an_error_leaves_no_stream_behind():
    """What the side streams were given is waited for all the same."""
    cuda = Cuda()
    with pytest.raises(ValueError, match="no"), SideStreams(cuda)(2) as aside, aside():
        cuda.launch("a")
        raise ValueError("no")
    assert of(cuda, cuda.current[0]) == [("after", ("after",), "a")]


@pytest.mark.skipif(EMULATED, reason="the CPU emulation has no streams")
def test_kernels_on_a_device():
    """Each of several streams adds to the same array, which the current stream wrote before and reads afterwards."""
    import cupy as cp

    beside, x = SideStreams(cp.cuda), cp.zeros((4, 1 << 20))
    for _ in range(20):
        x += 1
        with beside(4) as aside:
            for row in x:
                with aside():
                    cp.add(row, 1, out=row)
    assert bool((x == 40).all())
