"""The commands `spl show` and `spl resume`: show the run in a file, and continue it.

Slow imports are inside the functions, so that `spl --help` answers at once.
"""

import json
import math
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from spl.cli.grouped_output import GroupedResult, describe_groups, lines_of_groups
from spl.cli.options import check_jobs, cluster_option, compile_with_message, open_console, print_notes

if TYPE_CHECKING:
    from rich.console import Console

    from spl.data.trajectories import Trajectories
    from spl.display.results import FrontRow
    from spl.runs.reader import StoredRun, StoredSearch
    from spl.settings import Limits

LOOK_SECONDS = 1.0  # between two looks at a running search


# ---- show ----------------------------------------------------------------------------------------


@click.command()
@click.argument("file")
@click.option("--watch", is_flag=True, help="Follow a running search until it ends; Ctrl-C ends only the watching.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else.")
def show(file: str, watch: bool, is_json: bool) -> None:
    """Show the run in FILE: its status, its front, and how sure its formula is. Works during the run.

    \b
    Examples:
      spl show period.spl
      spl show period.spl --watch
      spl show period.spl --json | jq -r '.front[] | "\\(.cost) \\(.equation)"'
    """
    from spl.runs.facts import RUNNING
    from spl.runs.reader import read_run

    run = read_run(file)
    console = open_console()
    while watch and run.status == RUNNING:
        if not is_json:
            if console.is_terminal:
                console.clear()
            _print_run(run)
        try:
            time.sleep(LOOK_SECONDS)
        except KeyboardInterrupt:
            return
        before, run = run, read_run(file)
        while not console.is_terminal and run.status == RUNNING and _has_same_fronts(before, run):
            time.sleep(LOOK_SECONDS)
            run = read_run(file)
    if is_json:
        click.echo(json.dumps(describe_run(run), allow_nan=False))
    else:
        _print_run(run)


def _has_same_fronts(one: "StoredRun", two: "StoredRun") -> bool:
    return all(a.front == b.front for a, b in zip(one.searches, two.searches, strict=True))


def describe_run(run: "StoredRun") -> dict[str, Any]:
    """Return a run as `--json` prints it; numbers that JSON cannot represent are null."""
    from spl.display.units import describe_units
    from spl.runs.facts import REGRESSION

    searches = [_describe_search(run, search) for search in run.searches]
    found = searches[0] if run.kind == REGRESSION else {"states": searches, **_describe_system(run)}
    return {
        "file": str(run.path),
        "kind": run.kind,
        "status": run.status,
        "stopped": run.stopped,
        "seconds": run.seconds,
        "notes": list(run.notes),
        "units": describe_units(run.units),
        **found,
        "settings": dict(run.settings),
        "versions": dict(run.versions),
        **{name: run.facts.get(name) for name in ("began", "ended", "source", "fingerprint")},
    }


def _describe_search(run: "StoredRun", search: "StoredSearch") -> dict[str, Any]:
    from spl.cli.fit_output import describe_verdict, finite_or_none
    from spl.runs.facts import REGRESSION

    rows = _front_rows(run, search, digits=None)
    chosen = _choose(run, search)
    grouped = _grouped_result(run, search)
    validated = [
        {"validation_loss": finite_or_none(row.validation_loss)} if run.kind == REGRESSION else {} for row in rows
    ]
    verdict = None if search.discovery is None else search.discovery.held_out
    last = search.history[-1] if search.history else None
    return {
        "target": search.name,
        "equation": rows[chosen].equation if rows else None,
        "front": [
            {
                "equation": row.equation,
                "cost": row.cost,
                "loss": row.loss,
                "score": row.score,
                **more,
                "chosen": row.is_chosen,
            }
            for row, more in zip(rows, validated, strict=True)
        ],
        **({"validation": describe_verdict(verdict)} if run.kind == REGRESSION else {}),
        "episodes": last.n_episodes if last else 0,
        "evaluations": last.n_evaluations if last else 0,
        "rounds": last.n_rounds if last else 0,
        **_describe_noise(run, search),
        **(describe_groups(grouped) if grouped else _describe_how_sure(run, search)),
    }


