"""The command `spl dynamics`: a table of trajectories in, the equations of the system out. It holds no method.

Slow imports are inside functions, so that `spl --help` answers at once.
"""

import json
import math
import os
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from spl.cli.options import (
    check_grammar_options,
    check_jobs,
    check_seed,
    cluster_option,
    compile_with_message,
    missing_option,
    open_console,
    print_notes,
    read_grammar,
    split_names,
)
from spl.cli.unit_options import check_constants, read_system_unit_options, system_unit_options
from spl.settings import TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from spl.data.trajectories import Trajectories
    from spl.dynamics.discover import SystemDiscovery
    from spl.dynamics.identifiability import Identifiability
    from spl.dynamics.request import SystemRequest
    from spl.dynamics.rows import Plan
    from spl.dynamics.state_searches import SystemWatcher
    from spl.dynamics.trajectory_draws import SimulationDraws
    from spl.formulas.grammar import Grammar

AUTO_METHOD = "auto"
WEAK_METHOD = "weak"
LEAST_DRAWS = 2
LEAST_JUDGE_SECONDS, MOST_JUDGE_SECONDS = 2.0, 60.0  # for rivals: they usually take less than a second
IMPLICIT_CHOICES: "dict[str, bool | str]" = {"no": False, "yes": True, "auto": "auto"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicsOptions:
    """The options of `spl dynamics`."""

    data: str
    time: str
    states: tuple[str, ...] | None
    inputs: tuple[str, ...] | None
    group: str | None
    missing: tuple[str, ...]
    weak: bool
    derivative: str
    order: int
    discrete: bool
    implicit: bool | str
    own: tuple[str, ...] | None
    operators: str | None
    no_constants: bool
    grammar_file: str | None
    units: dict[str, str] | str | None
    time_unit: str | None
    known: dict[str, str] | None
    constants: str
    timeout: float
    max_evaluations: int | None
    jobs: int
    cluster: int | None  # how many threads it has
    seed: int
    run: str | None
    is_json: bool
    quiet: bool
    plot: str | None
    draws: int | None

    def check(self) -> None:
        """Raise a clear error if options contradict each other."""
        if self.weak and self.derivative not in (AUTO_METHOD, WEAK_METHOD):
            raise click.UsageError(
                f"--weak needs no derivatives: it cannot be combined with --derivative {self.derivative}."
            )
        if self.discrete and (self.weak or self.derivative != AUTO_METHOD):
            raise click.UsageError(
                "A map has no derivatives: --discrete cannot be combined with --weak or --derivative."
            )
        check_grammar_options(self.grammar_file, self.operators, self.no_constants)
        check_constants(self.constants, no_constants=self.no_constants)
        if self.draws is not None and (self.plot is None or self.draws < LEAST_DRAWS):
            raise click.UsageError(
                f"--draws takes a number, {LEAST_DRAWS} or more, of simulations that make a band in the plot: add --plot FILE."
            )


def _read_implicit(_: click.Context, __: click.Parameter, value: str) -> bool | str:
    """Return whether rates may appear on both sides; "auto" if the data decides."""
    if value not in IMPLICIT_CHOICES:
        raise click.BadParameter(
            f"It takes auto, yes or no; got {value!r}. Without a value, it means yes: put it behind the file, or write --implicit=yes."
        )
    return IMPLICIT_CHOICES[value]


@click.command()
@click.argument("data")
@click.option("--time", required=True, metavar="COLUMN", help="Column of times; they need not be evenly spaced.")
@click.option("--states", callback=split_names, metavar="A,B,...", help="Columns of states. [default: all others]")
@click.option("--inputs", callback=split_names, metavar="A,B,...", help="Columns of inputs that drive the system.")
@click.option("--group", metavar="COLUMN", help="Column, of numbers or text, that identifies the run of each row.")
@missing_option
@click.option("--weak", is_flag=True, help="Use means against test functions instead of derivatives: for strong noise.")
@click.option(
    "--derivative",
    default=AUTO_METHOD,
    show_default=True,
    metavar="NAME",
    help="Method for derivatives: auto (chosen by the data), finite_difference, savgol, spline, or flow for samples far apart.",
)
@click.option(
    "--order", default=1, show_default=True, metavar="1|2", help="2: states are positions; find accelerations."
)
@click.option("--discrete", is_flag=True, help="The system is a map: each sample gives the next.")
@click.option(
    "--implicit",
    is_flag=False,
    flag_value="yes",
    default="no",
    callback=_read_implicit,
    metavar="[auto]",
    help="Rates of other states, such as x', may appear in an equation and in the grammar; with auto, if the data needs them.",
)
@click.option(
    "--own",
    callback=split_names,
    metavar="auto|A,B,...",
    help="Numbers may differ between runs; with auto, the data decides how many. Names are given to as many at most.",
)
@click.option("--operators", metavar="LIST", help='For example "+,-,*,/,sin". `spl operators` lists them all.')
@click.option("--no-constants", is_flag=True, help="Equations without fitted constants.")
@click.option(
    "--grammar", "grammar_file", metavar="FILE", help="Grammar of the right-hand sides, instead of operators."
)
@system_unit_options
@click.option(
    "--timeout",
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Total time limit in seconds; inf for no limit.",
)
@click.option(
    "--max-evaluations",
    type=int,
    metavar="N",
    help="Most formulas to try, for all states together. [default: no limit]",
)
@click.option(
    "--jobs", default=1, show_default=True, callback=check_jobs, metavar="N", help="Threads; -1 for all cores."
)
@cluster_option
@click.option("--seed", default=0, show_default=True, callback=check_seed, metavar="N", help="Random seed.")
@click.option("--run", metavar="FILE", help="Keep the run in FILE; continue it if the file exists.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("--quiet", is_flag=True, help="Print only the equations.")
@click.option("--plot", metavar="FILE", help="Plot data, simulation and phase portrait to a .png, .pdf or .svg file.")
@click.option(
    "--draws",
    type=int,
    metavar="N",
    help="Band in the plot from N simulations with other numbers that the data allows, such as 100. [default: no band]",
)
def dynamics(**options: Any) -> None:
    """Find the governing equations of a system from measured trajectories.

    DATA is a file as for `spl fit`, with one row per sample; - reads CSV from standard input. The rows of a run are in
    order of time. Times may be dates; they are then counted in seconds from the first. Rows with missing values are left
    out, with a note, and runs are split where many are missing.

    Each equation is searched in turn; then all are fitted together to the trajectories, and every number gets a
    standard error. At the end, terms are exchanged for others: if other simple equations fit as well, they are listed, with
    what would help. Ctrl-C ends the search with the best so far, with status 0 and the word "interrupted".

    \b
    Examples:
      spl dynamics lorenz.csv --time t --states x,y,z
      spl dynamics runs.csv --time t --states angle --order 2 --group run --operators "+,*,sin"
      spl dynamics cart.csv --time t --states x,v --inputs force --weak --json | jq .equations
      spl dynamics arm.csv --time t --states q1,q2 --order 2 --implicit --grammar lagrange.txt
      spl dynamics runs.csv --time t --states x,v --group spring --own auto
      spl dynamics arm.csv --time t --implicit auto --operators "+,-,*,sin,cos"
    """
    from spl.dynamics.own_system import with_own_columns

    given = DynamicsOptions(**options)
    given.check()
    request = _read_request(given)
    print_notes(request.data.notes)
    compile_with_message(is_silent=given.is_json or given.quiet)
    found = _search(given, request)
    print_notes(found.notes[len(request.data.notes) :])
    request = replace(request, data=with_own_columns(request.data, found.system), own=None)
    judged = judge_system(found, request.data, request.grammars, request.limits.timeout)
    if given.is_json:
        print_system_json(found, request.data, given.seed, judged)
    else:
        print_system(found, request.data, request.plan, is_quiet=given.quiet, judged=judged)
    if given.plot is not None:
        _draw(given, request, found)


def _read_request(given: DynamicsOptions) -> "SystemRequest":
    """Check the settings and read the files."""
    from spl.data.table_files import read_table
    from spl.data.trajectory_files import prepare_trajectories
    from spl.dynamics.own_names import OwnNames
    from spl.dynamics.request import SystemRequest, add_known_inputs
    from spl.dynamics.rows import AUTO_RATES, Plan, allows_rates
    from spl.plots.style import check_plot
    from spl.settings import Limits

    method = WEAK_METHOD if given.weak else given.derivative
    is_implicit = allows_rates(given.implicit, method, is_discrete=given.discrete)
    plan = Plan(method=method, order=given.order, is_discrete=given.discrete, is_implicit=is_implicit)
    timeout = None if given.timeout == math.inf else given.timeout
    limits = Limits(timeout=timeout, max_evaluations=given.max_evaluations)
    if given.plot is not None:
        check_plot(given.plot)
    table = read_table(given.data, given.missing)
    runs, _ = prepare_trajectories(
        table, time=given.time, states=given.states, inputs=given.inputs or (), group=given.group
    )
    units = read_system_unit_options(given.units, given.time_unit, given.known, given.constants, runs, plan)
    runs = add_known_inputs(runs, units)
    return SystemRequest(
        data=runs,
        grammars=_read_grammars(given, runs, plan),
        plan=plan,
        limits=limits,
        n_jobs=given.cluster or given.jobs,
        seed=given.seed,
        may_drop_rates=plan.is_implicit and given.implicit == AUTO_RATES,
        own=None if given.own is None else OwnNames.read(given.own[0] if len(given.own) == 1 else given.own),
        units=units,
    )


def _read_grammars(given: DynamicsOptions, runs: "Trajectories", plan: "Plan") -> "list[Grammar]":
    """Return the grammar of each state: the same for all, except that none has the rate that its equation gives."""
    from spl.dynamics.implicit import share_grammar
    from spl.formulas.system import rate_names

    columns = runs.columns(plan.order)
    names = columns + (rate_names(runs.states, plan.order) if plan.is_implicit else ())
    grammar = read_grammar(names, given.grammar_file, given.operators, has_constants=not given.no_constants)
    if plan.is_implicit:
        return share_grammar(grammar, runs.states, plan.order, columns)
    return [grammar] * len(runs.states)


def _search(given: DynamicsOptions, request: "SystemRequest") -> "SystemDiscovery":
    """Search, and show the progress; in a run file if one is given."""
    from spl.dynamics.discover import discover_system
    from spl.runs.dynamics import discover_system_in_file

    search: Callable[..., SystemDiscovery] = discover_system
    if given.run is not None:
        source = None if given.data == "-" else os.path.abspath(given.data)
        search = partial(discover_system_in_file, given.run, facts={"source": source})
    timeout, quiet = request.limits.timeout, given.quiet
    with open_system_progress(request.data, request.plan, timeout, is_json=given.is_json, is_quiet=quiet) as watch:
        return search(request, watch=watch)


def open_system_progress(
    runs: "Trajectories", plan: "Plan", timeout: float | None, *, is_json: bool, is_quiet: bool
) -> "AbstractContextManager[SystemWatcher | None]":
    """Return a display of the progress: live tables on a terminal, lines elsewhere, nothing with JSON."""
    from contextlib import nullcontext

    from spl.display.progress import SystemDisplay, is_live
    from spl.display.systems import left_side

    console = open_console(is_error=is_json)
    if is_quiet or (is_json and not is_live(console)):
        return nullcontext()
    left_sides = {state: left_side(state, plan.order, plan.is_discrete) for state in runs.states}
    return SystemDisplay(console, left_sides, timeout=timeout)


def judge_system(
    found: "SystemDiscovery", runs: "Trajectories", grammars: "Sequence[Grammar]", timeout: float | None
) -> "Identifiability | None":
    """Return whether other equations fit as well, from the time that is left; None if that is unknown, or the run is interrupted."""
    from spl.dynamics.identifiability import judge_discovery

    if found.is_interrupted:
        return None
    seconds = MOST_JUDGE_SECONDS if timeout is None else min(timeout - found.seconds, MOST_JUDGE_SECONDS)
    try:
        return judge_discovery(found, runs, grammars, max(seconds, LEAST_JUDGE_SECONDS))
    except KeyboardInterrupt:
        return None


def print_system_json(
    found: "SystemDiscovery", runs: "Trajectories", seed: int, judged: "Identifiability | None"
) -> None:
    """Print the equations of a system, how good they are and whether others fit as well, as one JSON object."""
    from spl.display.identifiability import describe_identifiability
    from spl.display.systems import describe_system

    described = describe_system(found, runs, found.notes, seed)
    click.echo(json.dumps(described | {"identifiability": describe_identifiability(judged)}, allow_nan=False))


def print_system(
    found: "SystemDiscovery",
    runs: "Trajectories",
    plan: "Plan",
    *,
    is_quiet: bool,
    judged: "Identifiability | None" = None,
) -> None:
    """Print the equations of a system, and unless `is_quiet`, how good they are and whether others fit as well."""
    from spl.display.identifiability import identifiability_lines
    from spl.display.results import print_lines
    from spl.display.systems import (
        equation_lines,
        method_line,
        own_number_lines,
        quality_lines,
        solved_lines,
        summary_lines,
        unit_lines,
    )

    console = open_console()
    if is_quiet:
        print_lines(console, [*equation_lines(found.system), *own_number_lines(found.system, found.own_errors)])
        if found.is_interrupted:
            click.echo("Note: interrupted; this is the best so far.", err=True)
        print_notes(judged.reasons[:1] if judged is not None and not judged.is_unique else ())
        return
    print_lines(console, ["", method_line(runs, found.rows, plan), ""])
    print_lines(console, [*equation_lines(found.system), *solved_lines(found.system)], style="bold")
    print_lines(console, [line for text in unit_lines(found.units) for line in ("", text)])
    print_lines(console, ["", *quality_lines(found), ""])
    if found.system.own:
        print_lines(console, [*own_number_lines(found.system, found.own_errors), ""])
    if judged is not None:
        print_lines(console, [*identifiability_lines(judged), ""])
    print_lines(console, summary_lines(found, runs))


def _draw(given: DynamicsOptions, request: "SystemRequest", found: "SystemDiscovery") -> None:
    from spl.plots.style import save_figure
    from spl.plots.systems import plot_system

    plot = given.plot or ""
    save_figure(plot_system(found.system, request.data, found.rows, _draw_band(given, request, found)), plot)
    if not (given.quiet or given.is_json):
        click.echo(f"The plot is in {plot}.")


def _draw_band(given: DynamicsOptions, request: "SystemRequest", found: "SystemDiscovery") -> "SimulationDraws | None":
    """Return the draws of a simulation of the first run, if they are asked for."""
    import numpy as np

    from spl.dynamics.followed_system import FollowedSystem
    from spl.dynamics.trajectory_draws import draw_trajectories

    if given.draws is None:
        return None
    followed = FollowedSystem.of(found, request.data, request.grammars)
    run, rng = request.data.runs[0], np.random.default_rng(given.seed)
    driving = found.system.driving_inputs
    inputs = run.u[:, : len(driving)] if driving else None
    label = found.system.run_labels[run.experiment] if found.system.own else ""
    start = found.rows.starts[0][0]
    band = draw_trajectories(followed, start, run.t, inputs, n_draws=given.draws, rng=rng, run=label)
    if band.n_ended:
        print_notes([f"{band.n_ended} of {given.draws} draws diverge or leave the domain of an equation."])
    return band
