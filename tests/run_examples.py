"""Short searches that several tests of runs share."""

import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.regression.request import RegressionRequest
from spl.runs.regression import discover_in_file
from spl.runs.writer import RunPlan
from spl.settings import Limits, SearchConfig

RULES = "f -> f + f | f * f | sin(f) | exp(f) | C * f | x | y"
NO_LIMIT = Limits(timeout=None)


def make_data(n_rows=30, seed=0):
    """Return rows that no formula fits exactly."""
    x, y = np.random.default_rng(seed).uniform(0.5, 3, (2, n_rows))
    return Dataset.from_arrays(np.stack([x, y], axis=1), np.sin(7 * x * y) + np.abs(np.sin(40 * x)), names=["x", "y"])


def make_config(max_schedules=1, **settings):
    return SearchConfig(
        **{"max_rules": 10, "n_episodes": 60, "n_transplants": 2, "max_schedules": max_schedules} | settings
    )


def make_plan(data=None, rules=RULES, own=(), **more):
    data = data or make_data()
    settings = {"config": make_config(), "seed": 3, "more": {}, "facts": {}} | more
    return RunPlan(data=data, searches=[("z", Grammar.from_text(rules, own).bind(data.names))], **settings)


def search_in_file(path, max_schedules=1, data=None, rules=RULES, limits=NO_LIMIT, seed=3, **more):
    config = more.pop("config", None) or make_config(max_schedules)
    grammar = Grammar.from_text(rules)
    request = RegressionRequest(data or make_data(), grammar, target="z", config=config, limits=limits, seed=seed)
    return discover_in_file(path, request, **more)


def summary(found):
    return [(c.program.tokens, c.program.constants, c.loss, c.reward) for c in found.front]


def make_outlier_request(max_schedules=2, max_evaluations=None, **more):
    """Return a request whose search opens a second view: one row in six is an outlier."""
    random = np.random.default_rng(0)
    x = np.linspace(0.5, 6.0, 60)
    target = 2 * np.sin(x) + 0.3 * x + 0.02 * random.normal(size=60)
    target[::6] += random.uniform(2.0, 5.0, 10)
    settings = {
        "target": "z",
        "noise": "auto",
        "seed": 3,
        "config": make_config(max_schedules, n_episodes=200),
        "limits": Limits(timeout=None, max_evaluations=max_evaluations),
    }
    data = Dataset.from_arrays(x[:, np.newaxis], target, names=["x"])
    return RegressionRequest(data, Grammar.from_text("f -> f + f | f * f | sin(f) | C * f | x"), **settings | more)
