"""Fit a program whose constants have one value for all rows, or one for each group of a grouping.

The normal equations have the shape of an arrow: numbers of different groups of one grouping never meet. So the numbers of the outer
grouping are eliminated group by group, and a dense system remains for the shared ones and those of the inner grouping. Rows are
sorted by cells, which are the pairs of an outer and an inner group, so that constants have one value within a cell. The cost is
proportional to the rows and the groups; the memory, to the cells and to the square of the dense system.
"""

from typing import NamedTuple

import numpy as np

from spl.kernels.programs.constant_gradients import differentiate_by_constants
from spl.kernels.programs.constant_roles import assign_roles
from spl.kernels.programs.evaluate import BLOCK
from spl.kernels.programs.fit import ROUNDING
from spl.kernels.programs.normal_equations import DEPENDENT_PIVOT, dot, residuals
from spl.kernels.runtime.compiler import kernel
from spl.kernels.runtime.linking import linked_kernel

FIRST_DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-3, 1e-12, 1e9


class GroupedProgram(NamedTuple):
    """A program, and what its constants are: several may be one number, and a number is of the outer grouping or dense."""

    tokens: np.ndarray  # int32[L]
    number_of: np.ndarray  # int64[C], the number behind each constant
    is_outer: np.ndarray  # bool[P], whether each outer group has its own value of the number
    place: np.ndarray  # int64[P], of the number among the outer or among the dense ones
    base: np.ndarray  # int64[P], of a dense number: its place in the dense system in inner group 0 ...
    stride: np.ndarray  # int64[P], ... and how far apart its places in inner groups are; 0 if it is shared
    outer_is_linear: np.ndarray  # bool[O], whether the program is jointly affine in all linear numbers
    dense_is_linear: np.ndarray  # bool[M]


class Cells(NamedTuple):
    """Runs of rows with the same groups, sorted by outer group, then by inner group."""

    ends: np.ndarray  # int64[K + 1], the first row of each cell, and the number of rows
    outer: np.ndarray  # int64[K]
    inner: np.ndarray  # int64[K]


class Numbers(NamedTuple):
    """Values of all numbers, or a step of them."""

    dense: np.ndarray  # float64[M]
    outer: np.ndarray  # float64[G, O]


class System(NamedTuple):
    """The normal equations, and room to solve them. Q counts the dense numbers of one cell."""

    gram: np.ndarray  # float64[M, M], of the dense numbers
    slope: np.ndarray  # float64[M]
    outer: np.ndarray  # float64[G, O, O]
    outer_slope: np.ndarray  # float64[G, O]
    cross: np.ndarray  # float64[K, Q, O]
    factor: np.ndarray  # float64[G, O, O], lower triangles
    reduced_slope: np.ndarray  # float64[G, O]
    reduced_cross: np.ndarray  # float64[K, Q, O]
    dense: np.ndarray  # float64[M, M]
    dense_slope: np.ndarray  # float64[M]
    pivots: np.ndarray  # float64[max(M, O)], by which vanishing pivots are judged
    cell_gram: np.ndarray  # float64[P, P]
    cell_slope: np.ndarray  # float64[P]
    by_number: np.ndarray  # float64[P * BLOCK], derivatives by each number
    constants: np.ndarray  # float64[C], in one cell


@kernel
def fill_zeros(values):
    """Set all numbers of an array to zero."""
    flat = values.reshape(-1)
    for k in range(flat.size):
        flat[k] = 0.0


@kernel
def take_constants(program, numbers, g, h, constants):
    """Fill the constants of a program with their values in an outer and an inner group."""
    for c in range(program.number_of.size):
        p = program.number_of[c]
        if program.is_outer[p]:
            constants[c] = numbers.outer[g, program.place[p]]
        else:
            constants[c] = numbers.dense[program.base[p] + program.stride[p] * h]


