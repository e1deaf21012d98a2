"""Operands of bench_cells.py: the same seeded matrices and vectors in either library, made when asked for."""

import numpy as np

SIZES = {"tiny": (60, 240), "medium": (3_000, 48_000), "large": (65_536, 1_048_576)}
HUGE = 1 << 40  # dimension of hypersparse matrices


def pairs(n, nvals, seed):
    """Distinct (row, column) pairs in row-major order; low row numbers have more entries."""
    rng = np.random.default_rng(seed)
    rows = (n * rng.random(nvals) ** 1.4).astype(np.int64)
    keys = np.unique(rows * n + rng.integers(0, n, nvals))
    return keys // n, keys % n


class Operands:
    """`Operands(library, n, nvals).A` and so on: each is made once, all pending work done."""

    def __init__(self, library, n, nvals):
        self.g, self.n, self.nvals = library, n, nvals

    def __getattr__(self, name):
        made = getattr(type(self), f"make_{name}")(self)
        if hasattr(made, "wait"):
            made.wait()
        setattr(self, name, made)
        return made

    def matrix(self, seed, dtype, nvals=None, n=None, iso=False):
        n = n or self.n
        rows, cols = pairs(n, nvals or self.nvals, seed)
        values = True if iso else np.random.default_rng(seed + 1).integers(1, 100, rows.size)
        return self.g.Matrix.from_coo(rows, cols, values, dtype, nrows=n, ncols=n)

    def make_A(self):
        return self.matrix(1, "FP64")

    def make_B(self):
        return self.matrix(3, "FP64")

    def make_I(self):
        return self.matrix(5, "INT64")

    def make_F(self):
        return self.matrix(7, "FP32")

    def make_Z(self):
        """BOOL with both values."""
        return self.g.Matrix.from_coo(*pairs(self.n, self.nvals, 9), self.flags(9), nrows=self.n, ncols=self.n)

    def make_Z2(self):
        return self.g.Matrix.from_coo(*pairs(self.n, self.nvals, 11), self.flags(11), nrows=self.n, ncols=self.n)

    def flags(self, seed):
        count = pairs(self.n, self.nvals, seed)[0].size
        return np.random.default_rng(seed).random(count) < 0.5

    def make_P(self):
        """BOOL, iso."""
        return self.matrix(13, "BOOL", iso=True)

    def make_Q(self):
        return self.matrix(15, "BOOL", iso=True)

    def make_M(self):
        """A mask with as many entries as the others; half of it are A's."""
        n = self.n
        rows, cols = pairs(n, self.nvals, 1)
        more = pairs(n, self.nvals, 17)
        keys = np.unique(np.concatenate([(rows * n + cols)[::2], (more[0] * n + more[1])[::2]]))
        return self.g.Matrix.from_coo(keys // n, keys % n, True, nrows=n, ncols=n)

    def make_small_mask(self):
        return self.matrix(19, "BOOL", nvals=self.nvals // 16, iso=True)

    def make_A2(self):
        """The structure of A with other values."""
        return self.g.unary.minv(self.A).new()

    def make_H(self):
        """Hypersparse."""
        return self.hyper(21, "FP64")

    def make_H2(self):
        return self.hyper(23, "FP64")

    def make_HI(self):
        return self.hyper(25, "INT64")

    def hyper(self, seed, dtype):
        rows, cols = pairs(self.n, self.nvals // 2, seed)
        values = np.random.default_rng(seed + 1).integers(1, 100, rows.size)
        scale = HUGE // self.n
        return self.g.Matrix.from_coo(rows * scale, cols * scale, values, dtype, nrows=HUGE, ncols=HUGE)

    def make_hu(self):
        at = np.arange(0, self.n, 3) * (HUGE // self.n)
        return self.g.Vector.from_coo(at, np.arange(at.size) % 7 + 1.0, size=HUGE)

    def make_D(self):
        """Diagonal."""
        at = np.arange(self.n)
        return self.g.Matrix.from_coo(at, at, at % 5 + 1.0, nrows=self.n, ncols=self.n)

    def make_sub(self):
        """A quarter of the rows and columns, an eighth of the entries."""
        return self.matrix(27, "FP64", nvals=self.nvals // 8, n=self.n // 2)

    def make_K(self):
        """Factors of a Kronecker product with about nvals entries."""
        side = max(4, int(self.nvals**0.5) // 4)
        return self.matrix(29, "FP64", nvals=int(self.nvals**0.5), n=side)

    # vectors: u sparse (1 % of the positions, 1/8 of a tiny one), b bitmap (about 40 %), f full

    def vector(self, seed, density, dtype, flags=False):
        rng = np.random.default_rng(seed)
        at = np.flatnonzero(rng.random(self.n) < density) if density < 1 else np.arange(self.n)
        values = rng.random(at.size) < 0.5 if flags else rng.integers(1, 100, at.size)
        return self.g.Vector.from_coo(at, values, dtype, size=self.n)

    def make_u(self):
        return self.vector(41, 0.125 if self.n < 100 else 0.01, "FP64")

    def make_u2(self):
        return self.vector(43, 0.125 if self.n < 100 else 0.01, "FP64")

    def make_ui(self):
        return self.vector(45, 0.125 if self.n < 100 else 0.01, "INT64")

    def make_uz(self):
        return self.vector(47, 0.125 if self.n < 100 else 0.01, "BOOL", flags=True)

    def make_b(self):
        return self.vector(49, 0.4, "FP64")

    def make_b2(self):
        return self.vector(51, 0.4, "FP64")

    def make_bi(self):
        return self.vector(53, 0.4, "INT64")

    def make_bz(self):
        return self.vector(55, 0.4, "BOOL", flags=True)

    def make_f(self):
        return self.vector(57, 1, "FP64")

    def make_f2(self):
        return self.vector(59, 1, "FP64")

    def make_fi(self):
        return self.vector(61, 1, "INT64")

    def make_ff(self):
        return self.vector(63, 1, "FP32")

    def make_fz(self):
        return self.vector(65, 1, "BOOL", flags=True)

    def make_mv(self):
        """A mask of a vector: half of the positions."""
        return self.vector(67, 0.5, "BOOL", flags=True)

    # index lists

    def make_dense(self):
        return np.random.default_rng(70).random(self.n)

    def make_list(self):
        """A third of the indices, ascending."""
        return np.arange(0, self.n, 3)

    def make_shuffled(self):
        return np.random.default_rng(71).permutation(self.n)[: self.n // 3]

    def make_half(self):
        return np.sort(np.random.default_rng(73).permutation(self.n)[: self.n // 2])

    def make_some(self):
        """As many indices as `sub` has rows, shuffled."""
        return np.random.default_rng(75).permutation(self.n)[: self.n // 2]

    # coordinates

    def make_coo(self):
        """Row-major coordinates with values."""
        rows, cols = pairs(self.n, self.nvals, 81)
        return rows, cols, np.random.default_rng(82).random(rows.size)

    def make_shuffled_coo(self):
        """Shuffled, with duplicates."""
        rng = np.random.default_rng(83)
        rows, cols = (rng.integers(0, self.n, self.nvals) for _ in range(2))
        rows[1::10], cols[1::10] = rows[: rows[1::10].size], cols[: rows[1::10].size]
        return rows, cols, rng.random(self.nvals)
