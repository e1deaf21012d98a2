"""The functions that the backend has, by the names under which NetworkX dispatches them."""

from __future__ import annotations

import contextlib
import functools
import inspect
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from grb_tile.algorithms import ConvergenceFailure, NegativeCycleError

from .graphs import BACKEND, for_one_call


@dataclass(frozen=True)
class Implementation:
    """One function of the backend.

    function    what NetworkX calls, with the signature of NetworkX's own function
    kind        "algorithm", "matrix" (returns arrays or matrices), "graph" (returns a graph), "composed" (NetworkX's
                own code over functions of the backend)
    can_run     a function of the same arguments: True, or the reason why they are not supported
    light       whether NetworkX takes less time than a conversion; or a function of the arguments that decides it
    signature   of `function`
    """

    function: Callable
    kind: str
    can_run: Callable | None
    light: bool | Callable[..., bool]
    signature: inspect.Signature

    def refusal(self, args: tuple, kwargs: dict) -> str | None:
        """Why the function cannot run with these arguments; None when it can."""
        if self.can_run is None:
            return None
        try:
            arguments = self._bound(args, kwargs)
        except TypeError as error:
            return f"the arguments are not those of NetworkX 3.6: {error}"
        answer = self.can_run(**arguments)
        return None if answer is True else answer

    def is_light(self, args: tuple, kwargs: dict) -> bool:
        """Whether NetworkX takes less time for this call than a conversion.  Called after `refusal`."""
        return self.light(**self._bound(args, kwargs)) if callable(self.light) else self.light

    def _bound(self, args: tuple, kwargs: dict) -> dict[str, Any]:
        """{name: argument}, defaults included; NetworkX passes most arguments by position."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments


FUNCTIONS: dict[str, Implementation] = {}


def implements(
    name: str | None = None,
    *,
    kind: str = "algorithm",
    can_run: Callable | None = None,
    light: bool | Callable[..., bool] = False,
    not_for: tuple[str, ...] = (),
) -> Callable[[Callable], Callable]:
    """Register a function under its name, or under `name` where NetworkX dispatches it under another.

    kind, can_run, light   see Implementation
    not_for                kinds of graphs for which NetworkX raises, too: "directed", "undirected", "multigraph"

    Raises: ValueError for a name that is registered already.
    """

    def register(function: Callable) -> Callable:
        dispatched = name or function.__name__
        if dispatched in FUNCTIONS:
            raise ValueError(f"{dispatched} is registered already")

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not_for:
                _refuse(args[0] if args else next(iter(kwargs.values())), not_for)
            if args:
                args = for_one_call(args[0]), *args[1:]
            with _random_states_for_networkx((*args, *kwargs.values())), _errors_of_networkx():
                result = function(*args, **kwargs)
            return _items(result) if inspect.isgenerator(result) else result

        FUNCTIONS[dispatched] = Implementation(call, kind, can_run, light, inspect.signature(function))
        return call

    return register


@contextlib.contextmanager
def _errors_of_networkx() -> Iterator[None]:
    """NetworkX's exceptions in place of those of grb_tile.algorithms; an overflow sends the call to NetworkX."""
    try:
        yield
    except OverflowError as error:
        raise NotImplementedError(str(error)) from error
    except ConvergenceFailure as error:
        raise nx.PowerIterationFailedConvergence(error.iterations) from error
    except NegativeCycleError as error:
        raise nx.NetworkXUnbounded("Negative cycle detected.") from error


@contextlib.contextmanager
def _random_states_for_networkx(arguments: Iterable[Any]) -> Iterator[None]:
    """Restore the random states among the arguments where the call is left to NetworkX, which draws from them, too."""
    restores = [each for each in map(_restore, arguments) if each is not None]
    try:
        yield
    except NotImplementedError:
        for restore in restores:
            restore()
        raise


def _restore(seed: Any) -> Callable[[], None] | None:
    """A function that restores the present state of the random state `seed`; None for another object."""
    if isinstance(seed, (nx.utils.PythonRandomInterface, nx.utils.misc.PythonRandomViaNumpyBits)):
        seed = seed._rng  # of NumPy
    if isinstance(seed, random.Random):
        return functools.partial(seed.setstate, seed.getstate())
    if isinstance(seed, np.random.RandomState):
        return functools.partial(seed.set_state, seed.get_state())
    if isinstance(seed, np.random.Generator):
        return functools.partial(setattr, seed.bit_generator, "state", seed.bit_generator.state)
    return None


def _items(iterator: Iterator) -> Iterator:
    with _errors_of_networkx():
        yield from iterator


def _refuse(G: nx.Graph, kinds: tuple[str, ...]) -> None:
    """NetworkX's own exception for a kind of graph that a function is not defined for."""
    for kind, applies in (
        ("directed", G.is_directed()),
        ("undirected", not G.is_directed()),
        ("multigraph", G.is_multigraph()),
    ):
        if applies and kind in kinds:
            raise nx.NetworkXNotImplemented(f"not implemented for {kind} type")


def original(name: str) -> Callable:
    """NetworkX's own function of this dispatched name."""
    from networkx.utils.backends import _registered_algorithms

    return _registered_algorithms[name].orig_func


__all__ = ["BACKEND", "FUNCTIONS", "Implementation", "implements", "original"]
