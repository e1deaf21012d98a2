"""`python -m grb_tile.run SCRIPT ARGUMENTS...`: run a program as one rank, within any MPI launcher.

mpiexec -n 8 python -m grb_tile.run script.py      each process is a rank; an error of one ends all
python -m grb_tile.run -n 4 script.py              the command `grb-tile run`, which starts the processes itself
python -m grb_tile.run script.py                   one rank
"""

import sys

from grb_tile.cli import rank
from grb_tile.cli.main import main as command


def main(arguments):
    """Run a script, or start the ranks of one where the arguments begin with an option."""
    if not arguments or arguments[0].startswith("-"):
        sys.exit(command(["run", *arguments]))
    rank.main(arguments[0], arguments[1:])


if __name__ == "__main__":
    main(sys.argv[1:])