@kernel
def add_block(program, table, first, n, system, work):
    """Add the rows of one block to the normal equations of its cell; residuals and derivatives are in `work`."""
    n_numbers = program.place.size
    for k in range(n_numbers * BLOCK):
        system.by_number[k] = 0.0
    for c in range(program.number_of.size):
        at = program.number_of[c] * BLOCK
        for j in range(n):
            system.by_number[at + j] += work.jacobian[c * BLOCK + j]
    for a in range(n_numbers):
        system.cell_slope[a] += dot(system.by_number, a * BLOCK, work.weighted, 0, n)
    for a in range(n_numbers):
        for j in range(n):
            work.weighted[j] = system.by_number[a * BLOCK + j] * table.weights[first + j]
        for b in range(a + 1):
            system.cell_gram[a, b] += dot(system.by_number, b * BLOCK, work.weighted, 0, n)


@linked_kernel
def cell_equations(program, numbers, cells, cell, alphabet, table, system, work) -> float:
    """Fill the normal equations of one cell, lower triangle; return its squared error, infinity outside the domain."""
    take_constants(program, numbers, cells.outer[cell], cells.inner[cell], system.constants)
    fill_zeros(system.cell_gram)
    fill_zeros(system.cell_slope)
    total = 0.0
    for first in range(cells.ends[cell], cells.ends[cell + 1], BLOCK):
        n = min(BLOCK, cells.ends[cell + 1] - first)
        differentiate_by_constants(
            program.tokens,
            program.tokens.size,
            system.constants,
            alphabet,
            table.columns,
            first,
            n,
            work.tape,
            work.adjoint,
            work.jacobian,
            work.places,
        )
        total += residuals(table, first, n, work.tape, work)
        if not np.isfinite(total):
            return np.inf
        add_block(program, table, first, n, system, work)
    for a in range(program.place.size):
        if not np.isfinite(system.cell_gram[a, a]):
            return np.inf
    return total


@kernel
def add_cell(program, cells, cell, system):
    """Add the normal equations of a cell to the system."""
    g, h = cells.outer[cell], cells.inner[cell]
    for p in range(program.place.size):
        a, at = program.place[p], program.base[p] + program.stride[p] * h
        if program.is_outer[p]:
            system.outer_slope[g, a] += system.cell_slope[p]
        else:
            system.slope[at] += system.cell_slope[p]
        for q in range(program.place.size):
            entry = system.cell_gram[max(p, q), min(p, q)]
            if program.is_outer[p] and program.is_outer[q]:
                system.outer[g, a, program.place[q]] += entry
            elif program.is_outer[q]:
                system.cross[cell, a, program.place[q]] += entry
            elif not program.is_outer[p]:
                system.gram[at, program.base[q] + program.stride[q] * h] += entry


@linked_kernel
def grouped_equations(program, numbers, cells, alphabet, table, system, work) -> float:
    """Fill the system at these numbers; return the squared error, infinity if the program leaves its domain."""
    fill_zeros(system.gram)
    fill_zeros(system.slope)
    fill_zeros(system.outer)
    fill_zeros(system.outer_slope)
    fill_zeros(system.cross)
    total = 0.0
    for cell in range(cells.outer.size):
        total += cell_equations(program, numbers, cells, cell, alphabet, table, system, work)
        if not np.isfinite(total):
            return np.inf
        add_cell(program, cells, cell, system)
    return total


# ---- the damped step -----------------------------------------------------------------------------


@kernel
def factorise(matrix, size, pivots):
    """Replace the lower triangle of a matrix by its Cholesky factor.

    A pivot that is tiny compared with `pivots` gives a column of zeros: others can replace that number.
    """
    for i in range(size):
        for k in range(i):
            total = matrix[i, k]
            for m in range(k):
                total -= matrix[i, m] * matrix[k, m]
            matrix[i, k] = total / matrix[k, k] if matrix[k, k] > 0.0 else 0.0
        total = matrix[i, i]
        for m in range(i):
            total -= matrix[i, m] * matrix[i, m]
        matrix[i, i] = np.sqrt(total) if total > DEPENDENT_PIVOT * pivots[i] else 0.0


