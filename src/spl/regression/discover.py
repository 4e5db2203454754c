"""The search from request to front, Algorithm 1 of the paper: grow the trees, assess what they found, report, transplant modules.

This is the only place that knows the order of the steps, and the loop by which modules return to the search.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import FormulaNotFound, RunFileError
from spl.kernels.runtime.compiler import kernels_are_compiled
from spl.regression.assess import Assessment, Assessor, count_episodes_left, has_settled
from spl.regression.bank_build import count_entries
from spl.regression.candidate import Candidate
from spl.regression.checkpoint import Checkpoint, pack_candidates, unpack_candidates
from spl.regression.doubts import find_doubts
from spl.regression.fit import price_numbers
from spl.regression.front import Front
from spl.regression.interruption import Interruption
from spl.regression.memory_budget import MemoryPlan, plan_memory
from spl.regression.polish import polish_front
from spl.regression.request import RegressionRequest
from spl.regression.scales import Scales, choose_scales
from spl.regression.schedule import Position, batch_end
from spl.regression.searcher import Searcher
from spl.regression.simplify import get_ready as load_sympy
from spl.regression.tidy_front import FrontTidier
from spl.regression.time_limit import TimeLimit
from spl.regression.transplantation import keep_best, module_size
from spl.regression.trees import Forest, Recipe, prepare_workers, share_evaluations

CHECK_ROWS = 10_000  # rows on which candidates are assessed during the search


@dataclass(frozen=True, slots=True)
class Progress:
    """What a watcher sees after each batch of episodes."""

    front: Front
    seconds: float
    n_episodes: int
    n_evaluations: int
    n_rounds: int = 0  # completed
    n_rows: int = 1  # different rows of the data
    floor: float = 0.0  # an error up to this is rounding error


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a run found, and why it ended."""

    front: Front
    n_rows: int  # different rows that the front was assessed on
    floor: float  # an error up to this is rounding error
    seconds: float
    n_episodes: int
    n_evaluations: int
    stopped: str  # "exact", "settled", "timeout", "evaluations", "exhausted", "schedules" or "interrupted"
    notes: tuple[str, ...] = ()  # for people: what was changed in the data, and reasons to doubt the answer


Watcher = Callable[[Progress], None]


class Keeper(Protocol):
    """Keeps what it likes of a search after each batch, and what is needed to continue the search from there."""

    def __call__(self, progress: Progress, checkpoint: Callable[[], Checkpoint], *, is_last: bool) -> None:
        """Take note of the state of the search. To have a checkpoint, call `checkpoint` before returning."""


# ---- the search ----------------------------------------------------------------------------------


