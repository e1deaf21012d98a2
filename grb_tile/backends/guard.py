"""Host backends that meet device stores: objects may hold them, and a device backend hands on what it has no form for.

`guarded(backend)` is the same backend whose primitives copy device stores and arrays to the host first (a store
keeps its copy). A process that never used a device has no guarded backend, so the host backends check nothing.
"""

import functools
import inspect

from ..storage import place
from ..storage.store import BitmapVector, Compressed, SparseVector, StoredMask
from .protocol import PRIMITIVES

_STORES = (SparseVector, BitmapVector, Compressed)


def guarded(backend):
    """`backend` with primitives that accept device stores too."""
    methods = {name: _copying(getattr(backend, name)) for name in PRIMITIVES}
    methods["is_guarded"] = True
    cls = type(f"Guarded{type(backend).__name__}", (type(backend),), {k: _method(v) for k, v in methods.items()})
    made = cls.__new__(cls)
    made.__dict__.update(vars(backend))
    return made


def _method(value):
    return staticmethod(value) if callable(value) else value


def _copying(primitive):
    @functools.wraps(primitive)
    def call(*args, **kwargs):
        return primitive(*map(_here, args), **{name: _here(value) for name, value in kwargs.items()})

    return call


def _here(argument):
    if isinstance(argument, _STORES):
        return place.host(argument)
    if isinstance(argument, list):
        return [_here(one) for one in argument]
    if place.is_of_device(argument):
        return place.host_array(argument)
    if inspect.isfunction(argument):  # gives a store when it is wanted
        return lambda *args: _here(argument(*args))
    if isinstance(argument, StoredMask):
        return StoredMask(place.host(argument.pattern), argument.complement)
    return argument
