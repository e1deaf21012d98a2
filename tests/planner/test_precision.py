"""gb.config's matmul_precision: what it takes, to which products it applies, what explain() says."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.exceptions import InvalidValue
from grb_tile.operators import get_typed_op
from grb_tile.planner import choose_precision


def test_the_option_takes_four_names_and_is_restored():
    assert gb.config.get("matmul_precision") == "exact"
    for name in ("tf32", "bf16", "fp16", "exact"):
        with gb.config.set(matmul_precision=name):
            assert choose_precision.setting() == name
        assert choose_precision.setting() == "exact"
    for bad in ("fp8", "", "FP16", None, 16, ["fp16"]):
        with pytest.raises(InvalidValue, match=r"matmul_precision=.*exact, tf32, bf16, fp16"):
            gb.config.set(matmul_precision=bad)
        assert gb.config.get("matmul_precision") == choose_precision.setting() == "exact"


@pytest.mark.parametrize(
    ("name", "dtype", "applies"),
    [("plus_times", dtypes.FP32, True), ("plus_times", dtypes.FP64, False), ("plus_times", dtypes.INT32, False),
     ("min_times", dtypes.FP32, False), ("plus_second", dtypes.FP32, False), ("plus_plus", dtypes.FP32, False)],
)  # fmt: skip
def test_only_plus_times_of_fp32_is_rounded(name, dtype, applies):
    semiring = get_typed_op(name, dtype, kind="semiring")
    assert choose_precision.precision_of(semiring, dtype, dtype) == "exact"
    with gb.config.set(matmul_precision="bf16"):
        assert choose_precision.precision_of(semiring, dtype, dtype) == ("bf16" if applies else "exact")
        assert choose_precision.precision_of(semiring, dtypes.INT8, dtype) == "exact"


def test_a_users_times_is_not_rounded():
    semiring = gb.core.operator.Semiring.register_anonymous(
        gb.monoid.plus, gb.binary.register_anonymous(lambda x, y: x * y, "times"), "plus_times"
    )
    with gb.config.set(matmul_precision="fp16"):
        typed = semiring["FP32"]
        assert choose_precision.precision_of(typed, dtypes.FP32, dtypes.FP32) == "exact"


def test_the_host_computes_exactly_and_says_so():
    A = gb.Matrix.from_dense(np.array([[1 + 2.0**-20, 1.0], [0.1, 3.0]], np.float32))
    x = gb.Vector.from_dense(np.array([1.0, 0.1], np.float32))
    want = A.mxv(x, "plus_times").new()
    assert gb.explain().plans[0].precision is None
    with gb.config.set(matmul_precision="fp16"):
        assert A.mxv(x, "plus_times").new().isequal(want)
        report = gb.explain()
        assert "matmul_precision=fp16: exact, because" in str(report) and "'cpu'" in report.as_dicts()[0]["precision"]
        A.mxm(A, "plus_times").new()
        assert "matmul_precision=fp16: exact" in str(gb.explain())


def test_the_bound_that_explain_gives():
    with gb.config.set(matmul_precision="fp16"):
        assert "(2^-11 + 2^-22 + (m + 1) 2^-23) |A| |x|" in choose_precision.rounded("fp16", "A")
        assert "(2 * 2^-8 + 4 * 2^-16 + (m + 1) 2^-23)" in choose_precision.rounded("bf16", "A and x", 2)
