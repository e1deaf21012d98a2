"""Rows of matrices as words of 64 columns (kernels/products/masked_words.cuh), for products that count matches.

    C(i,j) = [+_k A(i,k) pair B(k,j)] = [+_w popcount(W(A)(i,w) and W(B')(j,w))]

W(A) has A's rows, a column for 64 of A's, and 12 bytes for each of its entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import UINT64
from ....storage.store import Compressed, forms_of, index_dtype
from ..structure.arrays import index_type
from ..structure.prefix_sums import running_sums

if TYPE_CHECKING:
    from ..lowering.semirings import Lowered
    from ..runtime.device import Device

HEADER = "products/masked_words.cuh"


def counts_matches(s: Lowered) -> bool:
    """Is a product of two rows the number of their common columns, or whether there is one?"""
    return s.structure_only or s.counts


def kept_as_words(device: Device, A: Compressed) -> Compressed:
    """W(A), kept with A from the second time on: making it takes a tenth of the product of a graph with itself."""
    forms = forms_of(A)
    found = forms.get("as_words")
    if found is None:
        found = rows_as_words(device, A)
        if "seen_as_words" in forms:
            forms["as_words"] = found
        forms["seen_as_words"] = True
    return found


def rows_as_words(device: Device, A: Compressed, first: Any = None) -> Compressed:
    """W(A); its columns are 32-bit, as A's are.  first: an array of an int64 for each entry of A; those of the words
    get the entry of A that is their first one.
    """
    n, stored = A.indices.shape[0], A.indptr.shape[0] - 1
    launcher, kind = device.launcher, index_type(A.indices)
    begins = device.empty(n, np.bool_)
    launcher.kernel(HEADER, "word_begins", "", (kind,)).over(n, (A.indices, n, begins))
    launcher.kernel(HEADER, "word_rows", "", ("int64_t",)).over(stored, (A.indptr, stored, begins))
    ends, count = running_sums(device, begins, index_dtype(n), total=True)
    starts, cols = device.empty(stored + 1, np.int64), device.empty(count, np.int32)
    words = device.empty(count, np.uint64)
    name = index_type(ends)
    launcher.kernel(HEADER, "word_starts", "", (name,)).over(stored + 1, (A.indptr, stored, ends, starts))
    launcher.kernel(HEADER, "word_fill", "", (kind, name)).over(n, (A.indices, n, begins, ends, cols, words, first))
    return Compressed(A.nrows, (A.ncols + 63) // 64, UINT64, starts, cols, words, False, A.rows)
