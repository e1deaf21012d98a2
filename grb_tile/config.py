"""Options of the library: read with `gb.config.get("name")`, set with `gb.config.set(name=value)`.

    autocompute  True    compute an expression where its value is needed (`A.mxv(v).nvals`); False raises with a hint
    mapnumpy     True    operators of `binary.numpy` and the like are the library's own where they are equal
    backend      "cpu"   which backend computes: "cpu", "cuda", "auto"; see grb_tile.backends.select
    plan         None    a forced plan, as `gb.plan(force=...)` sets it

`set` changes an option at once; as a context manager it restores the old value at the end.

>>> from grb_tile.config import config
>>> with config.set(autocompute=False):
...     config.get("autocompute")
False
>>> config.get("autocompute")
True
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

DEFAULTS: dict[str, Any] = {"autocompute": True, "mapnumpy": True, "backend": "cpu", "plan": None}
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
    """A dictionary of options with `get`, `set` and listeners."""

    __slots__ = ("_values", "_listeners")

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self._values = dict(defaults)
        self._listeners: dict[str, list[Callable[[Any], None]]] = {}

    def get(self, name: str, default: Any = _MISSING) -> Any:
        """The value of option `name`.  Raises: KeyError for an unknown one when no default is given."""
        value = self._values.get(name, default)
        if value is _MISSING:
            raise KeyError(f"unknown option {name!r}; known options: {', '.join(sorted(self._values))}")
        return value

    def set(self, options: Mapping[str, Any] | None = None, **kwargs: Any) -> _Change:
        """Set options, given as a dict or as keywords; `with config.set(...)` restores them at the end."""
        changes = dict(options or {}, **kwargs)
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

    def listen(self, name: str, function: Callable[[Any], None]) -> None:
        """Call function(value) whenever option `name` changes (backends and planner update their copies so)."""
        self._listeners.setdefault(name, []).append(function)

    def _put(self, name: str, value: Any) -> None:
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
