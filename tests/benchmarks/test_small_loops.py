"""The benchmark of small loops: both libraries run the same text and end with the same vector, on both graphs."""

import pytest
from bench_small_loops import LOOPS, VERTICES, compare, edges


@pytest.mark.parametrize("kind", ["random", "grid"])
@pytest.mark.parametrize("name", LOOPS)
def test_both_libraries_agree(name, kind):
    graphblas = pytest.importorskip("graphblas")
    import grb_tile

    i, j, x = edges(kind)
    found = [
        LOOPS[name](library, library.Matrix.from_coo(i, j, x, nrows=VERTICES, ncols=VERTICES))
        for library in (grb_tile, graphblas)
    ]
    compare(*found)
    assert found[0].nvals == VERTICES
