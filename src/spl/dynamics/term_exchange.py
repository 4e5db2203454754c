"""Terms of an equation that the trajectories cannot tell from other terms, estimated from one linearisation of the fit.

All simple terms that are not in an equation are added to it with a factor of 0. How the trajectories depend on all factors says, to
second order, how much worse they would fit if some terms of the equation were left out and others came in. That is exact where it
matters: if two equations agree along the data, so do their trajectories. Constants and first states are fitted again in every case.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.dynamics.followed_system import FollowedSystem
from spl.dynamics.pure_terms import PureTable
from spl.dynamics.simple_terms import Term, has_sums, is_allowed, write_sum
from spl.dynamics.term_library import function_terms, product_terms
from spl.formulas.constant_slots import numbers_to_constants
from spl.formulas.grammar import Grammar
from spl.formulas.operators import is_function
from spl.formulas.program import Program, Vocabulary
from spl.formulas.summands import Summand, split_sum, without_summands
from spl.formulas.system import System
from spl.notation.terms import add_term, multiply_out
from spl.regression.description_length import EQUATION_TOKEN_NATS, equation_nats
from spl.regression.fit import evaluate

Numbers = NDArray[np.float64]

MAX_EXCHANGE_TERMS = 40  # that may come in, the simplest first
MAX_DROPPED = 2  # terms of one equation that are left out together
SAME_EVERYWHERE = 1e-9  # relative: terms whose values differ by less at random points are the same formula
N_POINTS = 100  # random points at which formulas are compared
POINT_REACH = 1.0  # ranges of the data by which these points may lie outside of it
NEARBY = 0.05  # of the range of a column: as far from the data, a term must still have a value
SINGULAR = 1e-10  # share of the information on a term that must be independent of other terms
LARGEST = 3.0  # times the size of what is left out: larger terms that come in only cancel each other


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Another equation for one state."""

    state: int
    system: System  # with the other equation, and with the constants that should fit best
    terms: frozenset[Term]  # that came in
    rise: float  # nats by which it is estimated to fit worse
    price: float  # nats by which it takes longer to write down
    weight: float  # size of what is left out along the data, compared with that of the whole equation
    difference: float  # between both equations in the box of the data, compared with the size of the present one

    @property
    def program(self) -> Program:
        """The other equation."""
        return self.system.programs[self.state]

    @property
    def nats(self) -> float:
        """The nats by which its description is longer."""
        return self.rise + self.price


def free_factors(system: System) -> System:
    """Return the equations multiplied out, with a constant as the factor of each term."""
    return replace(system, programs=tuple(numbers_to_constants(multiply_out(each)) for each in system.programs))


def find_exchanges(
    followed: FollowedSystem, state: int, *, scale: float, most_rise: float, most_nats: float
) -> Iterator[Exchange]:
    """Yield other equations for a state, those with the shortest descriptions first.

    Up to two terms are left out, and one or two come in. An equation that contains another one that was yielded is skipped.

    Args:
        followed: the system in the form of `free_factors`.
        state: whose equation is changed.
        scale: the mean squared residual that is expected, in units of the noise.
        most_rise: nats by which an equation may fit worse, as far as that can be estimated.
        most_nats: nats by which its description may be longer.
    """
    models = (_QuadraticModel.of(followed, state, terms, scale) for terms in _choose_terms(followed, state))
    model = next(filter(None, models), None)
    if model is None:
        return
    program, along = followed.system.programs[state], columns_along(followed)
    inside = sample_points(followed, reach=0.0)
    size = _root_mean_square(evaluate(program, along))
    yielded: list[tuple[frozenset[int], frozenset[int]]] = []
    for substitute in model.find_substitutes(split_sum(program), _Prices(program, _count_observations(followed))):
        if substitute.rise > most_rise or substitute.rise + substitute.price > most_nats:
            continue
        sets = frozenset(each.factor for each in substitute.dropped), frozenset(substitute.chosen)
        if any(dropped <= sets[0] and chosen <= sets[1] for dropped, chosen in yielded):
            continue
        new = [model.terms[place] for place in substitute.chosen]
        system = model.exchange(followed.system, state, substitute)
        other = system.programs[state]
        parts = (evaluate(each.part, along) for each in substitute.dropped)
        lost = _root_mean_square(sum(parts, np.zeros(along.shape[1])))
        if _largest_new(other, new, along) > LARGEST * lost:
            continue
        yielded.append(sets)
        yield Exchange(
            state,
            system,
            frozenset(new),
            substitute.rise,
            substitute.price,
            lost / (size or 1.0),
            _relative_difference(evaluate(other, inside), evaluate(program, inside)),
        )


