"""The methods that most programs call have an example in help(), which tests/test_doctests.py runs."""

import pytest

import grb_tile as gb
from grb_tile.core.expression import MatrixExpression, ScalarExpression, VectorExpression

MATRIX = """
mxm mxv ewise_add ewise_mult ewise_union apply select reduce_rowwise reduce_columnwise reduce_scalar power kronecker
dup diag resize clear isequal isclose get build setdiag reposition from_coo from_dense from_dicts from_csr from_edgelist
from_scalar to_coo to_dense to_dicts to_csr to_edgelist
""".split()
VECTOR = """
vxm inner outer ewise_add apply select reduce dup diag isequal isclose get build from_coo from_dense from_dict to_coo
to_dense to_dict
""".split()
METHODS = [(gb.Matrix, name) for name in MATRIX] + [(gb.Vector, name) for name in VECTOR]
METHODS += [(cls, "new") for cls in (MatrixExpression, VectorExpression, ScalarExpression)]


@pytest.mark.parametrize(("cls", "name"), METHODS, ids=lambda value: getattr(value, "__name__", value))
def test_help_shows_an_example(cls, name):
    assert ">>>" in (getattr(cls, name).__doc__ or "")
