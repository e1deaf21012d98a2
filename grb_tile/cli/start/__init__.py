"""What the command `grb-tile` runs: outside grb_tile, so that Ctrl-C while that is imported is one line, too."""

import sys


def main():
    """Run `grb-tile`; returns the exit code."""
    try:
        from grb_tile.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("grb-tile: interrupted\n")
        return 130
    return run()
