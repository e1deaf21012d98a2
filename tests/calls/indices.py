"""What may stand between brackets, for a dimension of 5 or more: kinds of index, and kinds that are refused."""

import numpy as np

KINDS = {
    "int": lambda lib: 1,
    "last": lambda lib: 4,
    "negative": lambda lib: -2,
    "NumPy int": lambda lib: np.int64(3),
    "NumPy uint8": lambda lib: np.uint8(0),
    "Scalar": lambda lib: lib.Scalar.from_value(2),
    "all": lambda lib: slice(None),
    "step": lambda lib: slice(None, None, 2),
    "from with step": lambda lib: slice(1, 5, 3),
    "backwards": lambda lib: slice(None, None, -1),
    "negative ends": lambda lib: slice(-4, -1),
    "nothing": lambda lib: slice(3, 3),
    "list": lambda lib: [4, 0, 2],
    "repeats": lambda lib: [1, 3, 1],
    "negative list": lambda lib: [-1, 0],
    "empty array": lambda lib: np.empty(0, np.int64),
    "int32 array": lambda lib: np.array([0, 2, 3], np.int32),
    "uint64 array": lambda lib: np.array([4, 1], np.uint64),
    "strided array": lambda lib: np.arange(8)[:5:2],
}
SINGLE = ("int", "last", "negative", "NumPy int", "NumPy uint8", "Scalar")
REFUSED = {
    "too large": lambda lib: 7,
    "too small": lambda lib: -8,
    "too large in a list": lambda lib: [0, 7],
    "too small in a list": lambda lib: [0, -8],
    "float": lambda lib: 1.0,
    "float array": lambda lib: np.array([1.0]),
    "Boolean list": lambda lib: [True, False, True],
    "Boolean array": lambda lib: np.ones(7, bool),
    "text": lambda lib: "1",
    "two-dimensional": lambda lib: [[0], [1]],
    "empty Scalar": lambda lib: lib.Scalar(int),
    "FP64 Scalar": lambda lib: lib.Scalar.from_value(1.0),
    "Vector": lambda lib: lib.Vector.from_coo([0], [True], size=7),
    "mask": lambda lib: lib.Vector.from_coo([0], [True], size=7).S,
}


def keeps(kind):
    """Does this kind of index keep its dimension?"""
    return kind not in SINGLE


def picked(kind, size):
    """The positions that this kind of index picks of a dimension."""
    index = KINDS[kind](_Plain)
    return np.atleast_1d(np.arange(size)[index]).tolist()


class _Plain:
    class Scalar:
        @staticmethod
        def from_value(value):
            return value
