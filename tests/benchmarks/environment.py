"""What a figure depends on besides the code: the machine, the versions, the commit."""

import datetime
import importlib.metadata
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "python-graphblas", "suitesparse-graphblas")
VARIABLES = ("OMP_NUM_THREADS", "OMP_WAIT_POLICY", "NUMBA_NUM_THREADS", "GRB_TILE_THREADS", "GRB_TILE_JIT")


def cpu_name():
    """Model name of the processor."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory_gib():
    """Physical memory in GiB."""
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def cgroup_cores():
    """Cores that this process may use: the smaller of its affinity and the control group's quota."""
    cores = len(os.sched_getaffinity(0))
    try:
        quota, period = pathlib.Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return cores if quota == "max" else min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        return cores


def version(package):
    """Installed version, or None."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def commit():
    """(hash, whether tracked files differ from it), or (None, None) outside a git checkout.

    $GRB_TILE_COMMIT is the hash where the checkout has no history of its own.
    """
    known = os.environ.get("GRB_TILE_COMMIT")
    if known:
        return known, None

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)

    head = git("rev-parse", "HEAD")
    if head.returncode:
        return None, None
    return head.stdout.strip(), bool(git("status", "--porcelain", "--untracked-files=no").stdout.strip())


def describe():
    """The environment as a dictionary that goes into every line of results."""
    head, changed = commit()
    return {
        "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": cpu_name(),
        "cores": cgroup_cores(),
        "memory_gib": memory_gib(),
        "load": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
        "variables": {name: os.environ[name] for name in VARIABLES if name in os.environ},
        "commit": head,
        "changed": changed,
    }
