import numpy as np
import pytest

import spl.regression.tidy_front
from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.formulas.tidying.tidy import tidy
from spl.regression.candidate import Candidate
from spl.regression.discover import discover
from spl.regression.fit import evaluate, root_mean_square_error
from spl.regression.front import Front
from spl.regression.request import RegressionRequest
from spl.regression.tidy_front import FrontTidier, tidy_candidate
from spl.settings import Limits, SearchConfig

WORDS = Vocabulary(("x",))
X = np.linspace(0.5, 3.0, 60)
DATA = Dataset.from_arrays(X[:, np.newaxis], 2.0 * X + 0.1 * np.sin(7 * X), names=["x"])


def candidate(text: str, *constants: float) -> Candidate:
    program = parse_expression(text, WORDS).with_constants(np.array(constants))
    return Candidate(program, root_mean_square_error(program, DATA), 0.5)


def texts_of(front: Front) -> list[str]:
    return [to_text(candidate.program, 6) for candidate in front]


def test_two_formulas_that_are_the_same_when_tidied_are_one_row() -> None:
    front = Front((candidate("1 + 1 + x"), candidate("x + x*1 + 0*x"), candidate("x*x/x + x + x - x")))
    tidied = FrontTidier(DATA, DATA.floor, DATA.n_rows).tidy(front)
    assert texts_of(tidied) == ["2*x"]
    assert tidied[0].cost == 3


def test_a_formula_that_stays_in_the_front_is_tidied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(spl.regression.tidy_front, "tidy", lambda program: asked.append(program) or tidy(program))
    tidier = FrontTidier(DATA, DATA.floor, DATA.n_rows)
    tidier.tidy(Front((candidate("x + x"),)))
    n_asked = len(asked)
    assert texts_of(tidier.tidy(Front((candidate("x + x"),)))) == ["2*x"]
    assert len(asked) == n_asked > 0


def test_what_lives_on_rounding_errors_is_not_changed_but_its_other_parts_are() -> None:
    noisy = candidate("x*2 + 1e11*(x + 1e4 - 1e4 - x)")
    assert not np.allclose(
        evaluate(tidy(noisy.program), DATA.columns), evaluate(noisy.program, DATA.columns), rtol=1e-8
    )
    kept = tidy_candidate(noisy, DATA)
    assert to_text(kept.program).startswith("2*x + ")
    assert root_mean_square_error(kept.program, DATA) == pytest.approx(noisy.loss, rel=1e-6)


def test_a_formula_that_would_leave_its_domain_on_the_data_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        spl.regression.tidy_front, "tidy", lambda program: parse_expression("log(x - 1)", program.vocabulary)
    )
    found = candidate("2*x")
    assert tidy_candidate(found, DATA) is found


def test_an_exact_law_is_tidied_although_its_loss_is_zero() -> None:
    exact = Dataset.from_arrays(X[:, np.newaxis], 2.0 * X, names=["x"])
    program = parse_expression("x + x", WORDS)
    assert to_text(tidy_candidate(Candidate(program, 0.0), exact).program) == "2*x"


@pytest.mark.slow
@pytest.mark.parametrize("limits", [Limits(timeout=0.1), Limits(timeout=None, max_evaluations=400)])
def test_every_row_that_a_search_shows_is_tidy_even_when_time_runs_out(limits: Limits) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0.5, 4.0, (120, 2))
    target = 2.2 * x[:, 0] ** 2 + 1.1 * np.sin(3 * x[:, 1] + 1) + 0.05 * rng.standard_normal(120)
    data = Dataset.from_arrays(x, target, names=["x", "y"])
    grammar = Grammar.from_text("f -> f + f | f - f | f * f | f / f | sin(f) | C * f | f + C | x | y")
    seen: list[Front] = []
    found = discover(
        RegressionRequest(data, grammar, limits=limits), watch=lambda progress: seen.append(progress.front)
    )
    rows = [row for front in (*seen, found.front) for row in front]
    assert rows
    assert [to_text(row.program, 9) for row in rows] == [to_text(tidy(row.program), 9) for row in rows]


@pytest.mark.slow
def test_tidied_rows_are_for_people_alone_and_do_not_change_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar = Grammar.from_text("f -> f + f | f * f | sin(f) | C * f | x")
    config = SearchConfig(n_trees=2)
    limits = Limits(timeout=None, max_evaluations=600)
    shown, evaluations = [], []
    for is_tidied in (True, False):
        if not is_tidied:
            monkeypatch.setattr(FrontTidier, "tidy", lambda self, front: front)
        found = discover(RegressionRequest(DATA, grammar, config=config, limits=limits, n_jobs=1))
        shown.append(texts_of(found.front))
        evaluations.append((found.n_episodes, found.n_evaluations))
    assert shown[0] == shown[1]
    assert evaluations[0] == evaluations[1]
