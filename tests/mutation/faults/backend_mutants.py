"""Mutants of the backends and of kernels that no quick test of their layer had noticed, and what their tests found."""

from . import Fault

TYPES = ("tests/distributed/test_types_of_results.py",)
LAUNCHERS = ("tests/distributed/test_launchers.py",)
DEVICES = ("tests/backends/cuda/test_devices.py",)

FAULTS = [
    Fault(
        "grb_tile/backends/distributed/backend.py",
        "a cast where the type is the same already",
        "if store.dtype is dtype:\n            return store\n        return self.part",
        "if store.dtype is not dtype:\n            return store\n        return self.part",
        TYPES,
    ),
    Fault(
        "grb_tile/backends/distributed/movement.py",
        "values of structures are made on the device",
        "    if world.moves(u.dtype):\n        return world.compute(lambda xp: xp.repeat",
        "    if True:\n        return world.compute(lambda xp: xp.repeat",
        TYPES,
    ),
    Fault(
        "grb_tile/backends/distributed/nccl.py",
        "the direction of a copy and its stream exchanged",
        "DEVICE_TO_DEVICE, stream)",
        "stream, DEVICE_TO_DEVICE)",
        ("tests/distributed/test_over_devices.py", "tests/distributed/test_nccl.py"),
    ),
    Fault(
        "grb_tile/backends/distributed/pipes.py",
        "the fault of a thread ends no process",
        "threading.current_thread() is not threading.main_thread()",
        "threading.current_thread() is threading.main_thread()",
        LAUNCHERS,
    ),
    Fault(
        "grb_tile/backends/distributed/mpi.py",
        "a rank that waits hears nothing",
        "        self._hear()\n        if self._reason is not None:\n            raise base.aborted(call",
        "        if self._reason is not None:\n            raise base.aborted(call",
        LAUNCHERS,
    ),
    Fault(
        "grb_tile/backends/cuda/backend.py",
        "structures have no way to the ranks of devices",
        "return copy_from_device(self.device, store)\n        return self.to_device(store)",
        "return copy_from_device(self.device, store)\n        return self.store_to_device(store)",
        TYPES,
    ),
    Fault(
        "grb_tile/backends/select.py",
        "structures that are sent to a device stay on the host",
        "if kind == NUMBERED and store.dtype._is_udt and not store.is_part:",
        "if False:",
        DEVICES,
    ),
    Fault(
        "grb_tile/backends/cuda/runtime/package.py",
        "kernels of the oldest architecture",
        "for match in names), reverse=True)",
        "for match in names))",
        ("tests/backends/cuda/test_compile_ahead.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/runtime/device.py",
        "a count is read before the other stream has it",
        "                self.wait_stream()\n            stream = self.stream.ptr\n",
        "                pass\n            stream = self.stream.ptr\n",
        ("tests/backends/cuda/test_memory.py",),
    ),
]
