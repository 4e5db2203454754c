"""Views of some columns: tables without the others, and formulas that find their way back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.own_operators import BLEND, ROOT, SINC

from spl.data.dataset import Dataset
from spl.errors import SettingError
from spl.formulas.grammar import Grammar
from spl.formulas.grammar_restriction import restrict_grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.candidate import Candidate
from spl.regression.column_view import ColumnView
from spl.regression.fit import evaluate

NAMES = ("a", "b", "c", "d", "e")
VIEW = ColumnView((1, 2, 4), 5)
FORMULAS = ["c", "b*e - c", "sin(3.5*e)/c**2 + 7", "b**5 + C*c", "C", "2", "exp(-e**2) + C*b**C"]


def make_data():
    table = np.random.default_rng(3).uniform(0.5, 2.0, (20, 5))
    return Dataset.from_arrays(table, table[:, 1], names=NAMES, weights=np.arange(1.0, 21.0))


def read(text, vocabulary):
    program = parse_expression(text, vocabulary)
    return program.with_constants(np.array([1.5 + k for k in range(program.n_constants)]))


def test_a_view_keeps_columns_target_and_weights():
    data = make_data()
    taken = VIEW.take(data)
    assert taken.names == ("b", "c", "e")
    np.testing.assert_array_equal(taken.columns, data.columns[[1, 2, 4]])
    np.testing.assert_array_equal(taken.target, data.target)
    np.testing.assert_array_equal(taken.weights, data.weights)


def test_notes_stay_with_the_data():
    data = Dataset(("a", "b"), np.ones((2, 1)), np.ones(1), np.ones(1), notes=("one row left out",))
    assert ColumnView((1,), 2).take(data).notes == data.notes


def test_the_view_of_all_columns_changes_nothing():
    data, whole = make_data(), ColumnView.whole(5)
    candidate = Candidate(parse_expression("a*b", Vocabulary(NAMES)), 1.0)
    assert whole.is_whole
    assert whole.take(data) is data
    assert whole.express(candidate, Vocabulary(NAMES)).program is candidate.program


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_has_the_same_values_in_the_whole_table(text):
    data = make_data()
    taken = VIEW.take(data)
    program = read(text, Vocabulary(taken.names))
    expressed = VIEW.express_program(program, Vocabulary(NAMES))
    assert to_text(expressed) == to_text(program)
    assert expressed.vocabulary.variables == NAMES
    np.testing.assert_array_equal(evaluate(expressed, data.columns), evaluate(program, taken.columns))


def test_numbers_keep_their_values_in_a_vocabulary_with_others():
    program = read("2*b + 3*c", Vocabulary(("b", "c", "e")))
    expressed = VIEW.express_program(program, Vocabulary(NAMES, literals=(7.0, 3.0)))
    assert expressed.vocabulary.literals == (7.0, 3.0, 2.0)
    assert to_text(expressed) == "2*b + 3*c"


def test_own_operators_are_found_in_other_slots():
    program = read("root(b) + blend(c, e)", Vocabulary(("b", "c", "e"), own=(ROOT, BLEND)))
    expressed = VIEW.express_program(program, Vocabulary(NAMES, own=(SINC, BLEND, ROOT)))
    assert to_text(expressed) == "root(b) + blend(c, e)"


def test_a_candidate_keeps_its_fit():
    found = Candidate(read("C*b", Vocabulary(("b", "c", "e"))), 0.25, 0.5, 3.0)
    expressed = VIEW.express(found, Vocabulary(NAMES))
    assert (expressed.loss, expressed.reward, expressed.number_nats) == (0.25, 0.5, 3.0)
    assert expressed.program.constants == found.program.constants


def test_a_formula_of_the_restricted_grammar_is_one_of_the_whole_grammar():
    grammar = Grammar.from_text("f -> f + f | 2*g | a | e\ng -> sin(b) | C*c | d").bind(NAMES)
    restricted = restrict_grammar(grammar, [NAMES[column] for column in VIEW.columns])
    program = read("2*sin(b) + 2*(1.5*c) + e", restricted.vocabulary)
    assert restricted.derives(program)
    assert grammar.derives(VIEW.express_program(program, grammar.vocabulary))


@given(st.sets(st.integers(0, 6), min_size=1), st.data())
def test_every_variable_keeps_its_name(columns, data):
    names = tuple(f"x{k}" for k in range(7))
    view = ColumnView(tuple(columns), 7)
    kept = Vocabulary(tuple(names[k] for k in view.columns))
    chosen = data.draw(st.lists(st.sampled_from(kept.variables), min_size=1, max_size=5))
    program = parse_expression(" + ".join(chosen), kept)
    assert to_text(view.express_program(program, Vocabulary(names))) == to_text(program)


@pytest.mark.parametrize("columns", [(), (1, 1), (-1, 2), (1, 5)])
def test_columns_must_be_distinct_numbers_of_the_table(columns):
    with pytest.raises(SettingError, match=r"distinct numbers below 5"):
        ColumnView(columns, 5)
