"""The graphs of `--generate`, made by grb_tile.generators."""

import time

from grb_tile.cli.main import UsageError

SPECS = "kron:SCALE[:EDGE_FACTOR], uniform:SCALE[:EDGE_FACTOR], grid:SIDE, fem:SIDE"
LIMITS = {"kron": (30, 1024), "uniform": (30, 1024), "grid": (40000,), "fem": (500,)}


def parsed(text):
    """(kind, numbers) of a specification such as kron:20:16.  Raises: UsageError.

    >>> from grb_tile.cli.generate import parsed
    >>> parsed("kron:20"), parsed("grid:100")
    (('kron', (20, 16)), ('grid', (100,)))
    """
    kind, *numbers = text.split(":")
    most = LIMITS.get(kind)
    if (
        most is None
        or not 1 <= len(numbers) <= len(most)
        or not all(part.isascii() and part.isdigit() for part in numbers)
    ):
        raise UsageError(f"--generate {text}: expected one of {SPECS}")
    numbers = (*map(int, numbers), 16)[: len(most)]
    for number, limit in zip(numbers, most):
        if not 1 <= number <= limit:
            raise UsageError(f"--generate {text}: {number} is out of range, expected 1 to {limit} there ({SPECS})")
    return kind, numbers


def matrix(text, seed, weights=None, progress=None):
    """The Matrix of a specification: undirected; BOOL unless `weights` are (low, high).  Raises: UsageError.

    kron     Graph500's Kronecker graph
    uniform  2^SCALE nodes, 2^SCALE * EDGE_FACTOR edges between nodes drawn at random
    grid     SIDE x SIDE nodes, four neighbours each
    fem      three unknowns on each node of a cube of SIDE x SIDE x SIDE; with loops; `weights` has no effect
    """
    from grb_tile import generators

    kind, numbers = parsed(text)
    if kind == "fem":
        return generators.brick_mesh(*numbers)
    if kind == "grid":
        return generators.grid(*numbers * 2, weights=weights, seed=seed)
    scale, factor = numbers
    if kind == "kron":
        return generators.kronecker(scale, factor, weights=weights, seed=seed, progress=progress)
    return generators.uniform_random(1 << scale, factor << scale, weights=weights, seed=seed, progress=progress)


def load(args, progress):
    """The generated graph as a Loaded, as inputs.load returns it of a file."""
    from grb_tile.backends import select
    from grb_tile.cli.inputs import Loaded

    started = time.perf_counter()
    made = matrix(args.generate, args.seed, progress=progress)
    made.name = args.generate
    select.current().synchronize()
    return Loaded(
        args.generate,
        made,
        None,
        "generated",
        0,
        time.perf_counter() - started,
    )
