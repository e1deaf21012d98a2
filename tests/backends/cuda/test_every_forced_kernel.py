"""Each kernel of a product that can be forced, over operands of every form, types and masks: as NumPy computes it."""

import pytest
from backends import product_forms

from cuda_emulation.backend import using_shim

SHARES = 6  # of the rows of a kernel; the quick run has one
KERNELS = [*product_forms.OF_VECTORS, *product_forms.OF_MATRICES, *product_forms.OF_DENSE]


@pytest.mark.parametrize("share", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, SHARES))])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.sampled(1)
def test_as_numpy(kernel, share):
    product_forms.check(using_shim, kernel, share, SHARES)
