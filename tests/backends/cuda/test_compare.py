"""Comparison of stores on the device: in one or three launches, nothing of their size is copied to the host."""

import numpy as np
import pytest
from backends.comparison_cases import FEW_PAIRS, check

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile.backends import select
from grb_tile.storage import place
from support.seeds import SEED


@pytest.mark.parametrize("turn", range(3))
def test_equal_and_close_stores(turn):
    check(shim(), np.random.default_rng([SEED & 0xFFFFFFFF, turn]), 200, FEW_PAIRS)


def test_nothing_is_copied_to_the_host(monkeypatch):
    rng = np.random.default_rng(SEED)
    with select.using("cpu"):
        A = gb.Matrix.from_coo(
            *rng.integers(0, 500, (2, 4000)), rng.random(4000), nrows=500, ncols=500, dup_op=gb.binary.max
        )
        v = gb.Vector.from_dense(rng.random(3000))
    with using_shim() as backend:
        B, w = A.apply(gb.unary.identity).new(), v.apply(gb.unary.identity).new()
        C = (A * 2).new()
        A2, v2 = (B * 1).new(), (w * 1).new()
        copied = []
        whole = place.host_array
        monkeypatch.setattr(place, "host_array", lambda array: copied.append(array) or whole(array))
        monkeypatch.setattr(backend.device, "host", lambda array: pytest.fail("copied to the host"))
        assert A2.isequal(B) and v2.isequal(w) and A2.isclose(B) and v2.isclose(w)
        assert not A2.isequal(C) and not C.isclose(B) and C.isclose(B, rel_tol=0.6)
        assert A2.T.new().isequal(B.T) and B.T.isequal(A2.T)
        assert not copied and not backend.detours["is_equal"]


def test_objects_on_the_host_are_compared_there():
    with select.using("cpu"):
        v = gb.Vector.from_coo([1, 5], [1.0, 2.0], size=9)
        w = v.dup()
    with using_shim():
        assert v.isequal(w) and place.is_host(v._store) and "device" not in str(v._store.forms)
