"""A program is fitted again from other guesses, a bounded number of times."""

import numpy as np
import pytest
from tests.kernels.doors import open_door
from tests.kernels.small_search import POLICY

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.kernels.programs.fit import FitEffort
from spl.kernels.tree.context import SearchContext, make_search_work
from spl.kernels.tree.ledger import N_EVALUATIONS, make_ledger
from spl.kernels.tree.score import MAX_FITS, score
from spl.regression.bank_build import make_completion
from spl.regression.packing import pack_alphabet, pack_costs, pack_program, pack_rules, pack_table

pytestmark = pytest.mark.slow

WORDS = Vocabulary(("x",))
QUICK = FitEffort(np.int64(1), np.int64(0), np.int64(8), 1e-2)

call_score = open_door(score)


class Scorer:
    def __init__(self, target, n_rows=60):
        x = np.linspace(-3.0, 3.0, n_rows)
        data = Dataset.from_arrays(x[:, np.newaxis], target(x), names=["x"])
        grammar = Grammar.from_text("f -> C * f | x").bind(["x"])
        self.ledger = make_ledger(40, 3, 1 << 10, pack_costs(grammar.vocabulary))
        self.context = SearchContext(
            rules=pack_rules(grammar),
            alphabet=pack_alphabet(WORDS),
            table=pack_table(data),
            effort=QUICK,
            policy=POLICY,
            completion=make_completion(grammar, data, is_used=False),
            ledger=self.ledger,
            work=make_search_work(5),
            random=np.array([1], np.uint64),
        )

    def score(self, text, *guesses, effort=QUICK):
        program = parse_expression(text, WORDS).with_constants(np.array(guesses))
        packed = pack_program(program)
        packed.n_rules = 1
        return call_score(packed, effort, self.context)

    @property
    def n_evaluations(self):
        return int(self.ledger.totals[N_EVALUATIONS])


def test_a_poor_first_guess_does_not_block_a_structure():
    scorer = Scorer(lambda x: np.sin(9.3 * x))
    poor = scorer.score("sin(C*x)", 2.0)
    good = scorer.score("sin(C*x)", 9.2)
    assert poor < 0.7
    assert good == pytest.approx(POLICY.eta, rel=1e-3)
    assert scorer.ledger.front[0].reward == good


def test_a_worse_guess_does_not_replace_what_was_found():
    scorer = Scorer(lambda x: np.sin(9.3 * x))
    good = scorer.score("sin(C*x)", 9.2)
    assert scorer.score("sin(C*x)", 2.0) == good
    assert scorer.ledger.front[0].reward == good


def test_a_guess_that_is_no_better_is_not_fitted():
    scorer = Scorer(lambda x: np.sin(9.3 * x))
    for guess in (9.2, 2.0, 4.0, 30.0):
        scorer.score("sin(C*x)", guess)
    assert scorer.n_evaluations == 1


def test_the_number_of_fits_is_bounded():
    scorer = Scorer(lambda x: np.sin(9.3 * x))
    scorer.score("sin(C*x)", 2.0)
    at = np.flatnonzero(scorer.ledger.keys)
    for _ in range(3 * MAX_FITS):
        scorer.ledger.losses[at] = 10.0  # whatever comes is better
        scorer.score("sin(C*x)", 2.0)
    assert scorer.n_evaluations == 1 + MAX_FITS


def test_a_fit_with_all_effort_is_made_once_after_quick_ones():
    scorer = Scorer(lambda x: np.sin(9.3 * x))
    poor = scorer.score("sin(C*x)", 2.0)
    whole = FitEffort(np.int64(4), np.int64(60), np.int64(20), 1e-6)
    good = scorer.score("sin(C*x)", np.nan, effort=whole)
    assert good > poor
    assert scorer.score("sin(C*x)", np.nan, effort=whole) == good
    assert scorer.n_evaluations == 2


def test_a_program_with_one_optimum_is_fitted_once():
    scorer = Scorer(lambda x: 3.0 * x + 1.0)
    rewards = {scorer.score("C*x + C", *guess) for guess in ([1.0, 1.0], [5.0, 2.0], [3.0, 1.0])}
    assert len(rewards) == 1
    assert scorer.n_evaluations == 1


def test_what_fits_by_rounding_error_is_not_recorded():
    noise = np.random.default_rng(0).normal(size=60)
    scorer = Scorer(lambda x: noise)
    assert scorer.score("C*(x + (C - (C + x)))", 1e12, 0.1, 0.1) == 0.0
    assert not np.isfinite(scorer.ledger.front.loss).any()
