"""What the functions of a loop read that is not theirs: cells, globals, attributes of modules and classes, defaults.

    reads = Reads(test, body)
    every = reads.of(test, body, named)      # the values of the names, then all that the two read; None: not as before
    reads.names                              # how the latter are called, in that order
    reads.reason                             # what test and body do that no name tells, or None
    body = apart(body)                       # which reads the values of now, later, too

`settings.ALPHA` is read as it stands: the byte code tells which attributes follow a name.  Functions among what is read
are read from, too, with their defaults and attributes.
"""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .names import UNDEFINED, value_of

_FIXED = (  # never change
    "grb_tile.operators", "grb_tile.dtypes", "grb_tile.core.aggregate", "grb_tile.core.updater",
    "grb_tile.graph.passes",
)  # fmt: skip
# Modules whose functions give the same for the same arguments, and whose attributes stay.
_LIBRARIES = {"grb_tile", "numpy", "math", "cmath", "builtins", "operator", "_operator", "itertools", "functools",
              "_functools", "collections"}  # fmt: skip
_DRAWN = "numpy.random"
# Functions of Python that see names, types or attributes which the byte code does not tell, or the world outside.
_UNSEEN = {
    getattr(builtins, name) for name in (
        "breakpoint", "delattr", "dir", "eval", "exec", "getattr", "globals", "hasattr", "id", "input",
        "isinstance", "locals", "next", "open", "setattr", "vars", "__import__",
    )
}  # fmt: skip
_HEAP = 1 << 9  # flag of types that a `class` statement has made
_MOST = 64  # functions that a loop calls, and that these call


def in_library(module: str | None) -> bool:
    """Is a module of that name one of those whose functions depend on their arguments alone?"""
    module = module or ""
    return module.partition(".")[0] in _LIBRARIES and not module.startswith(_DRAWN)


def is_of_the_library(function: types.FunctionType) -> bool:
    """Is it a function of the library that reads nothing which may change?  Steps of algorithms/ are closures."""
    module = function.__module__ or ""
    return module.startswith("grb_tile") and not module.startswith("grb_tile.algorithms")


def is_known_type(value: type) -> bool:
    """Is it a type of a library, which no module of the user's has made?"""
    made = value.__module__ == "builtins" and value.__flags__ & _HEAP
    return in_library(value.__module__) and not made and value is not type and value is not super


def is_fixed(value: Any) -> bool:
    """Is it told by its identity, as a type is, or a function of the library?"""
    if isinstance(value, types.FunctionType):
        return is_of_the_library(value)
    if isinstance(value, types.BuiltinFunctionType):
        of = value.__self__
        known = (of is None or isinstance(of, types.ModuleType)) and in_library(value.__module__)
        return known and value not in _UNSEEN
    if isinstance(value, types.ModuleType):
        return in_library(value.__name__)
    if isinstance(value, type):
        return is_known_type(value) or issubclass(value, BaseException)
    if isinstance(value, (types.MethodType, enum.Enum, np.ufunc)):  # a method is RUN's
        return True
    return type(value).__module__.startswith(_FIXED)


@functools.lru_cache(maxsize=512)
def _met_in(code: types.CodeType) -> tuple[tuple, tuple, str | None, bool]:
    """((name, attributes that follow) of what it reads of outer scopes, with functions within it; those whose
    attributes it sets; what else it changes outside, or None; is there an `is`?).
    """
    found: dict[tuple, None] = {}
    changed, reason = [], None
    outer, cells = {*code.co_freevars}, {*code.co_cellvars}
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("EXTENDED_ARG", "CACHE", "NOP")]
    asks = any(step.opname == "IS_OP" for step in steps)
    for k, step in enumerate(steps):
        what, name = step.opname, step.argval
        if what in ("STORE_GLOBAL", "DELETE_GLOBAL") or what in ("STORE_DEREF", "DELETE_DEREF") and name in outer:
            reason = f"binds `{name}`, a name of an outer scope"
        elif what == "MATCH_CLASS":
            reason = "matches the class of a value, which may be a number on the device"
        elif what == "IMPORT_NAME":
            reason = f"imports {name}"
        elif what.startswith("LOAD") and ("GLOBAL" in what or "NAME" in what or "DEREF" in what and name not in cells):
            following, at = [], k + 1
            while steps[at].opname in ("LOAD_ATTR", "LOAD_METHOD"):
                following.append(steps[at].argval)
                at += 1
            found[name, tuple(following)] = None
            if steps[at].opname in ("STORE_ATTR", "DELETE_ATTR", "COPY", "DUP_TOP"):
                changed.append((name, tuple(following)))
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            places, more, why, also = _met_in(inner)
            asks = asks or also
            own = {*inner.co_freevars} - outer  # names of this function
            found.update(dict.fromkeys(place for place in places if place[0] not in own))
            changed += [place for place in more if place[0] not in own]
            reason = reason or why
    return tuple(found), tuple(changed), reason, asks


