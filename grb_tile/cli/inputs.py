"""The options that all commands share, and loading the graph of a command."""

import os
import sys
import time
import warnings

from grb_tile.algorithms.arguments import nearest_label
from grb_tile.backends import select
from grb_tile.cli.main import UsageError


def add_arguments(parser, algorithm=True, optional=False):
    """File (optional or not), format and output options."""
    add_file_options(parser, optional)
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    add_common_options(parser)
    parser.add_argument("--plot", metavar="FILE.png", help="draw the result (needs matplotlib)")
    if algorithm:
        parser.add_argument("--explain", action="store_true", help="print a line for each iteration")
        parser.add_argument(
            "--output",
            metavar="FILE",
            help="write the result vector: .grb, or lines of node and value (.txt, .csv, .tsv; also .gz)",
        )
        parser.add_argument(
            "--repeat", type=int, default=1, metavar="N", help="run N times, report the median and best time"
        )


def add_common_options(parser):
    """Options for the backend and for messages besides the results."""
    parser.add_argument(
        "--backend",
        choices=("auto", *(name for name in select.AVAILABLE if name not in select.FOR_TESTS)),
        help="backend: cuda is an NVIDIA GPU, auto uses it where there is one (default: GRB_TILE_BACKEND, else cpu)",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no remarks on stderr")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def add_file_options(parser, optional=False):
    """The file and how to read it."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="Matrix Market, edge list, METIS .graph, .npz or .grb file; - for standard input",
        nargs="?" if optional else None,
    )
    parser.add_argument(
        "--format", choices=("mtx", "edges", "metis", "npz", "grb"), help="of FILE; default: by its content"
    )
    parser.add_argument("--delimiter", help="edge lists: what separates the columns; default: detected")
    parser.add_argument(
        "--base",
        type=int,
        choices=(0, 1),
        help="edge lists: numbers are indices from here on; default: the nodes are those that the file names",
    )
    parser.add_argument(
        "--labels",
        action="store_true",
        default=None,
        help="edge lists: names are labels even if they are whole numbers",
    )
    way = parser.add_mutually_exclusive_group()
    way.add_argument(
        "--directed", dest="directed", action="store_true", default=None, help="take the edges as they are"
    )
    way.add_argument("--undirected", dest="directed", action="store_false", help="enter each edge in both directions")
    parser.add_argument(
        "--weights",
        choices=("file", "unit"),
        default="file",
        help="file: the values in FILE (default); unit: every edge weighs 1",
    )
    parser.add_argument(
        "--duplicates",
        choices=("min", "max", "plus", "first", "error"),
        help="how repeated edges are combined (default min, with a remark on their number in an edge list)",
    )


def names_among(option, text, known):
    """The names of a list with commas.  Raises: UsageError for one that is not among `known`, and for none."""
    names = tuple(part.strip() for part in text.split(","))
    for name in names:
        if name not in known:
            raise UsageError(f"{option} {name or '(none)'}: expected some of {','.join(known)}")
    return names


class Loaded:
    """The matrix of a file, its labels, and the seconds of reading it."""

    def __init__(self, path, matrix, labels, format, base, seconds):
        self.path = path
        self.matrix = matrix
        if isinstance(labels, range):  # numbered from 1 without a gap
            labels, base = None, labels.start
        self.labels = labels
        self.format = format
        self.seconds = seconds
        self.base = base
        self.numbers = None

    def node(self, text, option="--source"):
        """The index of the node that `text` names: its label where there are any, otherwise a number as FILE counts."""
        if self.labels is not None:
            self.numbers = self.numbers or {str(label): k for k, label in enumerate(self.labels)}
            if text not in self.numbers:
                near = nearest_label(text, list(self.numbers))
                raise UsageError(
                    f"{option} {text}: no such node{near}{' The' if near else '; the'} file has {len(self.labels)} "
                    f"labels, such as {', '.join(map(str, self.labels[:3]))}"
                )
            return self.numbers[text]
        first, last = self.base, self.base + self.matrix.nrows - 1
        if not text.lstrip("-").isdigit():
            raise UsageError(f"{option} {text}: expected a node number from {first} to {last} (the file has no labels)")
        if not first <= int(text) <= last:
            raise UsageError(f"{option} {text}: there is no such node; nodes are numbered {first} to {last}")
        return int(text) - self.base

    def label(self, index):
        return self.labels[index] if self.labels is not None else int(index) + self.base


def check_outputs(args):
    """Check the output files before the work.  Raises: ValueError, ImportError, OSError."""
    from grb_tile.io.replace import check_target

    if args.plot:
        from grb_tile.cli.plots import check

        check(args.plot)
    if getattr(args, "output", None):
        from grb_tile.cli.output import vector_mark

        vector_mark(args.output)
    for path in (args.plot, getattr(args, "output", None), getattr(args, "target_file", None)):
        if path:
            check_target(path)


def opened(args):
    """The Source of args.file, which is opened only once, because it may be a pipe."""
    from grb_tile.io.streams import Source

    if args.file != "-":
        return Source(args.file)
    if sys.stdin is None:
        raise UsageError("FILE is -, but standard input is closed")
    return Source(sys.stdin.buffer)


def load(args):
    """Read args.file as the options say, after check_outputs."""
    check_outputs(args)
    with opened(args) as source:
        return load_source(args, source)


def load_source(args, source):
    """Read the Source of args.file as the options say."""
    from grb_tile import dtypes, io as grb_io

    format = args.format or grb_io.detect_format(source)
    if not args.quiet:
        _warn_of_memory(source, format)
    dup_op = _duplicates(args.duplicates, format)
    started = time.perf_counter()
    options = {}
    if format == "edges":
        options = {"labels": args.labels, "base": args.base, "delimiter": args.delimiter}
        options["directed"] = args.directed or None  # --undirected: see _both_ways, for every format
        if args.weights == "unit":
            options["weights"] = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", grb_io.RepeatedEdges)
        found = grb_io.read(source, format=format, dup_op=dup_op, progress=False if args.quiet else None, **options)
    for warning in caught:
        _pass_on(warning, source.name, args.quiet)
    matrix = found.obj
    if len(matrix.shape) != 2:
        raise UsageError(f"{args.file} holds a {type(matrix).__name__}, a Matrix is needed")
    if args.directed is False:
        matrix = _both_ways(matrix, args.file)
    if args.weights == "unit" or matrix.dtype.name == "BOOL" and args.command == "sssp":
        from grb_tile import unary

        matrix = unary.one[dtypes.INT64](matrix).new(name=matrix.name)
    return Loaded(args.file, matrix, found.labels, found.format, found.base, time.perf_counter() - started)


def _duplicates(chosen, format):
    """The dup_op for --duplicates; None for an edge list without the option: minimum, with a RepeatedEdges warning."""
    from grb_tile import binary

    if format == "edges" and chosen in (None, "error"):
        return chosen
    return None if chosen == "error" else getattr(binary, chosen or "min")


def _pass_on(warning, name, quiet):
    """Print a RepeatedEdges warning as a remark on stderr; pass other warnings on."""
    if type(warning.message).__name__ != "RepeatedEdges":
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    elif not quiet:
        found = warning.message
        sys.stderr.write(
            f"grb-tile: {found.repeated:,} of the {found.edges:,} edges in {name} repeat an earlier one; the minimum "
            "weight of each edge is stored; --duplicates chooses another rule\n"
        )


def _both_ways(matrix, path):
    """min(A | A'): each edge in both directions, with the lesser of two different weights."""
    from grb_tile import binary

    if matrix.nrows != matrix.ncols:
        raise UsageError(f"--undirected: the matrix in {path} is {matrix.nrows} by {matrix.ncols}, a graph's is square")
    op = binary.lor if matrix.dtype.name == "BOOL" else binary.min
    return op(matrix | matrix.T).new()


def graph(args):
    """(Loaded, Graph) of args.file; the matrix must be square."""
    from grb_tile.algorithms import Graph

    loaded = load(args)
    if loaded.matrix.nrows != loaded.matrix.ncols:
        raise UsageError(
            f"{args.file} holds a {loaded.matrix.nrows} by {loaded.matrix.ncols} matrix; a graph's is square"
        )
    if loaded.matrix.nrows == 0:
        raise UsageError(f"{args.file} holds no nodes")
    name, directed = os.path.basename(args.file), True if args.directed else None
    return loaded, Graph(loaded.matrix, directed, name=name, labels=loaded.labels)


def _warn_of_memory(source, format):
    """Print the memory that loading a file needs, if that is more than half of the free memory."""
    from grb_tile.cli.memory import available, estimate, head_of
    from grb_tile.io.progress import size_text

    head = head_of(source) if format == "mtx" else None
    free = available()
    if head and free and (wanted := estimate(head)["loading"]) > free // 2:
        sys.stderr.write(
            f"grb-tile: loading {source.name} needs about {size_text(wanted)} of memory, {size_text(free)} are free\n"
        )
