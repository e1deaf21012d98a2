"""Memory and tile occupancy of a matrix in each storage form: what `A.storage()` and `grb-tile info` print.

>>> import numpy as np
>>> from grb_tile.dtypes import FP64
>>> from grb_tile.storage.store import Compressed
>>> from grb_tile.storage.report import report
>>> A = Compressed(2, 2, FP64, np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2))
>>> found = report(A)
>>> found.chosen, found.tiles[16].count, found.tiles[16].entries_per_tile
('csr', 1, 2.0)
"""

from dataclasses import dataclass, field

import numpy as np

from .bit_tiles import start_type
from .convert import occupied, row_ids
from .dense import bitmap_switch, by_rows
from .place import host
from .sorting import ranges, segment_starts, stable_order
from .store import Dense, index_dtype
from .tiled import WORDS, can_tile, least_entries, start_type_of

SAMPLE = 1 << 22  # entries up to which tiles are counted exactly; beyond, they are estimated from sampled tile rows
TILE_GAIN = 0.9  # a tiled form is chosen below this ratio of its bytes to those of CSR


@dataclass
class TileCount:
    """Occupancy of the non-empty nt x nt tiles of a matrix."""

    nt: int
    count: int  # non-empty tiles
    entries_per_tile: float  # mean
    most: int  # maximum entries of a tile
    crowded: int  # tiles with at least least_entries(nt) entries
    in_crowded: int  # entries in those
    lines: int  # non-empty rows of tiles: words of a BitTiledMatrix
    estimated: bool = False


@dataclass
class StorageReport:
    """The bytes of a matrix in each form, the form chosen by tile occupancy, and the reason."""

    shape: tuple
    nvals: int
    dtype: str
    format: str
    iso: bool
    occupied_rows: int
    longest_row: int
    tiles: dict = field(default_factory=dict)  # nt -> TileCount
    nbytes: dict = field(default_factory=dict)  # form -> bytes
    built: tuple = ()  # forms cached with the store
    chosen: str = "csr"
    why: str = ""

    def __str__(self):
        value = "iso" if self.iso else "one value each"
        lines = [
            f"{self.shape[0]} x {self.shape[1]} {self.dtype}, {self.nvals} entries ({value}), stored as {self.format}",
            f"rows with entries: {self.occupied_rows}, longest row: {self.longest_row}",
        ]
        for nt, tile in sorted(self.tiles.items()):
            about = "about " if tile.estimated else ""
            lines.append(
                f"tiles {nt:2} x {nt:2}: {about}{tile.count} not empty, {tile.entries_per_tile:.2f} entries each, "
                f"at most {tile.most}"
            )
        width = max(len(name) for name in self.nbytes)
        for name, size in self.nbytes.items():
            mark = " (built)" if name in self.built else ""
            lines.append(f"bytes as {name:{width}}  {size}{mark}")
        if self.built:
            lines.append("cached with the matrix: " + ", ".join(self.built))
        lines.append(f"best form: {self.chosen}, because {self.why}")
        return "\n".join(lines)


