"""CUDA graphs with WHILE nodes: the driver's functions that CuPy has no names for, by ctypes.

    loop = Graph(xp)
    node, body = loop.add_while(loop.graph, [], handle)      # the body is captured from a stream
    loop.capture(stream, body, function)
    loop.instantiate(); loop.launch(stream)

Needs a driver for CUDA 12.4 or later.  See "Conditional Graph Nodes" in the CUDA C++ Programming Guide.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from ....exceptions import CaptureError

LEAST_DRIVER = 12040  # of the functions below
_CONDITIONAL, _WHILE = 13, 1  # CUgraphNodeType, CUgraphConditionalNodeType
_RELAXED = 2  # CUstreamCaptureMode: other threads may allocate meanwhile
_handle = ctypes.c_void_p


class _Parameters(ctypes.Structure):
    """CUgraphNodeParams of a conditional node: 256 bytes."""

    _fields_ = [
        ("type", ctypes.c_int), ("reserved", ctypes.c_int * 3), ("handle", ctypes.c_uint64), ("kind", ctypes.c_int),
        ("size", ctypes.c_uint), ("bodies", ctypes.POINTER(_handle)), ("context", _handle),
        ("rest", ctypes.c_int64 * 25), ("last", ctypes.c_int64),
    ]  # fmt: skip


@lru_cache(maxsize=1)
def _driver() -> Any:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        try:
            return ctypes.CDLL("nvcuda.dll")
        except (OSError, AttributeError):
            raise CaptureError("programs: the driver's library libcuda.so.1 cannot be loaded; they run plain") from None


def _call(name: str, *arguments: Any) -> None:
    """Call a function of the driver.  Raises: CaptureError with the name of its error."""
    code = getattr(_driver(), name)(*arguments)
    if code:
        raise _error(name, code)


def _error(name, code):
    text = ctypes.c_char_p()
    _driver().cuGetErrorName(code, ctypes.byref(text))
    return CaptureError(f"programs: {name} failed: {(text.value or b'').decode() or code}")


class Graph:
    """One graph, its bodies included; destroyed with the object."""

    def __init__(self) -> None:
        self._context, self.graph, self._executable = _handle(), _handle(), _handle()
        _call("cuCtxGetCurrent", ctypes.byref(self._context))
        _call("cuGraphCreate", ctypes.byref(self.graph), ctypes.c_uint(0))

    def new_handle(self, graph: Any) -> int:
        """The handle of a conditional node of `graph`, a value that kernels write."""
        found = ctypes.c_uint64()
        _call(
            "cuGraphConditionalHandleCreate",
            ctypes.byref(found), graph, self._context, ctypes.c_uint(0), ctypes.c_uint(0),
        )  # fmt: skip
        return found.value

    def add_while(self, graph: Any, after: list, handle: int) -> tuple[Any, Any]:
        """(node, its body): a WHILE node of `graph` after the nodes `after`."""
        wanted = _Parameters(type=_CONDITIONAL, handle=handle, kind=_WHILE, size=1, context=self._context)
        node, before = _handle(), (_handle * max(len(after), 1))(*after)
        _call(
            "cuGraphAddNode_v2",
            ctypes.byref(node), graph, before if after else None, None, ctypes.c_size_t(len(after)),
            ctypes.byref(wanted),
        )  # fmt: skip
        return node, _handle(wanted.bodies[0])

    def add_order(self, graph: Any, before: list, after: Any) -> None:
        """The node `after` comes after the nodes `before`."""
        count = len(before)
        _call(
            "cuGraphAddDependencies_v2",
            graph, (_handle * count)(*before), (_handle * count)(*[after] * count), None, ctypes.c_size_t(count),
        )  # fmt: skip

    def capture(self, stream: Any, graph: Any, function: Callable[[], Any], after: list | None = None) -> list:
        """function() with what it queues on the stream recorded into `graph`, after some nodes; its last nodes.

        Raises: what function raises; CaptureError where something cannot be captured.
        """
        self._begin_capture(stream, graph, after)
        ended = _handle()
        try:
            function()
            last = self._last_nodes(stream)
        except BaseException:
            _driver().cuStreamEndCapture(_handle(stream.ptr), ctypes.byref(ended))
            raise
        _call("cuStreamEndCapture", _handle(stream.ptr), ctypes.byref(ended))
        return last

    @contextmanager
    def between(self, stream: Any, graph: Any) -> Iterator[tuple[list, list]]:
        """(the last nodes, a list): in the function of `capture` into `graph`, the capture ends before it and goes on
        after it, with nodes that come after those in the list.
        """
        last, ended, after = self._last_nodes(stream), _handle(), []  # type: ignore[var-annotated]
        _call("cuStreamEndCapture", _handle(stream.ptr), ctypes.byref(ended))
        yield last, after
        self._begin_capture(stream, graph, after)

    def _begin_capture(self, stream, graph, after):
        count = len(after or [])
        _call(
            "cuStreamBeginCaptureToGraph",
            _handle(stream.ptr), graph, (_handle * count)(*after) if after else None, None, ctypes.c_size_t(count),
            ctypes.c_int(_RELAXED),
        )  # fmt: skip

    @staticmethod
    def _last_nodes(stream: Any) -> list:
        status, number, graph = ctypes.c_int(), ctypes.c_uint64(), _handle()
        nodes, count = ctypes.POINTER(_handle)(), ctypes.c_size_t()
        _call(
            "cuStreamGetCaptureInfo_v2",
            _handle(stream.ptr), ctypes.byref(status), ctypes.byref(number), ctypes.byref(graph), ctypes.byref(nodes),
            ctypes.byref(count),
        )  # fmt: skip
        if status.value != 1:  # active
            raise CaptureError("programs: the capture was broken off by a call that the device cannot repeat")
        return [_handle(nodes[k]) for k in range(count.value)]

    def instantiate(self) -> None:
        """Make it ready for launches."""
        _call("cuGraphInstantiateWithFlags", ctypes.byref(self._executable), self.graph, ctypes.c_uint64(0))
        self._start = _driver().cuGraphLaunch

    def launch(self, stream: Any) -> None:
        """Queue it on the stream."""
        code = self._start(self._executable, _handle(stream.ptr))
        if code:
            raise _error("cuGraphLaunch", code)

    @staticmethod
    def nodes_of(graph: Any) -> int:
        """How many nodes a graph or a body has."""
        count = ctypes.c_size_t()
        _call("cuGraphGetNodes", graph, None, ctypes.byref(count))
        return count.value

    def __del__(self) -> None:
        try:
            if self._executable:
                _driver().cuGraphExecDestroy(self._executable)
            if self.graph:
                _driver().cuGraphDestroy(self.graph)
        except Exception:  # noqa: BLE001  # the interpreter ends
            pass


@contextmanager
def recording(device: Any, held: list, apart: bool = False) -> Iterator[Any]:
    """A stream to capture from; memory comes from a pool of its own, which is put into `held`.

    apart: no two arrays get the same memory, even if one of them is gone.
    """
    xp, pool = device.xp, device.xp.cuda.MemoryPool()
    stream, before = xp.cuda.Stream(non_blocking=True), device.stream

    def malloc(count):
        found = pool.malloc(count)
        if apart:
            held.append(found.mem)
        return found

    try:
        with stream, xp.cuda.using_allocator(malloc):
            device.stream = device.current_stream()
            yield device.stream
    finally:
        held += [pool, stream]
        device.stream = before
