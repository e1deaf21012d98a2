"""Scatter of sparse vectors into bitmaps: presence bits and dense values."""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import INDEX, VALUE, WORD, X_ISO, bit


def spread(indices: INDEX, values: VALUE, words: WORD, dense: VALUE):
    """Sparse to bitmap: set the bits (words must be zero) and, unless iso, scatter the values."""
    for p in range(indices.shape[0]):
        i = indices[p]
        words[i >> 6] |= bit(np.int64(i))
        if not X_ISO:
            dense[i] = values[p]


def put_entries(indices: INDEX, values: VALUE, words: WORD, dense: VALUE):
    """The same into a bitmap that has entries; returns how many positions are new."""
    fresh = 0
    for p in range(indices.shape[0]):
        i = indices[p]
        w = i >> 6
        mask = bit(np.int64(i))
        before = words[w]
        if not before & mask:
            words[w] = before | mask
            fresh += 1
        if X_ISO:
            dense[i] = values[0]
        else:
            dense[i] = values[p]
    return fresh


def clear_bits(indices: INDEX, words: WORD):
    """Clear the bits at `indices`; returns how many were set."""
    gone = 0
    for p in range(indices.shape[0]):
        i = indices[p]
        w = i >> 6
        mask = bit(np.int64(i))
        before = words[w]
        if before & mask:
            words[w] = before & ~mask
            gone += 1
    return gone
