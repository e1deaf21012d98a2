"""What a product by columns keeps between calls, so that a call is one launch: arguments, clean accumulators, room for x.

Kernels: merge_columns and merge_evenly in products/columns.cuh.  What a launch leaves clean, the next one finds clean:
launches
are ordered, by Device.in_order when the stream changes.  Before a launch there is as little to do as can be; memory for
the next call is taken, and arrays over the result are made, while the device works or when asked for.
"""

import ctypes
import struct
import threading
import weakref
from contextlib import suppress

import numpy as np

from ....storage.store import forms_of
from ..structure.entries import index_type
from .row_schedule import longest_row, pointers

FEW_ENTRIES = 1024, 4096  # of x: every block scans them all; where columns are short, and where some are long
LONG = 8192  # entries of a column that a block merges by itself without others waiting long for it
LAUNCH = {"block": 512, "blocks": 2}  # threads of a block, blocks per processor
SMALL = {"block": 256, "blocks": 1}  # the same up to SMALL_ENTRIES of x and MANY_EDGES
WITH_HOT = {"block": 1024, "blocks": 1}  # the same with sums of hot rows in shared memory
SHIM = {"block": 64, "blocks": 3}  # the same, blocks in all
MANY_EDGES = 1 << 16  # from which on it pays to read all sums of floats once more, instead of every atomic's answer,
EDGES_OF_PLACE = 8  # where there are not more places than so many times the edges
EDGES_OF_BLOCK = 1024  # a matrix with fewer entries per block gets fewer blocks
HOT_EDGES = 1 << 22  # edges from which on the rows that most entries lie in are summed in shared memory,
HOT_BYTES = 192 << 10  # so much of it,
REST_BYTES = 16 << 10  # if that many are left,
PATIENCE = 3  # after so many such products
SMALL_ENTRIES = 1024
_EACH, _CHUNK, _MOST_CHUNKS = 8, {4: 4096, 8: 2048}, 1024  # as in products/columns.cuh
_KEPT_ROOM = 1 << 24  # places of x up to which the room for its chunks is kept
_KEPT = 8  # accumulators kept
_FEW, _NOT_FEW = (1,), (0,)


def merge_of(device, AT, s, masked, x_indices, x_words):
    """The Merge for these operands, kept with AT."""
    forms = forms_of(AT)
    key = "merge", s, masked, "b" if x_words is not None else "f" if x_indices is None else x_indices.dtype.char
    found = forms.get(key)
    if found is None:
        found = forms[key] = Merge(device, AT, s, masked, key[3])
    return found


