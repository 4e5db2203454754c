import numpy as np
import pytest

from spl.noise.models import NORMAL, POISSON, RELATIVE, STUDENT
from spl.noise.repeats import find_repeats, misfit_chance

X = np.repeat(np.linspace(1, 10, 30), 3)
MEANS = np.exp(X / 2)


def repeats_of(target):
    return find_repeats(X[np.newaxis], target)


def noise(seed=0):
    return np.random.default_rng(seed).normal(size=X.size)


def test_the_noise_is_estimated_without_a_formula():
    assert repeats_of(MEANS + 0.3 * noise()).deviation == pytest.approx(0.3, rel=0.2)


def test_rows_that_were_measured_once_are_left_out():
    repeats = find_repeats(np.append(X, 99.0)[np.newaxis], np.append(MEANS + noise(), 1.0))
    assert repeats.rows.max() == X.size - 1
    assert repeats.n_free == 60


@pytest.mark.parametrize("target", [MEANS, np.zeros(X.size)], ids=["equal targets", "zeros"])
def test_repeats_that_agree_say_nothing(target):
    assert repeats_of(target) is None


def test_a_few_repeats_say_nothing():
    x = np.append(np.arange(20.0), 3.0)
    assert find_repeats(x[np.newaxis], np.random.default_rng(0).normal(size=21)) is None


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (NORMAL, MEANS + noise()),
        (RELATIVE, MEANS * (1 + 0.1 * noise())),
        (POISSON, np.random.default_rng(1).poisson(MEANS).astype(float)),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_scatter_of_repeats_shows_the_noise_model(model, target):
    repeats = repeats_of(target)
    models = [each for each in (NORMAL, RELATIVE, STUDENT, POISSON) if not each.check(target, str)]
    assert min(models, key=lambda each: repeats.nats(each, 1e-12)) is model


def test_a_formula_that_misses_the_means_is_unlikely_and_the_law_is_not():
    repeats, precisions = repeats_of(MEANS + noise()), np.ones(X.size)
    assert misfit_chance(repeats, MEANS, precisions, 0) > 0.01
    assert misfit_chance(repeats, MEANS + 3 * np.sin(X), precisions, 0) < 1e-6


def test_the_chance_of_the_law_is_uniform():
    chances = [misfit_chance(repeats_of(MEANS + noise(seed)), MEANS, np.ones(X.size), 0) for seed in range(200)]
    assert np.mean(np.array(chances) < 0.1) == pytest.approx(0.1, abs=0.06)


def test_as_many_numbers_as_inputs_leave_nothing_to_test():
    assert misfit_chance(repeats_of(MEANS + noise()), 2 * MEANS, np.ones(X.size), 30) == 1.0
