"""python-graphblas's own tests, run against grb_tile (see README.md here)."""

import pytest

from dropin import harness


@pytest.mark.slow
def test_their_tests():
    """No failure that known_differences.txt does not list; nothing listed that passes by now; nothing listed that is
    gone."""
    outcomes, code, output = harness.run(quiet=True, timeout=900)
    assert outcomes, f"the tests did not start (pytest ended with {code}):\n{output[-3000:]}"
    tally = harness.counts(outcomes)
    failures, passing, absent = harness.compare(outcomes, harness.read_known())
    print(f"drop-in: {tally}")
    listing = "\n".join(f"  {name}: {text.splitlines()[0] if text else ''}" for name, text in sorted(failures.items()))
    assert not failures, f"{len(failures)} of python-graphblas's tests fail and are not listed:\n{listing}"
    assert not passing, f"these pass: take them out of {harness.KNOWN.name}: {passing}"
    assert not absent, f"these are not among python-graphblas's tests: take them out of {harness.KNOWN.name}: {absent}"
    assert tally["passed"] >= 600


def test_each_difference_has_its_reason():
    known = harness.read_known()
    assert all(len(reason) >= 15 for reason in known.values())


def test_the_list_is_strict(tmp_path):
    """compare() sees an unlisted failure, a listed success and a listed test that does not exist."""
    outcomes = {
        "a::x": ("failed", "boom"),
        "a::y": ("passed", ""),
        "a::z": ("failed", "known"),
        "a::s": ("skipped", ""),
    }
    failures, passing, absent = harness.compare(outcomes, {"a::y": "r", "a::z": "r", "a::q": "r"})
    assert (list(failures), passing, absent) == (["a::x"], ["a::y"], ["a::q"])
    path = tmp_path / "known.txt"
    path.write_text("a::x\n")
    with pytest.raises(ValueError, match="no reason"):
        harness.read_known(path)
