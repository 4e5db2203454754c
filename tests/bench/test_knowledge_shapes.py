import math

import numpy as np
import pytest

from spl.bench.knowledge_shapes import asked_bounds, error_beyond, run_shapes, shapes_trials
from spl.datasets.shaped_laws import SHAPED_LAWS
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression


def test_each_law_is_searched_with_and_without_statements():
    trials = shapes_trials(None, (0, 1))
    assert len(trials) == 2 * 2 * len(SHAPED_LAWS)
    assert {trial.setting for trial in trials} == {"part=shapes know=no", "part=shapes know=yes"}


def test_bounds_hold_the_measured_and_the_asked_rows():
    for law in SHAPED_LAWS.values():
        bounds = asked_bounds(law)
        columns, _ = law.rows_beyond()
        for name, values in zip(law.columns, columns, strict=True):
            low, high = bounds[name]
            assert low <= min(values.min(), law.measured[name][0])
            assert max(values.max(), law.measured[name][1]) <= high


def test_the_error_is_that_outside_of_the_data():
    law = SHAPED_LAWS["discharge"]
    words = Vocabulary(law.columns)
    assert error_beyond(law, parse_expression(law.formula, words)) == 0
    _, truth = law.rows_beyond()
    assert error_beyond(law, parse_expression("1.0", words)) == pytest.approx(
        np.sqrt(np.mean((1 - truth) ** 2)) / truth.std()
    )
    assert error_beyond(law, parse_expression("log(2 - t)", words)) == math.inf


@pytest.mark.search
def test_a_trial_with_statements_returns_a_formula_that_keeps_them(monkeypatch):
    monkeypatch.setattr("spl.bench.knowledge_shapes.SHAPES_EVALUATIONS", 500)
    [trial] = [each for each in shapes_trials(None, (0,)) if each.problem == "discharge" and "yes" in each.setting]
    outcome = run_shapes(trial, {"know": "yes"})
    assert outcome.formula
    assert "broken" not in outcome.details["shapes"].values()
