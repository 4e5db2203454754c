"""The report on `spl bench trust`."""

from dataclasses import replace

from tests.bench.fakes import make_record, make_trial

from spl.bench.report import write_report
from spl.bench.trust_chance import chance_trials
from spl.bench.trust_coverage import coverage_trials
from spl.bench.trust_report import (
    chance_table,
    coverage_table,
    identifiability_table,
    rivals_table,
    suggest_table,
    trust_sections,
)

LAWLESS, LAWFUL = chance_trials(5.0, [0])[0], chance_trials(5.0, [0])[-1]
COVERED = coverage_trials([0])[0]
SHARES = {"constants": 0.951, "law": 0.94, "new": 0.96, "profile": 0.95}


def record_of(trial, recovered=True, **details):
    made = make_record(trial)
    return replace(made, outcome=replace(made.outcome, recovered=recovered, details=details))


def small(problem, setting, seed=0, *, recovered=True, **details):
    return record_of(make_trial(problem, seed, experiment="trust", setting=setting), recovered, **details)


RIVALS = [
    small("line", "part=rivals", is_right=True, rivals=2),
    small("line", "part=rivals", 1, is_right=False, rivals=4),
    small("gas", "part=rivals", recovered=False, is_right=False, rivals=0),
]
SUGGEST = [
    small("line", "part=suggest", is_right=False, nats_of_law=1.0, random_is_right=False),
    small("gas", "part=suggest", is_right=False, nats_of_law=2.0, random_is_right=True),
    small("wave", "part=suggest", recovered=False, is_right=False, nats_of_law=None, random_is_right=False),
    small("root", "part=suggest", is_right=True, nats_of_law=None),
]

IDENTIFIABILITY = [
    small("oscillator", "part=identifiability", is_unique=False, flagged=True),
    small("epidemic", "part=identifiability", recovered=False, is_unique=False, flagged=False),
    small("lorenz", "part=identifiability", is_unique=True, flagged=False),
]


def test_what_was_called_unexplained_is_counted_for_both_kinds_of_tables():
    records = [
        record_of(LAWLESS, constant_is_best=True, is_explained=False),
        record_of(LAWFUL, recovered=False, constant_is_best=False, is_explained=False),
    ]
    assert chance_table(records).rows == (("no law", "1", "1", "1", "0"), ("a law", "1", "1", "0", "1"))


def test_coverage_is_in_percent():
    [row] = coverage_table([record_of(COVERED, coverage=SHARES)]).rows
    assert row[1:] == ("1%", "20", "95.1", "94.0", "96.0", "95.0")


def test_wrong_choices_are_counted_with_those_whose_rivals_have_the_law():
    table = rivals_table(RIVALS)
    assert table.rows == (("line", "2", "1", "1", "3.0"), ("gas", "1", "1", "0", "0.0"))
    assert table.total == ("all", "3", "2", "1", "2.0")


def test_suggested_points_are_compared_with_random_ones_by_whether_the_law_was_a_rival():
    table = suggest_table(SUGGEST)
    assert table.rows == (("among the rivals", "2", "2", "1", "2.00"), ("not among them", "1", "0", "0", ""))
    assert table.total == ("all", "3", "2", "1", "2.00")


def test_flagged_systems_are_counted_by_whether_the_trajectory_determines_them():
    assert identifiability_table(IDENTIFIABILITY).rows == (
        ("other equations fit as well", "2", "1", "50%"),
        ("determined by the trajectory", "1", "0", "0%"),
    )


def test_each_part_has_its_section_with_its_failures():
    others = [record_of(LAWLESS, recovered=False), record_of(COVERED, coverage=SHARES)]
    sections = trust_sections([*SUGGEST, *IDENTIFIABILITY, *others, *RIVALS])
    assert [section.title for section in sections] == [
        "Trust: targets that no column explains",
        "Trust: coverage of 95 % intervals",
        "Trust: the law among the rivals",
        "Trust: suggested points",
        "Trust: systems measured along one trajectory",
    ]
    assert [len(section.failures) for section in sections] == [1, 0, 1, 0, 1]
    assert sections[2].failures == ("gas, seed 0: `x`, without the law among 0 rivals",)
    assert sections[4].failures == ("epidemic, seed 0: not flagged; `x`",)


def test_the_document_has_the_experiment():
    assert "## Trust: suggested points" in write_report(SUGGEST, None)
