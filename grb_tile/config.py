"""Options of the library: read with `gb.config.get("name")`, set with `gb.config.set(name=value)`.

    autocompute  True    compute an expression where its value is needed (`A.mxv(v).nvals`); False raises with a hint
    mapnumpy     True    operators of `binary.numpy` and the like are the library's own where they are equal
    backend      "cpu"   which backend computes: "cpu", "cuda", "auto"; see grb_tile.backends.select
    device       0       the number of the GPU that "cuda" is, for a thread outside `with gb.device(number):`
    plan         None    a forced plan, as `gb.plan(force=...)` sets it
    matmul_precision  "exact"  "tf32", "bf16" or "fp16": operands of plus_times products of FP32 may be rounded to this
                         type on a GPU, sums are FP32; the error bounds are in docs/CUDA.md, and `gb.explain()` says
                         which operands were rounded. Any other name raises InvalidValue

`set` changes an option at once; as a context manager it restores the old value at the end.  The methods are those of
donfig, which python-graphblas configures itself with; there are no files of options, and of the environment the
variables GRAPHBLAS_AUTOCOMPUTE and GRAPHBLAS_MAPNUMPY are read, as there.

>>> from grb_tile.config import config
>>> with config.set(autocompute=False):
...     config.get("autocompute")
False
>>> config.get("autocompute")
True
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .exceptions import InvalidValue

DEFAULTS: dict[str, Any] = {
    "autocompute": True, "mapnumpy": True, "backend": "cpu", "device": 0, "plan": None, "matmul_precision": "exact",
}  # fmt: skip
FROM_ENVIRONMENT = ("autocompute", "mapnumpy")  # the options that python-graphblas has
CHOICES = {"matmul_precision": ("exact", "tf32", "bf16", "fp16")}  # options that take one of a few names
_MISSING: Any = object()


class _Change:
    """The context manager that `set` returns; leaving it restores the earlier values."""

    __slots__ = ("_config", "_earlier")

    def __init__(self, config: Config, earlier: dict[str, Any]) -> None:
        self._config = config
        self._earlier = earlier

    def __enter__(self) -> Config:
        return self._config

    def __exit__(self, *exc_info: object) -> None:
        for name, value in self._earlier.items():
            self._config._put(name, value)


class Config:
    """A dictionary of options with `get`, `set`, listeners, and the methods of donfig."""

    __slots__ = ("_values", "_listeners", "defaults")

    name = "graphblas"
    env_prefix = "GRAPHBLAS_"

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self.defaults: list[Mapping[str, Any]] = [dict(defaults)]
        self._values = {**defaults, **self.collect()}
        self._listeners: dict[str, list[Callable[[Any], None]]] = {}

    def get(self, key: str, default: Any = _MISSING) -> Any:
        """The value of option `key`.  Raises: KeyError for an unknown one when no default is given."""
        value = self._values.get(key, default)
        if value is _MISSING:
            raise KeyError(f"unknown option {key!r}; known options: {', '.join(sorted(self._values))}")
        return value

    def set(self, arg: Mapping[str, Any] | None = None, **kwargs: Any) -> _Change:
        """Set options, given as a dict or as keywords; `with config.set(...)` restores them at the end."""
        changes = dict(arg or {}, **kwargs)
        earlier = {name: self._values.get(name, _MISSING) for name in changes}
        done = _Change(self, {})
        try:
            for name, value in changes.items():
                self._put(name, value)
                done._earlier[name] = earlier[name]
        except BaseException:  # all options are set, or none
            done.__exit__()
            raise
        return done

    # ---------------------------------------------------------------- donfig's further methods

    @property
    def config(self) -> dict[str, Any]:
        """The options, as a dictionary of its own."""
        return dict(self._values)

    def to_dict(self) -> dict[str, Any]:
        """The options, as a dictionary of its own."""
        return dict(self._values)

    def update(self, new: Mapping[str, Any], priority: str = "new") -> None:
        """Set options; with priority="old" only those that have no value yet."""
        if priority not in ("new", "old"):
            raise ValueError(f'priority must be "new" or "old"; got {priority!r}')
        self.set({name: value for name, value in new.items() if priority == "new" or name not in self._values})

    def update_defaults(self, new: Mapping[str, Any]) -> None:
        """Add defaults, which hold for options that have no value yet and after `refresh`."""
        self.defaults.append(dict(new))
        self.update(new, priority="old")

    def merge(self, *dicts: Mapping[str, Any]) -> None:
        """Set the options of several dictionaries; later ones win."""
        for new in dicts:
            self.update(new)

    def collect(self, paths: object = None, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The options that the environment sets, by variables such as GRAPHBLAS_AUTOCOMPUTE=False.  paths: not read."""
        found = {}
        for variable, text in (os.environ if env is None else env).items():
            name = variable.removeprefix(self.env_prefix).lower()
            if variable.startswith(self.env_prefix) and name in FROM_ENVIRONMENT:
                try:
                    found[name] = ast.literal_eval(text)
                except (SyntaxError, ValueError):
                    found[name] = text
        return found

    def refresh(self, **kwargs: Any) -> None:
        """Back to the defaults and what the environment sets; keywords go to `collect`."""
        fresh: dict[str, Any] = {}
        for known in reversed(self.defaults):
            fresh.update(known)
        fresh.update(self.collect(**kwargs))
        for name in self._values.keys() - fresh.keys():
            self._put(name, _MISSING)
        self.set(fresh)

    def clear(self) -> None:
        """Back to the defaults: the library needs a value of each of its options."""
        self.refresh(env={})

    def rename(self, aliases: Mapping[str, str]) -> None:
        """Move the values of options from old names to new ones."""
        moved = {new: self._values[old] for old, new in aliases.items() if old in self._values}
        for old in aliases.keys() & self._values.keys():
            self._put(old, _MISSING)
        self.set(moved)

    def expand_environment_variables(self) -> None:
        """Put the values of environment variables for `$NAME` in options that are text."""
        self.set({name: os.path.expandvars(v) for name, v in self._values.items() if isinstance(v, str)})

    def pprint(self, **kwargs: Any) -> None:
        """Print the options; keywords go to pprint.pprint."""
        from pprint import pprint

        pprint(self._values, **kwargs)

    # ----------------------------------------------------------------

    def listen(self, name: str, function: Callable[[Any], None]) -> None:
        """Call function(value) whenever option `name` changes (backends and planner update their copies so)."""
        self._listeners.setdefault(name, []).append(function)

    def _put(self, name: str, value: Any) -> None:
        if name in CHOICES and value is not _MISSING and not (isinstance(value, str) and value in CHOICES[name]):
            raise InvalidValue(f"config: {name}={value!r}; choose among {', '.join(CHOICES[name])}")
        earlier = self._values.get(name, _MISSING)
        self._store(name, value)
        try:
            for function in self._listeners.get(name, ()):
                function(self._values.get(name))
        except BaseException:  # a listener refused the value, for instance a backend that is not available
            self._store(name, earlier)
            raise

    def _store(self, name: str, value: Any) -> None:
        if value is _MISSING:
            self._values.pop(name, None)
        else:
            self._values[name] = value

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._put(name, value)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __repr__(self) -> str:
        return f"Config({self._values})"


config = Config(DEFAULTS)
