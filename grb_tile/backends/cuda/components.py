"""Connected components on the device: nine launches, one count read back.  Kernels: kernels/components.cuh."""
import numpy as np

from ...dtypes import UINT64
from ...storage.store import BitmapVector
from .errors import on_device

SAMPLED = 2                    # neighbours of every vertex that are linked before the largest component is left out


@on_device
def connected_components(device, A, AT):
    """(store of labels: the smallest vertex of each vertex's component, number of components), or NotImplemented.

    A and AT: out-edges and in-edges by rows; the same store where symmetric.
    """
    n = A.nrows
    if A.rows is not None or AT.rows is not None or not 0 < n < 2**31 - 128:
        return NotImplemented
    ways = [device.own(A)] if AT is A else [device.own(A), device.own(AT)]
    launcher = device.launcher

    def run(name, items, *arguments):
        launcher.kernel("components.cuh", name, "", ("int64_t",)).over(items, arguments)

    tree = device.empty(n, np.int32)
    count = device.empty(1, np.uint64)
    skip = device.empty(1, np.int32)
    labels = device.empty(n, np.uint64)
    run("roots", n, tree, n, count)
    for turn in range(SAMPLED):
        for way in ways:
            run("link_first", n, way.indptr, way.indices, n, turn, tree)
    run("flatten", n, tree, n)
    launcher.kernel("components.cuh", "largest", "", ("int64_t",))(1, 64 if device.is_shim else 256, (tree, n, skip))
    for way in ways:
        run("link_rest", (n + 31) // 32 * 32, way.indptr, way.indices, n, skip, tree)
    run("flatten", n, tree, n)
    run("finish", n, tree, n, labels, count)
    return BitmapVector(n, UINT64, None, labels, n), device.read(count)[0]
