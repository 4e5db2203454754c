"""The whole run: rounds of tree search, each on the modules of the one before; fit, front, choice.

This is the only place that knows the order of the stages, and the loop by which rewards and modules come back to the search.
"""

import functools
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import current_thread, main_thread

import numpy as np

from spl.ablate import drop_one_term
from spl.candidate import Candidate, Module
from spl.clean import clean
from spl.completion import make_completion, own_scratch
from spl.config import Limits, SearchConfig
from spl.data import Dataset
from spl.errors import FormulaNotFound
from spl.fit import LAST_EFFORT, POLISH_EFFORT, fit, root_mean_square_error
from spl.front import EXACT, Front
from spl.grammar import Grammar
from spl.modules import keep_best, module_size
from spl.parallel import run_all
from spl.program import Program
from spl.search import Searcher
from spl.simplify import simplify

SEGMENT_EPISODES = 500  # of each tree between two looks at the results
FIRST_EPISODES = 50  # before the first look: people wait for it
NEAR_FIT = 0.05  # how much the error may grow by a term less, for the choice to look at it
CHECK_ROWS = 10_000  # rows on which candidates are judged while the search goes on
CONTINUE = 2.0  # after an exact law, search on until the episodes are so many times as many: there may be a simpler one
# Of the time limit, this is kept for the last fits: a share, at least so long, and more for each row; at most half of it
FINISH_SHARE, FINISH_SECONDS, FINISH_SECONDS_A_ROW = 0.05, 0.5, 2e-6


