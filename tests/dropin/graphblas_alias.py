"""`import graphblas` gives the library under test (grb_tile) under that name, in this process, after `install()`.

`graphblas.a.b` is `grb_tile.a.b`, the very same module object, so that classes and exceptions keep their identity.
Where python-graphblas's tests import internals that a library need not have, the module is wrapped: what it lacks comes
from `stand_ins.py`.
"""

import importlib
import importlib.abc
import importlib.util
import sys
import types

ALIAS = "graphblas"


class Overlay(types.ModuleType):
    """A module that reads `extras`, then the real module, then `stand_ins`; writing goes to the real module."""

    def __init__(self, name, real, extras, stand_ins):
        super().__init__(name)
        own = self.__dict__
        own["_overlay"] = (real, extras, stand_ins)
        own["__path__"] = []
        own["__file__"] = getattr(real, "__file__", None)
        own["__doc__"] = getattr(real, "__doc__", None)

    def __getattr__(self, name):
        real, extras, stand_ins = self.__dict__["_overlay"]
        if name in extras:
            return extras[name]
        try:
            return getattr(real, name)
        except AttributeError:
            if name in stand_ins:
                return stand_ins[name]
            raise

    def __setattr__(self, name, value):
        real, extras, _ = self.__dict__["_overlay"]
        if name.startswith("__"):
            self.__dict__[name] = value
        elif isinstance(value, types.ModuleType) and not hasattr(real, name):
            extras[name] = value  # a submodule that only exists here
        elif not isinstance(value, types.ModuleType):
            setattr(real, name, value)
        elif value is not getattr(real, name, None):
            extras[name] = value  # an overlay of a submodule

    def __delattr__(self, name):
        delattr(self.__dict__["_overlay"][0], name)

    def __dir__(self):
        return dir(self.__dict__["_overlay"][0])


def is_missing(error, names):
    """Does `error` say that one of `names` does not exist (and not that something inside it failed)?"""
    return isinstance(error, ModuleNotFoundError) and error.name in names


def real_module(name, places):
    """First of `places` (names of modules of the library) that exists, else None."""
    for place in places:
        parents = {".".join(place.split(".")[:k]) for k in range(1, place.count(".") + 2)}
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            if not is_missing(error, parents):
                raise
        except ImportError:
            raise
    return None


class AliasLoader(importlib.abc.Loader):
    def __init__(self, module):
        self.module = module
        self.spec = getattr(module, "__spec__", None)

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        if not isinstance(module, Overlay):
            module.__spec__ = self.spec  # importlib put the alias's there


class AliasFinder(importlib.abc.MetaPathFinder):
    def __init__(self, library):
        self.library = library
        import stand_ins

        self.places = stand_ins.PLACES
        self.make = stand_ins.STAND_INS
        self.extras = stand_ins.EXTRAS

    def find_spec(self, fullname, path=None, target=None):
        if fullname != ALIAS and not fullname.startswith(ALIAS + "."):
            return None
        rest = fullname[len(ALIAS) + 1 :]
        places = [f"{self.library}.{rest}" if rest else self.library]
        places += [f"{self.library}.{other}" for other in self.places.get(rest, ())]
        real = real_module(fullname, places)
        make = self.make.get(rest)
        if real is None and make is None:
            return None
        module = real
        if make is not None or rest in self.extras:
            extras = {key: give(real) for key, give in self.extras.get(rest, {}).items()}
            module = Overlay(
                fullname, real if real is not None else types.ModuleType(fullname), extras, make(real) if make else {}
            )
        return importlib.util.spec_from_loader(fullname, AliasLoader(module), is_package=True)


def install(library="grb_tile"):
    """From now on `import graphblas` imports `library`; nothing to do when that is python-graphblas itself."""
    if library != ALIAS:
        sys.meta_path.insert(0, AliasFinder(library))
