"""`spl bench trust`: is what we say about how sure we are true? Each part has its own module.

chance      random targets are called unexplained, and laws are not
coverage    95 % intervals hold the truth in 90 to 99 % of the tables
"""

from collections.abc import Callable
from dataclasses import dataclass

from spl.bench.trials import Experiment, Outcome, Trial
from spl.bench.trust_chance import HELD_OUT_SHARE, chance_trials, run_chance
from spl.bench.trust_coverage import coverage_trials, run_coverage
from spl.errors import SettingError, explain_unknown
from spl.settings import SearchConfig

_RUNS: dict[str, Callable[[Trial, dict[str, str]], Outcome]] = {"chance": run_chance, "coverage": run_coverage}
TRUST_PARTS = tuple(_RUNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustPlan:
    """What is run.

    Examples:
        >>> [trial.setting for trial in TrustPlan(parts=("coverage",)).trials()][:2]
        ['part=coverage noise=0.01 rows=20 model=normal', 'part=coverage noise=0.01 rows=200 model=normal']
    """

    parts: tuple[str, ...] = TRUST_PARTS
    seeds: tuple[int, ...] = (0,)
    timeout: float | None = None  # seconds per search; None for that of each part

    def __post_init__(self) -> None:
        for part in self.parts:
            if part not in TRUST_PARTS:
                raise SettingError(explain_unknown("part", part, TRUST_PARTS))
        if not self.parts:
            raise SettingError(f"No part is named. Choose from: {', '.join(TRUST_PARTS)}.")

    def trials(self) -> list[Trial]:
        """Return the trials, part by part."""
        of_part = {
            "chance": lambda: chance_trials(self.timeout, self.seeds),
            "coverage": lambda: coverage_trials(self.seeds),
        }
        return [trial for part in self.parts for trial in of_part[part]()]


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
    """Return the settings of the search, if there is one."""
    if read_trust_setting(trial.setting)["part"] == "coverage":
        return {"search": "none: the true formula is fitted"}
    return SearchConfig().to_dict() | {"held_out_share": HELD_OUT_SHARE}


TRUST = Experiment(name="trust", run=run_trust, settings=trust_settings)
