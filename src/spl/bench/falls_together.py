"""One law for all falls by `fit(groups=...)`: all drops in one table, each drop a group that may have numbers of its own."""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from spl.bench.fall_law import FALL_GRAMMARS, Numbers, search_config, training_points
from spl.datasets.measured import Drop
from spl.errors import DoubtfulResult
from spl.estimators.regressor import SPLRegressor

TOGETHER = "groups"  # the name of this search in `--grammars`, beside those of the grammars
GRAMMAR = "drag"  # that it uses


@dataclass(frozen=True, slots=True)
class FallLaw:
    """The law of all drops, with the numbers of each drop."""

    model: SPLRegressor
    seconds: float

    def heights(self, drop: Drop, times: Numbers) -> Numbers:
        """Return the heights of a drop at some times [N]."""
        table = pd.DataFrame({"t": times})
        return np.asarray(self.model.predict(table, groups=[_label(drop)] * times.size), np.float64)

    def write(self, drop: Drop) -> str:
        """Return the law as text, with the numbers of a drop."""
        numbers = self.model.own_numbers_.loc[_label(drop)]
        own = ", ".join(f"{name} = {value:.6g}" for name, value in numbers.items())
        equation = str(self.model.get_best()["equation"])
        return f"{equation} with {own}" if own else equation


def search_together(drops: Sequence[Drop], *, seed: int, timeout: float | None) -> FallLaw:
    """Search one law on the first seconds of all drops, by the rule of choice of all tables."""
    began = time.perf_counter()
    points = [training_points(drop) for drop in drops]
    labels = [_label(drop) for drop, each in zip(drops, points, strict=True) for _ in range(each.n_rows)]
    model = SPLRegressor(
        grammar=FALL_GRAMMARS[GRAMMAR], search=search_config(GRAMMAR), timeout=timeout, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulResult)  # the errors of the predictions say more
        model.fit(
            pd.DataFrame({"t": np.concatenate([each.columns[0] for each in points])}),
            pd.Series(np.concatenate([each.target for each in points]), name="height"),
            groups=pd.Series(labels, name="drop"),
        )
    return FallLaw(model, time.perf_counter() - began)


def _label(drop: Drop) -> str:
    return f"{drop.ball}, drop {drop.number}"