def _end_of(value: Any, following: tuple) -> tuple[Any, int]:
    """(what the attributes lead to, how many of them): through modules and the user's classes.

    Of a library the modules within it alone are followed.
    """
    for k, name in enumerate(following):
        if isinstance(value, types.ModuleType) or isinstance(value, type) and not is_known_type(value):
            found = getattr(value, name, UNDEFINED)
            if isinstance(value, types.ModuleType) and is_fixed(value) and not isinstance(found, types.ModuleType):
                return value, k
            value = found
        else:
            return value, k
    return value, len(following)


class Places:
    """Where the values are that one function reads: its defaults and attributes, cells, global names and Python's own,
    attributes of modules and classes among these.

    absent: names of its code that are bound to nothing now.  reason: what it does that no name tells, or None.
    asks: is there an `is`?
    """

    def __init__(self, function: Any) -> None:
        self.code, scope = function.__code__, function.__globals__
        self._given = _keys(function)
        met, changed, self.reason, self.asks = _met_in(self.code)
        cells = {name: k for k, name in enumerate(self.code.co_freevars)}
        self._cells: dict[tuple, None] = {(k, ()): None for k in cells.values()}
        self._present: dict[tuple, None] = {}
        absent = set()
        for name, following in met:
            if name in cells:
                value = value_of(lambda cell=function.__closure__[cells[name]]: cell.cell_contents)
                into, place = self._cells, cells[name]
                if following and (place, ()) in into and not any(x == name and not y for x, y in met):
                    del into[place, ()]
            elif name not in scope and (function.__module__ or "").startswith("grb_tile."):
                continue  # Python's own, in algorithms/, where no test asks a number for its type
            elif name in scope or name in function.__builtins__:
                value, into, place = scope.get(name, function.__builtins__.get(name)), self._present, name
            else:
                absent.add(name)
                continue
            end, count = _end_of(value, following)
            into[place, following[:count]] = None
            if (name, following) in changed and isinstance(end, (types.ModuleType, types.FunctionType, type)):
                self.reason = f"sets an attribute of `{name}`"
        self.absent = frozenset(absent)
        names = [*(f"{function.__name__}'s default" for _ in range(self._given[0])), *self._given[1], *self._given[2]]
        names += [".".join((self.code.co_freevars[k], *following)) for k, following in self._cells]
        self.names = names + [".".join((name, *following)) for name, following in self._present]

    def key(self) -> tuple:
        """What two of them have in common that are the same."""
        return self.code, self._given, tuple(self._cells), tuple(self._present), self.absent

    def read(self, function: Any, every: list) -> bool:
        """Append the values to `every`; False where other names are bound, or it is another function."""
        scope = function.__globals__
        if function.__code__ is not self.code or not scope.keys().isdisjoint(self.absent):
            return False
        if self._given != _NOTHING or function.__defaults__ or function.__kwdefaults__ or function.__dict__:
            if _keys(function) != self._given:
                return False
            every += function.__defaults__ or ()
            every += (function.__kwdefaults__ or {}).values()
            every += function.__dict__.values()
        closure, around = function.__closure__, function.__builtins__
        for place, following in self._cells:
            try:
                value = closure[place].cell_contents
            except ValueError:  # it is empty
                value = UNDEFINED
            if following:
                value, count = _end_of(value, following)
                if count < len(following):
                    return False
            every.append(value)
        for name, following in self._present:
            value = scope.get(name, UNDEFINED)
            if value is UNDEFINED:
                value = around.get(name, value)
            if following:
                value, count = _end_of(value, following)
                if count < len(following):
                    return False
            every.append(value)
        return True


