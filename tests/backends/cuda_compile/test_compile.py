"""The listed instances of all kernels compile with NVRTC for each supported architecture, without a GPU, and need no
more than it has.

A file instances_*.py beside this one lists instances: INSTANCES, tuples (header, name, functors, template), or a
function instances() that yields them.

    front end   every instance, for the least of the architectures between which the sources make no difference
                (templates instantiated, no code made): what it has, the later ones have
    code        every instance for one architecture, dealt by GRB_TILE_SEED, and each kernel for all of them: registers
                and static shared memory as ptxas reports them, dynamic shared memory as the library would ask for
                (launches.py), against the table of limits (planner/device_limits.py)

The quick run compiles a few instances, each for one architecture, as the library does.
"""

import functools
import importlib.util
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from grb_tile import kernels
from grb_tile.backends.cuda.elementwise import mapping
from grb_tile.backends.cuda.runtime import compile as jit
from grb_tile.exceptions import JitError
from grb_tile.planner.device_limits import LIMITS, MOST_STATIC, REGISTERS_OF_THREAD, STATIC_SHARED
from support.seeds import SEED, generator

from . import launches, programs

FILES = sorted(Path(__file__).parent.glob("instances_*.py"))
COMMENT = re.compile(r"//[^\n]*")
STEPS = re.compile(r"#ifdef GRB_STEPS(?:(?!#else).)*?#endif", re.DOTALL)  # of persistent kernels: test_one_kernel.py
KERNEL = re.compile(r"__global__\s+void\s+(?:__\w+__\s*\((?:[^()]|\([^()]*\))*\)\s*)*(\w+)\s*\(")
DYNAMIC = re.compile(r"extern\s+__shared__")
ARCH = re.compile(r"__CUDA_ARCH\w*")
CONDITION = re.compile(r"__CUDA_ARCH__\s*>=\s*(\d+)")  # the only form: test_conditions_on_the_architecture_are_known
SOME = 8  # instances that the quick run compiles
TOGETHER = 48  # instances of a program that makes code


@functools.lru_cache(maxsize=1)
def listed():
    """All instances."""
    found = {}
    for path in FILES:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        instances = [*getattr(module, "INSTANCES", ()), *(module.instances() if hasattr(module, "instances") else ())]
        assert instances, path
        found.update(dict.fromkeys(instances))
    return list(found)


@functools.lru_cache(maxsize=1)
def all_sources():
    """The text of every header and functor."""
    return [*(COMMENT.sub("", kernels.source(file)) for file in kernels.names()), *{text for _, _, text, _ in listed()}]


