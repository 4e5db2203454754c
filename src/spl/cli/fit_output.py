"""What `spl fit` and `spl resume` print: progress during the search, and what it found.

Slow imports are inside the functions, so that `spl --help` answers at once.
"""

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from spl.cli.grouped_output import GroupedResult, describe_grouped, print_grouped_result
from spl.cli.options import open_console, print_notes

if TYPE_CHECKING:
    from spl.data.dataset import Dataset
    from spl.display.progress import Choose, ProgressDisplay
    from spl.formulas.forms import Form
    from spl.knowledge.knowledge import Knowledge, Verdict
    from spl.regression.discover import Discovery
    from spl.regression.fit_rows import FitRows
    from spl.regression.front import Front
    from spl.regression.held_out import HeldOutVerdict
    from spl.regression.request import RegressionRequest
    from spl.regression.rivals import Rival
    from spl.units.table_units import TableUnits


def search_and_print(
    search: "Callable[..., Discovery]",
    request: "RegressionRequest",
    *,
    selection: str,
    is_json: bool,
    is_quiet: bool,
    has_rivals: bool = False,
) -> None:
    """Run a search that takes a request and a watcher, show its progress, and print what it found, with its rivals if asked."""
    from spl.regression.front import rule_while_running

    data = request.data

    def choose(front: "Front") -> int:
        return front.choose(rule_while_running(selection), data.n_rows, data.floor)

    with open_progress(request.target, choose, request.limits.timeout, is_json=is_json, is_quiet=is_quiet) as watch:
        found = search(request, watch=watch)
    chosen = found.choose(selection)
    print_notes(found.notes[len(data.notes) :])  # those about the data were printed when it was read
    grouped = GroupedResult.of(found, chosen, request) if request.groupings else None
    if is_json:
        described = (
            {**describe_grouped(grouped), "seed": request.seed} if grouped else describe_found(found, chosen, request)
        )
        click.echo(json.dumps(described, allow_nan=False))
    elif is_quiet:
        _print_equation(found, chosen, request.target)
    elif grouped:
        print_grouped_result(grouped)
    else:
        _print_result(found, chosen, request, has_rivals=has_rivals)


def open_progress(
    target: str, choose: "Choose", timeout: float | None, *, is_json: bool, is_quiet: bool
) -> "ProgressDisplay":
    """Return what shows the progress: a live table on a terminal, lines elsewhere, nothing with JSON."""
    from spl.display.progress import ProgressDisplay, is_live, open_display

    console = open_console(is_error=is_json)
    if is_quiet or (is_json and not is_live(console)):
        return ProgressDisplay()
    return open_display(console, target, choose, timeout=timeout)


def _print_equation(found: "Discovery", chosen: int, target: str) -> None:
    from spl.display.results import equation_line

    click.echo(equation_line(target, found.front, chosen))
    if found.stopped == "interrupted":
        click.echo("Note: interrupted; this is the best so far.", err=True)


def _print_result(found: "Discovery", chosen: int, request: "RegressionRequest", *, has_rivals: bool) -> None:
    from spl.display.noise import noise_line, outliers_line
    from spl.display.results import found_rows, print_equation, print_front, print_lines, summary_line
    from spl.display.rivals import rival_lines

    console, fit, data = open_console(), fit_rows_of_request(found, request), request.data
    print_lines(console, [""])
    print_front(console, found_rows(found, chosen))
    print_lines(console, [""])
    print_equation(console, request.target, found.front, chosen)
    print_lines(console, lines_of_units(request.units, request.target))
    print_lines(console, lines_of_parts(found, chosen, request.form, request.data))
    print_lines(console, lines_of_numbers(found, chosen, fit))
    print_lines(console, lines_of_shapes(request.knowledge, data, found, chosen))
    if has_rivals:
        print_lines(console, ["", *rival_lines(rivals_of_formula(found, chosen, fit), fit.measured_names)])
    print_lines(console, lines_of_doubts(found, chosen, fit))
    about_noise = [noise_line(found.noise, request.data), outliers_line(found.outliers, request.data)]
    shares = shares_explained(found, chosen, request.data)
    print_lines(console, ["", *filter(None, about_noise), summary_line(found, *shares)])


