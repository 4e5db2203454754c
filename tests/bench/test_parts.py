import pytest
from tests.bench.experiments import parts_trial

from spl.bench import parts
from spl.bench.parts import PARTS, VARIANTS, parts_trials
from spl.datasets import load_nguyen
from spl.errors import SettingError
from spl.settings import CLOSERS, SearchConfig

# ---- variants ------------------------------------------------------------------------------------


def test_the_first_variant_is_the_default_of_the_product():
    assert PARTS.settings(parts_trial("all: points20")) == SearchConfig().to_dict()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bank", {"n_completions": 0}),
        ("inversion", {"max_inversions": 0}),
        ("jumping", {"jumping": False}),
        *((name, {"closers": tuple(other for other in CLOSERS if other != name)}) for name in CLOSERS),
    ],
)
def test_a_variant_goes_without_its_part_and_nothing_else(name, changes):
    assert PARTS.settings(parts_trial(f"{name}: points20")) == SearchConfig().to_dict() | changes


def test_every_closer_is_left_out_once():
    assert [variant.name for variant in VARIANTS if "closers" in variant.changes] == list(CLOSERS)


# ---- trials --------------------------------------------------------------------------------------


def test_every_variant_is_tried_on_every_problem_with_every_seed():
    trials = parts_trials([0, 17], [load_nguyen("Nguyen-1")], [0, 1], 5.0)
    assert len({trial.key for trial in trials}) == len(trials) == len(VARIANTS) * (2 * 2 + 1) * 2


def test_the_variants_of_a_problem_stand_together():
    trials = parts_trials([17], [load_nguyen("Nguyen-1")], [0], 5.0)
    first = trials[: len(VARIANTS)]
    assert {trial.problem for trial in first} == {"random-017"}
    assert [trial.setting for trial in first] == [f"{variant.name}: noise=0 threads=1" for variant in VARIANTS]
    assert trials[-1].setting == "jumping: points20"


def test_a_variant_that_does_not_exist_is_refused():
    with pytest.raises(
        SettingError, match=r"'luck: points20' does not name a variant of the search\. Write one of all, bank"
    ):
        PARTS.run(parts_trial("luck: points20"))


def test_a_random_formula_is_searched_with_the_settings_of_the_variant(monkeypatch):
    monkeypatch.setattr(parts, "run_formula", lambda trial, config: (trial.setting, config))
    found = PARTS.run(parts_trial("jumping: noise=0.01 threads=1", "random-000"))
    assert found == ("noise=0.01 threads=1", SearchConfig(jumping=False))


def test_a_nguyen_problem_is_searched_with_the_settings_of_the_variant(monkeypatch):
    monkeypatch.setattr(parts, "run_task", lambda task, trial: (task.problem.name, task.config))
    assert PARTS.run(parts_trial("bank: points20")) == ("Nguyen-1", SearchConfig(n_completions=0))


def test_a_variant_is_run():
    assert PARTS.run(parts_trial("monomial: points20", timeout=20.0)).recovered
