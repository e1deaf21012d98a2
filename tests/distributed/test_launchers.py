"""`grb-tile run` with real processes, over Unix sockets and over MPI: exchanges, and that faults end all ranks."""

import importlib.util
import itertools
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest
from exchanges import OTHERWISE

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = str(pathlib.Path(__file__).with_name("rank_program.py"))
LIMIT = 10  # seconds within which every rank must have ended after a fault
MPIEXEC = shutil.which("mpiexec", path=str(pathlib.Path(sys.executable).parent)) or shutil.which("mpiexec")
HAS_MPI = importlib.util.find_spec("mpi4py") is not None and MPIEXEC is not None
with_mpi = pytest.mark.skipif(not HAS_MPI, reason="mpi4py or mpiexec is not installed")
OVER = [pytest.param("pipes"), pytest.param("mpi", marks=[with_mpi, pytest.mark.slow])]


def environment(**more):
    found = {name: value for name, value in os.environ.items() if not name.startswith(("GRB_TILE_DIST", "GRB_TILE_TH"))}
    return found | {"PYTHONPATH": str(ROOT)} | more


def command(ranks, *arguments):
    return [sys.executable, "-m", "grb_tile", "run", "-n", str(ranks), *arguments]


def run(ranks, *arguments, **variables):
    """The result, and the seconds that it took."""
    start = time.monotonic()
    done = subprocess.run(
        command(ranks, *arguments), capture_output=True, text=True, timeout=60, env=environment(**variables)
    )
    done.seconds = time.monotonic() - start
    return done


def no_process_is_left(mark):
    """Has every process whose arguments hold the mark ended?"""
    found = [path.name for path in pathlib.Path("/proc").iterdir() if path.name.isdecimal()]
    for name in found:
        try:
            if mark in (pathlib.Path("/proc") / name / "cmdline").read_text().split("\0"):
                return False
        except OSError:
            continue
    return True


# ---------------------------------------------------------------- exchanges


@pytest.mark.parametrize("ranks", (pytest.param(2, marks=pytest.mark.slow), 3))
def test_processes_exchange_over_sockets(ranks):
    done = run(ranks, "--over", "pipes", "--threads", "2", PROGRAM, "check")
    assert done.returncode == 0, done.stderr
    expected = [f"rank {rank} of {ranks}, PipeCommunicator, 2 threads, {[PROGRAM, 'check']}" for rank in range(ranks)]
    assert sorted(done.stdout.splitlines()) == expected


@with_mpi
def test_processes_exchange_over_mpi():
    """mpiexec, started by hand."""
    mpiexec = [MPIEXEC, "-n", "4", sys.executable, PROGRAM, "check"]
    done = subprocess.run(mpiexec, capture_output=True, text=True, timeout=60, env=environment(GRB_TILE_THREADS="1"))
    assert done.returncode == 0, done.stderr
    expected = [f"rank {rank} of 4, MpiCommunicator, 1 threads, {[PROGRAM, 'check']}" for rank in range(4)]
    assert sorted(done.stdout.splitlines()) == expected


@with_mpi
@pytest.mark.slow
def test_the_command_starts_ranks_by_mpi():
    done = run(3, "--threads", "2", PROGRAM, "check")
    assert done.returncode == 0, done.stderr
    assert "rank 2 of 3, MpiCommunicator, 2 threads" in done.stdout


def test_one_rank_needs_neither():
    done = run(1, PROGRAM, "say")
    assert done.returncode == 0, done.stderr
    assert "rank 0 of 1, Alone" in done.stdout


# ---------------------------------------------------------------- faults

QUICK = {("raise", "pipes"), ("kill", "pipes"), ("never", "pipes"), ("busy", "pipes"), ("abort", "mpi")}
FAULTS = {  # what rank 1 does: the status of the command (None: not 0), what is written
    "raise": (1, "ValueError: of rank 1"),
    "exit": (7, ""),
    "kill": (137, "rank 1 has ended"),
    "leave": (None, "mxv: rank 1 has ended"),
    "abort": (None, "mxv: aborted: by rank 1: rank 1 says so"),
    "never": (None, "mxv: rank 1 did not come within 3 s"),
    "thread": (1, "ValueError: invalid literal for int"),
    "busy": (1, "ValueError: invalid literal for int"),
    "before": (1, "ValueError: of rank 1"),
}
# mpiexec ends all processes when one is killed, before they say anything, and has a status of its own then.
FAULTS_OF_MPI = FAULTS | {"kill": (None, "")}


def faults():
    for fault, over in itertools.product(FAULTS, ("pipes", "mpi")):
        marks = [with_mpi] if over == "mpi" else []
        yield pytest.param(fault, over, marks=marks if (fault, over) in QUICK else [*marks, pytest.mark.slow])