def describe_found(found: "Discovery", chosen: int, request: "RegressionRequest") -> dict[str, Any]:
    """Return the result as `--json` prints it; numbers that JSON cannot represent are null."""
    from spl.display.noise import find_places, plain_noise
    from spl.display.results import front_rows
    from spl.display.shapes import describe_shapes
    from spl.display.units import describe_units
    from spl.notation.latex import to_latex
    from spl.notation.to_sympy import to_sympy

    rows = front_rows(found.front, chosen, found.floor, digits=None)
    fit = fit_rows_of_request(found, request)
    losses = losses_on_other_rows(found, fit, request.knowledge)
    program = found.front[chosen].program
    r2, r2_without_outliers = shares_explained(found, chosen, request.data)
    return {
        "target": request.target,
        "equation": rows[chosen].equation,
        "sympy": str(to_sympy(program)),
        "latex": to_latex(program),
        "loss": rows[chosen].loss,
        "r2": r2,
        "r2_without_outliers": r2_without_outliers,
        "cost": rows[chosen].cost,
        "units": describe_units(request.units),
        **describe_parts(found, chosen, request),
        "front": [
            {"cost": row.cost, "loss": row.loss, "score": row.score, **more, "equation": row.equation}
            for row, more in zip(rows, losses, strict=True)
        ],
        "validation": describe_verdict(found.held_out),
        **describe_how_sure(found, chosen, fit),
        "shapes": describe_shapes(judge_shapes(request.knowledge, request.data, found, chosen)),
        "noise": plain_noise(found.noise),
        "outliers": find_places(found.outliers, request.data),
        "seconds": found.seconds,
        "seed": request.seed,
        "evaluations": found.n_evaluations,
        "stopped": found.stopped,
        "notes": list(found.notes),
    }


def describe_parts(found: "Discovery", chosen: int, request: "RegressionRequest") -> dict[str, Any]:
    """Return the form and what its holes became, as `--json` prints them; nothing without a form."""
    from spl.display.parts import find_part_texts

    if request.form is None:
        return {}
    texts = find_part_texts(request.form, found.front[chosen].program, request.data, digits=None)
    return {"form": request.form.text, "parts": texts}


def lines_of_units(units: "TableUnits | None", target: str) -> list[str]:
    """Return the units of target, columns and named constants in a line; nothing if there are none."""
    from spl.display.units import units_line

    return [] if units is None else ["", units_line(units, target)]


def lines_of_parts(found: "Discovery", chosen: int, form: "Form | None", data: "Dataset") -> list[str]:
    """Return what the holes of a form became, below a heading; nothing without holes."""
    from spl.display.parts import PARTS_HEADING, find_part_texts, part_lines

    lines = part_lines(find_part_texts(form, found.front[chosen].program, data))
    return ["", PARTS_HEADING, *(f"  {line}" for line in lines)] if lines else []


def fit_rows_of_request(found: "Discovery", request: "RegressionRequest") -> "FitRows":
    """Return what the front of a search was fitted to."""
    from spl.regression.fit_rows import FitRows

    return FitRows.of(
        request.data, found.noise, request.noise, tuple(request.grammar.vocabulary.literals), request.units
    )


def describe_how_sure(found: "Discovery", chosen: int, fit: "FitRows") -> dict[str, Any]:
    """Return numbers with standard errors and 95 % intervals, rivals, and checks of the residuals, as `--json` prints them."""
    from spl.display.how_sure import describe_checks
    from spl.display.numbers import describe_known_numbers
    from spl.display.rivals import describe_rivals
    from spl.regression.how_sure import judge_formula

    sure = judge_formula(found, chosen, fit)
    return {
        "numbers": describe_known_numbers(sure.numbers, has_units=fit.units is not None),
        "rivals": describe_rivals(sure.rivals, fit.measured_names),
        "residual_checks": describe_checks(sure.checks),
    }


