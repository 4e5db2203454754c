"""The joint fit of a formula with own numbers to all groups, and the price of its numbers.

A fit by likelihood repeats least squares with the weights that the noise model derives from the values of the formula, as in `fit`.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.text import CONSTANT_TOKEN
from spl.groups.formula import GroupedCandidate, GroupedFormula, to_candidate
from spl.groups.price import Blocks, nats_of_candidate, price_blocks
from spl.groups.rows import Arrangement, GroupedRows
from spl.kernels.programs import tokens as tk
from spl.kernels.programs.constant_roles import LINEAR
from spl.kernels.programs.evaluate import BLOCK
from spl.kernels.programs.fit import FitEffort
from spl.kernels.programs.grouped_fit import (
    GroupedProgram,
    Numbers,
    System,
    evaluate_equations,
    find_roles,
    fit_grouped,
)
from spl.kernels.programs.normal_equations import FIT_WORK
from spl.kernels.runtime.compiler import make_scratch
from spl.noise.models import IMPOSSIBLE
from spl.regression.candidate import Candidate
from spl.regression.fit import MAX_REWEIGHTINGS, SETTLED_NATS, find_scatter, weigh
from spl.regression.packing import pack_alphabet

JOINT_EFFORT = FitEffort(n_starts=1, n_scans=0, max_iterations=30, tolerance=1e-7)
LAST_JOINT_EFFORT = FitEffort(n_starts=1, n_scans=0, max_iterations=100, tolerance=1e-13)

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class JointFit:
    """A formula with its numbers fitted to all groups."""

    formula: GroupedFormula
    loss: float  # weighted root mean square error, or what likens it to even noise
    number_nats: float  # the price of all numbers
    blocks: "JointBlocks"  # of the normal equations at the numbers

    def candidate(self, rows: GroupedRows) -> GroupedCandidate:
        """Return the formula as a candidate of a front."""
        labels = [(each.name, each.labels) for each in rows.groupings]
        return to_candidate(_forget_missing(self.formula, rows), self.loss, self.number_nats, labels)


@dataclass(frozen=True, slots=True, eq=False)
class JointBlocks:
    """The normal equations at the numbers of a formula: gram matrices of the numbers, weighted rows."""

    shared: Array  # [S, S], in the order of the constants
    own: tuple[Array, ...]  # of each grouping in use: [G, O, O]
    cross: tuple[Array, ...]  # of each grouping in use: [G, O, S]
    places: tuple[tuple[int, ...], ...]  # of each grouping in use: which own numbers of the formula these are
    square: float  # weighted sum of squared errors


class _Packed:
    """The arrays of one formula for the kernel."""

    def __init__(self, formula: GroupedFormula, rows: GroupedRows) -> None:
        self.formula = formula
        self.arrangement = rows.arrange(tuple(sorted(set(formula.scopes))))
        arrangement = self.arrangement
        tokens, number_of = number_constants(formula)
        n_shared = formula.program.n_constants
        n_numbers = n_shared + len(formula.scopes)
        is_outer = np.array([False] * n_shared + [scope == arrangement.outer for scope in formula.scopes], np.bool_)
        is_inner = ~is_outer & (np.arange(n_numbers) >= n_shared)
        self.outer_places = tuple(int(k) - n_shared for k in np.flatnonzero(is_outer))
        self.inner_places = tuple(int(k) - n_shared for k in np.flatnonzero(is_inner))
        n_outer, n_inner = len(self.outer_places), len(self.inner_places)
        place = np.zeros(n_numbers, np.int64)
        place[is_outer] = np.arange(n_outer)
        place[~is_outer] = np.arange(n_numbers - n_outer)
        base, stride = np.where(is_outer, 0, place), np.where(is_inner, n_inner, 0)
        self.n_dense = n_shared + arrangement.n_inner * n_inner
        self.work = make_scratch(FIT_WORK)
        is_linear = _find_linear(tokens, number_of, n_numbers, self.work)
        dense_is_linear = np.empty(self.n_dense, np.bool_)
        dense_is_linear[:n_shared] = is_linear[:n_shared]
        dense_is_linear[n_shared:] = np.tile(is_linear[is_inner], arrangement.n_inner) if n_inner else False
        self.program = GroupedProgram(
            tokens, number_of, is_outer, place, base, stride, is_linear[is_outer], dense_is_linear
        )
        self.system = _make_system(arrangement, n_numbers, n_outer, self.n_dense, number_of.size)
        self.alphabet = pack_alphabet(formula.program.vocabulary)

    def numbers(self) -> Numbers:
        """Return the values of the formula's numbers."""
        formula, arrangement = self.formula, self.arrangement
        dense = np.empty(self.n_dense)
        n_shared = formula.program.n_constants
        dense[:n_shared] = formula.program.constants
        if self.inner_places:
            dense[n_shared:] = np.stack([formula.values[k] for k in self.inner_places], axis=1).ravel()
        outer = np.zeros((arrangement.n_outer, len(self.outer_places)))
        for column, k in enumerate(self.outer_places):
            outer[:, column] = formula.values[k]
        return Numbers(np.where(np.isfinite(dense), dense, 1.0), np.where(np.isfinite(outer), outer, 1.0))

    def with_numbers(self, numbers: Numbers) -> GroupedFormula:
        """Return the formula with other numbers."""
        formula, n_shared = self.formula, self.formula.program.n_constants
        values = list(formula.values)
        for column, k in enumerate(self.outer_places):
            values[k] = numbers.outer[:, column].copy()
        inner = numbers.dense[n_shared:].reshape(-1, len(self.inner_places)) if self.inner_places else None
        for column, k in enumerate(self.inner_places):
            assert inner is not None
            values[k] = inner[:, column].copy()
        return replace(formula, program=formula.program.with_constants(numbers.dense[:n_shared]), values=tuple(values))

    def blocks(self, square: float) -> JointBlocks:
        """Return the blocks of the normal equations that the kernel left."""
        system, cells, n_shared = self.system, self.arrangement.cells, self.formula.program.n_constants
        own, cross, places = [], [], []
        if self.outer_places:
            beside = np.zeros((self.arrangement.n_outer, n_shared, len(self.outer_places)))
            np.add.at(beside, cells.outer, system.cross[:, :n_shared])
            own.append(system.outer.copy())
            cross.append(beside.transpose(0, 2, 1).copy())
            places.append(self.outer_places)
        if self.inner_places:
            n = len(self.inner_places)
            starts = n_shared + n * np.arange(self.arrangement.n_inner)
            index = starts[:, np.newaxis] + np.arange(n)
            own.append(system.gram[index[:, :, np.newaxis], index[:, np.newaxis, :]].copy())
            cross.append(system.gram[index, :n_shared].copy())
            places.append(self.inner_places)
        return JointBlocks(system.gram[:n_shared, :n_shared].copy(), tuple(own), tuple(cross), tuple(places), square)