def _count_observations(followed: FollowedSystem) -> int:
    return followed.data.n_samples * len(followed.data.states)


def _root_mean_square(values: Numbers) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _relative_difference(values: Numbers, truth: Numbers) -> float:
    """Return how far values are from the true ones, compared with the size of these, wherever both exist."""
    both = np.isfinite(values) & np.isfinite(truth)
    if not both.any():
        return 0.0
    return _root_mean_square((values - truth)[both]) / (_root_mean_square(truth[both]) or 1.0)


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
    program, points = followed.system.programs[state], sample_points(followed, reach=POINT_REACH)
    along = columns_along(followed)
    steps = NEARBY * np.ptp(along, axis=1, keepdims=True)
    near = np.hstack([along, along - steps, along + steps])
    known = [evaluate(summand.part, points) for summand in split_sum(program)]
    n_before = len(known)
    for term in _allowed_terms(followed, state, along):
        if len(known) - n_before == MAX_EXCHANGE_TERMS:
            return
        values, close = _term_values(program, term, points), _term_values(program, term, near)
        is_usable = np.isfinite(close).all() and bool(close.any())
        if is_usable and not any(_are_proportional(values, each) for each in known):
            known.append(values)
            yield term


def _allowed_terms(followed: FollowedSystem, state: int, along: Numbers) -> Iterator[Term]:
    """Yield simple terms that the grammar allows, and the units, if there are any."""
    grammar, n_columns = followed.grammars[state], len(followed.system.columns)
    if followed.units is None:
        yield from _simple_terms(grammar, n_columns)
        return
    units = followed.units.tables[state]
    pure = PureTable.of(grammar, Dataset.from_arrays(along.T, along[0], names=units.names), units)
    if pure is None:
        yield from (term for term in _simple_terms(grammar, n_columns) if is_allowed(grammar, term, units))
        return
    written = map(pure.write_term, _simple_terms(pure.grammar, len(pure.groups.names)))
    yield from (term for term in written if term is not None and is_allowed(grammar, term, units))


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


def sample_points(followed: FollowedSystem, *, reach: float) -> Numbers:
    """Return random points [variables, P] in the box of the data, or up to `reach` of its ranges outside of it.

    Named constants have their values everywhere.
    """
    columns = columns_along(followed)
    low, high = columns.min(axis=1), columns.max(axis=1)
    margin = reach * np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    is_known = [name in followed.known_names for name in followed.system.columns]
    margin[: len(is_known)][is_known] = 0.0
    rng = np.random.default_rng(0)
    return np.ascontiguousarray(rng.uniform(low - margin, high + margin, (N_POINTS, low.size)).T)


def columns_along(followed: FollowedSystem) -> Numbers:
    """Return states and inputs along the fitted trajectories [variables, N]; rates, if the equations have any, count as 1."""
    states = followed.fitted.fitted_states(followed.states)
    rows = [np.hstack([of_run, run.u]) for of_run, run in zip(states, followed.data.runs, strict=True)]
    columns = np.concatenate(rows).T
    n_rates = len(followed.system.variables) - len(columns)
    return np.ascontiguousarray(np.vstack([columns, np.ones((n_rates, columns.shape[1]))]))


# ---- how much worse other terms fit --------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Substitute:
    """New terms, by place, for some summands."""

    dropped: tuple[Summand, ...]
    chosen: tuple[int, ...]
    rise: float
    price: float


@dataclass(frozen=True, slots=True, eq=False)
class _Prices:
    """What terms add to the description of an equation, in nats."""

    program: Program
    n_observations: int

    def of_summands(self, summands: Sequence[Summand]) -> float:
        return sum(equation_nats(each.part, self.n_observations) + EQUATION_TOKEN_NATS for each in summands)

    def of_terms(self, terms: Sequence[Term]) -> Numbers:
        sums = [write_sum(self.program.vocabulary, [(term, 1.0)]) for term in terms]
        return np.array([equation_nats(each, self.n_observations) + EQUATION_TOKEN_NATS for each in sums])


