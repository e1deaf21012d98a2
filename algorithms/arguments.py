"""Checks of arguments that several algorithms share.  Messages name the argument, its value and the remedy."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from grb_tile.core.arguments import flags as flags  # the same in every layer
from grb_tile.spelling import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence


MOST_COMPARED = 20_000  # labels that a misspelt one is compared with, in a tenth of a second


class VertexNumber(int):
    """The number of a vertex, also where the labels of the graph are numbers: what `Graph.vertex` gives there."""


def node(value: Any, G: Any, name: str = "source") -> int:
    """The number of the vertex of G that `value` names: by its label where G has labels, or an int, by its number.

    Where labels are ints, an int names the vertex that it can name; one that may be the number of a vertex and the
    label of another is refused, unless it is a VertexNumber.

    Raises: KeyError for no label, IndexError for no number, ValueError for an int that names two vertices, TypeError.
    """
    if G.labels is None or isinstance(value, (bool, np.bool_, VertexNumber)):
        return _number(value, G.n, name)
    labelled = G.number_of(value)
    if not hasattr(value, "__index__"):
        if labelled is None:
            near = nearest_label(value, G.labels)
            raise KeyError(f"{name}: no node is called {value!r}{near or '; the labels are in G.labels'}")
        return labelled
    index = operator.index(value)
    if labelled is None or labelled == index:
        return _number(index, G.n, name)
    if 0 <= index < G.n:
        raise ValueError(
            f"{name}: {index} is the number of the node {G.label(index)!r}, and the label of node {labelled}; write "
            f"G.vertex({index}) for the label, G.vertex({G.label(index)!r}) for the number"
        )
    return labelled


def _number(value: Any, count: int, name: str) -> int:
    """`value` as an int that is the number of one of `count` nodes."""
    if type(value) is int and 0 <= value < count:
        return value
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected the number of a node, got the Boolean {value}; write int({value})")
    try:
        index = operator.index(value)
    except TypeError:
        remedy = "give one node"
        if isinstance(value, (float, np.floating)):
            remedy = f"write int({name})"
        elif isinstance(value, (str, bytes)):
            remedy = "give the graph labels, as Graph(A, labels=...), to call its nodes by them"
        raise TypeError(
            f"{name}: expected the number of a node (an int), got {value!r} of type {type(value).__name__}; {remedy}"
        ) from None
    if not 0 <= index < count:
        if count == 0:
            raise IndexError(f"{name}: {index} names no node, for the graph has none; give a graph with nodes")
        raise IndexError(f"{name}: {index} is out of range for a graph of {count} nodes; nodes are 0 to {count - 1}")
    return index


def nearest_label(value: Any, labels: Any) -> str:
    """The end of a message with the labels that a misspelt text is near to; "" for others and for very many labels."""
    if not isinstance(value, str) or len(labels) > MOST_COMPARED:
        return ""
    return did_you_mean(value, {label for label in labels if isinstance(label, str)})


def nodes(values: Any, G: Any, name: str = "sources") -> list[int]:
    """The numbers of the vertices of G that `values`, any sequence, name; raises: as `node`."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name}: expected a sequence of nodes, got {values!r}; write [{values!r}] for one")
    values = values.tolist() if is_integers(values) else list(values)
    if G.labels is None and values and set(map(type, values)) == {int} and min(values) >= 0 and max(values) < G.n:
        return values  # the usual case, in a tenth of the time
    return [node(value, G, f"{name}[{k}]") for k, value in enumerate(values)]


def node_array(values: Any, G: Any, name: str = "sources") -> np.ndarray:
    """`nodes` as an array of INT64; an array of numbers is checked at once."""
    if is_integers(values) and G.labels is None and (not values.size or 0 <= values.min() <= values.max() < G.n):
        return values.astype(np.int64)
    return np.array(nodes(values, G, name), np.int64)


def is_integers(values: Any) -> bool:
    """Is it an array of integers with one axis, whose tolist() gives ints at once?"""
    return isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iu"


@overload
def limit(value: int, name: str) -> int: ...
@overload
def limit(value: None, name: str) -> None: ...
def limit(value: int | None, name: str) -> int | None:
    """`value` as an int >= 0, or None for no limit."""
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an int or None, got {value!r}; None means no limit")
    if value < 0:
        raise ValueError(f"{name}: expected 0 or more, got {value}; None means no limit")
    return operator.index(value)


def count(value: Any, name: str, least: int = 0) -> int:
    """`value` as an int >= `least`."""
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected an int, got {value!r} of type {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name}: expected {least} or more, got {value}")
    return operator.index(value)


def choice(value: str, allowed: Sequence[str], name: str) -> str:
    """`value` if it is among `allowed`."""
    if value not in allowed:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, allowed))}, got {value!r}")
    return value


def fraction(value: Any, name: str) -> float:
    """`value` as a float in [0, 1)."""
    number = real(value, name)
    if not 0 <= number < 1:
        raise ValueError(f"{name}: expected a number from 0 up to but without 1, got {value!r}; 0.85 is usual")
    return number


def real(value: Any, name: str) -> float:
    """`value` as a finite float."""
    try:
        number = float(value if not isinstance(value, (str, bytes, bool, np.bool_)) else "no number")
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected a number, got {value!r} of type {type(value).__name__}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name}: expected a finite number, got {value!r}")
    return number
