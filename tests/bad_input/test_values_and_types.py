"""Messages, assignments, types and environment variables where python-graphblas says less, or something else."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.library import LIBRARY, gb

if LIBRARY == "graphblas":
    pytest.skip("these are grb_tile's own", allow_module_level=True)

ROOT = Path(__file__).resolve().parents[2]


def test_the_message_names_the_index_that_is_wrong():
    for indices, bad in (([2**70, 1], 2**70), ([1, 2**70], 2**70), ([3, -4], -4), ([1, 2, -(2**80)], -(2**80))):
        for make in (
            lambda indices: gb.Vector.from_coo(indices, [1] * len(indices)),
            lambda indices: gb.Matrix.from_coo(indices, [0] * len(indices), [1] * len(indices)),
            lambda indices: gb.Matrix.from_coo([0] * len(indices), indices, [1] * len(indices)),
            lambda indices: gb.Vector(int, 5).build(indices, [1] * len(indices)),
        ):
            with pytest.raises((OverflowError, IndexError, gb.exceptions.GraphblasException)) as raised:
                make(indices)
            assert str(bad) in str(raised.value)


def test_a_dimension_of_zero_has_no_positions():
    with pytest.raises(gb.exceptions.IndexOutOfBound, match="index 5 .* the dimension is 0"):
        gb.Vector.from_coo([5], [1], size=0)


@pytest.mark.parametrize("name", ["dtype", "shape", "nvals"])
def test_what_belongs_to_the_values_cannot_be_assigned(name):
    A = gb.Matrix.from_coo([0], [0], [5])
    for obj in (A, A[0, :].new(), A[0, 0].new()):
        with pytest.raises(AttributeError, match=name if name != "shape" else None):
            setattr(obj, name, gb.dtypes.INT8)
        assert obj.dtype is gb.dtypes.INT64


def test_numbers_of_another_byte_order_are_numbers():
    for code, dtype in ((">i4", "INT32"), (">u8", "UINT64"), (">f8", "FP64"), (">c8", "FC32")):
        values = np.array([1, 2], code)
        for obj in (
            gb.Vector.from_dense(values),
            gb.Vector.from_coo([0, 1], values),
            gb.Matrix.from_csr([0, 2], [0, 1], values),
            gb.io.from_csr(np.array([0, 2]), np.array([0, 1]), values, ncols=2),
        ):
            assert (
                obj.dtype.name == dtype
                and (obj.reduce if obj.ndim == 1 else obj.reduce_scalar)("plus").new().value == 3
            )
        with pytest.raises(ValueError, match="byte order"):
            gb.Vector(np.dtype(code), 3)
    with pytest.raises(ValueError, match="long double"):
        gb.Vector.from_dense(np.array([1, 2], np.longdouble))
    assert gb.Vector.from_dense(np.array([1, 2], np.longdouble), dtype="FP64").dtype.name == "FP64"


def test_a_matrix_without_columns_takes_no_memory():
    for shape in ((400_000_000, 0), (0, 400_000_000)):
        A = gb.Matrix.from_dense(np.zeros(shape, np.int8))
        assert A.shape == shape and A.nvals == 0 and A._store.nbytes < 1000


@pytest.mark.parametrize(
    ("name", "value"),
    [("GRB_TILE_THREADS", "foo"), ("GRB_TILE_THREADS", "0"), ("GRB_TILE_THREADS", "-2"), ("GRB_TILE_JIT", "foo")],
)
def test_a_wrong_environment_variable_is_named(name, value):
    done = subprocess.run(
        [sys.executable, "-m", "grb_tile", "bfs", str(ROOT / "examples" / "data" / "karate.txt")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GRB_TILE_JIT": "always", name: value},
        timeout=120,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert f"{name}={value!r}" in done.stderr
