"""Targets that no column explains."""

import numpy as np
import pytest

from spl.bench import trust_chance
from spl.bench.trust_chance import A_LAW, N_LAW_SEEDS, N_UNRELATED, NO_LAW, chance_trials, run_chance
from spl.datasets.laws import LAWS
from spl.settings import Limits


def trial_of(problem, law):
    return next(
        trial for trial in chance_trials(2.0, [0]) if (trial.problem, trial.setting[-len(law) :]) == (problem, law)
    )


def test_there_are_as_many_tables_with_a_law_as_without():
    trials = chance_trials(2.0, [0])
    assert len(trials) == N_UNRELATED + N_LAW_SEEDS * len(LAWS) == 200
    assert len({trial.key for trial in trials}) == 200


def test_each_seed_has_tables_of_its_own():
    first, second = ({trial.problem for trial in chance_trials(2.0, [seed])} for seed in (0, 1))
    assert not first & second


def test_tables_repeat_and_have_enough_rows_to_hold_some_out():
    for trial in chance_trials(2.0, [0])[::7]:
        has_law = trial.setting.endswith(A_LAW)
        table, target = trust_chance._make_table(trial, has_law=has_law)
        again, _ = trust_chance._make_table(trial, has_law=has_law)
        np.testing.assert_array_equal(table, again)
        assert len(target) >= 20


@pytest.mark.search
@pytest.mark.parametrize(("problem", "law"), [("unrelated-001", NO_LAW), ("michaelis_menten-0", A_LAW)])
def test_the_answer_is_right_if_only_a_target_without_a_law_is_called_so(problem, law, monkeypatch):
    monkeypatch.setattr(trust_chance, "Limits", lambda timeout: Limits(timeout=None, max_evaluations=400))
    outcome = run_chance(trial_of(problem, law), {"law": law})
    assert outcome.recovered
    assert outcome.details["is_explained"] == (law == A_LAW)
