"""A loop of a program as one persistent kernel: its turn's launches one after the other, with grid barriers between.

    found = Persistent(loop, turn)     # Raises: CaptureError where a launch cannot be a step
    if found.is_ready(): found.load(); found.launch(stream)

The launches of a turn are recorded (steps.py) and their kernels called as functions, so there is no second text of any
operation.  A barrier takes about 1 us where the launch of a kernel in a graph takes 3 to 11 with its latencies, so
loops of many short turns gain; where a turn's kernels take longer than that, WHILE nodes are as fast.

Kernels: kernels/programs/persistent.cuh, turns.cuh and those of the steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ....exceptions import CaptureError, JitError
from ....planner.choose_lowering import one_kernel_pays
from .fused import Group
from .numbers import OwnNumbers
from .slots import clear_memory
from .steps import (
    EVERY,
    Recorder,
    Step,
    bytes_of,
    chains_of,
    copies_numbers,
    is_own,
    levels,
    places_of,
    runs_by_warp,
    starts_of,
    step_of,
    wraps,
)  # fmt: skip
from .turn_products import resolved, with_edges, without_next

LAUNCH = {"threads": 512, "per_processor": 2}
# persistent: "auto", where the planner expects a gain; "always"; "never".  cycles: "", or those of "levels" or "steps",
# which are counted.  Tests and benchmarks set them.
LOWERING: dict[str, Any] = {"persistent": "auto", "cycles": ""}
MOST_MARKS = 128  # between which cycles are counted
MOST_SHAPES = 16  # of steps: `shapes` of persistent.cuh
MOST_WORDS = 4000  # of all arguments: 32 KiB, what drivers for CUDA 12.1 and later take
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$', re.MULTILINE)


class Persistent:
    """The kernel of a loop, with what it uses.  levels: names of the kernels in each level of a turn, by direction."""

    def __init__(self, loop: Any, turn: Callable) -> None:
        device = loop.device
        self._held: list = []
        launcher = device.launcher
        most = LAUNCH["per_processor"] * launcher.processors
        recorded = _recorded(loop, turn, self._held, most)
        if LOWERING["persistent"] == "auto":
            self._check_gain(list(recorded.bodies.values()), device.profile)
        control = device.zeros(2, np.uint32)
        self._cycles = device.zeros(MOST_MARKS, np.int64) if LOWERING["cycles"] else None
        cycles = 0 if self._cycles is None else int(self._cycles.data.ptr)
        source = Source([int(control.data.ptr), recorded.state, cycles])
        text = source.text(recorded)
        self._marks = source.marks
        if len(source.words) > MOST_WORDS:
            raise CaptureError(f"programs: the steps of a turn take {len(source.words)} arguments")
        self._launcher, self._key = launcher, (source.headers(), "run_turns", text, ())
        self._words, self._most = tuple(map(_signed, source.words)), most
        self._held.append(control)
        self.levels = {
            name: [[s.name for s in level] for level in ordered] for name, ordered in recorded.bodies.items()
        }
        self.barriers = {name: len(found) - (not recorded.barrier) for name, found in self.levels.items()}

    def is_ready(self) -> bool:
        """Is the kernel compiled?  Else it is being compiled from now on.  Always, where it is forced."""
        return LOWERING["persistent"] != "auto" or self._launcher.is_ready(*self._key)

    def load(self) -> None:
        """Load the kernel, which is compiled now if it is not yet.

        Raises: JitError; CaptureError where it cannot be launched.
        """
        kernel = self._launcher.kernel(*self._key)
        threads = self._launcher.threads(LAUNCH["threads"])
        blocks = min(kernel.resident_blocks(threads), self._most)
        if blocks < 1:
            raise CaptureError(f"programs: no {blocks} blocks for the steps of a turn")
        self._launch = kernel.launch(0, blocks, threads, cooperative=True, fixed=self._words)

    def launch(self, stream: Any) -> None:
        """Queue it on the stream."""
        self._launch(stream.ptr)

    def cycles(self, device: Any) -> list[tuple[str, int]]:
        """Of all turns since it was made, each direction's after the other: (levels or steps, cycles of block 0)."""
        return list(zip(self._marks, device.host(self._cycles).tolist(), strict=False))

    @staticmethod
    def _check_gain(bodies, profile):
        """Raises: CaptureError where WHILE nodes take less time."""
        for ordered in bodies:
            steps = [step for level in ordered for step in level]
            pays, bytes_ns, saved_ns = one_kernel_pays(bytes_of(steps), len(steps), len(ordered), profile)
            if not pays:
                raise CaptureError(
                    f"programs: a turn reads for {bytes_ns / 1e3:.1f} us, more than the {saved_ns / 1e3:.1f} us of "
                    "launches that one kernel saves"
                )


