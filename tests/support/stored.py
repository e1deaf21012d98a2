"""Operands in a chosen storage form: `Stored` builds the same object as Plain, kept in that form by grb_tile.

MATRIX_FORMS and VECTOR_FORMS are all of them; `written` has entries that wait beside the store to be merged.
"""

import dataclasses

import numpy as np

from support.library import LIBRARY
from support.operands import present, values
from support.plain import Plain

MATRIX_FORMS = (
    "csr", "dcsr", "bitmapr", "bitmapc", "fullr", "fullc", "iso", "full iso", "written", "empty",
)  # fmt: skip
VECTOR_FORMS = ("sparse", "bitmap", "full", "iso", "full iso", "written", "empty")
EVERYWHERE = ("fullr", "fullc", "full", "full iso")  # an entry at each position


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Stored(Plain):
    """Plain, and the form in which grb_tile keeps it; the oracle builds it as it likes."""

    form: str = ""

    def build(self, library):
        if library.__name__ != "grb_tile" or LIBRARY == "graphblas":
            return self._not_iso(super().build(library))
        if self.form == "written":
            return self._written(library)
        if self.form == "full iso":
            cls = library.Vector if len(self.shape) == 1 else library.Matrix
            return cls.from_scalar(self.values[0], *self.shape, self.dtype)
        made = super().build(library)
        if self.form in ("iso", "empty", "full"):
            return made
        from grb_tile.backends.select import current

        made._store = current().convert(made._store, self.form)
        assert made._store.format == self.form, (made._store.format, self.form)
        return made

    def _not_iso(self, made):
        """The oracle's object with all its values: SuiteSparse 9.4.5 writes a full sum past the end of an iso one."""
        if "iso" in self.form and self.nvals:
            key = tuple(int(i[0]) for i in self.indices) if made.ndim == 2 else int(self.indices[0][0])
            made[key] = 1 - self.values[0]
            made[key] = self.values[0]
        return made

    def _written(self, library):
        """Half of the entries built, the others written one by one, and one written and deleted again."""
        half = dataclasses.replace(self, form="", indices=tuple(i[::2] for i in self.indices), values=self.values[::2])
        made = Plain.build(half, library)
        for k in range(1, self.nvals, 2):
            made[tuple(int(i[k]) for i in self.indices) if made.ndim == 2 else int(self.indices[0][k])] = self.values[k]
        return made

    def __repr__(self):
        return f"{super().__repr__()} as {self.form}"


def stored(rng, shape, dtype, form):
    """A random object of that shape in that form: half of the positions, all, one value, or none."""
    here = present(rng, shape, "full" if form in EVERYWHERE else "empty" if form == "empty" else "general")
    if form not in (*EVERYWHERE, "empty"):
        here.flat[rng.integers(here.size)] = True
        here.flat[rng.integers(1, here.size)] ^= here.all()  # a bitmap without holes would be full
    indices = tuple(index.astype(np.int64) for index in np.nonzero(here))
    count = len(indices[0])
    iso = "iso" in form and count > 0
    found = np.repeat(values(rng, dtype, 1), count) if iso else values(rng, dtype, count)
    return Stored(shape, dtype, indices, found, iso and form == "iso", form)
