"""The rows of each trajectory by itself: for equations whose numbers differ between trajectories."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.data.trajectories import Trajectories, Trajectory
from spl.dynamics.rows import Plan, SystemRows, make_rows
from spl.dynamics.segments import MAX_FOLLOWED_SAMPLES, spread_samples
from spl.formulas.system import System

Numbers = NDArray[np.float64]


def make_rows_of_system(data: Trajectories, plan: Plan, system: System | None) -> SystemRows:
    """Return the rows that a system was found from: run by run if it has own numbers, which are then further columns."""
    return (
        RunRows.make(data, plan).with_own_columns(system)
        if system is not None and system.own
        else make_rows(data, plan)
    )


@dataclass(frozen=True, slots=True, eq=False)
class RunRows:
    """The rows of each trajectory, and what is followed of it."""

    data: Trajectories
    of_runs: tuple[SystemRows, ...]  # one per trajectory, which may have several pieces
    datasets: tuple[tuple[Dataset, ...], ...]  # per state, those of all trajectories
    pieces: tuple[Trajectory, ...]  # of all trajectories, or parts of them if there are too many samples
    starts: tuple[Numbers, ...]  # smoothed states of the pieces
    noise: Numbers  # [D]

    @classmethod
    def make(cls, data: Trajectories, plan: Plan) -> "RunRows":
        """Make the rows of each trajectory as if it were the only one."""
        runs = [data.take([place]) for place in range(len(data.run_labels))]
        of_runs = tuple(make_rows(run, plan) for run in runs)
        n_states = len(data.states)
        datasets = tuple(tuple(rows.dataset(state) for rows in of_runs) for state in range(n_states))
        most = max(1, MAX_FOLLOWED_SAMPLES // len(runs))
        spread = [spread_samples(run.runs, rows.starts, most) for run, rows in zip(runs, of_runs, strict=True)]
        pieces = tuple(replace(piece, experiment=place) for place, (some, _) in enumerate(spread) for piece in some)
        starts = tuple(states for _, some in spread for states in some)
        counts = np.array([run.n_samples for run in runs])
        squares = np.array([rows.noise**2 for rows in of_runs])
        noise = np.sqrt((counts @ squares) / counts.sum())
        return cls(data, of_runs, datasets, pieces, starts, noise)

    @property
    def n_runs(self) -> int:
        """How many trajectories there are."""
        return len(self.of_runs)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of all equations."""
        return self.of_runs[0].names

    @property
    def is_clean(self) -> bool:
        """Whether no trajectory has more than hardly any noise."""
        return all(rows.is_clean for rows in self.of_runs)

    def join(self, state: int) -> tuple[Dataset, NDArray[np.intp]]:
        """Return the rows of all trajectories with the derivative of a state as the target, and the trajectory of each row."""
        table = np.vstack([rows.table for rows in self.of_runs])
        targets = np.concatenate([rows.targets[:, state] for rows in self.of_runs])
        codes = np.repeat(np.arange(self.n_runs), [len(rows.table) for rows in self.of_runs])
        return Dataset.from_arrays(table, targets, names=self.names), codes

    def with_own_columns(self, system: System) -> SystemRows:
        """Return the rows of all trajectories together, with the own numbers of a system as further columns."""
        values = np.array([number.values for number in system.own]).reshape(len(system.own), self.n_runs)
        tables = [
            np.hstack([rows.table, np.tile(own, (len(rows.table), 1))])
            for rows, own in zip(self.of_runs, values.T, strict=True)
        ]
        weak = tuple(
            replace(form, columns=np.vstack([form.columns, np.tile(own[:, np.newaxis], (1, form.columns.shape[1]))]))
            for rows, own in zip(self.of_runs, values.T, strict=True)
            for form in rows.weak
        )
        return replace(
            self.of_runs[0],
            names=(*self.names, *(number.name for number in system.own)),
            table=np.vstack(tables),
            targets=np.vstack([rows.targets for rows in self.of_runs]),
            starts=tuple(states for rows in self.of_runs for states in rows.starts),
            noise=self.noise,
            weak=weak,
        )
