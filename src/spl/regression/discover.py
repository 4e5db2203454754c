"""The whole run: rounds of tree search, each on the modules of the one before; fit, front, choice.

This is the only place that knows the order of the stages, and the loop by which rewards and modules come back to the search.
"""

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from threading import current_thread, main_thread
from typing import Protocol

import numpy as np

from spl.data.dataset import Dataset
from spl.errors import FormulaNotFound, RunFileError
from spl.formulas.grammar import Grammar
from spl.kernels.runtime.compiler import kernels_are_compiled
from spl.regression.assess import Judge, Judged, count_episodes_left, has_settled
from spl.regression.bank_build import count_entries
from spl.regression.candidate import Candidate
from spl.regression.checkpoint import Checkpoint, pack_candidates, unpack_candidates
from spl.regression.doubts import find_doubts
from spl.regression.fit import price_numbers
from spl.regression.front import Front
from spl.regression.memory_budget import plan_memory
from spl.regression.polish import finish
from spl.regression.scales import Scales, choose_scales
from spl.regression.searcher import Searcher
from spl.regression.simplify import get_ready as load_sympy
from spl.regression.tidy_front import FrontTidier
from spl.regression.time_limit import TimeLimit
from spl.regression.transplantation import keep_best, module_size
from spl.regression.trees import Forest, Recipe, prepare_workers, share_evaluations
from spl.settings import Limits, SearchConfig

SEGMENT_EPISODES = 500  # of each tree between two looks at the results
FIRST_EPISODES = 50  # before the first look: people wait for it
CHECK_ROWS = 10_000  # rows on which candidates are judged while the search goes on


