"""The command `spl fit`: a table in, the formula of one column out. It contains no method.

Slow imports are inside the functions, so that `spl --help` answers at once.
"""

import math
import os
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from spl.cli.fit_output import search_and_print
from spl.cli.options import (
    check_grammar_options,
    check_jobs,
    check_seed,
    cluster_option,
    compile_with_message,
    form_option,
    guess_option,
    missing_option,
    print_notes,
    read_allowed,
    split_bounds,
    split_error_bars,
    split_names,
)
from spl.cli.unit_options import check_constants, hint_at_units, read_unit_options, unit_options
from spl.garbage_collection import without_garbage_collection
from spl.settings import TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from spl.data.dataset import Dataset
    from spl.data.table_files import Table
    from spl.knowledge.knowledge import Knowledge
    from spl.regression.discover import Discovery
    from spl.regression.request import RegressionRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class FitOptions:
    """The argument and the options of `spl fit`, by name."""

    data: str
    target: str
    features: tuple[str, ...] | None
    operators: str | None
    no_constants: bool
    grammar_file: str | None
    form: str | None
    guesses: tuple[str, ...]
    selection: str
    timeout: float
    max_evaluations: int | None
    jobs: int
    cluster: int | None  # threads of the cluster, which has been connected to
    trees: int
    seed: int
    weights: str | None
    noise: str
    sigma: str | None
    sigma_x: dict[str, str] | None
    missing: tuple[str, ...]
    validation: str | None
    groups: tuple[str, ...] | None
    know: tuple[str, ...]
    bounds: dict[str, tuple[float, float]] | None
    units: dict[str, str] | str | None
    target_unit: str | None
    known: dict[str, str] | None
    constants: str
    run: str | None
    has_rivals: bool
    is_json: bool
    quiet: bool


