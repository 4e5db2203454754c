"""From a run file to a report: of a table or of a system, finished or not."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories
from spl.display.identifiability import N_SHOWN_RIVALS, rival_text
from spl.display.noise import LOSS_WORDS, describe_noise, is_least_squares, list_places
from spl.display.numbers import numbers_line
from spl.display.results import SHOWN_DIGITS, STOPPED
from spl.display.systems import (
    followed_line,
    left_side,
    left_sides,
    mathml_sides,
    own_numbers_text,
    solved_equations,
    system_numbers,
    unit_lines,
)
from spl.display.units import target_unit_of
from spl.dynamics.derivatives import DERIVATIVES
from spl.dynamics.identifiability import Identifiability, judge_discovery
from spl.dynamics.own_system import with_own_columns
from spl.dynamics.quality import measure_r2
from spl.dynamics.rows import WEAK_METHOD, Plan, SystemRows
from spl.dynamics.run_rows import make_rows_of_system
from spl.errors import OperatorError, RunFileError, count_noun
from spl.formulas.json_codec import check_no_stand_ins
from spl.formulas.system import System
from spl.formulas.text import to_text
from spl.groups.own_rows import errors_of_groups, know_numbers_of, own_of
from spl.notation.export import export_program, export_system
from spl.notation.grouped_export import export_grouped
from spl.notation.mathml import mathml_derivative, mathml_name, to_mathml
from spl.plots.learning import learning_curve
from spl.regression.candidate import Candidate
from spl.report.contents import CODE_NAMES, LearningCurve, Report, SearchPart, SystemPart
from spl.report.gather import gather_columns, gather_portraits, gather_search, gather_trajectories
from spl.report.groups import GroupsPart, gather_groups
from spl.report.how_sure import how_sure_of, system_number_rows
from spl.runs.dynamics import load_system
from spl.runs.facts import DIED, INTERRUPTED, RUNNING
from spl.runs.reader import StoredRun, StoredSearch, StoredSystem
from spl.units.system_units import SystemUnits, fill_known

Numbers = NDArray[np.float64]

JUDGE_SECONDS = 10.0  # that may go into rivals of a system
MIN_DROP = 1.05  # factor; a learning curve that fell by less is not worth showing
_WORDS = {"None": "none", "True": "yes", "False": "no"}
_OF_COLUMNS = ("units", "known", "bounds")  # settings with one value per column or named constant
_STATUS_NOTES = {
    RUNNING: "The run is still going on: this is its state so far.",
    DIED: "The run ended unexpectedly, for example because its process was killed: this is its last state.",
    INTERRUPTED: "The run was interrupted: this is the best so far.",
}


def report_of_run(run: StoredRun) -> Report:
    """Return the report of a run; raise a clear error if it has no formula yet."""
    for search in run.searches:
        if search.discovery is None or not len(search.front):
            raise RunFileError(
                f"The run in '{run.path}' has no formula for {search.name} yet. Let it run a little longer."
            )
    if isinstance(run.data, Dataset):
        return _report_of_table(run, run.data)
    return _report_of_system(run, run.data)


# ---- a table -------------------------------------------------------------------------------------


def _units_of_columns(run: StoredRun) -> dict[str, str]:
    """Return the units of the columns, and of the target or the time, by name; empty if there are none."""
    if run.system_units is not None:
        known = {name: quantity.unit for name, quantity in run.system_units.known.items()}
        units = {"time": run.system_units.time} | run.system_units.measured | known
        return {name: str(unit) for name, unit in units.items()}
    if run.units is None:
        return {}
    names = (*run.units.names, run.searches[0].name)
    return {name: str(unit) for name, unit in zip(names, (*run.units.columns, run.units.target), strict=True)}


def _report_of_table(run: StoredRun, data: Dataset) -> Report:
    [stored] = run.searches
    note = _missing_operators(stored)
    search = _search(run, stored, data if not note else None, stored.name, mathml_name(stored.name))
    columns = {stored.name: data.target} | dict(zip(data.names, data.columns, strict=True))
    roles = dict.fromkeys(data.names, "named constant") | dict.fromkeys(run.measured_names, "variable")
    return Report(
        title=f"{stored.name} = {search.equations[search.chosen].text}",
        heading=f"A formula for {stored.name}",
        summary=_summary(run),
        columns=gather_columns(columns, roles | {stored.name: "target"}, _units_of_columns(run)),
        n_rows=data.n_rows,
        grammar=(("", str(stored.grammar)),),
        searches=(search,),
        settings=tuple(_settings(run)),
        versions=tuple(run.versions.items()),
        noise=tuple(_noise(stored, data)),
        how_sure=how_sure_of(run, search.chosen),
        groups=_groups(run, stored, data, search.chosen) if not note else None,
        notes=_notes(run, note),
    )


def _groups(run: StoredRun, stored: StoredSearch, data: Dataset, chosen: int) -> GroupsPart | None:
    """Return the groups of a table; None if the chosen formula has no own numbers."""
    candidate = stored.front[chosen]
    own = own_of(candidate)
    if not own:
        return None
    errors = errors_of_groups(know_numbers_of(candidate, data, run.groupings))
    return gather_groups(candidate.program, own, run.groupings, data, target=stored.name, errors=errors)


def _noise(stored: StoredSearch, data: Dataset) -> Iterator[tuple[str, str]]:
    """Yield the noise model of a table in words: what it is, how large, why, how others compare, and the outliers."""
    found = stored.discovery
    assert found is not None
    name, size, reason = describe_noise(found.noise, data)
    others = ", ".join(f"{other} {nats:+.1f}" for other, nats in found.noise.others.items())
    rows = {
        "model": name,
        "size": size,
        "why": reason,
        "nats to describe the data with other models": others,
        "outliers": f"{len(found.outliers):,}: {list_places(found.outliers, data)}" if found.outliers else "",
    }
    yield from ((heading, text) for heading, text in rows.items() if text)


def _search(
    run: StoredRun, stored: StoredSearch, data: Dataset | None, name: str, left: str, chosen: int | None = None
) -> SearchPart:
    found = stored.discovery
    assert found is not None
    if chosen is None:
        chosen = found.choose(run.facts.get("selection") or "mdl")
    part = gather_search(
        stored.front,
        chosen,
        data,
        name=name,
        left=left,
        floor=found.floor,
        write_code=lambda candidate: _write_code(run, candidate, name),
        outliers=found.outliers,
        groupings=run.groupings,
    )
    loss_words = LOSS_WORDS[data is None or is_least_squares(found.noise, data)]
    return replace(part, learning=_learning(stored), loss_words=loss_words, unit=target_unit_of(run.units))


def _write_code(run: StoredRun, candidate: Candidate, target: str) -> dict[str, str]:
    """Return the code of a formula in each language that has all its operators."""
    program, own = run.fill_known(candidate.program), own_of(candidate)
    code = {}
    for language in CODE_NAMES:
        try:
            code[language] = (
                export_grouped(program, own, language, target=target)
                if own
                else export_program(program, language, target=target)
            )
        except OperatorError:  # a user's operator, whose function is not stored
            continue
    return code


def _learning(stored: StoredSearch) -> LearningCurve | None:
    """Return the learning curve; None if the loss hardly fell after the first entry."""
    seconds, losses = learning_curve(stored)
    return LearningCurve(seconds, losses) if losses.size and losses[0] > MIN_DROP * losses[-1] else None


def _missing_operators(stored: StoredSearch) -> str:
    try:
        check_no_stand_ins(stored.grammar)
    except RunFileError:
        return "The run uses your own operators, whose functions are not stored: fits and simulations are not drawn."
    return ""


# ---- a system ------------------------------------------------------------------------------------


def _report_of_system(run: StoredRun, data: Trajectories) -> Report:
    plan = plan_of_run(run)
    note = _missing_operators(run.searches[0])
    rows = make_rows_of_system(data, plan, run.system.system if run.system else None)
    lefts = [left_side(state, plan.order, plan.is_discrete) for state in data.states]
    chosen = run.system.chosen if run.system else (None,) * len(lefts)
    searches = tuple(
        _search(
            run,
            stored,
            None if note or rows.weak else rows.dataset(index),
            lefts[index],
            mathml_derivative(stored.name, plan.order, plan.is_discrete),
            chosen[index],
        )
        for index, stored in enumerate(run.searches)
    )
    return Report(
        title=f"The equations of {', '.join(data.states)}",
        heading=f"The equations of {', '.join(data.states)}",
        summary=_summary(run),
        columns=gather_columns(*_columns_of(data, run.system_units), _units_of_columns(run)),
        n_rows=data.n_samples,
        grammar=tuple(_grammars(run)),
        searches=searches,
        settings=tuple(_settings(run)),
        versions=tuple(run.versions.items()),
        system=_system_part(run, run.system, data, rows, is_drawn=not note) if run.system else None,
        notes=_notes(run, note),
    )


def plan_of_run(run: StoredRun) -> Plan:
    """Return how the trajectories became rows. A user's derivative function is not stored; the default replaces it."""
    stored = run.settings.get("plan") or {}
    method = stored.get("method")
    return Plan(
        method=method if method in (*DERIVATIVES, WEAK_METHOD) else "auto",
        order=stored.get("order", 1),
        is_discrete=stored.get("is_discrete", False),
        is_implicit=stored.get("is_implicit", False),
    )