_NOTHING = 0, (), ()


def _keys(function):
    """(how many defaults, names of those of keywords, names of attributes)"""
    return len(function.__defaults__ or ()), tuple(function.__kwdefaults__ or ()), tuple(function.__dict__)


class Reads:
    """What a loop's test and body read, and functions among that."""

    def __init__(self, test: Callable, body: Callable) -> None:
        self.names: list[str] = []
        self.reason: str | None = None
        self._parts: list[tuple[int | None, Places]] = []  # (place of the function among the values, its Places)
        self._same: list[tuple[int, int]] = []  # places of one function
        values: list = []
        met: dict[int, int] = {}  # functions: their places
        waiting: list = [(None, test), (None, body)]
        while waiting and len(self._parts) < _MOST:
            place, function = waiting.pop(0)
            places, start = Places(function), len(values)
            places.read(function, values)
            self._parts.append((place, places))
            self.names += places.names
            who = "the loop" if place is None else f"`{function.__name__}`"
            self.reason = self.reason or places.reason and f"{who} {places.reason}"
            for k in range(start, len(values)):
                value = values[k]
                if type(value) is types.FunctionType and not is_fixed(value):
                    if id(value) in met:
                        self._same.append((met[id(value)], k))
                    else:
                        met[id(value)] = k
                        waiting.append((k, value))
        if waiting:
            self.reason = f"the loop calls more than {_MOST} functions"

    @property
    def asks(self) -> bool:
        """Is there an `is` in one of the functions?"""
        return any(places.asks for _, places in self._parts)

    def alike(self, other: Reads | None) -> bool:
        """Are they the same?"""
        return other is not None and self._same == other._same and (
            [(k, places.key()) for k, places in self._parts] == [(k, places.key()) for k, places in other._parts]
        )  # fmt: skip

    def of(self, test: Callable, body: Callable, named: tuple) -> list | None:
        """The values of the names and then all that test and body read, None where these are others than those."""
        every: list = []
        for _, get in named:
            try:
                closure = get.__closure__  # it is `lambda: name`, as a rule
                every.append(closure[0].cell_contents if closure else get())
            except (ValueError, NameError):
                every.append(UNDEFINED)
        start, function = len(every), test
        for place, places in self._parts:
            if place is not None:
                function = every[start + place]
                if type(function) is not types.FunctionType:
                    return None
            if not places.read(function, every):
                return None
            function = body
        for first, other in self._same:
            if every[start + first] is not every[start + other]:
                return None
        return every


def apart(function: types.FunctionType, made: dict[int, Any] | None = None) -> types.FunctionType:
    """The function with cells and global names of its own, which stay bound to what they are now.

    So have the functions of the user that these names stand for.  Attributes of modules and classes are read as they
    stand.  made: by id, the functions and the dicts of global names that have been met.
    """
    made = {} if made is None else made
    if id(function) in made:
        return made[id(function)]
    code, cells = function.__code__, function.__closure__ or ()
    scope = made.setdefault(id(function.__globals__), dict(function.__globals__))
    own = tuple(types.CellType() for _ in cells)
    made[id(function)] = found = types.FunctionType(code, scope, function.__name__, function.__defaults__, own)
    found.__kwdefaults__ = function.__kwdefaults__
    found.__dict__.update(function.__dict__)

    def value_apart(value):
        return apart(value, made) if type(value) is types.FunctionType and not is_fixed(value) else value

    for cell, mine in zip(cells, own, strict=True):
        value = value_of(lambda cell=cell: cell.cell_contents)
        if value is not UNDEFINED:
            mine.cell_contents = value_apart(value)
    for name, _ in _met_in(code)[0]:
        if name in function.__globals__:
            scope[name] = value_apart(function.__globals__[name])
    return found
