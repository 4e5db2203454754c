"""Trajectories: samples of the states of a system over time, checked once and for all.

Missing samples are left out and runs are split at long gaps; `notes` report both. Any other defect is an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spl.data.arrays import read_matrix, read_numbers
from spl.data.dataset import check_size
from spl.data.groupings import read_labels
from spl.errors import DataError, count_noun, list_names, shorten, show_value
from spl.formulas.system import velocity_names

MIN_RUN_SAMPLES = 5  # fewer samples say nothing about a derivative and its noise
EVEN_STEPS = 1e-6  # steps that differ by less, relative to their mean, are even
CONSTANT_STATE = 1e-13  # a state that moves less, relative to its size, only shows rounding
_REGULAR_SHARE = 0.9  # of the steps of a regular run are nearly equal
_REGULAR_TOLERANCE = 0.01  # nearly equal, relative to the median step
_REGULAR_GAP = 2.5  # in median steps; below it, at most one sample is missing
_IRREGULAR_GAP = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """One run of a system without gaps.

    Examples:
        >>> run = Trajectory(t=np.arange(5) / 10, x=np.ones((5, 2)), u=np.empty((5, 0)), x_dot=None)
        >>> run.n_samples, run.step
        (5, 0.1)
    """

    t: NDArray[np.float64]  # [N], strictly increasing
    x: NDArray[np.float64]  # [N, D], states
    u: NDArray[np.float64]  # [N, U], inputs; U may be 0
    x_dot: NDArray[np.float64] | None  # [N, D], measured derivatives
    experiment: int = 0  # the place of the trajectory that it is, or is a piece of, among all that have usable samples

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.t.size

    @property
    def step(self) -> float | None:
        """Time between samples if it is the same everywhere, up to rounding; else None."""
        mean = float(self.t[-1] - self.t[0]) / (self.n_samples - 1)
        rounding = 4.0 * np.finfo(np.float64).eps * float(np.max(np.abs(self.t)))
        return mean if np.max(np.abs(np.diff(self.t) - mean)) <= EVEN_STEPS * mean + rounding else None


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """Runs of one system, with the names of its states and inputs.

    Examples:
        >>> x = np.column_stack([np.sin(np.arange(9)), np.cos(np.arange(9))])
        >>> data = Trajectories.from_arrays(x, 0.1, names=["position", "speed"])
        >>> data.names, data.n_samples
        (('position', 'speed'), 9)
        >>> x[3, 1] = np.nan
        >>> Trajectories.from_arrays(x, 0.1).notes
        ('The trajectory: 1 of 9 samples with missing values left out.',)
    """

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    runs: tuple[Trajectory, ...]
    notes: tuple[str, ...]  # repairs, for people
    labels: tuple[str, ...] = ()  # of the trajectories that runs are, or are pieces of; empty if there are none

    def __repr__(self) -> str:
        runs = f"{len(self.runs)} run{'s' * (len(self.runs) > 1)}"
        return f"<Trajectories of {shorten(', '.join(self.names), 60)}: {runs}, {self.n_samples} samples>"

    @classmethod
    def from_arrays(
        cls,
        x: Any,
        t: Any,
        *,
        x_dot: Any = None,
        u: Any = None,
        names: Sequence[str] | None = None,
        input_names: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
    ) -> "Trajectories":
        """Check one trajectory or a list of them, and copy the usable samples.

        Args:
            x: states, [N] or [N, D]: an array, a list of rows or a DataFrame; or a list of these, one per trajectory.
            t: the step between samples, the times [N], or a list of times, one per trajectory. Steps need not be equal.
            x_dot: measured derivatives, like `x`.
            u: inputs, [N] or [N, U], or a list of these.
            names: names of the states; by default those of a DataFrame, else x0, x1, ...
            input_names: names of the inputs; by default those of a DataFrame, else u, or u0, u1, ...
            labels: what the trajectories are called, one each; by default they are numbered from 0.
        """
        notes: list[str] = []
        raw = list(_pair_up(x, t, x_dot, u, notes))
        states = _choose_names(names, [run.x for run in raw], raw[0].trajectory.x.shape[1], "x", "state")
        inputs = _choose_names(input_names, [run.u for run in raw], raw[0].trajectory.u.shape[1], "u", "input")
        _check_names(states + inputs)
        for run in raw:
            _check_run(run, raw[0], states, inputs)
        runs = tuple(piece for run in raw for piece in _cut_out_missing(run, notes))
        if not runs:
            raise DataError(
                f"No {MIN_RUN_SAMPLES} consecutive samples are complete. Fill the missing values, or leave out a column "
                "with many of them."
            )
        _check_moving(runs, states)
        used = sorted({run.experiment for run in runs})
        all_labels = _read_run_labels(labels, len(raw))
        runs = tuple(replace(run, experiment=used.index(run.experiment)) for run in runs)
        return cls(states, inputs, runs, tuple(notes), tuple(all_labels[k] for k in used))

    @property
    def names(self) -> tuple[str, ...]:
        """The states, then the inputs."""
        return self.states + self.inputs

    @property
    def run_labels(self) -> tuple[str, ...]:
        """What the trajectories are called that runs are, or are pieces of; numbers from 0 if they have no names."""
        return self.labels or tuple(str(k) for k in range(1 + max(run.experiment for run in self.runs)))

    def take(self, experiments: Sequence[int]) -> "Trajectories":
        """Return some of the trajectories, by their places, in this order."""
        runs = tuple(
            replace(run, experiment=new)
            for new, old in enumerate(experiments)
            for run in self.runs
            if run.experiment == old
        )
        return replace(self, runs=runs, labels=tuple(self.run_labels[place] for place in experiments))

    def columns(self, order: int) -> tuple[str, ...]:
        """Return the variables of right-hand sides: states, for order 2 their velocities, then inputs."""
        return self.states + (velocity_names(self.states) if order == 2 else ()) + self.inputs

    @property
    def n_samples(self) -> int:
        """Number of samples in all runs."""
        return sum(run.n_samples for run in self.runs)


@dataclass(frozen=True, slots=True, eq=False)
class _RawRun:
    """One trajectory as numbers, not checked yet, with what the user gave."""

    number: int  # its place among all
    label: str  # in messages: " of trajectory 2 of 3"; empty if there is only one
    x: Any
    u: Any
    trajectory: Trajectory


# ---- matching states, times and inputs -----------------------------------------------------------


def _pair_up(x: Any, t: Any, x_dot: Any, u: Any, notes: list[str]) -> Iterator[_RawRun]:
    has_own_times = _is_list(t) and not _are_numbers(t)
    are_many = _is_list(x) and (_are_tables(x) or (has_own_times and len(t) == len(x)))
    tables = list(x) if are_many else [x]
    n = len(tables)
    if _is_list(x) and not x:
        raise DataError("There are 0 trajectories. Give at least one.")
    if has_own_times:
        all_times = _one_per_run(t, n, "t")
    else:
        _check_not_rows(tables)
        all_times = [t] * n
    all_slopes = _one_per_run(x_dot, n, "x_dot") if are_many else [x_dot]
    all_inputs = _one_per_run(u, n, "u") if are_many else [u]
    together = zip(tables, all_times, all_slopes, all_inputs, strict=True)
    for number, (table, times, slopes, inputs) in enumerate(together, start=1):
        label = f" of trajectory {number} of {n}" if n > 1 else ""
        states = read_matrix(table, f"`x`{label}", notes)
        trajectory = Trajectory(
            t=_read_times(times, len(states), label, notes),
            x=states,
            u=np.empty((len(states), 0)) if inputs is None else read_matrix(inputs, f"`u`{label}", notes),
            x_dot=None if slopes is None else read_matrix(slopes, f"`x_dot`{label}", notes),
        )
        yield _RawRun(number - 1, label, table, inputs, trajectory)


def _is_list(values: Any) -> bool:
    return isinstance(values, list | tuple)


def _are_numbers(values: Sequence[Any]) -> bool:
    return not any(_is_list(value) or getattr(value, "ndim", 0) for value in values)


def _are_tables(values: Sequence[Any]) -> bool:
    """Return whether a list holds trajectories (arrays, DataFrames or lists of rows) rather than rows."""
    return any(getattr(value, "ndim", 0) or (_is_list(value) and not _are_numbers(value)) for value in values)


def _check_not_rows(tables: Sequence[Any]) -> None:
    """Refuse a list of flat arrays, which may be rows of one trajectory or several trajectories of one state."""
    sizes = {len(table) if getattr(table, "ndim", 0) == 1 else 0 for table in tables}
    if len(tables) > 1 and len(sizes) == 1 and 0 < min(sizes) < len(tables):
        raise DataError(
            f"`x` is a list of {len(tables)} flat arrays of {min(sizes)} numbers. If they are the rows of one trajectory, "
            "give np.array(x); if each is a trajectory of one state, give arrays of one column."
        )


def _one_per_run(values: Any, n_runs: int, what: str) -> list[Any]:
    """Return one item per trajectory; None for each if nothing is given."""
    if values is None:
        return [None] * n_runs
    if n_runs == 1 and not _is_list(values):
        return [values]
    if not _is_list(values) or len(values) != n_runs:
        given = f"a list of {len(values)}" if _is_list(values) else "not a list"
        raise DataError(
            f"`{what}` is {given}, but there are {n_runs} trajectories. Give a list with one item per trajectory."
        )
    missing = [number for number, value in enumerate(values, start=1) if value is None]
    if missing and len(missing) < n_runs:
        raise DataError(
            f"`{what}` is given for only some trajectories: it is None for trajectory {missing[0]} of {n_runs}. "
            "Give it for all or for none."
        )
    return list(values)


# ---- times ---------------------------------------------------------------------------------------


def _read_times(t: Any, n_samples: int, label: str, notes: list[str]) -> NDArray[np.float64]:
    if isinstance(t, Real) or (hasattr(t, "ndim") and t.ndim == 0):
        step = float(read_numbers(t, "`t`"))
        if isinstance(t, bool) or not np.isfinite(step) or step <= 0:
            raise DataError(f"`t` must be a step greater than 0, or the times of the samples; got {t!r}.")
        return np.arange(n_samples, dtype=np.float64) * step
    if t is None:
        raise DataError("`t` is None. Give the step between samples, or their times.")
    times = read_matrix(t, f"`t`{label}", notes)
    if times.shape[1] != 1 or len(times) != n_samples:
        size = f"{len(times)} times" if times.shape[1] == 1 else f"the shape {times.shape}"
        raise DataError(f"`t`{label} has {size}, but `x` has {n_samples} samples. Give one time per sample.")
    return times[:, 0]


def _read_run_labels(labels: Sequence[Any] | None, n_runs: int) -> tuple[str, ...]:
    """Return the labels of trajectories as text: one each, no two alike; without labels, they are numbered from 0."""
    if labels is None:
        return tuple(map(str, range(n_runs)))
    texts = tuple(read_labels(list(labels), "runs"))
    if len(texts) != n_runs:
        raise DataError(
            f"The trajectories have {count_noun(len(texts), 'label')}, but there are {n_runs} of them. Give each its own."
        )
    repeated = next((text for text in texts if texts.count(text) > 1), None)
    if repeated is not None:
        raise DataError(f"Two trajectories are called {repeated!r}. Give each its own label.")
    return texts


# ---- names and checks ----------------------------------------------------------------------------


def read_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names given as a list, or as a single text."""
    if isinstance(names, str):
        return (names,)
    try:
        if getattr(names, "ndim", 1) == 1:
            return tuple(str(name) for name in names)
    except TypeError:
        pass
    raise DataError(f"Names must be a list of texts; got {show_value(names)}.")


