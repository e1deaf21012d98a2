"""Calls graphblas-algorithms' functions on a graph of 50,000 nodes; writes each result; prints the peak of memory.

    python tests/dropin/large_graph_program.py grb_tile FOLDER       graphblas for python-graphblas

The calls are those of tests/benchmarks/dropin_calls.py.  One of several shortest paths may be found, so that of a path
only the ends are written.
"""

import json
import pathlib
import resource
import sys

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS.parent), str(TESTS / "dropin"), str(TESTS / "benchmarks")]

import bench_dropin  # noqa: E402
import dropin_calls  # noqa: E402
import graphblas_alias  # noqa: E402


def main(library, folder):
    graphblas_alias.install(library)
    import numpy as np
    from graphblas_algorithms import nxapi
    from graphblas_algorithms.interface import Dispatcher

    folder = pathlib.Path(folder)
    folder.mkdir()
    graphs = dropin_calls.Graphs(dropin_calls.NODES)
    for label, make in dropin_calls.CALLS.items():
        if label in dropin_calls.DENSE:
            continue
        name = label.split()[0]
        function = getattr(Dispatcher, name, None) or getattr(nxapi, name)
        arguments, keywords = make(graphs)
        result = bench_dropin.consume(function(*arguments, **keywords))
        if name == "bellman_ford_path":
            result = [result[0], result[-1]]
        np.savez(folder / f"{label.replace(' ', '_')}.npz", *bench_dropin.flat(result))
    print(json.dumps({"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


if __name__ == "__main__":
    main(*sys.argv[1:])