class OneKernel:
    """Whether a loop runs as one kernel.

    wanted: are products to be by kernels that take any grid?  text: how the turns run, and why not as one kernel.
    nodes: steps of a turn, by direction.
    """

    def __init__(self) -> None:
        self.wanted = LOWERING["persistent"] != "never"
        self.text, self.nodes = "WHILE nodes", {}  # type: tuple[str, dict[str, int]]
        self.kernel: Persistent | None = None
        self._waiting: Persistent | None = None

    def consider(self, loop: Any, turn: Callable) -> None:
        """Record the loop's turn as steps."""
        if self.wanted:
            try:
                self._waiting = Persistent(loop, turn)
            except CaptureError as error:
                self.refuse(error)
            self.look()

    def refuse(self, reason: object) -> None:
        """The turns run by WHILE nodes, for that reason."""
        self._waiting = None
        self.text = f"WHILE nodes, not one kernel: {str(reason).removeprefix('programs: ')}"

    def look(self) -> None:
        """The turns run by one kernel from now on, if it is compiled by now."""
        found = self._waiting
        if found is None:
            return
        if not found.is_ready():
            self.text = "WHILE nodes until one kernel is compiled"
            return
        try:
            found.load()
        except (CaptureError, JitError) as error:
            self.refuse(error)
            return
        self._waiting, self.kernel = None, found
        self.nodes = {name: sum(map(len, levels)) for name, levels in found.levels.items()}
        phases = ", ".join(map(str, found.barriers.values()))
        self.text = f"one kernel, {phases} grid barriers a turn"


def _shape_of(step):
    return f"{step.blocks}u, {step.chunk}u, {str(step.apart).lower()}"


def _with(lines, between):
    return [line for pair in zip(lines, [between] * len(lines), strict=True) for line in pair][:-1]


def _own(words):
    """Which arguments are the block's own numbers, as bits in C++.  Those that are no pointers do not matter."""
    return f"{sum(1 << k for k, word in enumerate(words) if is_own(word)):#x}ull"


def _signed(word):
    return word - (1 << 64) if word >> 63 else word


class Recorded(NamedTuple):
    """A loop as steps in levels: before the first turn, in one of each direction, after the last.

    barrier: is one of the grid at the end of a turn?  numbers: OwnNumbers.table.  state: where the TurnState is.
    """

    begin: list[list[Step]]
    bodies: dict[str, list[list[Step]]]
    tell: list[Step]
    barrier: bool
    numbers: list[tuple[int, int, int]]
    state: int


def _recorded(loop, turn, held, most):
    """The Recorded of the loop; most: blocks of the grid."""
    device = loop.device
    recorder, found = Recorder(device.launcher, most), []

    def note(function):
        with recorder:
            function()
        found.append(starts_of(recorder.steps, recorder.clears))

    with loop.set_aside(held):
        for function in loop.parts(turn):
            _without_launching(device, held, lambda function=function: note(function))
    if recorder.reason is not None:
        raise CaptureError(f"programs: {recorder.reason}")
    (starts, begin), *bodies, (_, tell) = found
    known = [with_edges(steps) for steps in resolved([without_next(steps) for _, steps in bodies])]
    bodies = list(zip([items for items, _ in bodies], known, strict=True))
    own = OwnNumbers([steps for _, steps in bodies], [item for items, _ in bodies for item in items])
    state = int(loop.state.data.ptr)
    if not own.has(state):
        raise CaptureError("programs: too many numbers for each block")
    begin, made, barrier = _made_of(device, recorder, starts) + begin, {}, False
    rewritten = own.without_unread([own.rewritten(steps) for _, steps in bodies], loop.kept_numbers())
    for name, (starts, _), steps in zip(loop.directions(), bodies, rewritten, strict=True):
        ordered = levels(steps)
        places = places_of(ordered, [own.start(item) for item in starts])
        begin += _made_of(device, recorder, [item for item in places.early if not is_own(item.start)])
        for k, items in places.after.items():
            ordered[k] = ordered[k] + [step_of(item) for item in items]
        for k, items in places.within.items():
            if k >= 0:
                ordered[k] = _made_of(device, recorder, items) + ordered[k]
        if -1 in places.within:
            ordered.insert(0, _made_of(device, recorder, places.within[-1]))
        made[name], barrier = ordered, barrier or places.barrier or len(ordered) == 1
    barrier = barrier or any(wraps(s[-1], t[0]) for s in made.values() for t in made.values())
    return Recorded(levels(begin), made, tell, barrier, own.table, own.place(state))


