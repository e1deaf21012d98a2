"""`grb-tile COMMAND FILE ...`: the argument parser, and how errors become one line and an exit code.

0    done
1    the algorithm found that there is no answer: a negative cycle, no convergence
2    bad input or usage: a missing or mangled file, an unknown node, a wrong option, not enough memory
3    an error of grb_tile itself (--debug shows where)
130  interrupted (Ctrl-C)
"""

import argparse
import contextlib
import os
import re
import sys
from importlib import import_module

from ..spelling import did_you_mean

OK, NO_ANSWER, BAD_INPUT, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 130

# name: (module of grb_tile.cli with add_arguments(parser, name) and run(args), help)
COMMANDS = {
    "bfs": ("traversal", "breadth-first search: the level of each node"),
    "sssp": ("traversal", "shortest paths by weight from one node"),
    "pagerank": ("whole_graph", "rank of each node"),
    "components": ("whole_graph", "connected components (weak ones of a directed graph)"),
    "triangles": ("whole_graph", "number of triangles"),
    "betweenness": ("vertex_values", "share of the shortest paths that pass through each node"),
    "closeness": ("vertex_values", "how near each node is to those that reach it"),
    "harmonic": ("vertex_values", "sum of the inverse distances to each node"),
    "eigenvector": ("vertex_values", "eigenvector centrality of each node"),
    "katz": ("vertex_values", "Katz centrality of each node"),
    "cores": ("vertex_values", "core number of each node"),
    "clustering": ("vertex_values", "share of each node's pairs of neighbours that are joined"),
    "communities": ("vertex_values", "communities by the Louvain method, with their modularity"),
    "leiden": ("vertex_values", "communities by the Leiden method, each of them connected, with their modularity"),
    "labels": ("vertex_values", "communities by label propagation, as LDBC Graphalytics defines it"),
    "strong-components": ("vertex_values", "strongly connected components"),
    "info": ("info", "sizes, degrees, symmetry, tiles, and the memory that work would need"),
    "convert": ("convert", "write the graph in another format"),
    "compile": ("compile", "compile the usual kernels into the cache of this machine, so that no first call is slow"),
    "run": ("run", "start the ranks of a distributed program on this host"),
    "bench": ("bench", "how fast searches and products run here, on a graph of yours or a made one"),
    "gap": ("gap", "the six kernels of the GAP benchmark suite, under its rules, verified"),
    "ldbc": ("ldbc", "the six algorithms of LDBC Graphalytics, against its reference outputs"),
}

EPILOG = """exit codes: 0 done; 1 no answer (negative cycle, no convergence); 2 bad input or usage; 3 internal error;
130 interrupted.  Files: Matrix Market .mtx, edge lists (.txt .csv .tsv .el .gr), METIS .graph, .npz of scipy.sparse,
.grb; the text formats also as .gz, .bz2, .xz."""


# what else one may call a command
OTHER_NAMES = {
    "connected-components": "components", "cc": "components", "dijkstra": "sssp", "k-core": "cores", "kcore": "cores",
    "core-number": "cores", "louvain": "communities", "modularity": "communities", "label-propagation": "labels",
    "scc": "strong-components", "shortest-path": "sssp", "triangle-count": "triangles", "stats": "info",
    "read": "convert", "benchmark": "bench",
}  # fmt: skip


class UsageError(Exception):
    """An argument does not fit the graph."""


class Parser(argparse.ArgumentParser):
    """Suggests what a misspelt command, option or choice may have meant.

    >>> import contextlib, io, sys
    >>> from grb_tile.cli.main import main
    >>> with contextlib.redirect_stderr(sys.stdout):
    ...     main(["pagernak", "f"])
    grb-tile: 'pagernak' is no command; did you mean 'pagerank'?  `grb-tile --help` lists all
    2
    """

    def error(self, message):
        """Exit with the message; Pythons before 3.14 suggest nothing themselves."""
        found = re.search(r"argument (\S+): invalid choice: '([^']*)'.*choose from (.*)\)", message)
        if found and found[1] == "COMMAND":
            near = OTHER_NAMES.get(found[2].lower().replace("_", "-"))
            near = f"; did you mean {near!r}?" if near else did_you_mean(found[2].lower(), COMMANDS)
            near = f"{near}  `" if near else ": `"
            self.exit(BAD_INPUT, f"grb-tile: {found[2]!r} is no command{near}grb-tile --help` lists all\n")
        if found:
            message += did_you_mean(found[2], [choice.strip(" '") for choice in found[3].split(",")])
        super().error(message)

    def refuse(self, unknown):
        """Exit and name the arguments that the command does not have."""
        option = next((each.partition("=")[0] for each in unknown if each.startswith("-")), None)
        near = "" if option is None else did_you_mean(option, self._option_string_actions)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{near}")


