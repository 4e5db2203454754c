"""Terms of an equation that the trajectories cannot tell from other terms, estimated from one linearisation of the fit.

All simple terms that are not in an equation are added to it with a factor of 0. How the trajectories depend on all factors says, to
second order, how much worse they would fit if some terms of the equation were left out and others came in. That is exact where it
matters: if two equations agree along the data, so do their trajectories. Constants and first states are fitted again in every case.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from spl.dynamics.followed_system import FollowedSystem
from spl.dynamics.simple_terms import Term, has_sums, is_allowed
from spl.dynamics.term_library import function_terms, product_terms
from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.grammar import Grammar
from spl.formulas.operators import is_function
from spl.formulas.program import Program
from spl.formulas.summands import Summand, split_sum, without_summands
from spl.formulas.system import System
from spl.formulas.text import CONSTANT_TOKEN
from spl.kernels.programs import tokens as tk
from spl.notation.terms import add_term, multiply_out
from spl.regression.fit import evaluate

Numbers = NDArray[np.float64]

MAX_EXCHANGE_TERMS = 40  # that may come in, the simplest first
MAX_DROPPED = 2  # terms of one equation that are left out together
SAME_EVERYWHERE = 1e-9  # relative: terms whose values differ by less at random points are the same formula
N_POINTS = 100  # random points at which formulas are compared
REACH = 1.0  # ranges of the data by which these points may lie outside of it
NEARBY = 0.05  # of the range of a column: as far from the data, a term must still have a value
SINGULAR = 1e-10  # share of the information on a term that must be independent of other terms
LARGEST = 3.0  # times the size of what is left out: larger terms that come in only cancel each other


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Another equation for one state."""

    state: int
    dropped: tuple[Summand, ...]
    system: System  # with the other equation, and with the constants that should fit best
    rise: float  # nats by which it is estimated to fit worse
    weight: float  # size of what is left out, compared with that of the whole equation

    @property
    def program(self) -> Program:
        """The other equation."""
        return self.system.programs[self.state]


def free_factors(system: System) -> System:
    """Return the equations multiplied out, with a constant as the factor of each term."""
    return replace(system, programs=tuple(numbers_to_constants(multiply_out(each)) for each in system.programs))


def find_exchanges(followed: FollowedSystem, state: int, scale: float, most: float) -> list[Exchange]:
    """Return other equations for a state that are estimated to fit at most some nats worse, the best of them first.

    Up to two terms are left out, and at most one more comes in.

    Args:
        followed: the system in the form of `free_factors`.
        state: whose equation is changed.
        scale: the mean squared residual that is expected, in units of the noise.
        most: nats by which an equation may fit worse.
    """
    program = followed.system.programs[state]
    summands = split_sum(program)
    along = columns_along(followed)
    size = _root_mean_square(evaluate(program, along))
    found: list[Exchange] = []
    for terms in _choose_terms(followed, state):
        model = _QuadraticModel.of(followed, state, terms, scale)
        if model is None:
            continue
        for dropped in _subsets(summands, MAX_DROPPED):
            lost = _root_mean_square(sum((evaluate(each.part, along) for each in dropped), np.zeros(along.shape[1])))
            for chosen, rise in model.find_substitutes(dropped, most):
                system = model.exchange(followed.system, state, dropped, chosen)
                if _largest_new(system.programs[state], [terms[k] for k in chosen], along) <= LARGEST * lost:
                    found.append(Exchange(state, dropped, system, rise, lost / size))
        break
    return sorted(found, key=lambda exchange: exchange.rise)


def _subsets(summands: Sequence[Summand], most: int) -> Iterator[tuple[Summand, ...]]:
    return chain.from_iterable(combinations(summands, size) for size in range(1, most + 1))


def _root_mean_square(values: Numbers) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _largest_new(program: Program, terms: Sequence[Term], along: Numbers) -> float:
    """Return the size of the largest of the terms that came in; they are the last ones of the equation."""
    factors = program.constants[-len(terms) :]
    values = [factor * _term_values(program, term, along) for factor, term in zip(factors, terms, strict=True)]
    return max(map(_root_mean_square, values))


# ---- terms ---------------------------------------------------------------------------------------


def _choose_terms(followed: FollowedSystem, state: int) -> Iterator[list[Term]]:
    """Yield the terms that may come in; then only products of variables, in case a function has no value on the way."""
    terms = list(_other_terms(followed, state))
    products = [term for term in terms if not any(map(is_function, term))]
    yield from (each for each in (terms, products) if each)


