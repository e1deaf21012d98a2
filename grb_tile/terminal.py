"""A line on stderr that is rewritten in place."""

import sys


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
