"""Which lines each test executes, recorded once a layer; and the run of chosen tests in a chosen order.

A plugin of pytest (`-p mutation.lines`), told by the environment what to do: GRB_TILE_LINES names a folder for the
record, GRB_TILE_CHOSEN a file with the tests to run, a line each. Programs that a test starts are recorded, too: the
folder of the checkout has a `sitecustomize.py` then, and PYTEST_CURRENT_TEST names the test.
"""

from __future__ import annotations

import atexit
import collections
import json
import os
import pathlib
import sys
import threading

import pytest

RECORD, CHOSEN, IN_PROGRAM = "GRB_TILE_LINES", "GRB_TILE_CHOSEN", "GRB_TILE_LINES_OF_PROGRAM"
CASES = "GRB_TILE_CASES"  # how many cases of each test are recorded; all if it is not set
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = tuple(str(ROOT / name) + os.sep for name in ("grb_tile", "algorithms"))
AT_IMPORT = ""  # the name under which lines stand that run outside of every test
SITE = f"""import os
import sys

if {IN_PROGRAM!r} in os.environ and "PYTEST_CURRENT_TEST" in os.environ:
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tests"))
    from mutation import lines

    lines.follow_program()
"""


class Tracer:
    """Notes each executed line of FOLDERS. A function whose lines have all been seen is not traced again until `take`,
    which keeps loops quick."""

    def __init__(self):
        self.known = {}  # id of a code object -> its Trace, or None for code of others; a Trace keeps its code alive
        self.others = []  # the code of others, kept alive, because ids of dead objects come again
        self.touched = set()

    def start(self):
        threading.settrace(self.call)
        sys.settrace(self.call)

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)

    def call(self, frame, event, argument):
        code = frame.f_code
        try:
            trace = self.known[id(code)]
        except KeyError:
            if code.co_filename.startswith(FOLDERS):
                trace = Trace(code)
            else:
                self.others.append(code)
                trace = None
            self.known[id(code)] = trace
        if trace is None or len(trace.seen) == trace.count:
            return None
        self.touched.add(trace)
        return trace.line

    def take(self) -> dict[str, set[int]]:
        """The lines since the last call, by file below the checkout."""
        lines = collections.defaultdict(set)
        touched, self.touched = self.touched, set()  # threads go on meanwhile
        for trace in list(touched):
            seen, trace.seen = trace.seen, set()
            lines[os.path.relpath(trace.code.co_filename, ROOT)] |= set(seen)
        return dict(lines)


class Trace:
    def __init__(self, code):
        self.code = code
        self.seen = set()
        self.count = len({line for _, _, line in code.co_lines() if line})

    def line(self, frame, event, argument):
        if event == "line":
            self.seen.add(frame.f_lineno)
        return self.line


def follow_program():
    """Record a program that a test starts, in a file of its own; called by `sitecustomize.py`."""
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    tracer = Tracer()

    def end():
        tracer.stop()
        lines = {path: sorted(found) for path, found in tracer.take().items()}
        path = pathlib.Path(os.environ[IN_PROGRAM]) / f"program{os.getpid()}.json"
        path.write_text(json.dumps({"test": test, "lines": lines}))

    atexit.register(end)
    tracer.start()