def discover(
    request: RegressionRequest,
    *,
    watch: Watcher | None = None,
    keep: Keeper | None = None,
    checkpoint: Checkpoint | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> Discovery:
    """Find the formula behind a dataset among those of a grammar.

    Ctrl-C ends the search, and so does `must_stop`, which is called several times a second; the best so far is returned. From a
    checkpoint, the search continues as if it had never stopped; its time limit counts from now, its evaluations from the beginning.
    """
    began = get_ready(request.n_jobs)
    setup = _set_up(request, began, must_stop, checkpoint)
    state = _State() if checkpoint is None else _restore(setup, checkpoint)
    is_sound = True
    try:
        with setup.interruption.catch_ctrl_c():
            stopped = _search(setup, state, watch, keep)
    except KeyboardInterrupt:
        setup.interruption.request()
        stopped = "interrupted"
        _assess(setup, state)
        is_sound = False  # a tree may be in the middle of an episode
    try:
        if keep is not None and is_sound:
            keep(_progress(setup, state), partial(_take_checkpoint, setup, state), is_last=True)
        front = _polish(setup, state)
    except KeyboardInterrupt:
        if not len(state.front):
            raise
        front, stopped = setup.tidier.tidy(state.front), "interrupted"
    notes = (*request.data.notes, *find_doubts(front, setup.data, setup.floor))
    return Discovery(
        front, setup.data.n_rows, setup.floor, setup.seconds, setup.n_episodes, setup.n_evaluations, stopped, notes
    )


def _search(setup: "_Setup", state: "_State", watch: Watcher | None, keep: Keeper | None) -> str:
    """Grow the trees, batch by batch and round by round, until there is a reason to stop; return it."""
    config = setup.request.config
    while config.max_schedules is None or state.position.schedule < config.max_schedules:
        _grow(setup, state)
        with setup.time.look():
            _assess(setup, state)
            _report(setup, state, watch, keep)
        reason = _reason_to_stop(setup, state)
        if reason:
            return reason
        if setup.is_exhausted or _is_last_batch(setup, state):
            _transplant(setup, state)
            state.position = state.position.next_round(config.n_transplants)
        else:
            state.position = state.position.next_batch()
    return "schedules"


@dataclass(frozen=True, slots=True, eq=False)
class _Setup:
    """What a search works with; the trees grow, but nothing here is ever replaced."""

    request: RegressionRequest
    data: Dataset  # all rows, equal ones merged
    check: Dataset  # the rows on which candidates are assessed
    scales: Scales  # in which the trees see the data
    floor: float  # an error up to this is rounding error
    forest: Forest
    memory: MemoryPlan
    time: TimeLimit
    interruption: Interruption
    tidier: FrontTidier
    seconds_before: float  # of the runs that this one continues

    @property
    def trees(self) -> list[Searcher]:
        return self.forest.searchers

    @property
    def seconds(self) -> float:
        return self.seconds_before + self.time.seconds

    @property
    def n_episodes(self) -> int:
        return sum(tree.n_episodes for tree in self.trees)

    @property
    def n_evaluations(self) -> int:
        return sum(tree.n_evaluations for tree in self.trees)

    @property
    def is_exhausted(self) -> bool:
        """Whether the trees of this round hold no program that was not tried."""
        return all(tree.is_exhausted for tree in self.trees)

    def is_out_of_time(self) -> bool:
        return self.interruption.check() or self.time.is_time_to_finish()

    def is_late(self) -> bool:
        return self.time.seconds_left <= 0


@dataclass(slots=True)
class _State:
    """What changes during a search: each line is written by one step only."""

    position: Position = field(default_factory=Position)  # by _search
    has_grown: bool = True  # by _grow: whether the trees came to the end of the batch
    assessment: Assessment = field(default_factory=Assessment)  # by _assess, and the next two
    assessment_before: Assessment = field(default_factory=Assessment)  # after the batch before
    is_late: bool = False  # whether candidates were left out because the time was up

    @property
    def front(self) -> Front:
        return self.assessment.front


# ---- its steps -----------------------------------------------------------------------------------


def _grow(setup: _Setup, state: _State) -> None:
    """Grow all trees to the end of the batch, in parallel; each has its own share of the evaluations."""
    request, trees = setup.request, setup.trees
    n_grown = sum(tree.n_grown for tree in trees)
    end_after_exact = -(-(n_grown + _count_episodes_left(setup, state)) // len(trees))
    end = min(batch_end(state.position.batch, request.config.n_episodes), end_after_exact)
    max_evaluations = share_evaluations(request.limits.max_evaluations, len(trees))
    setup.forest.grow(end, max_evaluations, setup.is_out_of_time)
    state.has_grown = all(tree.has_grown(end) for tree in trees)


def _assess(setup: _Setup, state: _State) -> None:
    """Assess what the trees found since the last time."""
    assessor = Assessor(
        setup.check,
        setup.data.n_rows,
        setup.floor,
        setup.request.grammar.derives,
        must_stop=setup.is_out_of_time,
        is_late=setup.is_late,
    )
    state.assessment_before = state.assessment
    state.assessment = assessor.assess(_candidates(setup), state.assessment, setup.n_episodes, len(setup.trees))
    state.is_late = setup.is_late()


def _candidates(setup: _Setup) -> Iterator[Candidate]:
    """Yield the best that each tree has found, in the user's units."""
    for tree in setup.trees:
        for candidate in tree.candidates():
            expressed = setup.scales.express(candidate)
            if expressed is not None:
                yield expressed


def _report(setup: _Setup, state: _State, watch: Watcher | None, keep: Keeper | None) -> None:
    """Tell those who watch and keep the search how far it is."""
    if watch is None and keep is None:
        return
    progress = _progress(setup, state)
    if watch is not None:
        watch(progress)
    if keep is not None:
        keep(progress, partial(_take_checkpoint, setup, state), is_last=False)


def _progress(setup: _Setup, state: _State) -> Progress:
    config, position = setup.request.config, state.position
    is_complete = setup.is_exhausted or (
        _is_last_batch(setup, state) and all(tree.has_grown(config.n_episodes) for tree in setup.trees)
    )
    return Progress(
        front=setup.tidier.tidy(state.front),
        seconds=setup.seconds,
        n_episodes=setup.n_episodes,
        n_evaluations=setup.n_evaluations,
        n_rounds=position.schedule * config.n_transplants + position.round + is_complete,
        n_rows=setup.data.n_rows,
        floor=setup.floor,
    )


def _reason_to_stop(setup: _Setup, state: _State) -> str:
    """Return why to stop, or nothing."""
    is_out_of_time = setup.is_out_of_time()
    if setup.interruption.is_requested:
        return "interrupted"
    if _count_episodes_left(setup, state) <= 0:
        return "exact"
    if has_settled(state.assessment.episodes_at_choice, setup.n_episodes, setup.request.config):
        return "settled"
    if any(tree.has_used_up_evaluations for tree in setup.trees):
        return "evaluations"  # the others stop where a run that continues would assess them
    if is_out_of_time:
        return "timeout"
    return "exhausted" if setup.is_exhausted and not setup.trees[0].planted else ""  # every formula was tried


def _transplant(setup: _Setup, state: _State) -> None:
    """Plant new trees with the best modules so far as rules; without modules, if a new schedule starts."""
    config, trees = setup.request.config, setup.trees
    next_round = state.position.next_round(config.n_transplants).round
    found = [module for tree in trees for module in tree.modules()]
    modules = keep_best([*trees[0].planted, *found], config.max_modules)
    if next_round == 0:
        modules = ()
        for tree in trees:
            tree.forget_modules()
    for tree in trees:
        tree.plant(modules, module_size(config, next_round))


def _is_last_batch(setup: _Setup, state: _State) -> bool:
    n_episodes = setup.request.config.n_episodes
    return batch_end(state.position.batch, n_episodes) == n_episodes


def _count_episodes_left(setup: _Setup, state: _State) -> int:
    return count_episodes_left(state.assessment, setup.n_episodes, len(setup.trees))


# ---- beginning and end ---------------------------------------------------------------------------


def get_ready(n_jobs: int) -> float:
    """Load what a search needs, here and in the workers. Return when its time starts: compiling the kernels does not count."""
    began = time.monotonic()
    is_compiled = kernels_are_compiled()
    prepare_workers(n_jobs)
    load_sympy()
    return began if is_compiled else time.monotonic()


def _set_up(
    request: RegressionRequest, began: float, must_stop: Callable[[], bool], checkpoint: Checkpoint | None
) -> _Setup:
    """Draw the rows of the search, the same for all trees, and give each tree its own random numbers."""
    data, grammar, config, limits = request.data, request.grammar, request.config, request.limits
    time_limit = TimeLimit(limits.timeout, data.n_rows, began)
    if data.n_rows <= CHECK_ROWS:
        data = data.merge()
    sequence = np.random.SeedSequence(request.seed)
    random = np.random.default_rng(sequence)
    scales = choose_scales(data, grammar) if config.relative_loss else Scales.plain(data)
    sample = scales.measure(data.sample(config.max_rows, random))
    check = data if data.n_rows <= CHECK_ROWS else data.sample(CHECK_ROWS, random)
    seeds = [int(seed) for seed in sequence.generate_state(config.n_trees, np.uint64)]
    memory = plan_memory(
        config,
        n_entries=count_entries(limits.timeout) if checkpoint is None else checkpoint.n_entries,
        n_symbols=len(grammar.symbols),
        n_rows=sample.n_rows,
        most_rules_of_symbol=max(Counter(rule.symbol for rule in grammar.rules).values()) + config.max_modules,
    )
    floor = max(data.floor, request.target_error)
    return _Setup(
        request=request,
        data=data,
        check=check,
        scales=scales,
        floor=floor,
        forest=Forest(Recipe(grammar, sample, config, memory), seeds, request.n_jobs),
        memory=memory,
        time=time_limit,
        interruption=Interruption(must_stop),
        tidier=FrontTidier(check, floor, data.n_rows),
        seconds_before=0.0 if checkpoint is None else checkpoint.seconds,
    )


def _polish(setup: _Setup, state: _State) -> Front:
    """Return the front with its formulas polished, as far as there is time."""
    is_interrupted = setup.interruption.is_requested
    if not len(state.front):
        if is_interrupted:
            raise KeyboardInterrupt  # there is nothing to return yet
        raise FormulaNotFound(
            "No formula of the grammar stays inside its domain on the data. Allow other operators or more time."
        )
    seconds = 0.0 if is_interrupted else setup.time.seconds_left
    return polish_front(
        state.front, setup.data, setup.check, setup.floor, seconds, derives=setup.request.grammar.derives
    )


# ---- checkpoints ---------------------------------------------------------------------------------


def _take_checkpoint(setup: _Setup, state: _State) -> Checkpoint:
    """Return where the search is. An assessment of an unfinished batch is left out: a search without a break never makes it."""
    is_whole = state.has_grown and not state.is_late
    assessment = state.assessment if is_whole else state.assessment_before
    return Checkpoint(
        schedule=state.position.schedule,
        round=state.position.round,
        batch=state.position.batch,
        seconds=setup.seconds,
        n_entries=setup.memory.n_entries,
        episodes_at_exact=assessment.episodes_at_exact,
        episodes_at_choice=assessment.episodes_at_choice,
        front=pack_candidates(assessment.front),
        seen=pack_candidates(assessment.seen.values()),
        searchers=tuple(tree.state() for tree in setup.trees),
    )


def _restore(setup: _Setup, checkpoint: Checkpoint) -> _State:
    """Put the trees where they were, and return the state of the search there."""
    if len(checkpoint.searchers) != len(setup.trees):
        raise RunFileError(
            f"The run was left with {len(checkpoint.searchers)} trees; its settings say {len(setup.trees)}."
        )
    for tree, state in zip(setup.trees, checkpoint.searchers, strict=True):
        tree.restore(state)
    vocabulary = setup.request.grammar.vocabulary
    front = Front(tuple(price_numbers(each, setup.check) for each in unpack_candidates(checkpoint.front, vocabulary)))
    seen = {each.program.tokens: each for each in unpack_candidates(checkpoint.seen, vocabulary)}
    assessment = Assessment(front, seen, checkpoint.episodes_at_exact, checkpoint.episodes_at_choice)
    position = Position(checkpoint.schedule, checkpoint.round, checkpoint.batch)
    return _State(position=position, assessment=assessment, assessment_before=assessment)
