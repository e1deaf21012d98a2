"""A write that fails in the middle leaves the output and every operand as they were: each primitive fails in turn."""

import pytest
from operations.test_every_record import ASSIGNS, CASES, RECORDS, draw, operands, set_sizes

from grb_tile.backends.select import current
from support.agree import Operands
from support.library import LIBRARY, gb
from support.operands import scalar
from support.plain import difference, plain
from support.seeds import generator
from support.stored import MATRIX_FORMS, VECTOR_FORMS, stored

if LIBRARY == "graphblas":
    pytest.skip("primitives are this library's", allow_module_level=True)

PRIMITIVES = (
    "restrict", "union", "intersect", "overwrite", "cast", "outside", "expand_vector", "expand_matrix",
    "gather_vector", "gather_matrix", "select", "apply", "matmul", "transpose", "clear_bits", "put_entries", "fill",
)  # fmt: skip
DRAWS = 4


class Failing:
    """Lets the calls of primitives pass until number `last`, which raises."""

    def __init__(self, monkeypatch):
        self.calls, self.last, backend = 0, None, current()
        for name in PRIMITIVES:
            monkeypatch.setattr(backend, name, self.counted(getattr(backend, name)))

    def counted(self, function):
        def call(*arguments, **options):
            self.calls += 1
            if self.calls - 1 == self.last:
                raise gb.exceptions.OutOfMemory("drawn")
            return function(*arguments, **options)

        return call


def check(make, call, failing, where):
    """`call(objects)` with each of its primitives failing; `make()` builds the objects."""
    failing.last, last = None, 0
    while True:
        objects = make()
        names = [name for name, value in vars(objects).items() if hasattr(value, "nvals")]
        before = {name: plain(getattr(objects, name)) for name in names}
        failing.calls, failing.last = 0, last
        try:
            call(objects)
        except gb.exceptions.OutOfMemory:
            pass
        else:
            assert failing.calls <= last, f"{where}: the error of primitive {last} was lost"
            return
        finally:
            failing.last = None
        for name, wanted in before.items():
            assert difference(wanted, plain(getattr(objects, name))) is None, f"{where}: {name}, primitive {last}"
        last += 1


def built(given):
    def make():
        objects = Operands(gb, given)
        for name in given:
            getattr(objects, name)
        return objects

    return make


@pytest.mark.parametrize("shape, name", CASES, ids=[f"{len(shape)}d {name}" for shape, name in CASES])
def test_written(shape, name, monkeypatch):
    rng = generator("failing records", shape, name)
    with gb.config.set(autocompute=True):
        for turn in range(DRAWS):
            given = operands(rng, shape)
            text, keywords = draw(rng, shape)

            def call(o):
                o.C(**keywords(gb, o)) << RECORDS[shape][name](gb, o)  # noqa: B023

            with monkeypatch.context() as patch:
                set_sizes(patch, turn)
                check(built(given), call, Failing(patch), f"{name} [{text}]")


@pytest.mark.parametrize(
    "name, inside", [(name, inside) for name in ASSIGNS for inside in (False, True) if ASSIGNS[name][2] or not inside]
)
def test_assigned(name, inside, monkeypatch):
    keys, value, region = ASSIGNS[name]
    shape = (5, 7) if len(keys) == 2 else (7,)
    rng, at = generator("failing assigns", name, inside), keys if len(keys) == 2 else keys[0]
    with gb.config.set(autocompute=True):
        for turn in range(DRAWS):
            its = region if inside else shape
            forms = MATRIX_FORMS if len(its) == 2 else VECTOR_FORMS
            given = operands(rng, shape) | {"e": scalar(None, "INT64")}
            given["M"] = stored(rng, its, "BOOL", forms[rng.integers(len(forms))])
            text, keywords = draw(rng, its)

            def call(o):
                x, how = value(gb, o), keywords(gb, o)  # noqa: B023
                if inside:
                    o.C[at](**how) << x
                else:
                    o.C(**how)[at] << x

            with monkeypatch.context() as patch:
                set_sizes(patch, turn)
                check(built(given), call, Failing(patch), f"{name} [{text}]")
