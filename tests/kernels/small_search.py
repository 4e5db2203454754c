"""A small search: a grammar of two variables, a table, and all that the kernels of a tree need."""

from unittest import mock

import numpy as np
from tests.kernels.programs.test_fit import make_table
from tests.kernels.search_twins import loss_of

import spl.regression.bank_build
from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.kernels.programs.fit import FitEffort
from spl.kernels.tree.context import Policy, SearchContext, make_search_work
from spl.kernels.tree.ledger import make_ledger
from spl.kernels.tree.search import ALL_DONE, make_tree, run_episodes
from spl.regression.bank_build import make_completion
from spl.regression.packing import pack_alphabet, pack_costs, pack_rules
from spl.settings import CLOSERS

EFFORT = FitEffort(n_starts=2, n_scans=6, max_iterations=8, tolerance=1e-2)
POLYNOMIALS = "f -> f + f | f * f | x | y"
WAVES = "f -> f + g | sin(g) | g\ng -> g * g | x | 2"
NO_LIMIT = np.iinfo(np.int64).max
POLICY = Policy(
    eta=0.9, explore=0.7, epsilon=0.0, n_simulations=2, n_completions=0, max_steps=24,
    closers=np.ones(len(CLOSERS), np.int64), is_jumping=True,
    max_rules=5, module_size=3, is_scaled=True, is_greedy=True, loss_scale=1.0,
)  # fmt: skip


N_BANK = 100  # entries of small banks


class Search:
    """All that `run_episodes` needs, with the grammar and the table it was made from."""

    def __init__(self, text=POLYNOMIALS, policy=POLICY, seed=1, n_nodes=5_000, n_rows=20, target=None, max_modules=3):
        rng = np.random.default_rng(0)
        self.grammar = Grammar.from_text(text).bind(("x", "y"))
        self.rules = pack_rules(self.grammar)
        self.policy = policy
        columns = rng.uniform(0.5, 2.0, (2, n_rows))
        x, y = columns
        self.table = make_table(columns, x * y + 0.3 * y + 0.1 if target is None else target(x, y))
        sample = Dataset.from_arrays(columns.T, self.table.target, names=["x", "y"])
        self.completion = make_completion(self.grammar, sample, n_entries=N_BANK, is_used=policy.n_completions > 0)
        self.alphabet = pack_alphabet(self.grammar.vocabulary)
        self.ledger = make_ledger(40, max_modules, 1 << 14, pack_costs(self.grammar.vocabulary))
        self.work = make_search_work(policy.max_rules)
        self.tree = make_tree(n_nodes, int(np.diff(self.rules.first).max()))
        self.random = np.array([seed], np.uint64)

    @property
    def context(self):
        return SearchContext(
            rules=self.rules,
            alphabet=self.alphabet,
            table=self.table,
            effort=EFFORT,
            policy=self.policy,
            completion=self.completion,
            ledger=self.ledger,
            work=self.work,
            random=self.random,
        )

    def run(self, n_episodes, max_evaluations=NO_LIMIT):
        return run_episodes(n_episodes, max_evaluations, self.tree, self.context)

    def run_to_the_end(self):
        while (reason := self.run(1_000)) == ALL_DONE:
            pass
        return reason

    def totals(self, place):
        return int(self.ledger.totals[place])

    def loss_of(self, derivation):
        return loss_of(derivation.tokens, self.grammar.vocabulary.literals, self.table.columns, self.table.target)

    def reward_of(self, derivation):
        return self.policy.eta**derivation.n_rules / (1 + self.policy.loss_scale * self.loss_of(derivation))

    def cost_of(self, derivation):
        return len(derivation.tokens)


def complete(text, target, n_episodes, seed=1, n_simulations=1):
    """Return a search with a small bank that looks up what its leaves lack."""
    policy = POLICY._replace(n_completions=64, n_simulations=n_simulations, max_rules=25)
    with mock.patch.multiple(spl.regression.bank_build, N_CHEAP=30, MAX_MONOMIAL_DEGREE=2):
        search = Search(text, policy, seed, target=target)
    search.run(n_episodes)
    return search


def best_loss(search):
    """Return the lowest loss in the front."""
    return min(record.loss for record in search.ledger.front)


def found_in(search):
    """Return the records of a front that are not empty."""
    found = [record for record in search.ledger.front if np.isfinite(record.loss)]
    assert len(found) > 2
    return found
