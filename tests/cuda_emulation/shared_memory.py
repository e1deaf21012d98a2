"""`__shared__` declarations as C++ that the CPU emulation runs.

>>> without_shared('extern __shared__ __align__(16) float part[];')
'float* part = (float*)simt::block->shared;'
>>> print(without_shared('__shared__ P<int, 3> sums[32], n;').replace('; ', ';\\n'))
using sums_type = P<int, 3>;
static thread_local simt::Guarded<sums_type[32]> sums_guarded;
auto& sums = simt::guard(sums_guarded, "__shared__ sums");
static thread_local simt::Guarded<sums_type> n_guarded;
auto& n = simt::guard(n_guarded, "__shared__ n");
"""

import re

DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:__align__\(\d+\)\s+)?([\w: ]+?)\s+(\w+)\s*\[\s*\]\s*;")
STATIC = re.compile(r"(?:alignas\((\d+)\) )?__shared__ ([^;]*);")


def without_shared(text):
    """`extern __shared__ T name[];` is a pointer into the block's memory, `__shared__ T name[n];` has guard zones."""
    return STATIC.sub(_guarded, DYNAMIC.sub(r"\1* \2 = (\1*)simt::block->shared;", text))


def _guarded(match):
    lines, type_name, alignment = [], None, f", {match[1]}" if match[1] else ""
    for declarator in _parts(match[2]):
        before, name, sizes = _split(declarator)
        if type_name is None:
            type_name = f"{name}_type"
            lines.append(f"using {type_name} = {before.strip()};")
        lines.append(f"static thread_local simt::Guarded<{type_name}{sizes}{alignment}> {name}_guarded;")
        lines.append(f'auto& {name} = simt::guard({name}_guarded, "__shared__ {name}");')
    return " ".join(lines)


def _split(declarator):
    """(type, name, sizes) of `type name[size][size]`; the type is empty but for the first of several."""
    end = next(_outside_brackets(declarator, "["), len(declarator))
    before, name = re.fullmatch(r"(.*?)(\w+)\s*", declarator[:end], re.DOTALL).groups()
    return before, name, declarator[end:]


def _parts(text):
    """`text` divided at the commas outside brackets."""
    start = 0
    for end in (*_outside_brackets(text, ","), len(text)):
        yield text[start:end].strip()
        start = end + 1


def _outside_brackets(text, wanted):
    """Where `text` has that character outside brackets."""
    depth = 0
    for k, character in enumerate(text):
        if character == wanted and not depth:
            yield k
        depth += (character in "<([") - (character in ">)]")
