"""The small laws have values on their ranges, and noise of the stated size."""

import numpy as np
import pytest

from spl.datasets.small_laws import (
    SMALL_LAWS,
    SMALL_NOISE,
    SmallLaw,
    load_small_law,
    measure_small_law,
    noise_of_small_law,
)


def test_there_are_twenty_of_one_to_three_columns():
    assert len({law.name for law in SMALL_LAWS}) == 20
    assert {len(law.variables) for law in SMALL_LAWS} == {1, 2, 3}


@pytest.mark.parametrize("law", SMALL_LAWS, ids=lambda law: law.name)
def test_every_law_has_values_on_its_ranges(law: SmallLaw):
    rows = law.draw_rows(np.random.default_rng(0), 500)
    lows, highs = zip(*((each.low, each.high) for each in law.ranges.values()), strict=True)
    assert np.all((rows >= lows) & (rows <= highs))
    assert np.all(np.isfinite(law.truth_at(rows)))


def test_measurements_scatter_by_the_stated_share_of_the_spread():
    law = load_small_law("gas")
    rows = law.draw_rows(np.random.default_rng(1), 5_000)
    errors = measure_small_law(law, np.random.default_rng(2), rows) - law.truth_at(rows)
    assert errors.std() == pytest.approx(SMALL_NOISE * law.truth_at(rows).std(), rel=0.05)
    assert noise_of_small_law(law) == pytest.approx(errors.std(), rel=0.05)
