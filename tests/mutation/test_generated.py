"""Mutants drawn from the syntax tree: each is one change of the program, and its tests are those that run its line."""

import ast
import collections
import itertools

import pytest

from mutation import generated, generated_kernels
from mutation.faults import ROOT
from mutation.lines import Record

TEXT = '''"""The module's text: not a + b."""

LIMIT = 3
__slots__ = ("a", "b")


def largest(values: "list[1 + 2]", bound=0, *, kept={}):
    """Not a < b."""
    key = (len(values), bound)
    if key in kept and bound >= 0:
        return kept[key]
    if not values:
        raise ValueError("no values: 1 < 2")
    found = max(values[1:], default=min(bound, LIMIT))
    for k in range(len(values)):
        found += values[k] - 1
    found = clipped(found, bound)
    print("found", 1 + 2)
    return found
'''


def kinds(text):
    found = collections.defaultdict(list)
    for mutant in generated.mutants_of("x.py", text):
        found[mutant.kind].append((mutant.line, mutant.after))
    return found


def test_every_kind_is_found_at_its_line():
    found = kinds(TEXT)
    assert found["comparison"] == [(10, "(key not in kept)"), (10, "(bound > 0)")]
    assert found["and, or"] == [(10, "(key in kept or bound >= 0)")]
    assert found["element of a key left out"] == [(9, "((bound,))"), (9, "((len(values),))")]
    assert found["early return removed"] == [(11, "pass")] and found["refusal removed"] == [(13, "pass")]
    assert found["min and max, any and all"][0] == (14, "(min(values[1:], default=min(bound, LIMIT)))")
    assert found["keyword left out"] == [(14, "(max(values[1:]))")]
    assert [line for line, _ in found["off by one"]] == [15, 15]
    assert found["+ and -"] == [(16, "found -= values[k] - 1"), (16, "(values[k] + 1)")]
    assert (17, "(clipped(bound, found))") in found["arguments swapped"]
    assert {line for line, _ in found["statement removed"]} == {16, 17, 18}
    assert (3, "(4)") in found["constant"] and (7, "(1)") in found["constant"]
    assert {line for mutants in found.values() for line, _ in mutants}.isdisjoint({1, 4, 8})


def test_texts_annotations_and_imports_stay():
    for line, after in itertools.chain.from_iterable(kinds(TEXT).values()):
        assert "list[" not in after and "no values" not in after and '"found"' not in after, (line, after)
    assert not kinds("import a\nfrom b import c\n\n\n@cached(1 + 2)\nclass X:\n    pass\n")


def test_each_layer_has_code_and_tests():
    for layer in generated.LAYERS:
        assert generated.files_of(layer) and generated.tests_of(layer), layer


@pytest.mark.parametrize("layer", ["generators", "programs"])
def test_mutants_of_a_layer(layer):
    """Those drawn are Python, another program, of one line each, and the same again for the same seed."""
    drawn = list(itertools.islice(generated.drawn(layer, 1), 10))
    assert [mutant.name for mutant in drawn] == [m.name for m in itertools.islice(generated.drawn(layer, 1), 10)]
    assert len({(mutant.path, mutant.line) for mutant in drawn}) == len(drawn)
    for mutant in drawn:
        text = (ROOT / mutant.path).read_text()
        assert ast.dump(ast.parse(mutant.planted(text))) != ast.dump(ast.parse(text))
        with pytest.raises(ValueError, match="is not the file that it was drawn from"):
            mutant.planted("#" + text)


def test_tests_of_a_line():
    record = Record({
        "tests": {"": [0, True], "a.py::x[1]": [3.0, True], "a.py::x[2]": [1.0, True], "a.py::y": [2.0, True],
                  "a.py::z": [0.0, False]},
        "lines": {"p.py": {"1": "0x3", "5": "0xe", "6": "0x4", "7": "0x10"}, "table.py": {"1": "0x9"}},
    })  # fmt: skip
    assert record.failed == ["a.py::z"]
    assert record.tests_of("p.py", [5]) == ["a.py::y", "a.py::x[1]", "a.py::x[2]"]
    assert record.tests_of("p.py", [6, 7]) == ["a.py::x[2]"] and record.tests_of("p.py", [7, 8]) == []
    assert set(record.tests_of("p.py", [1], at_import=True)) == {"a.py::x[1]", "a.py::x[2]", "a.py::y"}
    assert set(record.tests_of("p.py", [1])) == {"a.py::x[1]", "a.py::x[2]", "a.py::y"}
    assert set(record.tests_of("table.py", [1])) == {"a.py::x[1]", "a.py::x[2]", "a.py::y"}
    assert set(record.tests_of("other.py", [1], at_import=True)) == set()


