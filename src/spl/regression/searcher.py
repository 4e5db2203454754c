"""The search on one grammar and one sample of rows: packs, runs the compiled episodes in slices, unpacks.

A searcher owns its tree, and what outlives it: the ledger of known programs, the best program of each cost, the modules.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_spelling import derive
from spl.kernels.programs.fit import FitEffort
from spl.kernels.programs.prices import NUMBER_COST
from spl.kernels.programs.tokens import MAX_PROGRAM_LENGTH
from spl.kernels.runtime.compiler import unit_of
from spl.kernels.runtime.units import Unit
from spl.kernels.tree.complete import Completion
from spl.kernels.tree.context import Policy, SearchContext, make_search_work
from spl.kernels.tree.ledger import N_EPISODES, N_EVALUATIONS, N_MODULES, make_ledger
from spl.kernels.tree.search import (
    ALL_DONE,
    CLOSED,
    ENOUGH_EVALUATIONS,
    N_CHILDREN,
    N_NODES,
    TREE_EXHAUSTED,
    TREE_FULL,
    make_tree,
    run_episodes,
)
from spl.regression.candidate import Candidate, Module, Rough
from spl.regression.checkpoint import (
    SearcherState,
    blank_unused,
    pack_candidates,
    pack_modules,
    unpack_modules,
    unpack_record,
)
from spl.regression.memory_budget import MAX_KEYS, MAX_NODES, MemoryPlan
from spl.regression.packing import pack_alphabet, pack_costs, pack_rules, pack_table
from spl.settings import CLOSERS, SearchConfig

SEARCH_EFFORT = FitEffort(n_starts=2, n_scans=48, max_iterations=6, tolerance=1e-2)  # of each fit within a search
MAX_DESCRIPTION_COST = 120  # highest cost for which the best program is kept
N_COUNTS = 3  # in `SearcherState.counts`
SLICE_SECONDS = 0.05  # how long the compiled loop runs before limits are checked


class Searcher:
    """One tree after another on the same rows, with one stream of random numbers."""

    def __init__(
        self,
        grammar: Grammar,
        sample: Dataset,
        config: SearchConfig,
        seed: int,
        completion: Completion,
        memory: MemoryPlan | None = None,
    ) -> None:
        self._grammar = grammar
        policy = _pack_policy(config, grammar, 1.0 / sample.spread if config.relative_loss else 1.0)
        self._memory = memory or MemoryPlan(0, MAX_KEYS, min(config.n_episodes + 2, MAX_NODES))
        self._ledger = make_ledger(
            MAX_DESCRIPTION_COST, config.max_modules, self._memory.n_keys, pack_costs(grammar.vocabulary)
        )
        self._random = np.array([seed], np.uint64)
        self._context = SearchContext(
            rules=pack_rules(grammar),
            alphabet=pack_alphabet(grammar.vocabulary),
            table=pack_table(sample),
            effort=SEARCH_EFFORT,
            policy=policy,
            completion=completion,
            ledger=self._ledger,
            work=make_search_work(policy.max_rules),
            random=self._random,
        )
        self._unpacked: dict[int, Candidate] = {}
        self.plant((), config.module_size)

    def plant(self, modules: Sequence[Module], module_size: int) -> None:
        """Start a new tree on the grammar, with these modules as additional rules of the start symbol."""
        self._planted = tuple(modules)
        rules = pack_rules(self._grammar, [(module.program, module.size) for module in modules])
        policy = self._context.policy._replace(module_size=module_size)
        self._context = self._context._replace(rules=rules, policy=policy)
        self._tree = make_tree(self._memory.n_nodes, int(np.diff(rules.first).max()))
        self._n_episodes_before = self.n_episodes
        self._reason = ALL_DONE

    def forget_modules(self) -> None:
        """Empty the list of modules, so that the next round collects new ones."""
        self._ledger.totals[N_MODULES] = 0

    def take_up(self, found: Sequence[Candidate]) -> None:
        """Record formulas of the grammar, with their losses on the sample, as if the search had found them: it then varies them."""
        front = np.asarray(self._ledger.front)
        for candidate in found:
            derivation = derive(candidate.program, self._grammar)
            if derivation is None:
                continue
            policy = self._context.policy
            reward = policy.eta**derivation.n_rules / (1.0 + candidate.loss * policy.loss_scale)
            [record] = pack_candidates([replace(candidate, reward=reward)])
            record["origin"][: len(derivation.origins)] = derivation.origins
            record["n_rules"] = derivation.n_rules
            cost = candidate.program.cost + (NUMBER_COST - 1) * candidate.program.n_constants
            if cost < front.size and candidate.loss < front[cost]["loss"]:
                front[cost] = record
            if reward > front[0]["reward"]:
                front[0] = record

    def grow(self, n_episodes: int, max_evaluations: int, must_stop: Callable[[], bool]) -> None:
        """Run up to n_episodes episodes; stop earlier if the tree or the evaluations are used up, or must_stop() says so.

        The first few are run in any case, so that there is an answer however short the time.
        """
        remaining = n_episodes
        slice_size = 4
        while remaining > 0 and not self.is_done and not (self.n_episodes and must_stop()):
            began = time.perf_counter()
            n = min(slice_size, remaining)
            self._reason = run_episodes(n, max_evaluations, self._tree, self._context)
            remaining -= n
            seconds = max(time.perf_counter() - began, 1e-6)
            slice_size = int(np.clip(slice_size * SLICE_SECONDS / seconds, 1, 100_000))

    def unit(self) -> Unit:
        """Return the compiled loop that this searcher runs."""
        return unit_of(run_episodes, 1, 1, self._tree, self._context)

    @property
    def is_done(self) -> bool:
        """Whether the current tree cannot grow further: it is full or exhausted, or the evaluations are used up."""
        return self._reason != ALL_DONE

    @property
    def has_used_up_evaluations(self) -> bool:
        """Whether the current tree stopped because its evaluations are used up."""
        return self._reason == ENOUGH_EVALUATIONS

    @property
    def is_exhausted(self) -> bool:
        """Whether every program of the current tree was tried."""
        return self._reason == TREE_EXHAUSTED

    @property
    def n_evaluations(self) -> int:
        """Number of distinct programs that were fitted or evaluated."""
        return int(self._ledger.totals[N_EVALUATIONS])

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return int(self._ledger.totals[N_EPISODES])

    @property
    def n_grown(self) -> int:
        """Number of episodes on the current tree."""
        return self.n_episodes - self._n_episodes_before

    def has_grown(self, n_episodes: int) -> bool:
        """Return whether n_episodes episodes were run on the current tree, or as many as it has room for."""
        return self.n_grown >= n_episodes or self._reason in (TREE_FULL, TREE_EXHAUSTED)

    @property
    def planted(self) -> tuple[Module, ...]:
        """The modules that are rules of the current tree."""
        return self._planted

    def candidates(self) -> list[Candidate]:
        """Return the best program of each cost, and the one with the highest reward, with their losses on the sample."""
        front = self._ledger.front
        return [self._candidate(place, front[place]) for place in np.flatnonzero(np.isfinite(front.loss)).tolist()]

    def _candidate(self, place: int, record: Any) -> Candidate:
        """Return the candidate in a place of the front; unpack it only if it is new or has improved."""
        loss, reward = float(record.loss), float(record.reward)
        known = self._unpacked.get(place)
        if known is None or (known.loss, known.reward) != (loss, reward):
            known = Candidate(unpack_record(record, self._grammar.vocabulary), loss, reward)
            self._unpacked[place] = known
        return known

    def rivals(self, reach: float) -> Iterator[Rough]:
        """Yield distinct programs whose rough descriptions are within `reach` nats of the shortest, which comes first."""
        lengths, vocabulary = self._ledger.rival_lengths, self._grammar.vocabulary
        is_near = np.isfinite(lengths) & (lengths <= lengths.min() + reach)
        for place in np.argsort(lengths, kind="stable")[: int(is_near.sum())].tolist():
            record = self._ledger.rivals[place]
            program = unpack_record(record, vocabulary)
            yield Rough(Candidate(program, float(record.loss), float(record.reward)), float(lengths[place]))

    def modules(self) -> list[Module]:
        """Return the modules found since `forget_modules`, the best first."""
        n_modules = int(self._ledger.totals[N_MODULES])
        return list(unpack_modules(self._ledger.modules[:n_modules], self._grammar.vocabulary))

    def state(self) -> SearcherState:
        """Return a copy of all that changes, from which another searcher with the same arguments can continue."""
        ledger, tree = self._ledger, self._tree
        places = np.flatnonzero(ledger.keys)
        n_rivals = int(np.isfinite(ledger.rival_lengths).sum())
        return SearcherState(
            random=self._random.copy(),
            totals=ledger.totals.copy(),
            keys=ledger.keys[places],
            losses=ledger.losses[places],
            places=places.astype(np.uint32),
            front=blank_unused(ledger.front),
            modules=blank_unused(ledger.modules[: ledger.totals[N_MODULES]]),
            planted=pack_modules(self._planted),
            rivals=blank_unused(ledger.rivals[:n_rivals]),
            rival_lengths=ledger.rival_lengths[:n_rivals].copy(),
            nodes=np.array(tree.nodes[: tree.used[N_NODES]]),
            children=tree.child[: tree.used[N_CHILDREN]].copy(),
            counts=np.array([self._context.policy.module_size, self._n_episodes_before, self._reason], np.int64),
        )

    def restore(self, state: SearcherState) -> None:
        """Continue from the state of another searcher with the same arguments; more evaluations may be allowed now."""
        self.adopt(state)
        self._reason = ALL_DONE if self._reason == ENOUGH_EVALUATIONS else self._reason

    def adopt(self, state: SearcherState) -> None:
        """Take over the state of another searcher with the same arguments."""
        _check_records(state)
        self._unpacked.clear()
        module_size, n_episodes_before, reason = (int(count) for count in state.counts)
        ledger = self._ledger
        self.plant(unpack_modules(state.planted, self._grammar.vocabulary), module_size)
        self._check_arrays(state)
        self._random[:] = state.random
        ledger.totals[:] = state.totals
        ledger.keys[:] = 0
        ledger.keys[state.places] = state.keys
        ledger.losses[state.places] = state.losses
        np.asarray(ledger.front)[:] = state.front
        np.asarray(ledger.modules)[: state.modules.size] = state.modules
        np.asarray(ledger.rivals)[: state.rivals.size] = state.rivals
        ledger.rival_lengths[:] = np.inf
        ledger.rival_lengths[: state.rivals.size] = state.rival_lengths
        ledger.worst_rival[0] = np.argmax(ledger.rival_lengths)
        np.asarray(self._tree.nodes)[: state.nodes.size] = state.nodes
        self._tree.child[: state.children.size] = state.children
        self._tree.used[:] = state.nodes.size, state.children.size
        self._n_episodes_before = n_episodes_before
        self._reason = reason

    def _check_arrays(self, state: SearcherState) -> None:
        """Raise an error unless the arrays have the right sizes and their indices are valid."""
        n_nodes, n_children = state.nodes.size, state.children.size
        first = state.nodes["first_child"]
        is_sound = (
            state.random.size == 1
            and state.totals.size == self._ledger.totals.size
            and state.front.size == self._ledger.front.size
            and state.modules.size <= self._ledger.modules.size
            and state.rivals.size == state.rival_lengths.size <= self._ledger.rival_lengths.size
            and state.keys.size == state.losses.size == state.places.size < self._ledger.keys.size
            and bool(np.all(state.places < self._ledger.keys.size))
            and 1 <= n_nodes <= self._tree.nodes.size
            and n_children <= self._tree.child.size
            and bool(np.all((state.children >= CLOSED) & (state.children < n_nodes)))
            and bool(np.all((first >= -1) & (first < max(n_children, 1))))
        )
        if not is_sound:
            raise RunFileError("The state of the search is that of another one, or damaged. Begin a new run.")


def _pack_policy(config: SearchConfig, grammar: Grammar, loss_scale: float) -> Policy:
    return Policy(
        eta=config.eta,
        explore=config.explore,
        epsilon=config.epsilon,
        n_simulations=config.n_simulations,
        n_completions=config.n_completions,
        max_steps=config.max_inversions,
        closers=np.array([name in config.closers for name in CLOSERS], np.int64),
        is_jumping=config.jumping,
        max_rules=max(config.max_rules, grammar.shortest[0]),
        module_size=config.module_size,
        is_scaled=config.adaptive_scaling,
        is_greedy=config.backup == "max",
        loss_scale=loss_scale,
    )


def _check_records(state: SearcherState) -> None:
    for records in (state.front, state.modules, state.planted, state.rivals):
        if (
            not np.all((records["length"] >= 0) & (records["length"] <= MAX_PROGRAM_LENGTH))
            or state.counts.size != N_COUNTS
        ):
            raise RunFileError("The state of the search is damaged. Begin a new run.")
