"""Stand-ins for the modules `awkward` and `sparse`, with the classes and functions that io uses."""

import types

import numpy as np
import scipy.sparse


class _Layout:
    parameters: dict = {}


class _NumpyArray(_Layout):
    def __init__(self, data):
        self.data = data


class _Index64:
    def __init__(self, data):
        self.data = data


class _ListOffsetArray(_Layout):
    def __init__(self, offsets, content):
        self.offsets, self.content = offsets, content


class _RecordArray(_Layout):
    def __init__(self, contents, fields):
        self.contents, self.fields = contents, fields


def _field(layout, name):
    """A field of records, or of lists of records."""
    if isinstance(layout, _ListOffsetArray):
        return _ListOffsetArray(layout.offsets, _field(layout.content, name))
    return layout.contents[layout.fields.index(name)]


def awkward():
    """A module with its own behaviours."""

    class Array:
        def __init__(self, layout, parameters=()):
            self.layout = layout
            layout.parameters = dict(parameters)

        def __getattr__(self, name):
            record = self.layout.content if isinstance(self.layout, _ListOffsetArray) else self.layout
            if name not in record.fields:
                raise AttributeError(name)
            return Array(_field(self.layout, name))

    module = types.ModuleType("awkward")
    module.behavior, module.Array = {}, Array
    module.contents = types.SimpleNamespace(
        NumpyArray=_NumpyArray, ListOffsetArray=_ListOffsetArray, RecordArray=_RecordArray
    )
    module.index = types.SimpleNamespace(Index64=_Index64)
    module.with_parameter = lambda array, key, value: Array(array.layout, {**array.layout.parameters, key: value})
    module.with_name = lambda array, name: module.behavior["*", name](array.layout, array.layout.parameters)
    return module


def sparse():
    """A module whose arrays of every class hold coordinates."""

    class SparseArray:
        def __init__(self, coords, data, shape):
            self.coords, self.data, self.shape = np.asarray(coords), np.asarray(data), tuple(shape)
            self.ndim, self.dtype = len(self.shape), self.data.dtype

        @classmethod
        def from_scipy_sparse(cls, x):
            x = x.tocoo()
            return cls((x.row, x.col), x.data, x.shape)

        def to_scipy_sparse(self):
            return scipy.sparse.coo_array((self.data, tuple(self.coords)), shape=self.shape).tocsr()

        def asformat(self, format):
            return {"coo": COO, "dok": DOK, "gcxs": GCXS}[format](self.coords, self.data, self.shape)

    class COO(SparseArray):
        pass

    class DOK(SparseArray):
        pass

    class GCXS(SparseArray):
        pass

    module = types.ModuleType("sparse")
    module.SparseArray, module.COO, module.DOK, module.GCXS = SparseArray, COO, DOK, GCXS
    return module
