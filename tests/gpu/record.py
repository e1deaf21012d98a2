"""RECORD.md's table of batteries, written by a whole run of tests/gpu."""

import contextlib
import datetime
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("RECORD.md")
FIRST, LAST = "<!-- table: batteries -->", "<!-- end of table -->"
WHAT = {
    "conformance": "conformance (against SuiteSparse)",
    "backends/cuda": "the kernels' own tests (tests/backends/cuda)",
    "test_primitives.py": "primitives against the reference",
    "test_interop.py": "arrays of other libraries, streams, threads",
    "test_memory.py": "the end of the device's memory",
    "test_wide.py": "more than 2^31 entries",
}


class Row:
    """The sum of one line's runs."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.seconds, self.longest = 0.0, 0.0
        self.host = set()

    def add(self, passed=0, failed=0, skipped=0, seconds=0.0, host="none"):
        self.passed, self.failed, self.skipped = self.passed + passed, self.failed + failed, self.skipped + skipped
        self.seconds, self.longest = self.seconds + seconds, max(self.longest, seconds)
        if host != "none":
            self.host.add(host)


def facts():
    """{what: text} of the machine and the commit."""
    import cupy
    import numpy

    runtime = cupy.cuda.runtime
    found = runtime.getDeviceProperties(0)
    version = runtime.runtimeGetVersion()
    driver = output("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "-i", "0").partition("\n")[0]
    return {
        "device": f"{runtime.getDeviceCount()} x {found['name'].decode()} ({found['multiProcessorCount']} "
        f"multiprocessors, compute capability {found['major']}.{found['minor']})",
        "driver, CUDA, CuPy": f"{driver or 'unknown'}, CUDA {version // 1000}.{version % 1000 // 10}, "
        f"CuPy {cupy.__version__}",
        "Python, NumPy": f"{platform.python_version()}, {numpy.__version__}",
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
    }


def output(*command):
    """What a command says; nothing where it fails."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout.strip()
    return ""


def commit():
    """The commit that ran: $GRB_TILE_COMMIT where the checkout has no history of its own, `with changes` where it is
    not clean."""
    known = os.environ.get("GRB_TILE_COMMIT") or output("git", "rev-parse", "--short", "HEAD") or "unknown"
    changed = output("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!tests/gpu/RECORD.md")
    return known + (" with changes" if changed else "")


def table(rows, machine, processes, seconds):
    """The Markdown between the marks.

    rows: {name: Row}.  machine: facts().  processes, seconds: of the run as a whole.
    """
    lines = [FIRST, "| | |", "|---|---|", *(f"| {what} | {text} |" for what, text in machine.items())]
    lines += [f"| the whole run | {seconds:.0f} s, {processes} processes |", ""]
    lines += ["| battery | passed | failed | skipped | seconds, summed (longest process) | on the host |"]
    lines += ["|---|---|---|---|---|---|"]
    for name, row in rows.items():
        host = "; ".join(sorted(row.host)) or "none"
        lines.append(
            f"| {WHAT.get(name, name)} | {row.passed} | {row.failed} | {row.skipped} | "
            f"{row.seconds:.0f} ({row.longest:.0f}) | {host} |"
        )
    return "\n".join([*lines, LAST])


def write(text, path=RECORD):
    """Put `text` in the place of what stands between the marks.  Raises: ValueError when the file has no marks."""
    before = path.read_text(encoding="utf-8")
    head, first, rest = before.partition(FIRST)
    _, last, tail = rest.partition(LAST)
    if not first or not last:
        raise ValueError(f"{path}: put the lines {FIRST} and {LAST} where the table of batteries is wanted")
    path.write_text(head + text + tail, encoding="utf-8")