@kernel
def solve_forward(factor, size, values):
    """Replace values by the solution of factor * solution = values."""
    for i in range(size):
        total = values[i]
        for k in range(i):
            total -= factor[i, k] * values[k]
        values[i] = total / factor[i, i] if factor[i, i] > 0.0 else 0.0


@kernel
def solve_backward(factor, size, values):
    """Replace values by the solution of factor' * solution = values."""
    for i in range(size - 1, -1, -1):
        total = values[i]
        for k in range(i + 1, size):
            total -= factor[k, i] * values[k]
        values[i] = total / factor[i, i] if factor[i, i] > 0.0 else 0.0


@linked_kernel
def eliminate(program, cells, damping, only_linear, system) -> None:
    """Factor the blocks of the outer groups, and reduce their slopes and what is beside them."""
    n_outer = program.outer_is_linear.size
    for g in range(system.outer_slope.shape[0]):
        for a in range(n_outer):
            is_fitted = program.outer_is_linear[a] or not only_linear
            for b in range(a):
                both = is_fitted and (program.outer_is_linear[b] or not only_linear)
                system.factor[g, a, b] = system.outer[g, a, b] if both else 0.0
            scale = 1.0 if program.outer_is_linear[a] else 1.0 + damping
            system.factor[g, a, a] = scale * system.outer[g, a, a] if is_fitted else 0.0
            system.pivots[a] = system.factor[g, a, a]
            system.reduced_slope[g, a] = system.outer_slope[g, a]
        factorise(system.factor[g], n_outer, system.pivots)
        solve_forward(system.factor[g], n_outer, system.reduced_slope[g])
    for cell in range(cells.outer.size):
        for q in range(system.cross.shape[1]):
            for a in range(n_outer):
                system.reduced_cross[cell, q, a] = system.cross[cell, q, a]
            solve_forward(system.factor[cells.outer[cell]], n_outer, system.reduced_cross[cell, q])


@linked_kernel
def subtract_eliminated(program, cells, system) -> None:
    """Subtract from the dense system what the outer groups explain."""
    n_outer = program.outer_is_linear.size
    first = 0  # cell of the outer group
    for cell in range(cells.outer.size):
        if cells.outer[cell] != cells.outer[first]:
            first = cell
        g = cells.outer[cell]
        for p in range(program.place.size):
            if program.is_outer[p]:
                continue
            at = program.base[p] + program.stride[p] * cells.inner[cell]
            own = system.reduced_cross[cell, program.place[p]]
            for o in range(n_outer):
                system.dense_slope[at] -= own[o] * system.reduced_slope[g, o]
            for other in range(first, cells.outer.size):
                if cells.outer[other] != g:
                    break
                for q in range(program.place.size):
                    if program.is_outer[q]:
                        continue
                    beside = system.reduced_cross[other, program.place[q]]
                    total = 0.0
                    for o in range(n_outer):
                        total += own[o] * beside[o]
                    system.dense[at, program.base[q] + program.stride[q] * cells.inner[other]] -= total


@linked_kernel
def solve_grouped(program, cells, damping, only_linear, system, step) -> None:
    """Fill the step from the system: of all numbers, damped where the program is not affine in them, or of the linear ones alone."""
    n_dense, n_outer = program.dense_is_linear.size, program.outer_is_linear.size
    eliminate(program, cells, damping, only_linear, system)
    for a in range(n_dense):
        system.dense_slope[a] = system.slope[a]
        for b in range(n_dense):
            system.dense[a, b] = system.gram[a, b]
    subtract_eliminated(program, cells, system)
    for a in range(n_dense):
        extra = 0.0 if program.dense_is_linear[a] else damping * system.gram[a, a]
        system.dense[a, a] += extra
        system.pivots[a] = system.gram[a, a] + extra
        step.dense[a] = system.dense_slope[a]
        if only_linear and not program.dense_is_linear[a]:
            step.dense[a] = 0.0
            for b in range(n_dense):
                system.dense[a, b] = 0.0
                system.dense[b, a] = 0.0
    factorise(system.dense, n_dense, system.pivots)
    solve_forward(system.dense, n_dense, step.dense)
    solve_backward(system.dense, n_dense, step.dense)
    for g in range(system.outer_slope.shape[0]):
        for o in range(n_outer):
            step.outer[g, o] = system.reduced_slope[g, o]
    for cell in range(cells.outer.size):
        for p in range(program.place.size):
            if not program.is_outer[p]:
                moved = step.dense[program.base[p] + program.stride[p] * cells.inner[cell]]
                for o in range(n_outer):
                    step.outer[cells.outer[cell], o] -= system.reduced_cross[cell, program.place[p], o] * moved
    for g in range(system.outer_slope.shape[0]):
        solve_backward(system.factor[g], n_outer, step.outer[g])