def _columns_of(data: Trajectories, units: SystemUnits | None) -> tuple[dict[str, Numbers], dict[str, str]]:
    times = {"time": np.concatenate([run.t for run in data.runs])} if "time" not in data.names else {}
    states = np.concatenate([run.x for run in data.runs]).T
    inputs = np.concatenate([run.u for run in data.runs]).T
    columns = times | dict(zip(data.names, [*states, *inputs], strict=True))
    roles = dict.fromkeys(times, "time") | dict.fromkeys(data.states, "state") | dict.fromkeys(data.inputs, "input")
    return columns, roles | dict.fromkeys({} if units is None else units.known, "named constant")


def _grammars(run: StoredRun) -> Iterator[tuple[str, str]]:
    """Yield the rules of each state, or only once if all are the same."""
    texts = [str(search.grammar) for search in run.searches]
    if len(set(texts)) == 1:
        yield "", texts[0]
        return
    yield from ((search.name, text) for search, text in zip(run.searches, texts, strict=True))


def _system_part(
    run: StoredRun, stored: StoredSystem, data: Trajectories, rows: SystemRows, *, is_drawn: bool
) -> SystemPart:
    system = stored.system
    grammars, data = [search.grammar for search in run.searches], with_own_columns(data, system)
    found = load_system(run, plan_of_run(run))
    judged = judge_discovery(found, data, grammars, JUDGE_SECONDS) if is_drawn else None
    return SystemPart(
        equations=tuple(_describe_equations(stored, rows, run.system_units, is_drawn=is_drawn)),
        trajectories=gather_trajectories(system, data, rows.starts) if is_drawn else (),
        portraits=gather_portraits(system, data, rows.starts) if is_drawn and not system.is_discrete else (),
        followed=" ".join(
            filter(
                None,
                [
                    own_numbers_text(system, stored.own_errors),
                    *unit_lines(run.system_units),
                    followed_line(system, data, rows) if is_drawn else "",
                ],
            )
        ),
        code=_write_system_code(fill_known(system, run.system_units)),
        solved=tuple(_describe_solved(system)),
        identifiability=judged.reasons if judged is not None else (),
        rivals=tuple(_describe_rivals(judged)) if judged is not None else (),
        numbers=system_number_rows(stored, run.system_units),
    )


