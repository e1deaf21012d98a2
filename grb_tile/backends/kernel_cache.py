"""Compiled kernels on disk, for the CPU and for CUDA: a folder of the user's own, and entries whose digest is compared.

    $GRB_TILE_CACHE, else grb_tile in the user's cache folder
        <name>/        mode 0700, owned by the user
            <key>      SHA-256 of key and payload (32 bytes), then the payload

A folder of another user, or whose mode cannot be made 0700, is not used; entries that others may have put
into one that was open to them are deleted, and no file that is not an entry ever is.  An entry that is damaged,
truncated, edited, renamed or another user's is as good as none: it is compiled again and replaced.  Files appear whole,
by renaming, so that processes may write the same entry at once.  Without a folder that can be used (read-only, full,
deleted), kernels are kept in memory; one warning says so.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

DIGEST = 32
LIMIT_BYTES = 512 << 20  # of one folder: the entries used least recently are deleted beyond
ABANDONED_SECONDS = 3600  # age from which a file that was never renamed is left over
_OPEN_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_UNFINISHED = re.compile(r".+\.\d+\.[0-9a-f]+\.tmp")  # names that write_file gives

_warned = False


def root() -> Path:
    """$GRB_TILE_CACHE, else the folder `grb_tile` in the user's cache folder; absolute."""
    chosen = os.environ.get("GRB_TILE_CACHE")
    if chosen:
        return Path(chosen).absolute()  # a process may change its working directory
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "grb_tile"
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "grb_tile"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grb_tile"


def _is_mine(status: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or status.st_uid == os.getuid()


def _warn(reason: object) -> None:
    """One warning a process: compiled kernels are not kept."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"compiled kernels are not kept on disk: {reason}.  Each process compiles its own; GRB_TILE_CACHE names "
            "another folder",
            RuntimeWarning,
            stacklevel=2,
        )


def _digest(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + payload).digest()


class KernelCache:
    """The entries of one folder.  No method raises an OSError: what cannot be read or written is missing."""

    def __init__(self, name: str, limit: int = LIMIT_BYTES) -> None:
        self.name = name
        self.limit = limit
        self._folder: Path | None = None
        self._chosen: tuple[str | None, ...] | None = None
        self._trimmed = False
        self._trouble: object = "no folder for them"

    def folder(self) -> Path | None:
        """The folder, made and checked; None when there is none that can be used."""
        chosen = (os.environ.get("GRB_TILE_CACHE"), os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME"))
        if self._chosen != chosen:
            self._folder = self._first_usable()
            self._chosen = chosen  # last: another thread may ask meanwhile
        return self._folder

    def _first_usable(self) -> Path | None:
        places = []
        try:
            places.append(root() / self.name)
        except (OSError, RuntimeError):  # no home folder
            pass
        runtime = os.environ.get("XDG_RUNTIME_DIR")  # of the user alone, until the next restart
        if runtime:
            places.append(Path(runtime) / "grb_tile" / self.name)
        for place in places:
            try:
                self._prepare(place)
            except OSError as error:
                self._trouble = error
            else:
                return place
        return None

    def _prepare(self, place: Path) -> None:
        """Make the folder and check its owner and mode.  Raises: OSError where it cannot be used."""
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = os.stat(place, follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode) or not _is_mine(status):
            raise PermissionError(f"{place} is not a folder of this user")
        if os.name != "nt" and status.st_mode & _OPEN_TO_OTHERS:
            os.chmod(place, 0o700)
            if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):  # others may have put entries there
                for path in place.iterdir():
                    if _is_entry(path):
                        path.unlink()
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(f"{place} cannot be written")

    def get(self, key: str) -> bytes | None:
        """The payload of an entry, or None when there is none or it is not what was stored."""
        folder = self.folder()
        if folder is None:
            return None
        return read_entry(folder / key, key, private=True)

    def put(self, key: str, payload: bytes) -> bool:
        """Store an entry; says whether it is on disk."""
        folder = self.folder()
        if folder is None:
            _warn(self._trouble)
            return False
        try:
            try:
                write_entry(folder, key, payload)
            except FileNotFoundError:  # the folder was deleted
                self._prepare(folder)
                write_entry(folder, key, payload)
        except OSError as error:
            _warn(error)
            return False
        if not self._trimmed:
            self._trimmed = True
            self.trim()
        return True

    def trim(self) -> None:
        """Delete what was left unfinished, and the entries used least recently beyond the limit."""
        folder = self.folder()
        if folder is None:
            return
        files = []
        try:
            for path in folder.iterdir():
                status = path.stat()
                if _UNFINISHED.fullmatch(path.name):
                    if status.st_mtime < time.time() - ABANDONED_SECONDS:
                        path.unlink(missing_ok=True)
                elif stat.S_ISREG(status.st_mode):
                    files.append((max(status.st_mtime, status.st_atime), status.st_size, path))
            total = sum(size for _, size, _ in files)
            for _, size, path in sorted(files):
                if total <= self.limit:
                    break
                if _is_entry(path):
                    path.unlink(missing_ok=True)
                    total -= size
        except OSError:  # another process deletes too
            pass


def _is_entry(path: Path) -> bool:
    """Would the file be accepted as an entry?  Any other file is not this cache's, and stays."""
    return read_entry(path, path.name, private=False) is not None


def write_entry(folder: Path, key: str, payload: bytes) -> None:
    """Write an entry, whole or not at all.  Raises: OSError."""
    write_file(folder / key, entry_of(key, payload))


def write_file(path: Path, data: bytes) -> None:
    """Write or replace a file of this user, whole or not at all.  Raises: OSError."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def read_entry(path: Path, key: str, private: bool) -> bytes | None:
    """The payload of the entry `key` in a file; None unless its digest is right and, if private, the user owns it."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        with open(file, "rb") as stream:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or private and not _is_mine(status):
                return None
            data = stream.read()
    except OSError:
        return None
    return payload_of(data, key)


def entry_of(key: str, payload: bytes) -> bytes:
    """The bytes of an entry."""
    return _digest(key, payload) + payload


def payload_of(entry: bytes, key: str) -> bytes | None:
    """The payload of an entry's bytes; None unless its digest is right."""
    payload = entry[DIGEST:]
    return payload if entry[:DIGEST] == _digest(key, payload) else None


def print_prebuilt(compiled: str, failed: Sequence[tuple[str, str]]) -> int:
    """Print what was compiled ahead of time and [(kernel, reason)] of what failed; returns the exit status."""
    print(f"{compiled}; {len(failed)} failed")
    for name, reason in failed:
        print(f"  {name}: {reason}")
    return 1 if failed else 0
