"""`spl bench trust`: is what we say about how sure we are true? Each part has its own module.

chance           random targets are called unexplained, and laws are not
coverage         95 % intervals hold the truth in 90 to 99 % of the tables
rivals           where the chosen formula is wrong, the law is among its rivals
suggest          with suggested points, the law is found more often than with random ones
identifiability  systems that one trajectory does not determine are flagged, and the others are not
"""

from collections.abc import Callable
from dataclasses import dataclass

from spl.bench.small_tables import MAX_EVALUATIONS
from spl.bench.trials import Experiment, Outcome, Trial
from spl.bench.trust_chance import HELD_OUT_SHARE, chance_trials, run_chance
from spl.bench.trust_coverage import coverage_trials, run_coverage
from spl.bench.trust_identifiability import identifiability_trials, run_identifiability
from spl.bench.trust_rivals import rivals_trials, run_rivals
from spl.bench.trust_suggest import run_suggest, suggest_trials
from spl.datasets.single_trajectories import SINGLE_TRAJECTORIES
from spl.datasets.small_laws import load_small_law
from spl.errors import SettingError, explain_unknown
from spl.settings import SearchConfig

_RUNS: dict[str, Callable[[Trial, dict[str, str]], Outcome]] = {
    "chance": run_chance,
    "coverage": run_coverage,
    "rivals": run_rivals,
    "suggest": run_suggest,
    "identifiability": run_identifiability,
}
_SEEDS = {"rivals": (0, 1), "suggest": (0, 1)}  # by default; of the other parts, seed 0
TRUST_PARTS = tuple(_RUNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustPlan:
    """What is run.

    Examples:
        >>> [trial.setting for trial in TrustPlan(parts=("coverage",)).trials()][:2]
        ['part=coverage noise=0.01 rows=20 model=normal', 'part=coverage noise=0.01 rows=200 model=normal']
    """

    parts: tuple[str, ...] = TRUST_PARTS
    seeds: tuple[int, ...] | None = None  # None for those of each part
    timeout: float | None = None  # seconds per search; None for that of each part

    def __post_init__(self) -> None:
        for part in self.parts:
            if part not in TRUST_PARTS:
                raise SettingError(explain_unknown("part", part, TRUST_PARTS))
        if not self.parts:
            raise SettingError(f"No part is named. Choose from: {', '.join(TRUST_PARTS)}.")

    def trials(self) -> list[Trial]:
        """Return the trials, part by part."""
        return [trial for part in self.parts for trial in self._trials_of(part)]

    def _trials_of(self, part: str) -> list[Trial]:
        seeds = _SEEDS.get(part, (0,)) if self.seeds is None else self.seeds
        if part == "coverage":
            return coverage_trials(seeds)
        make = {
            "chance": chance_trials,
            "rivals": rivals_trials,
            "suggest": suggest_trials,
            "identifiability": identifiability_trials,
        }[part]
        return make(self.timeout, seeds)


def read_trust_setting(setting: str) -> dict[str, str]:
    """Return the values of a setting by name.

    Examples:
        >>> read_trust_setting("part=chance law=no")
        {'part': 'chance', 'law': 'no'}
    """
    values = dict(word.split("=", 1) for word in setting.split() if "=" in word)
    if values.get("part") not in TRUST_PARTS:
        raise SettingError(f"'{setting}' is not a setting of trust. Write for example 'part=chance law=no'.")
    return values


def run_trust(trial: Trial) -> Outcome:
    """Run a trial of any part."""
    values = read_trust_setting(trial.setting)
    return _RUNS[values["part"]](trial, values)


def trust_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search, if there is one, and the true formula of a small table."""
    part = read_trust_setting(trial.setting)["part"]
    if part == "coverage":
        return {"search": "none: the true formula is fitted"}
    if part == "chance":
        return SearchConfig().to_dict() | {"held_out_share": HELD_OUT_SHARE}
    if part == "identifiability":
        return SearchConfig().to_dict() | {"truth": dict(SINGLE_TRAJECTORIES[trial.problem].equations)}
    truth = load_small_law(trial.problem).expression
    return SearchConfig().to_dict() | {"max_evaluations": MAX_EVALUATIONS, "truth": truth}


TRUST = Experiment(name="trust", run=run_trust, settings=trust_settings)
