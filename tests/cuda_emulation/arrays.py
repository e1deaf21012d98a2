"""Device arrays for the shim: NumPy arrays of a class of their own that refuse to meet NumPy's, as CuPy's do.

A primitive that hands a host array to a kernel, adds a host array to a device array, or reads a device array as if it
lay
on the host would fail on a GPU; here it raises TypeError (numpy.asarray is wrapped for that).  As with CuPy, elements
and reductions are arrays of no dimension, `get()` copies to the host, and `xp` has the functions of the array module.

>>> import numpy as np
>>> x = xp.arange(3)
>>> x + np.arange(3)
Traceback (most recent call last):
    ...
TypeError: add: a host array met a device array
>>> (x + 1).get().tolist(), type(x.sum()).__name__
([1, 2, 3], 'DeviceArray')
"""

import numpy as np


class DeviceArray(np.ndarray):
    """An array on the "device"."""

    def get(self):
        """A copy on the host."""
        return np.array(self.view(np.ndarray))

    def tolist(self):
        return self.view(np.ndarray).tolist()

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        _refuse_host(ufunc.__name__, inputs)
        if out is not None:
            _refuse_host(ufunc.__name__, out)
            kwargs["out"] = tuple(_plain(x) for x in out)
        found = getattr(ufunc, method)(*map(_plain, inputs), **{k: _plain(v) for k, v in kwargs.items()})
        return out[0] if out is not None else to_device(found)

    def __array_function__(self, function, types, args, kwargs):
        _refuse_host(function.__name__, _leaves((args, tuple(kwargs.values()))))
        return to_device(function(*_map(args), **{k: _map(v) for k, v in kwargs.items()}))

    def __getitem__(self, key):
        _refuse_host("index", _leaves(key))
        return to_device(self.view(np.ndarray)[_map(key)])

    def __setitem__(self, key, value):
        _refuse_host("assignment", _leaves((key, value)))
        self.view(np.ndarray)[_map(key)] = _plain(value)


def _method(name):
    def call(self, *args, **kwargs):
        _refuse_host(name, _leaves((args, tuple(kwargs.values()))))
        plain = {k: _map(v) for k, v in kwargs.items()}
        return to_device(getattr(self.view(np.ndarray), name)(*_map(args), **plain))

    return call


for _name in (
    "nonzero",
    "searchsorted",
    "take",
    "argsort",
    "cumsum",
    "sum",
    "max",
    "min",
    "any",
    "all",
    "argmax",
    "argmin",
):
    setattr(DeviceArray, _name, _method(_name))


def _plain(x):
    return x.view(np.ndarray) if isinstance(x, DeviceArray) else x


def _map(x):
    if isinstance(x, (tuple, list)):
        return type(x)(_map(part) for part in x)
    return _plain(x)


def _leaves(x):
    if isinstance(x, (tuple, list)):
        for part in x:
            yield from _leaves(part)
    else:
        yield x


def _refuse_host(what, values):
    for x in values:
        if type(x) is np.ndarray:
            raise TypeError(f"{what}: a host array met a device array")


def to_device(x):
    """Arrays and NumPy scalars as DeviceArrays (no copy); tuples of them too."""
    if isinstance(x, tuple):
        return tuple(to_device(part) for part in x)
    if isinstance(x, np.ndarray):
        return x.view(DeviceArray)
    return np.array(x).view(DeviceArray) if isinstance(x, np.generic) else x


def _asarray(data, *args, _asarray=np.asarray, **kwargs):
    """numpy.asarray from now on: it sees a DeviceArray as an array like any other, where CuPy's arrays raise."""
    if isinstance(data, DeviceArray):
        raise TypeError("asarray: implicit conversion of a device array; use get()")
    return _asarray(data, *args, **kwargs)


np.asarray = _asarray


class ArrayModule:
    """NumPy's functions on DeviceArrays."""

    ndarray = DeviceArray

    def asarray(self, data, dtype=None):
        """Moves host data (a copy), leaves device arrays."""
        if isinstance(data, DeviceArray):
            return data if dtype is None or data.dtype == dtype else data.astype(dtype)
        return np.array(data, dtype).view(DeviceArray)

    array = asarray

    def __getattr__(self, name):
        function = getattr(np, name)
        if isinstance(function, type) or not callable(function):
            return function

        def call(*args, **kwargs):
            _refuse_host(name, _leaves((args, tuple(kwargs.values()))))
            return to_device(function(*_map(args), **{k: _map(v) for k, v in kwargs.items()}))

        self.__dict__[name] = call
        return call


xp = ArrayModule()
