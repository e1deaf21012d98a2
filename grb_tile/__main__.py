"""`python -m grb_tile` is the command `grb-tile`."""

import sys

from grb_tile.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
