"""What a type checker finds in a user's program: .ci/run checks it with mypy --strict, which reports each comment that
ignores nothing.  It is not run.
"""

from typing import assert_type

import grb_tile as gb
from grb_tile import algorithms


def misspelt(A: gb.Matrix, v: gb.Vector, s: gb.Scalar) -> None:
    A.mxvv(v)  # type: ignore[attr-defined]
    A.nvasl  # type: ignore[attr-defined]
    A.T.mmx(A)  # type: ignore[attr-defined]
    v.reducee()  # type: ignore[attr-defined]
    v.sizee  # type: ignore[attr-defined]
    s.valeu  # type: ignore[attr-defined]
    A.mxv(v).new().to_numppy()  # type: ignore[attr-defined]
    algorithms.pagerankk(A)  # type: ignore[attr-defined]
    algorithms.louvain(A).lables  # type: ignore[attr-defined]
    algorithms.connected_components(A).labels.to_coo_()  # type: ignore[attr-defined]


def results(A: gb.Matrix, v: gb.Vector) -> None:
    assert_type(A.mxv(v).new(mask=v.S), gb.Vector)
    assert_type(A.mxm(A).new(mask=A.S), gb.Matrix)
    assert_type(A.reduce_rowwise().new(), gb.Vector)
    assert_type(A.reduce_scalar().new(), gb.Scalar)
    assert_type(v.reduce().new(), gb.Scalar)
    assert_type(A[0, 1].new(), gb.Scalar)
    assert_type(A[0, :].new(), gb.Vector)
    assert_type(A[[0, 1], 2].new(mask=v.S), gb.Vector)
    assert_type(A[:, [1, 2]].new(mask=A.S), gb.Matrix)
    assert_type(A.T[0, :].new(), gb.Vector)
    assert_type(v[0].new(), gb.Scalar)
    assert_type(v[[0, 1]].new(mask=v.S), gb.Vector)
    assert_type(algorithms.connected_components(A).labels, gb.Vector)
    assert_type(algorithms.triangle_count(A), int)
