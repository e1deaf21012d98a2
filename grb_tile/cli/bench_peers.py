"""The products of `grb-tile bench` in other libraries that are installed, over the same arrays."""

from grb_tile.io import to_graphblas, to_scipy_sparse


def of(part, semiring, A, X=None, Y=None):
    """{library and version: function without arguments that computes the product} for a part of the benchmark.

    part: "spmv" (A X, X a vector), "spmm" (A X), "sddmm" (X Y' at A's entries), "spgemm" (A A), "masked" (A A at A's
    entries).  SciPy and cuSPARSE have plus_times only, and no product at the entries of a mask.
    """
    from grb_tile.backends import select

    found = {}
    if select.current().asynchronous:
        _cusparse(found, part, semiring, A, X)
    else:
        _scipy(found, part, semiring, A, X)
        _suitesparse(found, part, semiring, A, X, Y)
    return found


def _scipy(found, part, semiring, A, X):
    if semiring != "plus_times" or part not in ("spmv", "spmm", "spgemm"):
        return
    import scipy

    S = to_scipy_sparse(A)
    x = S if part == "spgemm" else X.to_dense(0)
    found[f"SciPy {scipy.__version__}"] = lambda: S @ x


def _cusparse(found, part, semiring, A, X):
    if semiring != "plus_times" or part not in ("spmv", "spmm", "spgemm"):
        return
    try:
        import cupy
        import cupyx.scipy.sparse as sparse

        store = A._store
        S = sparse.csr_matrix((store.values, store.indices, store.indptr.astype(store.indices.dtype)), shape=A.shape)
        x = S if part == "spgemm" else cupy.asarray(X.to_dense(0))
        _ = S @ x
    except (ImportError, OSError, RuntimeError):  # CuPy loads cuSPARSE when it is first used
        return
    found[f"cuSPARSE through CuPy {cupy.__version__}"] = lambda: S @ x


def _suitesparse(found, part, semiring, A, X, Y):
    try:
        import graphblas
    except ImportError:
        return
    op = getattr(graphblas.semiring, semiring, None)
    if op is None:
        return
    a, x, y = (None if z is None else to_graphblas(z) for z in (A, X, Y))
    calls = {
        "spmv": lambda: a.mxv(x, op).new().wait(),
        "spmm": lambda: a.mxm(x, op).new().wait(),
        "sddmm": lambda: x.mxm(y.T, op).new(mask=a.S).wait(),
        "spgemm": lambda: a.mxm(a, op).new().wait(),
        "masked": lambda: a.mxm(a, op).new(mask=a.S).wait(),
    }
    found[f"SuiteSparse through python-graphblas {graphblas.__version__}"] = calls[part]
