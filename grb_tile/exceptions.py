"""One exception class per GrB_Info value (GraphBLAS C API 2.1, section 3.8), plus those of the Python layer.

API errors (-1 .. -9) leave every operand as it was.  Execution errors (-101 ..) do so too, although the specification
permits undefined outputs.
"""

GrB_SUCCESS = 0
GrB_NO_VALUE = 1


class GraphblasException(Exception):
    """Base of every error that GraphBLAS defines; `info` is the GrB_Info value."""

    info: int | None = None


class NoValue(GraphblasException):
    info = 1


class UninitializedObject(GraphblasException):
    info = -1


class InvalidObject(GraphblasException):
    info = -104


class NullPointer(GraphblasException):
    info = -2


class InvalidValue(GraphblasException):
    info = -3


class InvalidIndex(GraphblasException):
    info = -4


class DomainMismatch(GraphblasException):
    info = -5


class DimensionMismatch(GraphblasException):
    info = -6


class OutputNotEmpty(GraphblasException):
    info = -7


class NotImplementedException(GraphblasException):
    info = -8


class AlreadySet(GraphblasException):
    info = -9


class Panic(GraphblasException):
    info = -101


class OutOfMemory(GraphblasException):
    info = -102


class InsufficientSpace(GraphblasException):
    info = -103


class IndexOutOfBound(GraphblasException, IndexError):
    """An index of a list or array is out of bounds; also an IndexError, as Python raises for a single index."""

    info = -105


class EmptyObject(GraphblasException):
    info = -106


class JitError(GraphblasException):
    info = -1001


class DistributedError(GraphblasException):
    """A call that all ranks make together cannot be completed: the message names the call and the ranks at fault.

    ranks: those that failed, have ended or did not come, where they are known.  call: the library call.
    """

    def __init__(self, message: str = "", ranks: tuple[int, ...] = (), call: str = "") -> None:
        super().__init__(message)
        self.ranks = ranks
        self.call = call


class UdfParseError(GraphblasException):
    """A Python function cannot be lowered to an operator; the message names the line and the reason."""


class CaptureError(GraphblasException):
    """A loop of a program cannot run on the device unchanged; the message names the line and the remedy."""


class CaptureWarning(UserWarning):
    """A loop of a program runs turn by turn, from Python: its text is a CaptureError's."""


class HostFallbackWarning(UserWarning):
    """No longer issued: where a device has no kernel for a whole loop, the loop of GraphBLAS calls runs there."""


_BY_INFO: dict[int | None, type[GraphblasException]] = {
    cls.info: cls
    for cls in (
        NoValue,
        UninitializedObject,
        InvalidObject,
        NullPointer,
        InvalidValue,
        InvalidIndex,
        DomainMismatch,
        DimensionMismatch,
        OutputNotEmpty,
        NotImplementedException,
        AlreadySet,
        Panic,
        OutOfMemory,
        InsufficientSpace,
        IndexOutOfBound,
        EmptyObject,
        JitError,
    )
}


def check_status(info: int, message: str = "") -> int:
    """Raise the exception class of a GrB_Info value; return `info` when it is GrB_SUCCESS.

    >>> from grb_tile.exceptions import check_status
    >>> check_status(0)
    0
    """
    if info == GrB_SUCCESS:
        return info
    raise _BY_INFO.get(info, Panic)(message or f"GrB_Info {info}")
