"""`grb-tile ldbc`: the six algorithms of LDBC Graphalytics on its data sets, checked against its reference outputs."""

import argparse
import glob
import os
import re
import time

import numpy as np

from grb_tile.cli import inputs, output
from grb_tile.cli.bench_verify import WrongResult
from grb_tile.cli.main import UsageError

UNREACHED = 2**63 - 1  # level of unreached vertices in Graphalytics
EPSILON = 1e-4  # relative error of PR, LCC and SSSP
ALGORITHMS = ("bfs", "pr", "wcc", "cdlp", "lcc", "sssp")

NOTES = """a data set is NAME.properties beside NAME.v, NAME.e and the reference outputs NAME-BFS, NAME-CDLP, NAME-LCC,
NAME-PR, NAME-SSSP, NAME-WCC (each also as .gz, .bz2, .xz), as ldbcouncil.org/benchmarks/graphalytics has them.
rules (LDBC Graphalytics 1.0.4): double precision; PR a fixed number of iterations; BFS and CDLP agree exactly, WCC up
to a renaming of the components, PR, LCC and SSSP to 1e-4 of each value.
what the figures mean:
  ms       median time of --repeat calls, the graph, its transpose and its degrees prepared; EVPS: (vertices + edges)
           over that time in seconds
  checked  whether the result was compared with a reference output: "no file" where the data set has none
"""


def add_arguments(parser, name):
    """The data sets and what to run on them."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"{NOTES}\n{parser.epilog}"
    parser.add_argument("data", nargs="+", metavar="DATA", help="NAME.properties, or a folder of such files")
    parser.add_argument(
        "--algorithms",
        default=",".join(ALGORITHMS),
        metavar="NAMES",
        help=f"of {','.join(ALGORITHMS)}; those that a data set has parameters for (default all)",
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="timed calls (default 3)")
    parser.add_argument("--no-verify", dest="verify", action="store_false", help="do not check the results")
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    inputs.add_common_options(parser)


def run(args):
    """Read each data set, run its algorithms, print the table."""
    wanted = inputs.names_among("--algorithms", args.algorithms, ALGORITHMS)
    if args.repeat < 1:
        raise UsageError(f"--repeat {args.repeat}: expected 1 or more")
    rows = []
    with output.Line(args, "ldbc") as progress:
        for path in _found(args.data):
            progress(f"reading {path}")
            data = DataSet(path)
            for name in data.algorithms(wanted):
                progress(f"{data.name}: {name}")
                rows.append(_row(args, data, name))
    if not rows:
        raise UsageError(f"--algorithms {args.algorithms}: the data sets have none of them")
    columns = ("graph", "algorithm", "vertices", "edges", "load_ms", "ms", "EVPS", "checked")
    output.show(
        args,
        {"command": "ldbc", "runs": rows},
        output.table([{key: row[key] for key in columns} for row in rows], ("graph", "algorithm", "checked")),
    )


def _found(paths):
    """The properties files of `paths`, files or folders.  Raises: UsageError."""
    for path in paths:
        if not os.path.isdir(path):
            if not path.endswith(".properties"):
                raise UsageError(f"DATA {path}: expected NAME.properties or a folder")
            yield path
            continue
        inside = sorted(glob.glob(os.path.join(glob.escape(path), "*.properties")))
        if not inside:
            raise UsageError(f"DATA {path}: the folder holds no NAME.properties")
        yield from inside


def _row(args, data, name):
    call = getattr(data, f"_{name}")()
    result, times = output.timed(call, args.repeat)
    seconds = float(np.median(times))
    expected = data.reference(name) if args.verify else None
    if expected is not None:
        check(f"{data.name}: {name}", name, result.values, expected)
    return {
        "graph": data.name,
        "algorithm": name,
        "vertices": data.G.n,
        "edges": data.edges,
        "load_ms": data.seconds * 1e3,
        "ms": seconds * 1e3,
        "EVPS": (data.G.n + data.edges) / seconds if seconds else 0.0,
        "checked": "not asked" if not args.verify else "no file" if expected is None else "agrees",
    }


class DataSet:
    """A graph of Graphalytics, with vertices numbered by ascending identifiers, and its parameters.

    Raises: UsageError for a file that is missing or that does not fit the others, BadFile for one that cannot be read.
    """

    def __init__(self, path):
        from grb_tile import Matrix, binary
        from grb_tile.algorithms import Graph
        from grb_tile.io.edge_list import read_edges

        started = time.perf_counter()
        self.name = os.path.basename(path).removesuffix(".properties")
        self.base = path.removesuffix(".properties")
        with open(path, encoding="utf-8") as file:
            pattern = rf"^\s*graph\.{re.escape(self.name)}\.(\S+)\s*=\s*(.*\S)"
            self.parameters = dict(re.findall(pattern, file.read(), re.MULTILINE))
        if self.parameters.get("directed") not in ("true", "false"):
            raise UsageError(f"{path}: graph.{self.name}.directed = true or false is missing")
        self.vertices = np.sort(_identifiers(self._file("vertex-file", ".v")))
        if self.parameters.get("edge-file") == self.parameters.get("vertex-file"):  # a mistake in some data sets
            self.parameters.pop("edge-file", None)
        # as numbers where the reader accepts them (up to 2^60), else as labels, which takes longer
        as_text = True if self.vertices[-1:].max(initial=0) > 2**60 else None
        edges = read_edges(self._file("edge-file", ".e"), header=False, labels=as_text, progress=False)
        ends = edges.sources, edges.targets
        if edges.labels is not None:
            named = np.asarray(edges.labels, np.uint64)
            ends = named[ends[0]], named[ends[1]]
        rows, cols = (self._index(end) for end in ends)
        self.edges = len(rows)
        weights = np.ones(len(rows)) if edges.weights is None else edges.weights.astype(np.float64)
        directed = self.parameters["directed"] == "true"
        if not directed:
            rows, cols, weights = np.r_[rows, cols], np.r_[cols, rows], np.r_[weights, weights]
        n = len(self.vertices)
        A = Matrix.from_coo(rows, cols, weights, nrows=n, ncols=n, dup_op=binary.first, name=self.name)
        self.G = Graph(A, directed, labels=self.vertices.tolist())
        _ = self.G.AT, self.G.out_degree, self.G.is_symmetric_structure, self.G.emin
        self.seconds = time.perf_counter() - started

    def algorithms(self, wanted):
        """Those of `wanted` that the data set's properties list; all of them without such a list."""
        named = re.findall(r"\w+", self.parameters.get("algorithms", ",".join(ALGORITHMS)))
        return [name for name in wanted if name in named]

    def reference(self, name):
        """The reference output as an array in the order of the vertices, None where there is no file."""
        path = _present(f"{self.base}-{name.upper()}")
        if path is None:
            return None
        pairs = [line.split() for line in _text(path).splitlines() if line.strip()]
        if any(len(pair) != 2 for pair in pairs) or len(pairs) != len(self.vertices):
            raise UsageError(f"{path}: expected a line `vertex value` for each of the {len(self.vertices)} vertices")
        kind = {"bfs": np.int64, "cdlp": np.uint64, "wcc": np.uint64}.get(name, np.float64)
        values = np.empty(len(pairs), kind)
        at = self._index(np.array([pair[0] for pair in pairs], np.uint64))
        values[at] = np.array([pair[1] for pair in pairs], dtype=kind)
        return self._index(values) if name == "cdlp" else values  # its labels are identifiers of vertices

    def _bfs(self):
        from grb_tile.algorithms import bfs

        source = self._source("bfs")
        return lambda: bfs(self.G, source)

    def _pr(self):
        from grb_tile.algorithms import pagerank

        alpha = float(self._parameter("pr.damping-factor"))
        rounds = int(self._parameter("pr.num-iterations"))
        return lambda: pagerank(self.G, method="ldbc", alpha=alpha, max_iter=rounds)

    def _wcc(self):
        from grb_tile.algorithms import connected_components

        return lambda: connected_components(self.G)

    def _cdlp(self):
        from grb_tile.algorithms import label_propagation

        rounds = int(self._parameter("cdlp.max-iterations"))
        return lambda: label_propagation(self.G, max_iter=rounds)

    def _lcc(self):
        from grb_tile.algorithms import clustering

        return lambda: clustering(self.G, mode="ldbc")

    def _sssp(self):
        from grb_tile.algorithms import sssp

        source = self._source("sssp")
        return lambda: sssp(self.G, source)

    def _source(self, name):
        wanted = np.array([int(self._parameter(f"{name}.source-vertex"))], np.uint64)
        return int(self._index(wanted)[0])

    def _parameter(self, key):
        if key not in self.parameters:
            raise UsageError(f"{self.base}.properties: graph.{self.name}.{key} is missing")
        return self.parameters[key]

    def _file(self, key, ending):
        name = self.parameters.get(key, self.name + ending)
        path = _present(os.path.join(os.path.dirname(self.base), name))
        if path is None:
            raise UsageError(f"{self.base}.properties: {name} is not beside it, nor {name}.gz, .bz2, .xz")
        return path

    def _index(self, identifiers):
        identifiers = identifiers.astype(np.uint64)
        at = np.minimum(np.searchsorted(self.vertices, identifiers), max(0, len(self.vertices) - 1))
        strange = identifiers[self.vertices[at] != identifiers] if len(self.vertices) else identifiers
        if len(strange):
            raise UsageError(f"{self.name}: vertex {strange[0]} is not in the vertex file")
        return at


