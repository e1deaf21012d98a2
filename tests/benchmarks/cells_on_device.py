"""Single public calls on a GPU, each against the least time in which a device could touch the bytes that it must.

    python tests/benchmarks/bench_cells.py --backend cuda [--only PATTERN] [--seconds 0.3] [--total 200]
        [--rows FILE] [--record] [--no-check] [--list] [--dry-run]

The cells are device_cells.py's, on vectors of 2^20 positions and matrices of about 8 million entries
(device_operands.py).  A cell's call runs once on tiny operands on this backend and on the CPU's, whose results must
agree; then three times, and then some 7 to 20 times within the clock, the device idle before and after.  A call of more
than a second is timed once.  Of calls that write, each has a copy of the operand of its own, made before the clock.

floor      bytes of the entries read and written / 4.3 TB/s, host arrays taken and returned / 50 GB/s, 30 us a call
to, from   bytes copied to the device and from it in one call
launches   of the library's kernels, those of CuPy not counted
ran        kernels of the library, the plan of the product, if there is one, and primitives computed on the host

--total     seconds after which no further cell begins; what is left out is counted
--rows      append a JSON line for each cell, as soon as it is measured
--table     no measurements: the summary, and the file of --record, of such files
--record    write results/cells_gpu.md; its section of reasons stays as it is
--part      --part 2/4 is the second quarter of the cells; files of --rows of all parts go to --table together
--dry-run   tiny operands alone; also with --backend cpu (compared with the reference backend) or emulation.  On a GPU
            it compiles what the cells need into the cache of kernels, in several processes with --part
"""

import argparse
import collections
import contextlib
import gc
import json
import pathlib
import re
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parent, HERE.parents[1]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import device_cells  # noqa: E402
import environment  # noqa: E402
import numpy as np  # noqa: E402
from bench_cells import duration, same  # noqa: E402
from device_operands import Operands, copied, entries_bytes, key_of  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile.backends import select  # noqa: E402
from grb_tile.cli.timing import timed  # noqa: E402
from grb_tile.planner import history  # noqa: E402

TABLE = HERE / "results" / "cells_gpu.md"
BYTES_A_SECOND, HOST_BYTES_A_SECOND, CALL_SECONDS = 4.3e12, 50e9, 30e-6
LEAST, MOST, LONG = 7, 20, 1.0
LIMITS, LISTED = (3, 5, 10, 100), 5
MARKS = "<!-- reasons -->", "<!-- end of reasons -->"


# ---------------------------------------------------------------------- what a call reads, returns and copies


class Seen:
    """Operands as a call sees them: which it reads is written down; those that it changes are copies of its own."""

    def __init__(self, operands, changes):
        self._of, self._changes, self._read, self._kept = operands, changes, {}, {}

    def __getattr__(self, name):
        found = getattr(self._of, name)
        if hasattr(found, "wait"):
            found = self._read[name] = copied(found) if name in self._changes else found
            self.__dict__[name] = found
        return found

    def keep(self, name, make):
        """Operands.keep."""
        found = self._kept[name] = self._of.keep(name, make)
        return found

    def changed(self):
        """The operands that the call may have written to."""
        return [self._read[name] for name in self._changes if name in self._read]


def leaves(x):
    """What lists, tuples and dictionaries hold, at any depth."""
    if isinstance(x, dict):
        x = [part for _, part in sorted(x.items(), key=lambda item: str(item[0]))]
    if isinstance(x, list | tuple) and not (len(x) > 64 and isinstance(x[0], int | float)):
        for part in x:
            yield from leaves(part)
    else:
        yield x


def host_bytes(x):
    """Bytes of a host array, a list of numbers, bytes, or SciPy's arrays; 0 of a device's and the library's objects."""
    if type(x) is np.ndarray:
        return x.nbytes
    if type(x).__module__.startswith("scipy"):
        return sum(part.nbytes for part in vars(x).values() if type(part) is np.ndarray)
    return len(x) * (8 if isinstance(x, list) else 1) if isinstance(x, list | bytes | bytearray) else 0


