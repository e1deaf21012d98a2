"""s = u (+.x) v of two vectors on the device: one kernel, one read-back (kernels/products/inner.cuh)."""

from ....storage import place
from ... import plain
from ..elementwise.mapping import reduced
from ..lowering.semirings import lowered_plain
from ..structure.arrays import positions_of


def inner(device, u, v, semiring):
    """The NumPy scalar, or None where no position is present in both; NotImplemented for user-defined types."""
    u_positions, v_positions = u.format == "bitmap", v.format == "bitmap"
    if u.iso and v.iso and u_positions and v_positions and u.words is None and v.words is None:
        return plain.inner(place.backend_of(u), u, v, semiring)  # of any size: nothing of that size is read
    n = u.size if u_positions else u.indices.shape[0]
    count = v.size if v_positions else v.indices.shape[0]
    if count < n:  # the entries of the shorter one are looked up in the other
        return inner(device, v, u, semiring.flip())
    s = lowered_plain(device, semiring, u.dtype, u.iso, v.dtype, v.iso)
    if s is None:
        return NotImplemented
    if n == 0:
        return None
    u_type, u_indices, u_words = positions_of(u)
    v_type, v_indices, v_words = positions_of(v)
    kernel = s.kernel(device.launcher, "products/inner.cuh", "inner_product", (u_type, v_type, "S"))
    found = reduced(device, kernel, n, (
        u_indices, u_words, u.values if s.reads_a else None, n,
        v_indices, v_words, v.values if s.reads_x else None, count,
    ), s.dtype.np_type)  # fmt: skip
    if found is not None and s.structure_only:
        value = s.value(device, u, v)
        known = device.known_constant(value)
        return device.host(value)[0] if known is None else known
    return found
