import numpy as np
import pytest
from tests.bench.fakes import make_record, make_trial

from spl.bench import noise
from spl.bench.noise import (
    CONDITIONS,
    NODES,
    NOISE,
    Condition,
    GplearnConfig,
    describe_test,
    has_terms_of_law,
    law_at,
    noise_table,
    noise_trials,
)
from spl.bench.report import write_report
from spl.errors import SettingError
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.regression.fit import evaluate
from spl.settings import SearchConfig


def recovered(formula):
    return has_terms_of_law(evaluate(parse_expression(formula, Vocabulary(("x",))), NODES[np.newaxis]))


# ---- the rule of recovery ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "formula",
    [
        noise.LAW,
        "x * (2 + x * (0.5 + 0.3 * x))",
        "0.3*x*x*x + x*x/2 + x + x",
        "x*(x + 1)*(0.3*x + 0.2) + 1.8*x",
        "(0.3*x**4 + 0.5*x**3 + 2*x**2) / x",
        "0.31*x**3 + 0.45*x**2 - 0.7*x",  # under noise the numbers are not exact
        "(x - 1)*(0.3*x**2 + 0.8*x + 2.8) + 2.8",
        "0.3*x**3 + 0.5*x**2 + 2*x + 1e-13",  # rounding error
    ],
)
def test_the_terms_of_the_law_count_in_every_spelling(formula):
    assert recovered(formula)


@pytest.mark.parametrize(
    "formula",
    [
        "0.3*x**3 + 2*x",
        "0.3*x**3 + 0.5*x**2",
        "0.5*x**2 + 2*x",
        "0.3*x**3 + 0.5*x**2 + 2*x + 0.01",
        "0.3*x**3 + 0.5*x**2 + 2*x + 1e-5*x**4",
        "0.3*x**3 + 0.5*x**2 + 2*x + 0.001/x",
        "0.3*x**3 + 0.5*x**2 + 1e-9*x",
        "x**3 / (1 + 1e-6*x**2)",
        "log(x)",
        "0*x",
    ],
)
def test_a_term_too_few_or_too_many_does_not_count(formula):
    assert not recovered(formula)


def test_values_that_are_not_finite_do_not_count():
    assert not has_terms_of_law(np.full(NODES.shape, np.inf))


# ---- data and trials -----------------------------------------------------------------------------


def test_the_exact_law_is_the_one_of_the_paper():
    assert law_at(np.array([-1.0, 0.0, 2.0])) == pytest.approx([0.3 * -1 + 0.5 - 2, 0.0, 0.3 * 8 + 0.5 * 4 + 4])


@pytest.mark.parametrize("level", noise.CUBIC_NOISE_LEVELS)
def test_noise_is_a_share_of_the_root_mean_square_of_the_exact_values(level):
    table, target = Condition(level, 100_000).make_train(seed=1)
    exact = law_at(table[:, 0])
    share = np.sqrt(np.mean((target - exact) ** 2) / np.mean(exact**2))
    assert share == pytest.approx(level, rel=0.02)
    assert table.min() >= -10
    assert table.max() <= 10


