"""Sparse tensors of PyTorch, by stand-ins with its methods where it is not installed."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st

import grb_tile as gb
from grb_tile import algorithms as alg


class Tensor:
    """The methods of a tensor on the host that from_torch calls."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


class SparseTensor:
    """torch.Tensor with a sparse layout: its parts are those of a SciPy array."""

    def __init__(self, S, layout):
        self.S, self.layout, self.shape, self.ndim = S, f"torch.sparse_{layout}", S.shape, S.ndim

    def new(self, *args):
        raise AssertionError("it makes a tensor, and not what `new` of an expression makes")

    def coalesce(self):
        S = self.S.copy()
        S.sum_duplicates()
        return SparseTensor(S, "coo")

    def indices(self):
        return Tensor(np.stack(self.S.coords).astype(np.int64))

    def values(self):
        return Tensor(self.S.data)

    def crow_indices(self):
        return Tensor(self.S.indptr.astype(np.int64))

    ccol_indices = crow_indices

    def col_indices(self):
        return Tensor(self.S.indices.astype(np.int64))

    row_indices = col_indices


@given(
    entries=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-3, 3)), max_size=12),
    layout=st.sampled_from(["coo", "csr", "csc"]),
)
def test_every_layout(entries, layout):
    i, j, x = np.array(entries, np.int64).reshape(-1, 3).T
    S = sp.coo_array((x.astype(np.float32), (i, j)), shape=(4, 5))
    made = S if layout == "coo" else S.asformat(layout)
    found = gb.io.from_torch(SparseTensor(made, layout), name="T")
    places = {(a, b) for a, b, _ in entries}
    assert found.shape == (4, 5) and found.dtype.name == "FP32" and found.name == "T" and found.nvals == len(places)
    assert np.array_equal(found.to_dense(0), S.toarray())


def test_vectors_graphs_and_refusals():
    v = gb.io.from_torch(SparseTensor(sp.coo_array(([2.0, 3.0], ([4, 1],)), shape=(6,)), "coo"))
    assert v.to_dict() == {1: 3.0, 4: 2.0} and v.size == 6
    square = SparseTensor(sp.coo_array(([1, 1], ([0, 1], [1, 2])), shape=(3, 3)), "coo")
    assert alg.bfs(square, 0).to_dict() == {0: 0, 1: 1, 2: 2}
    with pytest.raises(TypeError, match="expected a sparse tensor, got ndarray; gb.io.from_numpy"):
        gb.io.from_torch(np.eye(2))
    square.layout = "torch.sparse_bsr"
    with pytest.raises(TypeError, match="sparse_coo, sparse_csr or sparse_csc, got torch.sparse_bsr"):
        gb.io.from_torch(square)
    square.shape = (2, 2, 2)
    with pytest.raises(ValueError, match=r"one or two dimensions was expected, got the shape \(2, 2, 2\)"):
        gb.io.from_torch(square)


def test_the_constructor_for_a_tensor_is_named():
    with pytest.raises(TypeError, match=r"write gb\.io\.from_torch\(x\)"):
        gb.Matrix(SparseTensor(sp.coo_array((3, 3)), "coo"))


def test_types_that_graphblas_does_not_have():
    tensor = SparseTensor(sp.coo_array((3, 3)), "coo")
    for name in ("torch.float16", "torch.bfloat16"):
        tensor.dtype = name
        with pytest.raises(TypeError, match=f"no type for {name}; write t.float"):
            gb.io.from_torch(tensor)


def test_pytorch_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="torch"):
        gb.io.to_torch(gb.Matrix(float, 2, 2))


@pytest.mark.filterwarnings("ignore")
def test_with_pytorch():
    """What GUIDE.md says, where PyTorch is installed."""
    torch = pytest.importorskip("torch")
    t = torch.sparse_coo_tensor(torch.tensor([[0, 0, 1, 1], [1, 1, 2, 0]]), torch.tensor([1.0, 2.0, 3.0, 0.0]), (3, 3))
    A = gb.io.from_torch(t)
    assert A.to_dicts() == {0: {1: 3.0}, 1: {0: 0.0, 2: 3.0}} and A.dtype.name == "FP32"
    for other in (t.coalesce().to_sparse_csr(), t.coalesce().to_sparse_csc()):
        assert gb.io.from_torch(other).isequal(A)
    assert alg.bfs(t, 0).to_dict() == {0: 0, 1: 1, 2: 2}
    assert alg.Graph(torch.ones(3, 3)).A.nvals == 9
    back = gb.io.to_torch(A)
    assert gb.io.from_torch(back).isequal(A) and bool((back.to_dense() == t.to_dense()).all())
    assert back.layout == torch.sparse_csr and back.dtype == torch.float32
    v = gb.Vector.from_coo([4, 1], [2, 3], size=6)
    assert gb.io.to_torch(v).to_dense().tolist() == [0, 3, 0, 0, 2, 0] and gb.io.from_torch(gb.io.to_torch(v)).isequal(
        v
    )
    assert torch.from_dlpack(gb.Vector.from_dense([1.0, 2.0])).tolist() == [1.0, 2.0]
    for bad, message in ((torch.eye(2), "gb.io.from_numpy"), (t.to(torch.bfloat16), "write t.float")):
        with pytest.raises(TypeError, match=message):
            gb.io.from_torch(bad)
    with pytest.raises(TypeError, match=r"write gb\.io\.from_torch\(x\)"):
        gb.Matrix(t)
