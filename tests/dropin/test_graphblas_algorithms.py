"""graphblas-algorithms over grb_tile: its own tests, NetworkX's tests through it, and a program on a large graph.

graphblas-algorithms 2023.10 was written for an older NetworkX, so that some of these tests fail over python-graphblas,
too.  The record is therefore python-graphblas itself: each test has the outcome here that it has there.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dropin import harness

# not imported here, because that would start python-graphblas before the other tests do
if importlib.util.find_spec("graphblas_algorithms") is None:
    pytest.skip("graphblas-algorithms is not installed", allow_module_level=True)
HERE = Path(__file__).resolve().parent
LIBRARIES = ("graphblas", "grb_tile")

# NetworkX's tests of the functions that graphblas-algorithms has
NETWORKX_TESTS = """
    algorithms.centrality.tests.test_degree_centrality algorithms.centrality.tests.test_eigenvector_centrality
    algorithms.centrality.tests.test_katz_centrality algorithms.community.tests.test_quality algorithms.components.tests
    algorithms.isomorphism.tests.test_isomorphism algorithms.link_analysis.tests algorithms.operators.tests
    algorithms.shortest_paths.tests algorithms.tests.test_boundary algorithms.tests.test_cluster
    algorithms.tests.test_core algorithms.tests.test_cuts algorithms.tests.test_dag algorithms.tests.test_dominating
    algorithms.tests.test_efficiency algorithms.tests.test_isolate algorithms.tests.test_lowest_common_ancestors
    algorithms.tests.test_reciprocity algorithms.tests.test_regular algorithms.tests.test_simple_paths
    algorithms.tests.test_smetric algorithms.tests.test_structuralholes algorithms.tests.test_tournament
    algorithms.tests.test_triads algorithms.traversal.tests.test_bfs generators.tests.test_ego linalg.tests
""".split()


def outcomes_of(folder, targets, **variables):
    """{library: {test: outcome}} of pytest on installed packages or modules."""
    found = {}
    for library in LIBRARIES:
        place = folder / library
        place.mkdir()
        arguments = ["--pyargs", *targets]
        found[library], code, output = harness.run_pytest(library, place, arguments, 900, variables=variables)
        assert found[library], f"the tests did not start over {library} (pytest ended with {code}):\n{output[-3000:]}"
    return found


def differences(found):
    """{test: (outcome there, outcome here, text)} where they differ."""
    theirs, ours = (found[library] for library in LIBRARIES)
    none = ("absent", "")
    return {
        name: (theirs.get(name, none)[0], *ours.get(name, none))
        for name in theirs.keys() | ours.keys()
        if theirs.get(name, none)[0] != ours.get(name, none)[0]
    }


@pytest.mark.slow
def test_its_own_tests(tmp_path):
    found = outcomes_of(tmp_path, ["graphblas_algorithms"])
    assert not differences(found)
    assert harness.counts(found["grb_tile"])["passed"] >= 8


@pytest.mark.slow
def test_networkx_tests_through_it(tmp_path):
    targets = [f"networkx.{name}" for name in NETWORKX_TESTS]
    found = outcomes_of(
        tmp_path, targets, NETWORKX_TEST_BACKEND="graphblas", NETWORKX_FALLBACK_TO_NX="1", NX_CACHE_CONVERTED_GRAPHS=""
    )
    assert not differences(found)
    assert harness.counts(found["grb_tile"])["passed"] >= 700


@pytest.mark.slow
def test_a_program_on_a_large_graph(tmp_path):
    """Every function whose result has fewer than n^2 entries, on 50,000 nodes and 500,000 entries: equal results, and
    at most 1.5 times the memory."""
    peaks = {}
    for library in LIBRARIES:
        command = [sys.executable, str(HERE / "large_graph_program.py"), library, str(tmp_path / library)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, f"{library}: {done.stderr[-3000:]}"
        peaks[library] = json.loads(done.stdout.splitlines()[-1])["peak"]
    names = sorted(path.name for path in (tmp_path / "graphblas").iterdir())
    assert len(names) >= 60
    for name in names:
        with np.load(tmp_path / "graphblas" / name) as theirs, np.load(tmp_path / "grb_tile" / name) as ours:
            assert theirs.files == ours.files, name
            for part in theirs.files:
                if theirs[part].dtype.kind == "U":
                    assert theirs[part].tolist() == ours[part].tolist(), name
                else:
                    np.testing.assert_allclose(ours[part], theirs[part], rtol=1e-5, atol=1e-9, err_msg=name)
    assert peaks["grb_tile"] <= 1.5 * peaks["graphblas"], peaks


def test_differences_are_seen():
    one = {"a": ("passed", ""), "b": ("failed", "x"), "c": ("passed", "")}
    other = {"a": ("failed", "boom"), "b": ("failed", "y"), "d": ("passed", "")}
    assert differences({"graphblas": one, "grb_tile": other}) == {
        "a": ("passed", "failed", "boom"), "c": ("passed", "absent", ""), "d": ("absent", "passed", ""),
    }  # fmt: skip
