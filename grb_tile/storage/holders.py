"""Who holds an array: what nobody else holds may be written to in place.

    count_of(c.values) <= ONE       only the slot `values` of c holds it

The count is the interpreter's, taken through one function so that its own references are the same each time.
"""

import sys

import numpy as np


class _Holder:
    __slots__ = ("values",)


def count_of(array):
    """References to the array, those of a call of this function on an attribute included."""
    return sys.getrefcount(array)


def _count_of_one_holder():
    holder = _Holder()
    holder.values = np.empty(1)
    return count_of(holder.values)


# The least that it ever shows: where it shows more (a tracer holds arguments, say) arrays are copied, never the other
# way.
ONE = min(_count_of_one_holder() for _ in range(64))
