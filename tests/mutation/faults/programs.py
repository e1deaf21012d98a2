"""Faults of programs: what a loop carries, how it ends, what it is recognised by, what is refused."""

from . import Fault

TESTS = ("tests/programs", "tests/backends/cuda/test_programs.py")

STEPS = ("tests/backends/cuda/test_program_steps.py",)
LOWERINGS = ("tests/backends/cuda/test_program_lowerings.py",)
BRANCHES = ("tests/backends/cuda/test_program_branches.py",)
LOOPS = ("tests/backends/cuda/test_program_loops.py",)
ITERATIONS = ("tests/backends/cuda/test_program_algorithms.py",)

FAULTS = [
    Fault(
        "grb_tile/programs/rewrite.py",
        "a loop that stays in Python keeps the statements of a captured one",
        "            statement.body = written\n",
        "            pass\n",
        ("tests/programs",),
    ),
    Fault(
        "grb_tile/programs/branches.py",
        "a name of one branch is taken for one of none",
        "        return ONE_BRANCH\n",
        "        return first if isinstance(first, Undefined) else second\n",
        BRANCHES,
    ),
    Fault(
        "grb_tile/programs/branches.py",
        "the second branch begins with what the first has left",
        "        elements.reset(target, before)\n    return found, written\n",
        "        pass\n    return found, written\n",
        BRANCHES,
    ),
    Fault(
        "grb_tile/programs/running.py",
        "globals that only a branch reads are not in the signature",
        "for name in _global_names(code) if name in scope]",
        "for name in code.co_names if name in scope]",
        BRANCHES,
    ),
    Fault(
        "grb_tile/programs/jumps.py",
        "what follows a branch without `continue` is left out",
        "after = [] if _jumps(branch) else copy.deepcopy(rest)",
        "after = []",
        ("tests/programs",),
    ),
    Fault(
        "kernels/programs/copy.cuh",
        "the branch that is not taken is copied",
        "if (flag != nullptr && !*flag) return;",
        "if (flag != nullptr && *flag) return;",
        BRANCHES,
    ),
    Fault(
        "grb_tile/backends/cuda/programs/slots.py",
        "swapped vectors are copied over each other",
        "(to, copied(device, source) if _is_array(source) and source.data.ptr in written else source)",
        "(to, source)",
    ),
    Fault(
        "grb_tile/backends/cuda/programs/slots.py",
        "the count of a vector is not loaded",
        "            pairs.append((count[:1], store.nvals if late is None else late[:1]))\n",
        "            pass\n",
    ),
    Fault(
        "grb_tile/backends/cuda/programs/slots.py",
        "a result is the slot itself, which the next call writes",
        "        arrays = device.launcher.array_block(device.xp, self._plan).arrays()\n",
        "        return self.store(), []\n",
    ),
    Fault(
        "grb_tile/programs/running.py",
        "numbers that the loop reads are not in the signature",
        "        return type(value).__name__, repr(value)\n",
        "        return (type(value).__name__,)\n",
    ),
    Fault(
        "grb_tile/programs/running.py",
        "matrices are not in the signature",
        'return "matrix", value._is_transposed, id(matrix._store)',
        'return "matrix", value._is_transposed',
    ),
    Fault(
        "grb_tile/programs/running.py",
        "vectors keep what a failed capture wrote",
        "            elements.reset(vector, store)\n        raise\n",
        "            pass\n        raise\n",
    ),
    Fault(
        "grb_tile/programs/captured.py",
        "swapped objects end where they began",
        "for _ in range(turns % _period(captured.next, k)):",
        "for _ in range(0):",
    ),
    Fault(
        "grb_tile/programs/captured.py",
        "the flag of a break is ignored",
        "goes = test if stop is True or stop is False else both(True, negated(stop), lambda: test)",
        "goes = test",
    ),
    Fault(
        "grb_tile/backends/cuda/programs/steps.py",
        "no barrier between blocks that need each other's results",
        "level = max(level, its + order - 1)",
        "level = max(level, its)",
        STEPS,
    ),
    Fault(
        "grb_tile/backends/cuda/programs/steps.py",
        "an array of another element size counts as touched at the same positions",
        "aligned = a.stride and a.stride == b.stride and a.start == b.start and s.blocks == t.blocks",
        "aligned = a.stride and a.start == b.start and s.blocks == t.blocks",
        STEPS,
    ),
    Fault(
        "grb_tile/backends/cuda/programs/steps.py",
        "an array starts with zeros while a step of the same level uses it",
        "within.setdefault(users[-1] + 1, []).append(item)",
        "within.setdefault(users[-1], []).append(item)",
        STEPS,
    ),
    Fault(
        "grb_tile/backends/cuda/programs/persistent.py",
        "arrays hold what the turn before left as the first turn begins",
        "        begin = begin + made_of(early)\n",
        "",
        LOWERINGS,
    ),
    Fault(
        "kernels/programs/persistent.cuh",
        "a step of one block runs on the whole grid",
        "const unsigned wanted = most < blocks ? most : blocks;",
        "const unsigned wanted = blocks;",
        LOWERINGS,
    ),
    Fault(
        "grb_tile/core/number.py",
        "a subtraction with the number on the right is swapped",
        "found = left.vector.apply(name, right=other) if first else right.vector.apply(name, left=other)",
        "found = (left if first else right).vector.apply(name, right=other)",
    ),
    Fault(
        "grb_tile/programs/jumps.py",
        "the loop around goes on after a `return` in a loop within",
        "            if len(returns) > before:\n",
        "            if False:\n",
        LOOPS,
    ),
    Fault(
        "grb_tile/programs/rewrite.py",
        "what a `return` reads after the loop is not carried",
        " or _mentions(self._moved, name):",
        ":",
        LOOPS,
    ),
    Fault(
        "grb_tile/programs/inner.py",
        "the vectors keep what the trial of a loop within wrote",
        "        elements.reset(target, store)\n",
        "        pass\n",
        LOOPS,
    ),
    Fault(
        "grb_tile/programs/inner.py",
        "a loop within leaves its vectors as they were",
        "        frame.write(vector)\n        elements.reset(vector, store)\n",
        "        frame.write(vector)\n",
        LOOPS,
    ),
    Fault(
        "grb_tile/programs/inner.py",
        "names that swap vectors in a loop within are taken for their slots",
        'if role == "object" and old is not new:',
        "if False:",
        LOOPS,
    ),
    Fault(
        "grb_tile/backends/cuda/programs/inner.py",
        "a loop within has a turn whose test does not hold",
        "                    self._begin(test)\n",
        "                    self._begin(True)\n",
        LOOPS,
    ),
    Fault(
        "grb_tile/programs/captured.py",
        "a number loses what its later type does not hold",
        "number != value == value:",
        "False:",
        LOOPS,
    ),
    Fault(
        "algorithms/iteration.py",
        "the last change of a launch is the one that the history has",
        "[: self.loop.turns - 1].tolist(), last]",
        "[: self.loop.turns].tolist()]",
        ITERATIONS,
    ),
    Fault(
        "grb_tile/programs/captured.py",
        "a vector that a turn writes keeps the entries of before the loop",
        "        captured.changed.update(places[key] for key in self._written if key in places)\n",
        "        pass\n",
    ),
    Fault(
        "grb_tile/programs/captured.py",
        "vectors that swap names keep the entries of before the loop",
        "                if captured.next[k] != k:\n",
        "                if False:\n",
    ),
    Fault(
        "grb_tile/programs/running.py",
        "what a step of the library's iterations reads is not in the signature",
        'module.startswith("grb_tile") and not module.startswith("grb_tile.algorithms")',
        'module.startswith("grb_tile")',
        ITERATIONS,
    ),
]
