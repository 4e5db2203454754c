"""One choice of equations from the fronts of all states: what it starts with, and what comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from spl.data.trajectories import Trajectories
from spl.dynamics.budget import SystemBudget
from spl.dynamics.proposals import Proposals, TermSums, find_simple_starts
from spl.dynamics.request import SystemRequest
from spl.dynamics.rows import SystemRows
from spl.dynamics.segments import spread_samples
from spl.dynamics.select import ChosenSystem, SystemChooser
from spl.dynamics.trials import SystemTrials, Trial
from spl.regression.front import Front

FrontRows = tuple[int, ...]  # a row of the front of each state


@dataclass(frozen=True, slots=True, eq=False)
class SystemChoice:
    """The choice of a system, ready to be made."""

    rows: SystemRows
    budget: SystemBudget
    trials: SystemTrials
    chooser: SystemChooser
    starts: Sequence[FrontRows]  # simple formulas
    costlier: FrontRows  # formulas closer to the derivatives, where simple ones are much farther off
    shortest: FrontRows  # formulas with the shortest descriptions of the derivatives
    n_followed: int  # samples that equations are followed along
    notes: tuple[str, ...]  # for people

    @classmethod
    def begin(
        cls,
        request: SystemRequest,
        rows: SystemRows,
        sums: Sequence[TermSums],
        fronts: Sequence[Front],
        shortest: FrontRows,
        budget: SystemBudget,
    ) -> "SystemChoice":
        """Take the fronts of all states, and the rows of their shortest descriptions."""
        plan = request.plan
        if plan.is_discrete:  # nothing is smoothed: the noise of a map is what its formulas leave unexplained
            losses = [front[row].loss for front, row in zip(fronts, shortest, strict=True)]
            rows = replace(rows, noise=np.array(losses))
        proposals = [Proposals(rows.dataset(state), front, sums[state]) for state, front in enumerate(fronts)]
        used, used_rows = _limit_samples(request.data, rows)
        trials = SystemTrials(used, used_rows, plan, budget)
        chooser = SystemChooser(used_rows, trials, request.grammars, proposals, budget, request.units)
        starts = [shortest] if plan.is_discrete else find_simple_starts(proposals, is_clean=rows.is_clean)
        shortest, repeated = chooser.make_solvable(shortest)
        if plan.is_implicit:  # with rates, the equations are all nearly right or none can be followed
            starts = [chooser.make_solvable(start)[0] for start in (*starts, shortest)]
        costlier = tuple(
            each.keep_simple(*rows_of) for each, *rows_of in zip(proposals, starts[-1], shortest, strict=True)
        )
        costlier = chooser.make_solvable(costlier)[0]
        return cls(rows, budget, trials, chooser, starts, costlier, shortest, used.n_samples, repeated)

    def choose(self, before: Trial | None = None) -> Trial | None:
        """Return the system that moves lead to, also from one that was chosen before; None if none can be followed."""
        return self.chooser.choose(self.starts, self.costlier, before)

    def finish(self, chosen: Trial | None) -> ChosenSystem:
        """Return the chosen system with precise constants; without one, the shortest descriptions."""
        return self.chooser.take(self.shortest) if chosen is None else self.chooser.finish(chosen)


def _limit_samples(data: Trajectories, rows: SystemRows) -> tuple[Trajectories, SystemRows]:
    """Return as many samples as are followed."""
    runs, starts = spread_samples(data.runs, rows.starts)
    used = replace(data, runs=tuple(runs))
    return (data, rows) if used.n_samples == data.n_samples else (used, replace(rows, starts=tuple(starts)))
