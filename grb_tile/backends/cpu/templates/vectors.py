"""Sparse vectors into bitmaps and back: presence bits and dense values."""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import INDEX, NONE, VALUE, WORD, X_ISO, bit, ones, trailing_zeros


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


def collect(words: WORD, dense: VALUE, out_indices: INDEX, out_values: VALUE):
    """Bitmap to sparse: the set bits, ascending, and their values unless iso; returns how many."""
    at = 0
    for w in range(words.shape[0]):
        rest = words[w]
        while rest != NONE:
            i = w * 64 + trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            out_indices[at] = i
            if not X_ISO:
                out_values[at] = dense[i]
            at += 1
    return at


def admit_bits(words: WORD, mask: WORD, flip: np.uint64, size: int, out: WORD):
    """The bits inside the mask (no words: of all positions, every position); returns how many."""
    count = 0
    for w in range(out.shape[0]):
        mine = ~NONE
        if words.shape[0] > 0:
            mine = words[w]
        elif size - w * 64 < 64:
            mine = bit(size - w * 64) - np.uint64(1)
        if mask.shape[0] > 0:
            mine &= mask[w] ^ flip
        out[w] = mine
        count += ones(mine)
    return count


def admit_entries(indices: INDEX, values: VALUE, mask: WORD, flip: np.uint64, out_indices: INDEX, out_values: VALUE):
    """The entries of a list inside the mask, which has words; returns how many."""
    at = 0
    for p in range(indices.shape[0]):
        i = indices[p]
        if (mask[i >> 6] ^ flip) & bit(np.int64(i)):
            out_indices[at] = i
            if not X_ISO:
                out_values[at] = values[p]
            at += 1
    return at
