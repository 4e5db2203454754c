"""Whether runs seem to have different numbers: a look that costs no fit."""

import numpy as np
import pytest
from tests.dynamics.own_examples import make_growth

from spl.dynamics.refine import refine
from spl.dynamics.run_differences import find_different_runs
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

NOISE = 0.02


def look(rates, seed=0):
    data = make_growth(rates, noise=NOISE, seed=seed)
    program = parse_expression("C*x + C*x*x", Vocabulary(("x",))).with_constants([0.8, -0.08])
    noise = NOISE * np.concatenate([run.x for run in data.runs]).std(axis=0)
    starts = [run.x for run in data.runs]
    fitted = refine(System(("x",), (), (program,)), data.runs, starts, noise, length=20)
    return find_different_runs(fitted, data.runs, starts, noise, exact_error=1e-6)


def test_runs_with_different_numbers_raise_a_doubt():
    assert 'Try own="auto"' in look((0.5, 0.8, 1.1, 1.4))


@pytest.mark.parametrize("seed", range(20))
def test_runs_with_the_same_numbers_raise_none(seed):
    assert look((0.8,) * 4, seed) == ""


def test_a_single_run_raises_none():
    assert look((0.8,)) == ""
