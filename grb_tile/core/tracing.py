"""The program whose loop is run or captured turn by turn, where one is (grb_tile/programs).

`active` is None, or what core tells of a call whose result decides how a program goes on: the number of entries of a
vector, a reduction, a comparison.  These stay on the device and are Numbers there (core/number.py).  Without a program
a call pays for one global look-up.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol


class Trace(Protocol):
    """What core calls."""

    thread: int  # the thread whose calls are the program's

    def count(self, vector: Any) -> Any:
        """`nvals` of a vector."""

    def number(self, found: Any, dtype: Any) -> Any:
        """What a reduction or a comparison found, of that type."""

    def compared(self, x: Any, y: Any, found: Any) -> Any:
        """As number, of whether two stores are equal."""

    def write(self, target: Any, record: Any = None, desc: Any = None) -> None:
        """`target` is about to be written, with what the record gives where that is known.

        Raises: CaptureError where it must not be.
        """

    def assign(self, number: Any, desc: Any) -> None:
        """The next write is that of a Number everywhere, as `desc` says."""


active: Trace | None = None


def current() -> Trace | None:
    """The Trace of the calling thread."""
    trace = active
    return trace if trace is not None and trace.thread == threading.get_ident() else None
