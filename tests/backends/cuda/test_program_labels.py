"""Labels of the columns of rows in loops on the device: the most frequent one, the least that is absent."""

import warnings

import numpy as np
import pytest
from backends.cuda.test_programs import N, matrix, on_the_device  # noqa: F401  (one is a fixture of each test)

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.algorithms import iteration
from grb_tile.exceptions import CaptureWarning


def most_frequent(A, x, turns):
    """Label propagation."""
    for _ in gb.loop(max_turns=turns):
        t = gb.graph.mode(A, x)
        x(t.S) << t
    return x


def test_labels_of_rows():
    """mode in a loop; labels that are no columns are an error of the call, as turn by turn."""
    program, A = gb.program(most_frequent, strict=True), matrix(3)
    for k in range(4):
        x, y = (gb.Vector.from_dense((np.arange(N) * 7 + k) % N) for _ in range(2))
        assert program(A, x, 4).isequal(most_frequent(A, y, 4)), k
        assert ("turns on the device" in program.explain()) == (k > 0), program.explain()
    wrong = np.arange(N)
    wrong[A.to_coo()[1][0]] = N
    program = gb.program(most_frequent)
    for labels in (np.arange(N), np.arange(N), wrong, np.arange(N)):
        x, y = (gb.Vector.from_dense(labels) for _ in range(2))
        try:
            wanted = most_frequent(A, y, 4)
        except Exception as error:  # noqa: BLE001
            with warnings.catch_warnings(), pytest.raises(type(error)):
                warnings.simplefilter("ignore", CaptureWarning)
                program(A, x, 4)
            assert labels is wrong and x.isequal(gb.Vector.from_dense(labels))
        else:
            assert labels is not wrong and program(A, x, 4).isequal(wanted)


def test_least_colours():
    def coloured(L, d):
        x = gb.Vector(int, L.nrows)
        f = gb.select.valueeq(d, 0).new()
        while f.nvals:
            x(f.S) << gb.graph.mex(L, x, mask=f.S)
            t = gb.semiring.plus_pair[gb.dtypes.INT64](L @ f).new()
            d("minus") << t
            f << gb.select.valueeq(d.dup(mask=t.S), 0)
        return x

    program, L = gb.program(coloured, strict=True), matrix(4).select("tril", -1).new()
    degrees = gb.Vector.from_scalar(0, N, int)
    degrees("plus") << L.reduce_rowwise("count").new(int)
    for k in range(3):
        assert program(L, degrees.dup()).isequal(coloured(L, degrees.dup()))
        assert ("turns on the device" in program.explain()) == (k > 0), program.explain()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("most", [0, 1, 3, 40])
@pytest.mark.parametrize("directed", [False, True])
def test_label_propagation_of_the_library(directed, most):
    """Rounds on the device from the second call on: the labels and the report of the loop from Python."""
    A = matrix(5, symmetric=not directed).apply("one").new()
    wanted = alg.label_propagation(alg.Graph(A.dup(), directed=directed), max_iter=most, callback=lambda row: False)
    G = alg.Graph(A, directed=directed)
    for _ in range(4):
        found = alg.label_propagation(G, max_iter=most)
        assert found.values.isequal(wanted.values)
        assert [row["changed"] for row in found.report.rounds] == [row["changed"] for row in wanted.report.rounds]
        assert (found.report.converged, found.report.stopped_by) == (wanted.report.converged, wanted.report.stopped_by)
    loop = iteration.turns_of(G, "label_propagation").loop
    assert loop is not None and (most < 3 or loop.reason is None), loop and loop.reason
