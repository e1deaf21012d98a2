"""Atomic replacement of files: a file appears complete or not at all, and the old one is kept until then.

The bytes go to a temporary file in the target's folder, which is renamed over the target at the end.  The target's mode
is kept; of a symbolic link the target is replaced.  Pipes and character devices have no contents to keep and are
written directly.  Every writer of files uses `Replacement`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from typing import IO, Any

PathLike = str | os.PathLike[str]
Writable = PathLike | IO[bytes]

# Errors of fsync on files that cannot be synchronised (pipes, some network file systems): ignored.
NO_FSYNC = (errno.EINVAL, errno.ENOTSUP, errno.EROFS)
# Names of files that are open already (/dev/stdout): they are appended to.
DESCRIPTORS = ("/dev/std", "/dev/fd/", "/proc/")


def check_target(path: PathLike) -> None:
    """Raise the error that writing to `path` would raise; nothing is created.

    Raises FileNotFoundError for a missing folder, IsADirectoryError, PermissionError; OSError for a block device or a
    socket.  Each names the path.
    """
    _target(path)


def _target(path):
    """(path with symbolic links resolved, its os.stat or None, is it written directly?)"""
    given = os.fsdecode(path)
    try:
        found = os.stat(given)
    except FileNotFoundError:
        found = None
    if found is not None and stat.S_ISDIR(found.st_mode) or given.endswith(os.sep):
        raise IsADirectoryError(errno.EISDIR, "this is a folder, a file was expected", given)
    special = found is not None and (stat.S_ISFIFO(found.st_mode) or stat.S_ISCHR(found.st_mode))
    if special or found is not None and given.startswith(DESCRIPTORS):
        if not os.access(given, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission to write", given)
        return given, found, True
    if found is not None and not stat.S_ISREG(found.st_mode):
        kind = "a block device" if stat.S_ISBLK(found.st_mode) else "a socket"
        raise OSError(errno.EINVAL, f"this is {kind}, which is never written", given)
    target = os.path.realpath(given)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}", given)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, f"no permission to write in the folder {folder}", given)
    if found is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission to write", given)
    return target, found, False


class Replacement:
    """A context manager whose `stream` (binary) becomes the file at `path` when the block ends without an error.

    With an error the temporary file is deleted and the path is as it was.  The data are on the disk (fsync) before the
    rename, so that a crash leaves the old file or the new one.

    Raises the errors of `check_target`, and OSError when the disk is full.

    >>> import os, tempfile
    >>> from grb_tile.io.replace import Replacement
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Replacement(os.path.join(folder, "a")) as file:
    ...         _ = file.stream.write(b"text")
    ...     os.listdir(folder)
    ['a']
    """

    def __init__(self, path: PathLike | bytes) -> None:
        self.temporary: str | None = None
        self.target, old, directly = _target(path)
        if directly:
            self.stream: IO[Any] = open(self.target, "ab", 0)  # noqa: SIM115  (closed by __exit__)
            return
        folder, name = os.path.split(self.target)
        self.temporary = os.path.join(folder, f".{name[:40]}.{secrets.token_hex(8)}.part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        number = os.open(self.temporary, flags, 0o666 if old is None else 0o600)
        self.stream = os.fdopen(number, "wb")
        if old is not None and hasattr(os, "fchmod"):
            with contextlib.suppress(OSError):  # another owner's file keeps its owner only when root writes it
                os.fchown(number, old.st_uid, old.st_gid)
            os.fchmod(number, stat.S_IMODE(old.st_mode))

    def __enter__(self) -> Replacement:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self.discard()
            return
        try:
            self.stream.flush()
            _synchronise(self.stream.fileno())
            self.stream.close()
            if self.temporary is not None:
                os.replace(self.temporary, self.target)
        except BaseException:
            self.discard()
            raise
        if self.temporary is not None:
            self._synchronise_folder()

    def discard(self) -> None:
        """Close and delete the temporary file; errors of a full disk, which is what may have led here, are ignored."""
        with contextlib.suppress(OSError, ValueError):
            self.stream.close()
        if self.temporary is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.temporary)

    def _synchronise_folder(self):
        with contextlib.suppress(OSError):  # Windows cannot open folders
            number = os.open(os.path.dirname(self.target) or ".", os.O_RDONLY)
            try:
                _synchronise(number)
            finally:
                os.close(number)


def _synchronise(number):
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in NO_FSYNC:
            raise
