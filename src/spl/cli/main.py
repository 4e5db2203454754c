"""The command `spl`: reads files and options, calls the pipeline, prints. It holds no method.

Whatever is slow to import is imported inside the commands, so that `spl --help` answers at once. Mistakes of users end
with one line on standard error and status 2.
"""

import math
import os
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from spl.bench.commands import bench
from spl.cli.dynamics import dynamics
from spl.cli.export import export
from spl.cli.fit_output import open_progress, print_found
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
from spl.cli.report import report
from spl.cli.runs import resume, show
from spl.errors import SplError
from spl.settings import TIMEOUT
from spl.web.commands import studio, watch

USER_MISTAKE = 2  # exit status


class CommandError(click.ClickException):
    """A mistake of the user, shown as one line."""

    exit_code = USER_MISTAKE


class Commands(click.Group):
    """Commands whose errors are shown as lines, never as tracebacks."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except SplError as error:
            raise CommandError(str(error)) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="symbolic-physics-learner", prog_name="spl")
def main() -> None:
    """Symbolic Physics Learner: give it a table or trajectories, it gives back the equation.

    \b
    Examples:
      spl demo                         find the equations of a chaotic system
      spl fit data.csv --target y      find a formula for the column y
      spl dynamics run.csv --time t    find the equations of a system
      spl studio                       the same in a browser
      spl bench nguyen --seeds 0-1     rerun the experiments of the paper
      spl COMMAND --help               all about one command
    """


main.add_command(bench)
main.add_command(studio)
main.add_command(watch)
main.add_command(dynamics)
main.add_command(export)
main.add_command(report)
main.add_command(show)
main.add_command(resume)


# ---- fit -----------------------------------------------------------------------------------------


@main.command()
@click.argument("data")
@click.option("--target", required=True, metavar="COLUMN", help="The column to find a formula for.")
@click.option("--features", callback=split_names, metavar="A,B,...", help="Columns to use. [default: all others]")
@click.option("--operators", metavar="LIST", help='For example "+,-,*,/,sin". `spl operators` lists them all.')
@click.option("--no-constants", is_flag=True, help="Formulas without constants to be fitted.")
@click.option("--grammar", "grammar_file", metavar="FILE", help="Rules of the formulas, instead of operators.")
@click.option(
    "--selection",
    default="mdl",
    show_default=True,
    metavar="RULE",
    help="Which formula of the front is chosen: mdl (shortest description), bic, accurate (lowest loss) or knee.",
)
@click.option("--timeout", default=TIMEOUT, show_default=True, metavar="SECONDS", help="Time limit; inf is none.")
@click.option("--max-evaluations", type=int, metavar="N", help="Most formulas to try. [default: no limit]")
@click.option("--jobs", default=1, show_default=True, callback=check_jobs, metavar="N", help="Threads; -1: all cores.")
@cluster_option
@click.option(
    "--trees",
    default=2,
    show_default=True,
    metavar="N",
    help="Independent searches that share what they find; more jobs than trees have nothing to do.",
)
@click.option("--seed", default=0, show_default=True, callback=check_seed, metavar="N", help="Of random choices.")
@click.option("--weights", metavar="COLUMN", help="A column that says how much each row counts.")
@missing_option
@click.option("--run", metavar="FILE", help="Keep the run in FILE; if it is there already, continue it.")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("--quiet", is_flag=True, help="Print only the equation.")
def fit(
    data: str,
    target: str,
    features: tuple[str, ...] | None,
    operators: str | None,
    no_constants: bool,
    grammar_file: str | None,
    selection: str,
    timeout: float,
    max_evaluations: int | None,
    jobs: int,
    cluster: int | None,
    trees: int,
    seed: int,
    weights: str | None,
    missing: tuple[str, ...],
    run: str | None,
    is_json: bool,
    quiet: bool,
) -> None:
    """Find a formula for one column of a table by the others.

    DATA is a file: .csv or .txt (comma, semicolon or tab between columns), .tsv or .tab, each also gzipped as .gz,
    .parquet or .xlsx; - reads CSV from standard input. The first line holds the names of the columns; units below it and
    lines that begin with # are skipped. Columns of text and rows with missing values are left out, with a note. Dates
    become seconds since the first. Text in a column of numbers is an error that names the line, unless it is a usual
    mark for a missing value, such as NA or -, or listed in --missing.

    The best formula of each complexity is shown while the search goes on. Ctrl-C ends it with the best so far, which is
    printed as usual, with status 0 and the word "interrupted". With --run nothing is lost whatever happens: `spl show`
    looks at the run while it goes on, `spl resume` continues it.

    \b
    Examples:
      spl fit planets.csv --target period
      spl fit planets.csv --target period --timeout 3600 --run period.spl
      spl fit planets.csv --target period --features mass,distance --operators "*,/,sqrt"
      cat planets.csv | spl fit - --target period --json | jq -r .equation
    """
    check_grammar_options(grammar_file, operators, no_constants)
    from spl.data.column_choice import prepare_dataset
    from spl.data.table_files import read_table
    from spl.regression.front import check_selection
    from spl.settings import Limits, SearchConfig

    check_selection(selection)
    config = SearchConfig(n_trees=trees)
    limits = Limits(timeout=None if timeout == math.inf else timeout, max_evaluations=max_evaluations)
    table = read_table(data, missing)
    dataset, notes = prepare_dataset(table, target=target, features=features, weights=weights)
    grammar = read_grammar(dataset.names, grammar_file, operators, has_constants=not no_constants)
    print_notes(notes)

    from spl.regression.discover import Discovery, discover
    from spl.regression.front import Front
    from spl.runs.regression import discover_in_file

    def choose(front: Front) -> int:
        return front.choose(selection, dataset.n_rows, dataset.floor)

    compile_kernels()
    search: Callable[..., Discovery] = discover
    if run is not None:
        origins = {name: table.origins[name] for name in dataset.names if name in table.origins}
        source = None if data == "-" else os.path.abspath(data)
        facts = {"selection": selection, "source": source, "origins": origins}
        search = partial(discover_in_file, run, target=target, facts=facts)
    with open_progress(target, choose, limits.timeout, is_json=is_json, is_quiet=quiet) as display:
        found = search(dataset, grammar, config=config, limits=limits, n_jobs=cluster or jobs, seed=seed, watch=display)
    print_found(found, dataset, target=target, selection=selection, seed=seed, is_json=is_json, is_quiet=quiet)


# ---- grammar, operators --------------------------------------------------------------------------


@main.group()
def grammar() -> None:
    """Work with grammars, the rules that say which formulas are searched."""


@grammar.command()
@click.argument("file")
@click.option("--columns", callback=split_names, metavar="A,B,...", help="The columns it will be used with.")
def check(file: str, columns: tuple[str, ...] | None) -> None:
    """Say what the grammar in FILE describes, or what is wrong with it.

    \b
    Example:
      echo "f -> f + f | f * f | C * f | sin(x) | x" > law.grammar
      spl grammar check law.grammar --columns x,y
    """
    from spl.formulas.grammar import Grammar

    found = Grammar.from_file(file, variables=columns)
    click.echo((found if columns is None else found.bind(columns)).explain())


@main.command()
def operators() -> None:
    """List the operators that formulas may use.

    \b
    Example:
      spl fit data.csv --target y --operators "+,*,sqrt"
    """
    from spl.display.results import operator_lines
    from spl.formulas.operators import BUILT_IN

    for line in operator_lines(BUILT_IN.values()):
        click.echo(line)


# ---- demo ----------------------------------------------------------------------------------------


@main.command()
@click.option("--output", default="lorenz.png", show_default=True, metavar="FILE", help="Where the plot goes.")
@click.option("--noise", default=0.05, show_default=True, help="Noise of each state, as a share of its size.")
@click.option("--seed", default=0, show_default=True, callback=check_seed, metavar="N", help="Of noise and search.")
@click.option("--timeout", default=45.0, show_default=True, metavar="SECONDS", help="Of search and fit together.")
@click.option(
    "--jobs",
    default=min(2, os.cpu_count() or 1),
    show_default="2, if there are two cores",
    callback=check_jobs,
    metavar="N",
    help="Threads; -1 is all cores.",
)
def demo(output: str, noise: float, seed: int, timeout: float, jobs: int) -> None:
    """Find the equations of the Lorenz system from noisy measurements, and plot them.

    Simulates the system, adds noise, and finds its equations with SPLDynamics, from + - * / and constants. Takes about
    a minute.

    \b
    Example:
      spl demo --seed 1 --output chaos.png
    """
    from spl.cli.demo import DemoSettings, run_demo

    settings = DemoSettings(noise=noise, seed=seed, timeout=timeout, jobs=jobs, output=output)
    compile_kernels()
    run_demo(open_console(), settings)
