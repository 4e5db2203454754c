"""`spl bench groups`: one law with numbers that each group has for itself. Each part has its own module.

laws            fifteen laws over 10 groups of 30 rows, exact and with 1 and 10 % noise; one group alone beside them
pairs           three laws whose numbers belong to two groupings
sizes           five of the laws with 3, 100 and 1,000 groups: seconds and peak memory
systems         six systems in eight experiments, with parameters that differ between them
coverage        95 % intervals of own and shared numbers hold the truth in 90 to 99 % of the tables
random-labels   labels that mean nothing: no number becomes own
"""

from collections.abc import Callable
from dataclasses import dataclass

from spl.bench.groups_coverage import coverage_trials, run_coverage
from spl.bench.groups_labels import labels_trials, run_labels
from spl.bench.groups_laws import laws_trials, pairs_trials, run_laws, run_sizes, sizes_trials
from spl.bench.groups_systems import run_systems, systems_trials, true_equations
from spl.bench.trials import Experiment, Outcome, Trial
from spl.datasets.grouped_laws import load_grouped_law
from spl.datasets.small_laws import load_small_law
from spl.errors import SettingError, explain_unknown
from spl.settings import SearchConfig

_RUNS: dict[str, Callable[[Trial, dict[str, str]], Outcome]] = {
    "laws": run_laws,
    "pairs": run_laws,
    "sizes": run_sizes,
    "systems": run_systems,
    "coverage": run_coverage,
    "random-labels": run_labels,
}
GROUPS_PARTS = tuple(_RUNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsPlan:
    """What is run.

    Examples:
        >>> [trial.setting for trial in GroupsPlan(parts=("sizes",)).trials()][:2]
        ['part=sizes noise=0 groups=3', 'part=sizes noise=0 groups=100']
    """

    parts: tuple[str, ...] = GROUPS_PARTS
    problems: tuple[str, ...] | None = None  # None for all
    seeds: tuple[int, ...] = (0,)
    timeout: float | None = 30.0  # seconds per trial; None for no limit

    def __post_init__(self) -> None:
        for part in self.parts:
            if part not in GROUPS_PARTS:
                raise SettingError(explain_unknown("part", part, GROUPS_PARTS))
        if not self.parts:
            raise SettingError(f"No part is named. Choose from: {', '.join(GROUPS_PARTS)}.")

    def trials(self) -> list[Trial]:
        """Return the trials, part by part and seed by seed; raise a clear error if a problem is in none of the parts."""
        make = {
            "laws": laws_trials,
            "pairs": pairs_trials,
            "sizes": sizes_trials,
            "systems": systems_trials,
            "coverage": coverage_trials,
            "random-labels": labels_trials,
        }
        trials = [trial for part in self.parts for seed in self.seeds for trial in make[part](seed, self.timeout)]
        if self.problems is None:
            return trials
        known = list(dict.fromkeys(trial.problem for trial in trials))
        for name in self.problems:
            if name not in known:
                raise SettingError(explain_unknown("problem", name, known))
        return [trial for trial in trials if trial.problem in self.problems]


def read_groups_setting(setting: str) -> dict[str, str]:
    """Return the values of a setting by name.

    Examples:
        >>> read_groups_setting("part=laws noise=0.1 data=groups")
        {'part': 'laws', 'noise': '0.1', 'data': 'groups'}
    """
    values = dict(word.split("=", 1) for word in setting.split() if "=" in word)
    if values.get("part") not in GROUPS_PARTS:
        raise SettingError(
            f"'{setting}' is not a setting of groups. Write for example 'part=laws noise=0.1 data=groups'."
        )
    return values


def run_groups(trial: Trial) -> Outcome:
    """Run a trial of any part."""
    values = read_groups_setting(trial.setting)
    return _RUNS[values["part"]](trial, values)


def groups_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search, if there is one, and the true formula."""
    part = read_groups_setting(trial.setting)["part"]
    if part == "coverage":
        return {"search": "none: the true formula is fitted", "truth": load_grouped_law(trial.problem).expression}
    if part == "systems":
        return SearchConfig().to_dict() | {"truth": true_equations(trial.problem)}
    law = (
        load_small_law(trial.problem.rpartition("-")[0]) if part == "random-labels" else load_grouped_law(trial.problem)
    )
    return SearchConfig().to_dict() | {"truth": law.expression}


GROUPS = Experiment(name="groups", run=run_groups, settings=groups_settings)