def _grouped_result(run: "StoredRun", search: "StoredSearch") -> GroupedResult | None:
    """Return what was found for a table with groups; None for other runs, and before there is a formula."""
    from spl.data.dataset import Dataset

    if not run.groupings or search.discovery is None or not isinstance(run.data, Dataset):
        return None
    return GroupedResult(
        search.discovery,
        _choose(run, search),
        run.data,
        run.groupings,
        search.name,
        tuple(search.grammar.vocabulary.literals),
    )


def _front_rows(run: "StoredRun", search: "StoredSearch", *, digits: int | None) -> "list[FrontRow]":
    """Return the front of a search as rows of a table, with the losses on held-out rows, if there are any."""
    from spl.display.results import found_rows, front_rows

    chosen = _choose(run, search)
    if search.discovery is None:
        return front_rows(search.front, chosen, 0.0, digits=digits)
    return found_rows(search.discovery, chosen, digits=digits)


def _describe_how_sure(run: "StoredRun", search: "StoredSearch") -> dict[str, Any]:
    """Return numbers, rivals and residual checks of the formula of a table; None if they cannot be told. Nothing for a system."""
    from spl.cli.fit_output import describe_how_sure, judge_shapes
    from spl.display.shapes import describe_shapes
    from spl.runs.facts import REGRESSION
    from spl.runs.fit_rows import fit_rows_of

    if run.kind != REGRESSION:
        return {}
    fit = fit_rows_of(run)
    if fit is None or search.discovery is None:
        return {"numbers": None, "rivals": None, "residual_checks": None, "shapes": None}
    found, chosen = search.discovery, _choose(run, search)
    shapes = judge_shapes(run.knowledge, fit.rows, found, chosen)
    return {**describe_how_sure(found, chosen, fit), "shapes": describe_shapes(shapes)}


def _describe_noise(run: "StoredRun", search: "StoredSearch") -> dict[str, Any]:
    """Return the noise model and the outliers of a table; nothing for a system."""
    from spl.data.dataset import Dataset
    from spl.display.noise import find_places, plain_noise

    found = search.discovery
    if not isinstance(run.data, Dataset):
        return {}
    if found is None:
        return {"noise": None, "outliers": []}
    return {"noise": plain_noise(found.noise), "outliers": find_places(found.outliers, run.data)}


def _choose(run: "StoredRun", search: "StoredSearch") -> int:
    """Return the chosen row of the front; 0 if it is empty."""
    if run.system is not None:
        return run.system.chosen[run.searches.index(search)]
    if not len(search.front) or search.discovery is None:
        return 0
    return search.discovery.choose(run.facts.get("selection", "mdl"))


def _describe_system(run: "StoredRun") -> dict[str, Any]:
    """Return the equations of a system and their numbers, one entry per state; None before they are fitted."""
    from spl.display.systems import (
        describe_own_numbers,
        describe_system_numbers,
        describe_system_units,
        system_numbers,
    )
    from spl.formulas.rates import explicit_system

    if run.system is None:
        return {"equations": None, "numbers": None, "solved": None}
    system = run.system.system
    numbers = system_numbers(system, run.system.standard_errors, units=run.system_units)
    return {
        "equations": system.equations(),
        "numbers": [describe_system_numbers(of_state, run.system_units) for of_state in numbers],
        "solved": explicit_system(system).equations() if system.is_implicit else None,
        **describe_own_numbers(system, run.system.own_errors),
        **describe_system_units(run.system_units),
    }


