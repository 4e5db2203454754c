"""The command `spl dynamics`: a table of trajectories in, the equations of the system out. It holds no method.

Whatever is slow to import is imported inside, so that `spl --help` answers at once.
"""

import json
import math
import os
from functools import partial
from typing import TYPE_CHECKING

import click

from spl.cli.options import (
    check_grammar_options,
    check_jobs,
    check_seed,
    cluster_option,
    compile_kernels,
    missing_option,
    open_console,
    print_notes,
    read_grammar,
    split_names,
)
from spl.settings import TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from spl.data.trajectories import Trajectories
    from spl.dynamics.discover import SystemDiscovery, SystemWatcher
    from spl.dynamics.rows import Plan

AUTO = "auto"
WEAK = "weak"


@click.command()
@click.argument("data")
@click.option("--time", required=True, metavar="COLUMN", help="The column of times; they need not be even.")
@click.option("--states", callback=split_names, metavar="A,B,...", help="Columns of states. [default: all others]")
@click.option("--inputs", callback=split_names, metavar="A,B,...", help="Columns that drive the system from outside.")
@click.option("--group", metavar="COLUMN", help="A column, numbers or text, that tells the runs apart.")
@missing_option
@click.option("--weak", is_flag=True, help="Means against test functions instead of derivatives, against strong noise.")
@click.option(
    "--derivative",
    default=AUTO,
    show_default=True,
    metavar="NAME",
    help="How derivatives are estimated: auto (by the noise), finite_difference, savgol or spline.",
)
@click.option(
    "--order", default=1, show_default=True, metavar="1|2", help="2: states are positions; finds accelerations."
)
@click.option("--discrete", is_flag=True, help="The system is a map: each sample gives the next.")
@click.option("--operators", metavar="LIST", help='For example "+,-,*,/,sin". `spl operators` lists them all.')
@click.option("--no-constants", is_flag=True, help="Equations without constants to be fitted.")
@click.option("--grammar", "grammar_file", metavar="FILE", help="Rules of the right-hand sides, instead of operators.")
@click.option(
    "--timeout",
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Total time limit in seconds; inf for no limit.",
)
@click.option(
    "--max-evaluations", type=int, metavar="N", help="Most formulas to try, for all states. [default: no limit]"
)
@click.option("--jobs", default=1, show_default=True, callback=check_jobs, metavar="N", help="Threads; -1: all cores.")
@cluster_option
@click.option("--seed", default=0, show_default=True, callback=check_seed, metavar="N", help="Of random choices.")
@click.option("--run", metavar="FILE", help="Keep the run in FILE; if it is there already, continue it.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("--quiet", is_flag=True, help="Print only the equations.")
@click.option("--plot", metavar="FILE", help="Draw data, simulation and phase portrait into a .png, .pdf or .svg.")
def dynamics(
    data: str,
    time: str,
    states: tuple[str, ...] | None,
    inputs: tuple[str, ...] | None,
    group: str | None,
    missing: tuple[str, ...],
    weak: bool,
    derivative: str,
    order: int,
    discrete: bool,
    operators: str | None,
    no_constants: bool,
    grammar_file: str | None,
    timeout: float,
    max_evaluations: int | None,
    jobs: int,
    cluster: int | None,
    seed: int,
    run: str | None,
    is_json: bool,
    quiet: bool,
    plot: str | None,
) -> None:
    """Find the governing equations of a system from measured trajectories.

    DATA is a file as for `spl fit`, one row per sample; - reads CSV from standard input. Rows of one run are in the order
    of time. Times may be dates; they are then counted in seconds from the first. Rows with missing values are left out,
    with a note, and runs are split where many are missing.

    Each equation is searched in turn; then all are fitted together to the trajectories, and every number gets a
    standard error. Ctrl-C ends the search with the best so far, with status 0 and the word "interrupted".

    \b
    Examples:
      spl dynamics lorenz.csv --time t --states x,y,z
      spl dynamics runs.csv --time t --states angle --order 2 --group run --operators "+,*,sin"
      spl dynamics cart.csv --time t --states x,v --inputs force --weak --json | jq .equations
    """
    _check_combinations(weak, derivative, discrete)
    check_grammar_options(grammar_file, operators, no_constants)
    from spl.data.table_files import read_table
    from spl.data.trajectory_files import prepare_trajectories
    from spl.dynamics.rows import Plan
    from spl.plots.style import check_plot
    from spl.settings import Limits

    plan = Plan(method=WEAK if weak else derivative, order=order, is_discrete=discrete)
    limits = Limits(timeout=None if timeout == math.inf else timeout, max_evaluations=max_evaluations)
    if plot is not None:
        check_plot(plot)
    table = read_table(data, missing)
    runs, _ = prepare_trajectories(table, time=time, states=states, inputs=inputs or (), group=group)
    grammar = read_grammar(runs.columns(order), grammar_file, operators, has_constants=not no_constants)
    print_notes(runs.notes)

    from spl.dynamics.discover import discover_system
    from spl.runs.dynamics import discover_system_in_file

    compile_kernels()
    search: Callable[..., SystemDiscovery] = discover_system
    if run is not None:
        search = partial(discover_system_in_file, run, facts={"source": None if data == "-" else os.path.abspath(data)})
    with open_system_progress(runs, plan, limits.timeout, is_json=is_json, is_quiet=quiet) as watch:
        found = search(
            runs,
            [grammar] * len(runs.states),
            plan=plan,
            timeout=limits.timeout,
            max_evaluations=limits.max_evaluations,
            n_jobs=cluster or jobs,
            seed=seed,
            watch=watch,
        )
    print_notes(found.notes[len(runs.notes) :])
    if is_json:
        _print_json(found, runs, seed)
    else:
        print_system(found, runs, plan, is_quiet=quiet)
    if plot is not None:
        _draw(found, runs, plot, is_quiet=quiet or is_json)


def _check_combinations(weak: bool, derivative: str, discrete: bool) -> None:
    if weak and derivative not in (AUTO, WEAK):
        raise click.UsageError(f"--weak needs no derivatives: it cannot be combined with --derivative {derivative}.")
    if discrete and (weak or derivative != AUTO):
        raise click.UsageError("A map has no derivatives: --discrete cannot be combined with --weak or --derivative.")


def open_system_progress(
    runs: "Trajectories", plan: "Plan", timeout: float | None, *, is_json: bool, is_quiet: bool
) -> "AbstractContextManager[SystemWatcher | None]":
    """Return what shows the progress: live tables on a terminal, lines elsewhere, nothing beside JSON."""
    from contextlib import nullcontext

    from spl.display.progress import SystemDisplay, is_live
    from spl.display.systems import left_side

    console = open_console(is_error=is_json)
    if is_quiet or (is_json and not is_live(console)):
        return nullcontext()
    left_sides = {state: left_side(state, plan.order, plan.is_discrete) for state in runs.states}
    return SystemDisplay(console, left_sides, timeout=timeout)


def _print_json(found: "SystemDiscovery", runs: "Trajectories", seed: int) -> None:
    from spl.display.systems import describe_system

    click.echo(json.dumps(describe_system(found, runs, found.notes, seed), allow_nan=False))


def print_system(found: "SystemDiscovery", runs: "Trajectories", plan: "Plan", *, is_quiet: bool) -> None:
    """Print the equations of a system, and unless it is to be quiet, how good they are."""
    from spl.display.results import print_lines
    from spl.display.systems import equation_lines, method_line, quality_lines, summary_lines

    console = open_console()
    if is_quiet:
        print_lines(console, equation_lines(found.system))
        if found.is_interrupted:
            click.echo("Note: interrupted; this is the best so far.", err=True)
        return
    print_lines(console, ["", method_line(runs, found.rows, plan), ""])
    print_lines(console, equation_lines(found.system), style="bold")
    print_lines(console, ["", *quality_lines(found), "", *summary_lines(found, runs)])


def _draw(found: "SystemDiscovery", runs: "Trajectories", plot: str, *, is_quiet: bool) -> None:
    from spl.plots.style import save_figure
    from spl.plots.systems import plot_system

    save_figure(plot_system(found.system, runs, found.rows), plot)
    if not is_quiet:
        click.echo(f"The plot is in {plot}.")
