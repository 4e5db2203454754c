import numpy as np
import pytest
import sympy

from spl.datasets import LAWS, load_law
from spl.datasets.laws import FIELDS, Range, log_uniform, uniform
from spl.errors import DataError, SettingError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.simplify import simplify

each_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)


def draw(law, *, over_decades, n_rows=2000, seed=0):
    return law.draw_rows(np.random.default_rng(seed), n_rows, over_decades=over_decades)


# ---- the list ------------------------------------------------------------------------------------


def test_there_are_twenty_laws_of_four_fields_in_equal_shares():
    fields = [law.field for law in LAWS]
    assert {field: fields.count(field) for field in FIELDS} == dict.fromkeys(FIELDS, 5)
    assert len({law.name for law in LAWS}) == len(LAWS) == 20


def test_laws_have_one_to_four_columns():
    assert {len(law.columns) for law in LAWS} == {1, 2, 3, 4}


def test_an_unknown_law_is_refused_with_a_suggestion():
    with pytest.raises(DataError, match=r"There is no law 'darcey'\. Did you mean 'darcy'\?"):
        load_law("darcey")
    with pytest.raises(DataError, match="Choose from: michaelis_menten, haldane"):
        load_law("xyz")


# ---- each law ------------------------------------------------------------------------------------


@each_law
@pytest.mark.parametrize("over_decades", [False, True])
def test_a_law_is_finite_and_positive_and_needs_every_column(law, over_decades):
    table = draw(law, over_decades=over_decades)
    values = law.truth_at(table)
    assert np.all(np.isfinite(values) & (values > 0))
    for column in range(len(law.columns)):
        moved = table.copy()
        moved[:, column] = np.roll(table[:, column], 1)
        assert np.std(law.truth_at(moved) / values) > 0.02


@each_law
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_its_decades_are_at_least_three_on_200_rows(law, seed):
    values = law.truth_at(draw(law, over_decades=True, n_rows=200, seed=seed))
    assert values.max() / values.min() >= 1000


@each_law
def test_its_counts_are_mostly_between_1_and_1000(law):
    means = law.counts_factor * law.truth_at(draw(law, over_decades=True))
    assert 700 < means.max() < 1500
    assert np.mean(means >= 1) >= 0.8
    assert np.median(means) > 4


@each_law
def test_the_truth_is_what_sympy_makes_of_the_text(law):
    table = draw(law, over_decades=True, n_rows=50)
    function = sympy.lambdify(sympy.symbols(law.variables), sympy.sympify(law.expression), "numpy")
    np.testing.assert_allclose(function(*table.T), law.truth_at(table), rtol=1e-9)


@each_law
def test_the_text_cannot_be_simplified_much(law):
    program = parse_expression(law.expression, Vocabulary(law.variables))
    assert simplify(program).cost >= program.cost - 2


# ---- ranges --------------------------------------------------------------------------------------


def test_a_range_is_filled_evenly_or_by_its_logarithm():
    places = np.linspace(0, 1, 3)
    np.testing.assert_allclose(uniform(2, 6).at(places), [2, 4, 6])
    np.testing.assert_allclose(log_uniform(0.1, 10).at(places), [0.1, 1, 10])


@pytest.mark.parametrize(
    ("ends", "message"),
    [((2.0, 1.0, False), "got 2.0 to 1.0"), ((0.0, 1.0, True), "begin above 0; got 0.0"), ((0, np.inf, False), "inf")],
)
def test_a_range_that_makes_no_sense_is_refused(ends, message):
    with pytest.raises(SettingError, match=message):
        Range(*ends)
