"""Statistics of stores for the planner's decisions: counted, gathered from short lists, or sampled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..storage.store import forms_of
from . import tuning

_ONES = np.ones(tuning.CPU_COUNTED)


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
    if u.format != "sparse" or A.rows is not None or count >= A.nrows:  # not is_counted
        return count * mean_degree(A) if A.rows is None else min(count, stored_rows(A)) * mean_degree(A)
    indices = u.indices
    scale = 1.0
    if count > tuning.CPU_COUNTED:
        indices = indices[:: count // tuning.CPU_COUNTED + 1]
        scale = count / indices.shape[0]
    found = A.forms and A.forms.get("degrees")
    lengths = (_degrees(A) if found is None else found).take(indices)
    return (
        float(lengths.dot(_ONES[: lengths.shape[0]])) * scale
    )  # whole numbers, exact; a sum takes three times as long


def is_counted(A, u) -> bool:
    """Does edges_of read row lengths, so that no sample of A is better?"""
    return A.rows is None and u.format == "sparse" and u.nvals < A.nrows


def _degrees(A):
    """Entries of each row of a CSR matrix, kept with it: one gather counts the edges of a list instead of two."""
    forms = forms_of(A)
    found = forms.get("degrees")
    if found is None:
        found = forms["degrees"] = (A.indptr[1:] - A.indptr[:-1]).astype(np.float64)
    return found


class Sample(NamedTuple):
    """Positions (int64) of tuning.CPU_SAMPLED entries of a matrix, and the length of each one's row."""

    rows: np.ndarray
    cols: np.ndarray
    degrees: np.ndarray


def sample_of(A) -> Sample:
    """A stratified sample of A's entries, kept with A: one random entry of each of equal ranges, the same every time.

    An entry is drawn from a row with a probability proportional to the row's length, so that the share of the sample
    that meets a vector estimates the edges of that vector whatever the distribution of degrees:
    its standard deviation is at most sqrt(p (1 - p) / CPU_SAMPLED) for a share p.
    """
    forms = forms_of(A)
    found = forms.get("sample")
    if found is None:
        count, total = A.indices.shape[0], tuning.CPU_SAMPLED
        where = (np.arange(total) + np.random.default_rng(1).random(total)) * (count / total)
        at = np.minimum(where.astype(np.int64), count - 1)
        rows = A.indptr.searchsorted(at, "right") - 1
        degrees = (A.indptr[rows + 1] - A.indptr[rows]).astype(np.float64)
        if A.rows is not None:
            rows = A.rows[rows]
        found = forms["sample"] = Sample(rows.astype(np.int64), A.indices[at].astype(np.int64), degrees)
    return found


def members(u, positions) -> np.ndarray:
    """Which of `positions` (int64) has vector u: a Boolean array."""
    if u.format == "bitmap":
        if u.words is None:
            return np.ones(positions.shape[0], np.bool_)
        bits = u.words[positions >> 6] >> (positions & 63).astype(np.uint64)
        return (bits & np.uint64(1)).astype(np.bool_)
    indices = u.indices
    if indices.shape[0] == 0:
        return np.zeros(positions.shape[0], np.bool_)
    return indices.take(indices.searchsorted(positions.astype(indices.dtype)), mode="clip") == positions
