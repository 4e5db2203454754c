"""Runs of systems in files: begun, and continued with the state they were at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spl.data.trajectories import Trajectories
from spl.dynamics.discover import SystemDiscovery, SystemWatcher, discover_system
from spl.dynamics.rows import Method, Plan, make_rows
from spl.errors import RunFileError
from spl.formulas.grammar import Grammar
from spl.formulas.json_codec import check_no_stand_ins, encode_program
from spl.runs.reader import StoredRun, read_run
from spl.runs.writer import RunFile, RunPlan
from spl.settings import TIMEOUT, Limits, SearchConfig

DONE = "done"  # why the run of a system ended: the equations are fitted
YOURS = "a function of yours"  # a method of estimating derivatives that no file holds


def discover_system_in_file(
    path: str | Path,
    data: Trajectories,
    grammars: Sequence[Grammar],
    *,
    plan: Plan | None = None,
    config: SearchConfig | None = None,
    timeout: float | None = TIMEOUT,
    max_evaluations: int | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    is_any_seed: bool = False,
    facts: Mapping[str, Any] | None = None,
    watch: SystemWatcher | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> SystemDiscovery:
    """Do what `discover_system` does and keep it in a run file; a run of the same data and settings that is there is continued.

    Limits count from the first beginning: a run that has reached them returns what it found.
    """
    plan = plan or Plan()
    columns = data.columns(plan.order)
    about = RunPlan(
        data=data,
        searches=[(state, grammar.bind(columns)) for state, grammar in zip(data.states, grammars, strict=True)],
        config=config or SearchConfig(),
        seed=seed,
        is_any_seed=is_any_seed,
        more={"plan": plan_as_plain(plan)},
        facts=facts or {},
    )
    limits = Limits(timeout=timeout, max_evaluations=max_evaluations)
    with RunFile(path, about, limits, n_jobs) as run:
        system = run.before.get("system")
        if system is not None and _is_over(run, limits):
            run.finish(run.before["stopped"])
            return load_system(read_run(path, [row for grammar in grammars for row in grammar.vocabulary.own]), plan)
        found = discover_system(
            data,
            grammars,
            plan=plan,
            config=config,
            timeout=timeout,
            max_evaluations=max_evaluations,
            n_jobs=n_jobs,
            seed=run.seed,
            watch=watch,
            store=run,
            must_stop=lambda: must_stop() or run.must_stop(),
        )
        for state, search in enumerate(found.searches):
            run.finish_search(state, search)
        run.finish("interrupted" if found.is_interrupted else DONE, system=_system_as_plain(found))
    return found


def resume_system(
    run: StoredRun,
    *,
    timeout: float | None,
    max_evaluations: int | None = None,
    n_jobs: int = 1,
    derivative: Method | None = None,
    watch: SystemWatcher | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> SystemDiscovery:
    """Continue the run of a system, with nothing but its file. Limits count from its first beginning."""
    if not isinstance(run.data, Trajectories):
        raise RunFileError(f"'{run.path}' holds the run of a regression.")
    for search in run.searches:
        check_no_stand_ins(search.grammar)
    return discover_system_in_file(
        run.path,
        run.data,
        [search.grammar for search in run.searches],
        plan=stored_plan(run, derivative),
        config=run.config,
        timeout=timeout,
        max_evaluations=max_evaluations,
        n_jobs=n_jobs,
        seed=run.settings["seed"],
        watch=watch,
        must_stop=must_stop,
    )


def load_system(run: StoredRun, plan: Plan) -> SystemDiscovery:
    """Return what a run found, as if it had just ended."""
    stored, searches = run.system, [search.discovery for search in run.searches]
    if stored is None or not isinstance(run.data, Trajectories):
        raise RunFileError(
            f"The run in '{run.path}' has not come to its equations yet. Continue it: spl resume {run.path}"
        )
    return SystemDiscovery(
        system=stored.system,
        standard_errors=stored.standard_errors,
        chosen=stored.chosen,
        refined=None,
        searches=tuple(search for search in searches if search is not None),
        rows=replace(make_rows(run.data, plan), noise=stored.noise),
        seconds=stored.seconds,
        notes=stored.notes,
        doubts=stored.doubts,
        is_interrupted=stored.is_interrupted,
    )


def stored_plan(run: StoredRun, derivative: Method | None = None) -> Plan:
    """Return how the trajectories of a run became rows; `derivative` is the function for that, if it was one of the user's."""
    plain = dict(run.settings["plan"])
    if plain["method"] == YOURS:
        if not callable(derivative):
            raise RunFileError(
                f"The run in '{run.path}' estimates derivatives by a function of yours, which is in no file. Give it again, "
                "from Python: SPLDynamics.from_run(path, derivative=...)."
            )
        plain["method"] = derivative
    return Plan(**plain)


def plan_as_plain(plan: Plan) -> dict[str, Any]:
    """Return how trajectories become rows, as values that JSON knows."""
    method = YOURS if callable(plan.method) else plan.method
    return {"method": method, "order": plan.order, "is_discrete": plan.is_discrete}


def _is_over(run: RunFile, limits: Limits) -> bool:
    """Tell whether a run that came to its equations has had as much time and as many evaluations as it may have by now."""
    before = run.limits_before
    return (
        run.before["stopped"] == DONE
        and _is_within(limits.timeout, before.timeout)
        and _is_within(limits.max_evaluations, before.max_evaluations)
    )


def _is_within(limit: float | None, before: float | None) -> bool:
    return before is None or (limit is not None and limit <= before)


def _system_as_plain(found: SystemDiscovery) -> dict[str, Any]:
    return {
        "programs": [encode_program(program) for program in found.system.programs],
        "order": found.system.order,
        "is_discrete": found.system.is_discrete,
        "standard_errors": [errors.tolist() for errors in found.standard_errors],
        "chosen": list(found.chosen),
        "noise": found.rows.noise.tolist(),
        "notes": list(found.notes),
        "doubts": list(found.doubts),
        "seconds": found.seconds,
        "is_interrupted": found.is_interrupted,
    }
