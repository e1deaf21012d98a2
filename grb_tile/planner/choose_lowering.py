"""How the turns of a captured program run on a GPU: as WHILE nodes of a CUDA graph or as one persistent kernel.

A kernel in a graph takes a launch and what its first loads and last stores wait for; as a step of one kernel it takes
its part of a barrier.  But one kernel has few threads for each step, and products by rows only, so where a turn reads
much the graph's kernels are faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import tuning
from .choose_traversal import has_high_diameter

if TYPE_CHECKING:
    from .device_profile import DeviceProfile


def one_kernel_pays(read_bytes: int, steps: int, barriers: int, profile: DeviceProfile) -> tuple[bool, float, float]:
    """(does one kernel take less time?, ns that a turn's bytes take, ns of launches that it saves).

    read_bytes: of all steps of a turn, without what they read at the entries of a list or of a bitmap alone.
    """
    bytes_ns = read_bytes / profile.dram_bytes_ns
    saved_ns = (steps * tuning.GPU_NODE_NS - barriers * tuning.GPU_BARRIER_NS) * profile.latency
    return bytes_ns < saved_ns, bytes_ns, saved_ns


def product_fits(entries: int, entry_bytes: int, profile: DeviceProfile) -> bool:
    """May a product that reads all entries be a step of one kernel?  Else it is by segments, which is none."""
    return entries * entry_bytes / profile.dram_bytes_ns < tuning.GPU_STEP_PRODUCT_NS * profile.latency


def iteration_fits(
    n: int, entries: int, entry_bytes: int, longest: int, idempotent: bool, profile: DeviceProfile
) -> bool:
    """May the turns of v (+)= A (+.x) v be one kernel, with rows of about one length?

    Where a row is computed again only after what it reads has changed (idempotent), also in graphs that may have levels
    by the thousand, whose turns change little.
    """
    if product_fits(entries, entry_bytes, profile):
        return True
    return idempotent and has_high_diameter(n, entries, longest, lambda degree: entries)[0]


def bounded_product_pays(lookups: int) -> bool:
    """Is a product at the positions of a bound, with so many look-ups, to be captured?

    From Python it costs the host 0.3 to 0.7 ms, and finds rows by tables.
    """
    return lookups <= tuning.GPU_BOUNDED_LOOKUPS
