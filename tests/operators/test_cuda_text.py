"""The CUDA C++ functors: all compiled for an H200 by NVRTC (no GPU is needed), and their values by a C++ compiler."""

import ctypes
import shutil
import subprocess
from fractions import Fraction
from math import isqrt
from pathlib import Path

import numpy as np
import pytest
from operators.catalogue import lowered_operators
from operators.nasty import differences
from operators.test_scalar_text import arguments, tolerance, undefined

from grb_tile import binary, kernels, unary
from grb_tile.exceptions import UdfParseError
from grb_tile.operators import BinaryOp
from grb_tile.operators.to_cuda import argument_types, functor, includes
from support import seeds

OPERATORS = lowered_operators()
REAL = [t for t in OPERATORS if "complex" not in includes(t)]
COMPLEX = [t for t in OPERATORS if "complex" in includes(t)]


def loop(k, typed, head, index):
    """A function that applies functor number k to arrays."""
    types = argument_types(typed)
    parameters = ", ".join(f"const {t.cuda_type}* a{i}" for i, t in enumerate(types))
    call = ", ".join(f"a{i}[i]" for i in range(len(types)))
    result = typed.return_type.cuda_type
    return f'extern "C" {head}k{k}(long n, {parameters}, {result}* out) {{ {index} out[i] = F{k}()({call}); }}'


def compile_for_hopper(typed_operators):
    cupy = pytest.importorskip("cupy", reason="CuPy, whose NVRTC compiles the functors, is not installed")
    from cupy_backends.cuda.libs import nvrtc

    text = [includes(*typed_operators)]
    for k, typed in enumerate(typed_operators):
        text += [functor(typed, f"F{k}"), loop(k, typed, "__global__ void ", "long i = threadIdx.x; if (i < n)")]
    std = Path(cupy.__file__).parent / "_core/include/cupy/_cccl/libcudacxx"
    program = nvrtc.createProgram("\n".join(text), "operators.cu", [], [])
    options = ["-arch=sm_90", "-std=c++17", f"-I{std}", f"-I{kernels.INCLUDE_FOLDER}"]
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError:
        errors = [line for line in nvrtc.getProgramLog(program).splitlines() if "error" in line]
        pytest.fail("\n".join(errors[:20]))
    finally:
        nvrtc.destroyProgram(program)


@pytest.mark.filterwarnings("ignore")  # importing CuPy on a machine without a GPU warns
@pytest.mark.slow
@pytest.mark.parametrize("which", ["real", "complex"])
def test_all_functors_compile(which):
    compile_for_hopper(REAL if which == "real" else COMPLEX)


@pytest.mark.filterwarnings("ignore")
def test_some_functors_compile():
    compile_for_hopper([t for t in OPERATORS if t.name in ("plus", "min", "cdiv", "bshift", "tril", "valuegt",
        "land", "pow")
                        and t.type.np_type.kind != "c"])  # fmt: skip


def test_values_under_a_host_compiler(tmp_path):
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler (g++ or clang++) on this machine")
    text = ["#define __device__", "#define __forceinline__ inline", '#include "base/scalar_complex.cuh"']
    for k, typed in enumerate(OPERATORS):
        text += [functor(typed, f"F{k}"), loop(k, typed, "void ", "for (long i = 0; i < n; i++)")]
    (tmp_path / "operators.cpp").write_text("\n".join(text))
    library = tmp_path / "operators.so"
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-w", "-fPIC", "-shared", f"-I{kernels.INCLUDE_FOLDER}",
         str(tmp_path / "operators.cpp"), "-o", str(library)], check=True)  # fmt: skip
    compiled = ctypes.CDLL(str(library))
    for k, typed in enumerate(OPERATORS):
        inputs = [np.ascontiguousarray(a) for a in arguments(typed)]
        got = np.empty(len(inputs[0]), typed.return_type.np_type)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*inputs, got)]
        getattr(compiled, f"k{k}")(ctypes.c_long(len(got)), *pointers)
        expected = typed.numpy(*inputs)
        wrong = np.flatnonzero(differences(got, expected, tolerance(got.dtype)) & ~undefined(typed, inputs))
        assert not len(wrong), [
            (typed, *(a[i] for a in inputs), "gives", got[i], "not", expected[i]) for i in wrong[:5]
        ]


