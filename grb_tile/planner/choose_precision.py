"""In which precision a product is made: `gb.config.set(matmul_precision="tf32" | "bf16" | "fp16")`; default "exact".

Where a kernel has a rounded form, operands are rounded to the type that the option names, and products and sums are
FP32. Only plus_times of FP32 operands is rounded, on a GPU; every other product is computed as without the option, and
`explain()` says why. u is the unit roundoff of the type:

    tf32    2^-11    8 bits of exponent, 11 of significand (also on tensor cores only)
    bf16    2^-8     8 bits of exponent, 8 of significand
    fp16    2^-11    5 bits of exponent, 11 of significand: |values| in [2^-14, 65504]

The computed y^ of y = A x, a row of A with m entries, k operands rounded (1: A; 2: A and x):

    |y - y^| <= (k u + k^2 u^2 + (m + 1) 2^-23) |A| |x|

(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 2.2 and 3.1.) An operand with a value that the type
cannot represent with a relative error of u (NaN, Inf, beyond the type's range, subnormal there) is not rounded at all:
the product is exact then. A kernel calls `precision_of` first, then `Plan.use_precision` with `rounded` or `exact`.

>>> import grb_tile as gb
>>> from grb_tile.planner.choose_precision import setting
>>> with gb.config.set(matmul_precision="fp16"):
...     setting()
'fp16'
>>> setting()
'exact'
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..config import config

UNIT_ROUNDOFF = {"tf32": 2.0**-11, "bf16": 2.0**-8, "fp16": 2.0**-11}
_LOG_ROUNDOFF = {"tf32": -11, "bf16": -8, "fp16": -11}
_chosen = config.get("matmul_precision")


def _choose(name: str | None) -> None:
    global _chosen
    _chosen = name or "exact"


config.listen("matmul_precision", _choose)


def setting() -> str:
    """What gb.config says: "exact", "tf32", "bf16" or "fp16"."""
    return _chosen


def precision_of(semiring: Any, a_dtype: Any, x_dtype: Any) -> str:
    """The precision that applies to a product A (+.x) X: that of gb.config for plus_times of FP32, else "exact"."""
    if _chosen == "exact":
        return "exact"
    types = a_dtype, x_dtype, semiring.type, semiring.type2, semiring.return_type
    op = semiring.binaryop
    is_plus_times = op.name == "times" and op.parent._builtin and semiring.monoid.ufunc is np.add
    return _chosen if is_plus_times and all(t.np_type == np.float32 for t in types) else "exact"


def rounded(precision: str, operands: str, count: int = 1) -> str:
    """What explain() says of a product whose `operands` ("A", "A and x"; `count` of them) are rounded."""
    factor = "" if count == 1 else f"{count} * "
    first = f"{factor}2^{_LOG_ROUNDOFF[precision]}"
    square = f"{count * count} * " if count > 1 else ""
    second = f"{square}2^{2 * _LOG_ROUNDOFF[precision]}"
    return (
        f"matmul_precision={precision}: {operands} rounded, sums in FP32; error at most "
        f"({first} + {second} + (m + 1) 2^-23) |A| |x| in a row of m entries"
    )


def exact(why: str) -> str:
    """What explain() says of a product that is exact although gb.config has another precision."""
    return f"matmul_precision={_chosen}: exact, because {why}"