def _choose_names(
    names: Sequence[str] | None, tables: Sequence[Any], n_columns: int, letter: str, role: str
) -> tuple[str, ...]:
    if names is None:
        numbered = ("u",) if (letter, n_columns) == ("u", 1) else tuple(f"{letter}{i}" for i in range(n_columns))
        return _names_in(tables, role) or numbered
    found = read_names(names)
    if len(found) != n_columns:
        raise DataError(f"There are {len(found)} {role} names for {n_columns} {role}(s): {list_names(found)}.")
    return found


def _names_in(tables: Sequence[Any], role: str) -> tuple[str, ...] | None:
    """Return the column names of DataFrames, which must agree; None without DataFrames or if the names are numbers."""
    named = [_column_names(table) for table in tables]
    first = next((names for names in named if names is not None), None)
    for number, names in enumerate(named, start=1):
        if names and first and names != first:
            raise DataError(
                f"The {role}s of the trajectories have different names: {', '.join(first)} at first, but "
                f"{', '.join(names)} in trajectory {number} of {len(named)}. Give all the same columns in the same order."
            )
    return first


def _column_names(table: Any) -> tuple[str, ...] | None:
    if not hasattr(table, "to_numpy"):
        return None
    names = tuple(table.columns) if hasattr(table, "columns") else (table.name,)
    return names if all(isinstance(name, str) for name in names) else None


