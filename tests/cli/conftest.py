"""What the tests of the command share."""

import pytest

from grb_tile.cli.main import main


@pytest.fixture
def run(capsys):
    def call(*args):
        code = main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return call
