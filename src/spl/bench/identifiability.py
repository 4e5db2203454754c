"""Part of `spl bench trust`: is it said when one trajectory does not determine the equations of a system?

Twenty systems are searched with our defaults, each from one trajectory (`datasets/single_trajectories`). Of ten, another simple system
fits as well: these should be flagged, and the others should not.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spl.bench.equations import BREAK
from spl.bench.trials import OURS, RECORDED_DIGITS, Outcome, Trial
from spl.datasets.single_trajectories import SINGLE_TRAJECTORIES
from spl.errors import SettingError, suggest_name

IDENTIFIABILITY_SETTING = "identifiability"
LEAST_FLAGGED = 0.9  # of the systems that cannot be told apart
MOST_FALSE_ALARMS = 0.1  # of the others


def identifiability_trials(
    experiment: str, problems: Sequence[str], seeds: Sequence[int], timeout: float | None
) -> list[Trial]:
    """Return the trials, seed by seed; none of the problems names all of them.

    Examples:
        >>> [trial.problem for trial in identifiability_trials("systems", ["spiral"], [0, 1], 60.0)]
        ['spiral', 'spiral']
    """
    for name in problems:
        if name not in SINGLE_TRAJECTORIES:
            raise SettingError(f"There is no trajectory '{name}'.{suggest_name(name, list(SINGLE_TRAJECTORIES))}")
    return [
        Trial(
            experiment=experiment,
            setting=IDENTIFIABILITY_SETTING,
            tool=OURS,
            problem=problem,
            seed=seed,
            timeout=timeout,
        )
        for seed in seeds
        for problem in problems or SINGLE_TRAJECTORIES
    ]


def run_identifiability(trial: Trial) -> Outcome:
    """Search the system of a trial; it counts as recovered if it is flagged exactly if it cannot be told apart."""
    from spl.estimators.dynamics import SPLDynamics  # slow to import

    case = SINGLE_TRAJECTORIES[trial.problem]
    data = case.measure(trial.seed)
    model = SPLDynamics(timeout=trial.timeout, random_state=trial.seed)
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
            "flagged": not judged.is_unique,
            "judge_seconds": round(time.perf_counter() - fitted, 3),
            "reasons": list(judged.reasons),
            "rivals": model.rivals()[["state", "equation"]].to_numpy().tolist(),
        },
    )


@dataclass(frozen=True, slots=True)
class IdentifiabilityScore:
    """How many systems were flagged.

    Examples:
        >>> score = IdentifiabilityScore.of([("spiral", False), ("oscillator", True), ("epidemic", False)])
        >>> str(score), score.is_good
        ('1 of 2 that cannot be told apart are flagged, 0 of 1 others', False)
    """

    n_flagged: int  # of those that cannot be told apart
    n_ambiguous: int
    n_false_alarms: int
    n_unique: int

    @classmethod
    def of(cls, flagged: Iterable[tuple[str, bool]]) -> "IdentifiabilityScore":
        """Count problems with whether they were flagged."""
        pairs = [(SINGLE_TRAJECTORIES[name].is_unique, is_flagged) for name, is_flagged in flagged]
        ambiguous = [is_flagged for is_unique, is_flagged in pairs if not is_unique]
        unique = [is_flagged for is_unique, is_flagged in pairs if is_unique]
        return cls(sum(ambiguous), len(ambiguous), sum(unique), len(unique))

    @property
    def is_good(self) -> bool:
        """Whether the targets are met: 90 % of those that cannot be told apart, at most 10 % of the others."""
        is_found = self.n_flagged >= LEAST_FLAGGED * self.n_ambiguous
        return is_found and self.n_false_alarms <= MOST_FALSE_ALARMS * self.n_unique

    def __str__(self) -> str:
        return (
            f"{self.n_flagged} of {self.n_ambiguous} that cannot be told apart are flagged, "
            f"{self.n_false_alarms} of {self.n_unique} others"
        )
