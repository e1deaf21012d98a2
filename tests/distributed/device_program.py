"""A program on ranks that are processes with an emulated device each: `device_program.py FOLDER DEVICES [FAULT]`.

FOLDER: where the stand-in for NCCL has its messages.  FAULT: what rank 1 does when it is to receive x of A x.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


import grb_tile as gb
from grb_tile import algorithms, generators
from grb_tile.backends.cuda.backend import CudaBackend
from support.emulated_devices import register_devices
from support.nccl_stand_in import Module


def fault(comm, kind):
    def never(*args):
        if kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(0)

    comm.allgather_known = never


def main(folder, devices, kind=""):
    register_devices(int(devices), Module(folder=folder))
    CudaBackend.count_devices = classmethod(lambda cls: int(devices))
    world = gb.dist.init(backend="cuda", timeout=60)
    A = gb.dist.rmat(8, 8, directed=False, weights=(1, 9), seed=3)
    if kind:
        if world.rank == 1:
            fault(world._backend.comm, kind)
        w = A.mxv(A.reduce_rowwise().new()).new()
        w.reduce().new()
        return
    device = world._backend.local.device_name
    found = algorithms.triangle_count(A), algorithms.bfs(A, 0).levels.to_dict()
    with gb.dist.local():
        B = generators.rmat(8, 8, directed=False, weights=(1, 9), seed=3)
        assert found == (algorithms.triangle_count(B), algorithms.bfs(B, 0).levels.to_dict())
    sys.stdout.write(f"rank {world.rank} on {device}, {world.channel}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
