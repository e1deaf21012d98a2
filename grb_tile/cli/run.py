"""`grb-tile run -n 4 SCRIPT ARGUMENTS...`: start the ranks of a distributed program on this host.

By MPI where mpi4py and an `mpiexec` are installed, else as processes joined by Unix sockets. When one rank ends with a
status that is not 0, or is killed, the others are ended, and that status is the command's.
"""

import argparse
import contextlib
import ctypes
import importlib.util
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from grb_tile.backends.distributed.environment import (
    ADDRESS_VARIABLE,
    KEY_VARIABLE,
    LAUNCHERS,
    RANK_VARIABLE,
    SIZE_VARIABLE,
    TAG_VARIABLE,
)
from grb_tile.cli.main import UsageError
from grb_tile.cli.rank import NOT_TOGETHER

SECONDS_TO_END = 1.0  # for the other ranks, to end by themselves once one has failed: they print what they were at
SECONDS_TO_TERMINATE = 3.0  # after SIGTERM; then SIGKILL
SECONDS_BETWEEN_LOOKS = 0.02
PR_SET_PDEATHSIG = 1  # of prctl: the signal that a process gets when its parent has ended
LONGEST_ADDRESS = 80  # characters: the path of a Unix socket has 107
THREAD_VARIABLES = ("GRB_TILE_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Open MPI refuses root, more ranks than cores, and ties a rank to one core, unless it is told otherwise.
FOR_OPEN_MPI = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "PRTE_MCA_hwloc_default_binding_policy": "none",
}  # fmt: skip
FOR_ROOT = {
    f"{name}_ALLOW_RUN_AS_ROOT{confirm}": "1" for name in ("OMPI", "PRTE") for confirm in ("", "_CONFIRM")
}  # fmt: skip


