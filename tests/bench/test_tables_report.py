"""The report on tables as they are measured."""

from dataclasses import replace

import pytest
from tests.bench.fakes import make_record, make_trial

from spl.bench.report import write_report
from spl.bench.tables import write_setting
from spl.bench.tables_report import few_table, laws_table, noise_table, tables_sections, unrelated_table, wide_table


def record(problem, *, tool="spl", noise="", notes=(), truth="x", seed=0, timeout=30.0, outcome=None, **setting):
    trial = make_trial(problem, seed, experiment="tables", setting=write_setting(**setting), tool=tool, timeout=timeout)
    details = {"noise": noise, "notes": list(notes)} if noise else {}
    made = make_record(trial, **({"seconds": 4.0, "details": details} | (outcome or {})))
    return replace(made, settings={"truth": truth})


def noise_record(variant, data="measured", **changes):
    fields = {"problem": "hill", "part": "noise", "variant": variant, "data": data, "rows": 200}
    return record(**(fields | changes))


MISSED = {"recovered": False, "error": 0.2, "formula": "2*x", "stopped": "timeout"}
NOISE = [
    noise_record("even", noise="normal"),
    noise_record("even", "informed", noise="normal"),
    noise_record("even", tool="gplearn", outcome=MISSED),
    noise_record("relative", noise="normal", outcome=MISSED, truth="1.8*x"),
    noise_record("relative", "informed", noise="normal"),
    noise_record("relative", problem="darcy", noise="relative"),
    noise_record("relative", "informed", problem="darcy", noise="normal"),
]
CANNOT_TELL = "The rows cannot tell normal from relative noise."


def few_record(problem, model, formula, notes=(), variant="relative"):
    outcome = {"formula": formula, "recovered": formula == "2*x**2/(1 + x**2)"}
    chosen = "relative" if model == "auto" else "normal"
    return record(problem, part="few", variant=variant, model=model, noise=chosen, notes=notes, outcome=outcome)


FEW = [
    few_record("hill", "auto", "2*x**2/(1 + x**2)"),
    few_record("hill", "normal", "2.1*x**2/(1.1 + x**2)"),
    few_record("kleiber", "auto", "3*sqrt(m)", [CANNOT_TELL]),
    few_record("kleiber", "normal", "3*m"),
    few_record("kleiber", "auto", "3*sqrt(m)", variant="counts"),
    few_record("kleiber", "normal", "3*m", variant="counts"),
    few_record("logistic", "auto", "5*t", variant="counts"),
]
UNRELATED = [
    record("unrelated-000", part="unrelated", model="auto", noise="normal"),
    record("unrelated-000", part="unrelated", model="poisson", noise="poisson", outcome=MISSED),
    record("unrelated-001", part="unrelated", model="poisson", noise="poisson"),
]


def wide_record(columns, noise, tool="spl", **changes):
    made = record("wave", tool=tool, part="wide", columns=columns, truth="3*sin(a) + 2*b", **changes)
    return replace(made, trial=replace(made.trial, setting=f"{made.trial.setting} noise={noise}"))


WIDE = [
    wide_record(100, "0.05", outcome=MISSED),
    wide_record(100, "0", tool="gplearn", outcome=MISSED),
    wide_record(100, "0"),
    wide_record(20, "0"),
]


def test_each_variant_is_compared_with_the_same_information_and_other_tools():
    assert noise_table(NOISE).to_markdown().splitlines() == [
        "| noise | spl | same information | share % | noise named | gplearn | spl s |",
        "|---|---:|---:|---:|---:|---:|---:|",
        "| even | 1 of 1 | 1 of 1 | 100 | 1 of 1 | 0 of 1 | 4 |",
        "| relative | 1 of 2 | 2 of 2 | 50 | 1 of 2 |  | 4 |",
        "| **all** | **2 of 3** | **3 of 3** | **67** | **2 of 3** | **0 of 1** | **4** |",
    ]


def test_each_law_has_a_row_with_both():
    assert laws_table(NOISE).rows == (
        ("hill", "1 of 1; 1 of 1", "0 of 1; 1 of 1"),
        ("darcy", "", "1 of 1; 1 of 1"),
    )


def test_there_is_no_share_without_recovered_partners():
    missed = noise_record("even", "informed", noise="normal", outcome=MISSED)
    assert noise_table([NOISE[0], missed]).rows[0][3] == ""


def test_wide_tables_are_sorted_by_columns_and_noise():
    table = wide_table(WIDE)
    assert table.headings == ("columns", "noise", "spl", "spl s", "gplearn", "gplearn s")
    assert table.rows == (
        ("20", "0", "1 of 1", "4", "", ""),
        ("100", "0", "1 of 1", "4", "0 of 1", "4"),
        ("100", "0.05", "0 of 1", "4", "", ""),
    )


def test_another_formula_from_few_rows_needs_a_note():
    assert few_table(FEW).to_markdown().splitlines()[2:] == [
        "| relative | 1 of 2 | 0 of 2 | 1 | 1 | 0 |",
        "| counts | 0 of 2 | 0 of 1 | 0 | 0 | 1 |",
        "| **all** | **1 of 4** | **0 of 3** | **1** | **1** | **1** |",
    ]


def test_unrelated_columns_have_a_row_per_noise_model():
    assert unrelated_table(UNRELATED).rows == (("auto", "1 of 1", "4"), ("poisson", "1 of 2", "4"))


@pytest.mark.parametrize(
    ("records", "line"),
    [
        (
            NOISE,
            "hill, seed 0, relative: `1.8*x` is the truth; found `2*x` (error 0.2; stopped: timeout; noise model: normal)",
        ),
        (
            WIDE,
            "wave, seed 0, 100 columns, noise 0.05: `3*sin(a) + 2*b` is the truth; found `2*x` (error 0.2; stopped: timeout)",
        ),
        (
            FEW,
            "kleiber, seed 0, counts: `3*sqrt(m)` with relative noise, `3*m` with the normal model, and no note",
        ),
        (UNRELATED, "unrelated-000, poisson: `2*x`"),
    ],
)
def test_failures_of_ours_are_listed(records, line):
    assert [section.failures for section in tables_sections(records) if section.failures] == [(line,)]


def test_time_limits_and_numbers_of_rows_have_sections_of_their_own():
    longer = replace(NOISE[0], trial=replace(NOISE[0].trial, timeout=60.0))
    more = noise_record("even", noise="normal", rows=1000)
    assert len(tables_sections([NOISE[0], longer, more])) == 3 * 2


def test_a_report_has_a_section_per_part():
    text = write_report([*NOISE, *WIDE, *FEW, *UNRELATED], None)
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    assert titles == [
        "## Tables as they are measured: laws recovered from 200 rows",
        "## Tables as they are measured: each law, 200 rows",
        "## Tables with many columns: laws recovered",
        "## Twenty rows: the default and the normal model",
        "## Unrelated columns: a constant is chosen",
    ]


def test_a_trial_without_an_answer_is_another_formula():
    nothing = few_record("hill", "normal", "")
    assert few_table([FEW[0], nothing]).rows[0][-3:] == ("0", "0", "1")
