"""Breadth-first levels of up to 64 searches at once: a word for each vertex, a bit of it for each search.

seen[v]     the searches that have reached v;  now[v]: those that did so on the last level;  following[v]: on this one
level       level[64 v + b]: when search b reached v
A vertex's edges are walked once for all searches that stand there.  Paper: Then et al., "The more the merrier:
efficient multi-source graph traversal" (PVLDB 8, 2014), sections 3.1 and 4.1; the pull of 4.1.2 stops once nobody is
missing. state (int64): 0 (vertex, search) pairs found; 1 edges leaving the vertices found; 2 edges of the vertices that
are complete.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import NONE, ones, trailing_zeros

BLOCK = 128


def push(out_ptr, out_indices, in_ptr, queue, count, now, following, seen, everyone, touched, level, depth, state):
    """The vertices in `queue` tell their neighbours; the new queue replaces the old one.  Returns its length.

    now is left empty, following holds what was found.
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


def pull(out_ptr, in_ptr, in_indices, now, following, seen, everyone, level, depth, state, first, last):
    """Vertices first..last ask their in-neighbours for the searches they miss; following is written for each of them."""
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


def listed(now, queue):
    """The vertices with a search, ascending, into `queue`; returns how many."""
    count = 0
    for v in range(now.shape[0]):
        if now[v] != NONE:
            queue[count] = v
            count += 1
    return count


def tally(seen, searches, counts, first, last):
    """counts[b]: how many of the vertices first..last search b has reached."""
    for b in range(searches):
        counts[b] = 0
    for v in range(first, last):
        word = seen[v]
        while word != NONE:
            counts[trailing_zeros(word)] += 1
            word &= word - np.uint64(1)
    return 0


def rows(seen, level, searches, at, indices, values, first, last):
    """The vertices first..last of each search b, with their levels, from place at[b] on."""
    for begin in range(first, last, BLOCK):
        end = min(begin + BLOCK, last)
        for b in range(searches):
            shift = np.uint64(b)
            place = at[b]
            for v in range(begin, end):
                if (seen[v] >> shift) & np.uint64(1) != NONE:
                    indices[place] = v
                    values[place] = level[v * 64 + b]
                    place += 1
            at[b] = place
    return 0
