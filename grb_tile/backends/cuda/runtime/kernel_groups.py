"""The kernels that programs use together: recorded, so that those a program needs next are compiled before their use.

common_kernels.json in this folder, made by tests/benchmarks/gpu/record_kernels.py:

    "functors"   C++ texts
    "kernels"    [header, name, number of the functors' text, [template arguments], tenths of a second of compilation]
    "programs"   {name: numbers of the kernels that it requests, in that order}

An instance is what Launcher.kernel takes: (header, name, functors, template).

The candidates are the recorded programs that contain all requests so far.  A kernel that at least half of the
candidates request is expected; those of most candidates come first.  Each request leaves fewer candidates; a request
that no candidate contains starts again from the programs that contain it.  An instance that is not recorded, of a
kernel that is recorded with other functors, has that kernel's candidates, with its own functors in place of the
recorded ones, so that kernels are expected for products over any semiring.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from ....planner import tuning

Instance: TypeAlias = tuple[str, str, str, tuple[str, ...]]

RECORD = Path(__file__).with_name("common_kernels.json")


class KernelGroups:
    """The record.  instances: all of them.  programs: {name: instances, in the order of the requests}."""

    def __init__(self, data: dict[str, Any]) -> None:
        functors = data["functors"]
        self.instances: list[Instance] = [
            (header, name, functors[text], tuple(template)) for header, name, text, template, _ in data["kernels"]
        ]
        self._costs = {
            instance: row[4] for instance, row in zip(self.instances, data["kernels"], strict=True)
        }  # fmt: skip
        self.programs = {name: [self.instances[k] for k in numbers] for name, numbers in data["programs"].items()}
        self._holders: dict[Instance, set[str]] = {}
        for name, instances in self.programs.items():
            for instance in instances:
                self._holders.setdefault(instance, set()).add(name)
        self._by_template: dict[tuple, list[Instance]] = {}
        for instance in self._holders:
            if instance[2]:
                self._by_template.setdefault(_without_functors(instance), []).append(instance)

    def cost(self, instance: Instance) -> int:
        """Tenths of a second of a compilation."""
        return self._costs.get(instance, tuning.KERNEL_COST)

    def by_cost(self) -> list[Instance]:
        """All instances, those that take longest first."""
        return sorted(self.instances, key=self.cost, reverse=True)

    def holders(self, instance: Instance) -> set[str]:
        """The programs that request the instance."""
        return self._holders.get(instance, set())

    def nearest(self, instance: Instance) -> Instance | None:
        """The recorded instance of the same kernel and template whose functors share most lines; None for none."""
        others = self._by_template.get(_without_functors(instance), ())
        lines = set(instance[2].splitlines())
        return max(others, key=lambda other: len(lines.intersection(other[2].splitlines())), default=None)


def _without_functors(instance):
    return instance[0], instance[1], instance[3]


@lru_cache(maxsize=1)
def recorded() -> KernelGroups:
    """The record that comes with the package."""
    return KernelGroups(json.loads(RECORD.read_text(encoding="utf-8")))


class Prediction:
    """The requests of one process: the candidates that they leave."""

    def __init__(self, groups: KernelGroups) -> None:
        self._groups = groups
        self._candidates: set[str] = set()

    def asked(self, instance: Instance) -> None:
        """Record a request."""
        holders = self._groups.holders(instance)
        self._candidates = self._candidates & holders or holders or self._candidates

    def programs(self, instance: Instance) -> set[str]:
        """The programs of which one is expected to run, after a request for this instance."""
        groups = self._groups
        if groups.holders(instance):
            return self._candidates
        other = groups.nearest(instance)
        return set() if other is None else groups.holders(other)

    def expected_with(self, instance: Instance) -> list[Instance]:
        """The instances that a program which asked for this one, after the others, is expected to ask for too: first
        those that most candidates ask for, and of these those that take longest.
        """
        found = self._of(self.programs(instance))
        other = None if self._groups.holders(instance) else self._groups.nearest(instance)
        if other is None:
            return found
        return [
            (header, name, instance[2] if functors else "", template)
            for header, name, functors, template in found
            if functors in ("", other[2])
        ]

    def _of(self, programs):
        counts: dict[Instance, int] = {}
        for program in sorted(programs):
            for instance in self._groups.programs[program]:
                counts[instance] = counts.get(instance, 0) + 1
        found = [instance for instance, count in counts.items() if 2 * count >= len(programs)]
        return sorted(found, key=lambda instance: (-counts[instance], -self._groups.cost(instance)))
