"""The benchmark of small writes runs every cell and loop, and both libraries end with the same contents."""

import bench_small_writes


def test_every_cell_agrees():
    lines = list(bench_small_writes.run(2000, 2, 40))
    assert len(lines) == len(bench_small_writes.CELLS) + len(bench_small_writes.LOOPS) + 5
