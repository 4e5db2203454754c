"""Whether the trajectories determine the equations of a system, or whether other simple equations fit them as well.

Along a closed orbit, a conserved quantity or a state that hardly moves, different terms have the same values, and no method can tell
them apart. So the terms of each equation are exchanged for others (`term_exchange`), and the most promising systems are fitted along
the trajectories. A system that fits as well is a rival if it is about as simple, or if it differs clearly from the equations at
points between the trajectories. What fits as well only because it is nearly the same function there, and takes longer to write down,
is none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import Deadline
from spl.dynamics.discover import NOT_FOLLOWED, SystemDiscovery
from spl.dynamics.followed_system import FollowedSystem
from spl.dynamics.refine import EXACT_TRAJECTORY, Refined
from spl.dynamics.state_relations import find_relation
from spl.dynamics.term_exchange import Exchange, find_exchanges, free_factors
from spl.errors import UndefinedError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.formulas.system import System
from spl.formulas.tidying.tidy import tidy
from spl.regression.description_length import equation_nats

Numbers = NDArray[np.float64]

ABOUT_AS_SIMPLE = (
    4.0  # nats by which the description of a rival may be longer in any case: a function instead of a variable is 3
)
NOT_TOO_LONG = (
    20.0  # nats by which it may be longer if the rival differs clearly between the trajectories: about two terms
)
DIFFERENT = 0.2  # of the size of an equation: rivals that differ by more in the box of the data do so clearly
SAME_FIT = (
    3.0  # nats: a system that fits worse by less cannot be told apart; two standard errors of one constant are 2 nats
)
WORTH_A_FIT = 10.0  # nats by which a system may be estimated to fit worse, to be fitted
MINOR = 0.05  # of the size of an equation: rivals that replace less of it do not count
STILL = 0.5  # of its noise: a state that moves by less hardly moves
N_LOOKED_AT = 12  # exchanges per state, the simplest first
N_FITTED = 3  # of these, per state
MAX_JUDGED_SAMPLES = 10_000  # more take time, and are represented by these

UNIQUE = (
    "No term can be exchanged for other simple terms that the grammar allows: the trajectories would fit worse, or nearly the same "
    "function would result."
)


@dataclass(frozen=True, slots=True, eq=False)
class SystemRival:
    """A system that the trajectories cannot tell from the one that was found: it has another equation for one state."""

    system: System  # fitted along the trajectories
    state: str  # whose equation differs
    misfit: float  # nats by which it fits worse; below 0 if it fits better
    nats: float  # by which its description is longer, misfit included
    difference: float  # between both equations in the box of the data, compared with the size of the present one

    @property
    def program(self) -> Program:
        """The other equation, tidied up."""
        return tidy(self.system.programs[self.system.states.index(self.state)])


@dataclass(frozen=True, slots=True, eq=False)
class Identifiability:
    """Whether the trajectories determine the equations."""

    is_unique: bool  # whether no other simple equations fit as well, as far as was tried
    reasons: tuple[str, ...]  # in words: what the trajectories lack, and what would help; or that they lack nothing
    rivals: tuple[SystemRival, ...]  # with the shortest descriptions first
    is_complete: bool = True  # whether there was time for all that was to be tried

    def __str__(self) -> str:
        return " ".join(self.reasons)


def judge_discovery(
    found: SystemDiscovery, data: Trajectories, grammars: Sequence[Grammar], max_seconds: float | None = None
) -> Identifiability | None:
    """Return whether other simple equations fit as well as those that were found; None if these cannot be followed along the data."""
    try:
        return judge_identifiability(FollowedSystem.of(found, data, grammars), max_seconds)
    except UndefinedError:
        return None


def judge_identifiability(followed: FollowedSystem, max_seconds: float | None = None) -> Identifiability:
    """Return whether other simple equations fit the trajectories as well; own numbers of runs stay as they are."""
    deadline = Deadline.after(max_seconds)
    followed = followed.with_own_known()
    judge = _Judge.of(followed, deadline)
    still = judge.find_still_states()
    rivals: list[SystemRival] = []
    states = [state for state in range(len(followed.system.states)) if followed.system.states[state] not in still]
    for state in states:
        if not deadline.is_over:
            rivals.extend(judge.find_rivals(state))
    rivals.sort(key=lambda rival: rival.nats)
    is_unique = not rivals and not still
    reasons = (UNIQUE,) if is_unique else tuple(judge.explain(rivals, still))
    if deadline.is_over:
        reasons = (*(() if is_unique else reasons), "There was no time to try all other equations.")
    return Identifiability(is_unique, reasons, tuple(rivals), not deadline.is_over)


@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """Compares a system with others that have other terms."""

    followed: FollowedSystem  # with a factor for each term, fitted again
    share: float  # of the samples that are judged
    deadline: Deadline

    @classmethod
    def of(cls, followed: FollowedSystem, deadline: Deadline) -> "_Judge":
        few = followed.with_few_samples(MAX_JUDGED_SAMPLES, deadline)
        base = few.fit(free_factors(few.system), max_seconds=deadline.seconds_left)
        if not base.is_used.any():
            raise UndefinedError(f"{NOT_FOLLOWED} So they cannot be compared with others.")
        return cls(replace(few, fitted=base), few.data.n_samples / followed.data.n_samples, deadline)

    @property
    def n_observations(self) -> int:
        return int(self.followed.data.n_samples * len(self.followed.data.states) / self.share)

    def find_rivals(self, state: int) -> Iterator[SystemRival]:
        """Yield systems with another equation for a state that fit as well."""
        scale = max(self.followed.fitted.error, self.followed.exact_error) * self.share
        exchanges = find_exchanges(
            self.followed, state, scale=scale, most_rise=WORTH_A_FIT, most_nats=NOT_TOO_LONG + SAME_FIT
        )
        looked_at = islice(exchanges, N_LOOKED_AT)
        promising = (each for each in looked_at if each.weight >= MINOR and _counts(each.nats, each.difference))
        for exchange in islice(promising, N_FITTED):
            if self.deadline.is_over:
                return
            rival = self._fit(exchange)
            if rival.misfit <= SAME_FIT and _counts(rival.nats, rival.difference):
                yield rival

    def _fit(self, exchange: Exchange) -> SystemRival:
        fitted = self.followed.fit(exchange.system, max_seconds=self.deadline.seconds_left)
        misfit = 0.5 * self.n_observations * log(self._error(fitted) / self._error(self.followed.fitted))
        present = self.followed.system.programs[exchange.state]
        price = equation_nats(exchange.program, self.n_observations) - equation_nats(present, self.n_observations)
        name = self.followed.system.states[exchange.state]
        return SystemRival(fitted.system, name, misfit, misfit + price, exchange.difference)

    def _error(self, fitted: Refined) -> float:
        return max(fitted.error, self.followed.exact_error) if fitted.is_used.any() else np.inf

    def find_still_states(self) -> dict[str, float]:
        """Return the states that move less than their noise, with how far they move."""
        spread, noise = self._states().std(axis=0), self.followed.noise
        pairs = zip(self.followed.data.states, spread.tolist(), noise.tolist(), strict=True)
        return {name: moved for name, moved, sd in pairs if moved < STILL * sd}

    def _states(self) -> Numbers:
        """Return the measured states along the fitted trajectories [N, D]."""
        states = self.followed.fitted.fitted_states(self.followed.states)
        return np.concatenate(states)[:, : len(self.followed.data.states)]

    def explain(self, rivals: Sequence[SystemRival], still: dict[str, float]) -> Iterator[str]:
        """Yield what the trajectories lack, and what would help."""
        yield "The trajectories do not determine the equations: others fit as well."
        data, noise = self.followed.data, dict(zip(self.followed.data.states, self.followed.noise, strict=True))
        for name, moved in still.items():
            yield (
                f"{name} hardly moves: it changes by about {moved:.2g}, and its noise is {noise[name]:.2g}. How it changes, and "
                f"what it does to the others, is unknown. Measure a run in which {name} changes."
            )
        inputs = zip(data.inputs, np.concatenate([run.u for run in data.runs]).T, strict=True)
        steady = [name for name, values in inputs if np.ptp(values) == 0 and name not in self.followed.known_names]
        for name in steady:
            yield f"The input {name} never changes, so its effect is unknown. Measure a run with another {name}."
        is_open = any(rival.difference >= DIFFERENT for rival in rivals)
        relation = None if still or self.followed.system.order == 2 else self._find_relation()
        if relation is not None and is_open:
            yield f"Within the noise, {relation} in all samples."
        if is_open:
            yield (
                "The trajectories fill only a curve or a surface of the region around them, and rivals differ in the rest of it. "
                "A run from another initial condition would decide."
            )
        elif not still and not steady:
            yield (
                "The states cover so small a range that rivals are nearly the same there. A run from an initial condition farther "
                "away would decide, or a longer one with less noise."
            )

    def _find_relation(self) -> str | None:
        states = self._states()
        noise = np.maximum(self.followed.noise, EXACT_TRAJECTORY * states.std(axis=0))
        return find_relation(states, noise, self.followed.data.states)


def _counts(nats: float, difference: float) -> bool:
    """Return whether a system that fits as well is a rival, given how much longer it is and how much it differs."""
    return nats <= ABOUT_AS_SIMPLE or (difference >= DIFFERENT and nats <= NOT_TOO_LONG)
