"""Faults to plant, an area a module: one small, realistic mistake each, as a replacement of text that occurs once."""

from __future__ import annotations

import dataclasses
import importlib
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]


@dataclasses.dataclass(frozen=True)
class Fault:
    """`before`, which occurs once in the file `path`, becomes `after`; the files `tests` must notice it.

    `survives` is the reason why no test can notice it: the change alters nothing that a user or a caller sees.
    """

    path: str
    what: str
    before: str
    after: str
    tests: tuple[str, ...] = ()
    survives: str = ""
    chosen: tuple[str, ...] = ()  # of those files, these tests alone, in this order

    @property
    def name(self) -> str:
        return f"{self.path}: {self.what}"

    def planted(self, text: str) -> str:
        """The file's text with the fault; ValueError if `before` does not occur exactly once."""
        count = text.count(self.before)
        if count != 1:
            raise ValueError(
                f"{self.name}: its text occurs {count} times in {self.path}, expected once: {self.before!r}"
            )
        return text.replace(self.before, self.after)


def areas() -> list[str]:
    """Names of the modules of faults."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def load(area: str) -> list[Fault]:
    """The faults of one area; those that name no tests get the tests of their area."""
    module = importlib.import_module(f"mutation.faults.{area}")
    return [fault if fault.tests else dataclasses.replace(fault, tests=module.TESTS) for fault in module.FAULTS]


def all_faults() -> list[Fault]:
    return [fault for area in areas() for fault in load(area)]
