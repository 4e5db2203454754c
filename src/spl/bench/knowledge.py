"""`spl bench knowledge`: what a scientist knows helps the search. Each part has its own module.

units    forty laws from handbooks, exact and with 1 and 10 % noise, each with and without units
depth    how many formulas the bank holds for each law, and how deep it reaches, with and without units
shapes   ten laws measured in few noisy rows and asked far outside of them, with and without statements about their shape
"""

from collections.abc import Callable
from dataclasses import dataclass

from spl.bench.knowledge_depth import depth_trials, run_depth
from spl.bench.knowledge_shapes import SHAPES_EVALUATIONS, run_shapes, shapes_trials
from spl.bench.knowledge_units import UNITS_NOISE_LEVELS, UNITS_VARIANTS, run_units, units_trials
from spl.bench.trials import Experiment, Outcome, Trial
from spl.datasets.handbook_laws import load_handbook_law
from spl.datasets.shaped_laws import SHAPED_LAWS
from spl.errors import SettingError, explain_unknown
from spl.settings import SearchConfig

_RUNS: dict[str, Callable[[Trial, dict[str, str]], Outcome]] = {
    "units": run_units,
    "depth": run_depth,
    "shapes": run_shapes,
}
KNOWLEDGE_PARTS = tuple(_RUNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgePlan:
    """What is run. Noise and variants are those of the part `units`.

    Examples:
        >>> [trial.setting for trial in KnowledgePlan(noise_levels=(0.1,)).trials()][:2]
        ['part=units noise=0.1 units=with', 'part=units noise=0.1 units=without']
    """

    parts: tuple[str, ...] = KNOWLEDGE_PARTS
    problems: tuple[str, ...] | None = None  # None for all
    noise_levels: tuple[float, ...] = UNITS_NOISE_LEVELS
    variants: tuple[str, ...] = UNITS_VARIANTS
    seeds: tuple[int, ...] = (0,)
    timeout: float | None = 30.0  # seconds per trial of the part `units`; None for no limit

    def __post_init__(self) -> None:
        _check_names("part", self.parts, KNOWLEDGE_PARTS)
        _check_names("variant", self.variants, UNITS_VARIANTS)

    def trials(self) -> list[Trial]:
        """Return the trials, part by part and seed by seed; raise a clear error if a problem is in none of the parts."""
        trials = [trial for part in self.parts for seed in self.seeds for trial in self._trials_of(part, seed)]
        if self.problems is None:
            return trials
        known = list(dict.fromkeys(trial.problem for trial in trials))
        _check_names("problem", self.problems, known)
        return [trial for trial in trials if trial.problem in self.problems]

    def _trials_of(self, part: str, seed: int) -> list[Trial]:
        if part == "depth":
            return depth_trials(seed)
        if part == "shapes":
            return shapes_trials(None, (seed,))
        return units_trials(seed, self.timeout, self.noise_levels, self.variants)


def _check_names(what: str, names: tuple[str, ...], known: tuple[str, ...] | list[str]) -> None:
    for name in names:
        if name not in known:
            raise SettingError(explain_unknown(what, name, known))
    if not names:
        raise SettingError(f"No {what} is named. Choose from: {', '.join(known)}.")


def read_knowledge_setting(setting: str) -> dict[str, str]:
    """Return the values of a setting by name.

    Examples:
        >>> read_knowledge_setting("part=units noise=0.1 units=with")
        {'part': 'units', 'noise': '0.1', 'units': 'with'}
    """
    values = dict(word.split("=", 1) for word in setting.split() if "=" in word)
    if values.get("part") not in KNOWLEDGE_PARTS:
        raise SettingError(
            f"'{setting}' is not a setting of knowledge. Write for example 'part=units noise=0.1 units=with'."
        )
    return values


def run_knowledge(trial: Trial) -> Outcome:
    """Run a trial of any part."""
    values = read_knowledge_setting(trial.setting)
    return _RUNS[values["part"]](trial, values)


def knowledge_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search, and the true formula."""
    if read_knowledge_setting(trial.setting)["part"] == "shapes":
        shaped = SHAPED_LAWS[trial.problem]
        more = {"truth": shaped.formula, "statements": list(shaped.knowledge), "max_evaluations": SHAPES_EVALUATIONS}
        return SearchConfig().to_dict() | more
    law = load_handbook_law(trial.problem)
    return SearchConfig().to_dict() | {"truth": law.expression, "n_variables": len(law.variables)}


KNOWLEDGE = Experiment(name="knowledge", run=run_knowledge, settings=knowledge_settings)