def _made_of(device, recorder, starts):
    """The steps that write what arrays start with, those of the blocks' own numbers apart."""
    found = []
    for own in (True, False):
        with recorder:
            clear_memory(device, [(x.start, x.count) for x in starts if x.step is None and is_own(x.start) == own])
        found += [step._replace(blocks=EVERY) if own else step for step in recorder.steps]
    return found + [item.step for item in starts if item.step is not None]


def _without_launching(device, held, function):
    """Call function(), within which no launch runs; memory of new arrays is kept in `held`.

    Raises: CaptureError where it asks for something of the device that is not a launch of the library's.
    """
    if not device.launcher.has_graphs:
        with device.launcher.without_launching(held):
            function()
        return
    from .graph import Graph, recording

    graph = Graph()
    with recording(device, held, apart=True) as stream:
        graph.capture(stream, graph.graph, function)
    foreign = graph.nodes_of(graph.graph)
    if foreign:
        raise CaptureError(f"programs: {foreign} steps of a turn are not launches of the library's")


class Source:
    """The text of the kernel.

    words: its arguments, those given first: addresses of the control block, the TurnState, cycles of levels or 0.
    """

    def __init__(self, words: list[int]) -> None:
        self.words = words
        self.marks: list[str] = []  # what is counted
        self._instances: dict[tuple, int] = {}
        self._headers: dict[str, None] = {}
        self._shapes: dict[str, int] = {}

    def headers(self) -> str:
        """All that the text needs, in their order."""
        return " ".join(["programs/persistent_names.cuh", *self._headers, "programs/persistent.cuh"])

    def text(self, loop: Recorded) -> str:
        """The steps' namespaces and run_turns."""
        table = f"w + {len(self.words)}, {len(loop.numbers)}"
        self.words += [word for number in loop.numbers for word in number]
        lines = self._lines(loop.begin, once=True)
        lines += [f"turns.load_numbers({table});", "bool pushes;"]
        if self.words[2]:
            lines.append("turns.mark(w[2], -1);")
        lines.append("while (turns.next(pushes)) {")
        for k, ordered in enumerate(loop.bodies.values()):
            if len(loop.bodies) > 1:
                lines.append("if (pushes) {" if k == 0 else "} else {")
            lines += self._lines(ordered, loop.barrier, LOWERING["cycles"] if self.words[2] else "")
        lines += ["}"] * (len(loop.bodies) > 1) + ["}", "turn_barrier();", f"turns.store_numbers({table});"]
        lines += [*self._lines([loop.tell], False, once=True), "turns.leave();"]
        spaces = [self._namespace(*key, number) for key, number in self._instances.items()]
        made = [f"make_shape({k}, {shape});" for shape, k in self._shapes.items()]
        if len(made) > MOST_SHAPES:
            raise CaptureError(f"programs: the steps of a turn divide vectors in {len(made)} ways")
        body, shape = "\n  ".join([*made, *lines]), f"{LAUNCH['threads']}, {LAUNCH['per_processor']}"
        count = len(self.words)
        return (
            "using namespace grb;\n" + "\n".join(spaces) + "\nnamespace grb {\n"
            f"GRB_OF_BLOCK word arguments[{count}];\n"
            f"template <int = 0>\nGRB_ENTRY({shape}) void run_turns(GRB_CONSTANT const Words<{count}> words) {{\n"
            "  const word* w = words.of;\n  Turns turns(w[0], w[1]);\n"
            f"  for (int k = threadIdx.x; k < {count}; k += blockDim.x) arguments[k] = w[k];\n"
            f"  {body}\n}}\n}}\n"
        )  # fmt: skip

    def _shape(self, step):
        return self._shapes.setdefault(_shape_of(step), len(self._shapes))

    def _mark(self, name):
        self.marks.append(name)
        return f"turns.mark(w[2], {len(self.marks) - 1});"

    def _lines(self, ordered, last_barrier=True, counted="", once=False):
        """The calls of the steps, with a barrier of the grid after each level, or each but the last.

        counted: LOWERING["cycles"].  once: are they called once in a launch?
        """
        lines, before, alone = [], None, False
        for place, level in enumerate(ordered):
            chains, level = ([], level) if once else chains_of(level)
            if chains:
                lines.append(f"set_shape({self._shape(chains[0][0])});")
                before = _shape_of(chains[0][0])
            for warp, chain in enumerate(chains):
                calls = [self._call(step, once, any_warp=True) for step in chain]
                lines += [
                    f"if (threadIdx.x >> 5 == {warp} % (blockDim.x >> 5)) {{",
                    *_with(calls, "__syncwarp();"),
                    "}",
                ]
            if counted == "steps" and chains:
                lines += ["__syncthreads();", self._mark(" ".join(s.name for chain in chains for s in chain))]
            done = 0
            for k, step in enumerate(level):
                if k < done:
                    continue
                group = None if once else Group.of(level[k:])
                done = k + (1 if group is None else group.steps)
                shape = _shape_of(step)
                by_warp = step.blocks == EVERY and runs_by_warp(step)
                if alone and not by_warp:
                    lines.append("}")
                    alone = False
                if alone:
                    lines.append("__syncwarp();")
                elif shape == before:
                    lines.append("__syncthreads();")
                else:
                    lines.append(f"set_shape({self._shape(step)});")
                if by_warp and not alone:
                    lines.append("if (threadIdx.x < 32) {")
                    alone = True
                before = shape
                lines += [self._call(step, once)] if group is None else self._pass(group)
                if counted == "steps":
                    lines += ["}"] * alone + ["__syncthreads();", self._mark(" ".join(s.name for s in level[k:done]))]
                    alone, before = False, None
            if alone:
                lines.append("}")
                alone = False
            if last_barrier or place + 1 < len(ordered):
                lines.append("turn_barrier();")
            if counted:
                lines.append(self._mark("barrier" if counted == "steps" else " ".join(s.name for s in level)))
        return lines

    def _pass(self, group):
        """The loop over the positions of several steps."""
        at, before, within, after = len(self.words), [], [], []
        self.words += group.words
        for k, item in enumerate(group.items):
            number = self._instances.setdefault((item.key, None), len(self._instances))
            own = _own(group.words[word] for word in item.words)
            call = f"step_{number}::at<{', '.join(map(str, (own, *item.words)))}>(w + {at}, k)"
            if item.key[-1] is None:
                within.append(f"{call};")
            else:
                before.append(f"step_{number}::Total total_{k} = {{}};")
                within.append(f"step_{number}::add(total_{k}, {call});")
                after.append(f"step_{number}::end(total_{k}, w[{at + item.parts}]);")
        end = f"min(chunk_end * 64, {group.positions}ll)"
        return [
            "{", *before, f"const int64_t end = {end};",
            "GRB_LOOP for (int64_t k = chunk_first * 64 + threadIdx.x; k < end; k += blockDim.x) {", *within, "}",
            *after, "}",
        ]  # fmt: skip

    def _call(self, step, once, any_warp=False):
        part, at = "if (blockIdx.x == 0) " * (step.blocks == 1), len(self.words)
        self.words += step.words
        if copies_numbers(step):
            return f"{part}{'if (threadIdx.x < 32) ' * (not any_warp)}copy_numbers(arguments + {at});"
        number = self._instances.setdefault((step.instance, once), len(self._instances))
        return f"{part}step_{number}::run<{_own(step.words)}>(w + {at});"

    def _namespace(self, instance, once, number):
        header, name, functors, template = instance[:4]
        for file in (*header.split(), *_INCLUDE.findall(functors)):
            self._headers[file] = None
        text = _INCLUDE.sub("", functors)
        if once is None:
            called = (
                f"template <grb::word OWN, int... WORD> GRB_DEVICE auto at(const grb::word* w, int64_t k) {{ "
                f"return grb::Item<&{name}<{', '.join(template)}>>::template at<OWN, WORD...>(w, k); }}"
            )
            if instance[4] is not None:
                kind, operator = instance[4]
                called += (
                    f"\nusing Total = grb::Part<{kind}>;\n"
                    "GRB_DEVICE void add(Total& total, const Total& more) {\n"
                    f"  grb::fold<{kind}, {operator}>(total, more);\n}}\n"
                    "GRB_DEVICE void end(const Total& total, grb::word parts) {\n"
                    "  auto of_blocks = static_cast<grb::word*>(grb::address_of(parts));\n"
                    f"  grb::reduce_grid(total.value, total.any, of_blocks, nullptr, nullptr, {operator}());\n}}"
                )
            return f"namespace step_{number} {{\n{text}\n{called}\n}}"
        inline = "static __device__ __noinline__" if once else "GRB_DEVICE"
        return (
            f"namespace step_{number} {{\n{text}\ntemplate <grb::word OWN> {inline} void run(const grb::word* w) {{ "
            f"grb::Step<&{name}<{', '.join(template)}>>::template run<OWN>(w); }}\n}}"
        )
