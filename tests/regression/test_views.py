"""The views of a search: when another one is opened, and that neither chance nor the number of workers decides it."""

import numpy as np
import pytest
from tests.run_examples import NO_LIMIT, make_config, make_outlier_request, summary

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text
from spl.noise.models import NORMAL, POISSON, STUDENT
from spl.regression.column_screening import screen_columns
from spl.regression.discover import discover
from spl.regression.request import RegressionRequest

pytestmark = pytest.mark.search

RULES = "f -> f + f | f * f | sin(f) | C * f | x"
X = np.linspace(0.5, 6.0, 60)


def make_request(target, noise, **more):
    data = Dataset.from_arrays(X[:, np.newaxis], target, names=["x"], **more)
    config = make_config(2, n_episodes=200)
    return RegressionRequest(data, Grammar.from_text(RULES), config=config, limits=NO_LIMIT, seed=3, noise=noise)


@pytest.fixture(scope="module")
def with_outliers():
    return discover(make_outlier_request())


def test_outliers_open_a_view_that_knows_of_them(with_outliers):
    assert with_outliers.noise.name == "student"
    assert with_outliers.outliers == tuple(range(0, 60, 6))
    assert with_outliers.noise.others["normal"] > 0


def test_with_even_noise_the_same_data_has_another_answer(with_outliers):
    plain = discover(make_outlier_request(noise=NORMAL))
    assert (plain.noise.name, plain.outliers) == ("normal", ())
    assert summary(plain) != summary(with_outliers)


def test_the_number_of_workers_does_not_change_the_answer(with_outliers):
    found = discover(make_outlier_request(n_jobs=2))
    assert summary(found) == summary(with_outliers)
    assert (found.noise, found.outliers) == (with_outliers.noise, with_outliers.outliers)
    assert (found.n_episodes, found.n_evaluations) == (with_outliers.n_episodes, with_outliers.n_evaluations)


def test_watchers_are_told_of_the_leading_model():
    names = []
    discover(make_outlier_request(), watch=lambda progress: names.append(progress.noise))
    assert (names[0], names[-1]) == ("normal", "student")


@pytest.mark.parametrize("size", [0.0, 0.05], ids=["without noise", "with even noise"])
def test_where_noise_is_even_the_search_is_the_same_as_if_that_were_known(rng, size):
    target = 2 * np.sin(X) + 0.3 * X + size * rng.normal(size=60)
    auto, plain = (discover(make_request(target, noise)) for noise in ("auto", NORMAL))
    assert summary(auto) == summary(plain)
    assert (auto.n_episodes, auto.n_evaluations) == (plain.n_episodes, plain.n_evaluations)
    assert auto.noise.name == "normal"


def test_with_error_bars_a_search_begins_with_them(rng):
    sigma = np.where(X < 3, 0.01, 1.0)
    found = discover(make_request(2 * np.sin(X) + 0.3 * X + sigma * rng.normal(size=60), NORMAL, sigma=sigma))
    assert found.noise.name == "normal"
    assert found.front.choose("mdl", found.n_rows, found.floor) > 0


@pytest.mark.parametrize("noise", [STUDENT, POISSON])
def test_a_model_that_is_asked_for_is_used(rng, noise):
    found = discover(make_request(rng.poisson(3 * X).astype(float), noise))
    assert (found.noise.name, found.noise.reason) == (noise.name, "as asked for")


def test_a_view_that_has_tried_all_formulas_of_its_columns_goes_on_with_all_columns(rng):
    table = rng.uniform(-1, 1, (300, 14))
    data = Dataset.from_arrays(table, table.sum(axis=1))
    promising = screen_columns(data).promising
    seen, other = promising[0], next(column for column in range(14) if column not in promising)
    grammar = Grammar.from_text(f"f -> C*x{seen} | C*x{seen} + C*x{other}", variables=data.names)
    found = discover(RegressionRequest(data, grammar, limits=NO_LIMIT))
    assert found.stopped == "exhausted"
    assert f"x{other}" in to_text(found.front[-1].program)