def device_bytes(found, known):
    """Bytes of the entries of the objects among the leaves of `found`, and of device arrays; those `known` once."""
    total = 0
    for x in leaves(found):
        store = getattr(getattr(x, "_matrix", x), "_store", None)
        if is_device_array(x):
            total += x.nbytes
        elif store is not None and key_of(store) not in known:
            total += entries_bytes(store)
            known.add(key_of(store))
    return total


def is_device_array(x):
    """Is it CuPy's, or the emulation's?"""
    return type(x).__name__ == "DeviceArray" or type(x).__module__.startswith("cupy") and hasattr(x, "get")


def positions(index, size):
    """How many of `size` positions an index names."""
    return len(range(*index.indices(size))) if isinstance(index, slice) else len(index)


def needs(cell, seen, result):
    """(bytes on the device, bytes between host and device, calls) of one call, after it has run."""
    given, results = list(leaves(list(seen._kept.values()))), list(leaves(result))
    crossing = sum(map(host_bytes, given)) + sum(map(host_bytes, results))
    numbers = sum(hasattr(x, "wait") or isinstance(x, bool | int | float) for x in results)
    calls, known, changed = cell.calls or max(1, numbers), set(), seen.changed()
    if cell.touches == "nothing":
        return 0, crossing, calls
    if cell.touches == "part":
        return 2 * device_bytes(results, known) + device_bytes(given, known), crossing, calls
    if cell.touches == "region":
        (v,) = changed
        count = max(positions(x, v.size) for x in seen._kept.values() if not hasattr(x, "wait"))
        return device_bytes(given, known) + count * v.dtype.np_type.itemsize, crossing, calls
    of_changed = {id(x) for x in changed}
    read = [x for x in seen._read.values() if id(x) not in of_changed]
    total = device_bytes(read, known) * calls + device_bytes(given, known)
    total += 2 * device_bytes(changed, known) + device_bytes(results, known)
    return total, crossing, calls


class Traffic:
    """Bytes copied from the host to devices, and back, since they began to be counted.

    On the emulation its own count; on a GPU the functions of CuPy through which the library copies are wrapped.
    """

    to_device = to_host = 0

    @classmethod
    def read(cls):
        """(to devices, to the host)."""
        emulated = sys.modules.get("cuda_emulation.arrays")
        source = emulated.Traffic if emulated is not None else cls
        return source.to_device, source.to_host

    @classmethod
    def count_cupy(cls):
        """Wrap copies by CuPy; call it before the first use of the backend, which keeps one of the functions."""
        import cupy

        runtime, get = cupy.cuda.runtime, cupy.ndarray.get
        memcpy, asarray = runtime.memcpyAsync, cupy.asarray

        def counted_memcpy(to, source, count, kind, stream):
            if kind == 1:
                cls.to_device += count
            elif kind == 2:
                cls.to_host += count
            return memcpy(to, source, count, kind, stream)

        def counted_asarray(a, *args, **options):
            made = asarray(a, *args, **options)
            if not isinstance(a, cupy.ndarray) and not hasattr(a, "__cuda_array_interface__"):
                cls.to_device += made.nbytes
            return made

        def counted_get(self, *args, **options):
            cls.to_host += self.nbytes
            return get(self, *args, **options)

        runtime.memcpyAsync = counted_memcpy
        cupy.asarray = counted_asarray
        try:
            cupy.ndarray.get = counted_get
        except TypeError as error:  # a class that cannot be changed: then copies of whole arrays back are not counted
            print(f"copies by ndarray.get are not counted: {error}")


