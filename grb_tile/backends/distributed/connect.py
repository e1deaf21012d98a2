"""Which communicator this process has: one given, that of a launcher, or none."""

from __future__ import annotations

import os
from typing import Any

from grb_tile.exceptions import InvalidValue

from .communicator import Communicator

RANK_VARIABLE, SIZE_VARIABLE, ADDRESS_VARIABLE = "GRB_TILE_DIST_RANK", "GRB_TILE_DIST_SIZE", "GRB_TILE_DIST_ADDRESS"
# Set in each process by launchers of MPI: MPICH and those derived from it (Intel MPI, Cray), Open MPI, Slurm.
MPI_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID")


def connect(comm: Any = None, timeout: float = 300.0) -> Communicator:
    """The communicator of this process.

    comm: an mpi4py communicator, or a Communicator, which is returned.  Without one: the processes of `grb-tile run`,
    those of an MPI launcher, else this process alone.
    Raises: InvalidValue for another object; ImportError where an MPI launcher started several ranks without mpi4py.
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
    if any(os.environ.get(name) for name in MPI_VARIABLES) and _started_several():
        return _mpi(None, timeout)
    from .alone import Alone

    return Alone(timeout)


def _mpi(comm: Any, timeout: float) -> Communicator:
    from .mpi import MpiCommunicator

    return MpiCommunicator(comm, timeout)


def _started_several() -> bool:
    """Did the launcher start several processes?  True where it does not say; a Slurm batch script is one process."""
    for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"):
        if os.environ.get(name):
            return os.environ[name] != "1"
    return not os.environ.get("SLURM_PROCID")
