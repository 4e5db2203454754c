"""The laws with own numbers: they have values on their ranges, and each own number matters."""

from collections import Counter

import numpy as np
import pytest

from spl.datasets.grouped_laws import GROUPED_LAWS, PAIRED_LAWS, SIZED_LAWS, GroupedLaw, load_grouped_law
from spl.errors import DataError

ALL = (*GROUPED_LAWS, *PAIRED_LAWS)


def values_of(law: GroupedLaw, place: float, *, other: str = "") -> np.ndarray:
    """Return the values of a law where its own numbers are in one place of their ranges, or at its end for one of them."""
    rows = law.draw_rows(np.random.default_rng(0), 200)
    own = {number.name: number.values.at(np.full(200, 1.0 if number.name == other else place)) for number in law.own}
    return law.truth_at(rows, own)


def test_there_are_fifteen_from_five_fields_of_one_to_three_columns():
    assert len({law.name for law in GROUPED_LAWS}) == 15
    assert len({law.field for law in GROUPED_LAWS}) == 5
    assert set(Counter(len(law.variables) for law in GROUPED_LAWS)) == {1, 2, 3}
    assert set(Counter(len(law.own) for law in GROUPED_LAWS)) == {1, 2}


def test_fifteen_laws_have_one_grouping_and_the_paired_ones_two():
    assert {len(law.groupings) for law in GROUPED_LAWS} == {1}
    assert {len(law.groupings) for law in PAIRED_LAWS} == {2}


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.name)
def test_every_law_has_values_wherever_its_columns_and_own_numbers_may_lie(law: GroupedLaw):
    for place in (0.0, 0.5, 1.0):
        assert np.all(np.isfinite(values_of(law, place)))


@pytest.mark.parametrize("law", ALL, ids=lambda law: law.name)
def test_every_own_number_changes_the_law(law: GroupedLaw):
    middle = values_of(law, 0.5)
    for name in law.own_names:
        change = values_of(law, 0.5, other=name) - middle
        assert np.sqrt(np.mean(change**2)) > 0.05 * np.sqrt(np.mean(middle**2))


def test_a_law_is_loaded_by_its_name():
    assert all(load_grouped_law(name).name == name for name in SIZED_LAWS)
    with pytest.raises(DataError, match=r"no law 'tides'\. Did you mean 'tide'"):
        load_grouped_law("tides")
