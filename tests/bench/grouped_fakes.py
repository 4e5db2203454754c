"""Fits of tables with groups that are made up, for the tests of what is counted as found."""

from spl.bench.groups_fit import GroupedFit
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression


def make_own(data, grouping, **names):
    """Return own numbers by the names of the true ones in a table."""
    labels = tuple(dict.fromkeys(data.labels[grouping].tolist()))
    return tuple(
        OwnNumber(
            name, grouping, labels, tuple(float(data.own[true][data.rows_of(grouping, each)][0]) for each in labels)
        )
        for name, true in names.items()
    )


def make_fit(columns, text, own=(), predict=lambda rows: rows.exact):
    """Return a fit that took no time; it predicts the truth unless told otherwise."""
    words = Vocabulary((*columns, *(number.name for number in own)))
    return GroupedFit(
        program=parse_expression(text, words),
        own=tuple(own),
        predict=predict,
        notes=("a note",),
        seconds=0.5,
        cpu_seconds=0.254,
        n_evaluations=1000,
        stopped="exact",
    )
