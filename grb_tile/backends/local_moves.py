"""A round of local moves, and one of joins, in NumPy: move_half and join_half of backends/graph.py.

A vertex i votes again where [the weights to neighbours that moved to other communities than its own], twice where they
left its own, exceed slack(i), by how much the score of its community exceeded that of the next: before that no other
can be better, but for the sums of communities, which the last rounds of a search renew.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..community_rounds import waits
from ..hashing import mixed_by


def entries_of(B: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(which of the rows, column, value) of their entries."""
    begins, counts = B.indptr[rows], np.diff(B.indptr)[rows]
    ends = np.cumsum(counts)
    at = np.arange(counts.sum()) + np.repeat(begins - ends + counts, counts)
    values = np.full(at.size, B.values[0]) if B.iso else B.values[at]
    return np.repeat(np.arange(rows.size), counts), B.indices[at], values


def move_half(
    B: Any, x: np.ndarray, K: np.ndarray, at: np.ndarray, vote: tuple, slack: np.ndarray, used: np.ndarray,
    k: np.ndarray, key: int, first: int = 0, total: Any = None,
) -> tuple:  # fmt: skip
    """GraphOperations.move_half of arrays on the host.

    B has the rows from `first` on; total: the sum of an array over those who have the others, None: there are none.
    """
    n, (best, gain) = x.shape[0], vote[:2]
    wants = gain > 0
    stay = waits(at, key)
    movers, slack, used, after = at[wants & ~stay], slack.copy(), used.copy(), x.copy()
    slack[at], used[at], slack[movers] = -gain, 0.0, 0.0
    after[movers] = best[wants & ~stay]
    K = K + np.bincount(after[movers], k[movers], n) - np.bincount(x[movers], k[movers], n)
    moves = np.zeros(n, np.bool_)
    moves[movers] = True
    mine = movers if total is None else movers[(movers >= first) & (movers < first + B.nrows)]
    row, col, weight = entries_of(B, mine - first)
    joins, left = after[col] == after[mine[row]], x[col] == x[mine[row]]
    # an entry between two vertices that move is seen from both
    change = (weight * (joins.astype(np.int64) - left) * (2 - moves[col])).sum()
    near = ~moves[col] & ~joins
    sums = np.bincount(col[near], (weight * (1 + left))[near], n), np.bincount(col[near], minlength=n), [change]
    if total is not None:
        sums = np.split(total(np.concatenate(sums)), [n, 2 * n])
    used += sums[0]
    looked_at = (sums[1] > 0) & (used > slack)
    looked_at[at[wants & stay]] = True
    return after, K, slack, used, looked_at, float(sums[2][0]), int(np.count_nonzero(wants)), movers.size


def join_half(
    E: Any, y: np.ndarray, sums: tuple, at: np.ndarray, vote: tuple, level: tuple, key: int, few: float,
    first: int = 0, total: Any = None,
) -> tuple:  # fmt: skip
    """GraphOperations.join_half of arrays on the host; first, total: as move_half."""
    (K, size, cut), (_, k, within, whole, joined, scale) = sums, level
    n, (best, gain) = y.shape[0], vote[:2]
    is_open = cut >= scale * K * (whole - K)
    wants = (gain > 0) & joined[at] & (size[y[at]] == 1) & is_open[best]
    wanting = int(np.count_nonzero(wants))
    asks, moves = np.zeros((2, n), np.bool_)
    asks[at] = wants & (mixed_by(at.astype(np.uint64), key) >> np.uint64(63) == 0)
    going = asks[at] & ~asks[best]
    if wanting <= few:
        going[:] = False
    movers, after = at[going], y.copy()
    after[movers] = best[going]
    moves[movers] = True
    mine = movers if total is None else movers[(movers >= first) & (movers < first + E.nrows)]
    row, col, weight = entries_of(E, mine - first)
    joins = after[col] == after[mine[row]]
    K, size, cut = K.copy(), size.copy(), cut.copy()
    K[movers] = size[movers] = cut[movers] = 0.0
    to = after[movers]
    K += np.bincount(to, k[movers], n)
    size += np.bincount(to, minlength=n)
    found = np.bincount(after[mine][row], weight * joins * (2 - moves[col]), n), np.bincount(col, minlength=n)
    if total is not None:
        found = np.split(total(np.concatenate(found)), [n])
    cut += np.bincount(to, within[movers], n) - found[0]
    looked_at = found[1] > 0
    looked_at[at[wants]] = True
    looked_at &= (size == 1) & (after == np.arange(n))
    return after, (K, size, cut), looked_at, wanting, movers.size
