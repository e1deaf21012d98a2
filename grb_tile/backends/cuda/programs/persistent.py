"""A loop of a program as one persistent kernel: its turn's launches one after the other, with grid barriers between.

    found = Persistent(loop, turn)     # Raises: CaptureError where a launch cannot be a step
    found.launch()

The launches of a turn are recorded (steps.py) and their kernels called as functions, so there is no second text of any
operation.  A barrier takes about 1 us where the launch of a kernel in a graph takes 3 to 11 with its latencies, so
loops of many short turns gain; where a turn's kernels take longer than that, WHILE nodes are as fast.

Kernels: kernels/programs/persistent.cuh, turns.cuh and those of the steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ....exceptions import CaptureError
from .slots import clear_memory
from .steps import GRID, Recorder, Step, barriers

LAUNCH = {"threads": 1024, "per_processor": 1}
# "auto": where the planner expects a gain; "always"; "never".  Tests and benchmarks set it.
LOWERING = {"persistent": "auto"}
MOST_WORDS = 500  # of all arguments: 4 KiB, what every device takes
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$', re.MULTILINE)


class Persistent:
    """The kernel of a loop, with what it uses."""

    def __init__(self, loop: Any, turn: Callable) -> None:
        device = loop.device
        self._held: list = []
        begin, bodies, tell = _recorded(loop, turn, self._held)
        control = device.zeros(2, np.uint32)
        source = Source([int(control.data.ptr), int(loop.state.data.ptr)])
        text = source.text(begin, bodies, tell)
        if len(source.words) > MOST_WORDS:
            raise CaptureError(f"programs: the steps of a turn take {len(source.words)} arguments")
        launcher = device.launcher
        kernel = launcher.kernel(source.headers(), "run_turns", text)
        threads = launcher.threads(LAUNCH["threads"])
        blocks = min(kernel.resident_blocks(threads), LAUNCH["per_processor"] * launcher.processors)
        if blocks < 1:
            raise CaptureError("programs: no block of the persistent kernel fits on a multiprocessor")
        self._kernel, self._shape, self._words = kernel, (blocks, threads), tuple(map(_signed, source.words))
        self._held.append(control)
        self.steps = {name: (len(steps), source.barriers[name]) for name, steps in bodies.items()}

    def launch(self) -> None:
        """Queue it on the current stream."""
        self._kernel(*self._shape, self._words, cooperative=True)


def _signed(word):
    return word - (1 << 64) if word >> 63 else word


def _recorded(loop, turn, held):
    """(steps before the first turn, {direction: steps of a turn}, steps after the last)."""
    device = loop.device
    recorder, found = Recorder(device.launcher), []

    def note(function):
        with recorder:
            function()
            steps, clears = recorder.steps, recorder.clears
        with recorder:
            clear_memory(device, clears)
            found.append(recorder.steps + steps)

    with loop.set_aside(held):
        for function in loop.parts(turn):
            _without_launching(device, held, lambda function=function: note(function))
    if recorder.reason is not None:
        raise CaptureError(f"programs: {recorder.reason}")
    begin, *bodies, tell = found
    return begin, dict(zip(loop.directions(), bodies, strict=True)), tell


def _without_launching(device, held, function):
    """Call function(), within which no launch runs; memory of new arrays is kept in `held`.

    Raises: CaptureError where it asks for something of the device that is not a launch of the library's.
    """
    launcher, xp = device.launcher, device.xp
    if not launcher.has_graphs:
        with launcher.without_launching(held):
            function()
        return
    from .graph import Graph

    graph, stream, pool = Graph(), xp.cuda.Stream(non_blocking=True), xp.cuda.MemoryPool()

    def malloc(count):
        memory = pool.malloc(count)
        held.append(memory.mem)  # so that no two arrays of a turn share memory
        return memory

    held += [pool, stream]
    before = device.stream
    try:
        with stream, xp.cuda.using_allocator(malloc):
            device.stream = device.current_stream()
            graph.capture(device.stream, graph.graph, function)
    finally:
        device.stream = before
    foreign = graph.nodes_of(graph.graph)
    if foreign:
        raise CaptureError(f"programs: {foreign} steps of a turn are not launches of the library's")


class Source:
    """The text of the kernel.  words: its arguments, those given first.  barriers: of the grid, by the body's name."""

    def __init__(self, words: list[int]) -> None:
        self.words = words
        self.barriers: dict[str, int] = {}
        self._instances: dict[tuple, int] = {}
        self._headers: dict[str, None] = {}

    def headers(self) -> str:
        """All that the text needs, in their order."""
        return " ".join(["programs/persistent_names.cuh", *self._headers, "programs/persistent.cuh"])

    def text(self, begin: list[Step], bodies: dict[str, list[Step]], tell: list[Step]) -> str:
        """The steps' namespaces and run_turns."""
        lines = ["  turns.set_blocks(1u << 31);", *self._lines("begin", begin), "turns.barrier();"]
        lines.append("while (turns.goes()) {")
        for k, (name, steps) in enumerate(bodies.items()):
            if len(bodies) > 1:
                lines.append("if (turns.pushes()) {" if k == 0 else "} else {")
            lines += self._lines(name, steps)
        lines += ["}"] * (len(bodies) > 1) + ["turns.barrier();", "}", *self._lines("tell", tell), "turns.leave();"]
        spaces = [self._namespace(key, number) for key, number in self._instances.items()]
        body = "\n  ".join(lines)
        return (
            "using namespace grb;\n" + "\n".join(spaces) + "\nnamespace grb {\ntemplate <int = 0>\n"
            f"GRB_ENTRY void run_turns(GRB_CONSTANT const Words<{len(self.words)}> words) {{\n"
            "  const word* w = words.of;\n  Turns turns(w[0], w[1], launched_blocks());\n"
            f"  {body}\n}}\n}}\n"
        )  # fmt: skip

    def _lines(self, name, steps):
        lines, blocks, grid = [], None, 0
        wanted = barriers(steps)
        if name not in ("begin", "tell") and GRID not in wanted:
            wanted[-1] = GRID  # the last step changes what all blocks have looked at as the turn began
        for step, barrier in zip(steps, wanted, strict=True):
            if barrier == GRID:
                lines.append("turns.barrier();")
                grid += 1
            if step.blocks != blocks:
                lines.append(f"turns.set_blocks({step.blocks}u);")
                blocks = step.blocks
            elif barrier != GRID:
                lines.append("__syncthreads();")
            number = self._instances.setdefault(step.instance, len(self._instances))
            lines.append(f"if (turns.has_part()) step_{number}::Kernel::run(w + {len(self.words)});")
            self.words += step.words
        self.barriers[name] = grid + 1
        return lines

    def _namespace(self, instance, number):
        header, name, functors, template = instance
        for file in (*header.split(), *_INCLUDE.findall(functors)):
            self._headers[file] = None
        text = _INCLUDE.sub("", functors)
        return f"namespace step_{number} {{\n{text}\nusing Kernel = grb::Step<&{name}<{', '.join(template)}>>;\n}}"
