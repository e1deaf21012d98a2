"""Changing between the forms of a vector: index lists, bits, dense values."""
import numpy as np

from grb_tile.backends.cpu.walks.placeholders import NONE, X_ISO, bit, trailing_zeros


def spread(indices, values, words, dense):
    """Sparse to bitmap: set the bits (words must be zero) and, unless iso, put the values in their places."""
    for p in range(indices.shape[0]):
        i = indices[p]
        words[i >> 6] |= bit(np.int64(i))
        if not X_ISO:
            dense[i] = values[p]


def place(indices, values, words, dense):
    """The same into a bitmap that holds something; returns how many places are new."""
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


def unplace(indices, words):
    """Clear the bits `indices`; returns how many were set."""
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


def collect(words, dense, indices, values):
    """Bitmap to sparse; returns the number of entries."""
    count = 0
    for w in range(words.shape[0]):
        rest = words[w]
        while rest != NONE:
            i = w * 64 + trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            indices[count] = i
            if not X_ISO:
                values[count] = dense[i]
            count += 1
    return count


def work_of(indptr, indices):
    """Entries of the rows named by `indices`."""
    total = 0
    for p in range(indices.shape[0]):
        i = indices[p]
        total += indptr[i + 1] - indptr[i]
    return total


def work_of_bits(indptr, words, flip):
    """Entries of the rows whose bit in `words ^ flip` is set."""
    total = 0
    n = indptr.shape[0] - 1
    for w in range(words.shape[0]):
        rest = words[w] ^ flip
        if n - w * 64 < 64:
            rest &= bit(n - w * 64) - np.uint64(1)
        while rest != NONE:
            i = w * 64 + trailing_zeros(rest)
            rest &= rest - np.uint64(1)
            total += indptr[i + 1] - indptr[i]
    return total
