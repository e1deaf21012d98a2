"""Host backends that meet device stores: after a device backend was in use, objects may still hold its stores.

`guarded(backend)` is the same backend whose primitives bring stores to the host first (the copy is kept with the
store). A process that never used a device never gets here, so the host backends themselves check nothing.
"""

from ..storage import place
from ..storage.store import Allow, BitmapVector, Compressed, SparseVector
from .protocol import Backend

_STORES = (SparseVector, BitmapVector, Compressed)
_PRIMITIVES = [name for name in vars(Backend) if not name.startswith("_") and callable(vars(Backend)[name])]


def guarded(backend):
    """`backend` with every primitive taking stores from any place."""
    methods = {name: _bringing(getattr(backend, name)) for name in _PRIMITIVES}
    methods["is_guarded"] = True
    twin = type(f"Guarded{type(backend).__name__}", (type(backend),), {k: _method(v) for k, v in methods.items()})
    made = twin.__new__(twin)
    made.__dict__.update(vars(backend))
    return made


def _method(value):
    return staticmethod(value) if callable(value) else value


def _bringing(primitive):
    def call(*args, **kwargs):
        return primitive(*map(_here, args), **{name: _here(value) for name, value in kwargs.items()})

    return call


def _here(argument):
    if isinstance(argument, _STORES):
        return place.host(argument)
    if isinstance(argument, Allow):
        return Allow(place.host(argument.pattern), argument.complement)
    return argument
