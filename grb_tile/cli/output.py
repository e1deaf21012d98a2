"""What a command prints: lines for people or one JSON object, tables of iterations, result vectors."""

import json
import math
import sys
import time

from grb_tile import terminal
from grb_tile.cli import timing


def seconds_text(seconds):
    """A time for people.

    >>> from grb_tile.cli.output import seconds_text
    >>> seconds_text(0.00123), seconds_text(2.5), seconds_text(150)
    ('1.23 ms', '2.50 s', '2 min 30 s')
    """
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} us"
    if seconds < 1:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds:.2f} s" if seconds < 100 else f"{int(seconds // 60)} min {int(seconds % 60)} s"


def plain(value):
    """`value` for JSON: NumPy scalars become numbers, NaN null, infinities text."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def show(args, facts, lines):
    """Print the JSON object `facts`, or the text `lines`."""
    if args.json:
        print(json.dumps(plain(facts), allow_nan=False))
    else:
        for line in lines:
            print(line)


def timed(run, repeat):
    """(last result, seconds of each call) of `repeat` calls of `run`.  Raises: ValueError unless repeat >= 1."""
    if repeat < 1:
        raise ValueError(f"--repeat {repeat}: expected 1 or more")
    return timing.repeated(run, repeat)


def time_facts(times, edges):
    """Median and best time, and the rate of `edges` traversed per second."""
    ordered = sorted(times)
    middle = ordered[len(ordered) // 2]
    return {
        "seconds": middle,
        "best_seconds": ordered[0],
        "runs": len(times),
        "edges": edges,
        "edges_per_second": edges / middle if middle else 0.0,
        "mteps": edges / middle / 1e6 if middle else 0.0,
    }


def time_line(facts):
    runs = f" (median of {facts['runs']}, best {seconds_text(facts['best_seconds'])})" if facts["runs"] > 1 else ""
    return f"time       {seconds_text(facts['seconds'])}{runs}, {facts['edges']:,} edges, {facts['mteps']:.4g} MTEPS"


def graph_facts(loaded, G):
    return {
        "file": loaded.path,
        "format": loaded.format,
        "nodes": G.n,
        "entries": G.A.nvals,
        "edges": G.nedges,
        "directed": G.directed,
        "dtype": G.A.dtype.name,
        "labelled": loaded.labels is not None,
        "load_seconds": loaded.seconds,
    }


def graph_line(facts):
    kind = "directed" if facts["directed"] else "undirected"
    return (
        f"graph      {facts['nodes']:,} nodes, {facts['edges']:,} {kind} edges ({facts['entries']:,} entries of "
        f"{facts['dtype']}), loaded in {seconds_text(facts['load_seconds'])}"
    )


def rounds(report):
    """The rounds of a Report as dictionaries, with the time of each in ms where it is known."""
    listed, before = [], 0.0
    for record in report.rounds:
        entry = dict(record)
        if "ms" not in entry and "seconds" in entry:
            entry["ms"] = (entry["seconds"] - before) * 1e3
            before = entry["seconds"]
        entry.pop("seconds", None)
        listed.append(entry)
    return listed


def table(entries, left=()):
    """Lines of a table of dictionaries: a column for each key, in the order of their first appearance.

    left   keys whose columns are left-aligned
    """
    if not entries:
        return ["(no iterations)"]
    keys = list(dict.fromkeys(key for entry in entries for key in entry))
    cells = [[_cell(entry.get(key)) for key in keys] for entry in entries]
    widths = [max(len(key), *(len(row[k]) for row in cells)) for k, key in enumerate(keys)]
    lines = [
        "  ".join(
            text.ljust(width) if key in left else text.rjust(width) for key, text, width in zip(keys, row, widths)
        )
        for row in (keys, *cells)
    ]
    return [line.rstrip() for line in lines]


def _cell(value):
    value = plain(value)
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)


def finish_run(args, loaded, vector, report, facts, lines):
    """The end of a command: add the iterations (--explain), write the vector (--output), print everything."""
    if args.explain:
        if report is None:
            lines += ["", "one masked product, no iterations"]
        else:
            facts["rounds"] = rounds(report)
            lines += ["", *table(facts["rounds"])]
    if args.output:
        write_vector(args.output, vector, loaded)
        facts["output"] = args.output
        lines.append(f"written    {args.output}")
    show(args, facts, lines)


def vector_mark(path):
    """The separator of node and value for the ending of `path`; None for .grb.  Raises: ValueError for others."""
    bare = path
    for ending in (".gz", ".bz2", ".xz"):
        bare = bare.removesuffix(ending)
    marks = {".csv": ",", ".tsv": "\t", ".txt": " "}
    mark = next((mark for ending, mark in marks.items() if bare.endswith(ending)), None)
    if mark is None and not path.endswith(".grb"):
        raise ValueError(f"--output {path}: the ending must be .grb, .txt, .csv or .tsv")
    return mark


def write_vector(path, vector, loaded):
    """Write the result vector: .grb with type and size, other formats a line `node value` for each entry."""
    from grb_tile.io import save
    from grb_tile.io.streams import Target

    mark = vector_mark(path)
    if mark is None:
        save(path, vector)
        return
    indices, values = vector.to_coo()
    if loaded.labels is None:
        names = (indices + loaded.base).tolist()
    else:
        names = [_quoted(str(loaded.labels[i]), mark) for i in indices.tolist()]
    with Target(path) as out:
        for start in range(0, len(names), 1 << 17):
            pairs = zip(names[start : start + (1 << 17)], values[start : start + (1 << 17)].tolist())
            out.stream.write("".join([f"{name}{mark}{value!r}\n" for name, value in pairs]).encode())


def _quoted(label, mark):
    return '"' + label.replace('"', '""') + '"' if mark in label or '"' in label else label


class Line(terminal.Line):
    """The current step, on stderr, in a line rewritten in place; silent unless stderr is a terminal.

    As a context manager it returns a function of a text, without effect when silent, and clears the line at the end.
    """

    def __init__(self, args, what):
        self.what = what
        self.silent = args.quiet or not sys.stderr.isatty()

    def __call__(self, text):
        if not self.silent:
            self.put(f"{self.what}: {text}")


class Watch(terminal.Line):
    """A callback that shows the iterations on stderr, in a line rewritten in place; silent unless it is a terminal.

    limit    the change below which the iterations end, where there is one: tells how many are left
    remedy   what to do where the whole takes longer than LONG: shown once, on a line of its own, on a terminal or not

    As a context manager it returns the callback, None when silent, and clears the line at the end.
    """

    INTERVAL = 0.5
    LONG = 60  # seconds
    SURE = 2  # seconds after which an estimate of the whole is good enough for the remedy

    def __init__(self, args, what, *, limit=None, remedy=None):
        self.what, self.limit, self.remedy = what, limit, None if args.quiet else remedy
        self.silent = args.quiet or not sys.stderr.isatty()
        self.shown = time.perf_counter()
        self.before = None  # the record of the iteration that was shown before

    def __call__(self, record):
        self._advise(record)
        now = time.perf_counter()
        if not self.silent and now - self.shown >= self.INTERVAL:
            self.shown = now
            self.put(f"{self.what}: {self._text(record)}")
            self.before = record
        return False

    def _text(self, record):
        total, seconds = record.get("of"), record["seconds"]
        if total is not None:
            name, done = next((key, value) for key, value in record.items() if key not in ("iteration", "seconds"))
            return f"{done:,} of {total:,} {name}{terminal.rest_text(seconds, done, total)}"
        known = [f"{key} {_cell(value)}" for key, value in record.items() if key not in ("iteration", "seconds")]
        rest = self._rest(record) or (f", {terminal.time_text(seconds)} so far" if seconds >= 1 else "")
        return f"iteration {record['iteration']}, {', '.join(known)}{rest}"

    def _rest(self, record):
        """The time until the change is below the limit, if it goes on falling by this factor; "" if that is open."""
        residual, before = record.get("residual"), self.before
        if not (self.limit and before and residual and 0 < residual < before.get("residual", 0)):
            return ""
        rounds, seconds = record["iteration"] - before["iteration"], record["seconds"] - before["seconds"]
        left = math.log(self.limit / residual) / math.log(residual / before["residual"]) * rounds
        return terminal.rest_text(seconds, rounds, rounds + left) if left > 0 else ""

    def _advise(self, record):
        seconds, total = record["seconds"], record.get("of")
        if not self.remedy or total is None or seconds < self.SURE:
            return
        done = next(value for key, value in record.items() if key not in ("iteration", "seconds"))
        if (whole := seconds * total / done) > self.LONG:
            self.put("")
            print(f"\r{self.what}: all takes about {terminal.time_text(whole)}; {self.remedy}", file=sys.stderr)
            self.width = 0
        self.remedy = None

    def __enter__(self):
        return None if self.silent and not self.remedy else self
