"""The registry of operators: `NAMESPACES["binary"].get("plus")` builds binary.plus on first use.

This module imports no operator, so that operators of every class can look others up here.  namespaces.py fills
`NAMESPACES` with the predefined names.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from ..spelling import no_attribute

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAMESPACES: dict[
    str, Namespace
] = {}  # "unary", "binary", "monoid", "semiring", "indexunary", "select" and "op" -> Namespace
STRINGS: dict[Any, Any] = {}  # cache of resolved strings; emptied when a name is registered
NOT_IN_OP = ("indexunary", "select")  # namespaces whose names grb_tile.op does not repeat


class OpPath:
    """A nested name such as `binary.mine` of a registered `binary.mine.plus`."""

    def __init__(self, namespace, name):
        self._namespace = namespace
        self._name = name

    def __getattr__(self, key):
        found = None if key.startswith("__") else self._namespace.get(f"{self._name}.{key}")
        if found is None:
            raise no_attribute(f"{self._namespace.name}.{self._name}", key, dir(self))
        return found

    def __dir__(self):
        return self._namespace.names_under(self._name)


class Namespace:
    """Operators by (dotted) name: registered ones, and those of `names`, which `build(name)` makes on first use."""

    def __init__(self, name, names, build):
        self.name = name
        self._names = names
        self._build = build
        self._made = {}
        self._delayed = {}
        self._paths = {}

    @property
    def module(self) -> ModuleType | None:
        return sys.modules.get(f"{__name__.split('.')[0]}.{self.name}")

    def get(self, name: str) -> Any:
        """The operator, or the nested namespace, called `name`; None where there is none."""
        found = self._made.get(name)
        if found is not None:
            return found
        if name in self._delayed:
            found = self._made[name] = self._delayed.pop(name)()
            self._also_as_attribute(name, found)
            return found
        if name in self._names:
            found = self._made[name] = self._build(name)
            return found
        path = self._paths.get(name)
        return path

    def has(self, name: str) -> bool:
        """Is there an operator of this name?  It is not built."""
        return name in self._made or name in self._delayed or name in self._names

    def refuse_taken(self, name: str) -> None:
        """Raises: AttributeError where an operator, a nested path or a function of the module has the name."""
        parts = name.split(".")
        for k in range(1, len(parts)):
            head = ".".join(parts[:k])
            if self.has(head) or k == 1 and self._is_foreign(head):
                raise AttributeError(f"{self.name}.{head} is already defined. Cannot use as a nested path.")
        if self.has(name) or name in self._paths or self._is_foreign(name):
            raise AttributeError(f"{self.name}.{name} is already defined")

    def _is_foreign(self, name):
        """Is it a name of the module that is no operator, such as binary.register_new?"""
        module = self.module
        if module is None or "." in name or name not in vars(module):
            return False
        return not isinstance(vars(module)[name], (ModuleType, OpPath))

    def put(self, name: str, op: Any) -> None:
        """Register `op`."""
        STRINGS.clear()
        self._made[name] = op
        self._also_as_attribute(name, op)
        self._remember_paths(name)

    def delay(self, name: str, build: Callable[[], Any]) -> None:
        """Register the operator that `build()` makes at the first use of its name."""
        STRINGS.clear()
        self._delayed[name] = build
        self._remember_paths(name)
        op = NAMESPACES["op"]
        if self.name not in NOT_IN_OP and not op.has(name):
            op._delayed[name] = lambda: self.get(name)
            op._remember_paths(name)

    def _also_as_attribute(self, name, op):
        if "." not in name and self.module is not None:
            setattr(self.module, name, op)

    def _remember_paths(self, name):
        parts = name.split(".")[:-1]
        for k in range(1, len(parts) + 1):
            head = ".".join(parts[:k])
            if head not in ("ss", "numpy"):
                self._paths.setdefault(head, OpPath(self, head))

    def names_under(self, prefix: str) -> list[str]:
        """The names below a dotted prefix ("" for the top)."""
        start = f"{prefix}." if prefix else ""
        every = [*self._names, *self._made, *self._delayed, *self._paths]
        return sorted({n[len(start) :].split(".")[0] for n in every if n.startswith(start)})


def registered(namespace: str, name: str) -> Any:
    """The operator that users call grb_tile.<namespace>.<name>."""
    return NAMESPACES[namespace].get(name)


def publish(modname: str, name: str, op: Any) -> None:
    """Register an operator in its namespace, and in `op` where the name is free there."""
    NAMESPACES[modname].put(name, op)
    if modname not in NOT_IN_OP and not NAMESPACES["op"].has(name):
        NAMESPACES["op"].put(name, op)
