"""Oscillations that samples cannot show are no formulas."""

import numpy as np
import pytest

from spl.data.trajectories import Trajectories
from spl.dynamics.aliasing import SampleSequence
from spl.dynamics.budget import NEVER, SystemBudget
from spl.dynamics.rows import Plan, make_rows
from spl.dynamics.trials import SystemTrials
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.candidate import Candidate
from spl.regression.front import Front

WORDS = Vocabulary(("x", "u"))
STEPS = np.vstack([np.arange(30.0), np.zeros(30)])  # x moves by 1 from sample to sample, u not at all


def parse(text):
    return parse_expression(text, WORDS)


@pytest.mark.parametrize(
    ("text", "is_too_fast"),
    [
        ("50*sin(9.69*x)", True),
        ("cos(x) + tan(4*x)", True),
        ("sin(3*x)", False),
        ("sin(100*u)", False),
        ("sin(sin(9*x))", True),
        ("100*x", False),
    ],
)
def test_a_function_is_too_fast_if_its_argument_turns_by_more_than_half_a_turn_per_sample(text, is_too_fast):
    assert SampleSequence((STEPS,)).is_too_fast(parse(text)) == is_too_fast


def test_rare_fast_stretches_are_allowed():
    jumps = np.vstack([np.repeat(np.arange(5.0), 8), np.zeros(40)])
    assert not SampleSequence((jumps,)).is_too_fast(parse("sin(9*x)"))


def test_a_front_loses_its_fast_formulas_but_not_its_first():
    texts = ["1", "x", "sin(9*x)", "x + sin(x)"]
    front = Front(tuple(Candidate(parse(text), 1.0 / (k + 1), 0.0) for k, text in enumerate(texts)))
    kept = SampleSequence((STEPS,)).leave_out_too_fast(front)
    assert [candidate.program for candidate in kept] == [parse(texts[k]) for k in (0, 1, 3)]


def test_nothing_is_too_fast_for_a_map():
    x = np.random.default_rng(0).uniform(-9, 9, 40)
    data = Trajectories.from_arrays(x, 1.0, names=["x"])
    rows = make_rows(data, Plan(is_discrete=True))
    samples = SampleSequence.of(data, rows, is_discrete=True)
    assert not samples.is_too_fast(parse_expression("sin(9*x)", Vocabulary(("x",))))


def test_a_system_that_is_too_fast_is_not_chosen():
    t = np.linspace(0, 20, 100)
    data = Trajectories.from_arrays(5 * np.sin(t), t, names=["x"])
    trials = SystemTrials(data, make_rows(data, Plan()), Plan(), SystemBudget(NEVER))
    fast = parse_expression("C*sin(C*x)", Vocabulary(("x",))).with_constants(np.array([1e-9, 20.0]))
    assert trials.try_programs([fast], (0,)).length_nats == np.inf
