"""How good the equations of a system are: what they explain, how long they follow the data, and reasons to doubt them."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from spl.data.trajectories import Trajectories, Trajectory
from spl.dynamics.rows import SystemRows
from spl.dynamics.segments import cut_segments
from spl.dynamics.shooting import make_shooter
from spl.dynamics.signals import relative_steps
from spl.dynamics.simulate import simulate
from spl.dynamics.system_packing import evaluate_slopes
from spl.formulas.system import System

Numbers = NDArray[np.float64]

FOLLOWS = 0.5  # of the spread of a state: a simulation farther off does not follow the data any more
LOW_R2 = 0.9  # less is doubtful: the true equations of eight systems reach 0.98 with 10 % noise, 0.88 with 30 %
MISFIT = 2.0  # times the noise: equations that miss the samples by more along the trajectories do not describe them
COARSE_STEP = 0.45  # spreads of a state that it changes by from one sample to the next, apart from noise: about 9 samples per turn
N_STARTS = 3  # places in the data from which a simulation is compared with it
LOOK_SAMPLES = 500  # that each of these simulations is followed for


def measure_r2(system: System, rows: SystemRows) -> Numbers:
    """Return R2 of the derivative of each state [D], of the next state for a map; -inf where an equation has no value.

    In the weak form, means of the right-hand sides are compared with the means of the derivatives.
    """
    goals, found = compare_slopes(system, rows)
    left = np.sum((found - goals) ** 2, axis=0)
    total = np.sum((goals - goals.mean(axis=0)) ** 2, axis=0)
    with np.errstate(all="ignore"):
        shares = 1.0 - left / total
    return np.where(np.isfinite(shares), shares, np.where(left == 0, 1.0, -np.inf))


def compare_slopes(system: System, rows: SystemRows) -> tuple[Numbers, Numbers]:
    """Return the derivatives of each state from the data and from the equations, both [M, D].

    In the weak form, both are means against test functions; for a map, they are the next states.
    """
    if rows.weak:
        found = np.vstack([form.operator @ evaluate_slopes(system, form.columns).T for form in rows.weak])
        return np.vstack([form.goals for form in rows.weak]), found
    return rows.targets, evaluate_slopes(system, np.ascontiguousarray(rows.table.T)).T


def followed_until(system: System, data: Trajectories, rows: SystemRows) -> float:
    """Return the time until which a simulation from the first sample of the first run follows its smoothed states."""
    run, states = data.runs[0], rows.starts[0]
    found = simulate(system, states[0], run.t, run.u if data.inputs else None).states
    with np.errstate(all="ignore"):
        is_near = (np.abs(found - states) <= FOLLOWS * states.std(axis=0)).all(axis=1)
    return float(run.t[-1] if is_near.all() else run.t[max(int(is_near.argmin()) - 1, 0)])


# ---- doubts --------------------------------------------------------------------------------------


def find_system_doubts(
    system: System, data: Trajectories, rows: SystemRows, misfit: float = 0.0, has_tried_rates: bool = False
) -> tuple[str, ...]:
    """Return why the equations of a system may be wrong, and what that may mean; nothing if there is no reason for doubt.

    Args:
        system: the equations.
        data: the trajectories they were found from.
        rows: the rows made from these.
        misfit: how far the equations miss the samples along the trajectories, in units of the noise.
        has_tried_rates: whether simple equations with rates on both sides were tried, and explain no more.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> from spl.dynamics.rows import Plan, make_rows
        >>> t = np.linspace(0, 20, 400)
        >>> data = Trajectories.from_arrays(np.sin(t), t, names=["x"])
        >>> system = System(("x",), (), (parse_expression("0.1*x", Vocabulary(("x",))),))
        >>> print(find_system_doubts(system, data, make_rows(data, Plan()))[0])  # doctest: +ELLIPSIS
        The equation of x explains nothing of how it changes (R2 below 0)...the system may be of second order (order=2)...
    """
    reasons = [*_low_shares(system, rows), *_early_ends(system, data, rows)]
    if misfit > MISFIT:
        reasons.append(f"Along the trajectories, the equations miss the samples by {misfit:.2g} times the noise.")
    return (f"{' '.join(reasons)} {_meaning(system, data, has_tried_rates)}",) if reasons else ()


def _low_shares(system: System, rows: SystemRows) -> Iterator[str]:
    shares = zip(system.states, measure_r2(system, rows).tolist(), strict=True)
    for state, r2 in ((state, r2) for state, r2 in shares if r2 < LOW_R2):
        how = "nothing of how it changes (R2 below 0)" if r2 < 0 else f"only part of how it changes (R2 {r2:.2f})"
        yield f"The equation of {state} explains {how}."


def _early_ends(system: System, data: Trajectories, rows: SystemRows) -> Iterator[str]:
    """Yield a doubt if most simulations diverge, or leave the data no later than states that do not move at all."""
    looks = list(_looks(data))
    runs = [_cut(data.runs[number], part) for number, part in looks]
    states = [rows.starts[number][part] for number, part in looks]
    segments = cut_segments(runs, np.ones(len(system.states)), [np.array([0, run.n_samples]) for run in runs])
    initial = np.array([of_run[0] for of_run in states]).T
    with np.errstate(all="ignore"):  # trajectories may be lost
        shooter = make_shooter(system, segments, rows.starts).refined_for(system.free_values, initial)
        followed = shooter.follow(system.free_values[np.newaxis], initial[np.newaxis])[0]
    spread = np.concatenate(rows.starts).std(axis=0)
    n_bad = 0
    for k, of_run in enumerate(states):
        found = followed[:, k, : len(of_run)].T
        n_near = _count_near(found, of_run, spread)
        n_still = _count_near(of_run[:1], of_run, spread)
        n_bad += n_near < len(of_run) and (n_near <= n_still or not np.isfinite(found).all())
    if 2 * n_bad > len(looks):
        yield "A simulation with these equations soon leaves the data."


def _looks(data: Trajectories) -> Iterator[tuple[int, slice]]:
    """Yield stretches spread over the data, each as the number of its run and its samples in it."""
    ends = np.cumsum([run.n_samples for run in data.runs])
    for place in np.arange(N_STARTS) * (ends[-1] // N_STARTS):
        number = int(np.searchsorted(ends, place, side="right"))
        first = int(place - ends[number] + data.runs[number].n_samples)
        yield number, slice(first, min(first + LOOK_SAMPLES, data.runs[number].n_samples))


def _cut(run: Trajectory, part: slice) -> Trajectory:
    return Trajectory(run.t[part], run.x[part], run.u[part], None, run.experiment)


def _count_near(found: Numbers, states: Numbers, spread: Numbers) -> int:
    """Return for how many samples, from the first on, states [N, S] are close to those of the data."""
    with np.errstate(all="ignore"):
        is_near = (np.abs(found - states) <= FOLLOWS * spread).all(axis=1)
    return int(is_near.size if is_near.all() else is_near.argmin())


def _meaning(system: System, data: Trajectories, has_tried_rates: bool) -> str:
    causes = ["A state may be missing"]
    if system.order == 1 and not system.is_discrete:
        causes.append("the system may be of second order (order=2)")
    if len(system.states) > 1 and not system.is_implicit and not system.is_discrete and not has_tried_rates:
        causes.append("short equations may need the rates of other states (implicit=True)")
    causes.append("parameters may differ between runs" if len(data.runs) > 1 else "parameters may change with time")
    causes[-1] = f"or {causes[-1]}"
    tried = " Simple equations with rates on both sides do not explain the data either." if has_tried_rates else ""
    return f"{', '.join(causes)}; or the noise hides the law.{tried}{_say_if_coarse(system, data)}"


def _say_if_coarse(system: System, data: Trajectories) -> str:
    """Return a sentence if the samples may be too far apart to decide; "" otherwise."""
    shares = _steps_without_noise(data)
    if system.is_discrete or shares.max() < COARSE_STEP:
        return ""
    name, share = system.states[int(shares.argmax())], shares.max()
    return (
        f" The samples may also be too far apart to decide: from one to the next, {name} changes by about {share:.2g} times its "
        "standard deviation. Sample more often."
    )


def _steps_without_noise(data: Trajectories) -> Numbers:
    """Return how far each state moves from one sample to the next [D], as a share of its spread, without white noise.

    Noise adds the same to the squared differences of neighbours and of samples two apart; what moves adds four times as much to the
    latter.
    """
    one = relative_steps([run.x for run in data.runs])
    two = relative_steps([part for run in data.runs for part in (run.x[::2], run.x[1::2])])
    return np.sqrt(np.maximum(two**2 - one**2, 0.0) / 3)
