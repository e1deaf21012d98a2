"""The library under test (`gb`) and the oracle.

GRB_TILE_TEST_LIBRARY=graphblas puts the oracle in both places: that checks the tests themselves.
GRB_TILE_TEST_ENGINES=default,numpy leaves engines out while working on something (coverage then fails, as it should);
engines outside the usual ones: shim (the CUDA backend's kernels on the CPU), cuda (on a device), dense (every small
matrix is a bitmap or full) and ranks1, ranks2 ... (distributed over as many ranks, support/ranks.py).
GRB_TILE_TEST_ORACLE=none imports no oracle: for programs that take calls from here and compare with the CPU backend.
"""

import contextlib
import importlib
import os
import warnings
import zlib

from support.seeds import SEED

LIBRARY = os.environ.get("GRB_TILE_TEST_LIBRARY", "grb_tile")
gb = importlib.import_module(LIBRARY)

oracle = None
if os.environ.get("GRB_TILE_TEST_ORACLE") != "none":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the oracle's own imports are not under test
        import graphblas as oracle

        oracle.init("suitesparse", blocking=False)
        oracle.unary.exp  # noqa: B018  fills the operator tables, which warns under newer NumPy
        oracle.ss.config["nthreads"] = 1  # the operands are small

ALL_ENGINES = ("default", "reference", "numpy", "numba")
ENGINES = ("default",) if LIBRARY == "graphblas" else ALL_ENGINES
if os.environ.get("GRB_TILE_TEST_ENGINES"):
    ENGINES = tuple(os.environ["GRB_TILE_TEST_ENGINES"].split(","))
WITHOUT_NUMBA = tuple(name for name in ENGINES if name != "numba")

# operators for which Numba kernels are compiled in the conformance tests: a compilation takes most of a second
COMPILED = ("any_pair", "min_plus", "plus_first", "plus_second", "lor_land", "plus", "minus", "min", "times")


def engines_at(k, engines=ENGINES):
    """All engines for each third of a loop's cases, the first engine for the others: the default one sees
    everything."""
    return engines if k % 3 == 0 else engines[:1]


def left_out(name, what):
    """Does the quick run leave out this engine here?  Numba's, for 3 in 4 of the things computed."""
    quick = os.environ.get("GRB_TILE_TEST_QUICK") == "1"
    return quick and name == "numba" and zlib.crc32(f"{SEED}/{what}".encode()) % 4 != 0


def engines_for(name):
    return ENGINES if name in COMPILED else WITHOUT_NUMBA


FLOATS = ("FP32", "FP64")
COMPLEX = ("FC32", "FC64")
SIGNED = ("INT8", "INT16", "INT32", "INT64")
UNSIGNED = ("UINT8", "UINT16", "UINT32", "UINT64")
REAL = ("BOOL", *SIGNED, *UNSIGNED, *FLOATS)
TYPES = (*REAL, *COMPLEX)


@contextlib.contextmanager
def engine(name):
    """Everything inside is computed by this engine of the library under test."""
    if name == "default":
        yield
    elif name == "reference":
        with gb.config.set(backend="reference"):
            yield
    elif name == "dense":  # every small matrix is a bitmap or full
        from support.dense_backend import using_dense

        with using_dense():
            yield
    elif name == "cuda":
        with gb.config.set(backend="cuda"):
            yield
    elif name == "shim":  # the CUDA backend, its kernels run on the CPU
        from cuda_emulation.backend import using_shim

        with using_shim():
            yield
    else:
        with gb.plan(force=name):
            yield


def dtype_of(library, name):
    return getattr(library.dtypes, name)
