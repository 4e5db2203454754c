"""The rows that count, and the numbers that were not fitted."""

import numpy as np

from spl.data.dataset import Dataset
from spl.noise.models import RELATIVE
from spl.regression.fit_rows import FitRows
from spl.regression.noise_choice import NoiseChoice

DATA = Dataset.from_arrays(np.arange(1.0, 5.0)[:, np.newaxis], np.arange(4.0), weights=[1, 0, 1, 1])


def test_rows_without_weight_are_left_out():
    np.testing.assert_array_equal(FitRows.of(DATA, NoiseChoice("normal"), "auto").rows.target, [0.0, 2.0, 3.0])


def test_they_have_the_noise_model_of_the_answer():
    assert FitRows.of(DATA, NoiseChoice("relative"), "auto").rows.noise is RELATIVE
    assert FitRows.of(DATA, NoiseChoice("normal"), "auto").rows.noise is None


def test_numbers_of_the_grammar_are_kept():
    assert FitRows.of(DATA, NoiseChoice("normal"), "auto", (9.81,)).given == (9.81,)
