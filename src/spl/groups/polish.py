"""The end of a grouped search: its best formulas fitted to all rows, with related and round numbers where the data allows them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spl.formulas.minus_signs import move_minus
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN
from spl.formulas.tidying.tidy import tidy
from spl.groups.fit import LAST_JOINT_EFFORT, JointFit, fit_jointly, number_constants
from spl.groups.formula import GroupedFormula, plain_formula
from spl.groups.grammar import GroupedGrammar
from spl.groups.pool import Pool, unshare
from spl.groups.relations import relate_own_numbers, unfold_exponents
from spl.groups.rows import GroupedRows
from spl.groups.sharing import length_of
from spl.groups.starts import fit_each_group, group_tables
from spl.regression.candidate import Candidate
from spl.regression.fit import loss_of
from spl.regression.front import Front
from spl.regression.round_constants import round_constants
from spl.regression.simplify import simplify

MOST_FITTED_TO_ALL = 6  # formulas of the front, the best first, if the search saw only a part of the rows
MOST_RELATED = 6  # fits near the best one whose own numbers may follow from others
RELATED_NATS = 10.0  # per group: about what an own number costs at most, so a fit without one may overtake the best
MOST_POLISHED, NEAR_NATS = (
    3,
    8.0,
)  # the best fits, if their descriptions are hardly longer: about what round numbers save
SAME_LOSS = 1e-6  # relative: a tidied formula whose loss grows by more is another one


def polish_fits(
    pool: Pool, rows: GroupedRows, grammar: GroupedGrammar, must_stop: Callable[[], bool]
) -> list[JointFit]:
    """Return the fits of the front on all rows, with the choice among them polished."""
    fits = _fit_to_all(pool, rows, grammar, must_stop)
    nearest = sorted(fits, key=lambda fit: length_of(fit, rows))
    best = nearest[0] if grammar.has_own else _relate(nearest[0], pool, rows, grammar, must_stop)
    polished = _polish(best, rows, grammar, must_stop)
    most = length_of(best, rows) + NEAR_NATS
    for fit in nearest[1:MOST_POLISHED]:  # one with rounder numbers may overtake the best
        if length_of(fit, rows) <= most and not must_stop():
            other = _polish(fit, rows, grammar, must_stop)
            polished = min(polished, other, key=lambda each: length_of(each, rows))
    return [*(fit for fit in fits if not _hides(fit, polished, rows)), polished]


def _polish(fit: JointFit, rows: GroupedRows, grammar: GroupedGrammar, must_stop: Callable[[], bool]) -> JointFit:
    """Return the fit with its formula written more simply, and its numbers round where the data allows them."""
    polished = _tidy(_unfold(fit, rows, grammar), rows, grammar)
    polished = _round(polished, rows, grammar, must_stop)
    return polished if must_stop() else _simplify(polished, rows, grammar)


def _hides(fit: JointFit, polished: JointFit, rows: GroupedRows) -> bool:
    """Return whether a fit would keep the polished one, whose description is shorter, out of the front."""
    candidate = polished.candidate(rows)
    front = Front.from_candidates((fit.candidate(rows), candidate), rows.data.floor, rows.data.n_rows)
    return candidate not in front.candidates


def _relate(
    best: JointFit, pool: Pool, rows: GroupedRows, grammar: GroupedGrammar, must_stop: Callable[[], bool]
) -> JointFit:
    """Return the shortest fit once own numbers follow from others where they can: of the best, and of those that may overtake it."""
    most = pool.length(pool.best) + RELATED_NATS * max(each.n_groups for each in rows.groupings)
    near = [fit for fit in sorted(pool.fits.values(), key=pool.length) if pool.length(fit) <= most]
    several = [fit for fit in near if len(set(fit.formula.scopes)) < len(fit.formula.scopes)][:MOST_RELATED]
    found = [relate_own_numbers(best, rows, grammar.has_operator, must_stop)]
    for fit in several:
        whole = fit if pool.rows is rows else _fit_one_to_all(fit, rows)
        if whole is not None and not must_stop():
            found.append(relate_own_numbers(whole, rows, grammar.has_operator, must_stop))
    return min(found, key=lambda each: length_of(each, rows))


def _fit_to_all(
    pool: Pool, rows: GroupedRows, grammar: GroupedGrammar, must_stop: Callable[[], bool]
) -> list[JointFit]:
    """Return the fits of the front of the search on all rows."""
    chosen = sorted(pool.front_fits(), key=pool.length)
    if pool.rows is rows:
        return chosen
    found: list[JointFit] = []
    for k, fit in enumerate(chosen):
        if k >= MOST_FITTED_TO_ALL or (found and must_stop()):
            break
        found += filter(None, [_fit_one_to_all(fit, rows)])
    if not found:
        constant = Program((CONSTANT_TOKEN,), grammar.shared.vocabulary, (float(rows.data.target.mean()),))
        found += filter(None, [fit_jointly(plain_formula(constant), rows)])
    return found


def _fit_one_to_all(fit: JointFit, rows: GroupedRows) -> JointFit | None:
    """Return a fit of the search on all rows; None if its formula leaves its domain."""
    starts = (_typical(fit.formula, rows), _start_each_group(fit.formula, rows))
    fitted = (fit_jointly(start, rows) for start in starts if start is not None)
    return min(filter(None, fitted), key=lambda each: each.loss, default=None)


def _typical(formula: GroupedFormula, rows: GroupedRows) -> GroupedFormula:
    """Return the formula with a typical own number in all groups."""
    pairs = zip(formula.scopes, formula.values, strict=True)
    values = tuple(np.full(rows.groupings[scope].n_groups, np.nanmedian(each)) for scope, each in pairs)
    return replace(formula, values=values)


def _start_each_group(formula: GroupedFormula, rows: GroupedRows) -> GroupedFormula | None:
    """Return the formula with own numbers from fits to each group by itself; None if one of these fails."""
    structure, n_shared = unshare(formula), formula.program.n_constants
    places = number_constants(formula)[1].tolist()
    starts = {scope: fit_each_group(structure, group_tables(rows, scope)) for scope in set(formula.scopes)}
    values = []
    for place, scope in enumerate(formula.scopes):
        found = starts[scope]
        if found is None:
            return None
        values.append(found.values[:, places.index(n_shared + place)].copy())
    return replace(formula, values=tuple(values))


def _unfold(fit: JointFit, rows: GroupedRows, grammar: GroupedGrammar) -> JointFit:
    """Return the fit with own numbers that are added in an exponent as factors: `exp(k1 - x)` is `k1*exp(-x)`."""
    for formula in unfold_exponents(fit.formula):
        found = fit_jointly(formula, rows) if _is_allowed(formula, grammar) else None
        if found is not None and found.loss <= max(fit.loss * (1 + SAME_LOSS), rows.data.floor):
            return found
    return fit


def _tidy(fit: JointFit, rows: GroupedRows, grammar: GroupedGrammar) -> JointFit:
    """Return the fit with its formula written more simply, if its values stay the same and the grammar has it."""
    tidied = tidy(fit.formula.program)
    for program in (tidied, *move_minus(tidied)):
        formula = replace(fit.formula, program=program).without_unused()
        if formula.key == fit.formula.key:
            return fit
        if not _is_allowed(formula, grammar):
            continue
        found = fit_jointly(formula, rows)
        if found is not None and found.loss <= max(fit.loss * (1 + SAME_LOSS), rows.data.floor):
            return found
    return fit


def _simplify(fit: JointFit, rows: GroupedRows, grammar: GroupedGrammar) -> JointFit:
    """Return the fit with the shortest spelling of its formula that the grammar has."""
    names = fit.formula.program.vocabulary.variables[fit.formula.n_columns :]
    extended = rows.extend(fit.formula.scopes, fit.formula.values, names)

    def agree(program: Program, spelling: Program) -> bool:
        before, after = loss_of(program, extended), loss_of(spelling, extended)
        return after <= max(before * (1 + SAME_LOSS), rows.data.floor)

    formula = replace(fit.formula, program=simplify(fit.formula.program, agree)).without_unused()
    found = fit_jointly(formula, rows, LAST_JOINT_EFFORT) if _is_allowed(formula, grammar) else None
    if found is None or found.loss > max(fit.loss * (1 + SAME_LOSS), rows.data.floor):
        return fit
    return found


def _is_allowed(formula: GroupedFormula, grammar: GroupedGrammar) -> bool:
    return grammar.allows(formula) if grammar.has_own else True


def _round(fit: JointFit, rows: GroupedRows, grammar: GroupedGrammar, must_stop: Callable[[], bool]) -> JointFit:
    """Return the fit with round shared numbers where the data allows them, and all numbers fitted to the last digit."""
    last = fit_jointly(fit.formula, rows, LAST_JOINT_EFFORT) or fit
    known: dict[Program, JointFit] = {}

    def refit(program: Program) -> Candidate:
        found = None if must_stop() else fit_jointly(replace(last.formula, program=program), rows)
        if found is None:
            return Candidate(program, np.inf)
        known[found.formula.program] = found
        return Candidate(found.formula.program, found.loss, 0.0, found.number_nats)

    start = Candidate(last.formula.program, last.loss, 0.0, last.number_nats)
    rounded = known.get(round_constants(start, rows.data.n_rows, rows.data.floor, refit).program)
    if rounded is None:
        return last
    formula = replace(rounded.formula, program=tidy(rounded.formula.program)).without_unused()
    found = fit_jointly(formula, rows, LAST_JOINT_EFFORT)
    is_same = found is not None and found.loss <= max(rounded.loss * (1 + SAME_LOSS), rows.data.floor)
    return found if is_same and found is not None and _is_allowed(formula, grammar) else rounded
