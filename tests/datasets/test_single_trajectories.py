"""The twenty trajectories: what is claimed about their laws and rivals holds."""

import numpy as np
import pytest

from spl.datasets import SINGLE_TRAJECTORIES
from spl.dynamics.simulate import simulate
from spl.dynamics.system_packing import evaluate_slopes
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

SAME_FIT = 3.0  # nats by which a rival may fit worse, and still nobody can tell
AMBIGUOUS = [name for name, case in SINGLE_TRAJECTORIES.items() if not case.is_unique]


def make_system(equations, data):
    words = Vocabulary(data.names + data.input_names)
    programs = tuple(parse_expression(text, words) for text in equations.values())
    return System(data.names, data.input_names, programs)


def test_half_of_them_cannot_be_told_apart():
    assert len(SINGLE_TRAJECTORIES) == 20
    assert len(AMBIGUOUS) == 10


@pytest.mark.parametrize("name", SINGLE_TRAJECTORIES)
def test_slopes_and_equations_are_the_same(name):
    data = SINGLE_TRAJECTORIES[name].measure()
    slopes = evaluate_slopes(make_system(data.equations, data), np.vstack([data.clean.T, data.u.T]))
    np.testing.assert_allclose(slopes.T, data.derivatives, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_the_measurements_cannot_tell_a_rival_from_the_law(name):
    case = SINGLE_TRAJECTORIES[name]
    data = case.measure()
    followed = simulate(make_system(case.rival, data), case.initial, data.t, data.u if case.inputs else None).states
    noise = case.noise * np.sqrt(np.mean(data.clean**2, axis=0))
    assert 0.5 * np.sum(((followed - data.clean) / noise) ** 2) < SAME_FIT


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_a_rival_differs_elsewhere(name):
    case = SINGLE_TRAJECTORIES[name]
    data = case.measure()
    low, high = data.clean.min(axis=0), data.clean.max(axis=0)
    reach = np.maximum(high - low, 0.5 * np.abs(high))
    rng = np.random.default_rng(0)
    places = rng.uniform(low - reach, high + reach, (200, low.size)).T
    inputs = rng.uniform(0.0, 4.0, (data.u.shape[1], 200))
    law, rival = (
        evaluate_slopes(make_system(each, data), np.vstack([places, inputs])) for each in (case.equations, case.rival)
    )
    assert np.abs(law - rival).max() > 0.005 * np.abs(law).max()