class Recorder:
    """Writes `lines.json`: {"tests": {name: [seconds, passed]}, "lines": {path: {line: tests as bits}}}."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        self.tracer = Tracer()
        self.tests: dict[str, list] = {AT_IMPORT: [0.0, True]}
        self.bits: dict[str, dict[int, int]] = collections.defaultdict(lambda: collections.defaultdict(int))
        os.environ[IN_PROGRAM] = str(folder)
        self.launches: dict[str, set[int]] | None = None  # of kernels over the CPU emulation, once it is imported
        self.tracer.start()

    def take(self) -> dict[str, set[int]]:
        """The lines since the last call, and those where launched kernels are defined."""
        lines = self.tracer.take()
        if self.launches:
            lines |= {path: set(found) for path, found in self.launches.items()}
            self.launches.clear()
        if self.launches is None and "cuda_emulation.launcher" in sys.modules:
            from . import generated_kernels  # which imports this module

            self.launches = {}
            generated_kernels.watch_launches(self.launches)
        return lines

    def add(self, test: str, lines):
        bit = 1 << list(self.tests).index(test)
        for path, found in lines.items():
            of_path = self.bits[path]
            for line in found:
                of_path[line] |= bit

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        most = int(os.environ.get(CASES, 0))
        turn: collections.Counter[str] = collections.Counter()
        kept = []
        for item in items:
            test = item.nodeid.partition("[")[0]
            turn[test] += 1
            if not most or turn[test] <= most:
                kept.append(item)
        items[:] = kept

    def pytest_runtest_logstart(self, nodeid):
        self.add(AT_IMPORT, self.take())
        self.tests[nodeid] = [0.0, True]
        self.tracer.start()

    def pytest_runtest_logreport(self, report):
        self.tests[report.nodeid][0] += report.duration
        self.tests[report.nodeid][1] &= not report.failed
        if report.when == "teardown":
            self.add(report.nodeid, self.take())

    def pytest_sessionfinish(self):
        self.tracer.stop()
        for path in sorted(self.folder.glob("program*.json")):
            program = json.loads(path.read_text())
            if program["test"] in self.tests:
                self.add(program["test"], program["lines"])
        lines = {path: {line: hex(bits) for line, bits in found.items()} for path, found in self.bits.items()}
        (self.folder / "lines.json").write_text(json.dumps({"tests": self.tests, "lines": lines}))


class Chooser:
    """Leaves the tests that a file names, in its order."""

    def __init__(self, path: pathlib.Path):
        self.chosen = {name: place for place, name in enumerate(path.read_text().splitlines())}

    def pytest_collection_modifyitems(self, config, items):
        left = [item for item in items if item.nodeid not in self.chosen]
        items[:] = sorted((item for item in items if item.nodeid in self.chosen), key=self.place)
        if left:
            config.hook.pytest_deselected(items=left)

    def place(self, item):
        return self.chosen[item.nodeid]


def pytest_configure(config):
    if RECORD in os.environ:
        config.pluginmanager.register(Recorder(pathlib.Path(os.environ[RECORD])))
    if CHOSEN in os.environ:
        config.pluginmanager.register(Chooser(pathlib.Path(os.environ[CHOSEN])))


class Record:
    """What `Recorder` wrote, asked for the tests of a line."""

    def __init__(self, written: dict):
        names = list(written["tests"])
        self.tests = {name: seconds for name, (seconds, _) in written["tests"].items() if name}
        self.failed = [name for name, (_, passed) in written["tests"].items() if not passed]
        self._names = names
        self._bits = {
            path: {int(line): int(bits, 16) for line, bits in found.items()} for path, found in written["lines"].items()
        }

    def tests_of(self, path: str, lines, at_import: bool = False) -> list[str]:
        """The tests that execute one of the lines. What runs at the import of its module counts as executed by each
        test that executes something else of the file, or by all if there is nothing else: a table of constants."""
        found = self._bits.get(path, {})
        bits = 0
        for line in found if at_import else lines:
            bits |= found.get(line, 0)
        if bits & 1:  # at import, and perhaps again in a program that a test starts
            later = 0
            for others in found.values():
                later |= 0 if others & 1 else others
            bits = later or -1
        names = [name for place, name in enumerate(self._names) if name and bits >> place & 1]
        return self.in_order([name for name in names if name not in self.failed])

    def in_order(self, names: list[str]) -> list[str]:
        """One case of each test before the others, quick ones first: most faults fail the first of a test's cases."""
        turn: collections.Counter[str] = collections.Counter()
        keys = {}
        for name in names:
            test = name.partition("[")[0]
            turn[test] += 1
            keys[name] = (turn[test].bit_length(), self.tests[name])
        return sorted(names, key=keys.__getitem__)