def nearest_root(x, y):
    """The double nearest to sqrt(x x + y y), from integers alone."""
    square = Fraction(x) ** 2 + Fraction(y) ** 2
    shift = (200 - square.numerator.bit_length() + square.denominator.bit_length()) & ~1
    scaled = square * Fraction(2) ** shift
    root = Fraction(2 * isqrt(int(scaled)) + 1, 2) / Fraction(2) ** (shift // 2)  # half a place up: no tie by accident
    return root.numerator / root.denominator


def test_hypot_is_rounded_once(tmp_path):
    """CUDA's own is off by a last place here and there; the kernels' gives the nearest number, of any size."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler (g++ or clang++) on this machine")
    (tmp_path / "hypot.cpp").write_text("""#define __device__
    #define __forceinline__ inline
    #include "base/scalar.cuh"
    extern "C" void doubles(long n, const double* x, const double* y, double* z) {
      for (long k = 0; k < n; k++) z[k] = grb::hypot(x[k], y[k]);
    }
    extern "C" void floats(long n, const float* x, const float* y, float* z) {
      for (long k = 0; k < n; k++) z[k] = grb::hypot(x[k], y[k]);
    }""")
    library = tmp_path / "hypot.so"
    subprocess.run([compiler, "-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", "-shared",
        f"-I{kernels.INCLUDE_FOLDER}",
                    str(tmp_path / "hypot.cpp"), "-o", str(library)], check=True)  # fmt: skip
    compiled = ctypes.CDLL(str(library))

    def call(name, x, y):
        z = np.empty_like(x)
        getattr(compiled, name)(ctypes.c_long(len(x)), *(ctypes.c_void_p(a.ctypes.data) for a in (x, y, z)))
        return z

    rng = seeds.generator("hypot")
    small = np.array([(x, y) for x in range(-12, 13) for y in range(-12, 13)], float)
    spread = rng.random((6000, 2)) * 2.0 ** (rng.integers(-900, 900, 6000)[:, None] + rng.integers(-30, 30, (6000, 2)))
    x, y = np.ascontiguousarray(np.concatenate((small, rng.random((6000, 2)), spread)).T)
    nearest = [nearest_root(a, b) if a or b else 0.0 for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert call("doubles", x, y).tolist() == nearest
    assert np.array_equal(
        call("floats", *np.float32([x[:6000], y[:6000]])), np.hypot(*np.float32([x[:6000], y[:6000]]))
    )
    extreme = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, 1.0, 1e-200])
    x, y = (np.ascontiguousarray(a.ravel()) for a in np.meshgrid(extreme, extreme))
    with np.errstate(all="ignore"):
        assert not differences(call("doubles", x, y), np.hypot(x, y), 1e-15).any()


def test_what_has_no_functor_says_why():
    space = {}
    exec("def typed_at_a_prompt(x, y):\n    return x + y", space)
    op = BinaryOp.register_anonymous(space["typed_at_a_prompt"], is_udt=True)
    with pytest.raises(UdfParseError, match="source cannot be found.*cuda="):
        functor(op["FP64", "FP64"], "F")
    own = BinaryOp.register_anonymous(space["typed_at_a_prompt"], cuda="x + y", is_udt=True)
    assert "return x + y;" in functor(own["FP64", "FP64"], "F")
    with pytest.raises(ValueError, match="positional"):
        functor(binary.ss.firsti["INT64"], "F")
    with pytest.raises(ValueError, match="identifier"):
        functor(unary.abs["INT64"], "no name")


def test_lowered_functions_compile_too():
    def shifted(x, y):
        z = x * 2
        if x > y:
            return z - y
        elif x == y:
            z = z + 1
        return z

    op = BinaryOp.register_anonymous(shifted)
    text = functor(op["INT32"], "Shifted")
    assert "operator()(int32_t x, int32_t y) const" in text
    assert "grb::where" in text


def test_sources_and_digest():
    assert {"base/scalar.cuh", "base/scalar_complex.cuh"} <= set(kernels.names())
    assert len(kernels.digest()) == 16
    with pytest.raises(FileNotFoundError, match="base/scalar.cuh"):
        kernels.source("absent.cuh")
