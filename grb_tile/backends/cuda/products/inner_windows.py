"""C = A (+.x) B with few rows and columns and a long inner dimension: any semiring (products/inner_windows.cuh).

Each operand is read as it is stored, by lines (rows of A, columns of B) or by inner indices: nothing is transposed.
Workspace: 8 bytes for each line and window, and the totals of each block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner.choose_inner import choose_inner
from ....storage.convert import cached_transpose
from ..lowering.semirings import lowered_plain
from ..structure.arrays import compressed, gather, index_type
from ..structure.formats import choose_format
from ..structure.prefix_sums import listed

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

EDGE, TILE = 4, 16  # as in inner_windows.cuh
THREADS = 256
PANEL = (16, 8)  # rows and columns of C that a block computes, at most: a tile of 4 x 4 for each of its warps
RESIDENT = 3  # blocks of a multiprocessor: one computes while others load
RESERVED = 2048  # bytes of shared memory that a block has besides its windows: the kernel's own and the driver's
MOST_WINDOW = 1024  # inner indices


def matmul_inner(device: Device, A: Compressed, at: bool, B: Compressed, bt: bool, semiring: Any) -> tuple | None:
    """(C, plan), C = (A or A') (+.x) (B or B'); None where another method takes less time or is the only one."""
    if at == bt and cached_transpose(B) is A:
        B, bt = A, not bt
    s = lowered_plain(device, semiring, A.dtype, A.iso, B.dtype, B.iso)
    if s is None:
        return None
    plan = choose_inner(A, at, B, bt)
    if plan is None:
        return None
    C = _product(device, A, at, B, bt, s, semiring)
    plan.note = f"{C.nvals} entries"
    return C, plan


def _product(device: Device, A: Compressed, at: bool, B: Compressed, bt: bool, s: Lowered, semiring: Any) -> Compressed:
    launcher = device.launcher
    rows, cols = _lines(A, not at), _lines(B, bt)
    nrows, ncols, inner = A.ncols if at else A.nrows, B.nrows if bt else B.ncols, A.nrows if at else A.ncols
    same = A is B and at != bt
    once = same and (s.reads_a or not s.reads_x)
    symmetric = same and semiring.binaryop.positional is None and semiring.binaryop.is_commutative
    threads = launcher.threads(THREADS)
    panel_rows, panel_cols = _panel(rows, cols, threads // 32)
    item = s.dtype.np_type.itemsize
    each = [x.values.dtype.itemsize if reads and not x.iso else 0 for x, reads in ((A, s.reads_a), (B, s.reads_x))]
    bytes_each = panel_rows * each[0] + 4
    if not (once and panel_cols == cols <= panel_rows):  # else all panels are loaded once
        bytes_each += panel_cols * each[1] + 4
    capacity = launcher.limits.dynamic_shared // RESIDENT - RESERVED
    window = launcher.size(max(min((capacity - 32) // bytes_each, MOST_WINDOW) // 32 * 32, 32), 32)
    windows = -(-inner // window)
    shared = max(window * bytes_each + 32, threads // 32 * (TILE * item + 4))
    panels = -(-rows // panel_rows) * -(-cols // panel_cols)
    tiles = panel_rows * panel_cols // TILE
    types = index_type(A.indices), index_type(B.indices)
    text, template = s.text, (*types, "S")
    kernel = launcher.kernel("products/inner_windows.cuh", "inner_windows", text, template)
    shares = launcher.blocks(max(min(kernel.resident_blocks(threads, shared) // panels, windows), 1))
    left = _side(device, A, not at, rows, s.reads_a, window, windows)
    right = left if once else _side(device, B, bt, cols, s.reads_x, window, windows)
    sums = None if s.structure_only else device.empty(panels * shares * tiles * TILE, s.dtype.np_type)
    there = device.zeros(panels * shares * tiles, np.uint32)
    values = None if s.structure_only else device.empty(rows * cols, s.dtype.np_type)
    hit = device.empty(rows * cols, np.bool_)
    operands = (
        *left, *right, inner, window, windows, panel_rows, panel_cols, shares, int(once), int(symmetric), sums, there,
        values, hit,
    )  # fmt: skip
    kernel(panels * shares, threads, operands, shared=shared)
    kernel = launcher.kernel("products/inner_windows.cuh", "inner_join", text, template)
    kernel.over(rows * cols * 32, operands)
    places = listed(device, hit, np.dtype(np.int64))
    i, j = places // cols, places % cols
    if not at and A.rows is not None:
        i = gather(device, A.rows, i)
    if bt and B.rows is not None:
        j = gather(device, B.rows, j)
    values = s.value(device, A, B) if s.structure_only else gather(device, values, places)
    result = choose_format(device, compressed(device, nrows, ncols, s.dtype, i, j, values, s.structure_only))
    result.shared = s.structure_only
    return result


def _lines(X: Compressed, by_lines: bool) -> int:
    return X.indptr.shape[0] - 1 if by_lines else X.ncols


def _panel(rows: int, cols: int, warps: int) -> tuple[int, int]:
    """Rows and columns of a panel: whole tiles, at most one for each warp."""
    most_rows = min(PANEL[0], EDGE * warps)
    panel_rows = min(-(-rows // EDGE) * EDGE, most_rows)
    return panel_rows, min(-(-cols // EDGE) * EDGE, PANEL[1], warps * TILE // panel_rows // EDGE * EDGE)


def _side(device: Device, X: Compressed, by_lines: bool, lines: int, reads: bool, window: int, windows: int) -> tuple:
    """The operand as the kernel takes it."""
    bounds = None
    if by_lines:
        bounds = device.empty(lines * (windows + 1), np.int64)
        kernel = device.launcher.kernel("products/inner_windows.cuh", "inner_bounds", "", (index_type(X.indices),))
        kernel.over(lines * (windows + 1), (X.indptr, X.indices, lines, window, windows, bounds))
    return X.indptr, X.indices, X.values if reads else None, X.rows if by_lines else None, bounds, lines