def check(what, name, found, expected):
    """Raises: WrongResult unless the Vector `found` agrees with the reference output by the rules of NOTES."""
    if name == "wcc":
        labels = found.to_dense()
        pairs = len(np.unique(np.stack([labels, expected.astype(labels.dtype)]), axis=1).T)
        if not pairs == len(np.unique(labels)) == len(np.unique(expected)):
            raise WrongResult(f"{what}: the components are not those of the reference output")
        return
    missing = {"bfs": UNREACHED, "sssp": np.inf}.get(name)
    if missing is None:
        values = found.to_dense(dtype=expected.dtype)
    else:
        values = found.to_dense(missing, dtype=expected.dtype)
    agrees = values == expected
    if name in ("pr", "lcc", "sssp"):
        finite = np.isfinite(values) & np.isfinite(expected)
        agrees[finite] |= np.abs(values[finite] - expected[finite]) <= EPSILON * np.abs(expected[finite])
    if not agrees.all():
        v = int(np.argmin(agrees))
        raise WrongResult(f"{what}: vertex number {v} has {values[v]}, the reference output {expected[v]}")


def _identifiers(path):
    lines = _text(path).splitlines()
    tokens = [line.split(None, 1)[0] for line in lines if line.strip()]
    try:
        found = np.array(tokens, dtype=np.uint64)
    except (ValueError, OverflowError):
        raise UsageError(f"{path}: expected a whole number from 0 to 2^64 - 1 in each line") from None
    if len(np.unique(found)) < len(found):
        raise UsageError(f"{path}: a vertex is there twice")
    return found


def _text(path):
    from grb_tile.io.streams import opened

    with opened(path) as source:
        return b"".join(iter(lambda: source.read(1 << 20), b"")).decode()


def _present(path):
    return next((path + ending for ending in ("", ".gz", ".bz2", ".xz") if os.path.exists(path + ending)), None)
