"""Equations with rates on both sides: which rates a search may use, and which formulas can be solved for the rates together.

The rates of other states are columns of each search. A formula counts only if it is linear in them. Formulas of several states are
the equations of a system only if none of them repeats another: then M(x) x' = r(x) has one solution everywhere along the data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.rows import SystemRows
from spl.errors import FormulaNotFound, GrammarError
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_restriction import restrict_grammar
from spl.formulas.program import Program
from spl.formulas.rates import MAX_COUPLED, is_linear_in_rates, name_coupled, rate_matrix, split_rates
from spl.formulas.system import System, rate_names
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate
from spl.regression.front import Front

Numbers = NDArray[np.float64]

SAME_COLUMN = (
    1e-2  # of the size of a rate: one that is closer to a multiple of a column is that column (theta' is omega)
)
WORST_RATIO = (
    1e-6  # of the smallest to the largest singular value of M, in units of the rates: beyond this it is singular
)
NOT_SOLVED = "The first equations found for {} cannot be solved for the rates, because {}; others were chosen."


def share_grammar(grammar: Grammar, states: Sequence[str], order: int, columns: Sequence[str]) -> list[Grammar]:
    """Return the grammar of each state: one for all, without the rate that the equation gives.

    Args:
        grammar: for all states.
        states: their names.
        order: of the system.
        columns: what is measured: states, velocities, inputs.

    Examples:
        >>> grammar = Grammar.from_text("f -> C * f | x | y | x' | y'")
        >>> [str(each) for each in share_grammar(grammar, ("x", "y"), 1, ("x", "y"))]
        ["f -> C * f | x | y | y'", "f -> C * f | x | y | x'"]
    """
    rates = rate_names(tuple(states), order)
    bound = grammar.bind([*columns, *rates])
    return [_without(bound, state, rate) for state, rate in zip(states, rates, strict=True)]


def _without(grammar: Grammar, state: str, rate: str) -> Grammar:
    restricted = restrict_grammar(grammar, {*grammar.vocabulary.variables} - {rate})
    if restricted is None:
        raise GrammarError(
            f"Every formula of the grammar contains {rate}, so the equation of {state} would give itself. "
            f"Add a rule that ends without {rate}."
        )
    return restricted


def check_own_rates(grammars: Sequence[Grammar], states: Sequence[str], order: int) -> None:
    """Raise a clear error if the grammar of a state contains the rate that its equation gives."""
    for state, rate, grammar in zip(states, rate_names(tuple(states), order), grammars, strict=True):
        if rate in _used_variables(grammar):
            raise GrammarError(
                f"The grammar of {state} contains {rate}, which its equation gives. Use the rates of other states only."
            )


def drop_copied_rates(grammars: Sequence[Grammar], rows: SystemRows) -> list[Grammar]:
    """Return the grammars without rates that are a column times a number along the data: theta' is omega.

    A rate stays where the grammar has no such column.
    """
    copies = {
        rate: [name for name, values in zip(rows.names, rows.table.T, strict=True) if _is_multiple(target, values)]
        for rate, target in zip(rows.rates, rows.targets.T, strict=True)
    }
    return [_drop_copied(grammar.bind(rows.variables), copies) for grammar in grammars]


def _is_multiple(target: Numbers, values: Numbers) -> bool:
    size, own = float(target @ target), float(values @ values)
    return own > 0 and size > 0 and 1 - float(target @ values) ** 2 / (size * own) < SAME_COLUMN**2


def _drop_copied(grammar: Grammar, copies: dict[str, list[str]]) -> Grammar:
    used = _used_variables(grammar)
    dropped = {rate for rate, names in copies.items() if rate in used and used.intersection(names)}
    restricted = restrict_grammar(grammar, {*grammar.vocabulary.variables} - dropped)
    return grammar if restricted is None else restricted


def find_unused_rates(grammars: Sequence[Grammar], rows: SystemRows) -> tuple[frozenset[str], ...]:
    """Return for each state the rates that its grammar does not have."""
    return tuple(frozenset(rows.rates) - _used_variables(grammar) for grammar in grammars)


def find_used_rates(grammars: Sequence[Grammar], states: Sequence[str], order: int) -> list[set[str]]:
    """Return for each state the rates that its grammar has.

    Examples:
        >>> find_used_rates([Grammar.from_text("f -> y' | x"), Grammar.from_text("f -> x")], ("x", "y"), 1)
        [{"y'"}, set()]
    """
    rates = {*rate_names(tuple(states), order)}
    return [rates & _used_variables(grammar) for grammar in grammars]


def _used_variables(grammar: Grammar) -> set[str]:
    tokens = {token for rule in grammar.rules for token in rule.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE}
    return {grammar.vocabulary.variables[token & tk.PAYLOAD_MASK] for token in tokens}


def keep_linear(front: Front, state: str, rows: SystemRows) -> Front:
    """Return the formulas of a front that are linear in the rates; raise a clear error if there is none."""
    linear = [candidate for candidate in front if is_linear_in_rates(candidate.program, len(rows.names))]
    if not linear:
        raise FormulaNotFound(
            f"No formula found for {state} is linear in the rates, so none can be solved for them. "
            "Let the grammar add rates, and multiply them only by what contains no rate."
        )
    return front if len(linear) == len(front) else Front.from_candidates(linear)


# ---- solvable together ---------------------------------------------------------------------------


def find_repeating(system: System, rows: SystemRows) -> tuple[str, ...]:
    """Return states whose equations cannot be solved for the rates everywhere along the data; empty if all can.

    One of their equations repeats the others there, or nearly so; or they are too many.
    """
    table = np.hstack([rows.table, rows.targets]).T
    matrix = _evaluate_matrix(rate_matrix(system), table, rows.targets.std(axis=0))
    for group in name_coupled(system) if system.is_implicit else []:
        places = [system.states.index(state) for state in group]
        if len(group) > MAX_COUPLED or _is_singular(matrix[:, places][:, :, places]):
            return group
    return ()


def _evaluate_matrix(parts: Sequence[Sequence[Program | None]], table: Numbers, scale: Numbers) -> Numbers:
    """Return I - B at each row, [M, D, D], in units of the spread of each rate."""
    n_states = len(parts)
    units = np.where(scale > 0, scale, 1.0)
    matrix = np.zeros((table.shape[1], n_states, n_states)) + np.eye(n_states)
    columns = np.ascontiguousarray(table)
    for i, row in enumerate(parts):
        for j, part in enumerate(row):
            if part is not None:
                matrix[:, i, j] -= evaluate(part, columns) * units[j] / units[i]
    return matrix


def _is_singular(matrix: Numbers) -> bool:
    known = matrix[np.isfinite(matrix).all(axis=(1, 2))]
    if not len(known):
        return True
    values = np.linalg.svd(known, compute_uv=False)
    signs = np.sign(np.linalg.det(known))
    return bool((values[:, -1] <= WORST_RATIO * values[:, 0]).any() or (signs != signs[0]).any())


def solvable_rows(
    chosen: tuple[int, ...], fronts: Sequence[Front], template: System, rows: SystemRows
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return rows of the fronts that can be solved for the rates, the given ones if they can; and notes about others.

    The template is a system over the same variables. If one equation repeats another, one of the two is replaced: by another formula
    of its front, or by one without rates.
    """
    if not template.is_implicit:
        return chosen, ()
    repeating = _repeating_rows(chosen, fronts, template, rows)
    if not repeating:
        return chosen, ()
    names = " and ".join(repeating)
    is_too_many = len(repeating) > MAX_COUPLED
    reason = f"more than {MAX_COUPLED} rates depend on each other" if is_too_many else "one repeats the others"
    for other in _other_rows(chosen, fronts, template, repeating):
        if not _repeating_rows(other, fronts, template, rows):
            return other, (NOT_SOLVED.format(names, reason),)
    raise FormulaNotFound(
        f"The equations found for {names} cannot be solved for the rates: {reason}. "
        "Let the grammar of at least one of these states have formulas without rates."
    )