def _other_terms(followed: FollowedSystem, state: int) -> Iterator[Term]:
    """Yield simple terms that the grammar allows and the equation does not have, and that have values near the data."""
    program, points = followed.system.programs[state], sample_points(followed)
    along = columns_along(followed)
    steps = NEARBY * np.ptp(along, axis=1, keepdims=True)
    near = np.hstack([along, along - steps, along + steps])
    known = [evaluate(summand.part, points) for summand in split_sum(program)]
    n_before = len(known)
    for term in _simple_terms(followed.grammars[state], len(followed.system.columns)):
        if len(known) - n_before == MAX_EXCHANGE_TERMS:
            return
        values, close = _term_values(program, term, points), _term_values(program, term, near)
        is_usable = np.isfinite(close).all() and bool(close.any())
        if is_usable and not any(_are_proportional(values, each) for each in known):
            known.append(values)
            yield term


def _simple_terms(grammar: Grammar, n_columns: int) -> Iterator[Term]:
    """Yield the terms with at most one function that a grammar allows, the simplest first; rates are no variables here."""
    if not has_sums(grammar):
        return
    words = grammar.vocabulary
    names = words.variables[:n_columns]
    for term in sorted([*product_terms(words, names), *function_terms(grammar, names)], key=len):
        if sum(map(is_function, term)) <= 1 and is_allowed(grammar, term):
            yield term


def _term_values(program: Program, term: Term, points: Numbers) -> Numbers:
    return evaluate(Program(term, program.vocabulary), points) if term else np.ones(points.shape[1])


def _are_proportional(one: Numbers, two: Numbers) -> bool:
    """Return whether one formula is a multiple of another wherever both have values."""
    both = np.isfinite(one) & np.isfinite(two)
    with np.errstate(all="ignore"):
        product = np.linalg.norm(one[both]) * np.linalg.norm(two[both])
        return bool(abs(one[both] @ two[both]) >= (1 - SAME_EVERYWHERE) * product)


def sample_points(followed: FollowedSystem) -> Numbers:
    """Return random points [variables, P] in and around the data."""
    columns = columns_along(followed)
    low, high = columns.min(axis=1), columns.max(axis=1)
    reach = REACH * np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    rng = np.random.default_rng(0)
    return np.ascontiguousarray(rng.uniform(low - reach, high + reach, (N_POINTS, low.size)).T)


def columns_along(followed: FollowedSystem) -> Numbers:
    """Return states and inputs along the fitted trajectories [variables, N]; rates, if the equations have any, count as 1."""
    states = followed.fitted.fitted_states(followed.states)
    rows = [np.hstack([of_run, run.u]) for of_run, run in zip(states, followed.data.runs, strict=True)]
    columns = np.concatenate(rows).T
    n_rates = len(followed.system.variables) - len(columns)
    return np.ascontiguousarray(np.vstack([columns, np.ones((n_rates, columns.shape[1]))]))


