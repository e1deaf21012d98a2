"""cuSPARSE's SpMM and SDDMM by ctypes, each by the fastest of its algorithms and layouts; FP32, 32-bit indices."""

import ctypes

import cupy as cp

ROW, COLUMN = 2, 1  # cusparseOrder_t
SPMM_ALGORITHMS = {"csr_1": 4, "csr_2": 6, "csr_3": 12, "default": 0}
_INDEX32, _FP32 = 2, 0  # cusparseIndexType_t, cudaDataType


def _library():
    import cupyx.cusparse  # noqa: F401  loads it

    with open("/proc/self/maps", encoding="utf-8") as lines:
        path = next(line.split()[-1] for line in lines if "libcusparse.so" in line)
    return ctypes.CDLL(path)


class CuSparse:
    """A handle, and the calls that are compared with."""

    def __init__(self):
        self.library, self.handle = _library(), ctypes.c_void_p()
        self._check(self.library.cusparseCreate(ctypes.byref(self.handle)))
        self.one, self.zero = ctypes.c_float(1), ctypes.c_float(0)
        self._kept = []

    def _check(self, status):
        if status:
            raise RuntimeError(f"cuSPARSE: status {status}")

    def csr(self, A):
        """The descriptor of a store in CSR, and its values' array."""
        found, indptr = ctypes.c_void_p(), A.indptr.astype(cp.int32)
        self._kept.append((indptr, A))
        self._check(self.library.cusparseCreateCsr(
            ctypes.byref(found), *map(ctypes.c_int64, (A.nrows, A.ncols, A.indices.size)),
            *map(ctypes.c_void_p, (indptr.data.ptr, A.indices.data.ptr, A.values.data.ptr)),
            _INDEX32, _INDEX32, 0, _FP32,
        ))  # fmt: skip
        return found

    def dense(self, array, order):
        """The descriptor of a 2-D array: row-major, or its transpose's memory read column-major."""
        found, (rows, columns) = ctypes.c_void_p(), array.shape
        self._kept.append(array)
        self._check(self.library.cusparseCreateDnMat(
            ctypes.byref(found), *map(ctypes.c_int64, (rows, columns, columns if order == ROW else rows)),
            ctypes.c_void_p(array.data.ptr), _FP32, order,
        ))  # fmt: skip
        return found

    def _call(self, name, op_b, a, b, c, algorithm):
        arguments = (
            self.handle, 0, op_b, ctypes.byref(self.one), a, b, ctypes.byref(self.zero), c, _FP32, algorithm,
        )  # fmt: skip
        size = ctypes.c_size_t()
        self._check(getattr(self.library, f"{name}_bufferSize")(*arguments, ctypes.byref(size)))
        buffer = cp.empty(max(size.value, 1), cp.uint8)
        self._kept.append(buffer)
        address = ctypes.c_void_p(buffer.data.ptr)
        self._check(getattr(self.library, f"{name}_preprocess")(*arguments, address))
        function = getattr(self.library, name)
        self._check(function(*arguments, address))
        return lambda: function(*arguments, address)

    def spmm(self, A, X, out):
        """{name: call} of out = A X, by algorithm and layout, those that cuSPARSE accepts."""
        a, found = self.csr(A), {}
        for layout, order in (("rows", ROW), ("columns", COLUMN)):
            b, c = self.dense(X, order), self.dense(out, order)  # column-major: other numbers, the same work
            for name, algorithm in SPMM_ALGORITHMS.items():
                try:
                    found[f"{name}_{layout}"] = self._call("cusparseSpMM", 0, a, b, c, algorithm)
                except RuntimeError:
                    continue
        return found

    def sddmm(self, A, B, pattern):
        """The call of pattern.values = A B' at the pattern's entries; A, B row-major."""
        return self._call(
            "cusparseSDDMM", 1, self.dense(A, ROW), self.dense(B, ROW), self.csr(pattern), 0
        )  # fmt: skip
