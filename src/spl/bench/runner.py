"""Runs trials: each once, several in parallel, every result saved as soon as it is available.

Ctrl-C ends a run at once; the same call continues it, because trials with a result are not run again.
"""

import signal
import statistics
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import current_thread, main_thread

from joblib import Parallel, delayed, parallel_config

from spl.bench.provenance import describe_origin
from spl.bench.records import Record, ResultsFile, latest, open_results
from spl.bench.trials import INTERRUPTED, Experiment, Outcome, Trial
from spl.errors import SplError
from spl.regression.warm_up import warm_up


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What a watcher sees before the first trial and after each."""

    n_trials: int
    n_done: int  # including earlier results
    n_recovered: int
    seconds_left: float | None  # an estimate; None before the first result
    next_trial: Trial | None  # the first one without a result


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The records of the trials of a run, including those of earlier runs."""

    records: list[Record]
    n_trials: int
    is_interrupted: bool


Watcher = Callable[[Tally], None]


def run_trials(
    experiment: Experiment,
    trials: Sequence[Trial],
    path: Path,
    *,
    n_jobs: int = 1,
    is_fresh: bool = False,
    watch: Watcher | None = None,
) -> Finished:
    """Run the trials that have no result in the file yet, and add their results to it.

    A result counts for a trial with the same key, whatever version of the program it is from; `is_fresh` sets the old file aside.
    One job runs in this process, more in separate processes. An `SplError` is an outcome: not recovered.
    """
    with open_results(path, is_fresh=is_fresh) as results:
        book = _Book(results, trials, n_jobs)
        is_interrupted = False
        try:
            _watch(watch, book)
            with closing(_outcomes(experiment, book.waiting(), n_jobs)) as outcomes:
                for trial, outcome in outcomes:
                    if outcome.stopped == INTERRUPTED:
                        raise KeyboardInterrupt
                    origin = describe_origin() | {"settings": experiment.settings(trial)}
                    results.append(Record(trial=trial, outcome=outcome, **origin))  # type: ignore[arg-type]
                    _watch(watch, book)
        except KeyboardInterrupt:
            is_interrupted = True
        return Finished(records=book.records(), n_trials=len(trials), is_interrupted=is_interrupted)


def _watch(watch: Watcher | None, book: "_Book") -> None:
    if watch is not None:
        watch(book.tally())


# ---- what is done and what is left ---------------------------------------------------------------


class _Book:
    """The trials of a run and the results so far."""

    def __init__(self, results: ResultsFile, trials: Sequence[Trial], n_jobs: int) -> None:
        self._results = results
        self._trials = {trial.key: trial for trial in trials}
        self._n_jobs = n_jobs

    def records(self) -> list[Record]:
        return [record for record in latest(self._results.records) if record.trial.key in self._trials]

    def waiting(self) -> list[Trial]:
        done = {record.trial.key for record in self._results.records}
        return [trial for key, trial in self._trials.items() if key not in done]

    def tally(self) -> Tally:
        records, waiting = self.records(), self.waiting()
        return Tally(
            n_trials=len(self._trials),
            n_done=len(records),
            n_recovered=sum(record.outcome.recovered for record in records),
            seconds_left=_seconds_left(records, waiting, self._n_jobs),
            next_trial=waiting[0] if waiting else None,
        )


def _seconds_left(records: Sequence[Record], waiting: Sequence[Trial], n_jobs: int) -> float | None:
    """Return an estimate: each trial takes as long as others of its kind, or as all others if it is the first of its kind."""
    if not waiting:
        return 0.0
    if not records:
        return None
    kinds: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for record in records:
        kinds[_kind(record.trial)].append(record.outcome.seconds)
    means = {kind: statistics.fmean(seconds) for kind, seconds in kinds.items()}
    other = statistics.fmean(means.values())
    return sum(means.get(_kind(trial), other) for trial in waiting) / n_jobs


def _kind(trial: Trial) -> tuple[str, ...]:
    return (trial.setting, trial.tool, trial.problem)


# ---- running them --------------------------------------------------------------------------------


def _outcomes(experiment: Experiment, trials: Sequence[Trial], n_jobs: int) -> Generator[tuple[Trial, Outcome]]:
    """Yield each trial with its outcome as soon as it is available."""
    if not trials:
        return
    calls = (delayed(_run_one)(experiment.run, trial) for trial in trials)
    with parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1):
        parallel = Parallel(return_as="generator_unordered", batch_size=1)  # a batch would delay results
        if n_jobs == 1:
            outcomes = parallel(calls)
        else:
            with _children_ignore_ctrl_c():
                outcomes = parallel(calls)
    try:
        for outcome in outcomes:  # noqa: UP028 - `yield from` would close it before we can
            yield outcome
    finally:
        with warnings.catch_warnings(action="ignore"):  # joblib warns about cancelled tasks, which is intended
            outcomes.close()


def _run_one(run: Callable[[Trial], Outcome], trial: Trial) -> tuple[Trial, Outcome]:
    warm_up()
    began = time.perf_counter()
    try:
        return trial, run(trial)
    except SplError as error:
        seconds = time.perf_counter() - began
        return trial, Outcome(
            formula="", recovered=False, error=None, seconds=seconds, evaluations=None, stopped=str(error)
        )


@contextmanager
def _children_ignore_ctrl_c() -> Iterator[None]:
    """Make processes that start inside the block ignore Ctrl-C; this process handles it and ends them.

    Otherwise each would print a traceback, or return its best so far as if it were an outcome.
    """
    if current_thread() is not main_thread():  # only the main thread may set signal handlers
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