def number_constants(formula: GroupedFormula) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the tokens with own numbers as constants, and the number behind each constant: shared ones come first."""
    tokens, number_of = [], []
    n_shared = 0
    for token in formula.program.tokens:
        payload = token & tk.PAYLOAD_MASK
        if token >> tk.KIND_SHIFT == tk.VARIABLE and payload >= formula.n_columns:
            tokens.append(CONSTANT_TOKEN)
            number_of.append(formula.program.n_constants + payload - formula.n_columns)
            continue
        if token == CONSTANT_TOKEN:
            number_of.append(n_shared)
            n_shared += 1
        tokens.append(token)
    return np.array(tokens, np.int32), np.array(number_of, np.int64)


def can_be_fitted(formula: GroupedFormula) -> bool:
    """Return whether the kernel has room for a formula."""
    tokens, number_of = number_constants(formula)
    return tokens.size <= tk.MAX_PROGRAM_LENGTH and number_of.size <= tk.MAX_CONSTANTS


def _find_linear(
    tokens: NDArray[np.int32], number_of: NDArray[np.int64], n_numbers: int, work: object
) -> NDArray[np.bool_]:
    find_roles(tokens, work)
    is_linear = np.ones(n_numbers, np.bool_)
    for number, role in zip(number_of, work.role, strict=False):  # type: ignore[attr-defined]
        is_linear[number] &= role == LINEAR
    return is_linear


def _make_system(arrangement: Arrangement, n_numbers: int, n_outer: int, n_dense: int, n_constants: int) -> System:
    n_groups, n_cells, n_beside = arrangement.n_outer, arrangement.cells.outer.size, n_numbers - n_outer
    empty = np.empty
    return System(
        gram=empty((n_dense, n_dense)),
        slope=empty(n_dense),
        outer=empty((n_groups, n_outer, n_outer)),
        outer_slope=empty((n_groups, n_outer)),
        cross=empty((n_cells, n_beside, n_outer)),
        factor=empty((n_groups, n_outer, n_outer)),
        reduced_slope=empty((n_groups, n_outer)),
        reduced_cross=empty((n_cells, n_beside, n_outer)),
        dense=empty((n_dense, n_dense)),
        dense_slope=empty(n_dense),
        pivots=empty(max(n_dense, n_outer, 1)),
        cell_gram=empty((n_numbers, n_numbers)),
        cell_slope=empty(n_numbers),
        by_number=empty(max(n_numbers, 1) * BLOCK),
        constants=empty(max(n_constants, 1)),
    )


# ---- fitting -------------------------------------------------------------------------------------


def fit_jointly(formula: GroupedFormula, rows: GroupedRows, effort: FitEffort = JOINT_EFFORT) -> JointFit | None:
    """Return the formula fitted to all groups, starting from its numbers; None if it is too long or leaves its domain.

    Examples:
        >>> from spl.data.groupings import Grouping
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.formulas.text import parse_expression
        >>> from spl.groups.formula import make_own, plain_formula
        >>> x = np.tile(np.linspace(0.0, 1.0, 5), 2)
        >>> wood = Grouping.from_labels(5 * ["oak"] + 5 * ["ash"], "wood")
        >>> rows = GroupedRows(Dataset.from_arrays(x[:, np.newaxis], 2 * x + wood.codes, names=["x"]), (wood,))
        >>> line = plain_formula(parse_expression("C*x + C", Vocabulary(("x",))).with_constants(np.ones(2)))
        >>> fitted = fit_jointly(make_own(line, 1, 0, np.ones(2)), rows)
        >>> fitted.formula.program.constants, fitted.formula.values[0].round(9) + 0.0
        ((2.0,), array([0., 1.]))
    """
    if not can_be_fitted(formula):
        return None
    packed = _Packed(formula, rows)
    if rows.data.noise is None:
        return _fit_squares(packed, rows, effort)
    return _fit_by_likelihood(packed, rows, effort)


def _fit_squares(packed: _Packed, rows: GroupedRows, effort: FitEffort) -> JointFit | None:
    formula, square = _run_kernel(packed, rows, effort)
    if not np.isfinite(square):
        return None
    return _price(packed, formula, rows.data, float(np.sqrt(square / rows.data.n_rows)), square)


def _run_kernel(packed: _Packed, rows: GroupedRows, effort: FitEffort) -> tuple[GroupedFormula, float]:
    numbers = packed.numbers()
    room = [Numbers(numbers.dense.copy(), numbers.outer.copy()) for _ in range(3)]
    table = rows.pack(packed.arrangement)
    cells, alphabet = packed.arrangement.cells, packed.alphabet
    square = fit_grouped(packed.program, numbers, *room, cells, alphabet, table, effort, packed.system, packed.work)
    return packed.with_numbers(numbers), float(square)


def _price(packed: _Packed, formula: GroupedFormula, data: Dataset, loss: float, square: float) -> JointFit | None:
    blocks = packed.blocks(square)
    own = tuple(np.stack([formula.values[k] for k in places], axis=1) for places in blocks.places)
    with np.errstate(all="ignore"):
        price = price_blocks(
            Blocks(blocks.shared, blocks.own, blocks.cross, np.array(formula.program.constants), own),
            square=max(square, data.n_rows * data.floor**2),
            n_rows=data.n_rows,
        )
    if not np.isfinite(price).all():
        return None
    nats = nats_of_candidate(price, formula.program, len(formula.scopes), data.n_rows)
    return JointFit(formula, loss, nats, blocks)


def _fit_by_likelihood(packed: _Packed, rows: GroupedRows, effort: FitEffort) -> JointFit | None:
    names = packed.formula.program.vocabulary.variables[packed.formula.n_columns :]

    def extend(formula: GroupedFormula) -> Dataset:
        return rows.extend(formula.scopes, formula.values, names)

    formula = packed.formula
    scatter = find_scatter(formula.program, extend(formula)) if _has_values(formula) else IMPOSSIBLE
    for _ in range(MAX_REWEIGHTINGS):
        plain = replace(rows.data, noise=None) if scatter is IMPOSSIBLE else weigh(rows.data, scatter.precisions)
        packed.formula = formula
        moved, square = _run_kernel(packed, rows.with_data(plain), effort)
        found = find_scatter(moved.program, extend(moved)) if np.isfinite(square) else IMPOSSIBLE
        gain = scatter.nats - found.nats
        if not gain > 0:
            break
        formula, scatter = moved, found
        if gain < SETTLED_NATS:
            break
    if scatter is IMPOSSIBLE:
        return None
    return _price_by_likelihood(packed, formula, rows, scatter.precisions, scatter.equivalent_error(rows.data.floor))


def _price_by_likelihood(
    packed: _Packed, formula: GroupedFormula, rows: GroupedRows, precisions: Array, loss: float
) -> JointFit | None:
    plain = weigh(rows.data, precisions)
    packed.formula = formula
    square = evaluate_equations(
        packed.program,
        packed.numbers(),
        packed.arrangement.cells,
        packed.alphabet,
        rows.with_data(plain).pack(packed.arrangement),
        packed.system,
        packed.work,
    )
    if not np.isfinite(square):
        return None
    priced = _price(packed, formula, plain, loss, float(plain.n_rows / precisions.mean()))
    return None if priced is None else replace(priced, loss=loss)


def _has_values(formula: GroupedFormula) -> bool:
    numbers = [np.array(formula.program.constants), *formula.values]
    return all(np.isfinite(each).all() for each in numbers)


def _forget_missing(formula: GroupedFormula, rows: GroupedRows) -> GroupedFormula:
    """Return the formula with NaN for the own numbers of groups without rows."""
    values = tuple(
        np.where(rows.groupings[scope].count_rows() > 0, each, np.nan)
        for scope, each in zip(formula.scopes, formula.values, strict=True)
    )
    return replace(formula, values=values)


def loss_of_fit(fit: JointFit | None) -> float:
    """Return the loss of a fit; infinity if there is none."""
    return np.inf if fit is None else fit.loss


def plain_candidate(candidate: Candidate) -> GroupedCandidate:
    """Return a candidate without own numbers as one of a grouped front."""
    return GroupedCandidate(candidate.program, candidate.loss, candidate.reward, candidate.number_nats)
