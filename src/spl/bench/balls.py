"""`spl bench balls`: how balls fall from a bridge, from the first 2 seconds of the fall (Section 5 of the paper).

The rest of each drop is the test. The paper uses one drop of each of eleven balls; here the second drop is used too. The
three models of the paper are fitted to the same points in the same run. The error of an outcome is the mean squared error
on the test in square metres. Our law is chosen from the first 2 seconds of all drops: by its predictions within them, or, with
`groups`, as any user of `fit(groups=...)` gets it.
"""

import functools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from spl.bench.fall_law import (
    FALL_GRAMMARS,
    TRAIN_SECONDS,
    FallSearch,
    Numbers,
    can_fall,
    horizon,
    is_possible,
    mean_square,
    search_config,
    search_falls,
)
from spl.bench.falls_together import GRAMMAR, TOGETHER, FallLaw, search_together
from spl.bench.trials import OURS, RECORDED_DIGITS, Experiment, Outcome, Trial
from spl.datasets.measured import BallDrop, Drop, fetch_ball_drop
from spl.errors import SettingError
from spl.formulas.text import to_text
from spl.regression.fit import evaluate

DROPS = (1, 2)


def _log_cosh(z: Numbers) -> Numbers:
    return np.asarray(np.logaddexp(z, -z) - np.log(2))


@dataclass(frozen=True, slots=True)
class FallModel:
    """A formula that the paper compares with, and the constants from which its fits start."""

    text: str
    predict: Callable[[Numbers, Numbers], Numbers]  # from constants and times to heights
    starts: tuple[tuple[float, ...], ...]


FALL_MODELS: Mapping[str, FallModel] = MappingProxyType(
    {
        "model-1": FallModel(
            "{} + {}*t + {}*t**2 + {}*t**3",
            lambda c, t: c[0] + c[1] * t + c[2] * t**2 + c[3] * t**3,
            ((48.0, 0.0, -5.0, 0.0),),
        ),
        "model-2": FallModel(
            "{} + {}*t + {}*exp({}*t)",
            lambda c, t: c[0] + c[1] * t + c[2] * np.exp(np.clip(c[3] * t, -50, 50)),
            ((90.0, -20.0, -40.0, -0.5), (300.0, -100.0, -250.0, -0.1), (50.0, -10.0, -5.0, 0.3)),
        ),
        "model-3": FallModel(
            "{} + {}*log(cosh({}*t))",
            lambda c, t: c[0] + c[1] * _log_cosh(c[2] * t),
            ((48.0, -100.0, 0.3), (48.0, -30.0, 0.6), (48.0, -1000.0, 0.1)),
        ),
    }
)


def balls_trials(
    balls: Sequence[str], seeds: Sequence[int], grammars: Sequence[str], timeout: float | None
) -> list[Trial]:
    """Return the trials: the models of the paper once, then our searches with each seed."""
    known = (*FALL_GRAMMARS, TOGETHER)
    for grammar in grammars:
        if grammar not in known:
            raise SettingError(f"There is no grammar '{grammar}' for falling balls. Choose from: {', '.join(known)}.")

    def make(tool: str, ball: str, seed: int, setting: str) -> Trial:
        return Trial(experiment="balls", setting=setting, tool=tool, problem=ball, seed=seed, timeout=timeout)

    models = [make(tool, ball, 0, f"drop {drop}") for tool in FALL_MODELS for drop in DROPS for ball in balls]
    searches = [
        make(OURS, ball, seed, f"{grammar}: drop {drop}")
        for seed in seeds
        for grammar in grammars
        for drop in DROPS
        for ball in balls
    ]
    return models + searches


def split_setting(setting: str) -> tuple[str, int]:
    """Return the grammar of a setting (empty for models) and the number of the drop.

    Examples:
        >>> split_setting("paper: drop 2"), split_setting("drop 1")
        (('paper', 2), ('', 1))
    """
    grammar, _, drop = setting.rpartition("drop ")
    return grammar.removesuffix(": "), int(drop)


