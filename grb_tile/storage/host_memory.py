"""Checks that a result fits in memory before it is made, because the system kills a process that exceeds it.

The free memory is the least of the system's available memory, the limit of the process (RLIMIT_AS) and the limit of its
control group, where these exist; an unknown amount counts as enough.
"""

import functools
import os
import pathlib
import threading
import weakref

from ..exceptions import OutOfMemory

SMALL = 1 << 26  # bytes up to which nothing is checked: reading /proc takes 30 us


def free_bytes():
    """Bytes that this process may still allocate, or None where no limit is known."""
    limits = [_available(), _address_space(), _control_group()]
    known = [limit for limit in limits if limit is not None]
    return min(known) if known else None


_forms = weakref.WeakSet()  # forms of matrices that give way where memory is short: objects with `release()`
_lock = threading.Lock()


def gives_way(form):
    """From now on `form.release()` is called before an array is refused."""
    with _lock:
        _forms.add(form)


def release():
    """Release all forms that give way; were there any?"""
    with _lock:
        found = list(_forms)
        _forms.clear()
    for form in found:
        form.release()
    return bool(found)


def _after_fork():
    global _lock
    _lock = threading.Lock()  # another thread of the parent may have had it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@functools.cache
def last_cache_bytes():
    """Bytes of this processor's last level of cache; 32 MiB where the system does not say."""
    sizes = {}
    for folder in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            size = (folder / "size").read_text().strip()
            sizes[int((folder / "level").read_text())] = int(size.rstrip("KM")) << (20 if size.endswith("M") else 10)
        except (OSError, ValueError):
            continue
    return sizes[max(sizes)] if sizes else 32 << 20


def check_memory(wanted, what, remedy="use a mask or smaller operands, or free objects", free=None):
    """Raises: OutOfMemory when `wanted` bytes are more than are free; nothing has been allocated then.

    free: bytes of another memory than the host's.
    """
    if wanted < SMALL:
        return
    if free is None:
        free = free_bytes()
        if free is not None and wanted > free and release():
            free = free_bytes()
    if free is not None and wanted > free:
        raise OutOfMemory(
            f"{what}: {wanted:,} bytes needed, {free:,} free; the operands are unchanged.  "
            f"{remedy[0].upper()}{remedy[1:]}"
        )


class Growth:
    """A result whose size is known between bounds only: refused where the least does not fit, else watched as it grows.

    most: upper bound of its entries; least(): lower bound, asked for only where the upper one may not fit; size: bytes
    of an entry, `held` times while it is put together.
    """

    def __init__(self, most, least, size, what, held=2):
        self._what, self._tight = what, False
        if most * size * held < SMALL:
            return
        free = free_bytes()
        if free is None or most * size * held <= free:
            return
        check_memory(least() * size, f"{what}: at least {least()} entries")
        self._tight = True

    def add(self, wanted):
        """Before the next `wanted` bytes.  Raises: OutOfMemory when they, and a reserve, are not free."""
        if self._tight:
            check_memory(wanted + SMALL, f"{self._what}, as far as it is known")


def _available():
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _address_space():
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm", encoding="ascii") as text:
            return max(limit - int(text.read().split()[0]) * os.sysconf("SC_PAGE_SIZE"), 0)
    except (ImportError, OSError, ValueError):
        return None


def _control_group(root="/sys/fs/cgroup"):
    """Of cgroup v2, or of v1's memory controller; cached files count as free, because the system drops them first."""
    for limit, used, statistics in (
        ("memory.max", "memory.current", "memory.stat"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
    ):
        try:
            with open(f"{root}/{limit}", encoding="ascii") as a, open(f"{root}/{used}", encoding="ascii") as b:
                free = int(a.read()) - int(b.read())
            with open(f"{root}/{statistics}", encoding="ascii") as lines:
                found = dict(line.split() for line in lines)
            return max(free + sum(int(found.get(name, 0)) for name in ("active_file", "inactive_file")), 0)
        except (OSError, ValueError):
            continue
    return None
