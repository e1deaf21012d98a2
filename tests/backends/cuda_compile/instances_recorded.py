"""The instances that are compiled ahead of time: those of common_kernels.json."""

from grb_tile.backends.cuda.runtime.kernel_groups import recorded


def instances():
    """All of the record."""
    yield from recorded().instances
