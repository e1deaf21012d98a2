"""Operands of bench_cells.py --backend cuda: those that tests/calls names, at a size that fills a GPU.

A, B, C: rows x columns; Q: rows x rows; R: columns x columns; K and L: factors of a Kronecker product; M, N: Boolean
matrices of A's shape; u, v, m: vectors of as many positions as A has columns; w, x, n: as many as it has rows.  Values
are whole numbers from -3 to 3 in every type, so that sums are exact whatever their order.  Sparse matrices are made by
grb_tile.generators, so that one seed makes the same matrix on every backend.
"""

import numpy as np

import grb_tile as gb
from grb_tile import generators
from grb_tile.backends import select

TYPES = ("BOOL", "INT64", "FP32", "FP64")
MATRIX_FORMS = ("csr", "dcsr", "iso", "bitmap", "full")
VECTOR_FORMS = ("full", "bitmap", "list")
DENSE = ("bitmap", "full")
SCALES = {"sparse": 20, "tiny": 6}  # log2 of the columns of a sparse matrix
EDGES = 11  # of a row, before those that are drawn twice
DENSE_COLUMNS = {"sparse": 3304, "tiny": 21}
SHARE = {"full": 1.0, "bitmap": 0.5, "list": 0.01}  # of a vector's positions
TINY_SHARE = 0.2  # of those of a tiny list
SEEDS = {name: 101 + k for k, name in enumerate("ABCQRKLMNuvwxmn")}


class Operands:
    """The operands as attributes, each made when it is first asked for; `keep` has what cells derive of them.

    shelf: what operands of other forms and types may share, a dictionary.
    """

    def __init__(self, matrices, vectors, dtype, size="sparse", shelf=None):
        self.matrices, self.vectors, self.type_name, self.size = matrices, vectors, dtype, size
        self.shelf = {} if shelf is None else shelf
        self.columns = DENSE_COLUMNS[size] if matrices in DENSE else 1 << SCALES[size]
        self.rows = self.columns * 5 // 7
        self.kept = {}
        self.read_by = {}  # label of a cell -> names of the operands that it reads

    def __getattr__(self, name):
        if name not in SEEDS and name not in "steb":
            raise AttributeError(name)
        vector = name in "uvmwxn"
        key = name, self.vectors if vector else self.matrices, self.type_name, self.columns
        if key not in self.shelf:
            make = self._scalar if name in "steb" else self._vector if vector else self._matrix
            self.shelf[key] = make(name).wait()
        setattr(self, name, self.shelf[key])
        return self.shelf[key]

    def keep(self, name, make):
        """make(), once."""
        if name not in self.kept:
            self.kept[name] = make()
        return self.kept[name]

    def _scalar(self, name):
        if name == "b":
            return gb.Scalar.from_value(True, gb.dtypes.BOOL)
        dtype = getattr(gb.dtypes, self.type_name)
        return gb.Scalar(dtype) if name == "e" else gb.Scalar.from_value({"s": 3, "t": 5}[name], dtype)

    # ------------------------------------------------------------------ vectors

    def _vector(self, name):
        length = self.columns if name in "uvm" else self.rows
        rng = np.random.default_rng(SEEDS[name])
        dtype = "BOOL" if name in "mn" else self.type_name
        share = TINY_SHARE if self.size == "tiny" and self.vectors == "list" else SHARE[self.vectors]
        at = np.arange(length) if share == 1 else np.flatnonzero(rng.random(length) < share)
        made = gb.Vector.from_coo(at, whole_numbers(rng, at.size, dtype), dtype, size=length)
        return in_form(made, {"list": "sparse"}.get(self.vectors, self.vectors))

    # ------------------------------------------------------------------ matrices

    def _matrix(self, name):
        m, n, third = self.rows, self.columns, self.columns // 7
        if name == "L":
            rng = np.random.default_rng(SEEDS[name])
            return in_form(gb.Matrix.from_dense(whole_numbers(rng, 6, self.type_name).reshape(3, 2)), "full")
        shape = {"Q": (m, m), "R": (n, n), "K": (2 * third, 3 * third)}.get(name, (m, n))
        dtype = "BOOL" if name in "MN" else self.type_name
        if self.matrices in DENSE:
            return self._dense(name, shape, dtype)
        made = self._graph(name)[: shape[0], : shape[1]].new()
        if self.matrices == "iso":
            return gb.unary.one[dtype](made).new()
        if dtype == "BOOL":
            made = gb.binary.gt(made, 0).new()
        elif dtype != "INT64":
            made = made.dup(dtype)
        return in_form(made, self.matrices)

    def _graph(self, name):
        """Edges by rows that differ somewhat in length; three graphs are shared by all matrices."""
        key = "graph", {"Q": "A", "K": "A", "R": "B", "M": "C", "N": "A"}.get(name, name), self.size
        if key not in self.shelf:
            self.shelf[key] = generators.rmat(
                SCALES[self.size], EDGES, 0.4, 0.2, 0.2, shuffle=True, weights=(-3, 3), dtype="INT64",
                seed=SEEDS[key[1]],
            )  # fmt: skip
        return self.shelf[key]

    def _dense(self, name, shape, dtype):
        rng = np.random.default_rng(SEEDS[name])
        if self.matrices == "full":
            return in_form(gb.Matrix.from_dense(whole_numbers(rng, shape[0] * shape[1], dtype).reshape(shape)), "full")
        at = np.flatnonzero(rng.random(shape[0] * shape[1]) < 0.5)
        made = gb.Matrix.from_coo(
            at // shape[1], at % shape[1], whole_numbers(rng, at.size, dtype), dtype, nrows=shape[0], ncols=shape[1]
        )
        return in_form(made, "bitmapr")


def whole_numbers(rng, count, dtype):
    """`count` values from -3 to 3 of the type."""
    kind = {"BOOL": np.bool_, "INT64": np.int64, "FP32": np.float32, "FP64": np.float64}[dtype]
    return (rng.integers(-3, 4, count, np.int8) > 0) if dtype == "BOOL" else rng.integers(-3, 4, count).astype(kind)


def in_form(x, form):
    """The object with its store where the backend in use computes, in that form."""
    backend = select.current()
    x._store = backend.to_device(x._store)
    if form != "full" and backend.name != "reference":  # full is what has all positions
        x._store = backend.convert(x._store, form)
    return x


def copied(x):
    """A copy that shares no array with x, as objects have that were written last by their owner."""
    if x.ndim == 0:
        return x.dup()
    x.wait()
    made = x.dup()
    made._store = x._store.moved(lambda array: array if array is None else array.copy())
    return made


def key_of(store):
    """What two stores of the same arrays have in common."""
    flat = getattr(store, "flat", store)
    return id(getattr(flat, "values", flat))


def entries_bytes(store):
    """Bytes of a store's indices and values."""
    return int(getattr(store, "flat", store).nbytes)