def _print_run(run: "StoredRun") -> None:
    from spl.display.results import SHOWN_DIGITS, print_equation, print_front, print_lines
    from spl.display.systems import (
        equation_lines,
        left_side,
        own_number_lines,
        solved_lines,
        system_number_lines,
        unit_lines,
    )
    from spl.runs.facts import REGRESSION

    console = open_console()
    print_lines(console, _heading(run))
    if run.system is not None:
        system = run.system.system
        print_lines(console, ["", *equation_lines(system), *solved_lines(system), ""], style="bold")
        print_lines(console, [line for text in unit_lines(run.system_units) for line in (text, "")])
        qualities = [""] * len(system.states)
        print_lines(console, system_number_lines(system, run.system.standard_errors, qualities, run.system_units))
        print_lines(console, own_number_lines(system, run.system.own_errors))
        return
    for search in run.searches:
        chosen = _choose(run, search)
        plan = run.settings.get("plan", {})
        target = search.name
        if run.kind != REGRESSION:
            target = left_side(search.name, plan["order"], plan["is_discrete"])
        print_lines(console, [""])
        if not len(search.front):
            print_lines(console, [f"{target}: nothing found yet."])
            continue
        print_front(console, _front_rows(run, search, digits=SHOWN_DIGITS))
        print_lines(console, [""])
        print_equation(console, target, search.front, chosen)
        if grouped := _grouped_result(run, search):
            print_lines(console, lines_of_groups(grouped))
        else:
            _print_how_sure(console, run, search)
        _print_noise(console, run, search)


def _print_how_sure(console: "Console", run: "StoredRun", search: "StoredSearch") -> None:
    """Print the numbers with standard errors, the rivals, and doubtful residuals of the formula of a table."""
    from spl.cli.fit_output import (
        lines_of_doubts,
        lines_of_numbers,
        lines_of_parts,
        lines_of_shapes,
        lines_of_units,
        rivals_of_formula,
    )
    from spl.display.results import print_lines
    from spl.display.rivals import rival_lines
    from spl.runs.facts import REGRESSION
    from spl.runs.fit_rows import OWN_FUNCTIONS, fit_rows_of
    from spl.runs.regression import stored_form

    if run.kind != REGRESSION or search.discovery is None:
        return
    found, chosen, fit = search.discovery, _choose(run, search), fit_rows_of(run)
    print_lines(console, lines_of_units(run.units, search.name))
    if fit is None:
        print_lines(console, ["", OWN_FUNCTIONS])
        return
    rivals = rivals_of_formula(found, chosen, fit)
    print_lines(console, lines_of_parts(found, chosen, stored_form(run), fit.rows))
    print_lines(console, lines_of_numbers(found, chosen, fit))
    print_lines(console, lines_of_shapes(run.knowledge, fit.rows, found, chosen))
    print_lines(console, [] if rivals is None else ["", *rival_lines(rivals, fit.measured_names)])
    print_lines(console, lines_of_doubts(found, chosen, fit))


def _print_noise(console: "Console", run: "StoredRun", search: "StoredSearch") -> None:
    from spl.data.dataset import Dataset
    from spl.display.noise import noise_line, outliers_line
    from spl.display.results import print_lines

    if not isinstance(run.data, Dataset) or search.discovery is None:
        return
    lines = [noise_line(search.discovery.noise, run.data), outliers_line(search.discovery.outliers, run.data)]
    if any(lines):
        print_lines(console, ["", *filter(None, lines)])


def _heading(run: "StoredRun") -> list[str]:
    """Return the lines that describe a run and its status."""
    from spl.data.dataset import Dataset
    from spl.display.results import STOPPED
    from spl.errors import count_noun

    data, limits = run.data, run.settings["limits"]
    if isinstance(data, Dataset):
        about = f"{run.searches[0].name} by {', '.join(run.measured_names)}; {count_noun(data.n_rows, 'row')}"
    else:
        samples = f"{count_noun(data.n_samples, 'sample')} in {count_noun(len(data.runs), 'run')}"
        about = f"the system of {', '.join(data.states)}; {samples}"
    source = f" of {run.facts['source']}" if run.facts.get("source") else ""
    n_evaluations = sum(search.history[-1].n_evaluations for search in run.searches if search.history)
    limit = "no time limit" if limits["timeout"] is None else f"limit {limits['timeout']:g} s"
    why = f": {STOPPED.get(run.stopped, run.stopped)}" if run.stopped else ""
    remedy = f" Continue it: spl resume {run.path}" if run.status in ("died", "interrupted") else ""
    return [
        f"{run.path}: {about}{source}.",
        f"Began {run.facts['began']}, seed {run.settings['seed']}, {limit}; {run.seconds:.1f} s, {n_evaluations:,} evaluations.",
        f"{run.status.capitalize()}{why}.{remedy}",
        *(f"Note: {note}" for note in run.notes),
    ]


