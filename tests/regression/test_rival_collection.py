"""Rivals are distinct, near the chosen formula, and the same for any number of workers and after a break."""

import pickle

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression import rival_collection
from spl.regression.candidate import Candidate
from spl.regression.description_length import plain_length
from spl.regression.discover import Discovery, discover
from spl.regression.request import RegressionRequest
from spl.regression.rival_collection import (
    KEPT_NATS,
    MAX_KEPT,
    compare_by,
    have_same_values,
    keep_distinct,
    points_to_compare,
    structure_of,
)
from spl.settings import Limits, SearchConfig

WORDS = Vocabulary(("x", "y"))


def make_table(noise: float, n_rows: int = 15) -> Dataset:
    rng = np.random.default_rng(3)
    table = rng.uniform(0.5, 4.0, (n_rows, 2))
    target = 1.6 * table[:, 0] * table[:, 1]
    return Dataset.from_arrays(table, target + noise * target.std() * rng.standard_normal(n_rows), names=["x", "y"])


def search(data: Dataset, n_jobs: int = 1, max_evaluations: int = 3_000, *, keeps_rivals: bool = True) -> Discovery:
    return discover(
        RegressionRequest(
            data,
            Grammar.from_operators(("+", "-", "*", "/", "sqrt"), data.names),
            config=SearchConfig(n_trees=2),
            limits=Limits(timeout=None, max_evaluations=max_evaluations),
            n_jobs=n_jobs,
            seed=1,
            keeps_rivals=keeps_rivals,
        )
    )


@pytest.fixture(scope="module")
def noisy() -> Discovery:
    return search(make_table(0.1))


def test_rivals_are_near_the_chosen_formula_and_in_order(noisy: Discovery) -> None:
    chosen = noisy.front[noisy.front.choose("mdl", noisy.n_rows, noisy.floor)]
    lengths = [plain_length(each, noisy.n_rows, noisy.floor) for each in noisy.rivals]
    assert 3 < len(lengths) <= MAX_KEPT
    assert lengths == sorted(lengths)
    assert lengths[-1] <= plain_length(chosen, noisy.n_rows, noisy.floor) + KEPT_NATS


def test_rivals_are_fitted_when_they_are_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted = []
    monkeypatch.setattr(
        rival_collection, "_fit_and_compare", lambda rough, yardstick, front, known: fitted.append(rough) or [front[-1]]
    )
    found = search(make_table(0.1), max_evaluations=300)
    assert not fitted
    assert (len(found.rivals), found.rivals[0], found.rivals[:2]) == (1, found.front[-1], (found.front[-1],))
    assert len(fitted) == 1


def test_a_pickle_has_the_rivals_without_the_rows(noisy: Discovery) -> None:
    copied = pickle.loads(pickle.dumps(noisy)).rivals
    assert isinstance(copied, tuple)
    assert [to_text(each.program) for each in copied] == [to_text(each.program) for each in noisy.rivals]


def test_rivals_have_formulas_that_the_front_does_not_have(noisy: Discovery) -> None:
    front = {structure_of(each.program) for each in noisy.front}
    assert any(structure_of(each.program) not in front for each in noisy.rivals)


def test_rivals_do_not_depend_on_the_number_of_workers(noisy: Discovery) -> None:
    again = search(make_table(0.1), n_jobs=2)
    assert [to_text(each.program) for each in again.rivals] == [to_text(each.program) for each in noisy.rivals]


def test_a_search_that_keeps_no_rivals_finds_the_same_front(noisy: Discovery) -> None:
    found = search(make_table(0.1), keeps_rivals=False)
    assert found.rivals == ()
    assert [to_text(each.program) for each in found.front] == [to_text(each.program) for each in noisy.front]


def test_an_exact_law_has_no_rivals() -> None:
    found = search(make_table(0.0))
    assert found.front[-1].loss <= found.floor
    assert [to_text(each.program) for each in found.rivals] == ["1.6*x*y"]


def test_spellings_of_one_function_are_one() -> None:
    data = make_table(0.0)
    texts = ("2*x*y", "y*x + x*y", "x*y", "x/y", "x**2/(x*y)", "3*x/y")
    candidates = [Candidate(parse_expression(text, WORDS), 0.1) for text in texts]
    kept = keep_distinct(candidates, data, 0.0)
    assert [to_text(each.program) for each in kept] == ["2*x*y", "x*y", "x/y", "3*x/y"]


def test_one_structure_with_other_numbers_is_one() -> None:
    data = make_table(0.0)
    fitted = Candidate(parse_expression("C*x + y", WORDS).with_constants([2.1]), 0.1)
    rounded = Candidate(parse_expression("2*x + y", WORDS), 0.1)
    assert keep_distinct([fitted, rounded], data, 0.0) == [fitted]


def test_points_lie_in_the_box_of_the_rows_that_count() -> None:
    data = make_table(0.0)
    points = points_to_compare(data)
    assert points.shape[1] > data.n_rows
    assert np.all(points.min(axis=1) == data.columns.min(axis=1))
    assert np.all(points.max(axis=1) == data.columns.max(axis=1))


def test_formulas_without_values_at_the_same_points_are_the_same_there() -> None:
    values = np.array([1.0, np.nan, np.inf])
    assert have_same_values(values, np.array([1.0 + 1e-5, np.inf, np.nan]), noise=0.1)
    assert not have_same_values(values, np.array([1.0, 2.0, np.nan]), noise=0.1)
    assert not have_same_values(values, np.array([1.01, np.nan, np.nan]), noise=0.1)


def test_a_formula_with_more_numbers_than_can_be_fitted_is_compared_as_it_is() -> None:
    data = make_table(0.1)
    text = " + ".join(f"sqrt({k}*x)" for k in range(2, 24))
    candidate = Candidate(parse_expression(text, Vocabulary(("x", "y"))), loss=1.0, reward=0.0)
    values = compare_by(candidate, data, points_to_compare(data))
    assert np.array_equal(values.as_is, values.fitted)
