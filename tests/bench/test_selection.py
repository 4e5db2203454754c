import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.bench.selection import parse_formulas, parse_noise, parse_problems, parse_seeds, spell_numbers
from spl.datasets import nguyen_problems
from spl.errors import SettingError


@given(st.sets(st.integers(0, 500), min_size=1, max_size=20))
def test_seeds_are_spelled_as_they_are_read(seeds):
    assert parse_seeds(spell_numbers(seeds)) == sorted(seeds)


def test_a_seed_that_is_named_twice_counts_once():
    assert parse_seeds("3, 1-3") == [3, 1, 2]


@pytest.mark.parametrize("text", ["x", "1-", "-1", "5-3", "1..3", "1.5"])
def test_what_names_no_seeds_is_shown_with_an_example(text):
    with pytest.raises(SettingError, match=r"is not a list of seeds\. Write for example 0-99, or 0,3,7-9\."):
        parse_seeds(text)


def test_no_seeds_and_far_too_many_are_refused():
    with pytest.raises(SettingError, match="No seeds are named"):
        parse_seeds(" , ")
    with pytest.raises(SettingError, match="names 1,000,000,001 seeds"):
        parse_seeds("0-1000000000")


def test_formulas_and_levels_of_noise_count_once():
    assert parse_formulas("0-2,1") == [0, 1, 2]
    assert parse_noise("0.01, 0,1e-2") == [0.01, 0.0]


@pytest.mark.parametrize("text", ["", "nan", "inf", "-0.1", "1%", "0-1"])
def test_what_names_no_level_of_noise_is_shown_with_an_example(text):
    with pytest.raises(SettingError, match=r"Write for example 0,0\.01 for none and 1 percent\."):
        parse_noise(text)


def test_the_example_of_the_help_names_every_problem_in_the_order_of_the_rows():
    chosen = parse_problems("1-12,1c,2c,5c,8c,9c,6-code,12-wide", nguyen_problems())
    assert chosen == list(nguyen_problems())


@pytest.mark.parametrize("text", ["5", "Nguyen-5", "nguyen-5", "5,5", "5-5"])
def test_a_problem_has_a_short_and_a_full_name(text):
    assert [problem.name for problem in parse_problems(text, nguyen_problems())] == ["Nguyen-5"]


@pytest.mark.parametrize(("text", "unknown"), [("13", "13"), ("11-14", "13"), ("3c", "3c"), ("5-3", "5-3"), ("x", "x")])
def test_an_unknown_problem_is_answered_with_all_names(text, unknown):
    with pytest.raises(SettingError, match=rf"There is no problem '{unknown}'\. Choose from: 1, 2, .*6-code.*9c"):
        parse_problems(text, nguyen_problems())


def test_no_problem_at_all_is_answered_with_all_names():
    with pytest.raises(SettingError, match=r"No problem is named\. Choose from: 1, "):
        parse_problems(",", nguyen_problems())
