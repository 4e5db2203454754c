import numpy as np
import pytest

from spl.bench import equations
from spl.bench.equations import Measured, compare_terms, read_equations, search_equations
from spl.estimators.dynamics import SPLDynamics

WORDS = ("x", "y")


def compare(found, truth):
    return compare_terms(*read_equations(f"{found}; {truth}", WORDS))


def test_equations_are_read_in_their_order():
    assert [program.tokens for program in read_equations("x; y", WORDS)] != [
        program.tokens for program in read_equations("y; x", WORDS)
    ]


@pytest.mark.parametrize(
    ("found", "n_false", "n_missing"),
    [
        ("x*(2 - y)", 0, 0),
        ("2*x", 0, 1),
        ("2*x - x*y + 0.001", 1, 0),
        ("y", 1, 2),
        ("x/(y + 0.3)", None, 2),
        ("0", 0, 2),
    ],
)
def test_terms_too_many_and_missing_are_counted(found, n_false, n_missing):
    verdict = compare(found, "2*x - x*y")
    assert (verdict.n_false, verdict.n_missing) == (n_false, n_missing)
    assert verdict.is_right is (n_false == n_missing == 0)


def test_the_error_is_that_of_the_worst_coefficient():
    assert compare("2.1*x - 0.9*x*y", "2*x - x*y").error == pytest.approx(0.1)


def test_a_wrong_sign_is_an_error_of_200_percent():
    assert compare("-2*x", "2*x").error == pytest.approx(2.0)


def test_an_equation_with_other_terms_has_no_error():
    assert compare("2*x + 1", "2*x").error is None


@pytest.fixture
def rotation():
    t = np.linspace(0, 10, 400)
    return Measured(t=t, states=np.column_stack([np.sin(2 * t), np.cos(2 * t)]), names=WORDS)


@pytest.mark.search
def test_a_search_gives_one_formula_a_state_and_what_it_took(rotation):
    found = search_equations(rotation, timeout=6.0, n_threads=1, seed=0, operators=("+", "*"))
    assert len(found.formulas) == 2
    assert found.n_evaluations > 0
    assert found.seconds > 0
    assert [compare_terms(*pair).is_right for pair in zip(
        read_equations("; ".join(found.formulas), WORDS), read_equations("2*y; -2*x", WORDS), strict=True
    )] == [True, True]  # fmt: skip


def test_what_is_measured_and_set_reaches_the_search(rotation, monkeypatch):
    seen = {}

    def fit(self, x, t, x_dot=None, u=None, feature_names=None):
        seen.update(self.get_params(), x_dot=x_dot, names=feature_names)
        raise KeyError("seen")

    monkeypatch.setattr(SPLDynamics, "fit", fit)
    data = Measured(t=rotation.t, states=rotation.states, names=WORDS, derivatives=rotation.states)
    with pytest.raises(KeyError):
        equations.search_equations(data, timeout=3.0, n_threads=2, seed=7, operators=("+",))
    assert (seen["timeout"], seen["n_jobs"], seen["random_state"], seen["operators"]) == (3.0, 2, 7, ("+",))
    assert seen["x_dot"] is rotation.states
    assert seen["names"] == WORDS
