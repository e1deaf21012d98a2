"""Several emulated devices with a stand-in for NCCL: the backends cuda, cuda:1 ... within a block.

with emulated_devices(3) as nccl:
    gb.dist.run(3, program, devices=3)      # nccl.calls: what was sent from device to device
"""

from contextlib import contextmanager

from cuda_emulation import arrays, memory
from cuda_emulation.backend import rubbish, shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile.backends import select
from grb_tile.backends.cuda.backend import CudaBackend
from grb_tile.storage import place

from .nccl_stand_in import Module


def register_devices(count, module):
    """Backends of so many devices, in the places of those that there are."""
    for number in range(count):
        backend = CudaBackend(launcher=EmulatedLauncher(number=number, several=count > 1))
        device = backend.device
        device.places = lambda many, dtype, device=device: rubbish(device, many, dtype)
        select.register(f"cuda:{number}" if number else "cuda", backend)
    arrays.Cuda.nccl = module


@contextmanager
def emulated_devices(count, **options):
    """Within the block there are so many devices and, for threads, an NCCL; it gives the stand-in's module."""
    shim()  # has its place among the backends before they are copied
    before = select._made, select._active, place._devices
    select._made = {name: backend for name, backend in select._made.items() if not backend.on_device}
    select._active, place._devices = None, {}
    module = Module(inside=memory.is_inside, **options)
    try:
        register_devices(count, module)
        yield module
    finally:
        select._made, select._active, place._devices = before
        del arrays.Cuda.nccl
        arrays.bind(0)
