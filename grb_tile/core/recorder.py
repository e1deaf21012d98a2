"""Recorder: what a program does, as calls of the GraphBLAS C API.

    with gb.Recorder() as rec:
        C = A.mxm(B).new(name="C")
    rec.data[0]       'GrB_mxm(C, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, A, B, NULL);'

`active` is the recorder in use, or None: without one a call pays for one global look-up only.
"""

from __future__ import annotations

from html import escape

from ..operations import PLAIN

active = None


def record(notation: str) -> None:
    """Append a call to the active recorder, if there is one."""
    if active is not None:
        active.data.append(notation)


def texts_of(desc):
    """(mask, accumulator, flags of the descriptor) for Record.notation."""
    mask, accum, flags = "NULL", "NULL", "R" if desc.replace else ""
    if desc.mask is not None:
        mask = desc.mask.parent.name or "M_temp"
        flags += ("S" if desc.mask.structure else "") + ("C" if desc.mask.complement else "")
    if desc.accum is not None:
        accum = getattr(desc.accum, "gb_name", None) or repr(desc.accum)
    return mask, accum, flags


def note_write(name, expression_record, desc=PLAIN, error=None):
    """Record the call that wrote `expression_record` into the object called `name`, or tried to."""
    text = expression_record.notation(name or "temp", *texts_of(desc))
    active.data.append(text if error is None else f"{text} /* ERROR: {error} */")


def note_new(out):
    """Record that an object was made."""
    sizes = "".join(f", {n}" for n in out.shape)
    kind = ("Scalar", "Vector", "Matrix")[out.ndim]
    active.data.append(f"GrB_{kind}_new(&{out.name}, {out.dtype.gb_name}{sizes});")


class Recorder:
    """Records the calls made between `start` and `stop`, or inside a with block, in `data`.

    start     begin at once (the default)
    max_rows  the number of lines that the text form shows
    """

    __slots__ = ("data", "max_rows", "_previous", "_started", "__weakref__")

    def __init__(self, *, start: bool = True, max_rows: int | None = 20) -> None:
        self.data: list[str] = []
        self.max_rows = max_rows
        self._previous = None
        self._started = False
        if start:
            self.start()

    def start(self) -> None:
        """Record from now on."""
        global active
        if not self._started:
            self._previous = active
            self._started = True
        active = self

    def stop(self) -> None:
        """Stop; the recorder that was active before records again."""
        global active
        if self._started:
            if active is self:
                active = self._previous
            self._previous = None
            self._started = False

    def clear(self) -> None:
        """Delete what was recorded."""
        self.data.clear()

    def record_raw(self, text: str) -> None:
        """Append any text."""
        self.data.append(text)

    @property
    def is_recording(self) -> bool:
        """True while this recorder is the one that records."""
        return self._started and active is self

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc_info):
        self.stop()

    def __iter__(self):
        yield from self.data

    def _lines(self, indent=""):
        count = len(self.data)
        if self.max_rows is None or count <= self.max_rows:
            return [indent + line for line in self.data]
        head, tail = self.max_rows // 2, (self.max_rows + 1) // 2
        note = f"// {count - self.max_rows} rows not shown; set `recorder.max_rows` attribute to show more (or less)"
        return (
            [indent + line for line in self.data[:head]] + ["", indent + note, ""]
            + [indent + line for line in self.data[-tail:]]
        )  # fmt: skip

    def __repr__(self):
        title = f"gb.Recorder ({'' if self.is_recording else 'not '}recording)"
        return "\n".join([title, "-" * len(title), *self._lines("  ")])

    def _repr_html_(self):
        state = "recording" if self.is_recording else "paused"
        return f"<div><tt>gb.Recorder</tt> ({state})<pre>{escape(chr(10).join(self._lines()))}</pre></div>"

    def _repr_markdown_(self):
        state = "recording" if self.is_recording else "paused"
        return f"<tt>gb.Recorder</tt> ({state})\n\n```C\n" + "\n".join(self._lines()) + "\n```"
