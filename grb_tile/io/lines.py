"""Chunks of text without blank lines and comments, and the line numbers of what remains."""

from __future__ import annotations

import re
from functools import cache

import numpy as np

NEWLINE = 10
NOT_BLANK = np.ones(256, bool)
NOT_BLANK[[32, 9, 13]] = False
BLOCK = 1 << 19  # bytes at a time, because the arrays take up to 30 times as much


def data_lines(text: bytes, marks: tuple[bytes, ...]) -> bytes:
    """`text` (whole lines) without blank lines and those that begin, after blanks, with one of `marks`.

    Array operations only, so that a file of newlines costs no more per byte than a file of data.

    >>> data_lines(b"1 2\\n\\n  # x\\n3 4\\n", (b"#",))
    b'1 2\\n3 4\\n'
    """
    if _suspects(marks).search(text) is None:
        return text
    if b"\n\n" in text:
        codes = np.frombuffer(text, np.uint8)
        newline = codes == NEWLINE
        kept = np.ones(codes.shape[0], bool)
        kept[1:] = ~(newline[1:] & newline[:-1])
        kept[0] = not newline[0]
        text = codes[kept].tobytes()
    parts = []
    while text:
        cut = text.rfind(b"\n", 0, BLOCK) + 1 or text.find(b"\n") + 1
        block, text = text[:cut], text[cut:]
        kept, starts, ends = _kept(block, marks)
        if not kept.all():
            block = np.frombuffer(block, np.uint8)[np.repeat(kept, ends - starts)].tobytes()
        parts.append(block)
    return b"".join(parts)


def line_number(text: bytes, marks: tuple[bytes, ...], k: int) -> int:
    """The line number in `text`, from 1, of line k, from 0, of data_lines(text, marks).

    >>> line_number(b"1 2\\n\\n  # x\\n3 4\\n", (b"#",), 1)
    4
    """
    return int(np.flatnonzero(_kept(text, marks)[0])[k]) + 1


@cache
def _suspects(marks):
    """Matches a line that begins with a blank, a line end or a mark; rare in files of numbers."""
    return re.compile(rb"(?m)^(?:[ \t\r\n]|" + b"|".join(map(re.escape, marks)) + b")")


def _kept(text, marks):
    """(is each line data?, starts, ends of the lines): decided by the first byte of a line that is not blank."""
    codes = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(codes == NEWLINE) + 1
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64) if ends.size else ends
    head, first = codes[starts], starts
    if not NOT_BLANK[head].all():
        others = np.flatnonzero(NOT_BLANK[codes])
        first = others[np.searchsorted(others, starts)]  # the newline itself in a blank line
        head = codes[first]
    kept = head != NEWLINE
    for mark in marks:
        same = head == mark[0]
        for at, code in enumerate(mark[1:], 1):
            same &= codes[np.minimum(first + at, codes.shape[0] - 1)] == code
        kept &= ~same
    return kept, starts, ends