def launched(call):
    """{name: launches} of the library's kernels that the call launches, in the order of their first launch."""
    names = collections.Counter()

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_name in ("__call__", "over"):
            here = frame.f_globals["__name__"]
            if here.endswith((".runtime.launch", "cuda_emulation.launcher")) and frame.f_back.f_code.co_name != "over":
                self = frame.f_locals["self"]
                names[str(getattr(self, "name", getattr(self, "expression", ""))).partition("<")[0]] += 1

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(before)
    return {name: count for name, count in names.items() if name}


def plan_text(before, backend, detours):
    """What the planner decided in this call, and what was computed on the host."""
    plans = history()
    new = [plan for plan in plans if all(plan is not old for old in before)]
    host = +(collections.Counter(getattr(backend, "detours", {})) - detours)
    decided = [str(plan).partition(";")[0] for plan in new[-1:]]
    return "; ".join(decided + [f"{name} on the host" for name in sorted(host)])


# ---------------------------------------------------------------------- one cell


def finished(result, seen):
    """The result, nothing left to do for it and for the operands that the call writes to."""
    for x in (*leaves(result), *seen.changed()):
        if hasattr(x, "wait"):
            x.wait()
    return result


def once(cell, operands):
    """(result, Seen, seconds) of one call; what it changes is copied before the clock starts."""
    seen = Seen(operands, cell.changes)
    for name in operands.read_by.get(cell.label, set()).intersection(cell.changes):
        getattr(seen, name)
    result, seconds = timed(lambda: finished(cell.call(gb, seen), seen))
    operands.read_by[cell.label] = set(seen._read)
    return result, seen, seconds


def observed(cell, operands):
    """(seconds, bytes, crossing bytes, calls, bytes copied each way, what ran) of one call."""
    backend = select.current()
    before, detours, traffic = history(), collections.Counter(getattr(backend, "detours", {})), Traffic.read()
    result, seen, seconds = once(cell, operands)
    moved = [after - start for after, start in zip(Traffic.read(), traffic, strict=True)]
    return seconds, *needs(cell, seen, result), moved, plan_text(before, backend, detours)


def measure(cell, operands, seconds):
    """The row of a cell: milliseconds, bytes, multiple of the floor, what ran."""
    found = observed(cell, operands)
    first, times, kernels = found[0], [], {}
    if first < 3 * LONG:  # kernels are compiled in it
        kernels = launched(lambda: once(cell, operands))
        found = observed(cell, operands)
        stop = time.perf_counter() + seconds
        while found[0] < LONG and (len(times) < LEAST or len(times) < MOST and time.perf_counter() < stop):
            times.append(once(cell, operands)[2])
            if len(times) >= 3 and time.perf_counter() > stop:
                break
    taken, nbytes, crossing, calls, moved, ran = found
    times = times or [taken]
    ms = statistics.median(times) * 1e3
    floor = nbytes / BYTES_A_SECOND + crossing / HOST_BYTES_A_SECOND + calls * CALL_SECONDS
    return {
        "cell": cell.label, "ms": round(ms, 5), "floor_ms": round(floor * 1e3, 5),
        "multiple": round(ms / floor / 1e3, 2), "bytes": nbytes, "crossing": crossing, "calls": calls,
        "to_device": moved[0], "to_host": moved[1],
        "launches": sum(kernels.values()), "samples": len(times), "first_ms": round(first * 1e3, 2),
        "ran": "; ".join([*kernels, ran] if ran else kernels),
    }  # fmt: skip


def comparable(result):
    """Results as bench_cells.same compares them: arrays of a device as NumPy's."""
    found = []
    for x in leaves(result):
        if is_device_array(x):
            x = x.get()
        elif x is None or isinstance(x, bytes | bytearray | str):
            x = repr(x)
        found.append(x)
    return found


def compare(cell, tiny, other):
    """Raise unless the call gives the same on tiny operands on the backend in use and on the backend `other`."""
    found = []
    for backend, operands in ((None, tiny[0]), (other, tiny[1])):
        with select.using(backend) if backend else contextlib.nullcontext():
            result, seen, _ = once(cell, operands)
            result = cell.compared(gb, result) if cell.compared else result
            found.append([comparable(result), comparable(seen.changed())])
    for mine, theirs in zip(*found, strict=True):
        same(mine, theirs)


