"""C++ names of the types of device arrays, for the templates of kernels."""

INDEX = {
    "i": "int32_t",
    "l": "int64_t",
    "q": "int64_t",
    "I": "uint32_t",
    "L": "word",
    "Q": "word",
    "H": "uint16_t",
    "B": "uint8_t",
    "?": "bool",
}
_MOVED = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t", 16: "ulonglong2"}


def index_type(array):
    """The C++ type of an array of indices, counts or flags."""
    return INDEX[array.dtype.char]


def moved_type(array):
    """The C++ type in which values of this size are copied, so that one kernel instance serves all types of a size."""
    return _MOVED[array.dtype.itemsize]
