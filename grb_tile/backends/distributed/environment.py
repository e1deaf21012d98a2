"""What launchers leave in the environment of the processes that they start."""

from __future__ import annotations

import os
from collections.abc import Mapping

# of `grb-tile run`; the address and the key only without MPI (pipes.py)
RANK_VARIABLE, SIZE_VARIABLE = "GRB_TILE_DIST_RANK", "GRB_TILE_DIST_SIZE"
ADDRESS_VARIABLE, KEY_VARIABLE = "GRB_TILE_DIST_ADDRESS", "GRB_TILE_DIST_KEY"
TAG_VARIABLE = "GRB_TILE_DIST_TAG"

# (rank, size) of MPICH and those derived from it (Intel MPI, Cray), Open MPI, and Slurm.
LAUNCHERS = (
    ("PMI_RANK", "PMI_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


def launched_by_mpi(environment: Mapping[str, str] = os.environ) -> tuple[int, int] | None:
    """(rank, size) that a launcher of MPI gave this process; None where there is none, or one rank.

    A batch script of Slurm is a process of one rank, whatever the job has: `srun` in it starts ranks.
    """
    for rank, size in LAUNCHERS:
        if environment.get(rank, "").isdecimal() and environment.get(size, "").isdecimal():
            return (int(environment[rank]), int(environment[size])) if int(environment[size]) > 1 else None
    return None


def rank_or_none(environment: Mapping[str, str] = os.environ) -> int | None:
    """The rank that the launcher gave this process."""
    if environment.get(ADDRESS_VARIABLE):
        return int(environment[RANK_VARIABLE])
    launched = launched_by_mpi(environment)
    return launched[0] if launched else None
