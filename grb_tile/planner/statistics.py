"""Figures about stores that decisions rest on."""

from __future__ import annotations

import numpy as np

from ..storage.store import forms_of
from . import tuning


def stored_rows(A) -> int:
    """Rows of A that may have entries: all of a CSR matrix, those listed of a DCSR matrix."""
    return A.nrows if A.rows is None else A.rows.shape[0]


def mean_degree(A) -> float:
    """Entries per stored row."""
    return A.indices.shape[0] / max(stored_rows(A), 1)


def edges_of(A, u) -> float:
    """Entries in the rows of A at u's entries: counted for short lists (sampled for long ones), else estimated.

    Cost: a gather of at most tuning.CPU_COUNTED row lengths.
    """
    count = u.nvals
    if count == 0:
        return 0.0
    if A.rows is not None or u.format != "sparse" or count >= A.nrows:
        return count * mean_degree(A) if A.rows is None else min(count, stored_rows(A)) * mean_degree(A)
    indices = u.indices
    scale = 1
    if count > tuning.CPU_COUNTED:
        scale = count // tuning.CPU_COUNTED + 1
        indices = indices[::scale]
    return float(np.add.reduce(_degrees(A).take(indices))) * scale


def _degrees(A):
    """Entries of each row of a CSR matrix, kept with it: one gather counts the edges of a list instead of two."""
    forms = forms_of(A)
    found = forms.get("degrees")
    if found is None:
        found = forms["degrees"] = A.indptr[1:] - A.indptr[:-1]
    return found