# ---------------------------------------------------------------------- the run


def run(cells, args, backend, other):
    """Rows of the cells, one after the other; a cell that fails has a row that says so."""
    shelf, shelves, group, stop = {}, ({}, {}), None, time.perf_counter() + args.total
    for cell in cells:
        if time.perf_counter() > stop:
            return
        now = cell.matrices, cell.vectors, cell.dtype
        if now != group:
            if group is None or group[0] != now[0]:
                for each in (shelf, *shelves):
                    for key in [key for key in each if key[0] != "graph"]:
                        del each[key]
            group = now
            operands = tiny = None
            gc.collect()
            tiny = [Operands(*now, "tiny", each) for each in shelves]
            operands = tiny[0] if args.dry_run else Operands(*now, "sparse", shelf)
        try:
            if not args.no_check:
                compare(cell, tiny, "cpu" if device_cells.dense_alone(cell.name) else other)
            yield measure(cell, operands, 0.0 if args.dry_run else args.seconds)
        except Exception as error:  # noqa: BLE001 - the other cells are measured all the same
            text = " ".join(str(error).split())
            yield {"cell": cell.label, "failed": f"{type(error).__name__}: {text}"[:300]}
            if "OutOfMemory" in type(error).__name__:
                gc.collect()
                with contextlib.suppress(Exception):
                    backend.device.make_room()


def line_of(row):
    """A row as it is printed."""
    if "failed" in row:
        return f"{row['cell']:72s} FAILED: {row['failed']}"
    moved = f"{row['launches']:3d} to {row['to_device']:>9d} from {row['to_host']:>9d}"
    mark = " <--" if row["multiple"] > LISTED else ""
    return f"{row['cell']:72s} {duration(row['ms'] / 1e3):>9s} {row['multiple']:8.2f} {moved}  {row['ran'][:90]}{mark}"


def summary(rows):
    """The lines below the cells."""
    measured, failed = [row for row in rows if "failed" not in row], [row for row in rows if "failed" in row]
    if not measured:
        return [f"0 cells measured, {len(failed)} failed"]
    multiples = [row["multiple"] for row in measured]
    above = ", ".join(f"{sum(x > limit for x in multiples)} above {limit}" for limit in LIMITS)
    median = statistics.median(multiples)
    lines = [f"{len(measured)} cells, median {median:.2f} of the floor, {above}; {len(failed)} failed."]
    for row in sorted(measured, key=lambda row: -row["multiple"]):
        if row["multiple"] > LISTED:
            lines.append(f"{row['multiple']:8.1f}  {duration(row['ms'] / 1e3):>9s}  {row['cell']}  {row['ran'][:100]}")
    return lines + [line_of(row) for row in failed]