def count_tiles(A, nt):
    """TileCount of a Compressed; estimated from evenly spaced tile rows when it has more than SAMPLE entries."""
    shift = nt.bit_length() - 1
    total = A.indices.shape[0]
    if total <= SAMPLE:
        return _counted(nt, row_ids(A), A.indices, A.shape, 1.0)
    rows, starts = occupied(A)
    lengths = np.diff(np.append(starts, total))
    stride = -(-total // SAMPLE)
    sampled = ((rows >> shift) % stride == 0).nonzero()[0]
    ids = rows[sampled].repeat(lengths[sampled])
    at = ranges(starts[sampled], lengths[sampled])
    return _counted(nt, ids, A.indices[at], A.shape, total / max(ids.shape[0], 1))


def _counted(nt, rows, cols, shape, scale):
    if rows.shape[0] == 0:
        return TileCount(nt, 0, 0.0, 0, 0, 0, 0)
    shift, tile_cols = nt.bit_length() - 1, -(-shape[1] // nt)
    cols = cols >> shift
    lines = segment_starts(rows * tile_cols + cols).shape[0]
    keys = (rows >> shift) * tile_cols + cols
    keys = keys[stable_order(keys, -(-shape[0] // nt) * tile_cols)]
    starts = segment_starts(keys)
    counts = np.diff(np.append(starts, keys.shape[0]))
    crowded = counts[counts >= least_entries(nt)]
    return TileCount(
        nt, round(starts.shape[0] * scale), keys.shape[0] / starts.shape[0], int(counts.max()),
        round(crowded.shape[0] * scale), round(int(crowded.sum()) * scale), round(lines * scale), scale != 1.0,
    )  # fmt: skip


def report(store):
    """The StorageReport of a matrix (Compressed, Dense) or of a vector (sparse or bitmap)."""
    store = host(store)
    if store.format in ("sparse", "bitmap"):
        return _vector_report(store)
    if type(store) is Dense:
        return _dense_report(store)
    A = store
    value = 0 if A.iso else A.values.itemsize
    rows, starts = occupied(A)
    lengths = np.diff(np.append(starts, A.indices.shape[0]))
    result = StorageReport(
        A.shape, A.nvals, A.dtype.name, A.format, A.iso, rows.shape[0], int(lengths.max()) if rows.shape[0] else 0
    )
    result.built = tuple(
        sorted(
            set(A.forms or ()) & {"transpose", "bitblock", *(f"{k}{nt}" for k in ("tiled", "bittiled") for nt in WORDS)}
        )
    )
    column = A.indices.itemsize
    result.nbytes["csr"] = 8 * (A.nrows + 1) + A.nvals * (column + value)
    result.nbytes["dcsr"] = 16 * (rows.shape[0] + 1) + A.nvals * (column + value)
    if not can_tile(A):
        result.chosen, result.why = "dcsr", f"{A.nrows} x {A.ncols} with {A.nvals} entries is too large to be tiled"
        return result
    for nt in (8, 16, 32, 64):
        result.tiles[nt] = count_tiles(A, nt)
    _tile_bytes(result, A, column, value)
    _choose(result)
    return result


def _tile_bytes(result, A, column, value):
    """Bytes of the tiled forms, by the schemas of tiled.py and bit_tiles.py."""
    for nt in WORDS:
        tile = result.tiles[nt]
        result.nbytes[f"tiled{nt}"] = (
            16 * (-(-A.nrows // nt) + 1)
            + 8
            + tile.crowded * (4 + 8 + nt * np.dtype(start_type_of(nt)).itemsize)
            + tile.in_crowded * (1 + value)
            + (A.nvals - tile.in_crowded) * (1 + column + value)
        )
    for nt in WORDS:
        tile = result.tiles[nt]
        start = start_type(tile.lines).itemsize
        result.nbytes[f"bittiled{nt}"] = (
            8 * (-(-A.nrows // nt) + 1) + start + tile.count * (4 + nt // 8 + start) + tile.lines * nt // 8
        )
    result.nbytes["bitblock"] = 8 * (-(-A.nrows // 8) + 2) + result.tiles[8].count * (4 + 8 + 8) + A.nvals * value


def _choose(result):
    """Fill `chosen` and `why`."""
    nbytes, tiles = result.nbytes, result.tiles
    plain = "dcsr" if nbytes["dcsr"] * 2 < nbytes["csr"] else "csr"
    in_tiles = [f"tiled{nt}" for nt in WORDS if 2 * tiles[nt].in_crowded >= result.nvals]
    forms = [form for form in (*in_tiles, "bitblock") if nbytes[form] < TILE_GAIN * nbytes[plain]]
    structure = nbytes[plain] - (nbytes["bitblock"] - 8 * (-(-result.shape[0] // 8) + 2) - tiles[8].count * 20)
    bits = [form for form in ("bittiled64", "bittiled32", "bittiled16") if nbytes[form] < TILE_GAIN * structure]
    mean = tiles[16].entries_per_tile
    if result.nvals == 0:
        result.chosen, result.why = plain, "it is empty"
    elif not forms and not bits:
        result.chosen = plain
        result.why = (
            f"a 16 x 16 tile has {mean:.2f} entries and a 64 x 64 tile {tiles[64].entries_per_tile:.2f} on average: "
            "words and headers of such tiles take more bytes than the column indices that they replace"
        )
    elif forms:
        best = min(forms, key=nbytes.get)
        result.chosen = best
        result.why = (
            f"a 16 x 16 tile has {mean:.2f} entries on average, so that {best} takes "
            f"{nbytes[best] / nbytes[plain]:.0%} of the bytes of {plain}"
            + (f"; {bits[0]} is for structure-only products" if bits else "")
        )
    else:
        best = min(bits, key=nbytes.get)
        result.chosen = plain
        result.why = (
            f"with values {plain} is smallest, while {best} stores the structure in {nbytes[best] / structure:.0%} of "
            "its bytes for structure-only products"
        )


def _dense_report(A):
    full = A.flat.words is None
    counts = None if full else np.diff(by_rows(A).indptr)
    result = StorageReport(
        A.shape, A.nvals, A.dtype.name, A.format, A.iso, A.nrows if full else int(np.count_nonzero(counts)),
        A.ncols if full else int(counts.max()),
    )  # fmt: skip
    value, size = 0 if A.iso else A.dtype.np_type.itemsize, A.nrows * A.ncols
    result.nbytes["full" if full else "bitmap"] = A.nbytes
    result.nbytes["csr"] = 8 * (A.nrows + 1) + A.nvals * (index_dtype(A.ncols).itemsize + value)
    result.built = tuple(sorted(set(A.forms or ()) & {"csr", "other_order"}))
    switch = bitmap_switch(*A.shape)
    result.chosen = A.format
    share = A.nvals / size
    result.why = f"{share:.2%} of its positions have an entry (bitmap above {switch:.0%}, CSR below half of that)"
    return result


def _vector_report(u):
    value = 0 if u.iso else u.values.itemsize
    result = StorageReport(u.shape + (1,), u.nvals, u.dtype.name, u.format, u.iso, u.nvals, min(u.nvals, 1))
    result.nbytes["sparse"] = u.nvals * ((4 if u.size < 2**31 else 8) + value)
    result.nbytes["bitmap"] = (0 if u.nvals == u.size else -(-u.size // 64) * 8) + u.size * value
    result.chosen = u.format
    share = u.nvals / u.size if u.size else 0.0
    result.why = f"{share:.2%} of its positions have an entry (bitmap above 1/16, sparse below 1/64)"
    return result