@dataclass(frozen=True, slots=True)
class Progress:
    """What a watcher sees after each segment."""

    front: Front
    seconds: float
    n_episodes: int
    n_evaluations: int


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a run found, and why it ended."""

    front: Front
    n_rows: int  # different rows that the front was judged on
    floor: float  # an error up to this is rounding error
    seconds: float
    n_episodes: int
    n_evaluations: int
    stopped: str  # "exact", "timeout", "evaluations", "exhausted", "schedules" or "interrupted"


Watcher = Callable[[Progress], None]


@dataclass(slots=True)
class _Run:
    """What changes while a run goes on."""

    data: Dataset
    check: Dataset
    searchers: list[Searcher]
    limits: Limits
    n_jobs: int
    began: float
    seen: dict[tuple[int, ...], float] = field(default_factory=dict)  # loss on the sample of each program checked
    front: Front = field(default_factory=lambda: Front(()))
    episodes_at_exact: int | None = None
    is_interrupted: bool = False
    is_exhausted: bool = False  # every formula of the grammar within max_rules was tried

    @property
    def floor(self) -> float:
        return EXACT * self.data.spread

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began

    @property
    def n_evaluations(self) -> int:
        return sum(searcher.n_evaluations for searcher in self.searchers)

    @property
    def n_episodes(self) -> int:
        return sum(searcher.n_episodes for searcher in self.searchers)

    def is_out_of_time(self) -> bool:
        timeout = self.limits.timeout
        if timeout is None:
            return self.is_interrupted
        finish = max(FINISH_SHARE * timeout, FINISH_SECONDS) + FINISH_SECONDS_A_ROW * self.data.n_rows
        return self.is_interrupted or self.seconds >= timeout - min(finish, timeout / 2)


def discover(
    data: Dataset,
    grammar: Grammar,
    *,
    config: SearchConfig | None = None,
    limits: Limits | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    watch: Watcher | None = None,
) -> Discovery:
    """Search the formula behind a dataset among those of a grammar.

    The same seed and settings give the same answer for any number of jobs, unless the time limit cuts the search off. Ctrl-C ends
    it; the best so far is returned.
    """
    config = config or SearchConfig()
    compile_kernels()
    run = _begin(data, grammar.bind(data.names), config, limits or Limits(), n_jobs, seed)
    stopped = "schedules"
    try:
        with _ctrl_c_as_flag(run):
            for _ in _segments(run, config):
                _judge(run)
                if watch is not None:
                    watch(Progress(run.front, run.seconds, run.n_episodes, run.n_evaluations))
                reason = _reason_to_stop(run)
                if reason:
                    stopped = reason
                    break
    except KeyboardInterrupt:
        run.is_interrupted = True
        stopped = "interrupted"
        _judge(run)
    try:
        front = _finish(run)
    except KeyboardInterrupt:
        if not len(run.front):
            raise
        front, stopped = run.front, "interrupted"
    return Discovery(front, run.data.n_rows, run.floor, run.seconds, run.n_episodes, run.n_evaluations, stopped)


@functools.cache
def compile_kernels() -> None:
    """Compile the kernels, or load them from the cache, by running a search that ends at once. The clock of a run starts after it."""
    data = Dataset.from_arrays([[1.0], [2.0]], [1.0, 2.0], names=["x"])
    config = SearchConfig(max_rules=2, n_episodes=2, n_trees=1)
    run = _begin(data, Grammar.from_text("f -> C * x").bind(["x"]), config, Limits(), 1, 0)
    run.searchers[0].grow(1, 1, lambda: False)


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


def _begin(data: Dataset, grammar: Grammar, config: SearchConfig, limits: Limits, n_jobs: int, seed: int) -> _Run:
    """Draw the rows of the search, the same for all trees, and give each tree its own random numbers."""
    began = time.monotonic()
    if data.n_rows <= CHECK_ROWS:
        data = data.merge()
    sequence = np.random.SeedSequence(seed)
    random = np.random.default_rng(sequence)
    sample = data.sample(config.max_rows, random)
    check = data if data.n_rows <= CHECK_ROWS else data.sample(CHECK_ROWS, random)
    seeds = sequence.generate_state(config.n_trees, np.uint64)
    completion = make_completion(grammar, sample, timeout=limits.timeout, is_used=config.n_completions > 0)
    searchers = [Searcher(grammar, sample, config, int(tree_seed), own_scratch(completion)) for tree_seed in seeds]
    return _Run(data, check, searchers, limits, n_jobs, began)


def _segments(run: _Run, config: SearchConfig) -> Iterator[None]:
    """Grow all trees, segment by segment, round by round; after each round its modules enter the grammar."""
    n_schedules = 0
    while config.max_schedules is None or n_schedules < config.max_schedules:
        modules: tuple[Module, ...] = ()
        for round_number in range(config.n_transplants):
            size = module_size(config, round_number)
            for searcher in run.searchers:
                searcher.plant(modules, size)
            for n_episodes in _split(config.n_episodes):
                _grow(run, n_episodes)
                is_over = all(searcher.is_exhausted for searcher in run.searchers)
                run.is_exhausted = is_over and not modules
                yield
                if is_over:
                    break
            found = [module for searcher in run.searchers for module in searcher.modules()]
            modules = keep_best([*modules, *found], config.max_modules)
        for searcher in run.searchers:
            searcher.forget_modules()
        n_schedules += 1


def _split(n_episodes: int) -> Iterator[int]:
    """Yield the sizes of the segments of a round: short ones first, because people wait, and because much may be found at once."""
    done, size = 0, FIRST_EPISODES
    while done < n_episodes:
        yield min(size, n_episodes - done)
        done += size
        size = min(2 * size, SEGMENT_EPISODES)


def _grow(run: _Run, n_episodes: int) -> None:
    """Let every tree run its episodes, in parallel; each has its own share of the evaluations that are left."""
    most = run.limits.max_evaluations
    share = np.iinfo(np.int64).max if most is None else -(-most // len(run.searchers))
    grow = [partial(searcher.grow, n_episodes, share, run.is_out_of_time) for searcher in run.searchers]
    run_all(grow, run.n_jobs)


def _judge(run: _Run) -> None:
    """Fit what the trees found since the last time to the check rows, and update the front."""
    candidates = list(run.front)
    for found in (candidate for searcher in run.searchers for candidate in searcher.candidates()):
        if found.loss < run.seen.get(found.program.tokens, np.inf) and _may_enter(found, run.front):
            run.seen[found.program.tokens] = found.loss
            candidates.append(fit(found.program, run.check, reward=found.reward))
    run.front = Front.from_candidates(candidates, run.floor)
    if run.episodes_at_exact is None and len(run.front) and run.front[-1].loss <= run.floor:
        run.episodes_at_exact = run.n_episodes


def _may_enter(found: Candidate, front: Front) -> bool:
    """Tell whether a candidate could stand in the front; losses on the sample are only about right."""
    rivals = [candidate.loss for candidate in front if candidate.cost <= found.cost]
    return not rivals or found.loss < 2.0 * min(rivals)


def _reason_to_stop(run: _Run) -> str:
    if run.is_interrupted:
        return "interrupted"
    if run.episodes_at_exact is not None and run.n_episodes >= CONTINUE * run.episodes_at_exact:
        return "exact"
    if run.limits.max_evaluations is not None and run.n_evaluations >= run.limits.max_evaluations:
        return "evaluations"
    if run.is_out_of_time():
        return "timeout"
    return "exhausted" if run.is_exhausted else ""


def _finish(run: _Run) -> Front:
    """Polish, simplify and clean the formulas of the front, and judge them on all rows.

    The most promising come first; when the time is up, the others stay as they are, judged on the check rows.
    """
    if not len(run.front):
        if run.is_interrupted:
            raise KeyboardInterrupt  # there is nothing to return yet
        raise FormulaNotFound(
            "No formula of the grammar stays inside its domain on the data. Allow other operators or more time."
        )
    chosen = run.front.choose("mdl", run.data.n_rows, run.floor)
    order = sorted(range(len(run.front)), key=lambda k: abs(k - chosen))
    finished = []
    longest = 0.0
    for k in order:
        began = run.seconds
        timeout = run.limits.timeout
        is_late = run.is_interrupted or (timeout is not None and began + longest > timeout)
        if is_late and k != chosen:
            finished.append(run.front[k])
            continue
        finished += [_polish(candidate, run) for candidate in _with_fewer_terms(run.front[k], run)]
        longest = max(longest, run.seconds - began)
    return Front.from_candidates(finished, run.floor)


def _with_fewer_terms(candidate: Candidate, run: _Run) -> list[Candidate]:
    """Return the candidate, and those with one term less that come near its fit."""
    fewer = [fit(program, run.check, reward=candidate.reward) for program in drop_one_term(candidate.program)]
    return [candidate, *(c for c in fewer if c.loss <= max((1 + NEAR_FIT) * candidate.loss, run.floor))]


def _polish(candidate: Candidate, run: _Run) -> Candidate:
    """Return the candidate at its best: constants at the optimum, spelled simply, clean where the data cannot tell."""

    def refit(program: Program) -> Candidate:
        return fit(program, run.check, effort=POLISH_EFFORT, reward=candidate.reward)

    def agree(original: Program, simpler: Program) -> bool:
        loss = root_mean_square_error(original, run.check)
        return root_mean_square_error(simpler, run.check) <= max(loss * (1 + 1e-6), run.floor)

    simpler = refit(simplify(refit(candidate.program).program, agree))
    cleaned = clean(simpler, run.check.n_rows, run.floor, refit)
    final = simplify(cleaned.program, agree)
    if run.check is run.data:
        return refit(final)
    return fit(final, run.data, effort=LAST_EFFORT, reward=candidate.reward)
