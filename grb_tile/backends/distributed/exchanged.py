"""Where exchanges take arrays from: the ranks' devices where the communicator moves these, else the host."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...storage import bits, place
from .movement import array_of, spread


class ExchangedArrays:
    """Methods of DistributedBackend."""

    def moves(self: Any, dtype: Any) -> bool:
        """Are arrays of entries of that type exchanged from device to device?  The same on all ranks."""
        return self.comm.moves_devices and not dtype._is_udt

    @property
    def exchanged_xp(self: Any) -> Any:
        """The array module of numbers that are exchanged."""
        return self.local.xp if self.comm.moves_devices or self.size == 1 else np

    def held(self: Any, store: Any) -> Any:
        """The store with its arrays where exchanges take them from."""
        return self.local.copy_here(store) if self.moves(store.dtype) else place.host(store)

    def compute(self: Any, function: Any, dtype: Any, call: str) -> Any:
        """function(xp) with the array module of what is exchanged; without exchanges, since it may be called again."""
        return self.local.run_reported(lambda: function(self.local.xp), call) if self.moves(dtype) else function(np)

    def exchanged_array(self: Any, array: np.ndarray, dtype: Any) -> Any:
        return self.local.array(array) if self.moves(dtype) else array

    def one(self: Any, array: np.ndarray, dtype: Any) -> Any:
        """The array of the one value of all entries."""
        return self.local.constant(array[0]) if array.size and self.moves(dtype) else self.exchanged_array(array, dtype)

    def room(self: Any, count: int, dtype: Any, call: str) -> Any:
        """Memory that an exchange may receive in, of a device; else None."""
        return self.comm.room(count, dtype.np_type, call) if self.moves(dtype) else None

    def all_words(self: Any, size: int, dtype: Any) -> Any:
        """The words of all positions."""
        ones, count = np.uint64((1 << 64) - 1), bits.word_count(size)
        return self.compute(lambda xp: bits.clear_past(xp.full(count, ones, np.uint64), size), dtype, "words")

    def tuples_of(self: Any, store: Any) -> Any:
        """(positions of each dimension, values) of a store of this rank, where exchanges take arrays from."""
        if self.moves(store.dtype):
            return self.local.tuples(store)
        return (self.local.tuples_vector if len(store.shape) == 1 else self.local.tuples_matrix)(store)

    def first_values(self: Any, x: Any) -> np.ndarray:
        """An array of the value of the first entry, as slices [:1] of values have it; empty where there is none."""
        mine = place.first_value(x.local if len(x.shape) == 2 else spread(x)) if x.local.nvals else None
        found = [value for value in self.comm.allgather(mine, "first value") if value is not None]
        return array_of(found[:1], x.dtype)