def run_balls(trial: Trial) -> Outcome:
    """Fit a model, or the law that a search chose, to the first 2 seconds of a drop, and test it on the rest."""
    grammar, number = split_setting(trial.setting)
    drop = _fetch_once().select_drop(trial.problem, number)
    if trial.tool != OURS:
        return _run_model(trial, drop)
    return _run_together(trial, drop) if grammar == TOGETHER else _run_search(trial, drop, grammar)


@functools.cache
def _fetch_once() -> BallDrop:
    return fetch_ball_drop()


def balls_settings(trial: Trial) -> dict[str, object]:
    """Return the settings of the search; for a model, its formula."""
    grammar, _ = split_setting(trial.setting)
    if trial.tool != OURS:
        return {"model": FALL_MODELS[trial.tool].text}
    grammar = GRAMMAR if grammar == TOGETHER else grammar
    return {"grammar": FALL_GRAMMARS[grammar], **search_config(grammar).to_dict()}


BALLS = Experiment(name="balls", run=run_balls, settings=balls_settings)


# ---- the models of the paper ---------------------------------------------------------------------


def fit_model(model: FallModel, t: Numbers, height: Numbers) -> Numbers:
    """Return the constants [C] of a model by least squares, the best of all starts.

    Examples:
        >>> t = np.linspace(0, 2, 20)
        >>> fit_model(FALL_MODELS["model-1"], t, 48 - 5 * t**2).round(3) + 0.0
        array([48.,  0., -5.,  0.])
    """
    from scipy.optimize import least_squares  # slow to import

    fits = [
        least_squares(lambda c: model.predict(c, t) - height, start, x_scale="jac", max_nfev=2000)
        for start in model.starts
    ]
    return np.asarray(min(fits, key=lambda fit: fit.cost).x)


def _run_model(trial: Trial, drop: Drop) -> Outcome:
    began = time.perf_counter()
    model = FALL_MODELS[trial.tool]
    train = drop.time_s <= TRAIN_SECONDS
    constants = fit_model(model, drop.time_s[train], drop.height_m[train])
    times = drop.time_s[~train]
    error = _finite(mean_square(model.predict(constants, times), drop.height_m[~train]))
    return Outcome(
        formula=model.text.format(*(f"{value:.{RECORDED_DIGITS}g}" for value in constants)),
        recovered=can_fall(horizon(), model.predict(constants, horizon())),
        error=error,
        seconds=time.perf_counter() - began,
        evaluations=None,
        stopped="fitted",
    )


# ---- the search ----------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def _search_once(grammar: str, seed: int, timeout: float | None) -> FallSearch:
    """Search on all drops; consecutive trials of the same seed and grammar share the search."""
    return search_falls(_fetch_once().drops, grammar, seed=seed, timeout=timeout, n_jobs=-1)


def _run_search(trial: Trial, drop: Drop, grammar: str) -> Outcome:
    search = _search_once(grammar, trial.seed, trial.timeout)
    program = search.choose(drop)
    is_test = drop.time_s > TRAIN_SECONDS
    return Outcome(
        formula=to_text(program, RECORDED_DIGITS),
        recovered=is_possible(program),
        error=_finite(mean_square(evaluate(program, drop.time_s[None, is_test]), drop.height_m[is_test])),
        seconds=search.seconds[drop.ball, drop.number],
        evaluations=search.n_evaluations[drop.ball, drop.number],
        stopped="chosen",
    )


@functools.lru_cache(maxsize=1)
def _search_together_once(seed: int, timeout: float | None) -> FallLaw:
    drops = _fetch_once().drops
    return search_together(drops, seed=seed, timeout=None if timeout is None else timeout * len(drops))


def _run_together(trial: Trial, drop: Drop) -> Outcome:
    law = _search_together_once(trial.seed, trial.timeout)
    is_test = drop.time_s > TRAIN_SECONDS
    return Outcome(
        formula=law.write(drop),
        recovered=can_fall(horizon(), law.heights(drop, horizon())),
        error=_finite(mean_square(law.heights(drop, drop.time_s[is_test]), drop.height_m[is_test])),
        seconds=law.seconds,
        evaluations=law.model.discovery_.n_evaluations,
        stopped=law.model.discovery_.stopped,
    )


def _finite(error: float) -> float | None:
    return error if np.isfinite(error) else None
