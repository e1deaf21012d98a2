"""What ranks know together: sums of a pass, and errors of one rank."""

from __future__ import annotations

import contextlib
import functools
import pickle
from typing import Any

from ...exceptions import GraphblasException

_SAID = "_grb_tile_said_to_ranks"


class RankSums:
    """The sums of a pass over the parts of all ranks, added in the order of ranks; one exchange, at the first use."""

    def __init__(self, comm: Any, monoids: Any, sums: Any) -> None:
        self._comm, self._monoids, self._sums = comm, monoids, sums
        self._values: list[float] | None = None

    def value(self, k: int) -> float:
        """The k-th sum, or maximum."""
        if self._values is None:
            mine = [self._sums.value(k) for k in range(len(self._monoids))]
            columns = zip(*self._comm.allgather(mine, "one_pass"), strict=True)
            self._values = [
                max(column) if monoid == "max" else sum(column)
                for monoid, column in zip(self._monoids, columns, strict=True)
            ]
        return self._values[k]

    def send(self) -> None:
        """Exchange the sums now."""
        self._sums.send()

    def is_ready(self) -> bool:
        """Are they known without waiting?  The same on all ranks."""
        return self._values is not None


def failing_together(name: str, primitive: Any) -> Any:
    """The primitive, whose error on this rank alone raises DistributedError on the others at their next exchange."""

    @functools.wraps(primitive)
    def call(self, *args, **kwargs):
        try:
            return primitive(self, *args, **kwargs)
        except BaseException as error:
            if not getattr(error, _SAID, False):  # by a primitive within this one
                with contextlib.suppress(AttributeError):
                    setattr(error, _SAID, True)
                self.comm.fail(error, name)
            raise

    return call


def portable(error: Any) -> Any:
    """The error, or one of the library's with its text where it cannot travel to another process."""
    try:
        return pickle.loads(pickle.dumps(error)) if error is not None else None
    except Exception:  # noqa: BLE001  # constructors of errors may want anything
        return GraphblasException(f"{type(error).__name__}: {error}")
