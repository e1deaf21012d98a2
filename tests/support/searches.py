"""gb.graph's searches of stores: a matrix and, where it is not symmetric, its transpose made beforehand."""

import grb_tile as gb


def _asked(A, AT):
    assert AT is None or AT is A or gb.backends.select.current().transpose(A).nvals == AT.nvals
    return gb.Matrix._from_store(A), {"symmetric": AT is A}


def bfs(A, AT, sources, **options):
    """(store of levels | None, of parents | None, LoopReport); AT None: push alone."""
    matrix, given = _asked(A, AT)
    found = gb.graph.bfs(matrix, sources, **given, pull=AT is not None, **options)
    return *(None if x is None else x._store for x in found[:2]), found.report


def bfs_multi(A, AT, sources, **options):
    """The same of many sources, or None."""
    matrix, given = _asked(A, AT)
    found = gb.graph.bfs_multi(matrix, sources, **given, **options)
    return None if found is None else (*(None if x is None else x._store for x in found[:2]), found.report)
