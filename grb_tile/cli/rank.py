"""One rank of a distributed program: what `python -m grb_tile.run SCRIPT` does in a process that a launcher started.

The script runs as the program of the process. What it writes comes line by line, with `--tag` of the launcher after the
rank's number. Where it ends in an error or with a status that is not 0, all ranks are ended.
"""

import contextlib
import io
import os
import sys
import types

from grb_tile.backends.distributed.connect import end_all
from grb_tile.backends.distributed.environment import TAG_VARIABLE, rank_or_none
from grb_tile.exceptions import DistributedError

NOT_TOGETHER = 76  # exit status after a DistributedError: the fault is another rank's (EX_PROTOCOL of sysexits.h)
STATUSES = {KeyboardInterrupt: 130, DistributedError: NOT_TOGETHER}


def main(script, arguments):
    """Run the script, and leave the process with its status."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        with contextlib.suppress(AttributeError):  # closed, or not a file
            stream.reconfigure(line_buffering=True, write_through=False)  # a line at once: several ranks write
        if os.environ.get(TAG_VARIABLE) and stream is not None:
            setattr(sys, name, Tagged(stream, f"[{rank_or_none() or 0}] "))
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    program = types.ModuleType("__main__")
    program.__file__ = script
    sys.modules["__main__"] = program
    try:
        with io.open_code(script) as file:
            code = compile(file.read(), script, "exec")
        exec(code, program.__dict__)
    except SystemExit as stop:
        _leave(stop)
        raise
    except BaseException as error:
        trace = error.__traceback__
        within = trace.tb_next if trace is not None else None  # without the frame of this function
        sys.excepthook(type(error), error.with_traceback(within), within)
        status = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), 1)
        end_all(status, f"{type(error).__name__}: {error}")
        sys.exit(status)


def _leave(stop):
    """End the other ranks, unless the status is 0."""
    if stop.code not in (None, 0):
        status = stop.code if isinstance(stop.code, int) else 1
        if status != stop.code:
            print(stop.code, file=sys.stderr)
            stop.code = status
        end_all(status, f"exit status {status}")


class Tagged(io.TextIOBase):
    """A text stream whose lines begin with a tag; one that is flushed before its end is ended."""

    def __init__(self, stream, tag):
        self._stream = stream
        self._tag = tag
        self._line = ""  # what has been written of a line: lines of several ranks must not mix

    def write(self, text):
        *lines, self._line = (self._line + text).split("\n")
        if lines:
            self._stream.write("".join(f"{self._tag}{line}\n" for line in lines))
        return len(text)

    def flush(self):
        if self._line:
            self.write("\n")
        self._stream.flush()

    def fileno(self):
        return self._stream.fileno()

    def isatty(self):
        return self._stream.isatty()

    def writable(self):
        return True

    @property
    def encoding(self):
        return self._stream.encoding

    @property
    def errors(self):
        return self._stream.errors

    @property
    def buffer(self):
        return self._stream.buffer
