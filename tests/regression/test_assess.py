from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.assess import MANY, SETTLE_EPISODES, Assessment, Assessor, count_episodes_left, has_settled
from spl.regression.candidate import Candidate
from spl.regression.fit import root_mean_square_error
from spl.regression.front import Front
from spl.settings import SearchConfig

WORDS = Vocabulary(("x",))
X = np.linspace(1.0, 3.0, 60)


def make_assessor(target=None):
    target = np.exp(X) + 0.01 * np.sin(40 * X) if target is None else target
    data = Dataset.from_arrays(X[:, np.newaxis], target, names=["x"])
    return Assessor(data, data.n_rows, data.floor, derives=lambda program: True, must_stop=lambda: False)


def candidate(text, assessor, factor=1.0):
    """Return a candidate whose loss on the sample is a multiple of its loss on the check rows."""
    program = parse_expression(text, WORDS)
    return Candidate(program, factor * root_mean_square_error(program, assessor.check), 0.5)


def test_a_candidate_far_worse_than_a_cheaper_one_is_not_looked_at():
    assessor = make_assessor()
    found = [
        candidate("exp(x)", assessor),
        candidate("exp(x) + x", assessor),
        candidate("exp(x) + sin(40*x)/99", assessor),
    ]
    assessment = assessor.assess(found, Assessment(), 50, 1)
    assert found[1].program.tokens not in assessment.seen
    assert {found[0].program.tokens, found[2].program.tokens} == set(assessment.seen)


def test_a_loss_on_the_sample_need_not_be_the_lowest():
    assessor = make_assessor()
    found = [candidate("x", assessor), candidate("exp(x)", assessor, factor=0.9), candidate("exp(x) + 0.001", assessor)]
    assert len(assessor.assess(found, Assessment(), 50, 1).seen) == 3


def test_a_candidate_that_is_known_is_not_fitted_again(monkeypatch):
    assessor = make_assessor()
    found = [candidate("exp(x)", assessor)]
    before = assessor.assess(found, Assessment(), 50, 1)
    monkeypatch.setattr("spl.regression.known_fit.fit", None)
    assert assessor.assess(found, before, 100, 1).front == before.front


def test_the_choice_is_as_old_as_its_formula():
    assessor = make_assessor()
    first = assessor.assess([candidate("x", assessor)], Assessment(), 50, 1)
    second = assessor.assess([candidate("exp(x)", assessor)], first, 100, 1)
    third = assessor.assess([candidate("exp(x)", assessor)], second, 150, 1)
    assert [assessment.episodes_at_choice for assessment in (first, second, third)] == [50, 100, 100]


def test_a_choice_that_is_nearly_exact_does_not_grow_old():
    assessor = make_assessor(np.exp(X) + 1e-5 * np.sin(40 * X))
    assessment = Assessment()
    for n_episodes in (50, 5_000):
        assessment = assessor.assess([candidate("exp(x)", assessor)], assessment, n_episodes, 1)
    assert assessment.episodes_at_choice == 5_000


def test_a_search_without_any_formula_does_not_settle():
    assessment = make_assessor().assess([], Assessment(), 50_000, 1)
    assert not has_settled(assessment.episodes_at_choice, 50_000, SearchConfig(n_trees=1))


def test_the_first_exact_law_is_noted():
    assessor = make_assessor(np.exp(X))
    assessment = assessor.assess([candidate("x", assessor)], Assessment(), 50, 1)
    assert assessment.episodes_at_exact is None
    assert count_episodes_left(assessment, 10**9, 1) == MANY
    for n_episodes in (100, 150):
        assessment = assessor.assess([candidate("exp(x)", assessor)], assessment, n_episodes, 1)
        assert assessment.episodes_at_exact == 100


def test_the_choice_is_pruned_after_a_while():
    assessor = make_assessor()
    found = [candidate("exp(x) + 0.00001*x", assessor)]
    early, late = (assessor.assess(found, Assessment(), n_episodes, 1) for n_episodes in (50, 500))
    assert early.pruned is None
    assert late.pruned.program.tokens == parse_expression("exp(x)", WORDS).tokens
    assert late.pruned in list(late.front)


@pytest.mark.parametrize(
    ("at_choice", "n_episodes", "patience", "is_settled"),
    [
        (100, SETTLE_EPISODES + 99, 8.0, False),
        (100, SETTLE_EPISODES + 100, 8.0, True),
        (1_000, 7_999, 8.0, False),
        (1_000, 8_000, 8.0, True),
        (1_000, 8_000, 10.0, False),
        (1_000, 10**9, None, False),
    ],
)
def test_a_search_settles_when_its_choice_is_old_enough(at_choice, n_episodes, patience, is_settled):
    assert has_settled(at_choice, n_episodes, SearchConfig(patience=patience, n_trees=1)) == is_settled


@pytest.mark.parametrize(("at_exact", "end"), [(50, 150), (150, 300), (1_000, 1_200)])
def test_after_an_exact_law_the_search_goes_on_for_a_while(at_exact, end):
    assessment = Assessment(Front(()), episodes_at_exact=at_exact)
    assert [count_episodes_left(assessment, n_episodes, 1) for n_episodes in (end - 1, end)] == [1, 0]
    assert count_episodes_left(assessment, 2 * end, 2) == -2 * end + at_exact + min(max(at_exact, 200), 400)


def test_when_it_is_late_only_a_first_formula_is_fitted():
    early = make_assessor()
    late = replace(early, is_late=lambda: True)
    found = [candidate("x", early), candidate("exp(x)", early)]
    assert len(early.assess(found, Assessment(), 50, 1).seen) == 2
    first = late.assess(found, Assessment(), 50, 1)
    assert set(first.seen) == {found[0].program.tokens}
    assert late.assess(found, first, 100, 1).front == first.front


@pytest.mark.parametrize("target", [X + 0.1 * np.sin(40 * X), np.sin(40 * X)])
def test_the_best_constant_is_in_every_front(target):
    assessor = make_assessor(target)
    assessment = assessor.assess([candidate("x", assessor), candidate("sqrt(x)", assessor)], Assessment(), 50, 1)
    assert assessment.front[0].program.constants == pytest.approx([np.mean(target)])
    assert assessment.front[0].cost == 0


def test_a_grammar_without_constants_gets_none():
    assessor = replace(make_assessor(), derives=lambda program: program.n_constants == 0)
    assessment = assessor.assess([candidate("x", assessor)], Assessment(), 50, 1)
    assert [to_text(each.program) for each in assessment.front] == ["x"]
