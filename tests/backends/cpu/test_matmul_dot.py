"""Dot products in NumPy: by table and by search, in blocks of every size, both operands one object or two."""

import operator

import numpy as np
import pytest
from backends.agree import assert_same

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.backends.cpu.vectorised import matmul_dot
from grb_tile.planner import tuning
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import StoredMask
from support.seeds import SEED
from support.stores import matrix

SEMIRINGS = ("plus_first", "plus_second", "plus_pair", "min_plus", "ss.plus_firstj", "ss.max_secondj", "ss.min_firsti")


@pytest.mark.parametrize("semiring", SEMIRINGS)
@pytest.mark.parametrize("one_object", [True, False])
@pytest.mark.parametrize(
    ("cells", "look_ups", "least"), [(64, 1, 0), (200, 40, 0), (1 << 22, 1 << 18, 0), (64, 7, 1 << 40)]
)
def test_tables_and_searches_agree_with_the_reference(monkeypatch, semiring, one_object, cells, look_ups, least):
    monkeypatch.setattr(matmul_dot, "TABLE_CELLS", cells)
    monkeypatch.setattr(matmul_dot, "TABLE_LOOK_UPS", look_ups)
    monkeypatch.setattr(matmul_dot, "EXPAND", look_ups)
    monkeypatch.setattr(tuning, "NUMPY_TABLE_LOOK_UPS", least)
    rng = np.random.default_rng(SEED)
    rows, inner, columns = (37, 50, 37) if one_object else (37, 50, 23)
    A = matrix(rng, rows, inner, 400, gb.dtypes.FP64)
    BT = A if one_object else matrix(rng, columns, inner, 150, gb.dtypes.FP64)
    op = operator.attrgetter(semiring)(gb.semiring)["FP64"]
    allow = StoredMask(matrix(rng, rows, columns, 300, gb.dtypes.BOOL), False)
    found = matmul_dot.matmul_dot(A, BT, op, allow)
    wanted = select.named("reference").matmul(A, transpose_of(BT), op, allow)
    assert_same(found, wanted)
    assert found.nvals
