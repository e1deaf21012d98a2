"""Which communicator this process has: one given, that of a launcher, or none."""

from __future__ import annotations

import os
import socket
from typing import Any

from grb_tile.exceptions import DistributedError, InvalidValue

from .communicator import Communicator, named
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
            "several ranks were started by MPI, which needs mpi4py: pip install '.[dist]' in a checkout of grb_tile "
            f"({error})"
        ) from error
    return MpiCommunicator(comm, timeout)


def over_devices(host: Communicator, local: Any) -> Communicator:
    """The communicator of ranks that compute with the backend `local`, which may be that of a device.

    NCCL where every rank has a device of its own and CuPy has the library; else `host`, whose `channel` says why.
    Raises: DistributedError on every rank where they have different versions of NCCL.
    """
    device, missing, identity = None, "", None
    if local.on_device:
        from .nccl import BackendDevice

        identity = socket.gethostname(), local.device.launcher.identity()
        try:
            device = BackendDevice(local)
        except Exception as error:  # noqa: BLE001  # a library that is broken may raise anything
            missing = str(error)
    found = host.allgather((identity, missing), "init")
    if not any(identity for identity, _ in found):
        return host
    reason = _without_nccl(found)
    if reason is None:
        from .nccl import NcclCommunicator

        return NcclCommunicator(host, device)
    host.channel = f"through the host ({reason})"
    return host


def _without_nccl(found: list[tuple[Any, str]]) -> str | None:
    """Why ranks with those devices, and what is missing there, do not exchange by NCCL; None where they may."""
    ranks: dict[Any, list[int]] = {}
    for rank, (identity, missing) in enumerate(found):
        if identity is None:
            return f"rank {rank} computes without a device"
        if missing:
            return f"rank {rank}: {missing}"
        ranks.setdefault(identity, []).append(rank)
    shared = next((those for those in ranks.values() if len(those) > 1), None)
    return f"{named(shared)} have one device" if shared else None


def rank_on_host(host: Communicator) -> int:
    """How many ranks below this one are on its host: the number of the device that it takes, modulo their count."""
    names = host.allgather(socket.gethostname(), "init")
    return names[: host.rank].count(names[host.rank])


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
