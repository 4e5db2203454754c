"""The noise of a result in words."""

import numpy as np
import pytest

from spl.data.dataset import Dataset, RowPlaces
from spl.display.noise import find_places, list_places, noise_line, outliers_line, plain_noise, quality_words
from spl.regression.noise_choice import NoiseChoice

X = np.arange(1.0, 31.0)[:, np.newaxis]
TABLE = Dataset.from_arrays(X, X[:, 0])
FROM_FILE = Dataset.from_arrays(X, X[:, 0], places=RowPlaces(np.arange(30) + 2, "line"))
WITH_BARS = Dataset.from_arrays(X, X[:, 0], sigma=0.1)


@pytest.mark.parametrize(
    ("noise", "data", "line"),
    [
        (NoiseChoice("normal"), TABLE, ""),
        (NoiseChoice("normal", reason="there is none: the law is exact"), TABLE, ""),
        (NoiseChoice("normal", {"standard deviation": 0.0213}), TABLE, "Noise: normal, standard deviation 0.021."),
        (NoiseChoice("normal"), WITH_BARS, "Noise: normal, as large as the error bars say."),
        (
            NoiseChoice("normal", {"factor of the error bars": 1.8}),
            WITH_BARS,
            "Noise: normal, 1.8 times the error bars.",
        ),
        (
            NoiseChoice("student", {"scale": 1.0}),
            WITH_BARS,
            "Noise: student, as large as the error bars say besides the outliers.",
        ),
        (NoiseChoice("student", {"scale": 0.5}), TABLE, "Noise: student, 0.5 besides the outliers."),
        (
            NoiseChoice("relative", {"relative error": 0.05, "even error": 0.2}, reason="why"),
            TABLE,
            "Noise: relative, 5 % of the value and 0.2 everywhere (why).",
        ),
        (NoiseChoice("poisson", reason="counts"), TABLE, "Noise: poisson (counts)."),
        (NoiseChoice("huber", {"typical error": 0.3}), TABLE, "Noise: huber, typical error 0.3."),
    ],
)
def test_the_line_says_model_size_and_reason(noise, data, line):
    assert noise_line(noise, data) == line


def test_outliers_of_a_file_are_named_by_their_lines():
    assert outliers_line((0, 28), FROM_FILE) == "Outliers: 2 of 30 rows: lines 2, 30."
    assert find_places((0, 28), FROM_FILE) == [2, 30]


def test_without_outliers_there_is_no_line():
    assert outliers_line((), TABLE) == ""


def test_only_the_first_twenty_outliers_are_listed():
    assert list_places(tuple(range(25)), TABLE).endswith("18, 19 and 5 more")


def test_the_share_without_outliers_comes_first():
    assert quality_words(0.5, 0.9) == "R2 0.900000 without the outliers, 0.500000 with them"
    assert quality_words(0.5) == "R2 0.500000"
    assert quality_words(None) == ""


def test_what_json_cannot_represent_is_none():
    assert plain_noise(NoiseChoice("normal", {}, {"student": np.inf}))["others"] == {"student": None}