# ---- how much worse other terms fit --------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _QuadraticModel:
    """Half the squared error near the fit, as a function of the constants [C] of all equations and the factors of new terms [K]."""

    terms: Sequence[Term]
    constants: Numbers  # [C]
    first: int  # place of the first constant of the equation
    information: Numbers  # [C + K, C + K], constants first; in nats

    @classmethod
    def of(
        cls, followed: FollowedSystem, state: int, terms: Sequence[Term], scale: float
    ) -> "_QuadraticModel | None":
        """Return the model, or None if trajectories are lost because a term has no value somewhere."""
        system, fitted, states = followed.system, followed.fitted, followed.states
        programs = list(system.programs)
        programs[state] = reduce(add_term, terms, programs[state])
        larger = replace(system, programs=tuple(programs))
        end = sum(program.n_constants for program in programs[: state + 1])
        new = np.arange(end - len(terms), end)
        old = np.setdiff1d(np.arange(larger.n_constants), new)
        sizes = np.ones(larger.n_constants)
        sizes[new] = _expected_factors(followed, state, terms)
        matrix = replace(fitted, system=larger).information(states, sizes) / scale
        expected = np.diag(fitted.information(states)) / scale
        has_all = np.isfinite(matrix).all() and np.allclose(np.diag(matrix)[old], expected, rtol=0.1)
        order = np.concatenate([old, new])
        first = sum(program.n_constants for program in programs[:state])
        return cls(terms, system.constants, first, matrix[np.ix_(order, order)]) if has_all else None

    def find_substitutes(self, dropped: Sequence[Summand], most: float) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield one or two new terms, by place, that may replace summands at most some nats worse, and by how many."""
        new = np.arange(self.constants.size, len(self.information))
        own, pull, at_once = self._reduce(dropped, new)
        is_seen = np.diag(own) > SINGULAR * np.diag(self.information)[new]
        for j in np.flatnonzero(is_seen):
            rise = at_once - 0.5 * float(pull[j] ** 2 / own[j, j])
            if rise <= most:
                yield (int(j),), max(rise, 0.0)
        one, two = np.triu_indices(new.size, 1)
        both = is_seen[one] & is_seen[two]
        one, two = one[both], two[both]
        a, b, c = own[one, one], own[one, two], own[two, two]
        determinant = np.where(a * c - b * b > SINGULAR * a * c, a * c - b * b, np.inf)
        gain = (c * pull[one] ** 2 - 2 * b * pull[one] * pull[two] + a * pull[two] ** 2) / determinant
        rises = at_once - 0.5 * gain
        for k in np.flatnonzero(rises <= most):
            yield (int(one[k]), int(two[k])), max(float(rises[k]), 0.0)

    def exchange(self, system: System, state: int, dropped: Sequence[Summand], chosen: Sequence[int]) -> System:
        """Return the system with other terms in place of summands, and with the constants that fit best."""
        new = self.constants.size + np.array(chosen)
        own, pull, _ = self._reduce(dropped, new)
        factors = -_solve(own, pull[:, np.newaxis])[:, 0]
        kept, places = self._kept(dropped), self._factors(dropped)
        moved = np.concatenate([factors, -self.constants[places]])
        steps = -_solve(
            self.information[np.ix_(kept, kept)],
            self.information[np.ix_(kept, np.concatenate([new, places]))] @ moved[:, np.newaxis],
        )[:, 0]
        constants = self.constants.copy()
        constants[kept] += steps
        tuned = system.with_constants(constants)
        shorter = without_summands(tuned.programs[state], dropped)
        programs = list(tuned.programs)
        programs[state] = _add_terms(shorter, [self.terms[k] for k in chosen], factors, programs[state])
        return replace(system, programs=tuple(programs))

    def _factors(self, dropped: Sequence[Summand]) -> NDArray[np.int64]:
        return np.array([self.first + each.factor for each in dropped])

    def _kept(self, dropped: Sequence[Summand]) -> NDArray[np.int64]:
        """Return the constants that are not in what is left out."""
        inside = [self.first + place for each in dropped for place in each.constants]
        return np.setdiff1d(np.arange(self.constants.size), inside)

    def _reduce(self, dropped: Sequence[Summand], new: NDArray[np.int64]) -> tuple[Numbers, Numbers, float]:
        """Return the information on new terms [K, K], the pull on them [K], and the rise without any, with the others fitted again."""
        kept, places, matrix = self._kept(dropped), self._factors(dropped), self.information
        change = -self.constants[places]
        solved = _solve(matrix[np.ix_(kept, kept)], matrix[np.ix_(kept, np.concatenate([new, places]))])
        across = matrix[np.ix_(new, kept)]
        own = matrix[np.ix_(new, new)] - across @ solved[:, : new.size]
        mixed = matrix[np.ix_(new, places)] - across @ solved[:, new.size :]
        alone = matrix[np.ix_(places, places)] - matrix[np.ix_(places, kept)] @ solved[:, new.size :]
        return own, mixed @ change, 0.5 * float(change @ alone @ change)


def _expected_factors(followed: FollowedSystem, state: int, terms: Sequence[Term]) -> Numbers:
    """Return factors [K] with which terms would be as large as the equation."""
    program, along = followed.system.programs[state], columns_along(followed)
    size = _root_mean_square(evaluate(program, along))
    sizes = np.array([_root_mean_square(_term_values(program, term, along)) for term in terms])
    return np.asarray((size or 1.0) / sizes)


def _add_terms(shorter: Program | None, terms: Sequence[Term], factors: Numbers, program: Program) -> Program:
    """Return a sum with further terms; the first of them begins it if nothing is left of it."""
    for term, factor in zip(terms, factors.tolist(), strict=True):
        if shorter is None:
            tokens = (tk.MUL, CONSTANT_TOKEN, *term) if term else (CONSTANT_TOKEN,)
            shorter = Program(tokens, program.vocabulary, (factor,))
        else:
            longer = add_term(shorter, term)
            shorter = longer.with_constants(np.append(shorter.constants, factor))
    assert shorter is not None
    return shorter


def _solve(matrix: Numbers, right: Numbers) -> Numbers:
    """Return the solution of symmetric equations, which may be singular."""
    if not len(matrix):
        return np.zeros_like(right)
    size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    inverse = np.linalg.pinv(matrix / np.outer(size, size), rcond=SINGULAR, hermitian=True)
    return np.asarray(inverse @ (right / size[:, np.newaxis]) / size[:, np.newaxis])
