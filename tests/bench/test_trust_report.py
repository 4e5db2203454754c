"""The report on `spl bench trust`."""

from dataclasses import replace

from tests.bench.fakes import make_record, make_trial

from spl.bench.report import write_report
from spl.bench.trust_chance import chance_trials
from spl.bench.trust_coverage import coverage_trials
from spl.bench.trust_report import chance_table, coverage_table, rivals_table, suggest_table, trust_sections

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
    small("line", "part=suggest points=suggested", was_right=False),
    small("line", "part=suggest points=random", recovered=False),
    small("gas", "part=suggest points=suggested", was_right=False),
    small("gas", "part=suggest points=random"),
    small("root", "part=suggest points=suggested", was_right=True),
    small("root", "part=suggest points=random"),
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


def test_suggested_points_are_compared_with_random_ones_by_what_was_known_before():
    table = suggest_table(SUGGEST)
    assert table.rows == (("wrong", "2 of 2", "1 of 2", "2.00"), ("right", "1 of 1", "1 of 1", "1.00"))
    assert table.total == ("all", "3 of 3", "2 of 3", "1.50")


def test_each_part_has_its_section_with_its_failures():
    others = [record_of(LAWLESS, recovered=False), record_of(COVERED, coverage=SHARES)]
    sections = trust_sections([*SUGGEST, *others, *RIVALS])
    assert [section.title for section in sections] == [
        "Trust: targets that no column explains",
        "Trust: coverage of 95 % intervals",
        "Trust: the law among the rivals",
        "Trust: suggested points",
    ]
    assert [len(section.failures) for section in sections] == [1, 0, 1, 0]
    assert sections[2].failures == ("gas, seed 0: `x`, without the law among 0 rivals",)


def test_the_document_has_the_experiment():
    assert "## Trust: suggested points" in write_report(SUGGEST, None)
