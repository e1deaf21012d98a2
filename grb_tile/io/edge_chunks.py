"""Chunks of an edge list as arrays: numbers by NumPy, everything else line by line, which also locates the errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from grb_tile.io.dialect import COMPLEX, REAL, TRUTH, WHOLE, Dialect
from grb_tile.io.errors import bad_file
from grb_tile.io.lines import data_lines, line_number

EXACT_IN_FLOAT = 2**53
LARGEST_SIZE = 2**60
DIMACS_LINE = re.compile(rb"(?m)^[ \t]*([ae])(?=[ \t])")
Fault = Callable[[int, str, str], Exception]  # (line of the chunk, what, remedy) -> the exception


class Chunks:
    """The edges of all chunks so far; `labels` maps each label to its number, None where vertices are numbers."""

    def __init__(self, name: str, dialect: Dialect, labels: bool | None, base: int) -> None:
        self.name, self.dialect, self.base, self.labels_given = name, dialect, base, labels
        self.labels: dict[bytes, int] | None = {} if labels else None
        self.decided = bool(labels)
        self.skip_header = dialect.header
        self.lines = 0
        self.parts: list[Any] = []
        mark = None if dialect.delimiter is None else re.escape(dialect.delimiter)
        gap = rb"[ \t]++" if mark is None else rb"[ ]*+" + mark + rb"[ ]*+"
        field = rb"[^ \t\r\n]++" if mark is None else rb"(?:(?!" + mark + rb")[^\r\n])*+"
        columns = [rb"(?:" + WHOLE.pattern + rb")"] * 2 + [rb"(?:" + REAL.pattern + rb")"] * self.weighted
        columns += [field] * (dialect.columns - len(columns))
        self.pattern = re.compile(rb"(?:[ \t]*+" + gap.join(columns) + rb"[ \t\r]*+\n)*+")

    @property
    def weighted(self) -> bool:
        return len(self.dialect.picked) == 3

    def take(self, text: bytes) -> None:
        """Add the edges of whole lines."""
        before, self.lines = self.lines, self.lines + text.count(b"\n")
        marks, skipped = self.dialect.marks, 0
        body = data_lines(text, marks)
        if self.skip_header and body:
            skipped, self.skip_header = 1, False
            body = body[body.index(b"\n") + 1 :]
        if not body:
            return

        def fault(at: int, what: str, remedy: str) -> Exception:
            return bad_file(self.name, before + line_number(text, marks, at + skipped), what, remedy)

        if self.dialect.kind is not None:
            body = self._without_designators(body, fault)
        if self.labels is None and self._take_numbers(body):
            self.decided = True
        else:
            self._take_lines(body, fault)

    def _without_designators(self, body, fault):
        """Lines of DIMACS files without the `a` (arc) or `e` (edge) that they begin with."""
        designator = b"a" if self.dialect.picked and self.dialect.kind in ("sp", "max", "asn") else b"e"
        found = DIMACS_LINE.findall(body)
        if len(found) != body.count(b"\n") or any(one != designator for one in set(found)):
            for at, line in enumerate(body.split(b"\n")[:-1]):
                if line.split()[:1] != [designator]:
                    what = f"expected a line of {designator.decode()!r}, found {_shown(line)}"
                    raise fault(at, what, "Correct the line")
        return DIMACS_LINE.sub(b" ", body)

    def _take_numbers(self, body):
        """Convert a chunk of numbers in the first columns by NumPy; False when it has anything else."""
        picked = self.dialect.picked
        if picked != (0, 1, 2)[: len(picked)] or b'"' in body:
            return False
        if self.dialect.delimiter:
            if re.search(rb"[-+.0-9a-zA-Z]", self.dialect.delimiter):  # may be part of a number
                return False
        if self.dialect.decimal_comma:
            body = body.replace(b",", b".")
        if self.pattern.match(body).end() != len(body):
            return False
        if self.dialect.delimiter:
            body = body.replace(self.dialect.delimiter, b" ")
        keep = len(picked)
        if self.dialect.columns > keep:
            body = b"".join(b" ".join(line.split()[:keep]) + b"\n" for line in body.split(b"\n")[:-1])
        whole = keep == 2 or re.search(rb"[^-+0-9 \t\r\n]", body) is None
        if whole and re.search(rb"[0-9]{19}", body):  # may exceed INT64; in FP64 the check of 2^53 below excludes it
            return False
        table = np.fromstring(body, np.int64 if whole else np.float64, sep=" ").reshape(body.count(b"\n"), keep)
        ends = table[:, :2]
        if ends.min() < self.base or not whole and ends.max() >= EXACT_IN_FLOAT:
            return False
        ends = ends.astype(np.int64) - self.base
        self.parts.append((ends[:, 0], ends[:, 1], table[:, 2].copy() if keep == 3 else None))
        return True

    def _take_lines(self, body, fault):
        """_take_numbers line by line, for labels, quotation marks and weights of other types; raises all errors."""
        sources, targets, weights = [], [], []
        columns, picked = self.dialect.columns, self.dialect.picked
        for at, line in enumerate(body.split(b"\n")[:-1]):
            try:
                words = self.dialect.words(line)
            except ValueError as error:
                raise fault(at, f"{error}: {_shown(line)}", "Correct the quotation marks") from None
            if not self.decided:
                self._decide(words, at, fault)
            if len(words) != columns:
                what = f"expected {columns} columns as in the first line, found {len(words)}: {_shown(line)}"
                raise fault(at, what, "Correct the line")
            if not (words[picked[0]] and words[picked[1]]):
                raise fault(at, f"a vertex has no name: {_shown(line)}", "Correct the line")
            if self.labels is None:
                sources.append(self._number(words[picked[0]], line, at, fault))
                targets.append(self._number(words[picked[1]], line, at, fault))
            else:
                sources.append(self.labels.setdefault(words[picked[0]], len(self.labels)))
                targets.append(self.labels.setdefault(words[picked[1]], len(self.labels)))
            if len(picked) == 3:
                word = words[picked[2]]
                weights.append(word.replace(b",", b".") if self.dialect.decimal_comma else word)
        values = weights_of(weights, fault) if len(picked) == 3 else None
        self.parts.append((np.array(sources, np.int64), np.array(targets, np.int64), values))

    def _decide(self, words, at, fault):
        """The first line decides whether vertices are numbers or labels."""
        self.decided = True
        ends = [words[k] for k in self.dialect.picked[:2] if k < len(words)]
        label = next((word for word in ends if not WHOLE.fullmatch(word)), None)
        if label is None:
            return
        if self.labels_given is False or self.dialect.kind is not None:
            raise fault(at, f"{_shown(label)} is not a whole number", "Pass labels=True")
        self.labels = {}

    def _number(self, word, line, at, fault):
        if not WHOLE.fullmatch(word):
            expected = "two vertex numbers and a weight" if self.weighted else "two vertex numbers"
            raise fault(at, f"expected {expected}, found {_shown(line)}", "Correct the line, or pass labels=True")
        if len(word.lstrip(b"-0")) > 19 or int(word) > LARGEST_SIZE:
            raise fault(at, f"the vertex number {_shown(word)} is more than 2**60", "Pass labels=True")
        number = int(word)
        if number < self.base:
            remedy = "Pass base=0, or labels=True" if self.base else "Pass labels=True"
            raise fault(at, f"vertex number {number} is less than {self.base}", remedy)
        return number - self.base


def weights_of(words: list[bytes], fault: Fault) -> Any:
    """The array of weights: int64 or uint64, float64, complex128, or bool, by the form of the words.

    >>> weights_of([b"1", b"2.5"], None).tolist(), weights_of([b"True"], None).dtype.name
    ([1.0, 2.5], 'bool')
    """
    truth = TRUTH.fullmatch(words[0]) is not None
    patterns = (TRUTH,) if truth else (REAL, COMPLEX)
    for at, word in enumerate(words):
        if not any(pattern.fullmatch(word) for pattern in patterns):
            kind = "neither true nor false, as the first weight is" if truth else "not a number"
            raise fault(at, f"the weight {_shown(word)} is {kind}", "Correct the line, or pass weights=False")
    if truth:
        return np.array([word.lower() == b"true" for word in words])
    if not all(REAL.fullmatch(word) for word in words):
        values = np.empty(len(words), np.complex128)
        for at, word in enumerate(words):
            try:
                values[at] = complex(word.decode())
            except ValueError:
                raise fault(
                    at,
                    f"the weight {_shown(word)} is no complex number, such as 1.5-2j",
                    "Correct the line, or pass weights=False",
                ) from None
        return values
    if not all(re.fullmatch(rb"[-+]?[0-9]+", word) for word in words):
        return np.array([float(word) for word in words])
    for at, word in enumerate(words):
        if len(word.lstrip(b"-+0")) > 20 or not -(2**63) <= int(word) < 2**64:
            raise fault(at, f"the weight {_shown(word)} does not fit into 64 bits", "Write it with a decimal point")
    numbers = [int(word) for word in words]
    if max(numbers) < 2**63:
        return np.array(numbers, np.int64)
    if min(numbers) >= 0:
        return np.array(numbers, np.uint64)
    raise fault(
        numbers.index(max(numbers)),
        f"{max(numbers)} and the weight {min(numbers)} of another line fit into no one type of 64 bits",
        "Write the weights with a decimal point",
    )


def joined_weights(parts: list[Any], name: str) -> Any:
    """The weights of all chunks in one array, of their common type."""
    kinds = {part.dtype.kind for part in parts}
    if "b" in kinds and len(kinds) > 1:
        raise bad_file(name, None, "the weights are truth values in some lines, numbers in others", "Correct the file")
    if kinds == {"i", "u"}:
        if min(int(part.min(initial=0)) for part in parts if part.dtype.kind == "i") < 0:
            what = "the weights have negative ones and such of 2^63 and more, no type of 64 bits has both"
            raise bad_file(name, None, what, "Write the weights with a decimal point")
        parts = [part.astype(np.uint64) for part in parts]
    return np.concatenate(parts)


def _shown(text):
    return repr(text[:60].decode("utf-8", "replace").strip())
