"""Rows of C = A (+.x) B with millions of products, several blocks for each (kernels/products/spgemm_split.cuh).

Workspace: 12 bytes for each 64 columns of the span of each such row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..structure.arrays import gather

THREADS = 512
RESIDENT = 4  # blocks of a multiprocessor: 2048 threads
WAVES = 4  # of blocks: rows of B differ in length
BLOCK_ROW = 1 << 13  # entries of a row of B that the whole block takes: a warp takes 0.1 ms for them
LEAST_ENTRIES = 1024  # of A in a part
SHARE = 8  # of the free memory may be the bitmaps


class SplitRows:
    """The rows of a product that several blocks compute each: their bitmaps and the bits before each word.

    product: an analysed spgemm.Product, whose module imports this one.
    """

    @classmethod
    def where_they_fit(cls, product: Any, first: int, count: int) -> SplitRows | None:
        """The `count` rows from `first` on in the product's list; None where memory is short of their bitmaps."""
        spans = -(-product.span // 64)  # at most, in words
        return cls(product, first, count) if count * spans * 12 * SHARE <= product.device.memory()[0] else None

    def __init__(self, product: Any, first: int, count: int) -> None:
        """As where_they_fit."""
        self.device = product.device
        device, self.rows = product.device, product.list[first : first + count].copy()
        spans = gather(device, product.spans, self.rows)
        words = ((spans & np.uint64(0xFFFFFFFF)) - (spans >> np.uint64(32))).astype(np.int64) // 64 + 1
        ends = device.xp.cumsum(words)
        self.at = device.zeros(product.stored, np.int64)
        self.at[self.rows] = ends - words
        longest = (gather(device, product.A.indptr, self.rows + 1) - gather(device, product.A.indptr, self.rows)).max()
        total, longest = device.read(ends[-1:], longest.reshape(1))
        self.bits, self.before = device.zeros(total, np.uint64), device.empty(total, np.uint32)
        launcher = device.launcher
        self.threads = launcher.threads(THREADS)
        self.capacity = launcher.size(product.shared // RESIDENT // 16 * 16, 128)
        resident = RESIDENT * launcher.processors
        self.parts = max(min(-(-WAVES * resident // count), -(-longest // LEAST_ENTRIES)), 1)
        self.blocks = launcher.blocks(min(count * self.parts, WAVES * resident))

    def symbolic(self, operands: tuple, template: tuple[str, ...], lanes: int) -> None:
        """Count the entries of the rows."""
        self._launch("split_mark", operands, (*template, str(lanes)), "", self.capacity)
        self._launch("split_count", operands, template, "", 0)

    def numeric(self, operands: tuple, template: tuple[str, ...], text: str, lanes: int, has_start: bool) -> None:
        """The values of the rows."""
        if has_start:
            self._launch("split_start", operands, template, text, 0)
        self._launch("split_merge", operands, (*template, str(lanes)), text, self.capacity)

    def columns(self) -> tuple[Any, int, int, int, Any, Any]:
        """What spgemm_expand takes after the operands: it writes the columns."""
        return self.rows, self.rows.shape[0], 1, 0, self.bits, self.at

    def _launch(self, name, operands, template, text, shared):
        kernel = self.device.launcher.kernel("products/spgemm_split.cuh", name, text, template)
        block_row = self.device.launcher.size(BLOCK_ROW, 600)
        rest = self.rows, self.rows.shape[0], self.capacity, 0, self.bits, self.at, self.before, self.parts, block_row
        kernel(self.blocks, self.threads, (*operands, *rest), shared=shared)
