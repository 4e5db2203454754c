import numpy as np
import pytest

from spl.datasets.shaped_laws import N_BEYOND_ROWS, SHAPED_LAWS
from spl.knowledge.knowledge import Knowledge


def test_there_are_ten_laws_with_few_rows_and_noise():
    assert len(SHAPED_LAWS) == 10
    assert all(law.n_rows <= 15 and law.noise > 0 for law in SHAPED_LAWS.values())


@pytest.mark.parametrize("law", SHAPED_LAWS.values(), ids=str)
def test_the_asked_rows_lie_outside_of_the_data_and_the_law_has_values_there(law):
    columns, values = law.rows_beyond()
    assert columns.shape == (len(law.columns), N_BEYOND_ROWS)
    assert np.isfinite(values).all()
    highest = np.array([high for _, high in law.measured.values()])
    lowest = np.array([low for low, _ in law.measured.values()])
    is_outside = (columns > highest[:, np.newaxis]) | (columns < lowest[:, np.newaxis])
    assert is_outside.any(axis=0).mean() > 0.5


@pytest.mark.parametrize("law", SHAPED_LAWS.values(), ids=str)
def test_the_table_has_the_noise_that_it_says(law):
    residuals = np.concatenate([(table := law.table(seed)).target - law.values(table.columns) for seed in range(40)])
    spreads = [law.values(law.table(seed).columns).std() for seed in range(40)]
    assert residuals.std() / np.sqrt(np.mean(np.square(spreads))) == pytest.approx(law.noise, rel=0.15)


def test_the_statements_can_be_read():
    for law in SHAPED_LAWS.values():
        assert Knowledge.read(law.knowledge, law.columns, law.target).texts == law.knowledge
