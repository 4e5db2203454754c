"""The part `units` of `spl bench knowledge`: forty laws from handbooks, each searched with and without its units."""

from spl.bench.knowledge_fit import first_right_choice, fit_handbook_law, has_right_structure, values_of
from spl.bench.random import unexplained_error
from spl.bench.trials import OURS, Outcome, Trial, is_recovered, relative_error
from spl.datasets.handbook_laws import HANDBOOK_LAWS, load_handbook_law
from spl.datasets.handbook_tables import make_handbook_table, make_handbook_test

UNITS_NOISE_LEVELS = (0.0, 0.01, 0.1)  # standard deviation of the noise / that of the exact values
WITH, WITHOUT = "with", "without"
UNITS_VARIANTS = (WITH, WITHOUT)


def units_trials(
    seed: int, timeout: float | None, noise_levels: tuple[float, ...], variants: tuple[str, ...]
) -> list[Trial]:
    """Return the trials, level by level; both variants of a law one after the other, so that they share the state of the machine."""
    return [
        Trial(
            experiment="knowledge",
            setting=f"part=units noise={noise:g} units={variant}",
            tool=OURS,
            problem=law.name,
            seed=seed,
            timeout=timeout,
        )
        for noise in noise_levels
        for law in HANDBOOK_LAWS
        for variant in variants
    ]


def run_units(trial: Trial, values: dict[str, str]) -> Outcome:
    """Search the table of a law, and judge the formula by exact rows that the search never saw."""
    law, noise = load_handbook_law(trial.problem), float(values["noise"])
    table, target = make_handbook_table(law, trial.seed, noise=noise)
    found = fit_handbook_law(
        law, table, target, has_units=values["units"] == WITH, seed=trial.seed, timeout=trial.timeout
    )
    unseen, truth = make_handbook_test(law, trial.seed)
    predicted = values_of(law, found.program, unseen)
    if noise > 0:
        recovered = has_right_structure(law, found.program, unseen, truth)
    else:
        recovered = is_recovered(relative_error(predicted, truth))
    solution = first_right_choice(law, found.choices, unseen, truth) if recovered else None
    return Outcome(
        formula=found.formula,
        recovered=recovered,
        error=unexplained_error(predicted, truth),
        seconds=found.seconds,
        evaluations=found.n_evaluations,
        stopped=found.stopped,
        details={
            "solution_seconds": None if solution is None else round(solution.seconds, 3),
            "solution_evaluations": None if solution is None else solution.n_evaluations,
            "on_front": recovered or any(has_right_structure(law, other, unseen, truth) for other in found.front),
            "cpu_seconds": round(found.cpu_seconds, 2),
            "notes": list(found.notes),
        },
    )
