from dataclasses import replace

import numpy as np
import pytest
from tests.bench.fakes import make_trial

from spl.bench import tables
from spl.bench.structure import has_structure_of_law
from spl.bench.table_tools import TableFit
from spl.bench.tables import (
    LAW_NAMES,
    NOISE_MODELS,
    TABLES,
    WIDE_LAW_NAMES,
    TablesPlan,
    is_same_formula,
    read_setting,
    says_cannot_tell,
    write_setting,
)
from spl.datasets import LAWS, WIDE_LAWS, make_informed_table, make_law_table, make_law_test, make_unrelated
from spl.datasets.law_tables import TABLE_VARIANTS
from spl.datasets.wide_tables import make_wide_test
from spl.errors import SettingError
from spl.formulas.constant_slots import literals_to_constants
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate


def tables_trial(problem, tool="spl", seed=0, **setting):
    return make_trial(problem, seed, experiment="tables", setting=write_setting(**setting), tool=tool, timeout=30.0)


@pytest.fixture
def asked(monkeypatch):
    """Let every tool find a formula that costs nothing, and record what it was asked."""
    seen = {"formula": "1"}

    def fit(tool, task):
        seen.update(tool=tool, task=task)
        program = parse_expression(seen["formula"], Vocabulary(task.names))
        return TableFit(
            formula=seen["formula"],
            readings=(program,),
            predict=lambda rows: evaluate(program, np.ascontiguousarray(rows.T)),
            seconds=1.0,
            n_evaluations=5,
            stopped="timeout",
            details={"noise": "normal", "notes": []},
        )

    monkeypatch.setattr(tables, "fit_table", fit)
    return seen


# ---- the trials ----------------------------------------------------------------------------------


def test_the_plan_has_all_parts_by_default():
    trials = TablesPlan().trials()
    parts = [read_setting(trial.setting)["part"] for trial in trials]
    assert {part: parts.count(part) for part in parts} == {
        "noise": 20 * 4 * 2,
        "wide": 10 * 3 * 2,
        "few": 20 * 4 * 2,
        "unrelated": 100 * 6,
    }
    assert len({trial.key for trial in trials}) == len(trials)


def test_other_tools_run_on_the_same_tables_in_noise_and_wide(monkeypatch):
    monkeypatch.setattr(tables, "check_tools", lambda tools, timeout: None)
    plan = TablesPlan(laws=("hill", "wave"), variants=("even",), tools=("spl", "gplearn"), n_unrelated=1)
    found = [(read_setting(trial.setting)["part"], trial.tool) for trial in plan.trials()]
    assert found[:3] == [("noise", "spl"), ("noise", "gplearn"), ("noise", "spl")]
    assert {part for part, tool in found if tool == "gplearn"} == {"noise", "wide"}


