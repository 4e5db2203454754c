"""The command `spl`: it reads files and options, calls the search and prints the answer. It contains no method.

Slow imports are inside the commands, so that `spl --help` answers at once. Users' mistakes end with one line on standard error and
status 2.
"""

import atexit
import gc
import os
import time
from typing import Any

import click

from spl.bench.commands import bench
from spl.cli.dynamics import dynamics
from spl.cli.export import export
from spl.cli.fit import fit
from spl.cli.options import (
    check_jobs,
    check_seed,
    compile_with_message,
    open_console,
    print_notes,
    split_names,
    split_operators,
)
from spl.cli.report import report
from spl.cli.runs import resume, show
from spl.cli.stability import stability
from spl.cli.suggest import suggest
from spl.errors import SplError
from spl.web.commands import studio, watch

USER_MISTAKE = 2  # exit status


class CommandError(click.ClickException):
    """A user's mistake, shown as one line."""

    exit_code = USER_MISTAKE


class Commands(click.Group):
    """Commands that show users' mistakes as one line, without a traceback."""

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
      spl COMMAND --help               details of one command
    """
    atexit.register(gc.freeze)  # otherwise Python ends by looking for garbage in all modules, for a quarter of a second


for command in (bench, dynamics, export, fit, report, resume, show, stability, studio, suggest, watch):
    main.add_command(command)


# ---- grammar, operators --------------------------------------------------------------------------


@main.group(invoke_without_command=True)
@click.option("--form", metavar="TEXT", help='Print the grammar of a form, such as "a(T)*exp(-b(p, T)) + C".')
@click.option("--operators", metavar="LIST", help="Operators that its unknown parts may have.")
@click.option("--columns", callback=split_names, metavar="A,B,...", help="Its columns. [default: the names in it]")
@click.pass_context
def grammar(context: click.Context, form: str | None, operators: str | None, columns: tuple[str, ...] | None) -> None:
    """Work with grammars, the rules that define which formulas are searched.

    \b
    Example:
      spl grammar --form "a(T)*exp(-b(p, T)) + C" --operators "+,*,/"
    """
    if context.invoked_subcommand is not None:
        return
    if form is None:
        click.echo(context.get_help())
        return
    from spl.formulas.forms import Form, find_columns

    read = Form.from_text(form, find_columns(form) if columns is None else columns)
    click.echo(str(read.grammar(split_operators(operators))))


@grammar.command()
@click.argument("file")
@click.option("--columns", callback=split_names, metavar="A,B,...", help="The columns it will be used with.")
def check(file: str, columns: tuple[str, ...] | None) -> None:
    """Explain the grammar in FILE, or what is wrong with it.

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


# ---- warm-up -------------------------------------------------------------------------------------


@main.command("warm-up")
@click.option("--quiet", is_flag=True, help="Print nothing.")
def warm_up(quiet: bool) -> None:
    """Compile everything now, so that the first search starts at once.

    Otherwise the first search does it, once after each installation. For images of containers and for installers: set
    SPL_CACHE to a folder that is part of the image. Processors of another kind compile again.

    \b
    Examples:
      spl warm-up
      SPL_CACHE=/opt/cache spl warm-up --quiet
    """
    from spl.dynamics.discover import compile_integration
    from spl.kernels.runtime import store
    from spl.regression.warm_up import compile_kernels

    began = time.monotonic()
    compile_with_message(is_silent=quiet)
    compile_kernels()
    compile_integration()
    print_notes(store.troubles)
    if not quiet:
        seconds = time.monotonic() - began
        click.echo(f"All kernels are compiled, after {seconds:.1f} s. They are in {store.kernel_folder()}.")


# ---- demo ----------------------------------------------------------------------------------------


@main.command()
@click.option("--output", default="lorenz.png", show_default=True, metavar="FILE", help="Where the plot goes.")
@click.option("--noise", default=0.05, show_default=True, help="Noise of each state, relative to its size.")
@click.option(
    "--seed", default=0, show_default=True, callback=check_seed, metavar="N", help="Random seed of noise and search."
)
@click.option(
    "--timeout", default=45.0, show_default=True, metavar="SECONDS", help="Time limit of search and fit together."
)
@click.option(
    "--jobs",
    default=min(2, os.cpu_count() or 1),
    show_default="2, if there are two cores",
    callback=check_jobs,
    metavar="N",
    help="Threads; -1 for all cores.",
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
    compile_with_message()
    run_demo(open_console(), settings)
