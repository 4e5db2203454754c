"""A found system along its trajectories: what all questions about its certainty begin with."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import Deadline
from spl.dynamics.discover import NOT_FOLLOWED, SystemDiscovery
from spl.dynamics.proposals import can_be_fitted
from spl.dynamics.refine import EXACT_TRAJECTORY, Precision, Refined, find_precision, noise_to_weigh, refine
from spl.dynamics.segments import spread_samples
from spl.errors import UndefinedError
from spl.formulas.constant_slots import literals_to_constants, numbers_to_constants
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_restriction import restrict_grammar
from spl.formulas.system import System, rate_names
from spl.units.system_units import SystemUnits

Numbers = NDArray[np.float64]

REFIT_SECONDS = 20.0  # that following the system of a run file again may take


@dataclass(frozen=True, slots=True, eq=False)
class FollowedSystem:
    """The equations of a system, fitted along the trajectories."""

    fitted: Refined
    data: Trajectories  # those that are followed: parts of them, if there are too many samples
    states: Sequence[Numbers]  # smoothed ones of the first-order form [N, S], one array per run
    noise: Numbers  # [D]
    grammars: Sequence[Grammar]  # one per state, over the variables of the system
    units: SystemUnits | None = None

    @classmethod
    def of(cls, found: SystemDiscovery, data: Trajectories, grammars: Sequence[Grammar]) -> "FollowedSystem":
        """Take what a run found; a system from a file is followed again."""
        runs, states = spread_samples(data.runs, found.rows.starts)
        used = replace(data, runs=tuple(runs))
        fitted = found.refined
        if fitted is None:
            fitted = refine(found.system, runs, states, found.rows.noise, max_seconds=REFIT_SECONDS)
        if not fitted.is_used.any():
            raise UndefinedError(f"{NOT_FOLLOWED} So nothing is known about their errors.")
        bound = [_bind(grammar, found) for grammar in grammars]
        return cls(fitted, used, states, found.rows.noise, bound, found.units)

    @property
    def known_names(self) -> tuple[str, ...]:
        """The names of named constants, which are inputs that never change."""
        return () if self.units is None else tuple(self.units.known)

    @property
    def system(self) -> System:
        """The equations."""
        return self.fitted.system

    def with_own_known(self) -> "FollowedSystem":
        """Return the system with the own numbers of its runs as inputs that are known: for questions about its terms."""
        if not self.system.own:
            return self
        plain = self.system.with_own_as_inputs()
        errors = self.fitted.standard_errors[: plain.n_constants]
        return replace(self, fitted=replace(self.fitted, system=plain, standard_errors=errors))

    def with_free_numbers(self, *, has_factors: bool = False) -> System:
        """Return the equations with constants in place of their numbers, but for those that a grammar gives.

        With `has_factors`, terms without a number get one too. The equations are returned as they are if they had too many.
        """
        programs = []
        for program, grammar in zip(self.system.programs, self.grammars, strict=True):
            given = grammar.vocabulary.literals
            free = literals_to_constants(program, given)
            longer = numbers_to_constants(program, kept=given) if has_factors else free
            programs.append(longer if can_be_fitted(longer) else free if can_be_fitted(free) else program)
        return replace(self.system, programs=tuple(programs))

    def find_precision(self, system: System) -> Precision:
        """Return how well the data determines the constants of the system, which may be written in another form."""
        return find_precision(system, self.fitted, self.data.runs, self.states, self.noise)

    def with_few_samples(self, most: int, deadline: Deadline) -> "FollowedSystem":
        """Return the system with about this many samples at most, in stretches spread evenly over all runs."""
        if self.data.n_samples <= most:
            return self
        runs, states = spread_samples(self.data.runs, self.states, most)
        fitted = refine(self.system, runs, states, self.noise, max_seconds=deadline.seconds_left)
        return replace(self, fitted=fitted, data=replace(self.data, runs=tuple(runs)), states=states)

    @property
    def exact_error(self) -> float:
        """The mean squared residual, in units of the noise, up to which trajectories are exact."""
        measured = np.concatenate([run.x for run in self.data.runs])
        return float(np.mean((EXACT_TRAJECTORY * measured.std(axis=0) / noise_to_weigh(self.noise, measured)) ** 2))

    def fit(self, system: System, max_seconds: float) -> Refined:
        """Fit another system along the same segments, from the same states."""
        return refine(system, self.data.runs, self.states, self.noise, before=self.fitted, max_seconds=max_seconds)


def _bind(grammar: Grammar, found: SystemDiscovery) -> Grammar:
    """Return a grammar over the variables of what was found, without rates if these were dropped."""
    variables = found.rows.variables
    rates = rate_names(found.system.states, found.system.order)
    if found.rows.rates or not set(rates) & set(grammar.vocabulary.variables):
        return grammar.bind(variables)
    restricted = restrict_grammar(grammar.bind(variables + rates), variables)
    assert restricted is not None, "equations without rates were found"
    return restricted.bind(variables)
