"""Single elements of objects whose entries reside on a device: read, written, deleted, accumulated, in every form."""

import numpy as np
import pytest

from cuda_emulation.backend import EMULATED, using_shim
from support.library import gb
from support.seeds import generator
from support.stored import MATRIX_FORMS, VECTOR_FORMS, stored
from support.written import entries_of

pytestmark = pytest.mark.skipif(not EMULATED, reason="the arrays are those of the emulation")
FORMS = [(1, form) for form in VECTOR_FORMS] + [(2, form) for form in MATRIX_FORMS]


@pytest.mark.parametrize("ndim, form", FORMS)
def test_elements(ndim, form):
    rng = generator("elements", ndim, form)
    shape = (4, 5)[:ndim]
    x = stored(rng, shape, "FP64", form).build(gb)
    here = x._store
    model = {p if isinstance(p, tuple) else (p,): value for p, value in entries_of(x).items()}
    with using_shim() as backend:
        x = type(x)._from_store(here.moved(backend.array))
        assert x.device == "cuda:0" and x.nvals == len(model)
        for position in np.ndindex(*shape):
            key = position if ndim == 2 else position[0]
            assert x.get(*position) == model.get(position) == x[key].new().value
            assert (key in x) == (position in model)
        first, last = (0,) * ndim, tuple(n - 1 for n in shape)
        keys = [p if ndim == 2 else p[0] for p in (first, last)]
        x[keys[0]] = 7.5
        del x[keys[1]]
        model[first] = 7.5
        model.pop(last, None)
        x(gb.binary.plus)[keys[0]] << 2
        model[first] += 2
        assert x.get(*first) == 9.5 and x.get(*last) is None and x.nvals == len(model)
        found = {p if isinstance(p, tuple) else (p,): value for p, value in entries_of(x).items()}
        assert found == model
