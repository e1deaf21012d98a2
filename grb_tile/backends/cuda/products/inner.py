"""s = u (+.x) v of two vectors on the device: one kernel, one read-back (kernels/products/inner.cuh)."""

from ....storage import place
from ... import plain
from ..elementwise.mapping import reduced
from ..lowering.semirings import lowered_plain
from ..structure.entries import index_type


def inner(device, u, v, semiring):
    """The NumPy scalar, or None where no position is present in both; NotImplemented for user-defined types."""
    if _is_full(u) and _is_full(v) and u.iso and v.iso:  # of any size: nothing of that size is read
        return plain.inner(place.backend_of(u), u, v, semiring)
    if _length(v) < _length(u):  # the entries of the shorter one are looked up in the other
        u, v, semiring = v, u, semiring.flip()
    s = lowered_plain(device, semiring, u.dtype, u.iso, v.dtype, v.iso)
    if s is None:
        return NotImplemented
    if _length(u) == 0:
        return None
    lists = [None if x.format == "bitmap" else x.indices for x in (u, v)]
    words = [x.words if x.format == "bitmap" else None for x in (u, v)]
    types = ["int32_t" if indices is None else index_type(indices) for indices in lists]
    kernel = s.kernel(device.launcher, "products/inner.cuh", "inner_product", (*types, "S"))
    found = reduced(device, kernel, _length(u), (
        lists[0], words[0], u.values if s.reads_a else None, _length(u),
        lists[1], words[1], v.values if s.reads_x else None, _length(v),
    ), s.dtype.np_type)  # fmt: skip
    if found is not None and s.structure_only:
        value = s.value(device, u, v)
        known = device.known_constant(value)
        return device.host(value)[0] if known is None else known
    return found


def _is_full(u):
    return u.format == "bitmap" and u.words is None


def _length(u):
    """Positions of a bitmap, entries of a list."""
    return u.size if u.format == "bitmap" else u.indices.shape[0]
