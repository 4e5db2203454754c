from pathlib import Path

import joblib
import pytest
from tests.own_operators import SINC

from spl.errors import SettingError
from spl.estimators.parameters import check_run_file, check_search, count_jobs, make_grammar
from spl.formulas.grammar import Grammar
from spl.settings import SearchConfig

RULES = "f -> f + f | x"


@pytest.mark.parametrize("path", [None, "run.spl", Path("run.spl")])
def test_a_run_file_may_be_a_path_or_none(path):
    check_run_file(path)
    with pytest.raises(SettingError, match="`run_file` must be the path of a file"):
        check_run_file([path])


@pytest.mark.parametrize("path", ["", "a\0b", 7, True])
def test_a_run_file_that_is_no_path_is_refused(path):
    with pytest.raises(SettingError, match="`run_file` must be the path of a file"):
        check_run_file(path)


def test_jobs_are_counted_as_joblib_counts_them():
    assert (count_jobs(None), count_jobs(3)) == (1, 3)
    assert count_jobs(-1) == joblib.cpu_count()


@pytest.mark.parametrize("n_jobs", [0, True, 1.5, "2"])
def test_jobs_that_are_no_count_are_refused(n_jobs):
    with pytest.raises(SettingError, match="`n_jobs` must be 1 or more, or -1"):
        count_jobs(n_jobs)


def test_the_settings_of_the_search_have_a_default():
    config = SearchConfig(max_rules=9)
    assert (check_search(None), check_search(config)) == (SearchConfig(), config)


def test_settings_of_another_kind_are_refused():
    with pytest.raises(SettingError, match=r"`search` must be a SearchConfig or None; got \{'max_rules': 9\}"):
        check_search({"max_rules": 9})


def test_a_grammar_may_be_an_object_a_text_or_a_file(tmp_path):
    path = tmp_path / "law.grammar"
    path.write_text(RULES)
    made = [make_grammar(given, ("+",), True, ["x"]) for given in (Grammar.from_text(RULES), RULES, path, str(path))]
    assert len({str(grammar) for grammar in made}) == 1


def test_without_a_grammar_the_operators_make_one():
    grammar = make_grammar(None, ("+", SINC), False, ["x"])
    assert [operator.name for operator in grammar.vocabulary.own] == ["sinc"]
    assert "C" not in str(grammar)
    assert "C" in str(make_grammar(None, ("+",), True, ["x"]))


@pytest.mark.parametrize("operators", ["+", 3, None])
def test_operators_that_are_no_list_are_refused(operators):
    with pytest.raises(SettingError, match="`operators` must be a list"):
        make_grammar(None, operators, True, ["x"])


def test_a_grammar_of_another_kind_is_refused():
    with pytest.raises(SettingError, match="`grammar` must be a Grammar, its text or the path of a file; got 5"):
        make_grammar(5, ("+",), True, ["x"])
