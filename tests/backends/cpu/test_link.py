"""The linker of compiled kernels (backends/cpu/jit/link.py) on objects with every kind of relocation that it knows."""

import collections
import ctypes
import math
import shutil
import subprocess

import pytest

from grb_tile.backends.cpu.jit import link
from grb_tile.backends.cpu.jit.load import links_here

GCC = shutil.which("gcc")
pytestmark = pytest.mark.skipif(not links_here() or GCC is None, reason="Linux on x86-64 with gcc")

# calls of libm, a table of pointers, variables with a value, without one and common ones
SOURCE = """
double pow(double, double);
double exp(double);
int counter;
static int start = 5, zero;
static const double scale[4] = {1.0, 10.0, 100.0, 1000.0};
__attribute__((noinline)) static double twice(double x) { return 2 * x; }
__attribute__((noinline)) static double thrice(double x) { return 3 * x; }
#define FOUR twice, thrice, twice, thrice
static double (*const table[32])(double) = {FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR};
double grb_first(double x, int k) {
  counter += k;
  start += 1;
  zero += 2;
  return pow(x, 2.5) + exp(x) + table[28 + k](x) + scale[k & 3];
}
int grb_second(void) { return 100 * counter + 10 * start + zero; }
"""


def compiled(tmp_path, *flags):
    source, made = tmp_path / "source.c", tmp_path / "source.o"
    source.write_text(SOURCE)
    options = ["-c", "-O1", "-fPIC", "-fno-builtin", "-fno-asynchronous-unwind-tables", "-fcf-protection=none"]
    subprocess.run([GCC, *options, *flags, str(source), "-o", str(made)], check=True)
    return made.read_bytes()


@pytest.mark.parametrize(
    ("flags", "kinds"),
    [
        (["-fcommon"], {link.R_64, link.R_PLT32, link.R_PC32, link.R_REX_GOTPCRELX}),
        (["-fno-common", "-fno-plt"], {link.R_64, link.R_GOTPCRELX}),
    ],
    ids=["stubs", "the table"],
)
def test_every_relocation(flags, kinds, tmp_path):
    data = compiled(tmp_path, *flags)
    found = collections.Counter(kind for _, _, kind, _, _ in link._Object(data).relocations)
    assert kinds <= set(found) and found[link.R_64] == 32 > found.total() / 2
    path = tmp_path / "made.so"
    path.write_bytes(link.shared_object(data, {"grb_first", "grb_second"}))
    library = ctypes.CDLL(str(path))
    library.grb_first.restype, library.grb_first.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_int]
    counter = 0
    for calls, (x, k) in enumerate([(1.5, 0), (2.0, 1), (0.25, 2), (3.0, 3)], 1):
        counter += k
        wanted = x**2.5 + math.exp(x) + (3 * x if k & 1 else 2 * x) + 10.0**k
        assert library.grb_first(x, k) == pytest.approx(wanted)
        assert library.grb_second() == 100 * counter + 10 * (5 + calls) + 2 * calls


def test_what_is_refused(tmp_path):
    data = compiled(tmp_path, "-fcommon", "-Dpow=numba_pow")
    with pytest.raises(link.LinkError, match="needs numba_pow of Numba or Python"):
        link.shared_object(data, {"grb_first"})
    with pytest.raises(link.LinkError, match="relocation of type 9 against 'counter'"):  # a load that must stay one
        link.shared_object(compiled(tmp_path, "-fcommon", "-Wa,-mrelax-relocations=no"), {"grb_first", "grb_second"})
    with pytest.raises(link.LinkError, match="defines .*grb_first.*, not .*grb_third"):
        link.shared_object(compiled(tmp_path), {"grb_first", "grb_third"})
