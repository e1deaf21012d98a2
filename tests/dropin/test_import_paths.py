"""What public programs import from inside python-graphblas, under the same paths here.

The list is of code that one finds on GitHub: graphblas-algorithms, CFPQ_PyAlgo and its forks, dask-grblas, programs of
courses and theses, and python-graphblas's own tests.  Each name exists in python-graphblas, too.
"""

import copy
import gc
import importlib
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import pytest

import grb_tile

theirs = pytest.importorskip("graphblas")
theirs.init("suitesparse", blocking=False)
ROOT = str(Path(grb_tile.__file__).resolve().parent.parent)

PATHS = {
    "core.base": [],
    "core.dtypes": [
        "BOOL", "FC32", "FC64", "FP32", "FP64", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32",
        "UINT64", "_INDEX", "DataType", "lookup_dtype", "register_anonymous", "register_new", "unify",
    ],
    "core.expr": ["AxisIndex", "InfixExprBase", "Updater"],
    "core.infix": [
        "MatrixEwiseAddExpr", "MatrixEwiseMultExpr", "MatrixInfixExpr", "MatrixMatMulExpr", "VectorEwiseAddExpr",
        "VectorEwiseMultExpr", "VectorInfixExpr", "VectorMatMulExpr", "ScalarMatMulExpr",
    ],
    "core.mask": [
        "Mask", "StructuralMask", "ValueMask", "ComplementedStructuralMask", "ComplementedValueMask",
    ],
    "core.matrix": ["Matrix", "MatrixExpression", "MatrixIndexExpr", "TransposedMatrix", "Vector"],
    "core.operator": [
        "Aggregator", "BinaryOp", "IndexUnaryOp", "Monoid", "OpBase", "ParameterizedUdf", "SelectOp", "Semiring",
        "TypedOpBase", "UnaryOp", "find_opclass", "get_semiring", "get_typed_op", "op_from_string", "unary_from_string",
    ],
    "core.recorder": ["Recorder"],
    "core.scalar": ["Scalar", "ScalarExpression", "ScalarIndexExpr"],
    "core.ss": ["_IS_SSGB7", "matrix", "vector", "version_major"],
    "core.ss.matrix": ["ss"],
    "core.ss.vector": ["ss"],
    "core.utils": ["_NP2", "ensure_type", "normalize_chunks", "output_type"],
    "core.vector": ["Vector", "VectorExpression", "VectorIndexExpr"],
    "dtypes": ["BOOL", "DataType", "lookup_dtype", "_supports_complex"],
    "dtypes.ss": ["register_new"],
    "exceptions": ["DimensionMismatch", "EmptyObject", "GraphblasException", "NoValue", "OutOfMemory"],
    "io": ["from_networkx", "mmread", "to_scipy_sparse"],
    "ss": ["about", "concat", "config", "diag"],
    "viz": ["draw", "spy"],
}  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_path_has_these_names(path):
    their, our = (importlib.import_module(f"{library}.{path}") for library in ("graphblas", "grb_tile"))
    for name in PATHS[path]:
        assert hasattr(their, name), f"graphblas.{path} has no {name}: take it out of the list"
        assert hasattr(our, name), f"grb_tile.{path} has no {name}"


@pytest.mark.parametrize("path", [path for path in PATHS if "." in path])
def test_path_can_be_the_first_import(path):
    """In a process of its own, as statement, as attribute of the package, and by `from`."""
    parent, _, last = path.rpartition(".")
    program = f"""
import grb_tile.{path}
from grb_tile.{parent} import {last} as by_from
import grb_tile as gb
assert gb.{path} is by_from
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"PYTHONPATH": ROOT}, check=False
    )
    assert done.returncode == 0, done.stderr


def test_attributes_need_no_import():
    program = "import grb_tile as gb\ngb.core.utils.ensure_type, gb.core.ss.matrix.ss, gb.core.operator.Semiring"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"PYTHONPATH": ROOT}, check=False
    )
    assert done.returncode == 0, done.stderr


def test_names_are_the_same_objects():
    """So that isinstance, `is` and pickle agree whichever path a name came by."""
    from grb_tile.core import dtypes, operator, utils
    from grb_tile.core.matrix import Matrix, Vector

    assert Matrix is grb_tile.Matrix and Vector is grb_tile.Vector
    assert dtypes.BOOL is grb_tile.dtypes.BOOL and dtypes.DataType is type(grb_tile.dtypes.BOOL)
    assert isinstance(grb_tile.semiring.plus_times, operator.Semiring)
    assert isinstance(grb_tile.agg.sum, operator.Aggregator)
    assert pickle.loads(pickle.dumps(operator.Monoid)) is operator.Monoid
    assert copy.copy(dtypes.FP64) is grb_tile.dtypes.FP64
    A = grb_tile.Matrix.from_coo([0], [1], [2.0], nrows=2, ncols=2)
    assert utils.output_type(A @ A) is grb_tile.Matrix and utils.output_type(1) is int
    assert utils.output_type(A.mxv(A[0, :].new())) is grb_tile.Vector


def test_ensure_type_computes_without_autocompute():
    from grb_tile.core.utils import ensure_type

    A = grb_tile.Matrix.from_coo([0, 1], [1, 0], [2.0, 3.0])
    with grb_tile.config.set(autocompute=False):
        assert ensure_type(A, grb_tile.Matrix) is A
        assert ensure_type(A.T, (grb_tile.Vector, grb_tile.Matrix, type(A.T))).ncols == 2
        assert ensure_type(A @ A, grb_tile.Matrix).isequal((A @ A).new())
        assert type(ensure_type(A[0, :], (grb_tile.Matrix, grb_tile.Vector))) is grb_tile.Vector
        for wrong in (A[0, :], A.T, 5, None):
            with pytest.raises(TypeError, match="is not of type"):
                ensure_type(wrong, grb_tile.Matrix)


def test_tools_may_hold_a_weak_reference(monkeypatch):
    """CFPQ_PyAlgo replaces `core.ss.matrix.ss.__init__`, so that `A.ss` keeps a weak reference to A."""
    cls = grb_tile.core.ss.matrix.ss
    old = cls.__init__
    monkeypatch.setattr(cls, "__init__", lambda self, parent: old(self, weakref.proxy(parent)))
    A = grb_tile.Matrix.from_coo([0, 1], [1, 0], [2.0, 3.0])
    tools = A.ss
    assert tools.format == "csr" and tools.export("coo")["nrows"] == 2
    A.ss.config["format"] = "by_row"
    assert grb_tile.Matrix.ss.deserialize(A.ss.serialize()).isequal(A)
    seen = weakref.ref(A)
    del A
    gc.collect()
    assert seen() is None
