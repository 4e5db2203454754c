"""The search from request to front, Algorithm 1 of the paper: grow the trees, assess what they found, report, transplant modules.

This is the only place that knows the order of the steps, and the loop by which modules return to the search.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from spl.errors import FormulaNotFound, RunFileError
from spl.kernels.runtime import store
from spl.kernels.runtime.building import are_all_stored
from spl.regression.assess import Assessment, Assessor, count_episodes_left, has_settled
from spl.regression.candidate import Candidate
from spl.regression.checkpoint import Checkpoint, pack_candidates, unpack_candidates
from spl.regression.doubts import find_doubts
from spl.regression.fit import price_numbers
from spl.regression.front import Front
from spl.regression.parallel import Workers
from spl.regression.polish import polish_front
from spl.regression.request import RegressionRequest
from spl.regression.schedule import Position, batch_end
from spl.regression.setup import SearchSetup, set_up
from spl.regression.simplify import start_loading as start_loading_sympy
from spl.regression.transplantation import keep_best, module_size
from spl.regression.trees import share_evaluations
from spl.regression.warm_up import compile_kernels


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
    setup = set_up(request, began, must_stop, checkpoint)
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
    notes = (*request.data.notes, *find_doubts(front, setup.data, setup.floor), *store.troubles)
    return Discovery(
        front, setup.data.n_rows, setup.floor, setup.seconds, setup.n_episodes, setup.n_evaluations, stopped, notes
    )


def _search(setup: SearchSetup, state: "_State", watch: Watcher | None, keep: Keeper | None) -> str:
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


def _grow(setup: SearchSetup, state: _State) -> None:
    """Grow all trees to the end of the batch, in parallel; each has its own share of the evaluations."""
    request, trees = setup.request, setup.trees
    n_grown = sum(tree.n_grown for tree in trees)
    end_after_exact = -(-(n_grown + _count_episodes_left(setup, state)) // len(trees))
    end = min(batch_end(state.position.batch, request.config.n_episodes), end_after_exact)
    max_evaluations = share_evaluations(request.limits.max_evaluations, len(trees))
    setup.forest.grow(end, max_evaluations, setup.is_out_of_time)
    state.has_grown = all(tree.has_grown(end) for tree in trees)


def _assess(setup: SearchSetup, state: _State) -> None:
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


def _candidates(setup: SearchSetup) -> Iterator[Candidate]:
    """Yield the best that each tree has found, in the user's units."""
    for tree in setup.trees:
        for candidate in tree.candidates():
            expressed = setup.scales.express(candidate)
            if expressed is not None:
                yield expressed


def _report(setup: SearchSetup, state: _State, watch: Watcher | None, keep: Keeper | None) -> None:
    """Tell those who watch and keep the search how far it is."""
    if watch is None and keep is None:
        return
    progress = _progress(setup, state)
    if watch is not None:
        watch(progress)
    if keep is not None:
        keep(progress, partial(_take_checkpoint, setup, state), is_last=False)


def _progress(setup: SearchSetup, state: _State) -> Progress:
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


def _reason_to_stop(setup: SearchSetup, state: _State) -> str:
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


def _transplant(setup: SearchSetup, state: _State) -> None:
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


def _is_last_batch(setup: SearchSetup, state: _State) -> bool:
    n_episodes = setup.request.config.n_episodes
    return batch_end(state.position.batch, n_episodes) == n_episodes


def _count_episodes_left(setup: SearchSetup, state: _State) -> int:
    return count_episodes_left(state.assessment, setup.n_episodes, len(setup.trees))


# ---- beginning and end ---------------------------------------------------------------------------


def get_ready(n_jobs: int) -> float:
    """Load what a search needs, here and in the workers. Return when its time starts: compiling the kernels does not count."""
    began = time.monotonic()
    is_compiled = are_all_stored()
    compile_kernels()
    Workers(n_jobs).greet(compile_kernels)
    start_loading_sympy()
    return began if is_compiled else time.monotonic()


def _polish(setup: SearchSetup, state: _State) -> Front:
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


def _take_checkpoint(setup: SearchSetup, state: _State) -> Checkpoint:
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


def _restore(setup: SearchSetup, checkpoint: Checkpoint) -> _State:
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