def test_laws_belong_to_the_parts_that_have_them():
    plan = TablesPlan(parts=("noise", "wide", "few"), laws=("hill", "wave"), variants=("counts",))
    problems = {(read_setting(trial.setting)["part"], trial.problem) for trial in plan.trials()}
    assert problems == {("noise", "hill"), ("few", "hill"), ("wide", "wave")}
    assert not set(LAW_NAMES) & set(WIDE_LAW_NAMES)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parts": ("wid",)}, r"There is no part 'wid'\. Did you mean 'wide'\?"),
        ({"laws": ("hil",)}, r"There is no law 'hil'\. Did you mean 'hill'\?"),
        ({"variants": ("even", "uneven")}, "There is no variant 'uneven'"),
        ({"tools": ("gplern",)}, "There is no tool 'gplern'"),
        ({"laws": ()}, "No law is named"),
        ({"n_rows": 0}, "must be 1 or more; got 0"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(changes, message):
    with pytest.raises(SettingError, match=message):
        TablesPlan(**changes)


def test_a_setting_is_read_back():
    assert read_setting(write_setting(part="few", variant="even", model="auto")) == {
        "part": "few",
        "variant": "even",
        "model": "auto",
    }
    with pytest.raises(SettingError, match="'noise=0 threads=2' is not a setting of tables"):
        read_setting("noise=0 threads=2")


# ---- what a tool is given ------------------------------------------------------------------------


@pytest.mark.parametrize("variant", TABLE_VARIANTS)
def test_our_default_is_told_nothing_about_the_noise(asked, variant):
    TABLES.run(tables_trial("hill", part="noise", variant=variant, data="measured", rows=50))
    task, rows = asked["task"], make_law_table(LAWS[LAW_NAMES.index("hill")], variant, 0, 50)
    np.testing.assert_array_equal(task.target, rows.target)
    assert (task.noise_model, task.sigma) == ("auto", None)


@pytest.mark.parametrize(
    ("variant", "has_sigma"), [("even", False), ("relative", True), ("outliers", False), ("counts", True)]
)
def test_the_partner_has_normal_noise_and_knows_it(asked, variant, has_sigma):
    TABLES.run(tables_trial("hill", part="noise", variant=variant, data="informed", rows=50))
    task, rows = asked["task"], make_informed_table(LAWS[LAW_NAMES.index("hill")], variant, 0, 50)
    np.testing.assert_array_equal(task.target, rows.target)
    assert task.noise_model == "normal"
    assert (task.sigma is not None) is has_sigma
    np.testing.assert_array_equal(rows.deviations if task.sigma is None else task.sigma, rows.deviations)


def test_few_rows_are_20_with_each_model(asked):
    TABLES.run(tables_trial("hill", part="few", variant="counts", model="normal"))
    assert (len(asked["task"].target), asked["task"].noise_model) == (20, "normal")


@pytest.mark.parametrize("model", NOISE_MODELS)
def test_each_noise_model_sees_unrelated_targets_of_its_kind(asked, model):
    outcome = TABLES.run(tables_trial("unrelated-003", part="unrelated", model=model))
    kind = "poisson" if model == "auto" else model
    np.testing.assert_array_equal(asked["task"].target, make_unrelated(3, kind)[1])
    assert asked["task"].noise_model == model
    assert outcome.recovered
    asked["formula"] = "2 + 0.1*x0"
    assert not TABLES.run(tables_trial("unrelated-003", part="unrelated", model=model)).recovered


def test_a_wide_table_has_the_columns_and_noise_of_its_setting(asked):
    asked["formula"] = "2.5*a - 1.3*b"
    outcome = TABLES.run(tables_trial("difference", part="wide", columns=100, noise=0))
    assert (asked["task"].table.shape, outcome.recovered) == ((400, 100), True)


# ---- what counts as recovered --------------------------------------------------------------------


def with_other_numbers(program):
    free = literals_to_constants(program)
    return free.with_constants(np.array(free.constants) * np.linspace(0.99, 1.01, len(free.constants)))


@pytest.mark.search
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
@pytest.mark.parametrize("variant", ["even", "relative"])
def test_a_law_with_other_numbers_is_recovered_and_one_with_another_term_is_not(law, variant):
    table, truth = make_law_test(law, variant, seed=0)
    program = parse_expression(law.expression, Vocabulary(law.variables))
    longer = parse_expression(f"{law.expression} + 0.01*{law.variables[0]}", Vocabulary(law.variables))
    assert has_structure_of_law(with_other_numbers(program), table, truth)
    assert not has_structure_of_law(with_other_numbers(longer), table, truth)


@pytest.mark.search
@pytest.mark.parametrize("law", WIDE_LAWS, ids=lambda law: law.name)
def test_a_wide_law_with_other_numbers_is_recovered(law):
    names, table, truth = make_wide_test(law, 20, seed=0)
    program = parse_expression(law.expression, Vocabulary(names))
    assert has_structure_of_law(with_other_numbers(program), table, truth)


def test_exact_data_ask_for_exact_numbers(asked):
    asked["formula"] = "2.5*a - 1.3001*b"
    exact, noisy = (tables_trial("difference", part="wide", columns=20, noise=noise) for noise in (0, 0.05))
    assert not TABLES.run(exact).recovered
    assert TABLES.run(noisy).recovered


def test_a_formula_counts_if_one_of_its_readings_does(asked, monkeypatch):
    asked["formula"] = "0.002 + 2.5*a - 1.3*b"
    trial = tables_trial("difference", "pyoperon", part="wide", columns=20, noise=0.05)
    assert not TABLES.run(trial).recovered
    fit = tables.fit_table

    def fit_and_drop_offset(tool, task):
        shorter = parse_expression("2.5*a - 1.3*b", Vocabulary(task.names))
        found = fit(tool, task)
        return replace(found, readings=(*found.readings, shorter))

    monkeypatch.setattr(tables, "fit_table", fit_and_drop_offset)
    assert TABLES.run(trial).recovered


def test_an_outcome_keeps_the_noise_model_and_the_notes(asked):
    outcome = TABLES.run(tables_trial("hill", part="few", variant="even", model="auto"))
    assert outcome.details == {"noise": "normal", "notes": []}
    assert np.isfinite(outcome.error)


def test_settings_say_what_was_sought():
    assert TABLES.settings(tables_trial("hill", part="few", variant="even", model="auto"))["truth"]
    assert TABLES.settings(tables_trial("wave", part="wide", columns=20, noise=0))["truth"] == "3*sin(a) + 2*b"
    assert "truth" not in TABLES.settings(tables_trial("unrelated-000", part="unrelated", model="auto"))


# ---- comparing formulas --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "is_same"),
    [
        ("2*x + 1", "2.1*x + 0.9", True),
        ("2*x/(1 + x)", "1/(0.6 + 0.5/x)", True),
        ("2*x", "2*x + 0.1", False),
        ("sqrt(x)", "log(x)", False),
        ("1.5", "1.6", True),
        ("1.5", "1.5*x", False),
        ("log(x - 0.06)", "log(x - 0.05)", True),
        ("sqrt(x - 3)", "2*x", False),
        ("sqrt(x - 30)", "2*x", False),
    ],
)
def test_formulas_are_the_same_if_they_differ_only_in_numbers(first, second, is_same):
    assert is_same_formula(first, second, "hill", "even") is is_same
    assert is_same_formula(second, first, "hill", "even") is is_same


def test_a_note_that_the_rows_cannot_tell_is_recognised():
    assert says_cannot_tell(["Two rows were dropped.", "These rows cannot tell normal from relative noise."])
    assert not says_cannot_tell(["Two rows were dropped."])


# ---- with the estimator --------------------------------------------------------------------------


@pytest.mark.search
def test_a_trial_of_ours_is_run():
    outcome = TABLES.run(replace(tables_trial("difference", part="wide", columns=20, noise=0), timeout=10.0))
    assert outcome.recovered
    assert outcome.details["noise"]
