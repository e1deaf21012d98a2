"""Progress of long reads on stderr: a line rewritten in place, only on a terminal."""

from __future__ import annotations

import sys
import time

from grb_tile.terminal import Line, rest_text

LARGE = 32 << 20  # bytes; smaller files are read too fast for a progress line
INTERVAL = 0.2  # seconds between two updates


def wanted(progress: bool | None, size: int) -> bool:
    """Whether to show progress: as given, by default for a large input on a terminal."""
    if progress is not None:
        return bool(progress)
    return size >= LARGE and sys.stderr.isatty()


class Progress(Line):
    """`Reading NAME: 42 % of 1.2 GB, 310 MB/s, about 2 s left`, at most five times a second.

    `total` in bytes is 0 when unknown.  As a context manager it clears the line at the end.
    """

    def __init__(self, what: str, total: int, enabled: bool) -> None:
        self.what = what
        self.total = total
        self.enabled = enabled
        self.started = self.shown = time.perf_counter()

    def update(self, done: int) -> None:
        """Show that `done` bytes have been read, at most once in INTERVAL seconds."""
        if not self.enabled:
            return
        now = time.perf_counter()
        if now - self.shown < INTERVAL:
            return
        self.shown = now
        share = f"{100 * done / self.total:.0f} % of {size_text(self.total)}" if self.total else size_text(done)
        seconds = max(now - self.started, 1e-9)
        rest = rest_text(seconds, done, self.total)
        self.put(f"{self.what}: {share}, {size_text(done / seconds)}/s{rest}")


def size_text(count: float) -> str:
    """A number of bytes as readable text, in powers of 1000.

    >>> from grb_tile.io.progress import size_text
    >>> size_text(999), size_text(1_230_000)
    ('999 B', '1.23 MB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} PB" if count < 1000 else f"{count:.0f} PB"
