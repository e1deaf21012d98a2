"""Labels of rows and columns beside a matrix: which objects have them, and the arrays that files keep of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grb_tile.exceptions import InvalidObject

ENDS, LONGEST = 3, 40  # labels shown from each end; characters of one


def matrix_and_labels(obj: Any) -> tuple[Any, Sequence[Any] | None]:
    """(matrix, labels or None) of a Graph or a record of both (EdgeList, LabelledMatrix, Read); else (obj, None)."""
    if not hasattr(obj, "labels"):
        return obj, None
    matrix = next((getattr(obj, name) for name in ("matrix", "obj", "A") if hasattr(obj, name)), obj)
    labels = obj.labels
    base = getattr(obj, "base", None)
    if labels is None and base:
        labels = range(base, matrix.nrows + base)
    return matrix, labels


def labels_text(labels: Sequence[Any] | None) -> str:
    """repr of labels, long ones cut, with their number where some are left out.

    >>> from grb_tile.io.labels import labels_text
    >>> labels_text(["ann", "bob"]), labels_text(range(1, 3)), labels_text(None)
    ("['ann', 'bob']", 'range(1, 3)', 'None')
    >>> labels_text([1, 2, 3, 4, 5, 6, 7, 8])
    '[1, 2, 3, ..., 6, 7, 8] of 8'
    """
    if labels is None or isinstance(labels, range):
        return repr(labels)
    count = len(labels)
    texts = [_cut(repr(label)) for label in (labels if count <= 2 * ENDS else [*labels[:ENDS], *labels[-ENDS:]])]
    if count <= 2 * ENDS:
        return f"[{', '.join(texts)}]"
    return f"[{', '.join([*texts[:ENDS], '...', *texts[ENDS:]])}] of {count:,}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def matrix_counted_from_one(obj: Any, format: str) -> Any:
    """The matrix, for a format that has no labels and counts from 1.  Raises: ValueError for other labels."""
    matrix, labels = matrix_and_labels(obj)
    if labels is not None and list(labels) != list(range(1, max(matrix.shape) + 1)):
        raise ValueError(
            f"{format} files hold no labels: write a .grb, .npz or .csv file, or the matrix without them (G.A of a "
            "Graph, found.matrix of what was read)"
        )
    return matrix


def labels_array(labels: Sequence[Any], count: int) -> np.ndarray:
    """Labels as an array of int64, or of objects that are all str.

    Raises: ValueError for another number than `count`, and for labels that are neither all str nor all such ints.
    """
    if len(labels) != count:
        raise ValueError(f"labels: expected {count} of them, one for each row and column, got {len(labels)}")
    if isinstance(labels, range):
        return np.arange(labels.start, labels.stop, labels.step, dtype=np.int64)
    labels = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    texts = bool(labels) and isinstance(labels[0], str)
    for k, label in enumerate(labels):
        if isinstance(label, str) if texts else _is_int64(label):
            continue
        raise ValueError(
            f"labels: {label!r}, the label of node {k}, cannot be saved beside {labels[0]!r}: a file keeps labels that "
            "are all texts or all integers of 64 bits; make them texts first: labels=list(map(str, G.labels))"
        )
    found = np.empty(count, object if texts else np.int64)
    found[:] = labels
    return found


def _is_int64(label: Any) -> bool:
    return isinstance(label, (int, np.integer)) and not isinstance(label, bool) and -(2**63) <= int(label) < 2**63


def pack(labels: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of a .grb file: int64 "labels", or the bytes of all texts in UTF-8 and where each ends."""
    if labels.dtype.kind == "i":
        return {"labels": labels}
    texts = [text.encode("utf-8", "surrogatepass") for text in labels]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), dtype=np.int64)
    return {"labels": np.frombuffer(b"".join(texts), np.uint8), "label_ends": ends}


def unpack(arrays: dict[str, np.ndarray], count: int) -> list[Any] | None:
    """The labels in the arrays of a .grb file, which are taken out; None where there are none.

    Raises: InvalidObject for arrays that are no labels of `count` rows and columns.
    """
    labels, ends = arrays.pop("labels", None), arrays.pop("label_ends", None)
    if labels is None:
        if ends is not None:
            raise InvalidObject("the file has the array label_ends without labels")
        return None
    if ends is None:
        if labels.dtype != np.int64 or labels.shape[0] != count:
            raise InvalidObject(f"{labels.shape[0]} labels of {labels.dtype}, {count} of int64 were expected")
        return labels.tolist()
    lengths = np.diff(ends, prepend=0)
    if labels.dtype != np.uint8 or ends.dtype != np.int64 or ends.shape[0] != count or (lengths < 0).any():
        raise InvalidObject(f"label_ends are no ends of {count} texts")
    if (int(ends[-1]) if count else 0) != labels.shape[0]:
        raise InvalidObject(f"the labels have {labels.shape[0]} bytes, label_ends {int(ends[-1]) if count else 0}")
    data, found, start = labels.tobytes(), [], 0
    try:
        for end in ends.tolist():
            found.append(data[start:end].decode("utf-8", "surrogatepass"))
            start = end
    except UnicodeDecodeError as error:
        raise InvalidObject(f"a label is no UTF-8: {error}") from None
    return found