def add_arguments(parser, name):
    """How many ranks, how they are started, and the script; what follows it is the script's."""
    parser.add_argument("-n", "--ranks", type=int, required=True, metavar="N", help="number of processes")
    parser.add_argument(
        "--over",
        choices=("auto", "mpi", "pipes"),
        default="auto",
        help="mpi: mpiexec starts the ranks; pipes: Unix sockets join them; auto (default): mpi where it is installed",
    )
    parser.add_argument(
        "--backend", dest="backend_of_ranks", metavar="NAME", help="cpu, cuda: GRB_TILE_BACKEND of the ranks"
    )
    parser.add_argument(
        "--threads", type=int, metavar="N", help="threads of each rank (default: the cores of this host / ranks)"
    )
    parser.add_argument("--tag", action="store_true", help="begin each line of output with the rank's number")
    parser.add_argument("script", metavar="SCRIPT", help="a Python program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    parser.set_defaults(backend=None, debug=False)


def run(args):
    """Start the ranks, wait for them, and exit with the status of the first that failed."""
    if args.ranks < 1:
        raise UsageError(f"-n {args.ranks}: expected 1 rank or more")
    if args.threads is not None and args.threads < 1:
        raise UsageError(f"--threads {args.threads}: expected 1 thread or more")
    if not os.path.isfile(args.script):
        raise UsageError(f"{args.script}: no such file")
    program = [sys.executable, "-m", "grb_tile.run", args.script, *args.arguments]
    environment = _environment(args)
    mpiexec = None if args.over == "pipes" or args.ranks == 1 else _mpiexec()
    if args.over == "mpi" and args.ranks > 1 and mpiexec is None:
        raise UsageError(
            "--over mpi: mpi4py or mpiexec is missing; in a checkout of grb_tile, pip install '.[dist]' mpich"
        )
    if mpiexec is not None:
        environment.update({name: environment.get(name, value) for name, value in FOR_OPEN_MPI.items()})
        if os.geteuid() == 0:
            environment.update(FOR_ROOT)
        command = [mpiexec, "-n", str(args.ranks), *program]
        status = _wait([_started(command, environment, None)])
    elif args.ranks == 1:
        status = _wait([_started(program, environment, None)])
    else:
        status = _run_pipes(args.ranks, program, environment)
    raise SystemExit(status)


def _environment(args):
    """The environment of all ranks."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GRB_TILE_DIST_")}
    for variables in LAUNCHERS:  # this command may itself be the one process of a launcher
        for name in variables:
            environment.pop(name, None)
    if "GRB_TILE_DIST_CHECK" in os.environ:
        environment["GRB_TILE_DIST_CHECK"] = os.environ["GRB_TILE_DIST_CHECK"]
    environment[SIZE_VARIABLE] = str(args.ranks)
    if args.backend_of_ranks:
        environment["GRB_TILE_BACKEND"] = args.backend_of_ranks
    if args.tag:
        environment[TAG_VARIABLE] = "1"
    threads = str(args.threads or max(1, len(os.sched_getaffinity(0)) // args.ranks))
    for name in THREAD_VARIABLES:
        if args.threads or name not in environment:
            environment[name] = threads
    return environment


def _mpiexec():
    """The mpiexec to use: that of a wheel beside this Python, else that of PATH; None without mpi4py or without one."""
    if importlib.util.find_spec("mpi4py") is None:
        return None
    beside = pathlib.Path(sys.executable).parent
    return shutil.which("mpiexec", path=str(beside)) or shutil.which("mpiexec")


def _run_pipes(ranks, program, environment):
    """Start processes that find each other in a folder that is this user's alone; returns the status."""
    with tempfile.TemporaryDirectory(prefix="grb-tile-", dir=_short_folder()) as address:
        environment |= {ADDRESS_VARIABLE: address, KEY_VARIABLE: secrets.token_hex(32)}
        processes = []
        try:
            for rank in range(ranks):
                stdin = None if rank == 0 and not _is_terminal(sys.stdin) else subprocess.DEVNULL
                processes.append(_started(program, environment | {RANK_VARIABLE: str(rank)}, stdin))
        except BaseException:
            _end(processes, [], seconds=0)
            raise
        return _wait(processes)


def _short_folder():
    """Where the folder of the sockets is made: the temporary folder, unless its path is too long for a socket's."""
    folder = tempfile.gettempdir()
    return folder if len(folder) < LONGEST_ADDRESS else "/tmp"


def _is_terminal(stream):
    with contextlib.suppress(AttributeError, ValueError):
        return stream.isatty()
    return False


def _started(command, environment, stdin):
    """A process in a group of its own, so that a signal reaches it once: from this command, which passes it on.

    The system ends it where this command is killed.  SIGINT, which a shell's background ignores, is heard.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None

    def begin():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if library is not None:
            library.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    return subprocess.Popen(command, env=environment, stdin=stdin, process_group=0, preexec_fn=begin)


def _wait(processes):
    """Wait for all; returns the status of the first that failed, once the others have ended."""
    received = []
    earlier = {number: signal.signal(number, lambda n, frame: received.append(n)) for number in SIGNALS}
    running, failed = list(processes), []  # failed: statuses, in the order of time
    try:
        while running and not failed:
            _look(running, failed, received)
        if failed:
            _end(running, failed)
        return next((status for status in failed if status != NOT_TOGETHER), failed[0] if failed else 0)
    finally:
        _end(running, [], seconds=0)
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _look(running, failed, received=()):
    """Pass signals on, and move processes that have ended from `running`, their statuses to `failed`; then pause."""
    while received:
        number = received.pop(0)
        for process in running:
            _signal(process, number)
    for process in [process for process in running if process.poll() is not None]:
        running.remove(process)
        if process.returncode != 0:
            failed.append(_status(process.returncode))
    if running:
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _end(running, failed, seconds=SECONDS_TO_END):
    """End processes: wait for those that end by themselves, then SIGTERM, then SIGKILL."""
    after_signals = []
    for number, most in ((None, seconds), (signal.SIGTERM, SECONDS_TO_TERMINATE), (signal.SIGKILL, 1.0)):
        if number is not None:
            for process in running:
                _signal(process, number)
        until = time.monotonic() + most
        while running and time.monotonic() < until:
            _look(running, failed if number is None else after_signals)


def _signal(process, number):
    """Send a signal to a process and those that it has started in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _status(returncode):
    """As a shell has it: 128 + the signal that ended a process."""
    return returncode if returncode >= 0 else 128 - returncode
