"""Options of the library: read with `gb.config.get("name")`, set with `gb.config.set(name=value)`.

    autocompute  True    compute an expression where its value is needed (`A.mxv(v).nvals`); False raises with a hint
    mapnumpy     True    operators of `binary.numpy` and the like are the library's own where they are equal
    backend      "cpu"   which backend computes: "cpu", "cuda", "auto"; see grb_tile.backends.select
    device       0       the number of the GPU that "cuda" is, for a thread outside `with gb.device(number):`
    plan         None    a forced plan, as `gb.plan(force=...)` sets it
    matmul_precision  "exact"  "tf32", "bf16" or "fp16": operands of plus_times products of FP32 may be rounded to this
                         type on a GPU, sums are FP32; the error bounds are in docs/CUDA.md, and `gb.explain()` says
                         which operands were rounded. Any other name raises InvalidValue

`set` changes an option at once; as a context manager it restores the old value at the end.  A name that is no option is
refused; `update_defaults` adds options of a program's own.  The methods are those of donfig, which python-graphblas
configures itself with; there are no files of options.  Of the environment these variables are read, when an option is
first asked for: GRB_TILE_BACKEND and GRB_TILE_DEVICE, and GRAPHBLAS_AUTOCOMPUTE and GRAPHBLAS_MAPNUMPY, as there.

>>> from grb_tile.config import config
>>> with config.set(autocompute=False):
...     config.get("autocompute")
False
>>> config.get("autocompute")
True
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .exceptions import InvalidValue
from .spelling import did_you_mean

DEFAULTS: dict[str, Any] = {
    "autocompute": True, "mapnumpy": True, "backend": "cpu", "device": 0, "plan": None, "matmul_precision": "exact",
}  # fmt: skip
VARIABLES = {  # of the environment, and the option that each sets; the last two are python-graphblas's
    "GRB_TILE_BACKEND": "backend", "GRB_TILE_DEVICE": "device",
    "GRAPHBLAS_AUTOCOMPUTE": "autocompute", "GRAPHBLAS_MAPNUMPY": "mapnumpy",
}  # fmt: skip
CHOICES = {  # options that take one of a few values
    "matmul_precision": ("exact", "tf32", "bf16", "fp16"), "autocompute": (True, False), "mapnumpy": (True, False),
}  # fmt: skip
_TRUTHS = {"true": True, "1": True, "false": False, "0": False}
_MISSING: Any = object()


class _Change:
    """The context manager that `set` returns; leaving it restores the earlier values."""

    __slots__ = ("_config", "_earlier")

    def __init__(self, config: Config, earlier: dict[str, tuple[Any, str | None]]) -> None:
        self._config = config
        self._earlier = earlier  # {name: (value, the variable that it came from)}

    def __enter__(self) -> Config:
        return self._config

    def __exit__(self, *exc_info: object) -> None:
        for name, (value, variable) in self._earlier.items():
            self._config._put(name, value, variable)


class Config:
    """A dictionary of options with `get`, `set`, listeners, and the methods of donfig."""

    __slots__ = ("_values", "_variables", "_listeners", "defaults")

    name = "graphblas"
    env_prefix = "GRAPHBLAS_"

    def __init__(self, defaults: Mapping[str, Any]) -> None:
        self.defaults: list[Mapping[str, Any]] = [dict(defaults)]
        self._listeners: dict[str, list[Callable[[Any], None]]] = {}

    def __getattr__(self, name: str) -> Any:
        """The options, and the variables that some came from: read at the first use, so that errors come there."""
        if name not in ("_values", "_variables"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        found = _from_environment(os.environ)
        self._variables = {option: variable for option, (variable, _) in found.items()}
        self._values = {option: value for known in self.defaults for option, value in known.items()}
        self._values |= {option: value for option, (_, value) in found.items()}
        return getattr(self, name)

    def get(self, key: str, default: Any = _MISSING) -> Any:
        """The value of option `key`.  Raises: KeyError for an unknown one when no default is given."""
        value = self._values.get(key, default)
        if value is _MISSING:
            raise KeyError(f"unknown option {key!r}; known options: {', '.join(sorted(self._values))}")
        return value

    def set(self, arg: Mapping[str, Any] | None = None, **kwargs: Any) -> _Change:
        """Set options, given as a dict or as keywords; `with config.set(...)` restores them at the end.

        Raises: InvalidValue for what is no option, and for a value that the option cannot have.
        """
        changes = dict(arg or {}, **kwargs)
        for name in changes:
            self._check_name(name)
        return self._change(changes)

    def _change(self, changes: Mapping[str, Any]) -> _Change:
        """Set options whose names are known, all of them or none."""
        earlier = {name: (self._values.get(name, _MISSING), self._variables.get(name)) for name in changes}
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
        for name, value in new.items():
            if name not in self._values:
                self._put(name, value)

    def merge(self, *dicts: Mapping[str, Any]) -> None:
        """Set the options of several dictionaries; later ones win."""
        for new in dicts:
            self.update(new)

    def collect(self, paths: object = None, env: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The options that the environment sets, by variables such as GRAPHBLAS_AUTOCOMPUTE=False.  paths: not read."""
        return {name: value for name, (_, value) in _from_environment(os.environ if env is None else env).items()}

    def variable(self, name: str) -> str | None:
        """The variable of the environment that the value of option `name` came from; None where a program set it."""
        self._values  # noqa: B018  (reads the environment)
        return self._variables.get(name)

    def refresh(self, **kwargs: Any) -> None:
        """Back to the defaults and what the environment sets; keywords go to `collect`."""
        fresh: dict[str, Any] = {}
        for known in reversed(self.defaults):
            fresh.update(known)
        found = self.collect(**kwargs)
        for name in self._values.keys() - fresh.keys():
            self._put(name, _MISSING)
        self._change({name: value for name, value in fresh.items() if name not in found})
        for name, value in found.items():
            self._put(name, value, next(variable for variable, option in VARIABLES.items() if option == name))

    def clear(self) -> None:
        """Back to the defaults: the library needs a value of each of its options."""
        self.refresh(env={})

    def rename(self, aliases: Mapping[str, str]) -> None:
        """Move the values of options from old names to new ones."""
        moved = {new: self._values[old] for old, new in aliases.items() if old in self._values}
        for old in aliases.keys() & self._values.keys():
            self._put(old, _MISSING)
        for new, value in moved.items():
            self._put(new, value)

    def expand_environment_variables(self) -> None:
        """Put the values of environment variables for `$NAME` in options that are text."""
        texts = {name: os.path.expandvars(value) for name, value in self._values.items() if isinstance(value, str)}
        self.set({name: text for name, text in texts.items() if text != self._values[name]})

    def pprint(self, **kwargs: Any) -> None:
        """Print the options; keywords go to pprint.pprint."""
        from pprint import pprint

        pprint(self._values, **kwargs)

    # ----------------------------------------------------------------

    def listen(self, name: str, function: Callable[[Any], None]) -> None:
        """Call function(value) whenever option `name` changes (backends and planner update their copies so).

        function(None): the value is the one of the environment again, and is to be looked at when it is needed.
        """
        self._listeners.setdefault(name, []).append(function)

    def _check_name(self, name: object) -> None:
        if name in self._values:
            return
        raise InvalidValue(
            f"config: there is no option {name!r}; the options are "
            f"{', '.join(sorted(self._values))}; a program adds its own with gb.config.update_defaults"
            f"{did_you_mean(name, self._values)}"
        )

    def _put(self, name: str, value: Any, variable: str | None = None) -> None:
        """Set one option, or remove it; `variable` is that of the environment which the value came from."""
        choices = CHOICES.get(name)
        if choices is not None and value is not _MISSING and not any(value is one or value == one for one in choices):
            raise InvalidValue(f"config: {name}={value!r}; choose among {', '.join(map(str, choices))}")
        if value is None and DEFAULTS.get(name) is not None:
            raise InvalidValue(f"config: {name}=None; its default is {DEFAULTS[name]!r}")
        earlier = self._values.get(name, _MISSING), self._variables.get(name)
        self._store(name, value, variable)
        try:
            for function in self._listeners.get(name, ()):
                function(None if variable else self._values.get(name))
        except BaseException:  # a listener refused the value, for instance a backend that is not available
            self._store(name, *earlier)
            raise

    def _store(self, name: str, value: Any, variable: str | None) -> None:
        self._variables.pop(name, None)
        if variable is not None:
            self._variables[name] = variable
        if value is _MISSING:
            self._values.pop(name, None)
        else:
            self._values[name] = value

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._check_name(name)
        self._put(name, value)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __repr__(self) -> str:
        return f"Config({self._values})"


def _from_environment(environment: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    """{option: (variable, value)} of the variables that are set and not empty.

    Raises: InvalidValue for a value that the option cannot have; what a backend may be is known where it is made.
    """
    found: dict[str, tuple[str, Any]] = {}
    for variable, option in VARIABLES.items():
        text = environment.get(variable, "").strip()
        value: Any = text
        if not text:
            continue
        if option == "device":
            if not text.isdecimal():
                raise InvalidValue(f"{variable}={text}: expected the number of a GPU; the first is 0")
            value = int(text)
        elif option != "backend":
            if text.lower() not in _TRUTHS:
                raise InvalidValue(f"{variable}={text}: choose among True, False")
            value = _TRUTHS[text.lower()]
        found[option] = variable, value
    return found


config = Config(DEFAULTS)
