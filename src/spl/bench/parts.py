"""`spl bench parts`: our search without one of the parts that we added to the paper's, on random formulas and the Nguyen problems.

Random formulas are exact or have 1 % noise; Nguyen problems have 20 points. All other settings are the defaults.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spl.bench.nguyen import points20_task, run_task
from spl.bench.random import Condition, run_formula
from spl.bench.trials import OURS, Experiment, Outcome, Trial
from spl.datasets.nguyen import Problem, load_nguyen
from spl.errors import SettingError
from spl.settings import CLOSERS, SearchConfig

# Settings of the problems: two for random formulas, one for Nguyen problems
EXACT_SETTING = Condition(0.0, n_threads=1).setting
NOISY_SETTING = Condition(0.01, n_threads=1).setting
POINTS20 = "points20"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The search without a part."""

    name: str  # of the part
    without: str  # short, because name and this are the first column of a table that must fit a terminal
    changes: Mapping[str, Any]  # of the settings

    def setting(self, problem_setting: str) -> str:
        """Return the setting of a trial: the variant, and the setting of its problem."""
        return f"{self.name}: {problem_setting}"


def _without_closer(name: str) -> dict[str, tuple[str, ...]]:
    return {"closers": tuple(other for other in CLOSERS if other != name)}


VARIANTS = (
    Variant(name="all", without="nothing left out", changes={}),
    Variant(name="bank", without="no bank, closers or jumps", changes={"n_completions": 0}),
    Variant(name="inversion", without="no holes but the root", changes={"max_inversions": 0}),
    Variant(name="look-up", without="no look-up of goals", changes=_without_closer("look-up")),
    Variant(name="combination", without="no combinations", changes=_without_closer("combination")),
    Variant(name="monomial", without="no monomials", changes=_without_closer("monomial")),
    Variant(name="correlation", without="no nearest cheap entry", changes=_without_closer("correlation")),
    Variant(name="scan", without="no scan of constants", changes=_without_closer("scan")),
    Variant(name="power", without="no look-up of powers", changes=_without_closer("power")),
    Variant(name="nearest", without="no nearest entry of all", changes=_without_closer("nearest")),
    Variant(name="products", without="no sums of products", changes=_without_closer("products")),
    Variant(name="jumping", without="no jumps", changes={"jumping": False}),
)


def parts_trials(
    formulas: Sequence[int], problems: Sequence[Problem], seeds: Sequence[int], timeout: float | None
) -> list[Trial]:
    """Return the trials: all variants of a problem one after another, so that all run under the same conditions."""
    posed = [(f"random-{formula:03d}", setting) for formula in formulas for setting in (EXACT_SETTING, NOISY_SETTING)]
    posed += [(problem.name, POINTS20) for problem in problems]
    return [
        Trial(
            experiment="parts",
            setting=variant.setting(setting),
            tool=OURS,
            problem=problem,
            seed=seed,
            timeout=timeout,
        )
        for seed in seeds
        for problem, setting in posed
        for variant in VARIANTS
    ]


def split_setting(trial: Trial) -> tuple[Variant, str]:
    """Return the variant of a trial, and the setting of its problem.

    Examples:
        >>> trial = Trial(experiment="parts", setting="scan: points20", tool="spl", problem="Nguyen-1", seed=0, timeout=5)
        >>> variant, posed = split_setting(trial)
        >>> variant.name, posed
        ('scan', 'points20')
    """
    name, _, posed = trial.setting.partition(": ")
    for variant in VARIANTS:
        if variant.name == name:
            return variant, posed
    known = ", ".join(variant.name for variant in VARIANTS)
    raise SettingError(
        f"'{trial.setting}' does not name a variant of the search. Write one of {known}, as in 'scan: points20'."
    )


def run_parts(trial: Trial) -> Outcome:
    """Search the law of a trial with its variant."""
    variant, posed = split_setting(trial)
    if posed != POINTS20:
        return run_formula(replace(trial, setting=posed), SearchConfig(**variant.changes))
    task = points20_task(load_nguyen(trial.problem))
    return run_task(replace(task, config=replace(task.config, **variant.changes)), trial)


def parts_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search."""
    return SearchConfig(**split_setting(trial)[0].changes).to_dict()


PARTS = Experiment(name="parts", run=run_parts, settings=parts_settings)