@click.command()
@click.argument("data")
@click.option("--target", required=True, metavar="COLUMN", help="The column to find a formula for.")
@click.option("--features", callback=split_names, metavar="A,B,...", help="Columns to use. [default: all others]")
@click.option("--operators", metavar="LIST", help='For example "+,-,*,/,sin". `spl operators` lists them all.')
@click.option("--no-constants", is_flag=True, help="Search formulas without fitted constants.")
@click.option("--grammar", "grammar_file", metavar="FILE", help="Grammar file, instead of operators.")
@form_option
@guess_option
@click.option(
    "--selection",
    default="mdl",
    show_default=True,
    metavar="RULE",
    help="Which formula of the front is chosen: mdl (shortest description), bic, accurate (lowest loss), knee, or validation (the "
    "simplest whose loss on the rows of --validation is within one standard error of the lowest).",
)
@click.option(
    "--timeout", default=TIMEOUT, show_default=True, metavar="SECONDS", help="Time limit in seconds; inf for no limit."
)
@click.option("--max-evaluations", type=int, metavar="N", help="Most formulas to try. [default: no limit]")
@click.option(
    "--jobs", default=1, show_default=True, callback=check_jobs, metavar="N", help="Threads; -1 for all cores."
)
@cluster_option
@click.option(
    "--trees",
    default=2,
    show_default=True,
    metavar="N",
    help="Independent trees that share what they find; more jobs than trees are of no use.",
)
@click.option("--seed", default=0, show_default=True, callback=check_seed, metavar="N", help="Random seed.")
@click.option("--weights", metavar="COLUMN", help="Column with the weight of each row.")
@click.option(
    "--noise",
    default="auto",
    show_default=True,
    metavar="MODEL",
    help="How the target scatters: normal (evenly), relative (in proportion to its value), student (with outliers), "
    "poisson (counts), binomial (shares), or auto for the one of the first four that describes the data best.",
)
@click.option("--sigma", metavar="COLUMN", help="Column with the error bars of the target, as standard deviations.")
@click.option(
    "--sigma-x",
    callback=split_error_bars,
    metavar="A=BARS,...",
    help="Error bars of other columns: A=a_err,B=0.1. BARS is a column, or a number for all rows.",
)
@missing_option
@click.option(
    "--validation",
    metavar="FILE|SHARE",
    help="Rows that the search never sees, to compare the formulas on: another table, or a share of this one, such as 0.2.",
)
@click.option(
    "--groups",
    multiple=True,
    callback=lambda _context, _option, names: names or None,
    metavar="COLUMN",
    help="Column that says to which group each row belongs: groups may have numbers of their own. Up to two; none for no groups. "
    "[default: columns of text and booleans that may matter, unless --features names columns]",
)
@click.option(
    "--know",
    multiple=True,
    metavar="STATEMENT",
    help="What is known of the shape of the law: 'f > 0', 'increasing in T for p < 3', 'f(x=0) = 0', 'even in x', "
    "'symmetric in a, b', 'f -> 0 as x -> inf', 'convex in x', 'depends on m'. Repeat for more. No formula that breaks one is shown.",
)
@click.option(
    "--bounds",
    multiple=True,
    callback=split_bounds,
    metavar="A=LOW:HIGH",
    help="Where the statements of --know hold: x=0:10. Repeat for more columns. [default: the ranges of the data]",
)
@unit_options
@click.option("--run", metavar="FILE", help="Keep the run in FILE; if FILE exists, continue its run.")
@click.option(
    "--rivals", "has_rivals", is_flag=True, help="Also print the other formulas that the data cannot rule out."
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.option("--quiet", is_flag=True, help="Print only the equation.")
def fit(**given: Any) -> None:
    """Find a formula for one column of a table from the others.

    DATA is a file: .csv or .txt (comma, semicolon or tab between columns), .tsv or .tab, each also gzipped as .gz,
    .parquet or .xlsx; - reads CSV from standard input. The first line holds the names of the columns; units below it and
    lines that begin with # are skipped. A column of text or booleans is a grouping: one law holds for all rows, and each
    group may have numbers of its own in it. Names and other texts that differ in nearly every row are left out, and so are
    rows with missing values, with a note. Dates become seconds since the first. Text in a column of numbers is an error
    that names the line, unless it is a usual mark for a missing value, such as NA or -, or listed in --missing.

    The best formula of each complexity is shown during the search. Ctrl-C ends the search and prints the best so far,
    with status 0 and the word "interrupted". With --run, nothing is lost whatever happens: `spl show` shows the run at
    any time, `spl resume` continues it.

    \b
    Examples:
      spl fit planets.csv --target period
      spl fit planets.csv --target period --timeout 3600 --run period.spl
      spl fit planets.csv --target period --features mass,distance --operators "*,/,sqrt"
      spl fit decay.csv --target count --form "a(T)*exp(-b(p, T)) + C"
      spl fit decay.csv --target count --noise poisson
      spl fit planets.csv --target period --validation 0.2 --selection validation
      spl fit decay.csv --target count --rivals
      spl fit springs.csv --target force --groups material
      spl fit decay.csv --target count --know "f > 0" --know "decreasing in t" --bounds t=0:100
      spl fit fall.csv --target E --units "m=kg, v=m/s, h=m" --target-unit J --known "g=9.80665 m/s**2"
      cat planets.csv | spl fit - --target period --json | jq -r .equation
    """
    options = FitOptions(**given)
    check_grammar_options(options.grammar_file, options.operators, options.no_constants, options.form)
    check_constants(options.constants, no_constants=options.no_constants)
    with without_garbage_collection():
        request, origins = _make_request(options)
        from spl.groups.discover import discover_any

    compile_with_message(request, is_silent=options.is_json or options.quiet)
    search: Callable[..., Discovery] = discover_any
    if options.run is not None:
        from spl.runs.regression import discover_in_file

        source = None if options.data == "-" else os.path.abspath(options.data)
        facts = {"selection": options.selection, "source": source, "origins": origins}
        search = partial(discover_in_file, options.run, facts=facts)
    search_and_print(
        search,
        request,
        selection=options.selection,
        is_json=options.is_json,
        is_quiet=options.quiet,
        has_rivals=options.has_rivals,
    )


def _make_request(options: FitOptions) -> "tuple[RegressionRequest, dict[str, int]]":
    """Return what is asked for, and from which instants the dates in the table are counted. Prints notes about the table."""
    from spl.data.column_choice import prepare_dataset
    from spl.data.table_files import read_table
    from spl.estimators.fitted_units import add_known
    from spl.noise.models import check_noise
    from spl.regression.front import check_has_held_out, check_selection
    from spl.regression.request import RegressionRequest
    from spl.settings import Limits, SearchConfig

    check_selection(options.selection)
    check_has_held_out(options.selection, options.validation is not None)
    noise = check_noise(options.noise)
    config = SearchConfig(n_trees=options.trees)
    timeout = None if options.timeout == math.inf else options.timeout
    limits = Limits(timeout=timeout, max_evaluations=options.max_evaluations)
    table = read_table(options.data, options.missing)
    data, notes, groupings = prepare_dataset(
        table,
        target=options.target,
        features=options.features,
        weights=options.weights,
        sigma=options.sigma,
        sigma_columns=options.sigma_x,
        groups=_groups_of(options),
    )
    data, held_out, more = _hold_out(options, table, data)
    notes += more
    units = read_unit_options(
        options.units, options.target_unit, options.known, options.constants, data.names, options.target
    )
    if units is None:
        notes += hint_at_units(data.names, options.target)
    data, held_out = add_known(data, units), None if held_out is None else add_known(held_out, units)
    grammar, form = read_allowed(
        data.names, options.grammar_file, options.operators, options.form, has_constants=not options.no_constants
    )
    request = RegressionRequest(
        data,
        grammar,
        target=options.target,
        config=config,
        limits=limits,
        n_jobs=options.cluster or options.jobs,
        seed=options.seed,
        noise=noise,
        held_out=held_out,
        groupings=groupings,
        units=units,
        knowledge=_read_knowledge(options, data.names),
        form=form,
        guesses=options.guesses,
    )
    print_notes(notes)
    return request, {name: table.origins[name] for name in data.names if name in table.origins}


def _read_knowledge(options: FitOptions, columns: "Sequence[str]") -> "Knowledge | None":
    from spl.knowledge.knowledge import Knowledge

    knowledge = Knowledge.read(options.know, columns, options.target, options.bounds)
    return knowledge if knowledge.statements else None


def _groups_of(options: FitOptions) -> tuple[str, ...] | None:
    """Return the columns that are groupings; None if the table decides. Validation rows, error bars of columns, units and
    statements about the law know no groups."""
    from spl.data.grouping_columns import NO_GROUPS
    from spl.errors import SettingError

    excluding = {
        "--validation": options.validation is not None,
        "--sigma-x": options.sigma_x,
        "--know": options.know,
        "--units": options.units,
    }
    without = next((name for name, is_given in excluding.items() if is_given), "")
    if not without or options.groups == (NO_GROUPS,):
        return options.groups
    if options.groups is not None:
        raise SettingError(f"{without} cannot be combined with --groups. Leave out one of them.")
    return (NO_GROUPS,)


def _hold_out(options: FitOptions, table: "Table", data: "Dataset") -> "tuple[Dataset, Dataset | None, list[str]]":
    """Return the rows to search with, those for validation, if there are any, and notes about them."""
    from spl.data.column_choice import count_dates_alike, prepare_dataset
    from spl.data.grouping_columns import NO_GROUPS
    from spl.data.hold_out import check_share, hold_out
    from spl.data.table_files import read_table

    if options.validation is None:
        return data, None, []
    try:
        share = float(options.validation)
    except ValueError:
        other = count_dates_alike(read_table(options.validation, options.missing), table, data.names)
        held_out, notes, _ = prepare_dataset(
            other,
            target=options.target,
            features=data.names,
            weights=options.weights,
            sigma=options.sigma,
            sigma_columns=options.sigma_x,
            groups=(NO_GROUPS,),
        )
        return data, replace(held_out, notes=()), [f"In the validation rows: {note}" for note in notes]
    return (*hold_out(data, check_share(share), options.seed), [])