@dataclass(frozen=True, slots=True, eq=False)
class _QuadraticModel:
    """Half the squared error near the fit, as a function of the constants [C] of all equations and the factors of new terms [K]."""

    terms: Sequence[Term]
    constants: Numbers  # [C]
    first: int  # place of the first constant of the equation
    information: Numbers  # [C + K, C + K], constants first; in nats

    @classmethod
    def of(cls, followed: FollowedSystem, state: int, terms: Sequence[Term], scale: float) -> "_QuadraticModel | None":
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

    def find_substitutes(self, summands: Sequence[Summand], prices: _Prices) -> list[_Substitute]:
        """Return one or two new terms for one or two summands, by the length of their descriptions."""
        of_terms = prices.of_terms(self.terms)
        found = [
            _Substitute(dropped, chosen, rise, float(of_terms[list(chosen)].sum()) - prices.of_summands(dropped))
            for size in range(1, MAX_DROPPED + 1)
            for dropped in combinations(summands, size)
            for chosen, rise in self._substitutes_for(dropped)
        ]
        return sorted(found, key=lambda each: each.rise + each.price)

    def _substitutes_for(self, dropped: Sequence[Summand]) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield one or two new terms, by place, with the nats by which they fit worse than the summands."""
        new = np.arange(self.constants.size, len(self.information))
        own, pull, at_once = self._reduce(dropped, new)
        is_seen = np.diag(own) > SINGULAR * np.diag(self.information)[new]
        for j in np.flatnonzero(is_seen):
            yield (int(j),), max(at_once - 0.5 * float(pull[j] ** 2 / own[j, j]), 0.0)
        one, two = np.triu_indices(new.size, 1)
        both = is_seen[one] & is_seen[two]
        one, two = one[both], two[both]
        a, b, c = own[one, one], own[one, two], own[two, two]
        determinant = np.where(a * c - b * b > SINGULAR * a * c, a * c - b * b, np.inf)
        gain = (c * pull[one] ** 2 - 2 * b * pull[one] * pull[two] + a * pull[two] ** 2) / determinant
        rises = np.maximum(at_once - 0.5 * gain, 0.0)
        yield from zip(zip(one.tolist(), two.tolist(), strict=True), rises.tolist(), strict=True)

    def exchange(self, system: System, state: int, substitute: _Substitute) -> System:
        """Return the system with other terms in place of summands, and with the constants that fit best."""
        dropped, new = substitute.dropped, self.constants.size + np.array(substitute.chosen)
        own, pull, _ = self._reduce(dropped, new)
        factors = -_solve(own, pull[:, np.newaxis])[:, 0]
        kept, places = self._kept(dropped), self._factors(dropped)
        moved = np.concatenate([factors, -self.constants[places]])
        across = self.information[np.ix_(kept, np.concatenate([new, places]))]
        constants = self.constants.copy()
        constants[kept] -= _solve(self.information[np.ix_(kept, kept)], across @ moved[:, np.newaxis])[:, 0]
        programs = list(system.with_constants(constants).programs)
        shorter = without_summands(programs[state], dropped)
        programs[state] = _add_terms(
            shorter, [self.terms[k] for k in substitute.chosen], factors, programs[state].vocabulary
        )
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


def _add_terms(shorter: Program | None, terms: Sequence[Term], factors: Numbers, words: Vocabulary) -> Program:
    """Return a sum with further terms at its end, each with its factor; they are all of it if nothing was left."""
    further = write_sum(words, zip(terms, factors.tolist(), strict=True))
    if shorter is None:
        return further
    longer = reduce(add_term, terms, shorter)
    return longer.with_constants(np.append(shorter.constants, factors))


def _solve(matrix: Numbers, right: Numbers) -> Numbers:
    """Return the solution of symmetric equations, which may be singular."""
    if not len(matrix):
        return np.zeros_like(right)
    size = np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny))
    inverse = np.linalg.pinv(matrix / np.outer(size, size), rcond=SINGULAR, hermitian=True)
    return np.asarray(inverse @ (right / size[:, np.newaxis]) / size[:, np.newaxis])
