"""The command `spl export`: an equation of a run file in another language."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spl.errors import FormulaNotFound, SettingError

if TYPE_CHECKING:
    from spl.formulas.program import Program
    from spl.regression.candidate import Candidate
    from spl.runs.reader import StoredRun


@click.command()
@click.argument("run")
@click.option(
    "--format", "form", required=True, metavar="FORMAT", help="sympy, latex, python, c, julia, matlab, torch or jax."
)
@click.option("--index", type=int, metavar="K", help="Row of the front, from 0. [default: the chosen equation]")
@click.option(
    "--si", "is_in_si", is_flag=True, help="Equation for columns and target in SI units, if the run knows theirs."
)
@click.option("-o", "--output", metavar="FILE", help="Output file. [default: standard output]")
def export(run: str, form: str, index: int | None, is_in_si: bool, output: str | None) -> None:
    """Write an equation of the run file RUN in another language.

    Code formats define a function: `predict` of all columns, or `derivatives` of the state of a system. Column names become
    identifiers. A formula with numbers of groups comes with the table of these numbers.

    \b
    Examples:
      spl export planets.spl --format latex
      spl export planets.spl --format c --index 2 -o law.c
      spl export fall.spl --format sympy --si
    """
    from spl.groups.own_rows import own_of
    from spl.notation.export import check_format, export_program, export_system
    from spl.notation.grouped_export import export_grouped
    from spl.runs.facts import DYNAMICS
    from spl.runs.reader import read_run
    from spl.units.system_units import fill_known

    check_format(form)
    found = read_run(run)
    if found.kind == DYNAMICS:
        if index is not None:
            raise click.UsageError("--index works only for runs of one equation: a system is exported as a whole.")
        if is_in_si:
            raise click.UsageError("--si works only for runs of one equation, not for systems.")
        if found.system is None:
            raise FormulaNotFound(f"'{run}' has no equations yet. Wait for the end of the run, or continue it.")
        text = export_system(fill_known(found.system.system, found.system_units), form)
    else:
        candidate, target = _choose(found, index), found.searches[0].name
        own = own_of(candidate)
        program = found.fill_known(candidate.program)
        if is_in_si:
            program, target = _convert(found, candidate.program)
        text = (
            export_grouped(program, own, form, target=target) if own else export_program(program, form, target=target)
        )
    if output is None:
        click.echo(text)
        return
    try:
        Path(output).write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise SettingError(f"'{output}' cannot be written: {error.strerror}. Choose another file with -o.") from None


def _convert(run: "StoredRun", program: "Program") -> "tuple[Program, str]":
    """Return a formula in SI units, with the values of named constants, and the name of its target."""
    from spl.units.si import name_in_si, program_in_si, units_in_si

    if run.units is None:
        raise SettingError(f"--si needs units, and '{run.path}' does not know those of its columns. Fit with --units.")
    target = name_in_si(run.searches[0].name, run.units.target)
    return units_in_si(run.units).fill_known(program_in_si(program, run.units)), target


def _choose(run: "StoredRun", index: int | None) -> "Candidate":
    """Return the formula at this row of the front, or by default the one that the run's selection rule prefers."""
    [search] = run.searches
    front = search.front
    if search.discovery is None or not len(front):
        raise FormulaNotFound(f"'{run.path}' has no formula yet. Wait for the first one.")
    if index is None:
        return front[search.discovery.choose(run.facts.get("selection") or "mdl")]
    if not -len(front) <= index < len(front):
        raise SettingError(f"--index must be a row of the front, 0 to {len(front) - 1}; got {index}.")
    return front[index]
