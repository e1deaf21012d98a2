"""Kernels that run concurrently, on streams of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any


class SideStreams:
    """The streams of one device for kernels that run concurrently with the current stream; made when needed."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._streams: list[Any] = []

    @contextmanager
    def __call__(self, count: int) -> Iterator[Callable[[], AbstractContextManager]]:
        """Yields aside(): the launches within `with aside():` wait for the current stream, not for each other.

        count: calls of aside() at most.  Work that the current stream gets afterwards waits for all of them.  Nothing
        may be allocated within `with aside():`, because memory belongs to the stream that is current then.
        """
        if count < 2:
            yield nullcontext
            return
        while len(self._streams) < count - 1:
            self._streams.append(self._cuda.Stream(non_blocking=True))
        current = self._cuda.get_current_stream()
        begin, used = self._event(current), []

        def aside():
            if len(used) == count - 1:  # the last ones run on the current stream
                return nullcontext()
            stream = self._streams[len(used)]
            used.append(stream)
            stream.wait_event(begin)
            return stream

        try:
            yield aside
        finally:
            for stream in used:
                current.wait_event(self._event(stream))

    def _event(self, stream):
        return stream.record(self._cuda.Event(disable_timing=True))
