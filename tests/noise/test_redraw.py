"""New targets drawn from a law and its noise."""

import math

import numpy as np
import pytest

from spl.noise.models import BINOMIAL, NORMAL, POISSON, RELATIVE, STUDENT, MeasuredRows, find_noise_model
from spl.noise.new_values import FittedNoise
from spl.noise.own_loss import Loss
from spl.noise.redraw import redraw_targets

VALUES = np.linspace(2.0, 50.0, 4000)


def make_noise(model, target, degrees=math.inf, **rows):
    weights = rows.pop("weights", np.ones(target.size))
    measured = MeasuredRows(target, weights, 1e-13, **rows)
    return FittedNoise(model, model.scatter(measured, VALUES), measured, VALUES, degrees)


def draw(noise, seed=1):
    return redraw_targets(noise, np.random.default_rng(seed))


def test_normal_errors_stay_as_large(rng):
    drawn = draw(make_noise(NORMAL, VALUES + 0.5 * rng.standard_normal(4000)))
    assert np.std(drawn - VALUES) == pytest.approx(0.5, rel=0.05)
    assert abs(np.mean(drawn - VALUES)) < 0.05


def test_what_the_fit_took_out_of_the_residuals_is_put_back(rng):
    target = VALUES + 0.5 * rng.standard_normal(4000)
    drawn = draw(make_noise(NORMAL, target, degrees=1000.0))
    assert np.std(drawn - VALUES) == pytest.approx(1.0, rel=0.05)


def test_rows_of_large_weight_scatter_less(rng):
    weights = np.where(np.arange(4000) < 2000, 0.1, 1.9)
    target = VALUES + rng.standard_normal(4000) / np.sqrt(weights)
    errors = draw(make_noise(NORMAL, target, weights=weights)) - VALUES
    assert np.std(errors[:2000]) == pytest.approx(1 / np.sqrt(0.1), rel=0.1)
    assert np.std(errors[2000:]) == pytest.approx(1 / np.sqrt(1.9), rel=0.1)


def test_error_bars_say_how_far_each_row_scatters(rng):
    sigma = np.where(np.arange(4000) < 2000, 0.1, 2.0)
    errors = draw(make_noise(NORMAL, VALUES + sigma * rng.standard_normal(4000), sigma=sigma)) - VALUES
    assert np.std(errors[:2000]) == pytest.approx(0.1, rel=0.1)
    assert np.std(errors[2000:]) == pytest.approx(2.0, rel=0.1)


def test_relative_errors_grow_with_the_value(rng):
    errors = draw(make_noise(RELATIVE, VALUES * (1 + 0.1 * rng.standard_normal(4000)))) - VALUES
    assert np.std(errors / VALUES) == pytest.approx(0.1, rel=0.1)


def test_outliers_come_back_as_outliers(rng):
    target = VALUES + 0.1 * rng.standard_normal(4000)
    target[::10] += 100.0
    errors = draw(make_noise(STUDENT, target)) - VALUES
    assert 0.07 < np.mean(np.abs(errors) > 50) < 0.13
    assert np.median(np.abs(errors)) < 0.15


def test_counts_are_whole_numbers_with_the_right_mean(rng):
    drawn = draw(make_noise(POISSON, rng.poisson(VALUES).astype(float)))
    np.testing.assert_array_equal(drawn, np.floor(drawn))
    assert np.var(drawn - VALUES) == pytest.approx(VALUES.mean(), rel=0.1)


def test_shares_have_as_many_trials_as_their_rows(rng):
    chances = np.full(4000, 0.3)
    measured = MeasuredRows(rng.binomial(8, chances) / 8, np.ones(4000), 0.0, mean_weight=8.0)
    noise = FittedNoise(BINOMIAL, BINOMIAL.scatter(measured, chances), measured, chances, math.inf)
    drawn = draw(noise)
    assert set(np.unique(drawn * 8)) <= set(range(9))
    assert np.var(drawn) == pytest.approx(0.3 * 0.7 / 8, rel=0.1)


def test_a_lopsided_loss_keeps_its_lopsided_errors(rng):
    loss = Loss("quantile", lambda y, f: (y - f) * (0.9 - (y < f)))
    drawn = draw(make_noise(find_noise_model(loss), VALUES - rng.exponential(1.0, 4000)))
    assert (drawn <= VALUES + 1e-9).all()