def parser():
    top = Parser(prog="grb-tile", description="Graph algorithms as linear algebra, on files.", epilog=EPILOG)
    top.add_argument("--version", action="version", version=_version())
    top.commands = commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (module, text) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text, epilog=EPILOG)
        import_module(f"grb_tile.cli.{module}").add_arguments(command, name)
    return top


def _version():
    from grb_tile import __version__

    return f"grb-tile {__version__}"


def main(argv=None):
    """Run one command; returns the exit code.  Results go to stdout, messages to stderr.

    >>> from grb_tile.cli.main import main
    >>> main(["info", "no-such-file.mtx"])
    2
    """
    args = None
    if sys.stderr is None:  # closed: messages are lost; devnull takes descriptor 2, which no other file must get
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  (open until the process ends)
    try:
        top = parser()
        args, unknown = top.parse_known_args(argv)
        if unknown:
            top.commands.choices[args.command].refuse(unknown)
        args.given = sys.argv[1:] if argv is None else list(argv)
        if sys.stdout is None:
            raise UsageError("standard output is closed: send it to /dev/null if it is not wanted")
        module = import_module(f"grb_tile.cli.{COMMANDS[args.command][0]}")
        with _backend(args.backend):
            module.run(args)
        sys.stdout.flush()
        return OK
    except SystemExit as stop:  # argparse has printed help, the version or a usage message
        return stop.code if isinstance(stop.code, int) else BAD_INPUT
    except KeyboardInterrupt:
        return _fail(args, "interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has closed it
        return OK
    except Exception as error:  # every error becomes one line and a code
        if args is not None and args.debug:
            raise
        return _fail(args, _one_line(error), _code(error))
    finally:
        _flush()


def _flush():
    """Flush stdout and stderr; drop what cannot be written, because Python retries at exit and then exits with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _backend(name):
    """A context with the backend `name`; None: the backend that is set."""
    from grb_tile.config import config

    return config.set({} if name is None else {"backend": name})


def _code(error):
    from grb_tile.exceptions import GraphblasException

    if type(error).__name__ in ("NegativeCycleError", "ConvergenceFailure"):
        return NO_ANSWER
    if type(error).__name__ == "WrongResult":
        return INTERNAL
    bad_input = (
        UsageError,
        OSError,
        ImportError,
        ValueError,
        TypeError,
        IndexError,
        OverflowError,
        MemoryError,
        GraphblasException,
    )
    return BAD_INPUT if isinstance(error, bad_input) and not _is_bug(error) else INTERNAL


def _is_bug(error):
    """Is it a TypeError, IndexError or ImportError that no `raise` statement of the innermost frame raised?"""
    if not isinstance(error, (TypeError, IndexError, ImportError)) or error.__traceback__ is None:
        return False
    import linecache

    frame = error.__traceback__
    while frame.tb_next:
        frame = frame.tb_next
    code = frame.tb_frame.f_code
    text = "".join(
        linecache.getline(code.co_filename, n) for n in range(max(1, frame.tb_lineno - 8), frame.tb_lineno + 1)
    )
    return "raise " not in text


# remedy in a message of the library -> the equivalent option of the command
REMEDIES = {
    "raise max_iter or tol, or pass strict=False to be given what was reached": "raise --max-iter",
    "pass labels=True": "pass --labels",
    "Pass labels=True": "Pass --labels",
    "Pass base=0, or labels=True": "Pass --base 0, or --labels",
    "Name the separator with delimiter=": "Name the separator with --delimiter",
    "enter them in both directions: Graph(x, directed=False) where x is a table or an edge list, "
    "Graph(gb.binary.any(A | A.T).new()) of a Matrix A": "pass --undirected",
}


def _one_line(error):
    if isinstance(error, FileNotFoundError) and error.strerror == os.strerror(error.errno or 0):
        return f"{error.filename}: no such file"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return (
            f"not enough memory ({error}): `grb-tile info FILE` prints what is needed"
            if str(error)
            else ("not enough memory: `grb-tile info FILE` prints what is needed")
        )
    text = " ".join(str(error).split())
    for remedy, option in REMEDIES.items():
        text = text.replace(remedy, option)
    named = isinstance(error, (UsageError, ValueError, TypeError, IndexError, ImportError, OverflowError))
    from grb_tile.exceptions import GraphblasException

    return text if text and (named or isinstance(error, GraphblasException)) else f"{type(error).__name__}: {text}"


def _fail(args, text, code):
    what = "internal error: " if code == INTERNAL else ""
    command = "grb-tile" if args is None else f"grb-tile {args.command}"
    with contextlib.suppress(OSError, ValueError):  # stderr cannot be written: the exit code remains
        sys.stderr.write(f"{command}: {what}{text}\n")
    return code