def _repeating_rows(
    chosen: tuple[int, ...], fronts: Sequence[Front], template: System, rows: SystemRows
) -> tuple[str, ...]:
    programs = tuple(front[row].program for front, row in zip(fronts, chosen, strict=True))
    return find_repeating(replace(template, programs=programs), rows)


def _other_rows(
    chosen: tuple[int, ...], fronts: Sequence[Front], template: System, repeating: Sequence[str]
) -> Iterator[tuple[int, ...]]:
    """Yield other rows for one of the states, the next costlier ones first, then rows without rates for all of them."""
    places = [template.states.index(state) for state in repeating]
    ways = [(abs(row - chosen[k]), row < chosen[k], k, row) for k in places for row in range(len(fronts[k]))]
    for _, _, place, row in sorted(ways, key=lambda way: (way[1], way[0], way[2])):
        yield (*chosen[:place], row, *chosen[place + 1 :])
    explicit = list(chosen)
    for place in places:
        free = [k for k, each in enumerate(fronts[place]) if not _has_rates(each.program, len(template.columns))]
        if free:
            explicit[place] = free[-1]
    yield tuple(explicit)


def _has_rates(program: Program, n_columns: int) -> bool:
    form = split_rates(program, n_columns)
    return form is None or bool(form.factors)
