"""The write step's short forms equal the composed form, and no other object sees an update in place."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import Vector, binary, monoid, semiring, unary
from grb_tile.planner import tuning

SIZE = 200
rng = np.random.default_rng(7)


@pytest.fixture(autouse=True, params=[0, tuning.MERGED_SIZE], ids=["in place", "as a whole"])
def merged_size(request, monkeypatch):
    """Small vectors change in place as large ones do, or are merged as a whole."""
    monkeypatch.setattr(tuning, "MERGED_SIZE", request.param)


def bitmap_vector(dtype=np.int64, share=0.7):
    """A vector dense enough to be stored as a bitmap."""
    where = np.flatnonzero(rng.random(SIZE) < share)
    return Vector.from_coo(where, rng.integers(-9, 9, where.size).astype(dtype), size=SIZE)


def few(dtype=np.int64, count=7):
    where = np.sort(rng.choice(SIZE, count, replace=False))
    return Vector.from_coo(where, rng.integers(-9, 9, count).astype(dtype), size=SIZE)


def as_dict(v):
    indices, values = v.to_coo()
    return dict(zip(indices.tolist(), values.tolist(), strict=True))


def composed(c, t, allow, accum, replace):
    """C<M,r> = C (+) T on dictionaries, straight from section 2.3 of the specification."""
    z = (
        dict(t)
        if accum is None
        else {i: accum(c[i], t[i]) if i in c and i in t else (c[i] if i in c else t[i]) for i in c.keys() | t.keys()}
    )
    inside = {i: x for i, x in z.items() if i in allow}
    outside = {} if replace else {i: x for i, x in c.items() if i not in allow}
    return {**outside, **inside}


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("accum", [None, "plus", "minus", "first", "second"])
@pytest.mark.parametrize("mask_kind", [None, "S", "V", "~S", "~V"])
@pytest.mark.parametrize("mask_size", [5, 120])
def test_bitmap_output(mask_kind, accum, replace, mask_size):
    c, t, m = bitmap_vector(), few(), few(count=mask_size)
    before, operand = as_dict(c), as_dict(t)
    stored = as_dict(m)
    allow = set(range(SIZE))
    if mask_kind is not None:
        allow = {i for i, x in stored.items() if "S" in mask_kind or x != 0}
        if mask_kind.startswith("~"):
            allow = set(range(SIZE)) - allow
    kwargs = {}
    if mask_kind is not None:
        mask = m.S if "S" in mask_kind else m.V
        kwargs = {"mask": ~mask if mask_kind.startswith("~") else mask, "replace": replace}
    if accum is not None:
        kwargs["accum"] = getattr(binary, accum)
    c(**kwargs) << t.apply(unary.ainv)
    python = {
        "plus": lambda x, y: x + y,
        "minus": lambda x, y: x - y,
        "first": lambda x, y: x,
        "second": lambda x, y: y,
    }
    expected = composed(
        before,
        {i: -x for i, x in operand.items() if i in allow},
        allow,
        None if accum is None else python[accum],
        replace and mask_kind is not None,
    )
    assert as_dict(c) == expected
    assert as_dict(t) == operand and as_dict(m) == stored


def test_in_place_update_happens_and_keeps_the_arrays(monkeypatch):
    monkeypatch.setattr(tuning, "MERGED_SIZE", 0)
    c = bitmap_vector()
    c(binary.plus) << few()  # now the arrays are C's own
    values = c._store.values
    address = values.ctypes.data
    del values
    c(binary.plus) << few()
    assert c._store.format == "bitmap"
    assert c._store.values.ctypes.data == address


def test_dup_is_not_changed_by_an_update_in_place():
    c = bitmap_vector()
    d = c.dup()
    before = as_dict(d)
    c(binary.plus) << few()
    assert as_dict(d) == before
    d(binary.times) << few()
    assert as_dict(c) != before


@pytest.mark.parametrize(
    "make",
    [
        lambda c: c.apply(unary.identity).new(),
        lambda c: c.dup(float),
        lambda c: c.select("valuegt", -100).new(),
        lambda c: c.ewise_mult(c, binary.first).new(),
        lambda c: c[:].new(),
    ],
    ids=["identity", "cast", "select", "first", "extract"],
)
def test_results_that_could_share_arrays_are_not_changed(make):
    c = bitmap_vector()
    c(binary.plus) << few()
    other = make(c)
    before = as_dict(other)
    c(binary.plus) << few()
    c(few().S)[:] << 55
    assert as_dict(other) == before


def test_arrays_given_to_the_user_are_not_changed():
    c = bitmap_vector(share=1.1)
    c(binary.plus) << few()
    dense = c.to_dense()
    shared = np.asarray(c)
    kept, seen = dense.copy(), shared.copy()
    c(binary.plus) << few()
    assert (dense == kept).all() and (shared == seen).all()


def test_output_as_mask_and_operand():
    c = bitmap_vector()
    before = as_dict(c)
    c(c.V)[:] << 3
    assert as_dict(c) == {i: (3 if x else x) for i, x in before.items()}
    c(~c.S, replace=True) << c.apply(unary.ainv)
    assert c.nvals == 0


def test_complement_without_mask_is_the_empty_mask():
    from grb_tile import grb

    A = gb.Matrix.from_coo([0, 1], [1, 0], [1, 2])
    u = Vector.from_coo([0, 1], [5, 6])
    w = Vector.from_coo([1], [9], size=2)
    grb.mxv(w, None, None, semiring.plus_times, A, u, grb.DESC_C)
    assert as_dict(w) == {1: 9}
    grb.mxv(w, None, None, semiring.plus_times, A, u, grb.DESC_RC)
    assert as_dict(w) == {}


def test_reduce_of_empty_rows_has_no_entry():
    A = gb.Matrix.from_coo([0, 0, 2], [0, 1, 1], [1, 2, 3], nrows=4, ncols=2)
    assert as_dict(A.reduce_rowwise(monoid.plus).new()) == {0: 3, 2: 3}
