"""What was executed.  A cell is (operation, axis, value); each is recorded with the engine that computed it.

Test modules declare the cells they owe at import (`owe`), the battery records what ran (`executed`), and when all of
tests/conformance ran, conftest.py compares the two: a cell owed and not run fails the session, so nothing is left out silently.
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
    """The coverage table as Markdown: one section per operation, one line per axis."""
    sections = collections.defaultdict(lambda: collections.defaultdict(list))
    for (operation, axis, value), engines in OWED.items():
        sections[operation][axis].append((value, engines))
    cells = len(OWED)
    runs = sum(map(len, OWED.values()))
    made_by = "`GRB_TILE_WRITE_COVERAGE=1 pytest tests/conformance`"
    lines = [
        "# Conformance coverage", "",
        "Each cell is computed by SuiteSparse 9.4.5 (through python-graphblas) and by the engines named, and compared in structure,",
        f"values and type.  Made by {made_by}; a run of all of tests/conformance in which a cell was not executed fails.", "",
        f"{len(sections)} operations, {cells} cells, {runs} cells times engines.", "",
    ]
    for operation in sorted(sections):
        lines += [f"## {operation}", "", "| axis | cells | engines | values |", "|---|---|---|---|"]
        for axis, found in sections[operation].items():
            by_engines = collections.defaultdict(list)
            for value, engines in found:
                by_engines[engines].append(value)
            for engines, named in by_engines.items():
                lines.append(f"| {axis} | {len(named)} | {', '.join(engines)} | {'; '.join(named)} |".replace("None", "-"))
        lines.append("")
    return "\n".join(lines)
