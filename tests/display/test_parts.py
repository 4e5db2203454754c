from spl.data.dataset import Dataset
from spl.display.parts import find_part_texts, part_lines
from spl.formulas.forms import Form
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression

ROWS = Dataset.from_arrays([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], [1.0, 2.0, 3.0], names=["p", "flow rate"])


def texts_of(form, formula):
    read = None if form is None else Form.from_text(form, ROWS.names)
    return find_part_texts(read, parse_expression(formula, Vocabulary(ROWS.names)), ROWS)


def test_parts_are_named_as_in_the_form():
    assert texts_of("a('flow rate') + b(p)", "p**2 - 2*'flow rate'") == {
        "a('flow rate')": "-2*'flow rate'",
        "b(p)": "p**2",
    }


def test_what_cannot_be_told_apart_is_said():
    texts = texts_of("a('flow rate')*b(p)", "p + 'flow rate'")
    assert set(texts.values()) == {None}
    assert part_lines(texts)[1] == "b(p)           cannot be told from the other parts"


def test_there_are_no_parts_without_holes_or_without_a_form():
    assert texts_of("2*p", "2*p") == {} == texts_of(None, "2*p")
    assert part_lines({}) == []
