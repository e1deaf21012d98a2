"""The entry point of the command `grb-tile`, installed outside grb_tile: it handles Ctrl-C while that is imported."""

import sys


def main():
    """Run `grb-tile`; returns the exit code."""
    try:
        from grb_tile.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("grb-tile: interrupted\n")
        return 130
    return run()
