"""Searches on the device.  BFS: over rows, or over bit tiles where entries cluster (planner.search_over)."""

from ....planner import forced, forced_direction, forced_traversal, search_over
from ....planner.record import FREE
from ....storage.store import forms_of
from ..runtime.errors import on_device
from . import bfs as over_rows, bfs_tiles as over_tiles, sssp
from .bfs_multi import traverse_many


def bfs(device, A, AT, sources, levels, parents, max_level, target):
    """(level store | None, parent store | None, outcome), or NotImplemented for what has no kernel."""
    if type(sources) is not int and sources.shape[0] == 1:
        sources = int(sources[0])
    direction, format, tiles, result = None, None, None, NotImplemented
    if forced() is not FREE:
        direction, format = forced_direction(), forced().format
    if format is None and direction is None and AT is not None and forced_traversal() is None:
        format, tiles = _format_of(device, A)
    if format == "bittiled" or format in over_tiles.FORMATS:
        over = None if format == "bittiled" else format
        result = over_tiles.traverse(device, A, AT, sources, levels, parents, max_level, target, over)
        if result is not NotImplemented:
            outcome = result[2]
            outcome.tiles, outcome.method = tiles, over or "by level"
    if result is NotImplemented:
        result = over_rows.traverse(device, A, AT, sources, levels, parents, max_level, target, direction)
        if result is NotImplemented:
            return NotImplemented
        result[2].method, result[2].tiles = "rows" if AT is None else "by level", None
    return result


def _format_of(device, A):
    """(format, figures) that the planner chose for traversals of A, kept with it."""
    forms = forms_of(A)
    found = forms.get("search_over")
    if found is None:
        found = forms["search_over"] = search_over(A.nvals, *over_tiles.clustering(device, A))
    return found


def bfs_multi(device, A, AT, sources, levels, parents, max_level):
    """(levels | None, parents | None, [outcome of each batch of 64]), or NotImplemented."""
    return traverse_many(device, A, AT, sources, max_level, forced_direction(), levels, parents)


shortest_paths = on_device(sssp.shortest_paths)