def least_of_each_class():
    """The least of the architectures for which every condition of the sources is the same."""
    bounds = {int(bound) // 10 for text in all_sources() for bound in CONDITION.findall(text)}
    classes = {}
    for arch in sorted(LIMITS):
        classes.setdefault(tuple(arch >= bound for bound in sorted(bounds)), arch)
    return list(classes.values())


def dealt(arch):
    """Each kernel once, and one of as many shares of the instances as there are architectures."""
    instances = listed()
    place = dict(zip(instances, generator("instances").permutation(len(instances)), strict=True))
    share = list(LIMITS).index(arch)
    chosen = [instance for instance in instances if place[instance] % len(LIMITS) == share]
    named = {instance[1] for instance in chosen}
    for instance in sorted(instances, key=place.get):
        if instance[1] not in named:
            named.add(instance[1])
            chosen.append(instance)
    return sorted(chosen, key=lambda instance: instance[0])


def complaints(instance, used, limits):
    """What a launch of the instance would ask for beyond the limits."""
    threads = launches.threads_of(instance)
    shared = used.static_shared + launches.dynamic_shared(instance, limits)
    what = f"sm_{limits.arch}: {instance[1]}<{', '.join(instance[3])}>, {threads} threads:"
    if used.static_shared > STATIC_SHARED:
        yield f"{what} {used.static_shared} bytes of static shared memory"
    if instance[1] in launches.DYNAMIC and used.static_shared > MOST_STATIC:
        yield f"{what} {used.static_shared} bytes of static shared memory beside dynamic ones"
    if shared > limits.shared_per_block:
        yield f"{what} {shared} bytes of shared memory, {used.static_shared} of them static"
    if used.registers > REGISTERS_OF_THREAD or not limits.resident_blocks(threads, 0, used.registers):
        yield f"{what} {used.registers} registers"


def test_some_as_the_library_compiles_them():
    """What the quick run compiles: a few instances, each for one architecture, chosen by GRB_TILE_SEED."""
    random = generator("instances")
    chosen = [listed()[k] for k in random.choice(len(listed()), SOME, replace=False)]
    architectures = [int(arch) for arch in random.permutation([*LIMITS] * SOME)[:SOME]]
    jit.compiler()  # before threads ask for it

    def complaint(instance, arch):
        text, expression = jit.source_text(*instance)
        try:
            lowered, cubin = jit.compile_cubin(text, expression, arch)
        except JitError as error:
            return str(error)[:1500]
        return None if cubin[:4] == b"\x7fELF" and lowered.encode() in cubin else f"{expression}: not in its cubin"

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NVRTC lets go of the interpreter's lock
        found = [text for text in pool.map(complaint, chosen, architectures) if text is not None]
    assert not found, f"seed {SEED}: {found[:3]}"


def test_conditions_on_the_architecture_are_known():
    for text in all_sources():
        assert len(ARCH.findall(text)) == len(CONDITION.findall(text)), "a condition that CONDITION does not match"
    assert min(LIMITS) in least_of_each_class() and len(least_of_each_class()) > 1


@pytest.mark.slow
@pytest.mark.parametrize("arch", least_of_each_class())
def test_every_instance_passes_the_front_end(arch):
    programs.compile_program(listed(), arch, front_end=True)


@pytest.mark.slow
@pytest.mark.parametrize("arch", LIMITS)
def test_code_needs_no_more_than_the_architecture_has(arch):
    chosen = dealt(arch)
    parts = [chosen[k : k + TOGETHER] for k in range(0, len(chosen), TOGETHER)]
    jit.compiler()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        used = list(pool.map(lambda part: programs.compile_program(part, arch), parts))
    found = [
        text for part in used for instance, needs in part.items() for text in complaints(instance, needs, LIMITS[arch])
    ]
    assert not found, f"seed {SEED}: {len(found)} of {len(chosen)} instances:\n" + "\n".join(found[:5])


def test_every_instance_is_dealt():
    """To one architecture, and each kernel to every one."""
    dealt_to = {arch: dealt(arch) for arch in LIMITS}
    assert {instance for chosen in dealt_to.values() for instance in chosen} == set(listed())
    for chosen in dealt_to.values():
        assert {instance[1] for instance in chosen} == {instance[1] for instance in listed()}


def test_every_kernel_has_an_instance():
    """A kernel that nobody lists would be compiled on a user's machine for the first time."""
    used = {instance[1] for instance in listed()}
    sources = {file: STEPS.sub("", COMMENT.sub("", kernels.source(file))) for file in kernels.names()}
    found = {name: file for file, source in sources.items() for name in KERNEL.findall(source)}
    assert len(found) > 60
    lonely = [f"{file}: {name}" for name, file in found.items() if name not in used]
    assert not lonely, f"list instances of {lonely}"


@pytest.mark.parametrize("kernel", ["reduce_values", "inner_product", "agreeing"])
def test_reductions_are_compiled_for_their_greatest_block(kernel):
    """Else registers may not suffice: inner products of complex numbers took 66 on sm_90, and 65536 / 1024 are 64."""
    greatest = max(mapping.reduce_shape(SimpleNamespace(threads=int, processors=1), n)[0] for n in (1, None))
    assert launches.threads_of(("", kernel, "", ())) >= greatest


def test_every_kernel_with_dynamic_shared_memory_has_a_size():
    declared = sum(len(DYNAMIC.findall(kernels.source(file))) for file in kernels.names())
    assert declared == len(launches.DYNAMIC), f"launches.DYNAMIC has {sorted(launches.DYNAMIC)}"


@pytest.mark.parametrize("arch", LIMITS)
def test_too_much_is_found(arch):
    """An instance that asks for one byte or one register too many."""
    limits, instance = LIMITS[arch], ("graph/bfs_multi.cuh", "bfs_multi", "", ("int32_t",))
    static = limits.shared_per_block - launches.dynamic_shared(instance, limits)
    assert not list(complaints(instance, programs.Resources(64, min(static, MOST_STATIC), 0), limits))
    assert list(complaints(instance, programs.Resources(64, MOST_STATIC + 1, 0), limits))
    assert list(complaints(instance, programs.Resources(65, 1000, 0), limits))
    assert list(complaints(instance, programs.Resources(64, static + 1, 0), limits))


def test_a_broken_kernel_is_found():
    with pytest.raises(JitError, match="nothing_of_that_name"):
        jit.compile_cubin("__global__ void k(int* a) { a[0] = nothing_of_that_name; }", "k", 90)
    broken = "elementwise/reduce.cuh", "reduce_values", "struct Op { using result_type = int; };", ("int", "Op")
    with pytest.raises(JitError, match="reduce_values"):
        programs.compile_program([broken], 75, front_end=True)


def test_subnormals_are_kept():
    """-ftz would flush them: the machine code of a float addition must not say .FTZ (CuPy's RawModule would)."""
    text = "__global__ void k(float* a) { a[0] = a[1] + a[2]; }"
    assert not any("ftz" in option or "fast_math" in option for option in jit.OPTIONS)
    kept, flushed = jit.compile_cubin(text, "k", 90), jit.compile_cubin(text, "k", 90, ("-ftz=true",))
    assert kept[1] != flushed[1]


@pytest.mark.parametrize("header", kernels.names())
def test_kernels_are_templates(header):
    """What is none is compiled with every instance of its header."""
    text = re.sub(r"#(undef|define) __global__", "", COMMENT.sub("", kernels.source(header)))
    count = len(re.findall(r"__global__", text))
    assert len(re.findall(r"template\s*<[^;{}]*>\s*__global__", text)) == count, "put `template <int = 0>` before it"
