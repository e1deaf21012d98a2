"""The kernels that a release comes with: an archive for each of a few architectures in grb_tile/backends/cuda/prebuilt.

    sm_90.kernels    one line of JSON: {"nvrtc": [major, minor], "entries": {key: [offset, bytes]}}
                     then the entries, each compressed by zlib; offsets count from the end of the line

An entry is one of backends/kernel_cache.py: its digest is compared, and what is damaged counts as missing.  Keys have
no version of NVRTC (compile.key_of), so that any user finds them.  A device runs what was compiled for its own
architecture, or for an earlier one of the same major number; a driver loads what a toolkit of its major version made,
or an earlier one.
"""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path

from ...kernel_cache import entry_of, payload_of

FOLDER = Path(__file__).resolve().parents[1] / "prebuilt"
_NAME = re.compile(r"sm_(\d+)\.kernels")


class Package:
    """One archive.  arch: what its kernels were compiled for."""

    def __init__(self, path: Path, arch: int) -> None:
        """Raises: OSError where it cannot be read, ValueError where it is no archive."""
        self.path, self.arch = path, arch
        with open(path, "rb") as file:
            line = file.readline()
        try:
            head = json.loads(line)
            self.nvrtc = tuple(map(int, head["nvrtc"]))
            self._entries = {str(key): (int(offset), int(size)) for key, (offset, size) in head["entries"].items()}
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path} is no archive of kernels: {error}") from error
        self._start = len(line)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> bytes | None:
        """The payload of an entry, or None when there is none or it is not what was stored."""
        place = self._entries.get(key)
        if place is None:
            return None
        try:
            with open(self.path, "rb") as file:
                file.seek(self._start + place[0])
                return payload_of(zlib.decompress(file.read(place[1])), key)
        except (OSError, ValueError, zlib.error):
            return None


def package_for(arch: int, driver_version: int, folder: Path = FOLDER) -> Package | None:
    """The archive that serves a device of compute capability `arch`; None where there is none.

    driver_version: the version of CUDA that the driver has, 13000 for 13.0.
    """
    try:
        names = [match for match in map(_NAME.fullmatch, (path.name for path in folder.iterdir())) if match]
    except OSError:
        return None
    built = sorted((int(match.group(1)) for match in names), reverse=True)
    for candidate in built:
        if candidate // 10 == arch // 10 and candidate <= arch:
            try:
                found = Package(folder / f"sm_{candidate}.kernels", candidate)
            except (OSError, ValueError):
                continue
            if found.nvrtc[0] <= driver_version // 1000:
                return found
    return None


def write_package(folder: Path, arch: int, nvrtc: tuple[int, ...], payloads: dict[str, bytes]) -> Path:
    """Write the archive of `arch`; returns its path.  payloads: {key: payload}."""
    entries, blobs, offset = {}, [], 0
    for key in sorted(payloads):
        blob = zlib.compress(entry_of(key, payloads[key]), 9)
        entries[key] = offset, len(blob)
        blobs.append(blob)
        offset += len(blob)
    path = folder / f"sm_{arch}.kernels"
    head = json.dumps({"nvrtc": list(nvrtc), "entries": entries}, separators=(",", ":"))
    path.write_bytes(head.encode() + b"\n" + b"".join(blobs))
    return path