# ---- the fit -------------------------------------------------------------------------------------


@kernel
def move(source, step, target):
    """Put the sum of numbers and a step into `target`."""
    for a in range(source.dense.size):
        target.dense[a] = source.dense[a] + step.dense[a]
    for g in range(source.outer.shape[0]):
        for o in range(source.outer.shape[1]):
            target.outer[g, o] = source.outer[g, o] + step.outer[g, o]


@kernel
def copy_all(source, target):
    """Copy numbers."""
    for a in range(source.dense.size):
        target.dense[a] = source.dense[a]
    for g in range(source.outer.shape[0]):
        for o in range(source.outer.shape[1]):
            target.outer[g, o] = source.outer[g, o]


@linked_kernel
def settle_linear(program, numbers, spare, step, error, cells, alphabet, table, system, work) -> float:
    """Move the linear numbers to their optimum, if that lowers the error; fill the system there and return the squared error."""
    solve_grouped(program, cells, 0.0, True, system, step)
    move(numbers, step, spare)
    settled = grouped_equations(program, spare, cells, alphabet, table, system, work)
    if settled < error:
        copy_all(spare, numbers)
        return settled
    return grouped_equations(program, numbers, cells, alphabet, table, system, work)


@linked_kernel
def run_grouped_fit(program, numbers, trial, spare, step, cells, alphabet, table, effort, system, work) -> float:
    """Improve the numbers in place by Levenberg-Marquardt; return the squared error and leave the system there.

    Linear numbers move to their optimum in every step. The error is infinite if the numbers given lie outside the domain.
    """
    error = grouped_equations(program, numbers, cells, alphabet, table, system, work)
    if not np.isfinite(error):
        return error
    goal = ROUNDING * table.square
    error = settle_linear(program, numbers, spare, step, error, cells, alphabet, table, system, work)
    damping = FIRST_DAMPING
    for _ in range(effort.max_iterations):
        if error <= goal or damping > MOST_DAMPING:
            break
        solve_grouped(program, cells, damping, False, system, step)
        move(numbers, step, trial)
        found = grouped_equations(program, trial, cells, alphabet, table, system, work)
        if np.isfinite(found):
            found = settle_linear(program, trial, spare, step, found, cells, alphabet, table, system, work)
        if found < error:
            copy_all(trial, numbers)
            is_settled = error - found <= effort.tolerance * error
            error = found
            damping = max(0.1 * damping, LEAST_DAMPING)
            if is_settled:
                break
        else:
            damping *= 10.0
            is_settled = found - error <= effort.tolerance * error
            error = grouped_equations(program, numbers, cells, alphabet, table, system, work)
            if is_settled:
                break
    return error


@kernel
def fit_grouped(program, numbers, trial, spare, step, cells, alphabet, table, effort, system, work):
    """Improve the numbers in place; return the squared error. `trial`, `spare` and `step` are room for as many numbers."""
    return run_grouped_fit(program, numbers, trial, spare, step, cells, alphabet, table, effort, system, work)


@kernel
def evaluate_equations(program, numbers, cells, alphabet, table, system, work):
    """Fill the system at these numbers, for Python; return the squared error."""
    return grouped_equations(program, numbers, cells, alphabet, table, system, work)


@kernel
def find_roles(tokens, work):
    """Fill the roles of the constants of a program; return whether it has at most MAX_CONSTANTS."""
    return assign_roles(tokens, tokens.size, work)
