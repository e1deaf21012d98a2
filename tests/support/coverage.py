"""What was executed.  A cell is (operation, axis, value); each is recorded with the engine that computed it.

Test modules declare the cells they owe at import (`owe`), the battery records what ran (`executed`), and when all of
tests/conformance ran, conftest.py compares the two: a cell owed and not run fails the session, so nothing is left out
silently.
"""

import collections

OWED = {}  # (operation, axis, value) -> engines
RAN = collections.defaultdict(set)


def owe(operation, axis, values, engines):
    for value in values:
        cell = (operation, axis, str(value))
        if cell in OWED:
            raise ValueError(f"{cell} is declared twice")
        OWED[cell] = tuple(engines)


def executed(operation, axis, value, engine):
    cell = (operation, axis, str(value))
    if cell not in OWED:
        raise KeyError(f"{cell} ran but was not declared: call owe() where the test is defined")
    RAN[cell].add(engine)


def missing():
    """[(cell, engine)] owed and not executed."""
    return sorted((cell, engine) for cell, engines in OWED.items() for engine in engines if engine not in RAN[cell])


def table():
    """The coverage table as Markdown: what several operations have in common (write options, types) is listed once."""
    by_axis = collections.defaultdict(lambda: collections.defaultdict(list))
    for (operation, axis, value), engines in OWED.items():
        by_axis[operation, axis][engines].append(value)
    rows = collections.defaultdict(list)  # (axis, engines, values): operations
    for (operation, axis), found in by_axis.items():
        for engines, values in found.items():
            rows[axis, engines, tuple(values)].append(operation)
    shared = [(key, operations) for key, operations in rows.items() if len(operations) > 1]
    own = sorted((operations[0], key) for key, operations in rows.items() if len(operations) == 1)
    runs = sum(map(len, OWED.values()))
    lines = [
        "# Conformance coverage",
        "",
        "Each cell is computed by SuiteSparse 9.4.5 (through python-graphblas) and by the engines named, and compared "
        "in structure, values",
        'and type.  Made by `GRB_TILE_WRITE_COVERAGE=1 pytest -m "" tests/conformance`; a run of all of '
        "tests/conformance in which a cell was not",
        "executed fails.",
        "",
        f"{len({operation for operation, _ in by_axis})} operations, {len(OWED)} cells, {runs} cells times engines.",
        "",
        "## What operations have in common",
        "",
    ]
    for (axis, engines, values), operations in sorted(shared):
        lines += [
            f"### {axis}: {len(values)} cells for each of {len(operations)} operations",
            "",
            "; ".join(values).replace("None", "-"),
            "",
            f"Operations: {'; '.join(sorted(operations))}",
            "",
            f"Engines: {', '.join(engines)}",
            "",
        ]
    lines += [
        "## What each has of its own",
        "",
        "| operation | axis | cells | engines | values |",
        "|---|---|---|---|---|",
    ]
    for operation, (axis, engines, values) in own:
        shown = "; ".join(values).replace("|", "\\|")
        lines.append(f"| {operation} | {axis} | {len(values)} | {', '.join(engines)} | {shown} |")
    return "\n".join([*lines, ""])
