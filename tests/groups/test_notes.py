"""What is said about groups."""

import numpy as np
import pytest
from tests.groups.tables import make_formula, make_rows

from spl.groups.formula import to_candidate
from spl.groups.notes import note_groups

LABELS = np.repeat(list("abcdefgh"), [5, 1, 1, 1, 1, 1, 1, 5])


def notes_of(labels, text, n_own):
    rows = make_rows(np.arange(1.0, len(labels) + 1), np.ones(len(labels)), labels)
    [grouping] = rows.groupings
    formula = make_formula(text, values=[np.ones(grouping.n_groups)] * n_own)
    return list(note_groups(to_candidate(formula, 1.0, None, [("g", grouping.labels)]), rows))


def test_a_grouping_without_numbers_is_named():
    [note] = notes_of(LABELS, "2*x", 0)
    assert note.startswith("No number of the formula depends on 'g'")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (LABELS, "6 groups of 'g' have fewer rows than own numbers (2), .*: b, c, d, e, f, and 1 more."),
        (LABELS[:6], "1 group of 'g' has fewer rows than own numbers (2), .*: b."),
    ],
)
def test_groups_with_too_few_rows_are_counted_and_named(labels, expected):
    [note] = notes_of(labels, "k1*x + k2", 2)
    head, tail = expected.split(".*")
    assert note.startswith(head)
    assert note.endswith(tail)


def test_groups_with_as_many_rows_as_numbers_are_not_mentioned():
    assert not notes_of(LABELS, "k1*x", 1)
    assert not notes_of(["a", "a", "b", "b"], "k1*x + k2", 2)
