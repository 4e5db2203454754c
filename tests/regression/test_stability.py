"""How often a formula comes back in searches of redrawn targets."""

import json
import os
import signal
import threading

import numpy as np
import pytest
from joblib import parallel_config

from spl.data.dataset import Dataset
from spl.errors import SettingError, UndefinedError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.noise.models import POISSON, RELATIVE
from spl.regression import stability
from spl.regression.candidate import Candidate
from spl.regression.discover import Discovery, discover
from spl.regression.front import Front
from spl.regression.request import RegressionRequest
from spl.regression.stability import StabilityPlan, count_returns, measure_stability
from spl.settings import Limits, SearchConfig

RULES = "f -> C*x + C | C*x | C | C*x + C*y | C*x**2 + C | C*y"
WORDS = Vocabulary(("x", "y"))
FEW = Limits(timeout=None, max_evaluations=60)
SMALL = SearchConfig(n_trees=1)


def make_request(noise=0.1, seed=0, **more):
    random = np.random.default_rng(seed)
    table = random.uniform(0.5, 3.0, (40, 2))
    target = 2.4 * table[:, 0] + noise * random.standard_normal(40)
    data = Dataset.from_arrays(table, target, names=["x", "y"])
    return RegressionRequest(data, Grammar.from_text(RULES), config=SMALL, limits=FEW, **more)


def make_plan(request=None, **more):
    request = request or make_request()
    found = discover(request)
    return StabilityPlan.make(request, found, found.choose("mdl"), max_evaluations=60, **more)


@pytest.fixture(scope="module")
def plan():
    return make_plan()


@pytest.mark.search
def test_a_law_with_little_noise_comes_back_every_time(plan):
    found = measure_stability(plan, 4)
    assert (found.n_done, found.n_asked, found.structure) == (4, 4, 1.0)
    assert found.terms.share.tolist() == [1.0]
    assert found.columns.set_index("column").share.to_dict() == {"x": 1.0, "y": 0.0}


@pytest.mark.search
def test_a_law_that_the_noise_hides_does_not():
    request = make_request(noise=0.05)
    found = discover(request)
    costly = next(place for place, each in enumerate(found.front) if each.program.n_constants == 2)
    plan = StabilityPlan.make(request, found, costly, max_evaluations=60)
    returned = measure_stability(plan, 5)
    assert returned.structure < 0.5  # its second term is noise
    assert returned.columns.share[0] == 1.0


@pytest.mark.search
def test_neither_workers_nor_backends_change_the_answer(plan):
    one = measure_stability(plan, 3)
    assert measure_stability(plan, 3, n_jobs=2) == one
    with parallel_config("loky"):
        assert measure_stability(plan, 3, n_jobs=2) == one


@pytest.mark.search
def test_the_seed_decides_what_is_drawn():
    plans = [make_plan(make_request(noise=1.0), seed=seed) for seed in (0, 0, 1)]
    targets = [stability.redraw_targets(plan.noise, np.random.default_rng(plan.request.seed)) for plan in plans]
    np.testing.assert_array_equal(targets[0], targets[1])
    assert not np.array_equal(targets[0], targets[2])


@pytest.mark.search
def test_progress_is_told(plan):
    told = []
    measure_stability(plan, 3, watch=lambda done, asked: told.append((done, asked)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.search
def test_ctrl_c_returns_what_is_done(plan):
    def interrupt(done, asked):
        if done == 1:
            raise KeyboardInterrupt

    found = measure_stability(plan, 5, watch=interrupt)
    assert (found.n_done, found.n_asked) == (1, 5)
    assert str(found).startswith("Interrupted after 1 of 5 searches.")


@pytest.mark.search
def test_a_real_ctrl_c_ends_the_search_that_is_running():
    request = make_request(noise=0.3)
    found = discover(request)
    long = StabilityPlan.make(request, found, found.choose("mdl"), max_evaluations=10**9)
    endless = SearchConfig(patience=None, n_trees=1)
    object.__setattr__(long.request, "config", endless)
    object.__setattr__(long.request, "grammar", Grammar.from_operators(["+", "*", "sin"], ("x", "y")))
    timer = threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    returned = measure_stability(long, 3)
    timer.join()
    assert returned.n_done < 3
    assert np.isnan(returned.structure) or returned.n_done


@pytest.mark.search
@pytest.mark.parametrize("model", [POISSON, RELATIVE])
def test_targets_follow_the_noise_model(model):
    random = np.random.default_rng(0)
    table = random.uniform(1.0, 9.0, (60, 2))
    data = Dataset.from_arrays(table, random.poisson(6 * table[:, 0]).astype(float), names=["x", "y"])
    request = RegressionRequest(data, Grammar.from_text(RULES), config=SMALL, limits=FEW, noise=model)
    plan = make_plan(request)
    assert plan.noise.model is model
    assert plan.request.noise is model
    assert measure_stability(plan, 2).columns.share[0] == 1.0


def test_a_formula_without_values_on_the_rows_cannot_be_redrawn():
    request = make_request()
    front = Front((Candidate(parse_expression("log(x - 100)", WORDS), loss=1.0),))
    with pytest.raises(UndefinedError, match="no targets can be drawn"):
        StabilityPlan.make(request, Discovery(front, 40, 0.0, 1.0, 1, 1, "timeout"), 0)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_the_number_of_searches_must_be_a_count(n):
    request = make_request()
    front = Front((Candidate(parse_expression("2*x", WORDS), loss=1.0),))
    plan = StabilityPlan.make(request, Discovery(front, 40, 0.0, 1.0, 1, 1, "timeout"), 0)
    with pytest.raises(SettingError, match="`n` must be"):
        measure_stability(plan, n)


# ---- counting ------------------------------------------------------------------------------------


def count(law, *found, n_asked=None):
    programs = [parse_expression(text, WORDS) for text in (law, *found)]
    return count_returns(programs[0], programs[1:], make_request().data, n_asked or len(found))


def test_other_spellings_of_a_term_are_the_same_term():
    found = count("2*x*y + 1", "1.1 + 3*(y*x)", "(x + 0.5/y)*y*2", "x")
    assert found.counted_equations[0].count == 2
    assert [(each.text, each.count) for each in found.counted_terms if each.is_chosen] == [("2*x*y", 1), ("1", 1)]


def test_what_came_instead_is_listed_with_the_most_frequent_first():
    found = count("2*x", "y", "3*x + y", "x + 1.2*y")
    assert found.equations.equation.tolist() == ["2*x", "3*x + y", "y"]
    assert found.equations.share.tolist() == pytest.approx([0.0, 2 / 3, 1 / 3])
    assert found.terms.is_chosen.tolist() == [True, False]
    assert "     3  y  (not in the formula)" in str(found)


def test_the_counts_as_plain_values_have_no_nan():
    assert json.loads(json.dumps(count("x", n_asked=3).to_dict(), allow_nan=False))["structure"] is None
