"""NumPy functions over chunks of an array on all cores: NumPy releases the interpreter's lock while it computes.

A chunk has CHUNK values, so that what a function makes in between stays in a core's cache, and so that a sum in
floating point does not depend on the number of cores.
"""

import numpy as np

from ....storage import bits
from ..jit import cache as jit

CHUNK = 1 << 16
LEAST = 4 * CHUNK  # values from which an array is cut into chunks
REDUCED = 2 * CHUNK  # values of a chunk of a reduction, which makes no array: fewer calls


def mapped(function, values, ufunc=None):
    """function(values) for a function that gives one result for each value.

    ufunc(values, out=results) is the same, written where it belongs at once: a copy of the results takes half as long
    again.
    """
    count = values.shape[0]
    if count < LEAST:
        return function(values)
    first = function(values[:CHUNK])
    results = np.empty(count, first.dtype)
    results[:CHUNK] = first

    def job(chunk, worker):
        begin = (chunk + 1) * CHUNK
        part, out = values[begin : begin + CHUNK], results[begin : begin + CHUNK]
        if ufunc is None:
            out[...] = function(part)
        else:
            with np.errstate(all="ignore"):
                ufunc(part, out=out)

    jit.share_out(job, (count - 1) // CHUNK, jit.thread_count())
    return results


def reduced(function, values, terminal=None):
    """function(values) for a reduction of an array to a NumPy scalar, which is associative.

    The rest is not read when the first chunk's result is `terminal`.
    """
    count = values.shape[0]
    if count < LEAST:
        return function(values)
    first = function(values[:REDUCED])
    if terminal is not None and first == terminal:
        return first

    def job(chunk, worker):
        begin = (chunk + 1) * REDUCED
        return function(values[begin : begin + REDUCED])

    return function(np.array([first, *jit.share_out(job, (count - 1) // REDUCED, jit.thread_count())]))


def reduced_bits(function, words, values, terminal=None):
    """function(the values at the set bits) as `reduced`, for one bit at least: those of a chunk are listed alone."""
    size = values.shape[0]
    if size < LEAST:
        return function(values[bits.to_indices(words, size)])

    def job(chunk, worker):
        begin = chunk * CHUNK
        part = values[begin : begin + CHUNK]
        at = bits.to_indices(words[begin >> 6 : begin + CHUNK >> 6], part.shape[0])
        return function(part[at]) if at.shape[0] else None

    first = job(0, 0)
    if terminal is not None and first is not None and first == terminal:
        return first
    rest = jit.share_out(lambda chunk, worker: job(chunk + 1, worker), (size - 1) // CHUNK, jit.thread_count())
    return function(np.array([x for x in (first, *rest) if x is not None]))


def releases_the_lock(ufunc):
    """Is it NumPy's own ufunc, and not a Python function?"""
    return isinstance(ufunc, np.ufunc) and ufunc.ntypes > 1
