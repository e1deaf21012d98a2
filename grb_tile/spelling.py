"""What a misspelt name may have meant: the same words at the end of every error about an unknown name.

Reference: Ratcliff, Metzener, "Pattern matching: the gestalt approach" (1988), as in difflib of Python.
"""

from __future__ import annotations

from collections.abc import Iterable

MOST = 3  # names that an error suggests
LEAST_RATIO = 0.7  # of characters that agree: 'plsu' and 'plus' have 0.75, 'min_plsu' and 'min_lor' 0.67


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """ "; did you mean 'plus'?" with the nearest of `names`, at most three; "" where none is near.

    >>> did_you_mean("pluss", ["minus", "plus", "times"])
    "; did you mean 'plus'?"
    >>> did_you_mean("xyz", ["minus", "plus", "times"])
    ''
    """
    from difflib import get_close_matches

    near = [repr(found) for found in get_close_matches(str(name), sorted(names), MOST, LEAST_RATIO)]
    if not near:
        return ""
    return f"; did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?"


def no_attribute(owner: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error for `owner` (a text such as "module 'grb_tile.binary'") without the attribute `name`.

    Private names get no suggestion: tools ask for many of them.  With `name` Python adds no suggestion of its own.
    """
    near = "" if name.startswith("_") else did_you_mean(name, names)
    return AttributeError(f"{owner} has no attribute {name!r}{near}", name=name)
