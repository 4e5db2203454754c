"""Searches whose runs are kept in files: started, continued where they stopped, stopped from outside.

A run continues with the data, the grammar and the settings it started with. Its limits may change; they count from its start.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spl.data.dataset import Dataset
from spl.errors import RunFileError
from spl.formulas.forms import Form
from spl.formulas.json_codec import check_no_stand_ins
from spl.groups.discover import discover_any
from spl.kernels.tree.ledger import N_EPISODES
from spl.noise.models import check_noise, decode_noise, encode_noise
from spl.regression.assess import has_settled
from spl.regression.checkpoint import Checkpoint
from spl.regression.discover import Discovery, Progress, Watcher, discover
from spl.regression.request import RegressionRequest
from spl.runs.knowledge import encode_knowledge
from spl.runs.lock import is_locked
from spl.runs.reader import StoredRun
from spl.runs.sqlite_file import check_file, connect, explained, transaction
from spl.runs.units import encode_units
from spl.runs.writer import RunFile, RunPlan
from spl.settings import Limits, SearchConfig

MIN_RESUME_SECONDS = 1.0  # for a run that is continued, even if its time is up
ENDED_FOR_GOOD = ("exact", "exhausted", "fitted")  # more time would change nothing


def discover_in_file(
    path: str | Path,
    request: RegressionRequest,
    *,
    is_any_seed: bool = False,
    facts: Mapping[str, Any] | None = None,
    watch: Watcher | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> Discovery:
    """Search as `discover` does and keep the run in a file; if the file holds a run of the same request, continue it.

    Limits count from the start of the run: if it has reached them, it returns what it found. With `is_any_seed`, a run in the file
    keeps its seed. `facts` are stored for people.
    """
    plan = RunPlan(
        data=request.data,
        searches=[(request.target, request.grammar)],
        config=request.config,
        seed=request.seed,
        is_any_seed=is_any_seed,
        more={
            "noise": encode_noise(request.noise),
            "form": "" if request.form is None else request.form.text,
            "guesses": list(request.guesses),
            **encode_knowledge(request.knowledge),
            **encode_units(request.units),
        },
        facts=facts or {},
        held_out=request.held_out,
        groupings=request.groupings,
    )
    limits = request.limits
    with RunFile(path, plan, limits, request.n_jobs) as run:
        done, checkpoint = run.discovery(0), run.checkpoint(0)
        if done is not None and is_over(done, checkpoint, run.limits_before, limits, request.config):
            run.finish(done.stopped)
            return done

        def is_asked_to_stop() -> bool:
            return must_stop() or run.must_stop()

        if request.groupings or request.has_known_form:
            keeper = run.keeper(0)

            def follow(progress: Progress) -> None:
                keeper(progress, None, is_last=False)
                if watch is not None:
                    watch(progress)

            found = discover_any(replace(request, seed=run.seed), watch=follow, must_stop=is_asked_to_stop)
        else:
            found = discover(
                replace(request, limits=_limits_left(limits, checkpoint), seed=run.seed),
                watch=watch,
                keep=run.keeper(0),
                checkpoint=checkpoint,
                must_stop=is_asked_to_stop,
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
    """Continue the run of a regression from its file alone. Limits count from the start of the run.

    It continues until one of them is reached, even if its choice stays the same for long.
    """
    request = stored_request(run, limits=limits, max_schedules=max_schedules, n_jobs=n_jobs)
    return discover_in_file(run.path, request, watch=watch, must_stop=must_stop)


def stored_request(
    run: StoredRun, *, limits: Limits, max_schedules: int | None = None, n_jobs: int = 1
) -> RegressionRequest:
    """Return the request of a run that is continued until it reaches these limits."""
    [search] = run.searches
    if not isinstance(run.data, Dataset):
        raise RunFileError(f"'{run.path}' holds the run of a system.")
    check_no_stand_ins(search.grammar)
    noise = decode_noise(run.settings.get("noise", "normal"))  # older runs have only that
    return RegressionRequest(
        run.data,
        search.grammar,
        target=search.name,
        config=replace(run.config, max_schedules=max_schedules, patience=None),
        limits=limits,
        n_jobs=n_jobs,
        noise=check_noise(noise),
        seed=run.settings["seed"],
        held_out=run.held_out,
        groupings=run.groupings,
        units=run.units,
        knowledge=run.knowledge,
        form=stored_form(run),
        guesses=tuple(run.settings.get("guesses", ())),
    )


def stored_form(run: StoredRun) -> Form | None:
    """Return the form of a run; None if it has none, as older runs."""
    [search] = run.searches
    text = run.settings.get("form", "")
    return Form.from_text(text, run.data.names, search.grammar.vocabulary.own) if text else None


def request_stop(path: str | Path) -> None:
    """Ask the process that writes a run to stop; within about a second, it does so with the best so far."""
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
    """Return whether a search that ended would end at once if it continued with these limits."""
    if done.stopped == "timeout":
        return limits.timeout is not None and limits.timeout <= (limits_before.timeout or 0.0)
    if done.stopped == "evaluations":
        return limits.max_evaluations is not None and limits.max_evaluations <= done.n_evaluations
    if done.stopped == "schedules":
        most = config.max_schedules
        return most is not None and checkpoint is not None and checkpoint.views[checkpoint.lead].schedule >= most
    if done.stopped == "settled":
        if checkpoint is None:
            return False
        lead = checkpoint.views[checkpoint.lead]
        n_episodes = sum(int(searcher.totals[N_EPISODES]) for searcher in lead.searchers)
        return has_settled(lead.episodes_at_choice, n_episodes, config)
    return done.stopped in ENDED_FOR_GOOD


def _limits_left(limits: Limits, checkpoint: Checkpoint | None) -> Limits:
    """Return the limits with what is left of the time."""
    if limits.timeout is None or checkpoint is None:
        return limits
    return replace(limits, timeout=max(limits.timeout - checkpoint.seconds, MIN_RESUME_SECONDS))
