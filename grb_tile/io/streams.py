"""Streams of readers and writers: paths and open files, binary or text, plain or compressed."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
from typing import IO, TYPE_CHECKING, Any

from grb_tile.io.errors import bad_file
from grb_tile.io.replace import PathLike, Replacement, Writable

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
CHUNK = 4 << 20
LONGEST_LINE = 1 << 20
LARGEST_RATIO = 1032  # bytes that one byte of deflate decompresses to at most; a file that states more is damaged
HEAD = 1 << 16  # bytes of text from which formats are recognised
UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def _path_of(x: Any) -> str | bytes | None:
    """`x` as a path, None for an open file."""
    try:
        return os.fspath(x)
    except TypeError:
        return None


class Source:
    """A stream of bytes with a name for messages, its size on disk, and the number of bytes read from disk.

    The compression and the encoding (a byte order mark, which is removed; UTF-16 is decoded and read as UTF-8) are
    recognised by the first bytes, not by the file's name.  `head` is the beginning of the text, up to HEAD bytes, which
    `read` still returns: a format is recognised without opening the file again, which a pipe does not permit.  As a
    context manager a Source closes the files that it opened and leaves a caller's file open.
    """

    def __init__(self, source: Readable) -> None:
        self.owned: list[IO[bytes]] = []
        path = _path_of(source)
        raw: Any
        self.size = 0
        if path is not None:
            self.name = os.fsdecode(path)
            raw = open(path, "rb")  # noqa: SIM115  (closed by __exit__)
            self.owned.append(raw)
            self.size = os.fstat(raw.fileno()).st_size
        elif hasattr(source, "read"):
            raw = source
            self.name = str(getattr(source, "name", "") or f"<{type(source).__name__}>")
            if isinstance(source, io.TextIOBase):
                raw = _Encoded(source)
        else:
            raise TypeError(f"source must be a path or an open file, not {type(source).__name__}: {source!r:.80}")
        self.counted = _Counted(raw)
        try:
            self._start(io.BufferedReader(self.counted, CHUNK))
        except BaseException:
            self.__exit__()
            raise

    def _start(self, buffered):
        first = buffered.peek(6)[:6]
        self.compression = next((kind for magic, kind in MAGIC.items() if first.startswith(magic)), None)
        self.encoding = None
        self.stream = _decompressed(buffered, self.compression)
        self.head = self._head()
        self.encoding = next((name for mark, name in UTF16.items() if self.head.startswith(mark)), None)
        if self.encoding:
            text = codecs.getreader(self.encoding)(_Chained(self.head[2:], self.stream))
            self.stream = io.BufferedReader(_Counted(_Encoded(text)), CHUNK)
            self.head = self._head()
        self.head = self.head.removeprefix(codecs.BOM_UTF8)
        self.stream = io.BufferedReader(_Chained(self.head, self.stream), CHUNK)

    def _head(self):
        parts, count = [], 0
        while count < HEAD and (part := self.read(HEAD - count)):
            parts.append(part)
            count += len(part)
        return b"".join(parts)

    @property
    def plain_size(self) -> int | None:
        """Bytes of text where they are known without reading (an uncompressed UTF-8 file), else None."""
        return self.size if self.size and self.compression is None and self.encoding is None else None

    @property
    def done(self) -> int:
        """Bytes read from disk so far, out of `size`."""
        return self.counted.count

    def read(self, count: int) -> bytes:
        """Up to `count` bytes of text."""
        return self._guarded(self.stream.read, count)

    def readline(self) -> bytes:
        """The next line with its end, b"" at the end of the file."""
        line = self._guarded(self.stream.readline, LONGEST_LINE)
        if len(line) >= LONGEST_LINE:
            raise bad_file(
                self.name, None, f"a line is longer than {LONGEST_LINE} bytes", "This is not a text file of a matrix"
            )
        return line

    def _guarded(self, reader, count):
        try:
            return reader(count)
        except Exception as error:
            damage = self._damage(error)
            if damage is None:
                raise
            raise damage from error

    def _damage(self, error):
        """BadFile for the error types that decoders raise for damaged data, None for other errors."""
        import lzma
        import zlib

        if isinstance(error, UnicodeError):
            what = f"the text is not {self.encoding or 'UTF-8'} ({error})"
            return bad_file(self.name, None, what, "Write it as UTF-8")
        failing_disk = isinstance(error, OSError) and error.errno is not None
        if failing_disk or not isinstance(error, (EOFError, OSError, zlib.error, lzma.LZMAError)):
            return None
        what = f"the compressed data are damaged or cut short ({error})"
        return bad_file(self.name, None, what, "Fetch or write the file again")

    def lines_in_chunks(self) -> Iterator[bytes]:
        """Yield chunks of about CHUNK bytes that end with a newline (added at the end of the file if missing)."""
        rest = b""
        while True:
            block = self.read(CHUNK)
            if not block:
                break
            cut = block.rfind(b"\n") + 1
            if not cut:
                rest += block
                if len(rest) > CHUNK + LONGEST_LINE:
                    raise bad_file(
                        self.name,
                        None,
                        f"a line is longer than {LONGEST_LINE} bytes",
                        "This is not a text file of a matrix",
                    )
                continue
            yield rest + block[:cut]
            rest = block[cut:]
        if rest:
            yield rest + b"\n"

    def rest(self) -> bytes:
        """All remaining bytes."""
        parts = []
        while part := self.read(CHUNK):
            parts.append(part)
        return b"".join(parts)

    def seekable(self) -> IO[bytes]:
        """A seekable file, at its beginning: the one that was opened, or a copy of the remaining bytes."""
        if self.owned and self.compression is None and self.owned[0].seekable():
            self.owned[0].seek(0)
            return self.owned[0]
        return io.BytesIO(self.rest())

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for item in self.owned:
            item.close()
        return False


Readable = PathLike | IO[bytes] | IO[str] | Source


def opened(source: Readable) -> contextlib.AbstractContextManager[Source]:
    """A context manager of the Source of `source`; an open Source is used as it is and stays open."""
    return contextlib.nullcontext(source) if isinstance(source, Source) else Source(source)


class _Counted(io.RawIOBase):
    """Counts the bytes read from a file, below a decompressor."""

    def __init__(self, raw):
        self.raw = raw
        self.count = 0

    def readable(self):
        return True

    def readinto(self, into):
        data = self.raw.read(len(into))
        if data is None:
            return None
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"the file's read() must return bytes, not {type(data).__name__}")
        into[: len(data)] = data
        self.count += len(data)
        return len(data)


class _Chained(io.RawIOBase):
    """The bytes `head`, then those of a stream."""

    def __init__(self, head, stream):
        self.head = memoryview(head)
        self.stream = stream

    def readable(self):
        return True

    def readinto(self, into):
        if not self.head:
            return self.stream.readinto(into)
        count = min(len(into), len(self.head))
        into[:count] = self.head[:count]
        self.head = self.head[count:]
        return count


class _Encoded:
    """An open text file as bytes."""

    def __init__(self, text):
        self.text = text
        self.left = b""

    def read(self, count):
        if not self.left:
            self.left = self.text.read(count).encode("utf-8")
        out, self.left = self.left[:count], self.left[count:]
        return out


def _decompressed(buffered, kind):
    if kind == "gz":
        import gzip

        return io.BufferedReader(gzip.GzipFile(fileobj=buffered, mode="rb"), CHUNK)
    if kind == "bz2":
        import bz2

        return io.BufferedReader(bz2.BZ2File(buffered), CHUNK)
    if kind == "xz":
        import lzma

        return io.BufferedReader(lzma.LZMAFile(buffered), CHUNK)
    return buffered


class Target:
    """The output of a writer: a binary `stream`, compressed as the path's ending says; the file appears when complete.

    The gzip header has no time stamp, so that equal contents give equal files.  A caller's file is left open.
    """

    def __init__(self, target: Writable) -> None:
        self.stack = contextlib.ExitStack()
        self.stream: Any = target
        path = _path_of(target)
        if path is None:
            if not hasattr(target, "write"):
                raise TypeError(f"target must be a path or a file open for writing bytes, not {type(target).__name__}")
            if isinstance(target, io.TextIOBase):
                raise TypeError("target must be open in binary mode: use open(path, 'wb')")
            return
        self.stream = raw = self.stack.enter_context(Replacement(path)).stream
        ending = os.fsdecode(path)[-4:].lower()
        if ending.endswith(".gz"):
            import gzip

            self.stream = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
        elif ending == ".bz2":
            import bz2

            self.stream = bz2.BZ2File(raw, "wb")
        elif ending.endswith(".xz"):
            import lzma

            self.stream = lzma.LZMAFile(raw, "wb")  # noqa: SIM115
        if self.stream is not raw:
            self.stack.push(self._finish_compression)

    def _finish_compression(self, kind, error, trace):
        """Write the end of the compressed data; after an error the file is deleted, so further errors are ignored."""
        with contextlib.suppress(*(() if kind is None else (OSError, ValueError))):
            self.stream.close()
        return False

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return self.stack.__exit__(kind, error, trace)
