"""Forms without holes: their numbers are fitted at once."""

import re

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.errors import FormulaNotFound
from spl.formulas.forms import Form
from spl.noise.models import AUTO, NORMAL
from spl.regression.form_fit import fit_form
from spl.regression.request import RegressionRequest
from spl.regression.uncertainty import know_numbers

pytestmark = pytest.mark.search

RANDOM = np.random.default_rng(0)
T = np.linspace(0.0, 6.0, 120)
NOISE = RANDOM.normal(size=T.size)


def fit(text, target, t=T, noise=NORMAL, **settings):
    rows = Dataset.from_arrays(t[:, np.newaxis], target, names=["t"])
    form = Form.from_text(text, rows.names)
    return fit_form(RegressionRequest(rows, form.grammar(["+"]), form=form, noise=noise, **settings))


@pytest.mark.parametrize(
    ("text", "law", "t"),
    [
        ("C*exp(-C*t) + C", lambda t: 3 * np.exp(-0.8 * t) + 0.5, T),
        ("C*exp(-C*t)*sin(C*t + C)", lambda t: 3 * np.exp(-0.3 * t) * np.sin(9.7 * t + 0.4), T),
        ("C/(1 + exp(-C*(t - C)))", lambda t: 40 / (1 + np.exp(-2.5 * (t - 3.3))), T),
        ("C*t/(C + t)", lambda t: 7e-6 * t / (3e4 + t), 1e4 * T),  # in units far from 1
        ("C*exp(-C*t) + C*exp(-C*t)", lambda t: 2 * np.exp(-3 * t) + np.exp(-0.4 * t), T),
    ],
)
def test_numbers_are_found_from_many_starts(text, law, t):
    found = fit(text, law(t), t)
    assert found.stopped == "fitted"
    assert len(found.front) == 1
    assert found.front[0].loss <= 1e-6 * np.std(law(t))


def test_standard_errors_are_those_of_least_squares():
    found = fit("C*t + C", 2 * T + 1 + 0.1 * NOISE)
    numbers = know_numbers(
        found.front[0].program, Dataset.from_arrays(T[:, None], 2 * T + 1 + 0.1 * NOISE, names=["t"])
    )
    design = np.column_stack([T, np.ones_like(T)])
    values, squares, *_ = np.linalg.lstsq(design, 2 * T + 1 + 0.1 * NOISE, rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * squares / (T.size - 2))
    np.testing.assert_allclose([each.value for each in numbers], values, rtol=1e-8)
    np.testing.assert_allclose([each.standard_error for each in numbers], errors, rtol=0.02)


def test_the_formula_stays_as_it_was_written():
    found = fit("C*t + C*t**2 + C", 2.0 * T + 1.0)
    assert found.front[0].program.n_constants == 3  # one of them is 0


def test_the_noise_model_is_chosen_as_in_a_search():
    target = 2 * np.exp(-0.5 * T) + 1 + 0.01 * NOISE
    target[::12] += 4.0
    found = fit("C*exp(-C*t) + C", target, noise=AUTO)
    assert found.noise.name == "student"
    assert list(found.outliers) == list(range(0, 120, 12))
    assert sorted(np.round(np.abs(found.front[0].program.constants), 1)) == [0.5, 1.0, 2.0]


def test_a_form_without_numbers_is_assessed_as_it_is():
    found = fit("2*t", 2 * T + 0.1 * NOISE)
    assert found.front[0].loss == pytest.approx(0.1 * np.sqrt(np.mean(NOISE**2)))


def test_a_form_without_a_value_says_where():
    with pytest.raises(
        FormulaNotFound, match=re.escape("The form 'log(-C**2 - t)' has no value on some rows")
    ) as caught:
        fit("log(-C**2 - t)", T)
    assert "120 of 120 rows" in str(caught.value)


def test_numbers_that_one_start_in_many_leads_to_are_doubted():
    found = fit("C*sin(C*t)", np.sin(400 * T) + 0.1 * NOISE)
    has_law = found.front[0].loss < 0.2
    assert has_law or any("led to these numbers" in note or "explain" in note for note in found.notes)


def test_validation_rows_are_asked():
    rows = Dataset.from_arrays(T[:, None] + 0.01, 2 * T + 1.02, names=["t"])
    assert fit("C*t + C", 2 * T + 1, held_out=rows).held_out.losses[0] < 1e-9


def test_the_same_seed_gives_the_same_numbers():
    one, other = (fit("C*sin(C*t) + C*sin(C*t)", NOISE, seed=5) for _ in range(2))
    assert one.front[0].program.constants == other.front[0].program.constants