# ---- resume --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeOptions:
    """The argument and the options of `spl resume`, by name."""

    file: str
    timeout: float | None
    jobs: int
    cluster: int | None  # threads of the cluster, which has been connected to
    is_json: bool
    quiet: bool

    @property
    def n_jobs(self) -> int:
        """How many trees grow at once."""
        return self.cluster or self.jobs


@click.command()
@click.argument("file")
@click.option(
    "--timeout", type=float, metavar="SECONDS", help="Time limit from now on; inf for no limit. [default: see above]"
)
@click.option(
    "--jobs", default=1, show_default=True, callback=check_jobs, metavar="N", help="Threads; -1 for all cores."
)
@cluster_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("--quiet", is_flag=True, help="Print only the equation.")
def resume(**given: Any) -> None:
    """Continue the run in FILE, whatever ended it: a limit, Ctrl-C, a crash. Nothing but the file is needed.

    Without --timeout the run gets what is left of its time limit; if nothing is left, the same time again. The search
    continues as if it had never stopped: the same seed gives the same front.

    \b
    Examples:
      spl resume period.spl
      spl resume period.spl --timeout 600 --jobs 2
    """
    from spl.data.dataset import Dataset
    from spl.runs.reader import read_run

    options = ResumeOptions(**given)
    run = read_run(options.file)
    compile_with_message(is_silent=options.is_json or options.quiet)
    if isinstance(run.data, Dataset):
        _resume_search(run, options)
    else:
        _resume_system(run, run.data, options)


def extend_limits(run: "StoredRun", seconds: float | None) -> "tuple[Limits, int | None]":
    """Return the limits, counted from the start of the run, with which it continues for some seconds, and its schedules.

    A limit that ended the run is granted once more. Without seconds, the rest of the time limit remains.
    """
    from spl.settings import Limits, check_number

    before, most = Limits(**run.settings["limits"]), run.config.max_schedules
    timeout, max_evaluations = before.timeout, before.max_evaluations
    if seconds is not None:
        check_number("timeout", seconds if seconds < math.inf else 1.0, above=0.0)
        timeout = None if seconds == math.inf else run.seconds + seconds
    elif run.stopped in ("timeout", "done") and timeout is not None:
        timeout = 2 * timeout
    if run.stopped in ("evaluations", "done") and max_evaluations is not None:
        max_evaluations *= 2
    if run.stopped == "schedules" and most is not None:
        most *= 2
    return Limits(timeout=timeout, max_evaluations=max_evaluations), most


def _resume_search(run: "StoredRun", options: ResumeOptions) -> None:
    from spl.cli.fit_output import search_and_print
    from spl.runs.regression import discover_in_file, stored_request

    limits, max_schedules = extend_limits(run, options.timeout)
    request = stored_request(run, limits=limits, max_schedules=max_schedules, n_jobs=options.n_jobs)
    search_and_print(
        partial(discover_in_file, run.path),
        request,
        selection=run.facts.get("selection", "mdl"),
        is_json=options.is_json,
        is_quiet=options.quiet,
    )


def _resume_system(run: "StoredRun", data: "Trajectories", options: ResumeOptions) -> None:
    from spl.cli.dynamics import judge_system, open_system_progress, print_system, print_system_json
    from spl.dynamics.own_system import with_own_columns
    from spl.runs.dynamics import resume_system, stored_plan

    plan = stored_plan(run)
    limits, _ = extend_limits(run, options.timeout)
    with open_system_progress(data, plan, limits.timeout, is_json=options.is_json, is_quiet=options.quiet) as watch:
        found = resume_system(run, limits=limits, n_jobs=options.n_jobs, watch=watch)
    print_notes(found.notes)
    data = with_own_columns(data, found.system)
    judged = judge_system(found, data, [search.grammar for search in run.searches], limits.timeout)
    if options.is_json:
        print_system_json(found, data, run.settings["seed"], judged)
    else:
        print_system(found, data, plan, is_quiet=options.quiet, judged=judged)
