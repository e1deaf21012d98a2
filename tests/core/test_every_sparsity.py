"""`ss.config["sparsity_control"]`: each name and pair of names, of each object: the form that is asked for."""

import itertools
import warnings

import pytest

import grb_tile as gb

OF_VECTORS = {"sparse": "sparse", "bitmap": "bitmap", "full": "full"}
OF_MATRICES = {"sparse": "csr", "hypersparse": "hypercsr", "bitmap": "bitmapr", "full": "fullr"}
NAMES = ("sparse", "hypersparse", "bitmap", "full", "auto")


def objects():
    """Vectors and matrices, with an entry everywhere and without; {name: (object, is it full?)}."""
    return {
        "few": (gb.Vector.from_coo([1, 5], [2, 3], size=9), False), "all": (gb.Vector.from_dense([1, 2, 3]), True),
        "few of a matrix": (gb.Matrix.from_coo([1, 5], [2, 3], [4, 6], nrows=9, ncols=7), False),
        "all of a matrix": (gb.Matrix.from_dense([[1, 2], [3, 4]]), True),
    }  # fmt: skip


@pytest.mark.parametrize("name", objects())
@pytest.mark.parametrize("wanted", [*NAMES, *itertools.combinations(NAMES, 2)], ids=str)
def test_every_name(name, wanted):
    x, is_full = objects()[name]
    before, was = x.dup(), x.ss.format
    formats = OF_VECTORS if x.ndim == 1 else OF_MATRICES
    names = {wanted} if isinstance(wanted, str) else set(wanted)
    if names == {"full"} and x.ndim == 2 and not is_full:
        with pytest.raises(gb.exceptions.InvalidValue, match="bitmapr"):
            x.ss.config["sparsity_control"] = wanted if isinstance(wanted, str) else names
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x.ss.config["sparsity_control"] = wanted if isinstance(wanted, str) else names
    assert x.isequal(before, check_dtype=True)
    fitting = {formats[each] for each in names if each in formats}
    if "auto" in names:
        assert x.ss.format == was and not caught
    elif not fitting:
        assert x.ss.format == was and "sparsity_control" in str(caught[0].message)
    elif is_full and names & {"bitmap", "full"}:
        assert x.ss.format.startswith("full")
    elif names == {"full"}:  # what has gaps is a bitmap
        assert x.ss.format.startswith("bitmap")
    else:
        assert x.ss.format in {each.replace("full", "bitmap") for each in fitting}, x.ss.format
