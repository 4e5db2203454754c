"""`spl bench knowledge`: its parts and their trials."""

import pytest

from spl.bench import knowledge
from spl.bench.knowledge import (
    KNOWLEDGE,
    KNOWLEDGE_PARTS,
    KnowledgePlan,
    knowledge_settings,
    read_knowledge_setting,
    run_knowledge,
)
from spl.errors import SettingError


def test_all_parts_have_trials_with_settings_of_their_own():
    trials = KnowledgePlan().trials()
    assert {read_knowledge_setting(trial.setting)["part"] for trial in trials} == set(KNOWLEDGE_PARTS)
    assert len({trial.key for trial in trials}) == len(trials)
    assert all("truth" in knowledge_settings(trial) for trial in trials)


def test_each_law_is_searched_with_and_without_units_at_each_level_of_noise():
    trials = KnowledgePlan(parts=("units",), seeds=(3,), timeout=9.0).trials()
    assert len(trials) == 40 * 3 * 2
    assert {(trial.seed, trial.timeout) for trial in trials} == {(3, 9.0)}
    first, second = trials[:2]
    assert (first.problem, first.setting) == (second.problem, "part=units noise=0 units=with")
    assert second.setting == "part=units noise=0 units=without"


def test_problems_noise_and_variants_can_be_chosen():
    plan = KnowledgePlan(problems=("nernst",), noise_levels=(0.1,), variants=("with",), parts=("units",))
    assert [(trial.problem, trial.setting) for trial in plan.trials()] == [
        ("nernst", "part=units noise=0.1 units=with")
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": ("unit",)}, "There is no part 'unit'. Did you mean 'units'"),
        ({"parts": ()}, "No part is named"),
        ({"variants": ("wiht",)}, "There is no variant 'wiht'. Did you mean 'with'"),
        ({"problems": ("nernts",)}, "There is no problem 'nernts'. Did you mean 'nernst'"),
    ],
)
def test_unknown_choices_are_refused(changes, message):
    with pytest.raises(SettingError) as caught:
        KnowledgePlan(**changes).trials()
    assert message in str(caught.value)


def test_an_unknown_setting_is_refused():
    with pytest.raises(SettingError, match="is not a setting of knowledge"):
        read_knowledge_setting("part=nothing")


@pytest.mark.parametrize("part", KNOWLEDGE_PARTS)
def test_a_trial_is_run_by_its_part(monkeypatch, part):
    monkeypatch.setitem(knowledge._RUNS, part, lambda trial, values: (trial.problem, values["part"]))
    trial = KnowledgePlan(parts=(part,)).trials()[3]
    assert run_knowledge(trial) == (trial.problem, part)
    assert KNOWLEDGE.name == "knowledge"