def reasons(path):
    """The section of an earlier file between the two marks, which people write."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    before, mark, rest = text.partition(MARKS[0])
    return rest.partition(MARKS[1])[0] if mark else "\n"


def write_table(rows, about, path=TABLE):
    """results/cells_gpu.md."""
    found = summary(rows)
    measured = [row for row in rows if "failed" not in row]
    lines = [
        "# Single calls on a GPU against their floor",
        "",
        "`python tests/benchmarks/bench_cells.py --backend cuda --record`: median of a call, warm, until the device is",
        "idle. The floor is bytes of entries read and written / 4.3 TB/s, host arrays taken and returned / 50 GB/s,",
        "and 30 us a call. To and from: bytes copied to the device and from it in one call.",
        "",
        f"{about['device']}, commit {about['commit']}, {about['date']}.",
        "",
        found[0],
        "",
        "## Reasons",
        "",
        MARKS[0] + reasons(path) + MARKS[1],
        "",
        f"## Above {LISTED}, and failed",
        "",
        "```",
        *found[1:],
        "```",
        "",
        "## Cells",
        "",
        "| call | operands | ms | multiple | to | from |",
        "|---|---|---|---|---|---|",
        *(
            f"| {name} | {operands} | {row['ms']:.4g} | {row['multiple']:.2f} | {row['to_device']} | {row['to_host']} |"
            for row in measured
            for name, operands in [row["cell"].replace(" | ", "\0").split("\0")]
        ),
        "",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def about(backend):
    return {
        "device": (backend.describe_device() or backend.name).partition(" (")[0],
        "commit": str(environment.commit()[0])[:7],
        "date": environment.describe()["when"][:10],
    }


def read_rows(paths):
    """(rows, about) of files that --rows has written; of a cell that is in several the last row counts."""
    found, last = {}, {"device": "unknown", "commit": "unknown", "date": "unknown"}
    for line in (line for path in paths for line in path.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        if "cell" in row:
            found[row["cell"]] = row
        else:
            last = row["about"]
    return list(found.values()), last


def chosen_backend(args):
    """(the context in which it computes, the name of the backend that it is compared with)."""
    if args.backend == "emulation":
        from cuda_emulation.backend import using_shim

        return using_shim(), "cpu"
    if args.backend == "cuda":
        Traffic.count_cupy()
    return select.using(args.backend), "reference" if args.backend == "cpu" else "cpu"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", choices=("cuda", "cpu", "emulation"), default="cuda", help="what computes")
    parser.add_argument("--only", help="regular expression on a cell's label: call | forms type")
    parser.add_argument("--seconds", type=float, default=0.3, help="for the calls of one cell")
    parser.add_argument("--total", type=float, default=200.0, help="seconds after which no further cell begins")
    parser.add_argument("--rows", type=pathlib.Path, help="append JSON lines to this file")
    parser.add_argument("--part", default="1/1", help="the second quarter of the cells is 2/4")
    parser.add_argument("--table", type=pathlib.Path, nargs="+", help="no measurements: files of --rows")
    parser.add_argument("--record", action="store_true", help="write results/cells_gpu.md")
    parser.add_argument("--no-check", action="store_true", help="results are not compared")
    parser.add_argument("--list", action="store_true", help="print the labels, and what has no cell and why")
    parser.add_argument("--dry-run", action="store_true", help="tiny operands")
    args = parser.parse_args(argv)
    if args.record and (args.dry_run or args.only or args.part != "1/1"):
        parser.error("--record: of a whole run, or with --table; leave --dry-run, --only and --part out")
    if args.backend != "cuda" and not args.dry_run and not args.table:
        parser.error(f"--backend {args.backend}: for --dry-run")
    if args.table:
        rows, found = read_rows(args.table)
        print("\n".join(summary(rows)))
        if args.record:
            write_table(rows, found)
        return 0
    cells = [cell for cell in device_cells.cells() if not args.only or re.search(args.only, cell.label)]
    part, parts = map(int, args.part.split("/"))
    cells = cells[len(cells) * (part - 1) // parts : len(cells) * part // parts]
    if args.list:
        print("\n".join(cell.label for cell in cells))
        print("\n".join(f"no cell: {member}: {reason}" for member, reason in sorted(device_cells.LEFT_OUT.items())))
        return 0
    context, other = chosen_backend(args)
    rows = []
    with context, contextlib.ExitStack() as stack:
        backend = select.current()
        out = stack.enter_context(args.rows.open("a", encoding="utf-8")) if args.rows else None
        if out:
            print(json.dumps({"about": about(backend)}), file=out, flush=True)
        for row in run(cells, args, backend, other):
            rows.append(row)
            print(line_of(row), flush=True)
            if out:
                print(json.dumps(row), file=out, flush=True)
        print("\n".join(summary(rows)))
        if len(rows) < len(cells):
            print(f"{len(cells) - len(rows)} cells not reached in {args.total:.0f} seconds")
        elif args.record:
            write_table(rows, about(backend))
    return int(any("failed" in row for row in rows))
