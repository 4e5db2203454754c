"""Systems in several experiments: their parameters and starts differ, and only the stated terms do."""

import numpy as np
import pytest

from spl.datasets import GROUPED_SYSTEMS
from spl.datasets.grouped_systems import N_RUNS
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.notation.terms import linear_terms


def factors_that_differ(name: str) -> set[tuple[str, str]]:
    """Return the states and terms whose factors differ between two experiments; fractions count as one term."""
    first, second = GROUPED_SYSTEMS[name].measure(2).runs
    words = Vocabulary(first.names)
    found = set()
    for state, text in first.equations.items():
        one, other = (
            linear_terms(parse_expression(each.replace("1.5*substrate/(0.3 + substrate)", "product"), words))
            for each in (text, second.equations[state])
        )
        found |= {(state, str(term)) for term in one if not np.isclose(one[term], other[term])}
    return found


@pytest.mark.parametrize("name", GROUPED_SYSTEMS)
def test_the_stated_terms_and_no_others_differ_between_experiments(name: str):
    assert factors_that_differ(name) == set(GROUPED_SYSTEMS[name].terms)


@pytest.mark.parametrize("name", GROUPED_SYSTEMS)
def test_there_are_eight_experiments_with_parameters_in_their_ranges(name: str):
    system = GROUPED_SYSTEMS[name]
    found = system.measure(noise=0.02)
    assert len(found.runs) == len(found.times) == N_RUNS == 8
    for parameter, allowed in system.own.items():
        assert np.all((found.own[parameter] >= allowed.low) & (found.own[parameter] <= allowed.high))
        assert len(set(found.own[parameter])) == N_RUNS
    assert all(np.all(np.isfinite(states)) for states in found.states)


def test_one_or_two_parameters_are_own():
    assert {len(system.own) for system in GROUPED_SYSTEMS.values()} == {1, 2}


def test_experiments_have_noise_of_their_own():
    runs = GROUPED_SYSTEMS["sir"].measure(noise=0.02, seed=1).runs
    errors = [run.states - run.clean for run in runs[:2]]
    assert not np.any(np.isclose(errors[0], errors[1], rtol=1e-9))