class Merge:
    """Launches merge_columns or merge_evenly for one matrix, semiring, kind of mask and kind of x."""

    def __init__(self, device, AT, s, masked, kind):
        self._device = device
        self._s = s
        ptr = pointers(device, AT)
        self._bitmap = kind == "b"
        wide = kind in "lq" or kind in "bf" and AT.nrows >= 2**31
        self._p_type, self._x_type = ptr.dtype, np.dtype(np.int64 if wide else np.int32)
        self._template = (index_type(AT.indices), index_type(ptr), "int64_t" if wide else "int32_t", "S",
                          "true" if masked else "false", "true" if self._bitmap else "false")  # fmt: skip
        self._size = size = AT.ncols
        self._type = None if s.structure_only else s.dtype.np_type
        self._clean = size, self._type, np.asarray(s.start).tobytes() if s.has_start else None
        self._raw = size, self._type
        self._nothing = _places(device, (None, None, None))
        self._no_table = *_places(device, (None,)), 0
        held, entries = AT.indptr.shape[0] - 1, AT.indices.shape[0]
        self.mean = entries / max(held, 1)  # entries of a column
        self._level = longest_row(device, AT) <= LONG
        shape = SHIM if device.is_shim else LAUNCH
        block = shape["block"]
        self._few = 0 if self._bitmap else min(FEW_ENTRIES[not self._level], _CHUNK[ptr.dtype.itemsize], _EACH * block)
        self._arrays = ptr, AT.rows, held, AT.indices, AT.values if s.reads_a else None, size
        self._shows = s.shows
        self._launches = {}
        self._entries, self._AT = entries, weakref.ref(AT)

    def _launch(self, which):
        """The launch that __call__ chose: (of merge_evenly, presence is found out later, small, places of hot rows)."""
        evenly, later, small, places = which
        device, s = self._device, self._s
        launcher = device.launcher
        shape = SHIM if device.is_shim else WITH_HOT if places else SMALL if small else LAUNCH
        kernel = s.kernel(
            launcher,
            "products/columns.cuh",
            "merge_evenly" if evenly else "merge_columns",
            (*self._template, "true" if later else "false"),
        )
        block, blocks = shape["block"], shape["blocks"]
        if not device.is_shim:
            blocks = max(1, min(blocks * launcher.processors, self._entries // EDGES_OF_BLOCK))
        shared = places * (4 + self._type.itemsize) if places else 0
        if evenly or later:
            blocks = min(blocks, kernel.resident_blocks(block, shared), _MOST_CHUNKS)
        make = _ShimLaunch if device.is_shim else _Launch
        found = make(kernel, self._arrays, 19 if evenly else 13, blocks, block, evenly or later, shared)
        self._launches[which] = found
        return found

    def __call__(self, x_indices, x_words, x_values, count, edges, mask, complement, renew):
        """The Space of the merged product of about `edges` entries; renew: it is given away, the next one cleaned meanwhile."""
        device = self._device
        spaces = device.__dict__.setdefault("product_spaces", {})
        space = spaces.pop(self._clean, None) or self._cleaned()
        if renew:
            fresh = spaces.pop(self._raw, None) or self._fresh()
            clean = fresh.places
        else:
            space.count_in(device.counters())
            clean = self._nothing
        later = self._shows and edges >= MANY_EDGES and edges * EDGES_OF_PLACE >= self._size
        if count <= self._few:
            which, rest = (False, later, count <= SMALL_ENTRIES and edges < MANY_EDGES, 0), _FEW
        elif self._level:
            which, rest = (False, later, False, 0), _NOT_FEW
        else:
            hot = self._hot_rows() if later and edges >= HOT_EDGES else self._no_table
            held, rest = self._room(count)  # held until the launch
            which, rest = (True, later, False, hot[-1]), (*rest, *hot)
        launch = self._launches.get(which) or self._launch(which)
        launch(device, x_indices, x_words, x_values, count, mask, 1 if complement else 0, *space.places, *clean, *rest)
        if renew:
            self.keep(fresh)
            with suppress(MemoryError):  # what the next call would make first: the device is busy now
                self._kept(self._raw, self._fresh())
        return space

    def _hot_rows(self):
        """What the launch takes for the fullest rows: their names by their places in shared memory, the places; none at first."""
        device, AT, size = self._device, self._AT(), self._size
        places = min(HOT_BYTES, device.launcher.shared - REST_BYTES) // (4 + self._type.itemsize)
        key = "hot_rows", places
        found = AT.forms.get(key, 0)
        if type(found) is int:
            if found < PATIENCE or AT.indices.dtype != np.int32:
                AT.forms[key] = found + 1
                return self._no_table
            counts, best = device.xp.bincount(AT.indices, minlength=size), device.zeros(places, np.uint64)
            device.launcher.kernel("products/columns.cuh", "fullest_rows").over(size, (counts, size, places, best))
            names = device.xp.where(best == 0, -1, (best & 0xFFFFFFFF).astype(np.int64)).astype(np.int32)
            found = AT.forms[key] = names, (*_places(device, (names,)), places)
        return found[1]

    def keep(self, space):
        """A clean Space for a later product."""
        self._kept(self._clean, space)

    def _kept(self, key, space):
        spaces = self._device.product_spaces
        while len(spaces) >= _KEPT:
            spaces.pop(next(iter(spaces)), None)
        spaces[key] = space

    def _cleaned(self):
        """A Space made clean here."""
        found = self._fresh()
        w, words = found.arrays()
        words.fill(0)
        found.counted().fill(0)
        s = self._s
        if s.has_start:
            s.kernel(self._device.launcher, "products/columns.cuh", "fill_start", ("S",)).over(
                self._size, (w, self._size)
            )
        return found

    def _fresh(self):
        return (_ShimSpace if self._device.is_shim else _Space)(self._device, self._size, self._type)

    def _room(self, count):
        """(arrays, what the launch takes for them) of ends, at, names, totals, members: what merge_evenly notes about x."""
        device = self._device
        rooms = device.__dict__.setdefault("product_rooms", {})
        key = self._p_type, self._x_type, self._bitmap
        found = rooms.get(key)
        if found is None or found[0][0].shape[0] < count:
            places, empty, p_type = (count + 63) >> 6 << 6, device.empty, self._p_type
            names = members = None
            if self._bitmap:
                names, members = empty(places, self._x_type), empty(_MOST_CHUNKS, np.int32)
            arrays = empty(places, p_type), empty(places, p_type), names, empty(_MOST_CHUNKS, p_type), members
            found = arrays, _places(device, arrays)
            if count <= _KEPT_ROOM:
                rooms[key] = found
        return found


class _Space:
    """An accumulator in one block of memory: addresses of values (0 without), words and counts, arrays when asked for."""

    def __init__(self, device, size, dtype):
        self._make = device.array_class
        self._memory = memory = device.xp.cuda.alloc(_room(size, dtype))
        self._shape, self._dtype = (size,), dtype
        words = memory.ptr
        self.places = 0 if dtype is None else words + _head(size), words, words + ((size + 63) >> 6 << 3)
        self._counts = None

    def count_in(self, array):
        """Another array gets the counts."""
        self._counts, self.places = array, (*self.places[:2], array.data.ptr)

    def arrays(self):
        """(values or None, words)"""
        make, memory, size = self._make, self._memory, self._shape[0]
        w = None if self._dtype is None else make(self._shape, self._dtype, memory + _head(size))
        return w, make(((size + 63) >> 6,), _WORD, memory)

    def counted(self):
        """The array of counts: asked for when somebody wants to know."""
        if self._counts is not None:
            return self._counts
        return self._make((4,), _WORD, self._memory + (self.places[2] - self.places[1]))


_WORD = np.dtype(np.uint64)


def _head(size):
    """Bytes of words and counts, up to where values may begin."""
    return ((size + 63 >> 6) * 8 + 32 + 255) & ~255


def _room(size, dtype):
    return _head(size) + (0 if dtype is None else (size * dtype.itemsize + 3) & ~3)  # atomics take 4 bytes


class _ShimSpace:
    """The same of the shim's arrays."""

    def __init__(self, device, size, dtype):
        w = None if dtype is None else device.accumulators(size, dtype)
        self.places = w, device.empty((size + 63) >> 6, np.uint64), device.empty(4, np.uint64)

    def count_in(self, array):
        self.places = *self.places[:2], array

    def arrays(self):
        return self.places[:2]

    @property
    def counted(self):
        counts = self.places[2]  # and no other array, which somebody may want to write into
        return lambda: counts


class _Launch:
    """The driver called with arguments of 8 bytes each in one kept buffer: the shortest way from Python to a launch."""

    def __init__(self, kernel, arrays, changing, blocks, block, cooperative=False, shared=0):
        from cupy_backends.cuda.api import driver

        self._kept = kernel, arrays  # the module and the arrays live as long as this
        number, self._fixed = len(arrays) + changing, 8 * len(arrays)
        self._values = (ctypes.c_int64 * number)(*map(_address, arrays))
        start = ctypes.addressof(self._values)
        self._pointers = (ctypes.c_int64 * number)(*(start + 8 * k for k in range(number)))
        self._address = ctypes.addressof(self._pointers)
        self._pack = struct.Struct(f"{changing}q").pack_into
        self._lock = threading.Lock()
        self._configuration = kernel.function.ptr, blocks, 1, 1, block, 1, 1, shared
        self._start = driver.launchCooperativeKernel if cooperative else driver.launchKernel
        self._extra = () if cooperative else (0,)

    def __call__(self, device, x_indices, x_words, x_values, count, mask, *rest):
        """Arrays or None, and numbers; in `rest` numbers alone: addresses as _places gives them."""
        with self._lock:  # the driver has copied the arguments when it returns
            self._pack(
                self._values,
                self._fixed,
                0 if x_indices is None else x_indices.data.ptr,
                0 if x_words is None else x_words.data.ptr,
                0 if x_values is None else x_values.data.ptr,
                count,
                0 if mask is None else mask.data.ptr,
                *rest,
            )
            try:
                self._start(*self._configuration, device.current_stream().ptr, self._address, *self._extra)
            except RuntimeError as error:
                self._kept[0].bind(error)
                self._start(*self._configuration, device.current_stream().ptr, self._address, *self._extra)


class _ShimLaunch:
    """The same over the CPU shim."""

    def __init__(self, kernel, arrays, changing, blocks, block, cooperative=False, shared=0):
        self._kernel, self._fixed, self._shape, self._more = kernel, arrays, (blocks, block), (shared, cooperative)

    def __call__(self, device, *arguments):
        self._kernel(*self._shape, (*self._fixed, *arguments), *self._more)


def _address(argument):
    return argument if type(argument) is int else 0 if argument is None else argument.data.ptr


def _places(device, arrays):
    """What a launch takes for arrays or None: addresses; over the shim these themselves."""
    return arrays if device.is_shim else tuple(map(_address, arrays))
