"""The limits of a kernel on each NVIDIA architecture: shared memory, registers, resident threads.

Source: CUDA programming guide 13, appendix "Compute capabilities", table "Memory information per compute capability".
No device is queried here: the launcher of the CUDA backend reads the entry of its device (`limits_of`) and replaces
figures by those of the driver (`replace`). The CPU emulation and the compile tests read entries of devices that are not
present.

All sizes of tables in shared memory come from `shared_per_block`. A block's static and dynamic shared memory together
may have that many bytes, so a launcher that sizes dynamic memory leaves STATIC_SHARE for the static part.

A device can be restricted to what another one has, to run its fallbacks (`restricted`; GRB_TILE_DEVICE_LIMITS in the
environment, docs/CUDA.md):

>>> from grb_tile.planner.device_limits import limits_of, restricted
>>> restricted(limits_of(90), "shared=48 reduce_sync=0").shared_per_block
49152
>>> limits_of(86).shared_per_block, limits_of(121).arch
(101376, 120)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

KIB = 1 << 10
LEAST_ARCH = 75  # NVRTC of CUDA 13 compiles for no older one
STATIC_SHARED = 48 * KIB  # bytes of static shared memory a block, on every architecture
STATIC_SHARE = 8 * KIB  # bytes that our kernels with dynamic shared memory may have as static shared memory
MOST_STATIC = 16 * KIB  # the same of merge_evenly, whose dynamic shared memory is sized for that
REGISTERS_OF_THREAD = 255
REGISTERS_OF_BLOCK = 65536
THREADS_OF_BLOCK = 1024
ENVIRONMENT = "GRB_TILE_DEVICE_LIMITS"


@dataclass(frozen=True)
class DeviceLimits:
    """Limits of one architecture, or of one device.

    arch: compute capability, 90 for 9.0.  shared_per_block: bytes of shared memory that a block may have (static and
    dynamic, above 48 KiB by an attribute of the kernel).  shared_per_processor, threads_per_processor,
    blocks_per_processor, registers_per_processor: of what is resident on a multiprocessor.  block_reserve: bytes of
    shared memory that the system takes for each block.  reduce_sync: has it __reduce_add_sync and the like?
    fp64_matrix: do tensor cores multiply FP64 faster than other cores (some devices have only a slow substitute)?
    processors: multiprocessors; 0: not known, because GPUs of one architecture differ.  cache: bytes of the L2 cache,
    an H200's where it is not known.  restricted: is it less than the device has, by `restricted`?
    """

    arch: int
    shared_per_block: int
    shared_per_processor: int
    threads_per_processor: int
    blocks_per_processor: int
    reduce_sync: bool = True
    fp64_matrix: bool = False
    registers_per_processor: int = 65536
    block_reserve: int = KIB
    processors: int = 0
    cache: int = 50 << 20
    restricted: str = ""

    @property
    def dynamic_shared(self) -> int:
        """Bytes of dynamic shared memory that a block may have besides at most STATIC_SHARE static ones."""
        return self.shared_per_block - STATIC_SHARE

    def threads_with(self, threads: int, each: int) -> int:
        """`threads` halved until that many have `each` bytes of dynamic shared memory; at least 64."""
        while threads > 64 and threads * each > self.dynamic_shared:
            threads //= 2
        return threads

    def power_of_two_with(self, most: int, each: int) -> int:
        """`most`, a power of two, halved until that many items have `each` bytes of dynamic shared memory."""
        while most * each > self.dynamic_shared:
            most //= 2
        return most

    def resident_blocks(self, threads: int, shared: int = 0, registers: int = 0) -> int:
        """Blocks of `threads` threads, `shared` bytes and `registers` a thread that are resident on a multiprocessor.

        Registers are allocated to a warp by 256 (8 a thread); 0: not counted.
        """
        if shared > self.shared_per_block or threads > THREADS_OF_BLOCK:
            return 0
        warps = -(-threads // 32)
        most = min(self.blocks_per_processor, self.threads_per_processor // (32 * warps))
        most = min(most, self.shared_per_processor // max(shared + self.block_reserve, 1))
        if registers:
            most = min(most, self.registers_per_processor // (256 * -(-registers // 8) * warps))
        return most


def _limits(arch: int, per_block: int, per_processor: int, threads: int, blocks: int) -> DeviceLimits:
    return DeviceLimits(arch, per_block * KIB, per_processor * KIB, threads, blocks)


LIMITS: dict[int, DeviceLimits] = {
    limits.arch: limits
    for limits in (
        replace(_limits(75, 64, 64, 1024, 16), reduce_sync=False, block_reserve=0),  # T4, RTX 20
        replace(_limits(80, 163, 164, 2048, 32), fp64_matrix=True),  # A100
        _limits(86, 99, 100, 1536, 16),  # A10, A40, RTX 30
        _limits(89, 99, 100, 1536, 24),  # L4, L40S, RTX 40
        replace(_limits(90, 227, 228, 2048, 32), fp64_matrix=True),  # H100, H200
        replace(_limits(100, 227, 228, 2048, 32), fp64_matrix=True),  # B200
        _limits(120, 99, 100, 1536, 24),  # RTX 50
    )
}


def limits_of(arch: int) -> DeviceLimits:
    """The limits of compute capability `arch`; of the newest listed one that is not newer, where it is not listed.

    Raises: ValueError for one that is older than LEAST_ARCH.
    """
    known = [listed for listed in LIMITS if listed <= arch]
    if not known:
        raise ValueError(f"compute capability {arch / 10} is not supported: {LEAST_ARCH / 10} or newer")
    return LIMITS[max(known)]


def restricted(limits: DeviceLimits, text: str) -> DeviceLimits:
    """`limits`, lowered to what `text` says; nothing is raised above what the device has.

    text: words NAME=NUMBER, with blanks or commas between: shared (KiB a block), processors,
    reduce_sync (0: none), threads (of a multiprocessor); or arch (the limits of that architecture, as arch=80).
    Raises: ValueError that names the word.
    """
    found = limits
    for word in text.replace(",", " ").split():
        name, _, number = word.partition("=")
        if name not in _WORDS or not number.isdigit():
            raise ValueError(
                f"{ENVIRONMENT}={text!r}: {word!r} is none of {', '.join(f'{known}=NUMBER' for known in _WORDS)}"
            )
        found = _WORDS[name](found, int(number))
    return found if found == limits else replace(found, restricted=" ".join(text.replace(",", " ").split()))


def _as_arch(limits, arch):
    other = limits_of(arch)
    return replace(
        limits,
        shared_per_block=min(limits.shared_per_block, other.shared_per_block),
        shared_per_processor=min(limits.shared_per_processor, other.shared_per_processor),
        threads_per_processor=min(limits.threads_per_processor, other.threads_per_processor),
        blocks_per_processor=min(limits.blocks_per_processor, other.blocks_per_processor),
        reduce_sync=limits.reduce_sync and other.reduce_sync,
    )


_WORDS = {
    "arch": _as_arch,
    "shared": lambda limits, kib: replace(limits, shared_per_block=min(limits.shared_per_block, kib * KIB)),
    "processors": lambda limits, count: replace(
        limits, processors=min(limits.processors, count) if limits.processors else count
    ),
    "reduce_sync": lambda limits, has: replace(limits, reduce_sync=limits.reduce_sync and has > 0),
    "threads": lambda limits, count: replace(limits, threads_per_processor=min(limits.threads_per_processor, count)),
}
