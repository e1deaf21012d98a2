"""Multi-source BFS (MS-BFS), up to 64 searches at once: a word for each vertex, a bit of it for each search.

Paper: Then et al., "The more the merrier: efficient multi-source graph traversal" (PVLDB 8, 2014), sections 3.1 and
4.1; direction-optimising as in 4.1.2.

seen[v]     searches that have reached v;  now[v]: those with v in the current frontier;  following[v]: in the next one
level       level[64 v + b]: level of v in search b
An edge is traversed once for all searches whose frontier has its start.
state (int64): 0 (vertex, search) pairs found; 1 edges leaving the vertices found; 2 in-edges of vertices that every
search has reached.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    IN_INDEX,
    INDEX,
    INT32,
    INT64,
    LEVEL,
    NONE,
    OUT_INDEX,
    WORD,
    ones,
    trailing_zeros,
)

BLOCK = 128


def push(
    out_ptr: INT64,
    out_indices: INDEX,
    in_ptr: INT64,
    queue: INT64,
    count: int,
    now: WORD,
    following: WORD,
    seen: WORD,
    everyone: np.uint64,
    touched: INT64,
    level: LEVEL,
    depth: int,
    state: INT64,
):
    """Push step over the frontier's queue, which the next frontier replaces; returns its length.

    now becomes zero; following has the bits found.
    """
    met = 0
    for k in range(count):
        v = queue[k]
        word = now[v]
        now[v] = NONE
        for e in range(out_ptr[v], out_ptr[v + 1]):
            u = out_indices[e]
            fresh = word & ~seen[u]
            if fresh != NONE:
                if following[u] == NONE:
                    touched[met] = u
                    met += 1
                following[u] |= fresh
    pairs = 0
    edges = 0
    complete = 0
    for k in range(met):
        u = touched[k]
        word = following[u]
        queue[k] = u
        seen[u] |= word
        pairs += ones(word)
        edges += out_ptr[u + 1] - out_ptr[u]
        if seen[u] == everyone:
            complete += in_ptr[u + 1] - in_ptr[u]
        base = u * 64
        while word != NONE:
            level[base + trailing_zeros(word)] = depth
            word &= word - np.uint64(1)
    state[0] = pairs
    state[1] = edges
    state[2] = complete
    return met


def pull(
    out_ptr: INT64,
    in_ptr: INT64,
    in_indices: IN_INDEX,
    now: WORD,
    following: WORD,
    seen: WORD,
    everyone: np.uint64,
    level: LEVEL,
    depth: int,
    state: INT64,
    first: int,
    last: int,
):
    """Pull step: vertices first..last unite the bits of their in-neighbours; early exit once all searches are there."""
    pairs = 0
    edges = 0
    complete = 0
    for v in range(first, last):
        missing = everyone & ~seen[v]
        word = NONE
        if missing != NONE:
            for e in range(in_ptr[v], in_ptr[v + 1]):
                word |= now[in_indices[e]]
                if word & missing == missing:
                    break
            word &= missing
        following[v] = word
        if word != NONE:
            seen[v] |= word
            pairs += ones(word)
            edges += out_ptr[v + 1] - out_ptr[v]
            if word == missing:
                complete += in_ptr[v + 1] - in_ptr[v]
            base = v * 64
            while word != NONE:
                level[base + trailing_zeros(word)] = depth
                word &= word - np.uint64(1)
    state[0] = pairs
    state[1] = edges
    state[2] = complete
    return 0


def listed(now: WORD, queue: INT64):
    """The vertices of the frontier, ascending, into `queue`; returns how many."""
    count = 0
    for v in range(now.shape[0]):
        if now[v] != NONE:
            queue[count] = v
            count += 1
    return count


def tally(seen: WORD, searches: int, counts: INT64, first: int, last: int):
    """counts[b]: how many of the vertices first..last were reached by search b."""
    for b in range(searches):
        counts[b] = 0
    for v in range(first, last):
        word = seen[v]
        while word != NONE:
            counts[trailing_zeros(word)] += 1
            word &= word - np.uint64(1)
    return 0


def rows(seen: WORD, level: LEVEL, searches: int, at: INT64, indices: OUT_INDEX, values: INT32, first: int, last: int):
    """The vertices first..last reached by each search b, with their levels, to positions from at[b] on."""
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        for b in range(searches):
            shift = np.uint64(b)
            p = at[b]
            for v in range(begin, end):
                if (seen[v] >> shift) & np.uint64(1) != NONE:
                    indices[p] = v
                    values[p] = level[v * 64 + b]
                    p += 1
            at[b] = p
    return 0
