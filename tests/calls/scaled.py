"""The operands of the table at sizes that grow, on the device: sparse ones with 4 entries a row."""

import numpy as np

from calls.table import MASKS, SHAPES
from grb_tile.backends import select
from support.agree import Operands
from support.operands import scalar, values
from support.seeds import generator
from support.stored import Stored

FORMS = {  # name: forms of matrices and vectors, two scales of the table's shapes
    "csr": ("csr", "sparse", 32, 128),
    "dcsr": ("dcsr", "bitmap", 32, 128),
    "bitmap": ("bitmapr", "bitmap", 8, 24),
    "full": ("fullr", "full", 8, 24),
    "full by columns": ("fullc", "full iso", 8, 24),
    "iso": ("iso", "iso", 32, 128),
}
VECTOR_SCALES = 64, 192  # where no matrix takes part
ENTRIES_OF_A_ROW = 4


def operands(name, form, scale):
    """{name: Plain} of a cell, all of that form and scale."""
    rng = generator("traffic", name, form, scale)
    matrices, vectors, *_ = FORMS[form]
    dtype = "INT64"
    found = {}
    for x, shape in (SHAPES | MASKS).items():
        shape = shape if x == "L" else tuple(n * scale for n in shape)
        found[x] = _stored(rng, shape, "BOOL" if x in MASKS else dtype, matrices if len(shape) == 2 else vectors)
    return found | {"s": scalar(3, dtype), "t": scalar(5, dtype), "e": scalar(None, dtype), "b": scalar(True, "BOOL")}


def _stored(rng, shape, dtype, form):
    size = int(np.prod(shape))
    if form.startswith("full"):
        keys = np.arange(size)
    elif form.startswith("bitmap"):
        keys = np.flatnonzero(rng.random(size) < 0.6)[-size + 1 :]  # one position at least has none
    else:
        count = shape[0] * ENTRIES_OF_A_ROW if len(shape) == 2 else size // 4
        keys = np.unique(rng.integers(0, size, count))
    indices = tuple(index.astype(np.int64) for index in np.unravel_index(keys, shape))
    iso = "iso" in form
    found = np.repeat(values(rng, dtype, 1), len(keys)) if iso else values(rng, dtype, len(keys))
    return Stored(shape, dtype, indices, found, iso and form == "iso", form)


class OnDevice(Operands):
    """The operands as attributes, built and copied to the device when they are first asked for."""

    def _built(self, library, value):
        made = super()._built(library, value)
        if made.ndim:
            made._store = select.named("cuda").to_device(made._store)
        return made
