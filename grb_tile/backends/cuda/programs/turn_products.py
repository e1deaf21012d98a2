"""Products among the steps of a turn: what they touch, and what they need not do, or may do beside."""

from __future__ import annotations

from .steps import ALL, Step, uses
from .touched import Touched, parameters_of


def resolved(bodies: list[list[Step]]) -> list[list[Step]]:
    """The steps, those whose arrays are not known with what lies at the addresses that they have."""
    found: list[list[int]] = []
    for start, stop in sorted({(a.start, a.stop) for body in bodies for step in body for a in step.touched or ()}):
        if found and start < found[-1][1]:
            found[-1][1] = max(found[-1][1], stop)
        else:
            found.append([start, stop])

    def touched(step):
        parameters = parameters_of(step.instance[0], step.name)
        if step.touched is not None or parameters is None or len(parameters) != len(step.words):
            return step.touched
        arrays = []
        for word, parameter in zip(step.words, parameters, strict=True):
            if parameter.pointer and word:
                stop = next((b for a, b in found if a <= word < b), word + 1)
                arrays.append(Touched(word, stop, not parameter.constant))
        return tuple(arrays)

    return [[step._replace(touched=touched(step)) for step in body] for body in bodies]


# Products that can count the edges of what they find, in their last two arguments: which template argument is the type
# of the row pointers, which argument the words of the result.
_FIND = {"merge_columns": (1, 13), "matvec_pull": (0, 14)}


_NEXT = {"merge_columns": (15, 16, 17), "merge_evenly": (15, 16, 17)}  # arguments of the accumulator to clear


def without_next(steps: list[Step]) -> list[Step]:
    """The steps, where a column-wise product clears no accumulator for the next: no step of a turn takes it over."""

    def cleared(step):
        places = _NEXT.get(step.name, ())
        taken = [step.words[k] for k in places]
        if any(uses(s, address, address + 1) for s in steps if s is not step for address in taken if address):
            return step
        return step._replace(words=tuple(0 if k in places else word for k, word in enumerate(step.words)))

    return [cleared(step) for step in steps]


def with_edges(steps: list[Step]) -> list[Step]:
    """The steps, where a product counts the edges of its result itself if a step of its own did: that would need a
    barrier after the product, and the sum another.
    """
    found = list(steps)
    for step in steps:
        if step.name != "edges_of_members" or not step.apart:
            continue
        words, _, degrees, parts = step.words
        writers = [s for s in found[: found.index(step)] if _writes_at(s, words)]
        product = writers[-1] if writers else step
        pointers, result = _FIND.get(product.name, (0, 0))
        if (
            result and product.blocks == ALL and product.words[result] == words and product.words[-1] == 0
            and product.instance[3][pointers] == step.instance[3][0] and product.instance[3][6:] != ("true",)
            and product.touched is not None
        ):  # fmt: skip
            more = tuple(a for a in step.touched or () if a.start in (degrees, parts))
            known = product._replace(words=(*product.words[:-2], degrees, parts), touched=product.touched + more)
            found[found.index(product)] = known
            found.remove(step)
    return found


def _writes_at(step, address):
    return any(a.written and a.start <= address < a.stop for a in step.touched or ())
