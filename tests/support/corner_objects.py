"""Hypothesis strategies for objects that files and other libraries must give back: types, forms, corner values."""

import numpy as np
from hypothesis import strategies as st

import grb_tile as gb

INTEGERS = ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64")
TYPES = ("BOOL", *INTEGERS, "FP32", "FP64", "FC32", "FC64")
SIZES = st.sampled_from([1, 2, 3, 5, 7])


def np_type(name):
    return gb.dtypes.lookup_dtype(name).np_type


def numbers(name):
    """Values of a type: small ones, zeros of both signs, extremes, infinities and NaN."""
    kind = np_type(name)
    if kind.kind == "b":
        return st.booleans()
    if kind.kind in "iu":
        least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        return st.one_of(
            st.integers(max(least, -3), 5),
            st.sampled_from([least, least + 1, most, most - 1]),
            st.integers(least, most),
        )
    width = kind.itemsize * 8 // (2 if kind.kind == "c" else 1)
    real = st.one_of(
        st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1 if width == 64 else 0.5, float("inf"), float("-inf"), float("nan")]),
        st.floats(width=width),
    )
    return real if kind.kind == "f" else st.builds(complex, real, real)


def arrays(name, count):
    """`count` values, often all the same."""
    some = st.lists(numbers(name), min_size=count, max_size=count)
    same = numbers(name).map(lambda value: [value] * count)
    return st.one_of(some, same).map(
        lambda values: np.array(values, np_type(name)) if values else np.zeros(0, np_type(name))
    )


@st.composite
def positions(draw, shape):
    """Sorted distinct positions: any, all, or none."""
    total = int(np.prod(shape, dtype=object))
    count = draw(st.sampled_from([0, 1, min(total, 4), min(total, 12), total if total <= 64 else 5]))
    if count == total:
        return list(range(total))
    return sorted(draw(st.sets(st.integers(0, total - 1), min_size=min(count, total), max_size=min(count, total))))


@st.composite
def matrices(draw, types=TYPES, huge=True, square=False):
    """Empty, full, iso, hypersparse and other matrices, general or with a symmetry."""
    name = draw(st.sampled_from(types))
    nrows = draw(st.one_of(SIZES, st.sampled_from([2**33, 2**60]) if huge else SIZES))
    ncols = nrows if square or draw(st.booleans()) else draw(st.one_of(SIZES, st.just(2**40) if huge else SIZES))
    places = draw(positions((nrows, ncols)))
    rows, cols = [place // ncols for place in places], [place % ncols for place in places]
    values = draw(arrays(name, len(places)))
    kind = draw(st.sampled_from(["general", "general", "symmetric", "skew", "hermitian"]))
    if nrows == ncols and kind != "general" and name != "BOOL":
        rows, cols, values = mirrored(rows, cols, values, kind)
    A = gb.Matrix.from_coo(rows, cols, values, name, nrows=nrows, ncols=ncols)
    if draw(st.booleans()) and len(places) == nrows * ncols and len(values) == nrows * ncols:
        return gb.Matrix.from_dense(values.reshape(nrows, ncols), dtype=name)
    if values.size and draw(st.integers(0, 3)) == 0:  # an iso store
        return gb.Matrix.from_coo(rows, cols, values[0], name, nrows=nrows, ncols=ncols)
    return A


def mirrored(rows, cols, values, kind):
    """The lower triangle and its image; now and then with wrong signs of zeros and wrapped integers, as they come."""
    triples = [(i, j, x) for i, j, x in zip(rows, cols, values, strict=True) if i > j or i == j and kind != "skew"]
    with np.errstate(all="ignore"):
        images = [
            (j, i, -x if kind == "skew" else x.conjugate() if kind == "hermitian" else x)
            for i, j, x in triples
            if i != j
        ]
    both = triples + images
    return [t[0] for t in both], [t[1] for t in both], np.array([t[2] for t in both], values.dtype)


@st.composite
def vectors(draw, types=TYPES):
    """Sparse, bitmap, full, iso and huge vectors."""
    name = draw(st.sampled_from(types))
    size = draw(st.one_of(SIZES, st.sampled_from([63, 64, 65, 130, 2**33, 2**60])))
    places = draw(positions((size,)))
    values = draw(arrays(name, len(places)))
    if len(places) == size and draw(st.booleans()):
        return gb.Vector.from_dense(values, dtype=name)
    if values.size and draw(st.integers(0, 3)) == 0:
        return gb.Vector.from_coo(places, values[0], name, size=size)
    return gb.Vector.from_coo(places, values, name, size=size)


@st.composite
def scalars(draw):
    name = draw(st.sampled_from(TYPES))
    return gb.Scalar(name) if draw(st.integers(0, 4)) == 0 else gb.Scalar.from_value(draw(arrays(name, 1))[0], name)


def bits(values):
    """Bytes that are equal exactly for equal values: zeros keep their sign, all NaN are one."""
    values = np.array(values)
    if values.dtype.kind == "c":
        return bits(values.real) + bits(values.imag)
    if values.dtype.kind == "f":
        values[np.isnan(values)] = np.nan
    return values.tobytes()


def assert_same(x, y):
    """Same class, type, shape, positions, and values to the bit."""
    assert type(x) is type(y) and x.dtype is y.dtype and x.shape == y.shape, (x, y)
    if x.shape == ():
        assert x.is_empty == y.is_empty
        if not x.is_empty:
            assert bits([x.value]) == bits([y.value])
        return
    *mine, values = x.to_coo()
    *theirs, others = y.to_coo()
    assert all(np.array_equal(a, b) for a, b in zip(mine, theirs, strict=True)), (x, y)
    assert bits(values) == bits(others), (values, others)
