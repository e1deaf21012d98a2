"""Stand-ins for the tables and graphs of packages that the tests do not install, with the methods that io uses."""

import numpy as np


class _Column:
    def __init__(self, values):
        self.values = values

    def to_numpy(self):
        """Objects for texts; numbers with a null become floats, as Arrow and Polars do."""
        numbers = [each for each in self.values if each is not None]
        if any(isinstance(each, str) for each in numbers):
            return np.array(self.values, object)
        return np.array([np.nan if each is None else each for each in self.values])

    def is_null(self):
        return _Column([each is None for each in self.values])


class PolarsColumn(_Column):
    def null_count(self):
        return self.values.count(None)


class ArrowColumn(_Column):
    @property
    def null_count(self):
        return self.values.count(None)


class PolarsFrame:
    """polars.DataFrame: columns, get_column."""

    def __init__(self, columns):
        self._columns, self.columns = columns, list(columns)

    def get_column(self, name):
        return PolarsColumn(list(self._columns[name]))


class ArrowTable:
    """pyarrow.Table: column_names, column; `columns` is a list of arrays there."""

    def __init__(self, columns):
        self._columns, self.column_names = columns, list(columns)
        self.columns = [ArrowColumn(list(each)) for each in columns.values()]

    def column(self, name):
        return ArrowColumn(list(self._columns[name]))


class _Sequence:
    def __init__(self, attributes):
        self._attributes = attributes

    def attributes(self):
        return list(self._attributes)

    def __getitem__(self, name):
        return self._attributes[name]


class Igraph:
    """igraph.Graph: vcount, is_directed, get_edgelist, es, vs."""

    def __init__(self, count, edges, directed, es=None, vs=None):
        self._count, self._edges, self._directed = count, edges, directed
        self.es, self.vs = _Sequence(es or {}), _Sequence(vs or {})

    def vcount(self):
        return self._count

    def is_directed(self):
        return self._directed

    def get_edgelist(self):
        return list(self._edges)
