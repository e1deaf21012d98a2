"""Faults of loops that run as one operation v (+)= A (+.x) v."""

from . import Fault

TESTS = ("tests/backends/cuda/test_program_fixpoints.py",)
KERNEL, FOUND, NOTED = "kernels/graph/fixpoint.cuh", "grb_tile/programs/fixpoint.py", "grb_tile/programs/noted.py"

FAULTS = [
    Fault(
        "grb_tile/programs/captured.py",
        "a gb.Scalar ends as a number of Python",
        ' or "scalar" in captured.roles',
        "",
        TESTS,
    ),
    Fault(
        KERNEL,
        "an entry that changed is not written to the second array",
        "          if (moved) next_marks[task] = 1;\n",
        "",
        TESTS,
    ),
    Fault(
        KERNEL,
        "the last row that reads an entry is not marked",
        "p < end; p += lanes",
        "p < end - 1; p += lanes",
        TESTS,
    ),
    Fault(KERNEL, "the rows of A read what those of A' do", "int64_t(reader_starts[row])) + sub", "from) + sub", TESTS),
    Fault(
        KERNEL,
        "tasks are chosen by marks that no turn has made",
        "marked = marking;",
        "marked = marks != nullptr;",
        TESTS,
    ),
    Fault(
        KERNEL,
        "what becomes present is no change",
        "differs = !had || !(now == before);",
        "differs = had && !(now == before);",
        TESTS,
    ),
    Fault(KERNEL, "NaN is equal to itself", "!(now == before)", "now != before && now == now", TESTS),
    Fault(
        "grb_tile/backends/cuda/graph/fixpoint.py",
        "the second launch begins with the first one's arrays exchanged",
        "        if done % 2:\n",
        "        if turns % 2:\n",
        TESTS,
    ),
    Fault(
        FOUND,
        "v A takes the operands of the product as A v does",
        "op = record.op.flip() if type(record) is VxM else record.op",
        "op = record.op",
        TESTS,
    ),
    Fault(
        FOUND, "any accumulator is the product's own", "desc.accum is record.op.monoid.binaryop", "desc.accum", TESTS
    ),
    Fault(
        FOUND, "a mask is forgotten", "desc.mask is None and desc.accum is not None", "desc.accum is not None", TESTS
    ),
    Fault(
        FOUND,
        "a number that stands for the one before counts a turn more",
        "begun[of] + turns - 1",
        "begun[of] + turns",
        TESTS,
    ),
    Fault(
        NOTED,
        "the product may read another vector",
        "of_begun = u is not None and self.is_begun(target, u._store)",
        "of_begun = u is not None",
        TESTS,
    ),
]
