"""Which communicator this process has: one given, that of a launcher, or none."""

from __future__ import annotations

import os
from typing import Any

from grb_tile.exceptions import DistributedError, InvalidValue

from .communicator import Communicator
from .environment import ADDRESS_VARIABLE, SIZE_VARIABLE, launched_by_mpi


def connect(comm: Any = None, timeout: float = 300.0) -> Communicator:
    """The communicator of this process.

    comm: an mpi4py communicator, or a Communicator, which is returned.  Without one: the processes of `grb-tile run`,
    those of an MPI launcher, else this process alone.
    Raises: InvalidValue for another object; ImportError where an MPI launcher started several ranks without mpi4py;
    DistributedError where MPI has another number of ranks than the launcher started.
    """
    if isinstance(comm, Communicator):
        return comm
    if comm is not None:
        if not all(hasattr(comm, name) for name in ("Get_rank", "Get_size", "Dup")):
            raise InvalidValue(f"comm={comm!r}: expected an mpi4py communicator such as mpi4py.MPI.COMM_WORLD")
        return _mpi(comm, timeout)
    if os.environ.get(ADDRESS_VARIABLE):
        from .pipes import PipeCommunicator

        return PipeCommunicator.of_environment(timeout)
    launched = launched_by_mpi()
    if launched is not None:
        return _of_launcher(launched[1], timeout)
    wanted = os.environ.get(SIZE_VARIABLE, "")
    if wanted.isdecimal() and int(wanted) > 1:
        raise DistributedError(
            f"{SIZE_VARIABLE}={wanted}, and neither an MPI launcher nor `grb-tile run` has said which rank this is"
        )
    from .alone import Alone

    return Alone(timeout)


def _of_launcher(size: int, timeout: float) -> Communicator:
    made = _mpi(None, timeout)
    if made.size != size:
        raise DistributedError(
            f"the launcher started {size} ranks, and the MPI library that mpi4py has loaded sees {made.size}: they are "
            "of different MPI versions. Use the mpiexec of that library (python -c 'from mpi4py import MPI; "
            "print(MPI.Get_library_version())' names it), or set MPI4PY_MPIABI or MPI4PY_LIBMPI"
        )
    return made


def _mpi(comm: Any, timeout: float) -> Communicator:
    try:
        from .mpi import MpiCommunicator
    except ImportError as error:
        raise ImportError(
            f"several ranks were started by MPI, which needs mpi4py: pip install 'grb-tile[dist]' ({error})"
        ) from error
    return MpiCommunicator(comm, timeout)


def end_all(status: int, reason: str) -> None:
    """End the other ranks, because the program of this one has ended in an error; it may not have connected yet."""
    from . import exit_hooks

    if exit_hooks.installed:
        exit_hooks.installed[-1](status, reason)
    elif not os.environ.get(ADDRESS_VARIABLE) and launched_by_mpi() is not None:
        try:
            from .mpi import abort_all
        except ImportError:  # then nothing waits in MPI_Init
            return
        abort_all(status)
