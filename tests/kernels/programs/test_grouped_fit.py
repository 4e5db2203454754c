"""The grouped fit against a plain fit of all numbers at once, with one or two groupings."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from tests.kernels.program_twins import evaluate_slowly

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.groups.fit import LAST_JOINT_EFFORT, fit_jointly, number_constants
from spl.groups.rows import GroupedRows
from spl.groups.sharing import SHARED, share

WORDS = Vocabulary(("x",))


def make_rows(rng, n_first, n_second, n_rows):
    """Return random rows of two groupings; every group has rows."""
    codes = [np.r_[np.arange(n), rng.integers(n, size=n_rows - n)] for n in (n_first, n_second)]
    x, weights = rng.uniform(0.2, 3.0, n_rows), rng.uniform(0.5, 2.0, n_rows)
    data = Dataset.from_arrays(x[:, None], rng.normal(size=n_rows), names=["x"], weights=weights)
    names = ("first", "second")
    return GroupedRows(data, tuple(Grouping.from_labels(c, name) for c, name in zip(codes, names, strict=True)))


def with_target(rows, target):
    data = rows.data
    table = Dataset.from_arrays(data.columns.T, target, names=data.names, weights=data.weights)
    return GroupedRows(table, rows.groupings)


def fit_slowly(program, scopes, values, rows):
    """Return the loss and the numbers of a fit of all values of all numbers together, by scipy."""
    sizes = [each.size for each in values]
    ends = np.cumsum([0, *sizes])
    codes = [np.zeros(rows.data.n_rows, int) if scope == SHARED else rows.groupings[scope].codes for scope in scopes]

    def errors(numbers):
        found = np.empty(rows.data.n_rows)
        for at in range(rows.data.n_rows):
            constants = [numbers[ends[k] + codes[k][at]] for k in range(len(scopes))]
            column = rows.data.columns[:, at : at + 1]
            [found[at]] = evaluate_slowly(program.tokens, constants, program.vocabulary.literals, column)
        return np.sqrt(rows.data.weights) * (rows.data.target - found)

    best = least_squares(errors, np.concatenate(values), xtol=1e-12, ftol=1e-12)
    numbers = [best.x[ends[k] : ends[k + 1]] for k in range(len(scopes))]
    return float(np.sqrt(np.mean(best.fun**2))), numbers


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        ("C*exp(C*x) + C", (0, SHARED, SHARED)),
        ("C*exp(C*x) + C", (0, 0, SHARED)),
        ("C*exp(C*x) + C", (0, SHARED, 1)),
        ("C*exp(C*x) + C", (1, SHARED, 0)),
        ("C*x + C", (0, 1)),
    ],
)
def test_the_grouped_fit_finds_the_numbers_of_a_plain_fit_of_all_numbers(rng, text, scopes):
    rows = make_rows(rng, 3, 5, 60)
    program = parse_expression(text, WORDS)
    true = {"C*exp(C*x) + C": (2.0, -0.8, 0.5), "C*x + C": (1.5, 0.3)}[text]
    values = [
        np.array([value]) if scope == SHARED else value + rng.uniform(-0.2, 0.2, rows.groupings[scope].n_groups)
        for value, scope in zip(true, scopes, strict=True)
    ]
    formula = share(program, scopes, values)
    target = rows.extend(formula.scopes, formula.values, ("a", "b", "c")[: len(formula.scopes)])
    from spl.regression.fit import evaluate

    noisy = with_target(rows, evaluate(formula.program, target.columns) + 0.05 * rng.normal(size=60))
    found = fit_jointly(formula, noisy, LAST_JOINT_EFFORT)
    loss, numbers = fit_slowly(program, scopes, values, noisy)
    assert found.loss == pytest.approx(loss, rel=1e-6)
    shared = [number for number, scope in zip(numbers, scopes, strict=True) if scope == SHARED]
    np.testing.assert_allclose(found.formula.program.constants, np.ravel(shared), rtol=1e-3, atol=1e-4)
    own = [number for number, scope in zip(numbers, scopes, strict=True) if scope != SHARED]
    is_crossed = (
        len({scope for scope in scopes if scope != SHARED}) > 1
    )  # a value may move from one grouping to the other
    for value, expected in [] if is_crossed else zip(found.formula.values, own, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-3, atol=1e-4)


def test_a_number_that_appears_twice_is_fitted_once(rng):
    rows = make_rows(rng, 4, 2, 40)
    program = parse_expression("C*x + C", WORDS).with_constants(np.ones(2))
    formula = share(program, (0, 0), [np.ones(4), np.ones(4)])
    twice = type(formula)(
        parse_expression("k1*x + k1", Vocabulary(("x", "k1"))), (0,), (np.ones(4),), formula.n_columns
    )
    values = np.array([1.0, 2.0, 3.0, 4.0])
    target = values[rows.groupings[0].codes] * (rows.data.columns[0] + 1)
    found = fit_jointly(twice, with_target(rows, target))
    np.testing.assert_allclose(found.formula.values[0], values, rtol=1e-9)
    assert number_constants(twice)[1].tolist() == [0, 0]


def test_a_program_outside_its_domain_has_no_fit(rng):
    rows = make_rows(rng, 3, 2, 20)
    program = parse_expression("C*log(C - x)", WORDS).with_constants(np.array([1.0, 0.1]))
    assert fit_jointly(share(program, (0, SHARED), [np.ones(3), np.array([0.1])]), rows) is None


def test_groups_without_rows_keep_their_numbers_and_do_not_disturb_others(rng):
    grouping = Grouping("wood", ("oak", "ash", "fir"), np.repeat([0, 2], 10))
    x = np.tile(np.linspace(0.0, 1.0, 10), 2)
    rows = GroupedRows(
        Dataset.from_arrays(x[:, None], np.where(grouping.codes == 0, 2.0, 3.0) * x, names=["x"]), (grouping,)
    )
    line = parse_expression("C*x", WORDS).with_constants(np.ones(1))
    found = fit_jointly(share(line, (0,), [np.ones(3)]), rows)
    np.testing.assert_allclose(found.formula.values[0][[0, 2]], [2.0, 3.0])
    assert np.isnan(found.candidate(rows).own[0].values[1])
