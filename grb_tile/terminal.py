"""A line on stderr that is rewritten in place."""

import sys


def time_text(seconds):
    """A time as readable text, of two digits or so.

    >>> from grb_tile.terminal import time_text
    >>> time_text(0.4), time_text(42.4), time_text(150), time_text(9000)
    ('1 s', '42 s', '2.5 min', '2.5 h')
    """
    if seconds < 100:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60:.2g} min" if seconds < 6000 else f"{seconds / 3600:.2g} h"


def rest_text(seconds, done, total):
    """`, about 12 s left`, where `done` of `total` took `seconds`; nothing where that says nothing yet."""
    return f", about {time_text(seconds * (total - done) / done)} left" if 0 < done < total else ""


class Line:
    """`put` shows a text in place of the one before; as a context manager it leaves a clean line behind it."""

    width = 0

    def put(self, text):
        """Show `text`, over what is left of the text before."""
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
        return False
