"""Options that several commands share."""

import click
import pytest

from spl.cli.options import (
    check_grammar_options,
    check_jobs,
    check_seed,
    print_notes,
    read_grammar,
    split_error_bars,
    split_list,
    split_names,
)


def test_names_are_separated_by_commas_and_quoted_if_they_contain_one():
    assert split_names(None, None, None) is None
    assert split_names(None, None, 'mass, "flow, in",speed') == ("mass", "flow, in", "speed")


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,,b", "contains an empty name"), ("", "contains an empty name"), ("a,a", "names a column twice")],
)
def test_a_mistake_in_names_is_told(text, message):
    with pytest.raises(click.BadParameter, match=message):
        split_names(None, None, text)


def test_error_bars_are_given_by_column():
    assert split_error_bars(None, None, None) is None
    assert split_error_bars(None, None, 'mass = 0.1,"flow, in=flow_err",a=b=c') == {
        "mass": "0.1",
        "flow, in": "flow_err",
        "a=b": "c",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [("mass", "'mass' is not COLUMN=BARS"), ("mass=", "is not COLUMN=BARS"), ("a=1,a=2", "names the column 'a' twice")],
)
def test_a_mistake_in_error_bars_is_told(text, message):
    with pytest.raises(click.BadParameter, match=message):
        split_error_bars(None, None, text)


def test_a_list_may_be_empty_and_may_repeat():
    assert split_list(None, None, None) == ()
    assert split_list(None, None, "bad,-9999,bad") == ("bad", "-9999", "bad")


@pytest.mark.parametrize("jobs", [1, 64, -1])
def test_jobs_are_1_or_more_or_all(jobs):
    assert check_jobs(None, None, jobs) == jobs


@pytest.mark.parametrize("jobs", [0, -2])
def test_other_numbers_of_jobs_are_refused(jobs):
    with pytest.raises(click.BadParameter, match=f"must be 1 or more, or -1 for all cores; got {jobs}"):
        check_jobs(None, None, jobs)


def test_a_seed_is_0_or_more():
    assert check_seed(None, None, 0) == 0
    with pytest.raises(click.BadParameter, match=r"must be 0 or more; got -1\."):
        check_seed(None, None, -1)


def test_a_grammar_file_excludes_the_options_that_it_overrides():
    check_grammar_options("rules.grammar", None, no_constants=False)
    check_grammar_options(None, "+,*", no_constants=True)
    for operators, no_constants in (("+", False), (None, True)):
        with pytest.raises(click.UsageError, match="--grammar cannot be combined"):
            check_grammar_options("rules.grammar", operators, no_constants)


def test_a_grammar_comes_from_a_file_or_from_operators(tmp_path):
    (tmp_path / "rules.grammar").write_text("f -> f + f | x")
    assert str(read_grammar(["x", "y"], str(tmp_path / "rules.grammar"), None)) == "f -> f + f | x"
    assert "sin(" in str(read_grammar(["x"], None, "+, sin"))
    assert "C" not in str(read_grammar(["x"], None, "+ sin", has_constants=False))


def test_notes_go_to_standard_error(capsys):
    print_notes(["One.", "Two."])
    assert capsys.readouterr() == ("", "Note: One.\nNote: Two.\n")
