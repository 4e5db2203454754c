"""Searches whose runs are kept in files: begun, continued where they were left, stopped from outside.

A run that is continued has the data, the grammar and the settings it was begun with. Its limits may be others; they count from its
first beginning.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spl.data.dataset import Dataset
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.json_codec import check_no_stand_ins
from spl.regression.assess import has_settled
from spl.regression.checkpoint import Checkpoint
from spl.regression.discover import Discovery, Watcher, discover
from spl.runs.lock import is_locked
from spl.runs.reader import StoredRun
from spl.runs.sqlite_file import check_file, connect, explained, transaction
from spl.runs.writer import RunFile, RunPlan
from spl.settings import Limits, SearchConfig

LAST_SECONDS = 1.0  # that a run has in any case when it is continued, to come to an end
ENDED_FOR_GOOD = ("exact", "exhausted")  # more time would change nothing


def discover_in_file(
    path: str | Path,
    data: Dataset,
    grammar: Grammar,
    *,
    target: str = "y",
    config: SearchConfig | None = None,
    limits: Limits | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    is_any_seed: bool = False,
    facts: Mapping[str, Any] | None = None,
    watch: Watcher | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> Discovery:
    """Do what `discover` does and keep it in a run file; a run of the same data and settings that is there is continued.

    Limits count from the first beginning: a run that has reached them returns what it found. With `is_any_seed`, a run that is
    there keeps its seed. `facts` are kept for people.
    """
    config, limits = config or SearchConfig(), limits or Limits()
    plan = RunPlan(
        data=data,
        searches=[(target, grammar.bind(data.names))],
        config=config,
        seed=seed,
        is_any_seed=is_any_seed,
        more={},
        facts=facts or {},
    )
    with RunFile(path, plan, limits, n_jobs) as run:
        done, checkpoint = run.discovery(0), run.checkpoint(0)
        if done is not None and is_over(done, checkpoint, run.limits_before, limits, config):
            run.finish(done.stopped)
            return done
        found = discover(
            data,
            grammar,
            config=config,
            limits=_limits_left(limits, checkpoint),
            n_jobs=n_jobs,
            seed=run.seed,
            watch=watch,
            keep=run.keeper(0),
            checkpoint=checkpoint,
            must_stop=lambda: must_stop() or run.must_stop(),
        )
        run.finish_search(0, found)
        run.finish(found.stopped)
    return found


def resume(
    run: StoredRun,
    *,
    limits: Limits,
    max_schedules: int | None = None,
    n_jobs: int = 1,
    watch: Watcher | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> Discovery:
    """Continue the run of a regression, with nothing but its file. Limits count from its first beginning.

    It goes on until one of them is reached, however long no better formula comes up.
    """
    [search] = run.searches
    if not isinstance(run.data, Dataset):
        raise RunFileError(f"'{run.path}' holds the run of a system.")
    check_no_stand_ins(search.grammar)
    return discover_in_file(
        run.path,
        run.data,
        search.grammar,
        target=search.name,
        config=replace(run.config, max_schedules=max_schedules, patience=None),
        limits=limits,
        n_jobs=n_jobs,
        seed=run.settings["seed"],
        watch=watch,
        must_stop=must_stop,
    )


def request_stop(path: str | Path) -> None:
    """Ask the process that writes a run to end it; it does so within about a second, with the best so far."""
    path = Path(path)
    if not path.is_file():
        raise RunFileError(f"There is no run file '{path}'.")
    with explained(path, "written"), closing(connect(path, "rw")) as connection:
        check_file(path, connection)
        if not is_locked(path):
            raise RunFileError(f"The run in '{path}' is not running: there is nothing to stop.")
        with transaction(connection):
            connection.execute("REPLACE INTO requests VALUES ('stop', ?)", (datetime.now(UTC).isoformat(),))


def is_over(
    done: Discovery, checkpoint: Checkpoint | None, limits_before: Limits, limits: Limits, config: SearchConfig
) -> bool:
    """Tell whether a search that ended would end at once if it were continued with these limits."""
    if done.stopped == "timeout":
        return limits.timeout is not None and limits.timeout <= (limits_before.timeout or 0.0)
    if done.stopped == "evaluations":
        return limits.max_evaluations is not None and limits.max_evaluations <= done.n_evaluations
    if done.stopped == "schedules":
        most = config.max_schedules
        return most is not None and checkpoint is not None and checkpoint.schedule >= most
    if done.stopped == "settled":
        return checkpoint is not None and has_settled(checkpoint.episodes_at_choice, done.n_episodes, config)
    return done.stopped in ENDED_FOR_GOOD


def _limits_left(limits: Limits, checkpoint: Checkpoint | None) -> Limits:
    """Return the limits with what is left of the time."""
    if limits.timeout is None or checkpoint is None:
        return limits
    return replace(limits, timeout=max(limits.timeout - checkpoint.seconds, LAST_SECONDS))