@pytest.mark.parametrize(("fault", "over"), list(faults()))
def test_a_fault_of_one_rank_ends_all(fault, over, tmp_path):
    program = tmp_path / "rank_program.py"  # so that its processes are found by their arguments
    program.write_text(
        f"import sys, runpy\nsys.argv[0] = {PROGRAM!r}\nsys.path[0] = {os.path.dirname(PROGRAM)!r}\n"
        f"runpy.run_path({PROGRAM!r}, run_name='__main__')\n"
    )
    done = run(3, "--over", over, str(program), fault, "3" if fault == "never" else "60")
    status, text = (FAULTS_OF_MPI if over == "mpi" else FAULTS)[fault]
    assert done.returncode == status if status is not None else done.returncode not in (0, 2), done.stderr
    assert text in done.stdout + done.stderr
    assert done.seconds < LIMIT and no_process_is_left(str(program))


@pytest.mark.parametrize("kind", OTHERWISE)
@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_who_announces_something_else_ends_all(ranks, kind):
    done = run(ranks, "--over", "pipes", PROGRAM, kind)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == ranks and done.seconds < LIMIT


@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow), signal.SIGKILL]
)
def test_a_signal_to_the_command_ends_all(number, over, tmp_path):
    program = tmp_path / "waits.py"
    program.write_text("import time\nprint('waits', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(
        command(2, "--over", over, str(program)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    )
    with process:
        lines = [process.stdout.readline() for _ in range(2)]
        start = time.monotonic()
        process.send_signal(number)
        while not no_process_is_left(str(program)) and time.monotonic() < start + LIMIT:
            time.sleep(0.02)
        seconds = time.monotonic() - start
    assert lines == [b"waits\n"] * 2 and seconds < LIMIT and process.returncode != 0


# ---------------------------------------------------------------- what ranks are given


def test_ranks_have_arguments_a_backend_and_tagged_output(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import os, sys\n"
        "sys.stdout.write(os.environ['GRB_TILE_DIST_RANK'] + ' of ' + os.environ['GRB_TILE_DIST_SIZE'] + '\\n')\n"
        "print(os.environ['GRB_TILE_BACKEND'], sys.argv[1:], __name__, sys.path[0])\n"
    )
    done = run(2, "--over", "pipes", "--backend", "numpy", "--tag", str(program), "-n", "5", "--backend", "x")
    assert done.returncode == 0, done.stderr
    second = f"numpy ['-n', '5', '--backend', 'x'] __main__ {tmp_path}"
    assert sorted(done.stdout.splitlines()) == [f"[{r}] {line}" for r in (0, 1) for line in (f"{r} of 2", second)]


def test_only_rank_0_reads_standard_input(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys\nprint(repr(sys.stdin.read()))\n")
    done = subprocess.run(
        command(2, "--over", "pipes", str(program)), input="text", capture_output=True, text=True, env=environment()
    )
    assert sorted(done.stdout.splitlines()) == ["''", "'text'"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("-n", "0", PROGRAM), "-n 0: expected 1 rank or more"),
        (("-n", "2", "--threads", "0", PROGRAM), "--threads 0: expected 1 thread or more"),
        (("-n", "2", "absent.py"), "absent.py: no such file"),
    ],
)
def test_wrong_arguments(arguments, text, capsys):
    from grb_tile.cli.main import BAD_INPUT, main

    assert main(["run", *arguments]) == BAD_INPUT
    assert text in capsys.readouterr().err


def test_without_mpi_the_processes_are_joined_by_sockets(tmp_path):
    """A folder without mpi4py and mpiexec, as after `pip install grb-tile`."""
    (tmp_path / "mpi4py.py").write_text("raise ImportError('not installed')\n")
    code = (
        "import sys, importlib.util\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if name == 'mpi4py' else find(name, *more)\n"
        "from grb_tile.cli.main import main\n"
        f"sys.exit(main(['run', '-n', '2', {PROGRAM!r}, 'say']))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), timeout=60)
    assert done.returncode == 0, done.stderr
    assert "rank 1 of 2, PipeCommunicator" in done.stdout


# ---------------------------------------------------------------- ranks with a device each

DEVICE_PROGRAM = str(pathlib.Path(__file__).with_name("device_program.py"))


@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize(
    ("devices", "channel"), [(2, "over NCCL 2.28.3"), (1, "through the host (ranks 0, 1 have one device)")]
)
def test_ranks_take_the_devices_in_turn(over, devices, channel, tmp_path):
    done = run(2, "--over", over, DEVICE_PROGRAM, str(tmp_path), str(devices))
    assert done.returncode == 0, done.stderr
    names = ["cuda:0", "cuda:1" if devices == 2 else "cuda:0"]
    assert sorted(done.stdout.splitlines()) == [f"rank {r} on {name}, {channel}" for r, name in enumerate(names)]


@pytest.mark.parametrize("fault", ["kill", pytest.param("leave", marks=pytest.mark.slow)])
def test_a_rank_that_ends_ends_the_waits_for_its_device(fault, tmp_path):
    done = run(2, "--over", "pipes", DEVICE_PROGRAM, str(tmp_path), "2", fault)
    assert done.returncode == 137 if fault == "kill" else done.returncode not in (0, 137), done.stderr
    assert fault == "kill" or "rank 1 has ended" in done.stderr
    assert done.seconds < 3 * LIMIT
