"""Which noise model describes the data best, and what is said about it."""

import math

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import NORMAL, POISSON, RELATIVE, STUDENT
from spl.regression.fit import fit
from spl.regression.noise_choice import (
    NoiseChoice,
    best_description,
    describe,
    explain_choice,
    note_of_doubt,
    note_of_error_bars,
    price,
    rival_models,
)

WORDS = Vocabulary(("x",))
X = np.geomspace(1.0, 100.0, 80)


def make_data(target, **more):
    return Dataset.from_arrays(X[:, np.newaxis], target, names=["x"], **more).sort()


def candidate(text, data):
    return fit(parse_expression(text, WORDS), data)


@pytest.fixture
def relative(rng):
    return make_data(2 * X * (1 + 0.1 * rng.normal(size=80)))


@pytest.fixture
def even(rng):
    return make_data(2 * X + 0.1 * rng.normal(size=80))


# ---- which models are compared -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "more", "names"),
    [
        (2.5 * X, {}, ["relative", "student"]),
        (100.5 + np.sin(X), {}, ["student"]),
        (np.rint(X), {}, ["relative", "student", "poisson"]),
        ((X > 10).astype(float), {}, ["relative"]),
        (2.5 * X, {"sigma": 0.1}, ["student"]),
        (np.rint(X), {"sigma_columns": [0.1]}, ["relative", "student"]),
    ],
    ids=["numbers", "all of one size", "counts", "yes or no", "error bars", "error bars of the columns"],
)
def test_only_models_that_can_have_made_the_target_are_compared(target, more, names):
    assert [model.name for model in rival_models(make_data(target, **more))] == names


# ---- how they are compared -----------------------------------------------------------------------


def test_the_model_that_made_the_noise_has_the_shortest_description(relative, even):
    for data, best in ((relative, RELATIVE), (even, NORMAL)):
        line = candidate("C*x", data)
        lengths = {model: describe(line, model, data).nats for model in (NORMAL, RELATIVE, STUDENT)}
        assert min(lengths, key=lengths.get) is best


def test_a_formula_is_fitted_anew_for_each_model(relative):
    line = candidate("C*x", relative)
    again = describe(line, RELATIVE, relative)
    assert again.candidate.program.constants != line.program.constants
    assert again.nats < price(line, RELATIVE, relative).nats


def test_every_fitted_number_of_the_noise_has_its_price(even):
    line = candidate("C*x", even)
    difference = price(line, STUDENT, even).nats - price(line, NORMAL, even).nats
    assert difference > 0  # the heavy tails are of no use, and one more number is described


def test_the_best_of_several_formulas_describes_the_data(even):
    candidates = [candidate(text, even) for text in ("C", "C*x", "C*x**2")]
    assert best_description(candidates, NORMAL, even).candidate.program.tokens == candidates[1].program.tokens
    assert best_description([], NORMAL, even) is None


def test_a_formula_that_forbids_the_counts_does_not_describe_them():
    data = make_data(np.rint(X))
    assert best_description([candidate("0 - x", data)], POISSON, data) is None


# ---- what is said --------------------------------------------------------------------------------


def explain(data, noise, models, *, is_auto=True, text="C*x"):
    line = describe(candidate(text, data), noise, data).candidate
    compared = [describe(line, model, data) for model in models]
    return explain_choice(line, noise, data, compared, is_auto)


def test_the_choice_says_how_much_longer_other_descriptions_are(relative):
    choice = explain(relative, RELATIVE, [NORMAL, STUDENT, RELATIVE])
    assert (choice.name, set(choice.others)) == ("relative", {"normal", "student"})
    assert all(nats > 0 for nats in choice.others.values())
    assert choice.numbers["relative error"] == pytest.approx(0.1, rel=0.3)
    nearest = min(choice.others.values())
    assert choice.reason.startswith("errors that grow with the value; ")
    assert choice.reason.endswith(f" would take {nearest:.1f} nats more to describe the data")


def test_a_model_that_was_asked_for_needs_no_reason(relative):
    choice = explain(relative, RELATIVE, [NORMAL], is_auto=False)
    assert (choice.reason, choice.others) == ("as asked for", {})


def test_a_law_without_noise_says_so():
    choice = explain(make_data(2 * X), NORMAL, [])
    assert choice.reason == "the law is exact: there is no noise"


def test_with_error_bars_the_reason_speaks_of_them(rng):
    data = make_data(2 * X + 0.1 * rng.normal(size=80), sigma=0.1)
    assert explain(data, NORMAL, [STUDENT]).reason.startswith("errors in proportion to the error bars; ")


def test_a_rival_that_is_a_little_shorter_is_mentioned(even):
    choice = explain(even, STUDENT, [NORMAL])
    assert "would describe the data only " in choice.reason


def test_a_law_that_is_exact_but_for_outliers_says_so():
    target = 2 * X
    target[::8] += 30.0
    assert explain(make_data(target), STUDENT, []).reason == "the law is exact in most rows; the others are outliers"


def test_a_rival_that_is_impossible_is_not_among_the_descriptions(even):
    assert best_description([candidate("0 - x", even)], POISSON, even) is None


@pytest.mark.parametrize(("factor", "is_noted"), [(1.0, False), (1.1, False), (2.0, True)])
def test_errors_that_are_larger_than_their_error_bars_are_noted(factor, is_noted):
    choice = NoiseChoice("normal", {"factor of the error bars": factor})
    assert bool(note_of_error_bars(choice, 200)) is is_noted


# ---- doubts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "n_rows", "difference", "is_noted"),
    [
        ("student", 100, 4.0, True),
        ("student", 100, 40.0, False),
        ("relative", 20, 40.0, True),
        ("poisson", 20, 40.0, True),
        ("student", 20, math.inf, True),
    ],
)
def test_a_note_says_what_other_noise_would_change(name, n_rows, difference, is_noted):
    note = note_of_doubt(NoiseChoice(name), n_rows, difference, "2*x")
    assert ("cannot tell" in note) == is_noted
    assert ("2*x" in note) == is_noted


@pytest.mark.parametrize(("n_rows", "is_noted"), [(20, True), (100, False)])
def test_few_rows_are_noted_even_if_the_formula_is_the_same(n_rows, is_noted):
    assert (
        "cannot tell Poisson noise from even noise" in note_of_doubt(NoiseChoice("poisson"), n_rows, 4.0, "")
    ) == is_noted
