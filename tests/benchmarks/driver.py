"""Runs benchmarks, keeps their figures as JSON lines, prints them as the README's table.

    python tests/benchmarks/driver.py --list
    python tests/benchmarks/driver.py --suite core --json tests/benchmarks/results/core.jsonl
    python tests/benchmarks/driver.py --case bfs-levels-kron20
    python tests/benchmarks/driver.py --summary            # the table; --update-readme puts it into README.md

Each case runs in a process of its own, so that neither memory nor thread pools of one reach the next.  A result that
was not verified is never timed; a case that fails leaves a line that says so, and the exit status is 1.
"""

import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = HERE / "results"
README = ROOT / "README.md"
TABLE_START, TABLE_END = "<!-- table: benchmarks -->", "<!-- end of table -->"
MARK = "grb-tile-benchmark-record:"

for folder in (HERE, ROOT):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import environment  # noqa: E402
import measure  # noqa: E402


def load_cases():
    """Import every bench_*.py; each registers its cases."""
    for path in sorted(HERE.glob("bench_*.py")):
        importlib.import_module(path.stem)
    return measure.REGISTRY


def work(name):
    """In the process of one case: run it and print its record."""
    case = load_cases()[name]
    start = time.perf_counter()
    record = measure.run(case)
    record["wall"] = time.perf_counter() - start
    print(MARK + json.dumps(record))


def run_in_process(name, timeout):
    """Run one case in a process of its own; its record, or one that tells how it failed."""
    case = measure.REGISTRY[name]
    failed = {
        "case": name,
        "title": case.title,
        "suite": case.suite,
        "target": case.target,
        "met": False,
        "verified": False,
    }
    # Threads that spin while they wait would slow whoever is timed next, most of all on few cores.
    variables = {"OMP_WAIT_POLICY": "passive", **os.environ}
    command = [sys.executable, str(HERE / "driver.py"), "--worker", name]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=variables)
    except subprocess.TimeoutExpired:
        return {**failed, "error": f"no result after {timeout} s"}
    for line in run.stdout.splitlines():
        if line.startswith(MARK):
            return json.loads(line[len(MARK) :])
    return {**failed, "error": run.stderr.strip()[-2000:] or f"exit status {run.returncode}"}


def shown(value):
    """A figure with three significant digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def one_line(record):
    """A record in a line for people."""
    if record.get("error"):
        return f"{record['case']:28s} FAILED: {record['error'].splitlines()[-1][:120]}"
    peer = ""
    if record.get("median_peer"):
        ours, theirs = record["median_ours"] * 1e3, record["median_peer"] * 1e3
        peer = f"ours {shown(ours)} ms, peer {shown(theirs)} ms"
    verdict = "met" if record["met"] else "NOT MET"
    figure = f"{shown(record['value']):>7} {record['unit']:3s} target {record['target']:<5g}"
    return f"{record['case']:28s} {figure} {verdict:8s} {peer}"


def latest_records(folder):
    """The last record of each case in a folder of .jsonl files, by the time that stands in it."""
    latest = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            held = latest.get(record["case"])
            if held is None or record["environment"]["when"] >= held["environment"]["when"]:
                latest[record["case"]] = record
    return latest


def summary(folder):
    """The README's table, from the last record of each registered case."""
    latest = {name: record for name, record in latest_records(folder).items() if name in measure.REGISTRY}
    lines = ["| benchmark | grb_tile | peer | figure | target | |", "|---|---|---|---|---|---|"]
    machines = set()
    loads = [record["environment"]["load"] for record in latest.values()]
    for name, case in measure.REGISTRY.items():
        if case.suite != "core":
            continue
        record = latest.get(name)
        if record is None:
            lines.append(f"| {case.title} | | | not measured | <= {case.target:g} | |")
            continue
        about = record["environment"]
        machines.add(
            f"{about['cpu']}, {about['cores']} cores, Python {about['python']}, "
            f"SuiteSparse {about['versions']['suitesparse-graphblas']}"
        )
        if record.get("error"):
            lines.append(f"| {case.title} | | | failed | <= {case.target:g} | not met |")
            continue
        times = [duration(record.get(key)) for key in ("median_ours", "median_peer")]
        aim = f" (aim {case.aim:g})" if case.aim else ""
        unit = {"x": "x"}.get(record["unit"], f" {record['unit']}")
        lines.append(
            f"| {case.title} | {times[0]} | {times[1]} | {shown(record['value'])}{unit} | "
            f"<= {case.target:g}{unit}{aim} | {'met' if record['value'] <= case.target else 'not met'} |"
        )
    notes = [f"Measured on: {machine}." for machine in sorted(machines)]
    if loads and max(loads) > 1.5:
        notes.append(f"Other programs ran meanwhile: the load average was up to {max(loads):.1f}.")
    return "\n".join(lines + [""] + notes)


def readme_table():
    """(text before, table, text after) of the README's benchmark table."""
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(TABLE_START, 1)
    table, after = rest.split(TABLE_END, 1)
    return before + TABLE_START, table.strip("\n"), TABLE_END + after


def update_readme(folder):
    """Put the table of the kept results into README.md."""
    before, _, after = readme_table()
    README.write_text(f"{before}\n{summary(folder)}\n{after}", encoding="utf-8")


def duration(seconds):
    """Seconds in the unit that suits."""
    if seconds is None:
        return ""
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):  # noqa: B007
        if seconds * scale >= 1:
            break
    return f"{shown(seconds * scale)} {unit}"


def main():
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--suite", help="run the cases of this suite ('core', 'quick', 'all')")
    parser.add_argument("--case", action="append", default=[], help="run this case (may be repeated)")
    parser.add_argument("--json", type=pathlib.Path, help="append one line per case to this file")
    parser.add_argument("--list", action="store_true", help="name the cases")
    parser.add_argument("--summary", action="store_true", help="print the table of the kept results")
    parser.add_argument("--update-readme", action="store_true", help="put that table into README.md")
    parser.add_argument("--results", type=pathlib.Path, default=RESULTS, help="folder that --summary reads")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds per case")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return work(arguments.worker)
    cases = load_cases()
    if arguments.list:
        for case in cases.values():
            print(f"{case.suite:6s} {case.name:28s} {case.title}")
        return 0
    if arguments.summary:
        print(summary(arguments.results))
        return 0
    if arguments.update_readme:
        update_readme(arguments.results)
        return 0
    unknown = [name for name in arguments.case if name not in cases]
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}; see --list")
    chosen = arguments.case or [c.name for c in cases.values() if arguments.suite in ("all", c.suite)]
    if not chosen:
        parser.error("nothing to run: give --suite core or --case NAME; see --list")
    failed = 0
    for name in chosen:
        record = run_in_process(name, arguments.timeout)
        record["environment"] = environment.describe()
        print(one_line(record), flush=True)
        failed += bool(record.get("error"))
        if arguments.json:
            arguments.json.parent.mkdir(parents=True, exist_ok=True)
            with open(arguments.json, "a", encoding="utf-8") as out:
                out.write(json.dumps(record) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
