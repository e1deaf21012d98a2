"""The listed instances of all kernels compile with NVRTC, without a GPU: every one for sm_90, a sample for sm_80 and
sm_100.

A file instances_*.py beside this one lists instances: INSTANCES, tuples (header, name, functors, template), or a
function instances() that yields them.  Each file is one slow test, so that what fails is named; the quick run
compiles a few instances.  SINCE_90 names the kernels that need sm_90 (thread block clusters) and so are not compiled
for sm_80.
"""

import importlib.util
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grb_tile import kernels
from grb_tile.backends.cuda.runtime import compile as jit
from grb_tile.exceptions import JitError
from support.seeds import generator

FILES = sorted(Path(__file__).parent.glob("instances_*.py"))
COMMENT = re.compile(r"//[^\n]*")
KERNEL = re.compile(r"__global__\s+void\s+(?:__\w+__\s*\([^)]*\)\s*)*(\w+)\s*\(")
SOME = 16  # instances that the quick run compiles
SAMPLE = 12  # every so many instances are compiled for the other architectures too


def listed(path, arch=90):
    """The instances that a file lists and that architecture `arch` can have."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = [*getattr(module, "INSTANCES", ()), *(module.instances() if hasattr(module, "instances") else ())]
    newer = getattr(module, "SINCE_90", ()) if arch < 90 else ()
    return [instance for instance in found if instance[1] not in newer]


def failures(instances, arch):
    """The compiler's complaints about `instances`."""
    import cupy  # noqa: F401  (loads NVRTC before threads ask for it)

    def complaint(instance):
        text, expression = jit.source_text(*instance)
        try:
            lowered, cubin = jit.compile_cubin(text, expression, arch)
        except JitError as error:
            return str(error)[:1500]
        return None if cubin[:4] == b"\x7fELF" and lowered.encode() in cubin else f"{expression}: not in its cubin"

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NVRTC lets go of the interpreter's lock
        return [text for text in pool.map(complaint, instances) if text is not None]


def test_some_for_sm_90():
    """What the quick run compiles: a few instances, chosen by GRB_TILE_SEED."""
    instances = list(dict.fromkeys(instance for path in FILES for instance in listed(path)))
    chosen = generator("instances").choice(len(instances), SOME, replace=False)
    assert not failures([instances[k] for k in chosen], 90)


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_sm_90(path):
    instances = listed(path)
    assert instances
    found = failures(dict.fromkeys(instances), 90)
    assert not found, f"{len(found)} of {len(instances)} instances:\n" + "\n".join(found[:3])


@pytest.mark.slow
@pytest.mark.parametrize("arch", [80, 100])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_other_architectures(path, arch):
    found = failures(listed(path, arch)[::SAMPLE], arch)
    assert not found, "\n".join(found[:3])


def test_every_kernel_has_an_instance():
    """A kernel that nobody lists would be compiled on a user's machine for the first time."""
    used = {instance[1] for path in FILES for instance in listed(path)}
    found = {name: file for file in kernels.names() for name in KERNEL.findall(COMMENT.sub("", kernels.source(file)))}
    assert len(found) > 60
    lonely = [f"{file}: {name}" for name, file in found.items() if name not in used]
    assert not lonely, f"list instances of {lonely}"


def test_a_broken_kernel_is_found():
    with pytest.raises(JitError, match="nothing_of_that_name"):
        jit.compile_cubin("__global__ void k(int* a) { a[0] = nothing_of_that_name; }", "k", 90)


def test_subnormals_are_kept():
    """-ftz would flush them: the machine code of a float addition must not say .FTZ (CuPy's RawModule would)."""
    text = "__global__ void k(float* a) { a[0] = a[1] + a[2]; }"
    assert not any("ftz" in option or "fast_math" in option for option in jit.OPTIONS)
    kept, flushed = jit.compile_cubin(text, "k", 90), jit.compile_cubin(text, "k", 90, ("-ftz=true",))
    assert kept[1] != flushed[1]
