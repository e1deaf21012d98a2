"""Templates as plain Python over arrays that refuse other positions, in the place of the compiled kernels."""

from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from grb_tile.backends.cpu.graph import communities, compiled, components, labels, ordering, paths

FLAGS = {"COUNT", "PARENTS", "X_ISO", "MASK"}
TEMPLATES = {name for name, _ in compiled.KERNELS}


class Fenced:
    """An array of which an element is read or written only at 0 .. size - 1; integers wrap as they do in C."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def _at(self, k):
        assert 0 <= k < self.shape[0], f"position {k} of an array of {self.shape[0]}"
        return int(k)

    def __getitem__(self, k):
        return self.array[self._at(k)].item()

    def __setitem__(self, k, value):
        if type(value) is int and self.array.itemsize == 8:
            value = (value + 2**63) % 2**64 - 2**63
        self.array[self._at(k)] = value


class Unset:
    """NumPy whose new arrays without values hold numbers that are no positions."""

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def empty(shape, dtype=float):
        return np.full(shape, -77, dtype)


def fenced_kernel(name, **constants):
    """The template as plain Python, in the place of the compiled kernel."""
    template = import_module(f"grb_tile.backends.cpu.templates.{name}")
    vars(template).update({key: value for key, value in constants.items() if key in FLAGS})

    def function(run):
        return lambda *arguments: run(*(Fenced(a) if isinstance(a, np.ndarray) else a for a in arguments))

    functions = {
        key: function(value) for key, value in vars(template).items() if key in ("run", "dependencies", "vote")
    }
    return SimpleNamespace(functions_for=lambda seconds: SimpleNamespace(**functions), count=lambda seconds: None)


@contextmanager
def fenced_kernels():
    """Within the block the graph loops of the CPU backend are plain Python; yields the names of those that ran."""
    ran = set()

    def plain_kernel(name, **constants):
        if name not in TEMPLATES:
            return original(name, **constants)
        ran.add(name)
        return fenced_kernel(name, **constants)

    original = compiled.jit.plain_kernel
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in TEMPLATES:  # what fenced_kernel changes is as before afterwards
            template = import_module(f"grb_tile.backends.cpu.templates.{name}")
            for key in FLAGS & set(vars(template)):
                monkeypatch.setattr(template, key, vars(template)[key])
        monkeypatch.setattr(compiled.jit, "plain_kernel", plain_kernel)
        for module in (communities, components, labels, ordering, paths):
            monkeypatch.setattr(module, "np", Unset())
        yield ran
