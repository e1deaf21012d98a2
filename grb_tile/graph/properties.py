"""Properties of a matrix that are computed once: kept with its entries, and gone when one of them changes.

    graph.cached(A, key, make)           the result of make() at the first use of the key
    graph.is_symmetric(A)                A = A'
    graph.is_symmetric_structure(A)      the same of the structure

Each way to write to A drops them, so that none is stale: an element, an assignment, a change in place.  A copy of A
(`dup`) has them too until one of the two is written to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import unary
from ..core.matrix import Matrix
from ..storage import properties
from .operands import own_transpose, store_of

_A = object()  # in place of a matrix with A's own store, which would keep itself alive


def cached(A: Matrix, key: Any, make: Callable[[], Any]) -> Any:
    """The result of `make()` at the first use of `key` with the entries that A has now.

    key    hashable, and enough to tell the value: options that it depends on are part of it
    make   derives the value from A.  It may be A itself, but no object that refers to A

    Raises: TypeError where A is no Matrix; what `make` raises, and then nothing is kept.
    Cost: a look-up in two dictionaries where the value is known.

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1], [1, 0], [2.0, 3.0])
    >>> def most():
    ...     print("computed")
    ...     return float(A.reduce_scalar("max").new().value)
    >>> gb.graph.cached(A, "most", most), gb.graph.cached(A, "most", most)
    computed
    (3.0, 3.0)
    >>> A[0, 0] = 7
    >>> gb.graph.cached(A, "most", most)
    computed
    7.0
    """
    store = store_of(A)

    def made() -> Any:
        value = make()
        return _A if isinstance(value, Matrix) and value._store is store else value

    found = properties.cached(store, key, made)
    return A if found is _A else found


def known(A: Matrix) -> dict[Any, Any]:
    """{key: value} of the cached properties of A.  Raises: TypeError.

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1], [1, 0])
    >>> gb.graph.is_symmetric(A), gb.graph.known(A)
    (True, {'is_symmetric': True})
    """
    return {key: A if value is _A else value for key, value in properties.known(store_of(A)).items()}


def forget(A: Matrix, *keys: Any) -> None:
    """Drop the cached properties of A, or those of the keys alone, which frees their memory.  Raises: TypeError."""
    properties.forget(store_of(A), keys)


def is_symmetric(A: Matrix) -> bool:
    """A = A', in structure and values; kept with A.  NaN is not equal to NaN, and only square matrices are symmetric.

    Raises: TypeError where A is no Matrix.
    Cost: the transpose, which is kept with A unless it is equal to it, and one comparison.

    >>> import grb_tile as gb
    >>> gb.graph.is_symmetric(gb.Matrix.from_coo([0, 1], [1, 0], [2, 3]))
    False
    """
    return own_transpose(store_of(A))


def is_symmetric_structure(A: Matrix) -> bool:
    """A(j, i) exists for each A(i, j); kept with A.

    Raises: TypeError where A is no Matrix.
    Cost: as `is_symmetric`, and where values differ a second comparison.

    >>> import grb_tile as gb
    >>> gb.graph.is_symmetric_structure(gb.Matrix.from_coo([0, 1], [1, 0], [2, 3]))
    True
    """
    store = store_of(A)

    def compare() -> bool:
        return own_transpose(store) or (
            store.nrows == store.ncols and unary.one(A).new().isequal(unary.one(A.T.new()).new())
        )

    return properties.cached(store, "is_symmetric_structure", compare)
