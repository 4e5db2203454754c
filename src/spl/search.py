"""The tree search on one grammar and one sample of rows: packs, runs the compiled episodes in slices, unpacks.

A searcher owns what one tree needs and what outlives it: the ledger of programs seen, the best of each cost, the modules.
"""

import time
from collections.abc import Callable, Sequence

import numpy as np

from spl.candidate import Candidate, Module
from spl.config import CLOSERS, SearchConfig
from spl.data import Dataset
from spl.grammar import Grammar
from spl.kernels.complete import Completion
from spl.kernels.fit import Effort
from spl.kernels.ledger import N_EPISODES, N_EVALUATIONS, N_MODULES, make_ledger
from spl.kernels.score import Policy, make_search_work
from spl.kernels.search import ALL_DONE, TREE_EXHAUSTED, make_tree, run_episodes
from spl.packing import pack_alphabet, pack_costs, pack_rules, pack_table, unpack_program
from spl.program import Program

EFFORT = Effort(n_starts=2, n_scans=48, max_iterations=6, tolerance=1e-2)  # of each fit within a search
MAX_COST = 80  # costs for which the best program is kept
N_KEYS = 1 << 20  # distinct programs remembered by a searcher, 16 MB
SLICE_SECONDS = 0.05  # how long the compiled loop runs before it looks up
MAX_NODES = 1_000_000  # of a tree, whatever the number of episodes


class Searcher:
    """One tree after another on the same rows, with one stream of random numbers."""

    def __init__(
        self, grammar: Grammar, sample: Dataset, config: SearchConfig, seed: int, completion: Completion
    ) -> None:
        self._grammar = grammar
        self._config = config
        self._alphabet = pack_alphabet(grammar.vocabulary)
        self._table = pack_table(sample)
        self._loss_scale = 1.0 / sample.spread if config.relative_loss else 1.0
        self._ledger = make_ledger(MAX_COST, config.max_modules, N_KEYS, pack_costs(grammar.vocabulary))
        self._work = make_search_work(max(config.max_rules, grammar.shortest[0]))
        self._random = np.array([seed], np.uint64)
        self._completion = completion
        self._is_done = False
        self.plant((), config.module_size)

    def plant(self, modules: Sequence[Module], module_size: int) -> None:
        """Begin a new tree on the grammar with these modules as further rules of the start symbol."""
        config = self._config
        self._rules = pack_rules(self._grammar, [(module.program, module.size) for module in modules])
        self._policy = Policy(
            eta=config.eta,
            explore=config.explore,
            epsilon=config.epsilon,
            n_simulations=config.n_simulations,
            n_completions=config.n_completions,
            max_steps=config.max_inversions,
            closers=np.array([name in config.closers for name in CLOSERS], np.int64),
            is_jumping=config.jumping,
            max_rules=max(config.max_rules, self._grammar.shortest[0]),
            module_size=module_size,
            is_scaled=config.adaptive_scaling,
            is_greedy=config.backup == "max",
            loss_scale=self._loss_scale,
        )
        n_nodes = min(config.n_episodes + 2, MAX_NODES)
        self._tree = make_tree(n_nodes, int(np.diff(self._rules.first).max()))
        self._is_done = False

    def forget_modules(self) -> None:
        """Empty the list of modules, so that the next round collects new ones."""
        self._ledger.totals[N_MODULES] = 0

    def grow(self, n_episodes: int, max_evaluations: int, must_stop: Callable[[], bool]) -> None:
        """Run episodes until so many are done, the tree is, the evaluations are used up, or the caller says stop.

        The first few are run in any case: however short the time, there is an answer.
        """
        remaining = n_episodes
        slice_size = 4
        while remaining > 0 and not self._is_done and not (self.n_episodes and must_stop()):
            began = time.perf_counter()
            n = min(slice_size, remaining)
            reason = run_episodes(
                n, max_evaluations, self._tree, self._rules, self._completion, self._alphabet, self._table, EFFORT, self._policy,
                self._ledger, self._work, self._random,
            )  # fmt: skip
            self._is_done = reason != ALL_DONE
            self._is_exhausted = reason == TREE_EXHAUSTED
            remaining -= n
            seconds = max(time.perf_counter() - began, 1e-6)
            slice_size = int(np.clip(slice_size * SLICE_SECONDS / seconds, 1, 100_000))

    @property
    def is_exhausted(self) -> bool:
        """Whether the present tree holds no program that was not tried."""
        return self._is_done and self._is_exhausted

    @property
    def n_evaluations(self) -> int:
        """How many distinct programs were fitted or evaluated."""
        return int(self._ledger.totals[N_EVALUATIONS])

    @property
    def n_episodes(self) -> int:
        """How many episodes were run."""
        return int(self._ledger.totals[N_EPISODES])

    def candidates(self) -> list[Candidate]:
        """Return the best program of each cost, and the one with the highest reward, with their losses on the sample."""
        return [
            Candidate(self._program(record), float(record.loss), float(record.reward))
            for record in self._ledger.front
            if np.isfinite(record.loss)
        ]

    def modules(self) -> list[Module]:
        """Return the modules found since they were last forgotten, the best first."""
        n_modules = int(self._ledger.totals[N_MODULES])
        return [
            Module(self._program(record), int(record.n_rules), float(record.loss), float(record.reward))
            for record in self._ledger.modules[:n_modules]
        ]

    def _program(self, record: np.record) -> Program:
        return unpack_program(record.tokens[: record.length], record.constants, self._grammar.vocabulary)
