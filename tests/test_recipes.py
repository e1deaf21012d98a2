"""docs/RECIPES.md: every job takes at most six lines; tests/test_doctests.py runs them."""

import doctest
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "RECIPES.md"
MOST = 6


def jobs():
    """The lines of code of each section, which is one job; the data of the page come before the first."""
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        blocks = re.findall(r"```python\n(.*?)```", section, re.S)
        examples = [each for block in blocks for each in doctest.DocTestParser().get_examples(block)]
        lines = [line for each in examples for line in each.source.splitlines()]
        yield pytest.param(lines, id=section.splitlines()[0])


def test_the_jobs_are_found():
    titles = [job.id for job in jobs()]
    wanted = ["data frame", "together", "Recommend", "TF-IDF", "Communities", "Save", "picture", "memory"]
    assert all(any(word in title for title in titles) for word in wanted), titles


@pytest.mark.parametrize("lines", list(jobs()))
def test_a_job_is_short(lines):
    assert 1 <= len(lines) <= MOST and max(map(len, lines)) <= 116