@dataclass(frozen=True, slots=True)
class Progress:
    """What a watcher sees after each segment."""

    front: Front
    seconds: float
    n_episodes: int
    n_evaluations: int
    n_rounds: int = 0  # that are done
    n_rows: int = 1  # different rows of the data
    floor: float = 0.0  # an error up to this is rounding error


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a run found, and why it ended."""

    front: Front
    n_rows: int  # different rows that the front was judged on
    floor: float  # an error up to this is rounding error
    seconds: float
    n_episodes: int
    n_evaluations: int
    stopped: str  # "exact", "settled", "timeout", "evaluations", "exhausted", "schedules" or "interrupted"
    notes: tuple[str, ...] = ()  # for people: what was changed in the data, and reasons to doubt the answer


Watcher = Callable[[Progress], None]


class Keeper(Protocol):
    """Keeps what it likes of a search after each segment, and all that another one needs to go on from there."""

    def __call__(self, progress: Progress, checkpoint: Callable[[], Checkpoint], *, is_last: bool) -> None:
        """Take note of the state of the search; a checkpoint is made if it is asked for, now and not later."""


@dataclass(slots=True)
class _Run:
    """What changes while a run goes on."""

    grammar: Grammar
    data: Dataset
    check: Dataset
    scales: Scales  # in which the searchers see the data
    config: SearchConfig
    forest: Forest
    n_entries: int  # of the bank
    limits: Limits
    must_stop: Callable[[], bool]
    time: TimeLimit
    seconds_before: float = 0.0  # of the runs that this one continues
    schedule: int = 0
    round: int = 0  # of the schedule
    segment: int = 0  # of the round
    is_whole: bool = True  # the segment was not cut short
    is_round_over: bool = False
    judged: Judged = field(default_factory=Judged)
    judged_before: Judged = field(default_factory=Judged)  # at the end of the segment before
    is_interrupted: bool = False
    is_exhausted: bool = False  # every formula of the grammar within max_rules was tried
    target_error: float = 0.0  # what the target itself may be off by
    tidier: FrontTidier | None = None

    @property
    def searchers(self) -> list[Searcher]:
        return self.forest.searchers

    @property
    def floor(self) -> float:
        return max(self.data.floor, self.target_error)

    @property
    def seconds(self) -> float:
        return self.time.seconds

    @property
    def progress(self) -> Progress:
        n_rounds = self.schedule * self.config.n_transplants + self.round + self.is_round_over
        seconds = self.seconds_before + self.seconds
        return Progress(
            self.tidied_front, seconds, self.n_episodes, self.n_evaluations, n_rounds, self.data.n_rows, self.floor
        )

    @property
    def n_evaluations(self) -> int:
        return sum(searcher.n_evaluations for searcher in self.searchers)

    @property
    def n_episodes(self) -> int:
        return sum(searcher.n_episodes for searcher in self.searchers)

    @property
    def front(self) -> Front:
        return self.judged.front

    @property
    def tidied_front(self) -> Front:
        """The front as people see it."""
        self.tidier = self.tidier or FrontTidier(self.check, self.floor, self.data.n_rows)
        return self.tidier.tidy(self.front)

    def is_out_of_time(self) -> bool:
        if self.is_interrupted or self.must_stop():
            self.is_interrupted = True
            return True
        return self.time.is_time_to_finish()

    def is_late(self) -> bool:
        return self.time.seconds_left <= 0


def discover(
    data: Dataset,
    grammar: Grammar,
    *,
    config: SearchConfig | None = None,
    limits: Limits | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    watch: Watcher | None = None,
    keep: Keeper | None = None,
    checkpoint: Checkpoint | None = None,
    must_stop: Callable[[], bool] = lambda: False,
    target_error: float = 0.0,
) -> Discovery:
    """Search the formula behind a dataset among those of a grammar.

    The same seed and settings give the same answer for any number of jobs, unless the time limit cuts the search off. Ctrl-C ends
    it, and so does `must_stop`, which is asked several times a second; the best so far is returned. From a checkpoint, the search
    goes on as if it had never ended; the time limit counts from now, the evaluations from the first beginning. A formula
    that is off by no more than `target_error`, which the target itself may be, is exact.
    """
    config = config or SearchConfig()
    began = get_ready(n_jobs)
    run = _begin(data, grammar.bind(data.names), config, limits or Limits(), n_jobs, seed, began, checkpoint)
    run.must_stop, run.target_error = must_stop, target_error
    is_sound = True
    stopped = "schedules"
    try:
        with _ctrl_c_as_flag(run):
            for _ in _segments(run):
                with run.time.look():
                    _judge(run)
                    if watch is not None:
                        watch(run.progress)
                    if keep is not None:
                        keep(run.progress, partial(_take_checkpoint, run), is_last=False)
                reason = _reason_to_stop(run)
                if reason:
                    stopped = reason
                    break
    except KeyboardInterrupt:
        run.is_interrupted = True
        stopped = "interrupted"
        _judge(run)
        is_sound = False  # a tree may be in the midst of an episode
    try:
        if keep is not None and is_sound:
            keep(run.progress, partial(_take_checkpoint, run), is_last=True)
        front = _finish(run)
    except KeyboardInterrupt:
        if not len(run.front):
            raise
        front, stopped = run.tidied_front, "interrupted"
    seconds = run.seconds_before + run.seconds
    notes = (*data.notes, *find_doubts(front, run.data, run.floor))
    return Discovery(front, run.data.n_rows, run.floor, seconds, run.n_episodes, run.n_evaluations, stopped, notes)


@contextmanager
def _ctrl_c_as_flag(run: _Run) -> Iterator[None]:
    """Let a first Ctrl-C only set a flag, which the trees look at several times a second; a second one raises as usual.

    An exception in the midst of a call of a kernel could be lost in it. Handlers that are not Python's own stay in place.
    """
    is_ours = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def set_flag(*_: object) -> None:
        run.is_interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if is_ours:
        signal.signal(signal.SIGINT, set_flag)
    try:
        yield
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def get_ready(n_jobs: int) -> float:
    """Load all that a search needs, here and in the workers; return since when the time counts: compiling the kernels does not."""
    began = time.monotonic()
    is_compiled = kernels_are_compiled()
    prepare_workers(n_jobs)
    load_sympy()
    return began if is_compiled else time.monotonic()


def _begin(
    data: Dataset,
    grammar: Grammar,
    config: SearchConfig,
    limits: Limits,
    n_jobs: int,
    seed: int,
    began: float,
    checkpoint: Checkpoint | None = None,
) -> _Run:
    """Draw the rows of the search, the same for all trees, and give each tree its own random numbers."""
    time_limit = TimeLimit(limits.timeout, data.n_rows, began)
    if data.n_rows <= CHECK_ROWS:
        data = data.merge()
    sequence = np.random.SeedSequence(seed)
    random = np.random.default_rng(sequence)
    scales = choose_scales(data, grammar) if config.relative_loss else Scales.plain(data)
    sample = scales.measure(data.sample(config.max_rows, random))
    check = data if data.n_rows <= CHECK_ROWS else data.sample(CHECK_ROWS, random)
    seeds = sequence.generate_state(config.n_trees, np.uint64)
    memory = plan_memory(
        config,
        n_entries=count_entries(limits.timeout) if checkpoint is None else checkpoint.n_entries,
        n_symbols=len(grammar.symbols),
        n_rows=sample.n_rows,
        most_rules_of_symbol=max(Counter(rule.symbol for rule in grammar.rules).values()) + config.max_modules,
    )
    forest = Forest(Recipe(grammar, sample, config, memory), [int(tree_seed) for tree_seed in seeds], n_jobs)
    run = _Run(grammar, data, check, scales, config, forest, memory.n_entries, limits, lambda: False, time_limit)
    if checkpoint is not None:
        _restore(run, checkpoint, grammar)
    return run


def _take_checkpoint(run: _Run) -> Checkpoint:
    """Return where the run stands. What was judged in the midst of a segment is left out: a run that was not cut short does not."""
    judged = run.judged if run.is_whole else run.judged_before
    return Checkpoint(
        schedule=run.schedule,
        round=run.round,
        segment=run.segment,
        seconds=run.seconds_before + run.seconds,
        n_entries=run.n_entries,
        episodes_at_exact=judged.episodes_at_exact,
        episodes_at_choice=judged.episodes_at_choice,
        front=pack_candidates(judged.front),
        seen=pack_candidates(judged.seen.values()),
        searchers=tuple(searcher.state() for searcher in run.searchers),
    )


def _restore(run: _Run, checkpoint: Checkpoint, grammar: Grammar) -> None:
    """Go to where another run stood."""
    if len(checkpoint.searchers) != len(run.searchers):
        raise RunFileError(
            f"The run was left with {len(checkpoint.searchers)} trees; its settings say {len(run.searchers)}."
        )
    candidates = unpack_candidates(checkpoint.front, grammar.vocabulary)
    front = Front(tuple(price_numbers(candidate, run.check) for candidate in candidates))
    seen = {c.program.tokens: c for c in unpack_candidates(checkpoint.seen, grammar.vocabulary)}
    run.judged = Judged(front, seen, checkpoint.episodes_at_exact, checkpoint.episodes_at_choice)
    run.judged_before = run.judged
    run.schedule, run.round, run.segment = checkpoint.schedule, checkpoint.round, checkpoint.segment
    run.seconds_before = checkpoint.seconds
    for searcher, state in zip(run.searchers, checkpoint.searchers, strict=True):
        searcher.restore(state)


def _segments(run: _Run) -> Iterator[None]:
    """Grow all trees, segment by segment, round by round, from where the run stands."""
    config = run.config
    while config.max_schedules is None or run.schedule < config.max_schedules:
        for planned in islice(_segment_ends(config.n_episodes), run.segment, None):
            run.judged_before = run.judged
            end = min(planned, _end_after_exact(run))
            _grow(run, end)
            is_over = all(searcher.is_exhausted for searcher in run.searchers)
            run.is_exhausted = is_over and not run.searchers[0].planted
            run.is_round_over = is_over or (run.is_whole and end == config.n_episodes)
            yield
            if is_over:
                break
            run.segment += 1
        _transplant(run)


def _transplant(run: _Run) -> None:
    """Begin the next round on a grammar with the modules of this one; after the last round, the next schedule without any."""
    config = run.config
    found = [module for searcher in run.searchers for module in searcher.modules()]
    modules = keep_best([*run.searchers[0].planted, *found], config.max_modules)
    run.round, run.segment, run.is_round_over = run.round + 1, 0, False
    if run.round == config.n_transplants:
        run.schedule, run.round, modules = run.schedule + 1, 0, ()
        for searcher in run.searchers:
            searcher.forget_modules()
    for searcher in run.searchers:
        searcher.plant(modules, module_size(config, run.round))


def _segment_ends(n_episodes: int) -> Iterator[int]:
    """Yield after how many episodes of a round to look: soon at first, because people wait, and much may be found at once."""
    done = 0
    while done < n_episodes:
        done = min(done + max(FIRST_EPISODES, min(done // 2, SEGMENT_EPISODES)), n_episodes)
        yield done


def _grow(run: _Run, end: int) -> None:
    """Let every tree grow to so many episodes, in parallel; each has its own share of the evaluations."""
    run.forest.grow(end, share_evaluations(run.limits.max_evaluations, len(run.searchers)), run.is_out_of_time)
    run.is_whole = all(searcher.has_grown(end) for searcher in run.searchers)


def _judge(run: _Run) -> None:
    """Judge what the trees found since the last time."""
    judge = Judge(run.check, run.data.n_rows, run.floor, run.grammar.derives, run.is_out_of_time, run.is_late)
    run.judged = judge.judge(_candidates(run), run.judged, run.n_episodes, len(run.searchers))
    run.is_whole = run.is_whole and not run.is_late()


def _candidates(run: _Run) -> Iterator[Candidate]:
    """Yield the best that each tree has found, in the units of the user."""
    for searcher in run.searchers:
        for candidate in searcher.candidates():
            expressed = run.scales.express(candidate)
            if expressed is not None:
                yield expressed


def _reason_to_stop(run: _Run) -> str:
    is_out_of_time = run.is_out_of_time()
    if run.is_interrupted:
        return "interrupted"
    if _episodes_left(run) <= 0:
        return "exact"
    if has_settled(run.judged.episodes_at_choice, run.n_episodes, run.config):
        return "settled"
    if any(searcher.has_used_up_evaluations for searcher in run.searchers):
        return "evaluations"  # the others stop where a run that goes on would judge them
    if is_out_of_time:
        return "timeout"
    return "exhausted" if run.is_exhausted else ""


def _episodes_left(run: _Run) -> int:
    return count_episodes_left(run.judged, run.n_episodes, len(run.searchers))


def _end_after_exact(run: _Run) -> int:
    """Return after how many episodes of the round each tree has grown for long enough after an exact law."""
    n_grown = sum(searcher.n_grown for searcher in run.searchers)
    return -(-(n_grown + _episodes_left(run)) // len(run.searchers))


def _finish(run: _Run) -> Front:
    """Return the front with its formulas at their best, as far as there is time."""
    if not len(run.front):
        if run.is_interrupted:
            raise KeyboardInterrupt  # there is nothing to return yet
        raise FormulaNotFound(
            "No formula of the grammar stays inside its domain on the data. Allow other operators or more time."
        )
    seconds_left = 0.0 if run.is_interrupted else run.time.seconds_left
    return finish(run.front, run.data, run.check, run.floor, seconds_left, derives=run.grammar.derives)
