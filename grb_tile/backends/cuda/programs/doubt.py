"""What a turn meets that only a call from Python can do: labels and positions that are out of bounds.

A kernel that finds one writes `doubt` of the loop, on the device, and the stop word, which ends the loop; the host then
runs it from Python, where the call raises its error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .slots import copy_arrays

DOUBT = "programs: a turn met labels that are not among the columns, or positions that are out of bounds"


@contextmanager
def forgotten(loop: Any) -> Iterator[None]:
    """Turns within it are none of the loop's: what they tell does not count."""
    before = loop.device.read(loop.doubt)[0]
    try:
        yield
    finally:
        copy_arrays(loop.device, [(loop.doubt, int(before))])
        loop.device.synchronize()
        loop.stop_words[0] = 0
