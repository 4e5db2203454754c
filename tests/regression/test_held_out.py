"""What held-out rows say about a front."""

import math

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import POISSON, STUDENT
from spl.regression.candidate import Candidate
from spl.regression.doubts import UNCONFIRMED, find_contradiction, find_failure
from spl.regression.fit import loss_of
from spl.regression.front import Front
from spl.regression.held_out import LARGEST_CHANCE, HeldOutVerdict, judge_front, order_chance

WORDS = Vocabulary(("x",))
X = np.linspace(0.5, 4.0, 60)


def read(text):
    return parse_expression(text, WORDS)


def make_front(*texts):
    return Front(tuple(Candidate(read(text), loss=1.0 / (1 + k)) for k, text in enumerate(texts)))


def make_rows(target, **more):
    return Dataset.from_arrays(X[:, np.newaxis], target, names=["x"], **more)


def judge(front, rows, noise=None, constant="2", chosen=-1):
    return judge_front(front, chosen % len(front), read(constant), rows, noise, floor=1e-13)


def test_losses_are_those_of_the_formulas_as_they_are():
    rows = make_rows(2 * X + 0.1 * np.sin(99 * X))
    verdict = judge(make_front("3", "2*x"), rows)
    assert verdict.losses == (loss_of(read("3"), rows), loss_of(read("2*x"), rows))
    assert verdict.n_rows == 60
    assert verdict.is_explained


def test_weights_count_in_the_loss():
    target = 2 * X
    target[0] += 10
    weights = np.ones(60)
    weights[0] = 0.0
    verdict = judge(make_front("3", "2*x"), make_rows(target, weights=weights))
    assert verdict.losses[1] < 1e-9
    assert verdict.n_rows == 59


def test_with_a_noise_model_the_loss_is_that_of_its_likelihood(rng):
    counts = rng.poisson(5 * X).astype(float)
    verdict = judge(make_front("8", "5*x"), make_rows(counts), POISSON)
    plain = judge(make_front("8", "5*x"), make_rows(counts))
    assert verdict.losses[1] < verdict.losses[0]
    assert verdict.losses[1] != pytest.approx(plain.losses[1], rel=1e-3)


def test_the_simplest_of_those_that_may_be_best_is_preferred(rng):
    rows = make_rows(2 * X + 0.5 * rng.standard_normal(60))
    best_by_a_hair = make_front("3", "2*x", "2*x + 0.001*x**2")
    assert judge(best_by_a_hair, rows).preferred == 1


def test_a_formula_that_is_clearly_better_is_preferred(rng):
    rows = make_rows(X**2 + 0.1 * rng.standard_normal(60))
    assert judge(make_front("5", "3*x", "x**2"), rows).preferred == 2


def test_a_formula_without_a_value_on_a_row_is_never_preferred():
    verdict = judge(make_front("2", "log(x - 1)"), make_rows(np.log(X)))
    assert verdict.losses[1] == math.inf
    assert verdict.preferred == 0


def test_if_no_formula_has_values_the_simplest_is_preferred():
    assert judge(make_front("log(x - 1)", "log(x - 2)"), make_rows(X)).preferred == 0


def test_an_exact_law_is_preferred_to_all_before_it():
    assert judge(make_front("2", "2.0001*x", "2*x"), make_rows(2 * X)).preferred == 2


# ---- better than chance --------------------------------------------------------------------------


def test_of_unrelated_targets_about_one_in_twenty_seems_explained():
    random = np.random.default_rng(5)
    programs = [read(text) for text in ("x", "x**2", "sin(x)", "sin(3*x)", "1/x")]
    chances = np.array([order_chance(programs, make_rows(random.standard_normal(60))) for _ in range(400)])
    assert 0.025 < np.mean(chances <= 0.05) < 0.08
    assert 0.4 < np.mean(chances) < 0.6


def test_a_law_is_seen_through_gross_errors():
    random = np.random.default_rng(0)
    target = X**2 + 0.1 * random.standard_normal(60)
    target[::6] += 1e4 * random.standard_normal(10)
    verdict = judge(make_front("3", "x**2"), make_rows(target), STUDENT)
    assert verdict.chance < 0.01
    assert verdict.is_explained


def test_a_formula_in_the_wrong_order_is_no_better_than_chance():
    verdict = judge(make_front("3", "-x"), make_rows(X + 3.0), constant="5")
    assert verdict.chance > 0.9
    assert not verdict.is_explained


def test_a_formula_in_the_right_order_may_still_be_worse_than_a_constant():
    verdict = judge(make_front("100*x"), make_rows(X), constant="2")
    assert verdict.chance <= LARGEST_CHANCE
    assert not verdict.is_explained
    [note] = find_failure(verdict)
    assert note.startswith(UNCONFIRMED)
    assert note.endswith("the formula predicts them no better than a constant, on 60 rows.")


def test_a_note_says_what_the_chance_is():
    [note] = find_failure(HeldOutVerdict(12, (1.0, 0.9), 1.0, 0, 0.9, 0.31))
    assert note == (
        f"{UNCONFIRMED}: the formula predicts the order of their targets no better than chance does (chance 0.31), on 12 rows."
    )


def test_there_is_no_note_on_an_explained_target_or_without_rows():
    assert find_failure(HeldOutVerdict(12, (1.0, 0.2), 1.0, 1, 0.2, 0.001)) == ()
    assert find_failure(None) == ()


def test_the_choice_is_tested_alone_but_if_it_is_a_constant_all_others_are(rng):
    rows = make_rows(X + 2 * rng.standard_normal(60))
    front = make_front("2", "x", "sin(9*x)", "sin(23*x)", "cos(17*x)")
    alone, all_others = judge(front, rows, chosen=1), judge(front, rows, chosen=0)
    assert alone.chance <= all_others.chance
    assert alone.tested_loss == alone.losses[1]
    assert all_others.tested_loss == min(all_others.losses)
    assert judge(front, rows, chosen=2).chance > 0.05


def test_five_rows_in_order_are_enough_to_be_better_than_chance():
    rows = Dataset.from_arrays(X[:5, np.newaxis], X[:5] ** 2, names=["x"])
    assert order_chance([read("x")], rows) <= LARGEST_CHANCE


def test_a_constant_is_contradicted_only_by_clear_evidence():
    clear, unclear = (HeldOutVerdict(12, (1.0, 0.5), 1.0, 1, 0.5, chance) for chance in (0.002, 0.03))
    assert find_contradiction(clear)[0].startswith("A constant describes the rows of the fit best, but")
    assert find_contradiction(unclear) == ()
    assert find_contradiction(HeldOutVerdict(12, (1.0, 1.5), 1.0, 0, 1.5, 0.001)) == ()
    assert find_contradiction(None) == ()
