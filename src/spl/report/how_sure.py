"""From what is known about the certainty of a formula to a part of the report and of the studio."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from spl.data.dataset import Dataset
from spl.display.how_sure import chance_text, check_name, how_sure_words
from spl.display.numbers import interval_text, number_text
from spl.display.parts import UNKNOWN_PART, find_part_texts
from spl.display.results import SHOWN_DIGITS
from spl.display.rivals import MAX_SHOWN, place_text
from spl.display.shapes import describe_margin
from spl.display.systems import left_sides, system_numbers
from spl.display.units import target_unit_of
from spl.formulas.printed_numbers import FITTED_KIND
from spl.formulas.program import Program
from spl.formulas.text import to_text
from spl.groups.numbers import KnownJointNumber
from spl.groups.own_rows import know_numbers_of, own_of, with_group_columns
from spl.knowledge.knowledge import Judge
from spl.regression.candidate import Candidate
from spl.regression.fit_rows import FitRows
from spl.regression.how_sure import judge_formula
from spl.regression.prediction_errors import KnownLaw
from spl.regression.residual_checks import ResidualCheck, check_residuals
from spl.regression.rivals import Rival
from spl.regression.slices import columns_to_cut, cut_slice
from spl.regression.uncertainty import KnownNumber
from spl.report.contents import CheckRow, HowSurePart, NumberRow, RivalRow, SliceChart
from spl.report.gather import sample_rows
from spl.runs.fit_rows import OWN_FUNCTIONS, fit_rows_of
from spl.runs.reader import StoredRun, StoredSystem
from spl.runs.regression import stored_form
from spl.units.system_units import SystemUnits

MAX_SLICES = 6
GROUPED_WORDS = (
    "These are the numbers that all groups share; those of each group have a section of their own. Bands and rivals are not available "
    "for formulas with numbers of groups."
)
NORMAL_QUANTILE = 1.959964  # standard errors within which 95 % of normal errors lie


def how_sure_of(run: StoredRun, place: int) -> HowSurePart:
    """Return how sure a formula of a table is; if that cannot be told, only why.

    Args:
        run: of a table, with at least one formula.
        place: of the formula in the front.
    """
    [search] = run.searches
    found, fit = search.discovery, fit_rows_of(run)
    program = search.front[place].program
    equation = f"{search.name} = {to_text(program, SHOWN_DIGITS)}"
    if found is None or fit is None or not isinstance(run.data, Dataset):
        return HowSurePart(equation, (OWN_FUNCTIONS,))
    if own_of(search.front[place]):
        return _how_sure_with_groups(run, search.front[place], fit, equation)
    sure = judge_formula(found, place, fit)
    rivals, columns = sure.rivals or (), columns_to_cut(program, run.data)
    return HowSurePart(
        equation=equation,
        words=(*_part_words(run, run.data, program), *how_sure_words(sure)),
        target=search.name,
        target_unit=target_unit_of(run.units),
        numbers=tuple(map(_number_row, sure.numbers)),
        slices=tuple(_slice_charts(program, columns[:MAX_SLICES], run.data, fit, found.outliers)),
        n_more_slices=max(0, len(columns) - MAX_SLICES),
        rivals=tuple(_rival_row(rival, fit.measured_names, program) for rival in rivals[:MAX_SHOWN]),
        n_more_rivals=max(0, len(rivals) - MAX_SHOWN),
        checks=tuple(map(_check_row, sure.checks)),
        shapes=tuple(_shape_rows(run, run.data, program)),
    )


def _part_words(run: StoredRun, data: Dataset, program: Program) -> Iterator[str]:
    """Yield what each hole of the form became; nothing without a form."""
    for hole, text in find_part_texts(stored_form(run), program, data).items():
        yield f"{hole} {UNKNOWN_PART}." if text is None else f"{hole} is {text}."


def _shape_rows(run: StoredRun, data: Dataset, program: Program) -> Iterator[tuple[str, str, str]]:
    """Yield what is known of the law: statement, whether it is proved or checked, and the worst margin."""
    if run.knowledge is not None:
        for verdict in Judge(run.knowledge, data).judge(program):
            yield verdict.statement, verdict.status, describe_margin(verdict)


def _how_sure_with_groups(run: StoredRun, candidate: Candidate, fit: FitRows, equation: str) -> HowSurePart:
    """Return how sure a formula with own numbers is: its shared numbers, and its residuals."""
    assert isinstance(run.data, Dataset)
    counts = np.flatnonzero(run.data.weights > 0)
    rows = with_group_columns(fit.rows, [each.take(counts) for each in run.groupings], own_of(candidate))
    numbers = know_numbers_of(candidate, run.data, run.groupings, fit.given)
    return HowSurePart(
        equation=equation,
        words=(GROUPED_WORDS,),
        numbers=tuple(_number_row(number) for number in numbers if not number.name),
        checks=tuple(map(_check_row, check_residuals(candidate.program, rows))),
    )


def _number_row(number: KnownNumber | KnownJointNumber) -> NumberRow:
    is_simpler = number.kind == FITTED_KIND and bool(number.simple)
    return NumberRow(
        term=number.term,
        text=number_text(number),
        interval=interval_text(number),
        value=number.value,
        lower=number.lower,
        upper=number.upper,
        simple=number.simple,
        simple_value=_read_simple(number.simple) if is_simpler else None,
        unit=number.unit if isinstance(number, KnownNumber) else "",
    )


def _read_simple(text: str) -> float:
    """Return the value of a number in its simplest form.

    Examples:
        >>> _read_simple("-2/3"), _read_simple("3*pi/4"), _read_simple("0.48")
        (-0.666..., 2.356..., 0.48)
    """
    above, _, below = text.removeprefix("-").partition("/")
    size = math.prod(math.pi if factor == "pi" else float(factor) for factor in above.split("*")) / float(below or 1)
    return -size if text.startswith("-") else size


def _slice_charts(
    program: Program, columns: Sequence[int], data: Dataset, fit: FitRows, outliers: Sequence[int]
) -> Iterator[SliceChart]:
    """Yield the formula along each column, with the rows that all charts draw, and outliers."""
    if not columns:
        return
    law, drawn = KnownLaw.of(program, fit.rows, fit.given), sample_rows(data)
    for column in columns:
        cut = cut_slice(program, data, column, drawn)
        yield SliceChart(
            column=data.names[column],
            is_whole=cut.is_whole,
            x=cut.x,
            values=cut.values,
            law=law.limits(cut.columns),
            new=law.limits(cut.columns, is_new=True),
            point_x=data.columns[column][drawn],
            point_y=cut.points,
            is_outlier=np.isin(drawn, outliers) if outliers else None,
            unit="" if fit.units is None else fit.units.columns[column].text,
        )


def _rival_row(rival: Rival, names: Sequence[str], best: Program) -> RivalRow:
    text = to_text(rival.candidate.program, SHOWN_DIGITS)
    return RivalRow(rival.nats, rival.weight, rival.candidate.loss, place_text(rival, names, best), text)


def _check_row(check: ResidualCheck) -> CheckRow:
    return CheckRow(check_name(check), chance_text(check.chance), check.is_doubtful, check.words)


# ---- systems -------------------------------------------------------------------------------------


def system_number_rows(stored: StoredSystem, units: SystemUnits | None = None) -> tuple[NumberRow, ...]:
    """Return the numbers of a system with the 95 % intervals that follow from their standard errors."""
    system = stored.system
    numbers = system_numbers(system, stored.standard_errors, units=units)
    rows = []
    for left, of_state in zip(left_sides(system), numbers, strict=True):
        for number in of_state:
            error = number.standard_error if number.standard_error > 0 else 0.0  # it may be unknown
            ends = number.value - NORMAL_QUANTILE * error, number.value + NORMAL_QUANTILE * error
            known = KnownNumber(number.value, number.standard_error, *ends, number.kind, "", "", number.term)
            rows.append(
                NumberRow(
                    f"{left}: {number.term}",
                    number_text(known),
                    interval_text(known),
                    number.value,
                    *ends,
                    unit=number.unit,
                )
            )
    return tuple(rows)
