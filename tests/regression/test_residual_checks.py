"""Checks of residuals: alarms are rare without a reason, and come with one."""

from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset, RowPlaces
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import POISSON, RELATIVE, STUDENT
from spl.regression.fit import fit
from spl.regression.residual_checks import MAX_CHECKED, MIN_CHECKED, check_residuals, neighbour_chance, why_unchecked

WORDS = Vocabulary(("x", "y"))
LINE = parse_expression("C*x + C*y + C", WORDS)


def make_data(random, noise, n_rows=60, curve=0.0, **more):
    table = random.uniform(1.0, 4.0, (n_rows, 2))
    target = 2 * table[:, 0] - table[:, 1] + curve * table[:, 0] ** 2 + noise
    return Dataset.from_arrays(table, target, names=["x", "y"], **more)


def check(data, program=LINE):
    checks = check_residuals(fit(program, data).program, data)
    return {each.name + each.column: each for each in checks}


def doubtful(data, program=LINE):
    return {name for name, each in check(data, program).items() if each.is_doubtful}


def test_false_alarms_are_as_rare_as_promised():
    random = np.random.default_rng(0)
    tables = [check(make_data(random, random.standard_normal(60))) for _ in range(300)]
    for name in ("normality", "order", "spread", "columnx", "columny"):
        chances = np.array([found[name].chance for found in tables])
        assert 0.01 <= np.mean(chances < 0.05) <= 0.085, name
    assert np.mean([any(each.is_doubtful for each in found.values()) for found in tables]) < 0.06


@pytest.mark.parametrize("n_rows", [MIN_CHECKED, 2000])
def test_few_and_many_rows_raise_no_more_alarms(n_rows):
    random = np.random.default_rng(1)
    tables = [doubtful(make_data(random, random.standard_normal(n_rows), n_rows)) for _ in range(60)]
    assert sum(map(bool, tables)) <= 6


def test_a_missing_part_of_the_law_shows_in_its_column():
    random = np.random.default_rng(0)
    found = check(make_data(random, 0.2 * random.standard_normal(60), curve=0.5))
    assert found["columnx"].is_doubtful
    assert found["columnx"].words == "The errors follow x: the formula misses part of how the target depends on it."
    assert not found["columny"].is_doubtful


def test_a_drift_shows_in_the_order_of_the_rows():
    random = np.random.default_rng(0)
    assert doubtful(make_data(random, np.linspace(-1, 1, 60) + 0.2 * random.standard_normal(60))) == {"order"}


def test_the_order_is_that_of_the_places_of_the_rows():
    random = np.random.default_rng(0)
    places = RowPlaces(random.permutation(60))
    data = make_data(random, 2.0 * places.numbers / 60 + 0.2 * random.standard_normal(60), places=places)
    assert "order" in doubtful(data)


def test_errors_that_grow_show_in_the_spread_unless_the_noise_model_says_so():
    random = np.random.default_rng(0)
    table = np.geomspace(1.0, 100.0, 120)[:, np.newaxis] * np.ones(2)
    target = 3 * table[:, 0] * (1 + 0.1 * random.standard_normal(120))
    data = Dataset.from_arrays(table, target, names=["x", "y"])
    slope = parse_expression("C*x", WORDS)
    assert "spread" in doubtful(data, slope)
    assert "spread" not in doubtful(replace(data, noise=RELATIVE), slope)


def test_outliers_are_not_normal():
    random = np.random.default_rng(0)
    noise = 0.1 * random.standard_normal(60)
    noise[::10] += 5.0
    found = check(make_data(random, noise))
    assert found["normality"].is_doubtful
    assert "look for outliers" in found["normality"].words


def test_noise_models_that_are_not_normal_are_not_checked_for_it():
    random = np.random.default_rng(0)
    table = random.uniform(1.0, 4.0, (80, 2))
    data = Dataset.from_arrays(table, random.poisson(4 * table[:, 0]).astype(float), names=["x", "y"])
    slope = parse_expression("C*x", WORDS)
    for model in (POISSON, STUDENT):
        found = check(replace(data, noise=model), slope)
        assert "normality" not in found
        assert not any(each.is_doubtful for each in found.values())


def test_there_is_nothing_to_check_in_few_rows_or_an_exact_law():
    random = np.random.default_rng(0)
    assert check(make_data(random, random.standard_normal(9), 9)) == {}
    assert check(make_data(random, 0.0)) == {}


def test_a_constant_column_is_not_checked():
    random = np.random.default_rng(0)
    table = np.column_stack([random.uniform(1, 4, 60), np.ones(60)])
    data = Dataset.from_arrays(table, table[:, 0] + random.standard_normal(60), names=["x", "y"])
    assert "columny" not in check(data, parse_expression("C*x", WORDS))


def test_equal_residuals_say_nothing():
    assert neighbour_chance(np.ones(20)) == 1.0


def test_many_rows_are_checked_in_a_part_that_is_spread_over_all():
    random = np.random.default_rng(0)
    n_rows = 3 * MAX_CHECKED
    drift = np.linspace(-0.5, 0.5, n_rows)
    assert "order" in doubtful(make_data(random, drift + random.standard_normal(n_rows), n_rows))


@pytest.mark.parametrize(
    ("text", "n_rows", "reason"),
    [
        ("2*x - y", 9, "there are only 9 rows"),
        ("2*x - y", 20, "the formula fits to rounding error"),
        ("log(x - 2)", 20, "there are rows that the formula cannot have produced"),
        ("x", 20, ""),
    ],
)
def test_why_there_is_nothing_to_check_is_said(text, n_rows, reason):
    data = make_data(np.random.default_rng(0), 0.0, n_rows)
    assert why_unchecked(parse_expression(text, WORDS), data) == reason
