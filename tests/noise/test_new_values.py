"""Limits of new measurements: as many new ones lie within them as they promise."""

import math

import numpy as np
import pytest
from scipy import stats

from spl import Loss
from spl.noise.models import BINOMIAL, NORMAL, POISSON, RELATIVE, STUDENT, MeasuredRows, find_noise_model
from spl.noise.new_values import FittedNoise, clip_to_targets, limit_new_values

N_ROWS = 2000
VALUES = np.linspace(2.0, 40.0, N_ROWS)
KNOWN = np.zeros(N_ROWS)


def make_noise(model, target, values=VALUES, degrees=math.inf, **given):
    rows = MeasuredRows(target, given.pop("weights", np.ones(target.size)), 0.0, **given)
    return FittedNoise(model, model.scatter(rows, values), rows, values, degrees)


def share_within(limits, measured):
    low, high = limits
    return np.mean((low <= measured) & (measured <= high))


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def draw(model, rng):
    normal = rng.standard_normal(N_ROWS)
    return {
        NORMAL: lambda: VALUES + 3 * normal,
        RELATIVE: lambda: VALUES * (1 + 0.1 * normal),
        STUDENT: lambda: VALUES + rng.standard_t(2, N_ROWS),
        POISSON: lambda: rng.poisson(VALUES).astype(float),
    }[model]()


@pytest.mark.parametrize("level", [0.5, 0.95])
@pytest.mark.parametrize("model", [NORMAL, RELATIVE, STUDENT, POISSON], ids=str)
def test_as_many_new_measurements_lie_within_the_limits_as_promised(model, level, rng):
    noise = make_noise(model, draw(model, rng))
    limits = limit_new_values(noise, VALUES, KNOWN, level, stats.norm.ppf(0.5 * (1 + level)))
    rounding = 0.15 if model is POISSON else 0.0  # counts are whole numbers: their limits hold more
    assert level - 0.03 <= share_within(limits, draw(model, rng)) <= level + 0.03 + rounding


def test_new_shares_have_as_many_trials_as_the_old_ones(rng):
    chances = VALUES / 50
    old, new = (rng.binomial(40, chances) / 40 for _ in range(2))
    noise = make_noise(BINOMIAL, old, chances, mean_weight=40.0)
    assert 0.94 <= share_within(limit_new_values(noise, chances, KNOWN, 0.95, 1.96), new) <= 0.99


def test_a_loss_of_ones_own_takes_the_limits_from_the_errors(rng):
    model = find_noise_model(Loss("absolute", lambda y, f: abs(f - y)))
    old, new = (VALUES + rng.laplace(size=N_ROWS) for _ in range(2))
    assert share_within(limit_new_values(make_noise(model, old), VALUES, KNOWN, 0.95, 1.96), new) == pytest.approx(
        0.95, abs=0.02
    )


def test_relative_limits_grow_with_the_value(rng):
    low, high = limit_new_values(make_noise(RELATIVE, draw(RELATIVE, rng)), VALUES, KNOWN, 0.95, 1.96)
    assert (high - low)[-1] == pytest.approx(20 * (high - low)[0], rel=0.2)


def test_error_bars_are_those_of_an_average_row():
    noise = make_noise(NORMAL, VALUES, sigma=np.where(np.arange(N_ROWS) % 2, 1.0, 7.0))
    low, high = limit_new_values(noise, np.zeros(1), np.zeros(1), 0.95, 1.96)
    assert high[0] == -low[0] == pytest.approx(1.96 * 5)


@pytest.mark.parametrize("model", [NORMAL, POISSON, STUDENT], ids=str)
def test_a_law_that_is_not_known_well_has_wider_limits(model, rng):
    noise = make_noise(model, draw(model, rng))
    narrow, wide = (limit_new_values(noise, VALUES[-1:], np.array([error]), 0.95, 1.96) for error in (0.0, 8.0))
    assert wide[1] - wide[0] > 1.2 * (narrow[1] - narrow[0])


def test_an_uncertain_chance_gives_wider_limits():
    noise = make_noise(BINOMIAL, np.full(10, 0.5), np.full(10, 0.5), mean_weight=100.0)
    narrow, wide = (limit_new_values(noise, np.array([0.5]), np.array([error]), 0.95, 1.96) for error in (0.0, 0.1))
    assert wide[1] - wide[0] > 1.5 * (narrow[1] - narrow[0])


def test_few_degrees_of_freedom_make_errors_larger():
    few, many = (make_noise(NORMAL, VALUES + np.sin(VALUES), degrees=n) for n in (N_ROWS / 4, N_ROWS))
    upper = [limit_new_values(noise, np.zeros(1), np.zeros(1), 0.95, 2.0)[1][0] for noise in (few, many)]
    assert upper[0] == pytest.approx(2 * upper[1])


@pytest.mark.parametrize(
    ("model", "expected"), [(NORMAL, [-1.0, 2.0]), (POISSON, [0.0, 2.0]), (BINOMIAL, [0.0, 1.0])], ids=str
)
def test_means_stay_within_what_can_be_measured(model, expected):
    assert clip_to_targets(model, np.array([-1.0, 2.0])).tolist() == expected