def test_one_seed_is_one_table_and_another_seed_another():
    first, again, other = (Condition(0.1, 50).make_train(seed)[1] for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_condition_is_read_back_from_its_name():
    assert [Condition.of(condition.setting) for condition in CONDITIONS] == list(CONDITIONS)
    with pytest.raises(SettingError, match="is not a condition"):
        Condition.of("points20")


def test_trials_are_sixteen_cells_for_each_tool_and_seed():
    trials = noise_trials([0, 1], tools=["spl"])
    assert len({trial.key for trial in trials}) == 2 * 16
    assert [trial.seed for trial in trials] == [0] * 16 + [1] * 16


def test_an_unknown_tool_is_refused():
    with pytest.raises(SettingError, match="no tool 'eureqa'"):
        noise_trials([0], tools=["eureqa"])


def test_ten_thousand_episodes_are_one_trial():
    assert noise.CUBIC_CONFIG.n_transplants * noise.CUBIC_CONFIG.n_episodes * noise.CUBIC_CONFIG.n_trees == 10_000


def test_both_tools_are_given_the_same_table(monkeypatch):
    given = []

    def take(trial, table, target):
        given.append((table, target))

    monkeypatch.setattr(noise, "_run_ours", take)
    monkeypatch.setattr(noise, "_run_gplearn", take)
    for tool in noise.NOISE_TOOLS:
        NOISE.run(make_trial("cubic", experiment="noise", setting="noise=0.3 points=20", tool=tool))
    assert np.array_equal(given[0][0], given[1][0])
    assert np.array_equal(given[0][1], given[1][1])


@pytest.mark.search
def test_a_small_search_recovers_the_law_without_noise(monkeypatch):
    monkeypatch.setattr(
        noise, "CUBIC_CONFIG", SearchConfig(n_episodes=200, n_transplants=2, max_schedules=1, n_trees=1)
    )
    outcome = NOISE.run(make_trial("cubic", experiment="noise", setting="noise=0 points=20"))
    assert outcome.recovered
    assert outcome.error < 1e-9


def test_gplearn_is_judged_by_the_same_rule(monkeypatch):
    pytest.importorskip("gplearn.genetic", reason="gplearn is not installed")
    monkeypatch.setattr(noise, "GPLEARN_CONFIG", GplearnConfig(population_size=50, max_generations=2))
    trial = make_trial("cubic", experiment="noise", setting="noise=0 points=20", tool="gplearn")
    outcome = NOISE.run(trial)
    assert not outcome.recovered
    assert outcome.error > 0.01
    assert outcome.evaluations == 100
    assert NOISE.settings(trial)["population_size"] == 50


# ---- the report ----------------------------------------------------------------------------------


def cell(noise, n_points, tool, *recovered, error=0.01):
    setting = Condition(noise, n_points).setting
    return [
        make_record(
            make_trial("cubic", seed, experiment="noise", setting=setting, tool=tool),
            recovered=good,
            seconds=2.0 if tool == "spl" else 30.0,
            error=error,
        )
        for seed, good in enumerate(recovered)
    ]


RECORDS = [
    *cell(0.3, 20, "spl", True, False),
    *cell(0.3, 20, "gplearn", False, False, error=None),
    *cell(0.0, 1000, "gplearn", False, False, error=0.25),
    *cell(0.0, 1000, "spl", True, True, error=1e-15),
]


def test_each_cell_is_a_row_with_both_tools():
    assert noise_table(RECORDS).to_markdown().splitlines() == [
        "| noise, points | spl | gplearn | spl error | gplearn error | spl seconds | gplearn seconds |",
        "|---|---:|---:|---:|---:|---:|---:|",
        "| 0%, 1,000 | 2 of 2 | 0 of 2 | 1e-15 | 0.2 | 2.0 | 30.0 |",
        "| 30%, 20 | 1 of 2 | 0 of 2 | 0.01 | inf | 2.0 | 30.0 |",
        "| **all** | **3 of 4** | **0 of 4** | **0.01** | **inf** | **2.0** | **30.0** |",
    ]


def test_the_t_test_is_paired_over_the_cells_and_stands_beside_the_papers():
    line = describe_test(RECORDS)
    assert line == (
        "T-test, paired over 2 cells, one-sided (spl higher; scipy.stats.ttest_rel): p = 0.1. "
        "The paper reports p = 1.06e-07 and does not say which T-test."
    )


@pytest.mark.parametrize("records", [RECORDS[:2], RECORDS[:4], RECORDS[2:4]])
def test_a_test_that_is_not_defined_is_said_to_be_so(records):
    assert "not defined" in describe_test(records)


def test_a_report_links_its_figure(tmp_path):
    pytest.importorskip("matplotlib")
    text = write_report(RECORDS, tmp_path)
    assert "![Noise and scarcity](noise.png)" in text
    assert noise.CUBIC_RULE in text
    assert {path.name for path in tmp_path.iterdir()} == {"noise.png", "noise.svg"}


def test_a_report_of_one_tool_has_its_columns_only(tmp_path):
    pytest.importorskip("matplotlib")
    text = write_report(RECORDS[:2], tmp_path)
    assert "| 30%, 20 | 1 of 2 | 0.01 | 2.0 |" in text


def test_without_a_folder_there_is_no_figure():
    assert "png" not in write_report(RECORDS, None)


def test_time_limits_have_sections_of_their_own():
    limited = make_record(make_trial("cubic", experiment="noise", setting="noise=0 points=20", timeout=5.0))
    assert write_report([*RECORDS, limited], None).count("## Noise") == 2
