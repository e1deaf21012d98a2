"""Write the blobs beside this file with the installed suitesparse-graphblas, whichever version it is.

pip install --target FOLDER suitesparse-graphblas==10.5.1.1
PYTHONPATH=FOLDER python tests/data/suitesparse_blobs/write_blobs.py
"""

import pathlib

import suitesparse_graphblas
from suitesparse_graphblas import ffi, lib

HERE = pathlib.Path(__file__).resolve().parent
MAJOR = suitesparse_graphblas.__version__.split(".")[0]
FORMATS = {"hyper": "GxB_HYPERSPARSE", "sparse": "GxB_SPARSE", "bitmap": "GxB_BITMAP", "full": "GxB_FULL"}
METHODS = {"none": -1, "lz4": 1000, "lz4hc": 2003, "zstd": 3001}


def check(code):
    assert code == 0, code


def blob(nrows, ncols, entries, sparsity, by_column, method):
    """The bytes of a matrix of doubles."""
    A, d = ffi.new("GrB_Matrix*"), ffi.new("GrB_Descriptor*")
    check(lib.GrB_Matrix_new(A, lib.GrB_FP64, nrows, ncols))
    for i, j, value in entries:
        check(lib.GrB_Matrix_setElement_FP64(A[0], value, i, j))
    check(lib.GxB_Matrix_Option_set(A[0], lib.GxB_FORMAT, ffi.cast("int", lib.GxB_BY_COL * by_column)))
    check(lib.GxB_Matrix_Option_set(A[0], lib.GxB_SPARSITY_CONTROL, ffi.cast("int", getattr(lib, sparsity))))
    check(lib.GrB_Matrix_wait(A[0], lib.GrB_MATERIALIZE))
    check(lib.GrB_Descriptor_new(d))
    check(lib.GxB_Desc_set(d[0], lib.GxB_COMPRESSION, ffi.cast("int", method)))
    data, size = ffi.new("void**"), ffi.new("GrB_Index*")
    check(lib.GxB_Matrix_serialize(data, size, A[0], d[0]))
    return bytes(ffi.buffer(data[0], size[0]))


def main():
    check(lib.GrB_init(lib.GrB_BLOCKING))
    for k, (name, sparsity) in enumerate(FORMATS.items()):
        step = 1 if name == "full" else 7
        entries = [(i, j, i * 3 + j + 1.0) for i, j in (divmod(at, 50) for at in range(0, 3000, step))]
        for by_column in (0, 1):
            method = list(METHODS)[(k + 2 * by_column) % 4]
            data = blob(60, 50, entries, sparsity, by_column, METHODS[method])
            order = ("row", "column")[by_column]
            (HERE / f"version{MAJOR}-{name}-{order}-{method}.grb").write_bytes(data)
    wide = blob(2**40, 2**41, [(2**39, 2**40, 1.0), (1, 2, 3.0)], "GxB_HYPERSPARSE", 0, -1)
    (HERE / f"version{MAJOR}-wide.grb").write_bytes(wide)


if __name__ == "__main__":
    main()