def _check_names(names: Sequence[str]) -> None:
    if "" in names:
        raise DataError("A name is empty. Give each state and input a name.")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise DataError(f"The name {repeated!r} appears twice among the states and inputs. Rename one of them.")


def _check_run(run: _RawRun, first: _RawRun, states: Sequence[str], inputs: Sequence[str]) -> None:
    x, u, x_dot = run.trajectory.x, run.trajectory.u, run.trajectory.x_dot
    n_samples, n_states = x.shape
    if n_samples < MIN_RUN_SAMPLES:
        remedy = " Rows are samples and columns are states: transpose it." if n_states > n_samples else ""
        raise DataError(f"`x`{run.label} has {n_samples} samples; at least {MIN_RUN_SAMPLES} are needed.{remedy}")
    if n_states == 0:
        raise DataError(f"`x`{run.label} has no columns. Give at least one state.")
    for what, table, width in (("x", x, first.trajectory.x.shape[1]), ("u", u, first.trajectory.u.shape[1])):
        if table.shape[1] != width:
            raise DataError(
                f"`{what}`{run.label} has {table.shape[1]} column(s), but that of the first trajectory has {width}. "
                "Give all trajectories the same columns."
            )
    if len(u) != n_samples:
        raise DataError(f"`u`{run.label} has {len(u)} samples, but `x` has {n_samples}. They must match.")
    if x_dot is not None and x_dot.shape != x.shape:
        raise DataError(f"`x_dot`{run.label} has shape {x_dot.shape}, but `x` has {x.shape}. They must match.")
    _check_times(run.trajectory.t, run.label)
    slopes = np.empty((0, n_states)) if x_dot is None else x_dot
    for what, table, names in (("x", x, states), ("x_dot", slopes, states), ("u", u, inputs)):
        infinite = np.argwhere(np.isinf(table))
        if infinite.size:
            row, column = infinite[0]
            raise DataError(
                f"`{what}`{run.label} is infinite at row {row} of '{names[column]}'. Leave the row out, or write NaN."
            )
        for name, values in zip(names, table.T, strict=True):
            check_size(values, f"'{name}' in `{what}`{run.label}")


