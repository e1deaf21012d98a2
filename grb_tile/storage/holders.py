"""Reference counts of arrays: an array with one reference may be updated in place.

    count_of(c.values) <= ONE       only the slot `values` of c refers to it

The count is the interpreter's; it is read through one function, so that the references of the call are always the same.
"""

import sys

import numpy as np


class _Holder:
    __slots__ = ("values",)


def count_of(array):
    """References to the array, including those of a call of this function on an attribute."""
    return sys.getrefcount(array)


def _count_of_one_holder():
    holder = _Holder()
    holder.values = np.empty(1)
    return count_of(holder.values)


# The smallest count of one reference.  Where the interpreter shows more (a tracer refers to arguments, for instance) an
# array is copied without need, which is safe.
ONE = min(_count_of_one_holder() for _ in range(64))
