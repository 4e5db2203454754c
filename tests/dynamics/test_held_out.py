"""Stretches that are held out."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.held_out import HeldOut
from spl.dynamics.rows import Plan, make_rows
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression


def error_of(text, n_samples, rng):
    t = np.linspace(0, 0.02 * n_samples, n_samples)
    data = Trajectories.from_arrays(np.exp(-t) + rng.normal(0, 0.01, t.size), t, names=["x"])
    program = parse_expression(text, Vocabulary(("x",)))
    system = System(("x",), (), (program.with_constants(np.full(program.n_constants, -0.9)),))
    rows = make_rows(data, Plan())
    return HeldOut(data, rows.starts, rows.noise).fit(system, 12, 24, max_seconds=10.0).error


@pytest.mark.parametrize("n_samples", [300, 40])  # of few samples none is held out
def test_the_true_law_leaves_only_the_noise(rng, n_samples):
    assert error_of("C*x", n_samples, rng) == pytest.approx(1, abs=0.5)  # 40 samples say little about the noise


def test_a_wrong_law_leaves_more(rng):
    assert error_of("C", 300, rng) > 1.5
