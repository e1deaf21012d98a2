"""Many instances of kernels in one NVRTC program, and what the compiler says that each needs.

One program for each instance, as the library compiles them, takes 0.3 s of CPU on average, most of it for parsing
headers. Here many instances share a program: each distinct functor text stands in a namespace of its own. The front end
alone (-fdevice-syntax-only) takes 10 ms an instance, and instantiates every template, so that all instances go through
it for each class of architectures; code is made of fewer.
"""

import re
from dataclasses import dataclass
from functools import partial

from grb_tile.backends.cuda.runtime import compile as jit
from grb_tile.exceptions import JitError

FRONT_END = "-fdevice-syntax-only"
INCLUDE = re.compile(r"^\s*#\s*include[^\n]*$", re.MULTILINE)
NAME = re.compile(r"\b[A-Za-z_]\w*")
STRUCT = re.compile(r"\bstruct\s+(\w+)")
OURS = re.compile(r"\bgrb::")
ENTRY = re.compile(r"Compiling entry function '(\S+)' for")
USED = re.compile(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?")
SPILLED = re.compile(r"(\d+) bytes spill stores")


@dataclass(frozen=True)
class Resources:
    """Of one kernel: registers a thread, bytes of static shared memory, bytes a thread that are spilled."""

    registers: int
    static_shared: int
    spilled: int


def program(instances):
    """(text, expressions): one program with all `instances` (header, name, functors, template), and their names.

    Headers are not made to be included together, so each has a section in which the macro `grb` gives the namespace of
    the kernels another name.
    """
    sections, expressions = {}, []
    for header, name, functors, template in instances:
        number, spaces = sections.setdefault(header, (len(sections), {}))
        space, own = spaces.setdefault(functors, f"functors{number}_{len(spaces)}"), set(STRUCT.findall(functors))
        qualified = partial(_qualified, space=space, own=own)
        names = [NAME.sub(qualified, a) for a in template]
        expression = f"grb::{name}<{', '.join(names)}>"
        expressions.append(OURS.sub(f"grb{number}::", expression))
    return "\n".join(section(header, *found) for header, found in sections.items()), expressions


def section(header, number, spaces):
    """The text of one header, with the functors of its instances."""
    lines = [f'#include "{file}"' for file in header.split()]
    lines += dict.fromkeys(line for functors in spaces for line in INCLUDE.findall(functors))
    lines += [f"namespace {space} {{\n{INCLUDE.sub('', functors)}\n}}" for functors, space in spaces.items()]
    text = jit.flattened("\n".join(lines))
    return f"#define grb grb{number}\n{text}\n#undef grb\n"


def _qualified(match, space, own):
    """A name within a template argument, with its namespace."""
    name = match.group()
    return f"{space}::{name}" if name in own else f"grb::{name}" if is_ours(name) else name


def is_ours(argument):
    """Is it a name of the kernels' namespace: a constant, a struct, or `word`?"""
    return argument == "word" or argument.isidentifier() and argument[0].isupper()


def compile_program(instances, arch, front_end=False):
    """{instance: Resources} for compute capability `arch`; nothing of the front end alone.

    Raises: JitError with the compiler's log.
    """
    nvrtc = jit.compiler()
    text, expressions = program(instances)
    made = nvrtc.createProgram(text, "instances.cu", (), ())
    try:
        for expression in expressions:
            nvrtc.addNameExpression(made, expression)
        more = FRONT_END if front_end else "--ptxas-options=-v"
        flags = (*jit.OPTIONS, f"-arch=sm_{arch}", f"-I{jit.library_headers()}", more)
        try:
            nvrtc.compileProgram(made, flags)
        except nvrtc.NVRTCError as error:
            log = nvrtc.getProgramLog(made)
            raise JitError(f"sm_{arch}, {len(expressions)} instances: {error}\n{log[:6000]}") from None
        if front_end:
            return {}
        used = resources(nvrtc.getProgramLog(made))
        names = (nvrtc.getLoweredName(made, expression) for expression in expressions)
        return {instance: used[name] for instance, name in zip(instances, names, strict=True)}
    finally:
        nvrtc.destroyProgram(made)


def resources(log):
    """{lowered name: Resources} of what ptxas reports.

    >>> resources('''ptxas info    : Compiling entry function '_Z1kPi' for 'sm_90'
    ...     0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
    ... ptxas info    : Used 40 registers, used 1 barriers, 1536 bytes smem, 416 bytes cmem[0]''')
    {'_Z1kPi': Resources(registers=40, static_shared=1536, spilled=8)}
    """
    found, name, spilled = {}, None, 0
    for line in log.splitlines():
        if entry := ENTRY.search(line):
            name, spilled = entry.group(1), 0
        elif (use := USED.search(line)) and name is not None:
            found[name] = Resources(int(use.group(1)), int(use.group(2) or 0), spilled)
            name = None
        elif spill := SPILLED.search(line):
            spilled = int(spill.group(1))
    return found
