"""Where structures come from: which rows are searched, and what becomes of what is found there."""

import numpy as np
import pytest
from tests.groups.tables import make_rows

from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.groups.sources import MIN_GROUP_ROWS, N_SINGLE_GROUPS, Source, find_sources, search_source, seed_of
from spl.regression.request import RegressionRequest


def request_of(rows, **settings):
    grammar = Grammar.from_operators(["+", "*", "exp"], ["x"])
    return RegressionRequest(rows.data, grammar, groupings=rows.groupings, **settings)


def test_large_groups_with_a_spread_are_searched_by_themselves(rng):
    sizes = [MIN_GROUP_ROWS, MIN_GROUP_ROWS - 1, 20, 30]
    codes = np.repeat(np.arange(4), sizes)
    target = np.where(codes == 3, 1.0, rng.normal(size=codes.size))
    found = find_sources(make_rows(rng.normal(size=codes.size), target, codes))
    assert found[0].name == "all rows"
    assert [each.data.n_rows for each in found if each.name == "one group"] == [20, MIN_GROUP_ROWS]


def test_only_a_few_groups_are_searched_by_themselves(rng):
    codes = np.repeat(np.arange(20), 10)
    found = find_sources(make_rows(rng.normal(size=200), rng.normal(size=200), codes))
    assert sum(each.name == "one group" for each in found) == N_SINGLE_GROUPS


@pytest.mark.parametrize(
    ("has_scale", "has_offset", "expected"),
    [
        (False, False, ["exp(x)"]),
        (True, False, ["1*exp(x)", "exp(x)"]),
        (False, True, ["exp(x) + 0", "exp(x)"]),
        (True, True, ["1*exp(x) + 0", "exp(x) + 0", "1*exp(x)", "exp(x)"]),
    ],
)
def test_what_was_taken_out_of_a_target_is_put_back_as_a_number(has_scale, has_offset, expected):
    source = Source("pooled", make_rows([1.0, 2.0], [1.0, 2.0], list("ab")).data, has_scale, has_offset)
    program = parse_expression("exp(x)", Vocabulary(("x",)))
    assert [to_text(each) for each in source.structures(program, lambda each: True)] == expected


def test_only_formulas_of_the_grammar_are_proposed():
    source = Source("pooled", make_rows([1.0, 2.0], [1.0, 2.0], list("ab")).data, has_scale=True)
    program = parse_expression("exp(x)", Vocabulary(("x",)))
    assert not list(source.structures(program, lambda each: False))


def test_the_law_of_one_group_is_proposed_first(rng):
    x = rng.uniform(0, 2, 40)
    rows = make_rows(x, 3 * np.exp(-0.7 * x), np.repeat([0, 1], 20))
    source = next(each for each in find_sources(rows) if each.name == "one group")
    programs, found = search_source(source, request_of(rows), 2_000, None, 0, lambda: False)
    assert to_text(programs[0], 4) == "3*exp(-0.7*x)"
    assert len({each.tokens for each in programs}) == len(programs)
    assert found.n_evaluations > 0


def test_rows_on_which_no_formula_has_a_value_propose_nothing():
    rows = make_rows([-1.0, -2.0, -3.0], [1.0, 2.0, 4.0], list("aab"))
    request = RegressionRequest(rows.data, Grammar.from_text("f -> log(x)"), groupings=rows.groupings)
    assert search_source(Source("all rows", rows.data), request, 100, None, 0, lambda: False) == ([], None)


def test_each_turn_has_a_seed_of_its_own_which_depends_on_the_seed_of_the_search():
    rows = make_rows([1.0, 2.0], [1.0, 2.0], list("ab"))
    seeds = [seed_of(request_of(rows, seed=seed), turn) for seed in range(3) for turn in range(20)]
    assert len(set(seeds)) == 60
    assert seeds[25] == seed_of(request_of(rows, seed=1), 5)
