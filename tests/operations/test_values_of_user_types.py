"""Values of user-defined types, records and arrays, written everywhere that a number may be, against NumPy arrays."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from support.seeds import generator

TRIPLE = gb.dtypes.lookup_dtype(np.dtype((np.int16, (3,))))
RECORD = gb.dtypes.lookup_dtype(np.dtype([("x", np.int32), ("y", np.float64)]))
VALUES = {
    "array": (TRIPLE, np.array([7, -1, 2], np.int16)),
    "list": (TRIPLE, [7, -1, 2]),
    "record": (RECORD, np.array((3, 0.5), RECORD.np_type)[()]),
    "tuple": (RECORD, (3, 0.5)),
}
SHAPE = 4, 5
REGIONS = {
    "lists": ([3, 0], [1, 4]),
    "slices": (slice(1, 3), slice(None, None, 2)),
    "all": (slice(None), slice(None)),
    "row": (2, slice(None)),
    "part of a row": (2, [4, 0]),
    "column": (slice(None), 3),
    "part of a column": ([1, 3], 3),
    "element": (1, 4),
    "vector, list": ([3, 0],),
    "vector, all": (slice(None),),
    "vector, element": (2,),
}


def made(rng, dtype, shape):
    """(the presence, the values, the object) of a Matrix or Vector, about half of whose positions have an entry."""
    present = rng.random(shape) < 0.5
    held = np.zeros(shape, RECORD.np_type) if dtype is RECORD else np.zeros((*shape, 3), np.int16)
    if dtype is RECORD:
        held["x"], held["y"] = rng.integers(0, 9, shape), rng.random(shape)
    else:
        held[:] = rng.integers(0, 9, (*shape, 3))
    where = present.nonzero()
    if len(shape) == 1:
        return present, held, gb.Vector.from_coo(*where, held[where], dtype, size=shape[0])
    return present, held, gb.Matrix.from_coo(*where, held[where], dtype, nrows=shape[0], ncols=shape[1])


def check(C, present, held):
    C.wait()
    *where, values = C.to_coo()
    assert [i.tolist() for i in where] == [i.tolist() for i in present.nonzero()]
    assert values.tolist() == held[present].tolist()


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("region", REGIONS)
def test_assigned(region, name):
    """C[I, J] = x, C(M, replace)[I, J] << x, C[I, J](N, replace) << x, and the same of a Scalar of the type."""
    rng, (dtype, value), at = generator("values of user types", region, name), VALUES[name], REGIONS[region]
    shape = SHAPE if len(at) == 2 else SHAPE[1:]
    key = at if len(at) == 2 else at[0]
    inside = np.zeros(shape, bool)
    inside[np.ix_(*at) if all(isinstance(K, list) for K in at) else at] = True
    given = np.array(value, dtype.np_type) if dtype is RECORD else np.array(value, np.int16)
    scalar = gb.Scalar.from_value(value, dtype)
    for x, how in itertools.product((value, scalar), ("plain", "S", "~S", "S replace")):
        present, held, C = made(rng, dtype, shape)
        allow, _, M = made(rng, dtype, shape)
        if how == "plain":
            C[key] = x
            allow[:] = True
        else:
            C(~M.S if how == "~S" else M.S, replace="replace" in how)[key] << x
            allow = ~allow if how == "~S" else allow
        if "replace" in how:
            present &= allow
        held[inside & allow] = given
        check(C, present | inside & allow, held)


@pytest.mark.parametrize("name", VALUES)
def test_assigned_within_a_region(name):
    rng, (dtype, value) = generator("values of user types, within", name), VALUES[name]
    given = np.array(value, dtype.np_type) if dtype is RECORD else np.array(value, np.int16)
    for replace in (False, True):
        present, held, C = made(rng, dtype, SHAPE)
        allow, _, M = made(rng, dtype, (2, 3))
        C[[3, 0], [1, 4, 2]](M.S, replace=replace) << value
        region = np.zeros(SHAPE, bool)
        region[np.ix_([3, 0], [1, 4, 2])] = allow
        if replace:
            present[np.ix_([3, 0], [1, 4, 2])] &= allow
        held[region] = given
        check(C, present | region, held)


@pytest.mark.parametrize("name", VALUES)
def test_written_to_all_positions(name):
    rng, (dtype, value) = generator("values of user types, all", name), VALUES[name]
    given = np.array(value, dtype.np_type) if dtype is RECORD else np.array(value, np.int16)
    for shape in (SHAPE, SHAPE[1:]):
        present, held, C = made(rng, dtype, shape)
        allow, _, M = made(rng, dtype, shape)
        C(M.S) << value
        held[allow] = given
        check(C, present | allow, held)
        C << value
        held[...] = given
        check(C, np.ones(shape, bool), held)
