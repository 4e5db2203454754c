"""Shared by `spl fit`, `spl dynamics` and `spl demo`: options and their checks, and the console."""

import csv
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from spl.errors import show_value

if TYPE_CHECKING:
    from rich.console import Console

    from spl.formulas.forms import Form
    from spl.formulas.grammar import Grammar
    from spl.regression.request import RegressionRequest


def split_names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Return column names separated by commas; a name that contains a comma must be quoted."""
    if value is None:
        return None
    try:
        names = [name.strip() for name in next(csv.reader([value], skipinitialspace=True), [])]
    except csv.Error as error:
        raise click.BadParameter(f"{show_value(value)} cannot be read as names: {error}.", ctx, param) from None
    if not names or not all(names):
        raise click.BadParameter(f"{value!r} contains an empty name. Write for example: mass,speed", ctx, param)
    if len(set(names)) < len(names):
        raise click.BadParameter(f"{value!r} names a column twice. Name each column once.", ctx, param)
    return tuple(names)


def split_error_bars(ctx: click.Context, param: click.Parameter, value: str | None) -> dict[str, str] | None:
    """Return error bars by column from `A=BARS,...`; an entry that contains a comma must be quoted."""
    if value is None:
        return None
    bars: dict[str, str] = {}
    for entry in split_list(ctx, param, value):
        name, equals, given = (part.strip() for part in entry.rpartition("="))
        if not (name and equals and given):
            raise click.BadParameter(f"{entry!r} is not COLUMN=BARS. Write for example: mass=0.1", ctx, param)
        if name in bars:
            raise click.BadParameter(f"{value!r} names the column '{name}' twice. Name each column once.", ctx, param)
        bars[name] = given
    return bars


def split_bounds(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, tuple[float, float]] | None:
    """Return bounds of columns from entries `COLUMN=LOW:HIGH`; None if there are none."""
    from spl.errors import KnowledgeError
    from spl.knowledge.box import read_bounds

    try:
        return read_bounds(values) if values else None
    except KnowledgeError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def check_jobs(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Return the number of threads: 1 or more, or -1."""
    if value < 1 and value != -1:
        raise click.BadParameter(f"must be 1 or more, or -1 for all cores; got {value}.", ctx, param)
    return value


def connect(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Connect the command to the cluster of a Dask scheduler; return its number of threads."""
    if value is None:
        return None
    from spl.regression.parallel import use_cluster

    return ctx.with_resource(use_cluster(value))


def split_list(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...]:
    """Return texts separated by commas; a text that contains a comma must be quoted."""
    try:
        return tuple(next(csv.reader([value or ""], skipinitialspace=True), []))
    except csv.Error as error:
        raise click.BadParameter(f"{show_value(value)} cannot be read as a list: {error}.", ctx, param) from None


missing_option = click.option(
    "--missing",
    callback=split_list,
    metavar="A,B,...",
    help="More texts or numbers to treat as missing, besides NA, -, ? and the like: bad,-9999.",
)
form_option = click.option(
    "--form",
    metavar="TEXT",
    help='What is known of the formula: "a(T)*exp(-b(p, T)) + C". Each name with columns in brackets is an unknown part of these '
    "columns, C a number. Without unknown parts, only the numbers are fitted.",
)
guess_option = click.option(
    "--guess",
    "guesses",
    multiple=True,
    metavar="TEXT",
    help='A formula to begin with, such as "2*x + 1"; may be repeated. The search fits its numbers and varies it.',
)
cluster_option = click.option(
    "--cluster",
    callback=connect,
    metavar="ADDRESS",
    help="Search on the workers of this Dask scheduler: tcp://host:8786.",
)


def check_seed(ctx: click.Context, param: click.Parameter, value: int) -> int:
    """Return a seed of 0 or more."""
    if value < 0:
        raise click.BadParameter(f"must be 0 or more; got {value}.", ctx, param)
    return value


def check_grammar_options(
    grammar_file: str | None, operators: str | None, no_constants: bool, form: str | None = None
) -> None:
    """Raise a clear error if a grammar file is combined with options that it overrides."""
    if grammar_file is not None and form is not None:
        raise click.UsageError(
            "--grammar cannot be combined with --form: both say which formulas are possible. Leave one out, or write the form as the "
            "first rule of the grammar."
        )
    if grammar_file is not None and (operators is not None or no_constants):
        raise click.UsageError(
            "--grammar cannot be combined with --operators or --no-constants: the grammar defines both."
        )


def read_grammar(
    names: Sequence[str], grammar_file: str | None, operators: str | None, *, has_constants: bool = True
) -> "Grammar":
    """Return the grammar of a file, or one made from operators separated by commas or spaces."""
    from spl.formulas.grammar import Grammar

    if grammar_file is not None:
        return Grammar.from_file(grammar_file, variables=names)
    return Grammar.from_operators(split_operators(operators), names, constants=has_constants)


def read_allowed(
    names: Sequence[str],
    grammar_file: str | None,
    operators: str | None,
    form_text: str | None,
    *,
    has_constants: bool = True,
) -> "tuple[Grammar, Form | None]":
    """Return the formulas that are possible, and the form that they have, if one is given."""
    from spl.formulas.forms import Form

    if form_text is None:
        return read_grammar(names, grammar_file, operators, has_constants=has_constants), None
    form = Form.from_text(form_text, names)
    return form.grammar(split_operators(operators), constants=has_constants), form


def split_operators(operators: str | None) -> Sequence[str]:
    """Return operators that are separated by commas or spaces; the usual ones for None."""
    from spl.formulas.grammar_rules import DEFAULT_OPERATORS

    return DEFAULT_OPERATORS if operators is None else [word for word in re.split(r"[,\s]+", operators) if word]


def compile_with_message(request: "RegressionRequest | None" = None, *, is_silent: bool = False) -> None:
    """Compile the kernels unless they are compiled, with a message and a first formula for what is asked.

    In silence nothing is done: the search compiles what it needs.
    """
    from spl.kernels.runtime.building import are_all_stored

    if not is_silent and not are_all_stored():
        from spl.display.compilation import compile_visibly

        compile_visibly(open_console(is_error=True), request)


def open_console(*, is_error: bool = False) -> "Console":
    """Return the console of standard output, or of standard error."""
    from rich.console import Console

    return Console(file=sys.stderr if is_error else sys.stdout)


def print_notes(notes: Sequence[str]) -> None:
    """Print notes to standard error, also with --quiet and --json."""
    for note in notes:
        click.echo(f"Note: {note}", err=True)
