"""The part `identifiability` of `spl bench trust`: is it said when one trajectory does not determine the equations of a system?

Twenty systems are searched with the defaults, each from one trajectory (`datasets/single_trajectories`). Of ten, another simple system
fits as well: these should be flagged, and the others should not.
"""

import time
from collections.abc import Sequence

from spl.bench.equations import BREAK
from spl.bench.trials import OURS, RECORDED_DIGITS, Outcome, Trial
from spl.datasets.single_trajectories import SINGLE_TRAJECTORIES
from spl.errors import SettingError, explain_unknown

SECONDS_PER_SYSTEM = 60.0  # unless there is a time limit
LEAST_FLAGGED = 0.9  # of the systems that cannot be told apart
MOST_FALSE_ALARMS = 0.1  # of the others


def identifiability_trials(timeout: float | None, seeds: Sequence[int]) -> list[Trial]:
    """Return the trials, seed by seed.

    Examples:
        >>> [trial.problem for trial in identifiability_trials(60.0, [0])][:2]
        ['oscillator', 'limit_cycle']
    """
    return [
        Trial(
            experiment="trust",
            setting="part=identifiability",
            tool=OURS,
            problem=problem,
            seed=seed,
            timeout=SECONDS_PER_SYSTEM if timeout is None else timeout,
        )
        for seed in seeds
        for problem in SINGLE_TRAJECTORIES
    ]


def run_identifiability(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search the system of a trial; recovered, if it is flagged just when it cannot be told apart."""
    from spl.estimators.dynamics import SPLDynamics  # slow to import

    if trial.problem not in SINGLE_TRAJECTORIES:
        raise SettingError(explain_unknown("trajectory", trial.problem, tuple(SINGLE_TRAJECTORIES)))
    case = SINGLE_TRAJECTORIES[trial.problem]
    data = case.measure(trial.seed)
    model = SPLDynamics(timeout=trial.timeout, n_jobs=1, random_state=trial.seed)
    began = time.perf_counter()
    model.fit(data.states, data.t, u=data.u if case.inputs else None, feature_names=data.names + data.input_names)
    fitted = time.perf_counter()
    judged = model.identifiability_
    searches = model.discovery_.searches
    return Outcome(
        formula=BREAK.join(model.equations(RECORDED_DIGITS)),
        recovered=judged.is_unique == case.is_unique,
        error=None,
        seconds=time.perf_counter() - began,
        evaluations=sum(search.n_evaluations for search in searches),
        stopped="interrupted" if model.discovery_.is_interrupted else searches[0].stopped,
        details={
            "is_unique": case.is_unique,
            "flagged": not judged.is_unique,
            "judge_seconds": round(time.perf_counter() - fitted, 3),
            "reasons": list(judged.reasons),
            "rivals": model.rivals()[["state", "equation"]].to_numpy().tolist(),
        },
    )
