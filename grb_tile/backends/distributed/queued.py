"""Exchanges that a device's stream has been given, and the block in which it is given one."""

from __future__ import annotations

import time
from typing import Any

from grb_tile.exceptions import DistributedError

from . import communicator as base


class Queued:
    """An exchange that the stream has been given, or is being given."""

    __slots__ = ("call", "event", "start")

    def __init__(self, call: str) -> None:
        self.call, self.start = call, time.monotonic()
        self.event: Any = None

    def is_done(self) -> bool:
        return self.event is not None and self.event.done


class Queueing:
    """The block of NcclCommunicator._queueing; gives the handle of the stream."""

    __slots__ = ("_communicator", "_entry", "_order")

    def __init__(self, communicator: Any, call: str) -> None:
        self._communicator, self._entry = communicator, Queued(call)
        self._order = communicator._device.in_order()

    def __enter__(self) -> int:
        communicator = self._communicator
        with communicator._lock:
            communicator._queued.append(self._entry)  # before: the library may wait for others when it connects them
        try:
            return self._order.__enter__()
        except Exception as error:
            raise self._broken(error) from error

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if error is None:
                self._entry.event = self._communicator._device.event()
        except Exception as found:  # noqa: BLE001  # CUDA's
            error = found
        self._order.__exit__(None, None, None)
        if isinstance(error, Exception):  # NcclError
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> DistributedError:
        call = self._entry.call
        self._communicator.abort(f"{call}: {base.error_text(error)}")
        return DistributedError(f"{call}: {base.error_text(error)}", (), call)
