"""Mutants of CUDA kernels, drawn from their text: single small changes of the kinds that people make.

    python tests/mutation/run.py --generated 30 --layer kernels --seed 1 --jobs 1 --limit 120

The text is C++ as this project formats it (blanks around operators, a statement a line), so that patterns find what a
syntax tree would. Comments, the preprocessor, heads of templates and assertions at compile time stay as they are.

Kernels are compiled, so no line of theirs is traced. A launch of a kernel counts as executing the line where the
kernel is defined (`lines.py`), and a line of a header as executed by the launches of the kernels that use its
definition.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import re
from collections.abc import Iterator

from .faults import ROOT
from .lines import Record

COMPARED = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == "}
OTHERS = {
    " && ": ("and, or", " || "), " || ": ("and, or", " && "), " + ": ("+ and -", " - "), " - ": ("+ and -", " + "),
    " += ": ("+ and -", " -= "), " |= ": ("bits", " = "), " &= ": ("bits", " = "), " << ": ("shift", " >> "),
    " >> ": ("shift", " << "),
    "min(": ("min and max, any and all", "max("), "max(": ("min and max, any and all", "min("),
    "__any_sync(": ("min and max, any and all", "__all_sync("),
    "__all_sync(": ("min and max, any and all", "__any_sync("),
}  # fmt: skip
BARRIER = re.compile(r"(\w+\.)?(__syncthreads|__syncwarp|__threadfence\w*|\w*barrier)\([^;]*\);")
STATEMENT = re.compile(r"^ +((?:(?:[\w.>*-]|\[[^;=]*?\])+ (?:[-+*|&^]|<<|>>)?= |\+\+|[\w.]+(?:<[^;]*>)?\().*;)$")
LEAVES = re.compile(r"\b(break|continue|return);")
OPERAND = r"[\w.]+(?:\[[^\[\]]*\])?"
MASK = re.compile(rf"(?<=[\w)\]]) & (?:\({OPERAND}(?: [-+] {OPERAND})?\)|~?{OPERAND})(?![\w(\[.])")
NUMBER = re.compile(r"(?<![\w.\]])\d+(?=u?(?:ll)?\b)(?!\.)")
KEPT = re.compile(r"^\s*(//|#|template\b|static_assert\b|using\b|namespace\b|asm\b|struct\b|enum\b)")
DEFINES = re.compile(r"(\w+)\(|\b(?:struct|class)\s+(\w+)|constexpr\s+\w+\s+(\w+)")


def headers() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "kernels").rglob("*.cuh"))


def changes_of(line: str) -> Iterator[tuple[str, int, str, str]]:
    """(kind, place in the line, text, what replaces it) of a line without its comment."""
    for before, after in COMPARED.items():
        for found in re.finditer(re.escape(before), line):
            yield "comparison", found.start(), before, after
    for before, (kind, after) in OTHERS.items():
        for found in re.finditer(rf"(?<!\w){re.escape(before)}" if before[0] != " " else re.escape(before), line):
            yield kind, found.start(), before, after
    for found in re.finditer(r" [-+] 1\b(?!\.)", line):
        yield "off by one", found.start(), found[0], ""
    for found in BARRIER.finditer(line):
        yield "barrier removed", found.start(), found[0], ";"
    for found in LEAVES.finditer(line):
        yield "early end removed", found.start(), found[0], ";"
    for found in MASK.finditer(line):
        yield "mask forgotten", found.start(), found[0], ""
    for found in NUMBER.finditer(line):
        yield "constant", found.start(), found[0], str(int(found[0]) + 1)
    found = re.search(r"\bif (constexpr )?\(", line)
    if found and not found[1]:
        depth = 0
        for place in range(found.end() - 1, len(line)):
            depth += (line[place] == "(") - (line[place] == ")")
            if not depth:
                condition = line[found.end() - 1 : place + 1]
                yield "condition dropped", found.end() - 1, condition, "(true)"
                yield "negation", found.end() - 1, condition, f"(!{condition})"
                break
    found = STATEMENT.match(line)
    if found and not BARRIER.search(line):
        yield "statement removed", found.start(1), found[1], ";"


def mutants_of(path: str, text: str) -> list:
    from .generated import Mutant

    found = []
    start = depth = 0
    kept = False  # inside of a head that goes over several lines
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        code = re.sub(r'"[^"]*"', lambda text: "_" * len(text[0]), line.rstrip("\n"))
        code = code.partition("//")[0].rstrip()
        kept = bool(KEPT.match(code)) or (kept and depth > 0)
        head = "__global__" in code or "GRB_DEVICE" in code or (kept and not code.endswith((";", "{", "}")))
        depth = max(0, depth + code.count("(") - code.count(")")) if kept or head else 0
        if code and not kept and not head:
            for kind, place, before, after in changes_of(code):
                before = line[place : place + len(before)]
                short = [part if len(part) <= 90 else part[:60] + " ... " + part[-25:] for part in (before, after)]
                at = start + len(line[:place].encode())
                what = f"line {number}, {kind}: {short[0].strip()}  ->  {short[1].strip()}  in  {code.strip()[:100]}"
                found.append(Mutant(path, what, before, after, (), "", (), at, number, (number,), kind))
        start += len(line.encode())
    return found


@dataclasses.dataclass(frozen=True)
class Definition:
    """Of a kernel, a function, a structure or a constant: its name and its lines."""

    path: str
    name: str
    first: int
    last: int
    text: str
    kernel: bool


@functools.cache
def definitions_of(path: str) -> list[Definition]:
    """What a header defines: each piece of namespace grb that ends with a brace or a semicolon at its beginning."""
    lines = (ROOT / path).read_text().splitlines()
    found, first = [], None
    for number, line in enumerate(lines, 1):
        if not line or line.startswith(("//", "#", "namespace", "}  // namespace")):
            continue
        first = first or number
        if line[0] == "}" or line[0] != " " and line.partition("//")[0].rstrip().endswith((";", "}")):
            text = "\n".join(part.partition("//")[0] for part in lines[first - 1 : number])
            code = re.sub(r"template <[^{;]*?>\s*(?=__|GRB|struct|static|constexpr|using|inline|bool)", "", text)
            name = DEFINES.search(re.sub(r"__launch_bounds__\([^)]*\)", "", code))
            if name:
                one = next(filter(None, name.groups()))
                found.append(Definition(path, one, first, number, text, "__global__" in text))
            first = None
    return found


@functools.cache
def kernels_by_name() -> dict[str, tuple[str, int]]:
    """(header, line) of each kernel's definition."""
    return {d.name: (path, d.first) for path in headers() for d in definitions_of(path) if d.kernel}