def _describe_rivals(judged: Identifiability) -> Iterator[tuple[str, str]]:
    """Yield text and MathML of equations that fit as well."""
    for rival in judged.rivals[:N_SHOWN_RIVALS]:
        side = mathml_sides(rival.system)[rival.system.states.index(rival.state)]
        yield rival_text(rival), to_mathml(rival.program, left=side, digits=SHOWN_DIGITS)


def _describe_equations(
    stored: StoredSystem, rows: SystemRows, units: SystemUnits | None, *, is_drawn: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield text, MathML and quality of each equation: R2 of its derivative, and numbers with standard errors."""
    system = stored.system
    shares = measure_r2(system, rows) if is_drawn else np.full(len(system.states), np.nan)
    numbers = system_numbers(system, stored.standard_errors, units=units)
    lefts, sides = (dict(zip(system.states, each(system), strict=True)) for each in (left_sides, mathml_sides))
    for state, program, of_state, r2 in zip(system.states, system.programs, numbers, shares, strict=True):
        quality = [
            f"R² of the derivative: {r2:.5f}." if np.isfinite(r2) else "",
            f"Numbers: {numbers_line(of_state)}." if of_state else "",
        ]
        mathml = to_mathml(program, left=sides[state], digits=SHOWN_DIGITS)
        yield f"{lefts[state]} = {to_text(program, SHOWN_DIGITS)}", mathml, " ".join(filter(None, quality))


def _describe_solved(system: System) -> Iterator[tuple[str, str]]:
    """Yield text and MathML of the equations that had rates on the right, solved for the rates."""
    for state, program in solved_equations(system):
        mathml = to_mathml(program, left=mathml_derivative(state, system.order), digits=SHOWN_DIGITS)
        yield f"{left_side(state, system.order)} = {to_text(program, SHOWN_DIGITS)}", mathml


def _write_system_code(system: System) -> dict[str, str]:
    code = {}
    for language in CODE_NAMES:
        try:
            code[language] = export_system(system, language)
        except OperatorError:
            continue
    return code


# ---- parts of both -------------------------------------------------------------------------------


def _summary(run: StoredRun) -> str:
    n_evaluations = sum(search.discovery.n_evaluations for search in run.searches if search.discovery)
    began = str(run.facts.get("began", ""))[:16].replace("T", " ")
    parts = [
        ", ".join(
            [
                count_noun(run.data.n_rows, "row"),
                *(f"{count_noun(g.n_groups, 'group')} of '{g.name}'" for g in run.groupings),
            ]
        )
        if isinstance(run.data, Dataset)
        else count_noun(run.data.n_samples, "sample"),
        *([f"started {began} UTC"] if began else []),
        f"{run.seconds:.1f} s",
        f"{n_evaluations:,} evaluations",
        *([f"ended because {STOPPED[run.stopped]}"] if run.stopped in STOPPED and run.stopped != "interrupted" else []),
    ]
    return ", ".join(parts) + "."


def _notes(run: StoredRun, note: str) -> tuple[str, ...]:
    return tuple(text for text in (_STATUS_NOTES.get(run.status, ""), note, *run.notes) if text)


def _settings(run: StoredRun) -> Iterator[tuple[str, str]]:
    """Yield what is needed to reproduce the run: the source of the data, and every setting."""
    for name in ("source", "fingerprint", "selection"):
        if run.facts.get(name):
            yield name, str(run.facts[name])
    yield from _flatten(run.settings)


def _flatten(settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in settings.items():
        if isinstance(value, Mapping) and name in _OF_COLUMNS:
            yield name, ", ".join(f"{column}: {_words_of(each)}" for column, each in value.items())
        elif isinstance(value, Mapping):
            yield from _flatten(value)
        else:
            yield (
                name,
                ", ".join(map(str, value)) if isinstance(value, list | tuple) else _WORDS.get(str(value), str(value)),
            )


def _words_of(value: Any) -> str:
    """Return a setting of a column: a unit, a number with its unit, or two bounds."""
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value) or "1"
