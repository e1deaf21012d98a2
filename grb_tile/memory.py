"""Checks that the arrays of an algorithm fit into memory, before it makes them.

A dense array that does not fit is no error of its own: the system grants it, and kills the process that fills it.
"""

from __future__ import annotations

from .backends.select import current


def require(wanted: int, what: str, remedy: str) -> None:
    """Raises: OutOfMemory, which names them all, where `wanted` bytes are more than are free; nothing is allocated.

    A backend that computes on a device makes such arrays there: what is more than its whole memory is refused.

    >>> from grb_tile import memory
    >>> memory.require(10**6, "a test", "make it smaller")
    >>> memory.require(10**15, "a test", "make it smaller")
    Traceback (most recent call last):
        ...
    grb_tile.exceptions.OutOfMemory: a test: 1,000,000,000,000,000 bytes needed, ... free; ... Make it smaller
    """
    current().check_memory(wanted, what, remedy)
