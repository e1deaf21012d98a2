"""Operands of products with dense matrices, and of the same products over CSR."""

import numpy as np

import grb_tile as gb


def dense(rng, shape, kind, dtype):
    """(the matrix full, iso or as a bitmap with holes; its CSR)"""
    if kind == "iso":
        made = gb.Matrix.from_scalar(3, *shape, dtype)
    else:
        made = gb.Matrix.from_dense(rng.integers(1, 9, shape), dtype=dtype)
    if kind == "bitmap":
        made = made.dup(mask=sparse(rng, shape, 0.5, "BOOL").S)
        made.ss.config["sparsity_control"] = "bitmap"
    plain = made.dup()
    plain.ss.config["sparsity_control"] = "sparse"
    assert plain.ss.format == "csr" and made.ss.format[:4] == ("bitm" if kind == "bitmap" else "full")
    return made, plain


def sparse(rng, shape, density, dtype, long_row=False):
    """A random matrix; row 1 is empty, row 3 full if `long_row`."""
    present = rng.random(shape) < density
    present[1:2] = False
    if long_row:
        present[3] = True
    i, j = np.nonzero(present)
    return gb.Matrix.from_coo(i, j, rng.integers(1, 9, i.size), dtype, nrows=shape[0], ncols=shape[1])


def semiring_named(name):
    """A semiring of `gb.semiring`, or of `gb.semiring.ss` if the name begins so."""
    return getattr(gb.semiring.ss, name[3:]) if name.startswith("ss.") else getattr(gb.semiring, name)
