"""Whether the equations of a system in several experiments are right, and exactly those terms differ that should."""

import pytest

from spl.bench.groups_systems import has_right_equations, has_right_terms
from spl.datasets import GROUPED_SYSTEMS
from spl.datasets.grouped_systems import N_RUNS
from spl.formulas.own_numbers import OwnNumber
from spl.formulas.program import Vocabulary
from spl.formulas.system import System
from spl.formulas.text import parse_expression

LABELS = tuple(str(run) for run in range(N_RUNS))


def make_system(states, equations, **own):
    """Return a system with own numbers, each with its values."""
    numbers = tuple(OwnNumber(name, "run", LABELS, tuple(map(float, values))) for name, values in own.items())
    words = Vocabulary((*states, *own))
    return System(tuple(states), tuple(own), tuple(parse_expression(each, words) for each in equations), own=numbers)


def true_values(name, parameter):
    return GROUPED_SYSTEMS[name].measure().own[parameter]


MU = true_values("van_der_pol", "mu")
INFLOW = true_values("michaelis_menten", "inflow")


@pytest.mark.parametrize(
    "equations",
    [["y", "k1*(1 - x**2)*y - x"], ["y", "k1*y - k1*x**2*y - x"], ["1.001*y", "-k1*(x**2 - 1)*y - 0.999*x"]],
)
def test_the_system_in_another_spelling_is_right(equations):
    system = make_system(("x", "y"), equations, k1=MU)
    assert has_right_equations("van_der_pol", system, 0)
    assert has_right_terms("van_der_pol", system)


@pytest.mark.parametrize(
    ("equations", "own"),
    [
        (["y", "1.2*(1 - x**2)*y - x"], {}),  # nothing differs
        (["y", "k1*(1 - x**2)*y - k2*x"], {"k1": MU, "k2": 1 + 0.01 * MU}),  # a factor too many differs
        (["y", "k1*y - 1.3*x**2*y - x"], {"k1": MU}),  # one too few does
    ],
)
def test_other_terms_that_differ_are_wrong(equations, own):
    assert not has_right_terms("van_der_pol", make_system(("x", "y"), equations, **own))


def test_a_missing_term_is_wrong():
    assert not has_right_equations("van_der_pol", make_system(("x", "y"), ["y", "k1*(1 - x**2)*y"], k1=MU), 0)


def test_equations_with_fractions_are_judged_by_their_own_numbers():
    rate = "1.5*substrate/(0.3 + substrate)"
    names = ("substrate", "product")
    right = make_system(names, [f"k1 - {rate}", f"{rate} - 0.5*product"], k1=INFLOW)
    assert has_right_equations("michaelis_menten", right, 0)
    assert has_right_terms("michaelis_menten", right)
    wrong = make_system(names, [f"0.6 - {rate}", f"{rate} - k1*product"], k1=INFLOW)
    assert not has_right_terms("michaelis_menten", wrong)
