"""All that the data says about a formula, for every formula of a front and for every reason to be silent."""

from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.discover import Discovery
from spl.regression.fit import fit
from spl.regression.fit_rows import FitRows
from spl.regression.front import Front
from spl.regression.held_out import HeldOutVerdict
from spl.regression.how_sure import judge_formula

WORDS = Vocabulary(("x",))
VERDICT = HeldOutVerdict(20, (0.9, 0.1), 1.2, 1, 0.1, 0.001)


@pytest.fixture
def rows(rng):
    x = np.linspace(1.0, 3.0, 40)
    return Dataset.from_arrays(x[:, np.newaxis], 2.3 * x + 0.1 * rng.standard_normal(40), names=["x"])


def discover(rows, texts, rivals=(), **more):
    found = [fit(parse_expression(text, WORDS), rows) for text in (*texts, *rivals)]
    front = Front(tuple(found[: len(texts)]))
    kept = tuple(found) if rivals else ()
    return Discovery(front, rows.n_rows, rows.floor, 1.0, 10, 100, "settled", rivals=kept, **more)


def test_a_law_has_numbers_checks_and_rivals_that_share_the_weight(rows):
    found = discover(rows, ["C", "C*x"], ["C*x + C"])
    sure = judge_formula(found, 1, FitRows(rows))
    assert [round(number.value, 1) for number in sure.numbers] == [2.3]
    assert (len(sure.checks), sure.doubtful, sure.unchecked) == (4, (), "")
    assert len(sure.rivals) == 1
    assert 0.5 < sure.weight == 1 - sure.rivals[0].weight < 1


def test_a_formula_that_misses_the_law_has_doubtful_checks(rows):
    sure = judge_formula(discover(rows, ["C", "C*x"]), 0, FitRows(rows))
    assert {check.name for check in sure.doubtful} >= {"order", "column"}


def test_without_kept_rivals_nothing_is_said_about_them(rows):
    sure = judge_formula(discover(rows, ["C*x"]), 0, FitRows(rows))
    assert sure.rivals is None
    assert sure.weight == 1


def test_each_formula_has_its_own_loss_on_held_out_rows(rows):
    found = discover(rows, ["C", "C*x"], held_out=VERDICT)
    assert [judge_formula(found, place, FitRows(rows)).loss_on_held_out for place in (0, 1)] == [0.9, 0.1]


def test_a_formula_without_a_value_on_some_rows_is_judged_as_far_as_possible(rows):
    found = discover(rows, ["C*x"], ["C*x + C"])
    undefined = parse_expression("C*log(x - C)", WORDS).with_constants(np.array([3.7, 1.5]))
    broken = replace(found.front[0], program=undefined)
    sure = judge_formula(replace(found, front=Front((broken,))), 0, FitRows(rows))
    assert [number.standard_error for number in sure.numbers] == [np.inf, np.inf]
    assert sure.unchecked == "there are rows that the formula cannot have produced"


def test_an_exact_law_has_no_residuals_to_check(rows):
    exact = Dataset.from_arrays(rows.columns.T, 2.3 * rows.columns[0], names=["x"])
    sure = judge_formula(discover(exact, ["C*x"]), 0, FitRows(exact))
    assert (sure.checks, sure.unchecked) == ((), "the formula fits to rounding error")
