"""Runs of systems in files: started, and continued at the state that was being searched."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from spl.data.trajectories import Trajectories
from spl.dynamics.discover import SystemDiscovery, discover_system, settle_rates
from spl.dynamics.implicit_choice import drop_rates
from spl.dynamics.own_names import OwnNames
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import Method, Plan
from spl.dynamics.run_rows import make_rows_of_system
from spl.dynamics.state_searches import SystemWatcher
from spl.errors import RunFileError
from spl.formulas.json_codec import check_no_stand_ins, encode_program
from spl.formulas.system import rate_names
from spl.runs.facts import DYNAMICS
from spl.runs.reader import StoredRun, read_begun, read_run
from spl.runs.units import encode_system_units
from spl.runs.writer import RunFile, RunPlan
from spl.settings import Limits

DONE = "done"  # why the run of a system ended: its equations are fitted
YOURS = "a function of yours"  # stored in place of the user's own function for derivatives


def discover_system_in_file(
    path: str | Path,
    request: SystemRequest,
    *,
    is_any_seed: bool = False,
    facts: Mapping[str, Any] | None = None,
    watch: SystemWatcher | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> SystemDiscovery:
    """Do what `discover_system` does and keep it in a run file; continue a run of the same data and settings that is already there.

    Limits count from the first start: a run that has reached them returns what it found. With `is_any_seed`, a run that was started
    with another seed is continued with that.
    """
    request = _settle_rates(Path(path), request, must_stop)
    with RunFile(path, _make_run_plan(request, is_any_seed, facts or {}), request.limits, request.n_jobs) as run:
        if run.before.get("system") is not None and _is_over(run, request.limits):
            run.finish(run.before["stopped"])
            own = [operator for grammar in request.grammars for operator in grammar.vocabulary.own]
            return load_system(read_run(path, own), request.plan)
        found = discover_system(
            replace(request, seed=run.seed),
            watch=watch,
            store=run,
            must_stop=lambda: must_stop() or run.must_stop(),
        )
        for state, search in enumerate(found.searches):
            run.finish_search(state, search)
        run.finish("interrupted" if found.is_interrupted else DONE, system=_system_as_plain(found))
    return found


def _settle_rates(path: Path, request: SystemRequest, must_stop: Callable[[], bool]) -> SystemRequest:
    """Return the request as it is searched, with or without rates; the run in the file, if there is one, has decided that already."""
    if not request.may_drop_rates:
        return request
    before = read_begun(path)
    if before.get("kind") != DYNAMICS:
        return settle_rates(request, must_stop)
    settled = replace(request, may_drop_rates=False, data=replace(request.data, notes=tuple(before["notes"])))
    return settled if before["settings"]["plan"].get("is_implicit") else drop_rates(settled) or settled


def _make_run_plan(request: SystemRequest, is_any_seed: bool, facts: Mapping[str, Any]) -> RunPlan:
    data, plan = request.data, request.plan
    columns = data.columns(plan.order) + (rate_names(data.states, plan.order) if plan.is_implicit else ())
    return RunPlan(
        data=data,
        searches=[(state, grammar.bind(columns)) for state, grammar in zip(data.states, request.grammars, strict=True)],
        config=request.config,
        seed=request.seed,
        is_any_seed=is_any_seed,
        more={
            "plan": plan_as_plain(request.plan),
            **({} if request.own is None else {"own": list(request.own.names)}),
            **encode_system_units(request.units),
        },
        facts=facts,
    )


def resume_system(
    run: StoredRun,
    *,
    limits: Limits,
    n_jobs: int = 1,
    derivative: Method | None = None,
    watch: SystemWatcher | None = None,
    must_stop: Callable[[], bool] = lambda: False,
) -> SystemDiscovery:
    """Continue the run of a system from nothing but its file. Limits count from its first start."""
    if not isinstance(run.data, Trajectories):
        raise RunFileError(f"'{run.path}' holds the run of a regression.")
    for search in run.searches:
        check_no_stand_ins(search.grammar)
    request = SystemRequest(
        data=run.data,
        grammars=[search.grammar for search in run.searches],
        plan=stored_plan(run, derivative),
        config=run.config,
        limits=limits,
        n_jobs=n_jobs,
        seed=run.settings["seed"],
        own=OwnNames(tuple(run.settings["own"])) if "own" in run.settings else None,
        units=run.system_units,
    )
    return discover_system_in_file(run.path, request, watch=watch, must_stop=must_stop)


def load_system(run: StoredRun, plan: Plan) -> SystemDiscovery:
    """Return what a run found, as if it had just finished."""
    stored, searches = run.system, [search.discovery for search in run.searches]
    if stored is None or not isinstance(run.data, Trajectories):
        raise RunFileError(f"The run in '{run.path}' has no equations yet. Continue it: spl resume {run.path}")
    return SystemDiscovery(
        system=stored.system,
        standard_errors=stored.standard_errors,
        own_errors=stored.own_errors,
        chosen=stored.chosen,
        refined=None,
        searches=tuple(search for search in searches if search is not None),
        rows=replace(make_rows_of_system(run.data, plan, stored.system), noise=stored.noise),
        seconds=stored.seconds,
        notes=stored.notes,
        doubts=stored.doubts,
        units=run.system_units,
        is_interrupted=stored.is_interrupted,
    )


def stored_plan(run: StoredRun, derivative: Method | None = None) -> Plan:
    """Return how the trajectories of a run became rows; `derivative` is the user's function for derivatives, if the run used one."""
    plain = dict(run.settings["plan"])
    if plain["method"] == YOURS:
        if not callable(derivative):
            raise RunFileError(
                f"The run in '{run.path}' estimates derivatives with a function of yours, which no file can hold. Pass it again, "
                "from Python: SPLDynamics.from_run(path, derivative=...)."
            )
        plain["method"] = derivative
    return Plan(**plain)


def plan_as_plain(plan: Plan) -> dict[str, Any]:
    """Return how trajectories become rows, as JSON values."""
    method = YOURS if callable(plan.method) else plan.method
    plain = {"method": method, "order": plan.order, "is_discrete": plan.is_discrete}
    return plain | (
        {"is_implicit": True} if plan.is_implicit else {}
    )  # as in files from before there were such systems


def _is_over(run: RunFile, limits: Limits) -> bool:
    """Return whether a finished run has already had the time and the evaluations that it may have now."""
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
        "is_implicit": found.system.is_implicit,
        "standard_errors": [errors.tolist() for errors in found.standard_errors],
        "chosen": list(found.chosen),
        "noise": found.rows.noise.tolist(),
        "notes": list(found.notes),
        "doubts": list(found.doubts),
        "seconds": found.seconds,
        "is_interrupted": found.is_interrupted,
    } | _own_as_plain(found)


def _own_as_plain(found: SystemDiscovery) -> dict[str, Any]:
    """Return the own numbers of runs; nothing if there are none, as in files from before there were any."""
    if not found.system.own:
        return {}
    return {
        "own": [
            {"name": number.name, "values": list(number.values), "errors": list(errors)}
            for number, errors in zip(found.system.own, found.own_errors, strict=True)
        ]
    }