@functools.cache
def users() -> dict[str, frozenset[str]]:
    """Of each name that a header defines the names of the definitions that mention it."""
    every = [d for path in headers() for d in definitions_of(path)]
    names = {d.name for d in every}
    found: dict[str, set[str]] = {name: set() for name in names}
    for d in every:
        for name in set(re.findall(r"\w+", d.text)) & names - {d.name}:
            found[name].add(d.name)
    return {name: frozenset(by) for name, by in found.items()}


def kernels_using(name: str) -> set[tuple[str, int]]:
    """(header, line) of the kernels that use what is called so, themselves or by others."""
    reached, open_names = {name}, [name]
    while open_names:
        for user in users().get(open_names.pop(), ()):
            if user not in reached:
                reached.add(user)
                open_names.append(user)
    return {kernels_by_name()[one] for one in reached if one in kernels_by_name()}


def tests_of(path: str, line: int, record: Record) -> list[str]:
    """The tests that launch a kernel which uses the line's definition."""
    defined = definitions_of(path)
    place = bisect.bisect_right([d.first for d in defined], line) - 1
    # what no kernel names is used by functors that Python writes: any kernel may have them
    launched = kernels_using(defined[place].name) if place >= 0 else set()
    launched = launched or set(kernels_by_name().values())
    return record.in_order(list({name for header, first in launched for name in record.tests_of(header, [first])}))


def line_of_launch(name: str) -> tuple[str, int] | None:
    """(header, line) of the kernel that a launch names, `grb::rows<int32_t, ...>`; None for one of a test's own."""
    return kernels_by_name().get(name.partition("<")[0].rpartition("::")[2])


def watch_launches(touched: dict[str, set[int]]) -> None:
    """From now on each launch of the CPU emulation adds the line of its kernel; of programs of the tests' process."""
    from cuda_emulation.launcher import EmulatedKernel

    call = EmulatedKernel.__call__

    def noted(kernel, *arguments, **more):
        found = line_of_launch(kernel.name)
        if found is not None:
            touched.setdefault(found[0], set()).add(found[1])
        return call(kernel, *arguments, **more)

    EmulatedKernel.__call__ = noted  # type: ignore[method-assign]