def test_tests_of_what_numba_compiles():
    """A line of a template counts as executed by the tests that execute a function which names the template."""
    uses = generated.uses_of("transpose")
    assert [path for path, _ in uses] == ["grb_tile/backends/cpu/compiled/transpose_and_merge.py"]
    ((path, lines),) = uses
    record = Record({
        "tests": {"": [0, True], "a.py::x": [3.0, True], "a.py::y": [1.0, True]},
        "lines": {path: {str(lines[0]): "0x2", str(lines[-1] + 1): "0x4"}},
    })  # fmt: skip
    template = f"{generated.TEMPLATES}transpose.py"
    mutant = generated.mutants_of(template, (ROOT / template).read_text())[-1]
    assert generated.with_tests(mutant, record).chosen == ("a.py::x",)
    assert {path for path, _ in generated.uses_of("brandes")} < {path for path, _ in generated.uses_of("placeholders")}


KERNEL = """// A comment: a < b + 1.
#pragma once
namespace grb {

constexpr int MOST = 8;  // at most 9

template <class T, int N = 4>
__global__ void __launch_bounds__(256)
shift(const T* x, int64_t n, T* y) {
  static_assert(N < 9, "N < 9");
  for (int64_t i = thread_number(); i < n; i += step) {
    if (x[i] && (flags & 7)) continue;
    y[i + 1] = x[i];
    __syncwarp();
  }
}

}  // namespace grb
"""


def test_every_kind_of_a_kernel_is_found_at_its_line():
    found = collections.defaultdict(list)
    for mutant in generated.mutants_of("x.cuh", KERNEL):
        found[mutant.kind].append((mutant.line, mutant.before.strip(), mutant.after.strip()))
        assert mutant.planted(KERNEL) != KERNEL
    assert found["comparison"] == [(11, "<", "<=")] and found["barrier removed"] == [(14, "__syncwarp();", ";")]
    assert found["mask forgotten"] == [(12, "& 7", "")] and found["early end removed"] == [(12, "continue;", ";")]
    assert found["condition dropped"] == [(12, "(x[i] && (flags & 7))", "(true)")]
    assert found["off by one"] == [(13, "+ 1", "")] and found["statement removed"] == [(13, "y[i + 1] = x[i];", ";")]
    assert (5, "8", "9") in found["constant"] and found["and, or"] == [(12, "&&", "||")]
    assert {line for mutants in found.values() for line, _, _ in mutants} == {5, 11, 12, 13, 14}


def test_tests_of_a_line_of_a_kernel():
    """A launch executes its kernel, and what the kernel names: functions of other headers, too."""
    kernels = generated_kernels.kernels_by_name()
    texts = {path: (ROOT / path).read_text() for path in generated.files_of("kernels")}
    # but for a comment that says which headers hold some, and the header that makes them functions
    counts = {path: text.count("__global__ ") for path, text in texts.items() if not path.endswith("_names.cuh")}
    assert len(kernels) == sum(counts.values()) - 1
    for name, (path, line) in kernels.items():
        assert f"{name}(" in "".join(texts[path].splitlines()[line - 1 : line + 6]), name
    assert generated_kernels.line_of_launch("grb::matvec_rows<int32_t, S>") == kernels["matvec_rows"]
    assert generated_kernels.line_of_launch("of_a_test<int>") is None
    rows, line = kernels["matvec_rows"]
    record = Record({"tests": {"": [0, True], "a.py::x": [1.0, True]}, "lines": {rows: {str(line): "0x2"}}})
    (helper,) = (d for d in generated_kernels.definitions_of(rows) if d.name == "row_total")
    for place in (line, helper.first, helper.last):
        assert generated_kernels.tests_of(rows, place, record) == ["a.py::x"]
    (lane,) = (d for d in generated_kernels.definitions_of("kernels/base/launch.cuh") if d.name == "lane_number")
    assert generated_kernels.tests_of("kernels/base/launch.cuh", lane.first, record) == ["a.py::x"]
    path, other = kernels["sssp_tree"]
    assert generated_kernels.tests_of(path, other, record) == []
