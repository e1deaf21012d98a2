"""`grb-tile compile`: compile the kernels of a release into this machine's cache, before programs need them."""

import sys
import time

from grb_tile.cli import inputs, output
from grb_tile.terminal import Line, rest_text

MOST_NAMED = 5  # failed kernels that are listed


def add_arguments(parser, name):
    parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")
    inputs.add_common_options(parser)


def run(args):
    """Compile, with a progress line on a terminal; print the numbers of compiled and failed kernels and the time."""
    from grb_tile.backends import select

    backend = select.current()
    start = time.perf_counter()
    with Line() as line:

        def progress(done, total):
            if not args.quiet and sys.stderr.isatty():
                rest = rest_text(time.perf_counter() - start, done, total)
                line.put(f"compiling kernels: {done} of {total}{rest}")

        count, failed, seconds = backend.compile_ahead(progress)
    facts = {
        "command": "compile", "backend": backend.name, "compiled": count, "failed": dict(failed), "seconds": seconds,
    }  # fmt: skip
    if count or failed:
        lines = [f"{count} kernels compiled for {backend.name} in {output.seconds_text(seconds)}"]
    else:
        lines = [f"the kernels of a release for {backend.name} are compiled already"]
    lines += [f"failed     {key}: {reason}" for key, reason in failed[:MOST_NAMED]]
    if len(failed) > MOST_NAMED:
        lines.append(f"failed     {len(failed) - MOST_NAMED} more")
    output.show(args, facts, lines)