def judge_shapes(
    knowledge: "Knowledge | None", data: "Dataset", found: "Discovery", chosen: int
) -> "tuple[Verdict, ...]":
    """Return what is known of the law, for a formula of the front: proved or checked; nothing if nothing is known."""
    from spl.knowledge.knowledge import Judge

    return () if knowledge is None else Judge(knowledge, data).judge(found.front[chosen].program)


def lines_of_numbers(found: "Discovery", chosen: int, fit: "FitRows") -> list[str]:
    """Return the numbers of a formula with their standard errors, below a heading; nothing if it has none."""
    from spl.display.numbers import NUMBERS_HEADING, number_lines
    from spl.regression.uncertainty import know_numbers

    lines = number_lines(know_numbers(found.front[chosen].program, fit.rows, fit.given, units=fit.units))
    return ["", NUMBERS_HEADING, *lines] if lines else []


def lines_of_shapes(knowledge: "Knowledge | None", data: "Dataset", found: "Discovery", chosen: int) -> list[str]:
    """Return which statements a formula keeps, below a heading; nothing if nothing is known of the law."""
    from spl.display.shapes import shape_lines

    lines = shape_lines(judge_shapes(knowledge, data, found, chosen))
    return ["", *lines] if lines else []


def lines_of_doubts(found: "Discovery", chosen: int, fit: "FitRows") -> list[str]:
    """Return the doubtful checks of the residuals of a formula, below a heading; nothing if all are fine."""
    from spl.display.how_sure import doubtful_lines
    from spl.regression.residual_checks import check_residuals

    lines = doubtful_lines(check_residuals(found.front[chosen].program, fit.rows))
    return ["", *lines] if lines else []


def losses_on_other_rows(
    found: "Discovery", fit: "FitRows", knowledge: "Knowledge | None"
) -> list[dict[str, float | None]]:
    """Return for each formula its losses on rows that it was not fitted to; those that are not finite are None."""
    from spl.knowledge.knowledge import Judge
    from spl.regression.cross_validation import cross_losses

    judge = None if knowledge is None else Judge(knowledge, fit.rows)
    programs = [candidate.program for candidate in found.front]
    crossed = cross_losses(programs, fit.rows, fit.given, judge)
    validated = [None] * len(programs) if found.held_out is None else found.held_out.losses
    return [
        {"cv_loss": finite_or_none(one), "validation_loss": finite_or_none(other)}
        for one, other in zip(crossed, validated, strict=True)
    ]


def describe_verdict(verdict: "HeldOutVerdict | None") -> dict[str, Any] | None:
    """Return what held-out rows say about a front, as `--json` prints it; None if there are none."""
    if verdict is None:
        return None
    return {
        "rows": verdict.n_rows,
        "losses": [finite_or_none(loss) for loss in verdict.losses],
        "constant_loss": finite_or_none(verdict.constant_loss),
        "preferred": verdict.preferred,
        "chance": verdict.chance,
        "is_explained": verdict.is_explained,
    }


def finite_or_none(number: float | None) -> float | None:
    """Return a number if JSON can represent it, else None."""
    return number if number is not None and math.isfinite(number) else None


def rivals_of_formula(found: "Discovery", chosen: int, fit: "FitRows") -> "list[Rival] | None":
    """Return the formulas that the data cannot tell from the chosen one; None if the search kept none."""
    from spl.regression.rivals import find_rivals

    return find_rivals(found, chosen, fit.rows) if found.rivals else None


def shares_explained(found: "Discovery", chosen: int, data: "Dataset") -> tuple[float | None, float | None]:
    """Return R2 of the chosen formula, on all rows and on those that are not outliers; None if the target is constant.

    The second is also None if there are no outliers.
    """
    from spl.regression.explained_share import share_explained

    program, outliers = found.front[chosen].program, found.outliers
    return share_explained(program, data), share_explained(program, data, outliers) if outliers else None
