"""The table of single operations: every cell's results agree with SuiteSparse's at the smallest size."""

import bench_cells
import pytest
from cell_operands import SIZES, Operands
from cell_operations import CELLS


@pytest.fixture(scope="module")
def both():
    import graphblas

    import grb_tile

    return [(library, Operands(library, *SIZES["tiny"])) for library in (grb_tile, graphblas)]


def test_the_table_has_at_least_130_operations():
    assert len(CELLS) >= 130


@pytest.mark.parametrize("name, make", [(name, make) for name, make, sizes in CELLS if "tiny" in sizes])
def test_a_cell_computes_the_same_in_both_libraries(name, make, both):
    ours, theirs = (make(*side) for side in both)
    bench_cells.same(bench_cells.finished(ours()), bench_cells.finished(theirs()))


def test_results_that_differ_are_not_timed(both):
    with pytest.raises(AssertionError):
        bench_cells.run_cell(lambda g, o: lambda: o.A.nvals + ("grb_tile" in g.__name__), *both, 0)
