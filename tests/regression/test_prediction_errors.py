"""How sure predictions are: against the textbook, and on simulated tables."""

import numpy as np
import pytest
from scipy import stats

from spl.bench.trust_coverage import DECAY, LAWS, measure_coverage
from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import POISSON, RELATIVE, STUDENT
from spl.regression.fit import POLISH_EFFORT, fit
from spl.regression.prediction_errors import explain_extrapolation, predict_errors, predict_limits

X = np.linspace(0.0, 4.0, 30)
Y = 2 * X + 1 + np.cos(50 * X)
NEW = np.array([[1.0, 3.0, 6.0]])


def make_data(y=Y):
    return Dataset.from_arrays(X[:, np.newaxis], y, names=["x"])


def make_program(text, data=None):
    program = parse_expression(text, Vocabulary(("x",)))
    return fit(program, make_data() if data is None else data, effort=POLISH_EFFORT).program


def textbook_errors():
    """Standard errors of a line and of a new measurement, by the formula of textbooks."""
    found = stats.linregress(X, Y)
    variance = np.sum((Y - found.intercept - found.slope * X) ** 2) / (X.size - 2)
    share = 1 / X.size + (NEW[0] - X.mean()) ** 2 / np.sum((X - X.mean()) ** 2)
    return np.sqrt(variance * share), np.sqrt(variance * (1 + share))


def test_errors_of_a_line_are_those_of_the_textbook():
    np.testing.assert_allclose(
        predict_errors(make_program("C*x + C"), make_data(), NEW), textbook_errors()[0], rtol=1e-6
    )


@pytest.mark.parametrize(("is_new", "which"), [(False, 0), (True, 1)])
def test_limits_of_a_line_are_those_of_the_textbook(is_new, which):
    limits = predict_limits(make_program("C*x + C"), make_data(), NEW, level=0.9, is_new=is_new)
    np.testing.assert_allclose(np.diff(limits)[:, 0] / 2, stats.t.ppf(0.95, 28) * textbook_errors()[which], rtol=1e-6)


def test_rounded_numbers_count_as_if_they_were_fitted():
    rounded = predict_errors(make_program("2*x + 1"), make_data(), NEW)
    np.testing.assert_allclose(rounded, textbook_errors()[0], rtol=0.05)


def test_numbers_of_the_grammar_are_known():
    assert predict_errors(make_program("2*x + 1"), make_data(), NEW, given=(1.0, 2.0)).tolist() == [0.0] * 3


def test_constants_that_can_replace_each_other_do_not_matter():
    expected = predict_errors(make_program("C*x"), make_data(), NEW)
    program = parse_expression("C*(C*x)", Vocabulary(("x",))).with_constants(np.array([2.0, 1.1]))
    np.testing.assert_allclose(predict_errors(program, make_data(), NEW), expected, rtol=0.2)  # it is not fitted


def test_a_value_that_no_data_determines_has_an_infinite_error():
    data = Dataset.from_arrays(np.ones((5, 1)), [1.0, 2.0, 3.0, 2.0, 1.0], names=["x"])
    found = predict_errors(make_program("C*x + C", data), data, np.array([[1.0, 2.0]]))
    assert np.isfinite(found).tolist() == [True, False]


def test_where_there_is_no_value_there_are_no_limits():
    data = make_data(np.log(X + 1))
    found = predict_limits(make_program("C*log(x + 1)", data), data, np.array([[-2.0, 1.0]]))
    assert np.isnan(found).tolist() == [[True, True], [False, False]]


def test_limits_of_an_exact_law_are_as_narrow_as_rounding():
    data = make_data(2.5 * X)
    assert np.diff(predict_limits(make_program("C*x", data), data, NEW, is_new=True)).max() < 1e-11


def test_a_law_that_is_impossible_limits_nothing():
    data = make_data(np.log(X + 1))
    limits = predict_limits(parse_expression("log(x - 1)", Vocabulary(("x",))), data, np.array([[3.0]]), is_new=True)
    assert limits.tolist() == [[-np.inf, np.inf]]


@pytest.mark.slow
@pytest.mark.parametrize("which", [1, 2], ids=["mean", "new"])
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.text)
def test_19_of_20_limits_hold(law, which):
    assert 0.9 <= measure_coverage(law, 0.1, 20, 100).shares[which] <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("which", [1, 2], ids=["mean", "new"])
@pytest.mark.parametrize("model", [RELATIVE, STUDENT, POISSON], ids=str)
def test_19_of_20_limits_hold_under_other_noise(model, which):
    assert 0.9 <= measure_coverage(DECAY, 0.1, 200, 60, model=model).shares[which] <= 0.99


# ---- outside of the data -------------------------------------------------------------------------

TABLE = Dataset.from_arrays([[0.0, 5.0, 1.0], [10.0, 5.0, 2.0]], [0.0, 1.0], names=["a", "b", "flow rate"])


def explain(text, *rows):
    words = Vocabulary(TABLE.names)
    return explain_extrapolation(parse_expression(text, words), np.array(rows).T.copy(), TABLE)


def test_rows_inside_the_data_are_not_mentioned():
    assert explain("a*b", [10.0, 5.0, 0.0], [0.0, 5.0, 0.0]) == ""


def test_columns_that_the_formula_does_not_use_may_be_anywhere():
    assert explain("a", [1.0, 99.0, 99.0]) == ""


def test_both_sides_of_a_column_are_named():
    told = explain("a", [-5.0, 0.0, 0.0], [30.0, 0.0, 0.0], [5.0, 0.0, 0.0])
    assert (
        "2 of 3 rows lie outside of the data: a reaches -5, 0.5 times its range beyond 0, a reaches 30, 2 times" in told
    )


def test_a_column_that_never_varied_has_no_range():
    assert "b reaches 7, the data has only 5" in explain("b", [0.0, 7.0, 0.0])


def test_missing_values_are_neither_inside_nor_outside():
    assert explain("a + b", [np.nan, 5.0, 0.0]) == ""


def test_rows_all_above_the_data_do_not_leave_it_below():
    assert "beyond 0" not in explain("a", [20.0, 0.0, 0.0], [30.0, 0.0, 0.0])
