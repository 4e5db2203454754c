"""A run as a page shows it: status, fronts with formulas in MathML, charts. Plain values for JSON."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from spl.data.dataset import Dataset
from spl.data.groupings import Grouping
from spl.display.noise import is_least_squares, noise_line, outliers_line
from spl.display.numbers import numbers_line
from spl.display.results import SHOWN_DIGITS, STOPPED
from spl.display.systems import (
    left_side,
    left_sides,
    mathml_sides,
    solved_equations,
    system_numbers,
    unit_lines,
)
from spl.display.units import units_line
from spl.dynamics.rows import Plan
from spl.errors import RunFileError, count_noun
from spl.formulas.json_codec import check_no_stand_ins
from spl.formulas.text import to_text
from spl.groups.own_rows import own_of, with_group_columns
from spl.notation.export import FORMATS
from spl.notation.mathml import mathml_derivative, mathml_name, to_mathml
from spl.regression.candidate import Candidate
from spl.regression.explained_share import share_explained
from spl.regression.front import rule_while_running
from spl.report.from_run import plan_of_run
from spl.runs.reader import StoredRun, StoredSearch
from spl.web.run_charts import draw_learning, draw_whole_front

MAX_SHARE_ROWS = 10_000  # on which the share that a formula explains is measured: a page asks for it again and again


def describe_run(run: StoredRun) -> dict[str, Any]:
    """Return everything that a page shows of a run except the fits, which it requests one by one."""
    plan = plan_of_run(run)
    return {
        "kind": run.kind,
        "status": run.status,
        "reason": STOPPED.get(run.stopped, ""),
        "error": "",
        "question": _question(run),
        "seconds": run.seconds,
        "timeout": run.settings.get("limits", {}).get("timeout"),
        "n_evaluations": sum(search.history[-1].n_evaluations for search in run.searches if search.history),
        "laws": [_describe_law(run, search, plan) for search in run.searches],
        "system": _describe_system(run),
        "solved": _describe_solved(run),
        "rules": _rules(run),
        "units": _describe_units(run),
        "noise": _describe_noise(run),
        "has_groups": bool(run.groupings),
        "notes": list(run.notes),
        "formats": FORMATS,
        "file": str(run.path.name),
    }


def choose_row(run: StoredRun, law: int) -> int:
    """Return the recommended formula of a front, which must not be empty."""
    search = run.searches[law]
    if run.system is not None:
        return run.system.chosen[law]
    if not isinstance(run.data, Dataset):  # the formulas of a system are chosen after all searches
        return search.front.choose("knee", n_rows=1, floor=0.0)
    selection = run.facts.get("selection", "mdl")
    if search.discovery is not None:
        return search.discovery.choose(selection)
    return search.front.choose(rule_while_running(selection), run.data.n_rows, _floor(search))


def _floor(search: StoredSearch) -> float:
    """Return the loss below which an error is rounding error."""
    return 0.0 if search.discovery is None else search.discovery.floor


def _question(run: StoredRun) -> str:
    if isinstance(run.data, Dataset):
        groups = "".join(f", {count_noun(each.n_groups, 'group')} of {each.name}" for each in run.groupings)
        return (
            f"{run.searches[0].name} from {', '.join(run.measured_names)}: {count_noun(run.data.n_rows, 'row')}{groups}"
        )
    n_runs = len(run.data.runs)
    runs = "" if n_runs == 1 else f" in {n_runs} runs"
    return f"equations of {', '.join(run.data.states)}: {count_noun(run.data.n_samples, 'sample')}{runs}"


def _describe_units(run: StoredRun) -> str:
    """Return the units of a table or a system in a line; empty if there are none."""
    if run.units is not None:
        return units_line(run.units, run.searches[0].name)
    return " ".join(unit_lines(run.system_units))


def _rules(run: StoredRun) -> str:
    """Return the grammar; one per state if they differ."""
    texts = {search.name: str(search.grammar) for search in run.searches}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "\n\n".join(f"# {name}\n{text}" for name, text in texts.items())


# ---- formulas ------------------------------------------------------------------------------------


def _describe_law(run: StoredRun, search: StoredSearch, plan: Plan) -> dict[str, Any]:
    is_law = isinstance(run.data, Dataset)
    text = search.name if is_law else left_side(search.name, plan.order, plan.is_discrete)
    left = mathml_name(search.name) if is_law else mathml_derivative(search.name, plan.order, plan.is_discrete)
    floor = _floor(search)
    chosen = choose_row(run, run.searches.index(search)) if len(search.front) else 0
    outliers = () if search.discovery is None else search.discovery.outliers
    return {
        "left": text,
        "chosen": chosen,
        "has_outliers": bool(outliers),
        "front": [
            {
                "cost": candidate.cost,
                "loss": candidate.loss,
                "r2": _share_explained(candidate, search, run.data, run.groupings),
                "text": to_text(candidate.program, SHOWN_DIGITS),
                "mathml": to_mathml(candidate.program, left=left, digits=SHOWN_DIGITS),
                "inline": to_mathml(candidate.program, digits=SHOWN_DIGITS, is_block=False),
            }
            for candidate in search.front
        ],
        "front_chart": draw_whole_front(search, text, chosen, floor) if len(search.front) else "",
        "learning_chart": draw_learning(search, floor),
    }


def _describe_system(run: StoredRun) -> list[dict[str, Any]] | None:
    if run.system is None:
        return None
    system = run.system.system
    numbers = system_numbers(system, run.system.standard_errors, units=run.system_units)
    sides = zip(left_sides(system), mathml_sides(system), strict=True)
    return [
        {
            "text": f"{left} = {to_text(program, SHOWN_DIGITS)}",
            "mathml": to_mathml(program, left=side, digits=SHOWN_DIGITS),
            "numbers": numbers_line(of_state),
        }
        for (left, side), program, of_state in zip(sides, system.programs, numbers, strict=True)
    ]


def _describe_solved(run: StoredRun) -> list[dict[str, str]]:
    """Return the equations that had rates on the right, solved for the rates."""
    if run.system is None:
        return []
    order = run.system.system.order
    return [
        {
            "text": f"{left_side(state, order)} = {to_text(program, SHOWN_DIGITS)}",
            "mathml": to_mathml(program, left=mathml_derivative(state, order), digits=SHOWN_DIGITS),
        }
        for state, program in solved_equations(run.system.system)
    ]


def _share_explained(
    candidate: Candidate, search: StoredSearch, data: Any, groupings: Sequence[Grouping]
) -> float | None:
    """Return R2 of a formula for a column, without outliers.

    None for derivatives, which the run does not hold, for a constant column, and for operators whose functions it does not hold.
    """
    if not isinstance(data, Dataset) or not data.square > 0 or search.discovery is None:
        return None
    if is_least_squares(search.discovery.noise, data):
        share = 1.0 - candidate.loss**2 * data.n_rows / data.square
        return share if math.isfinite(share) else None
    try:
        check_no_stand_ins(search.grammar)
    except RunFileError:
        return None
    rows = np.setdiff1d(np.arange(0, data.n_rows, -(-data.n_rows // MAX_SHARE_ROWS)), search.discovery.outliers)
    data = with_group_columns(data, groupings, own_of(candidate))
    return share_explained(candidate.program, data.take(rows)) if rows.size and data.weights[rows].any() else None


def _describe_noise(run: StoredRun) -> list[str]:
    """Return lines about the noise of a table and its outliers; none for a system."""
    found = run.searches[0].discovery
    if not isinstance(run.data, Dataset) or found is None:
        return []
    return [line for line in (noise_line(found.noise, run.data), outliers_line(found.outliers, run.data)) if line]
