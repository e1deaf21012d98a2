"""The time that NumPy lost without kernels: kept from run to run in the cache folder, reported once when it is long.

    <cache folder>/cpu-lost-time.json     {key of a kernel: seconds}, of kernels that are not compiled yet

So a program that runs for 0.1 s a hundred times requests its kernels like one that runs for 10 s.
"""

import contextlib
import json
import logging
import math
from importlib.util import find_spec

from ...kernel_cache import write_file

FILE = "cpu-lost-time.json"
MOST_KERNELS = 1000  # those that lost most are kept
LEAST_SECONDS = 1e-3  # less is not written
NOTICE_SECONDS = 1.0  # lost by this process: from there on one line says why
_LOGGER = logging.getLogger("grb_tile")

_stored = None
_noticed = False


def _path(disk):
    folder = disk.folder()
    return None if folder is None else folder.parent / FILE


def _read(path):
    """The counts in the file; none where it cannot be read or is not such a file."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, AttributeError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: x for key, x in found.items() if isinstance(x, float) and 0 < x < math.inf}


def of(key, disk):
    """Seconds that earlier processes have lost without this kernel."""
    global _stored
    if _stored is None:
        _stored = _read(_path(disk))
    return _stored.get(key, 0.0)


def store(kernels, disk):
    """Write the counts of this process's kernels, at its end; those that are compiled now are dropped."""
    counts = {kernel.key: kernel.saved_seconds for kernel in kernels if kernel.key is not None}
    compiled = {kernel.key for kernel in kernels if kernel.functions is not None or kernel.failed}
    if not any(key in compiled or seconds >= LEAST_SECONDS for key, seconds in counts.items()):
        return
    path = _path(disk)
    if path is None or not path.parent.is_dir():
        return
    before = _read(path)  # another process may have written meanwhile
    after = {**before, **{key: round(x, 6) for key, x in counts.items() if x >= LEAST_SECONDS}}
    kept = sorted((key for key in after if key not in compiled), key=after.get, reverse=True)[:MOST_KERNELS]
    after = {key: after[key] for key in kept}
    if after == before:
        return
    with contextlib.suppress(OSError):  # a disk that is full costs a count
        write_file(path, json.dumps(after).encode())


def notice(seconds):
    """Log one line, once a process, when it has lost `seconds` in all for want of kernels that Numba could compile."""
    global _noticed
    if _noticed or seconds < NOTICE_SECONDS:
        return
    _noticed = True
    if find_spec("numba") is not None:
        _LOGGER.warning(
            "%.1f s slower so far because kernels are not compiled yet; they are being compiled meanwhile and kept. "
            "`grb-tile compile` compiles the usual ones ahead; logging.getLogger('grb_tile').setLevel('ERROR') hides "
            "this line",
            seconds,
        )


def forget():
    """As in a fresh process."""
    global _stored, _noticed
    _stored, _noticed = None, False