def _check_times(t: NDArray[np.float64], label: str) -> None:
    bad = np.flatnonzero(~np.isfinite(t))
    if bad.size:
        raise DataError(f"`t`{label} is {t[bad[0]]} at row {bad[0]}. Every sample needs a time; leave that one out.")
    check_size(t, f"`t`{label}")
    back = np.flatnonzero(np.diff(t) <= 0)
    if not back.size:
        return
    row = int(back[0]) + 1
    if t[row] == t[row - 1]:
        raise DataError(f"`t`{label} is {t[row]:g} twice, at rows {row - 1} and {row}. Keep one of them.")
    raise DataError(
        f"`t`{label} goes back from {t[row - 1]:g} to {t[row]:g} at row {row}. Sort the samples by time; if another "
        "trajectory begins there, give a list of trajectories."
    )


def _check_moving(runs: Sequence[Trajectory], states: Sequence[str]) -> None:
    for column, name in enumerate(states):
        if all(np.ptp(run.x[:, column]) <= CONSTANT_STATE * np.max(np.abs(run.x[:, column])) for run in runs):
            raise DataError(
                f"The state '{name}' is constant in all trajectories, so there is no equation to find. Leave it out, or "
                "give it as an input `u`."
            )


# ---- missing samples -----------------------------------------------------------------------------


def _cut_out_missing(run: _RawRun, notes: list[str]) -> Iterator[Trajectory]:
    """Yield the pieces of a run between its gaps, without incomplete samples, and note what was left out."""
    whole = run.trajectory
    tables = [whole.x, whole.u] if whole.x_dot is None else [whole.x, whole.u, whole.x_dot]
    rows = np.flatnonzero(~np.isnan(np.column_stack(tables)).any(axis=1))
    n_missing = whole.n_samples - rows.size
    title = f"Trajectory{run.label.removeprefix(' of trajectory')}" if run.label else "The trajectory"
    if n_missing:
        notes.append(f"{title}: {n_missing} of {whole.n_samples} samples with missing values left out.")
    pieces = np.split(rows, _gaps_between(rows, whole.t))
    long = [piece for piece in pieces if piece.size >= MIN_RUN_SAMPLES]
    if len(pieces) > 1:
        notes.append(
            f"{title}: split at {len(pieces) - 1} gap(s) in time, the first before t = {whole.t[pieces[1][0]]:g}."
        )
    n_dropped = sum(piece.size for piece in pieces) - sum(piece.size for piece in long)
    if n_dropped:
        notes.append(f"{title}: {n_dropped} samples in pieces of fewer than {MIN_RUN_SAMPLES} left out.")
    for piece in long:
        x_dot = None if whole.x_dot is None else whole.x_dot[piece]
        yield Trajectory(whole.t[piece], whole.x[piece], whole.u[piece], x_dot, run.number)


def _gaps_between(rows: NDArray[np.intp], t: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the complete rows that follow a gap.

    With regular times, two or more missing samples are a gap, and so is a jump of the times unless that leaves pieces
    that are too short. With irregular times, only missing values make gaps.
    """
    steps = np.diff(t)
    median = float(np.median(steps))
    are_cut = np.diff(rows) > 1
    taken = np.diff(t[rows])
    if np.mean(np.abs(steps - median) <= _REGULAR_TOLERANCE * median) < _REGULAR_SHARE:
        return np.flatnonzero(are_cut & (taken > _IRREGULAR_GAP * median)) + 1
    jumps = np.flatnonzero(steps > _REGULAR_GAP * median) + 1
    are_runs = np.diff([0, *jumps, t.size]).min() >= MIN_RUN_SAMPLES
    return np.flatnonzero((taken > _REGULAR_GAP * median) & (are_cut | are_runs)) + 1
