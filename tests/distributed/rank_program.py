"""The program of a rank in tests of launchers: `rank_program.py FAULT [TIMEOUT]`; FAULT happens on rank 1."""

import os
import signal
import sys
import threading
import time

from exchanges import OTHERWISE, announced_otherwise, check_all, check_arrays, check_objects

from grb_tile.backends.distributed.connect import connect
from grb_tile.backends.distributed.environment import rank_or_none
from grb_tile.exceptions import DistributedError


def fault(comm, name):
    if name == "raise":
        raise ValueError("of rank 1")
    if name == "exit":
        sys.exit(7)
    if name == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "leave":
        sys.exit(0)
    if name == "abort":
        comm.abort("rank 1 says so")
    if name == "never":
        time.sleep(30)
    if name in ("thread", "busy"):
        threading.Thread(target=int, args=("no number",)).start()
        time.sleep(30)


def main(name="none", timeout="60"):
    if name == "before":  # a rank that never connects
        if rank_or_none() == 1:
            raise ValueError("of rank 1")
    comm = connect(timeout=float(timeout))
    if name in ("check", "say"):
        if name == "check":
            check_all(comm)
            check_in_chunks(comm)
        text = f"rank {comm.rank} of {comm.size}, {type(comm).__name__}, {threads()} threads, {sys.argv}\n"
        sys.stdout.write(text)  # at once: lines of several ranks must not mix
        return
    comm.barrier("start")
    if name in OTHERWISE:
        sys.stdout.write(f"rank {comm.rank}: {announced_otherwise(comm, name)}\n")
        return
    if comm.rank == 1:
        fault(comm, name)
    if name == "busy":  # the others compute, so that none of them meets the end of rank 1 in an exchange
        time.sleep(30)
    try:
        comm.barrier("mxv")
    except DistributedError as error:
        print(f"rank {comm.rank}: {error}")
        raise
    if name == "wait":
        print("waits")
        time.sleep(30)


def check_in_chunks(comm):
    """As among many ranks, and messages in many chunks, as those of MPI above 1 GB are."""
    if type(comm).__name__ == "MpiCommunicator":
        from grb_tile.backends.distributed import mpi

        mpi.PAIRWISE_RANKS = 1
        check_arrays(comm)
        mpi.CHUNK = 50_000
        check_arrays(comm)
        check_objects(comm)


def threads():
    return os.environ["GRB_TILE_THREADS"]


if __name__ == "__main__":
    main(*sys.argv[1:])
