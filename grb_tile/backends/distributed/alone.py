"""The communicator of a program without a launcher: one rank, nothing to exchange."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .communicator import Communicator, checked_array, checked_pieces, checked_root


class Alone(Communicator):
    """One rank: every exchange returns what it is given.

    >>> from grb_tile.backends.distributed.alone import Alone
    >>> Alone().allgather(7, "nvals")
    [7]
    """

    def __init__(self, timeout: float = 300.0) -> None:
        super().__init__(0, 1, timeout)

    def allgather(self, item: Any, call: str) -> list[Any]:
        return [item]

    def allgather_array(self, array: np.ndarray, call: str) -> list[np.ndarray]:
        return [checked_array(array, "allgather_array")]

    def alltoall(self, pieces: Sequence[np.ndarray], call: str) -> list[np.ndarray]:
        return checked_pieces(pieces, 1)

    def broadcast(self, item: Any, root: int, call: str) -> Any:
        checked_root(root, 1)
        return item

    def gather(self, item: Any, root: int, call: str) -> list[Any] | None:
        checked_root(root, 1)
        return [item]

    def barrier(self, call: str) -> None:
        pass

    def announce(self, call: str, kind: str) -> None:
        pass

    def note(self, fact: str) -> None:
        pass

    def fail(self, error: BaseException, call: str) -> None:
        pass

    def abort(self, reason: str) -> None:
        pass
