import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.errors import KnowledgeError
from spl.formulas.text import to_text
from spl.knowledge.reading import MAX_CHARACTERS, read_statement
from spl.knowledge.statements import (
    Compared,
    Curved,
    Dependent,
    Limit,
    Mirrored,
    Monotone,
    Range,
    Symmetric,
)

COLUMNS = ("T", "p", "m1", "m2", "flow rate")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("increasing in T", Monotone("increasing in T", column="T", sign=1)),
        ("decreasing in 'flow rate'", Monotone("decreasing in 'flow rate'", column="flow rate", sign=-1)),
        ("convex in p", Curved("convex in p", column="p", sign=1)),
        ("concave in p", Curved("concave in p", column="p", sign=-1)),
        ("even in T", Mirrored("even in T", column="T", sign=1)),
        ("odd in T", Mirrored("odd in T", column="T", sign=-1)),
        ("symmetric in m1, m2", Symmetric("symmetric in m1, m2", columns=("m1", "m2"))),
        ("symmetric in m1 and m2", Symmetric("symmetric in m1 and m2", columns=("m1", "m2"))),
        ("depends on m1", Dependent("depends on m1", column="m1")),
        ("Increasing in T", Monotone("Increasing in T", column="T", sign=1)),
    ],
)
def test_shapes_are_read(text, expected):
    assert read_statement(text, COLUMNS) == expected


@pytest.mark.parametrize(
    ("text", "sides", "at"),
    [
        ("f > 0", [(">", "0")], ()),
        ("0 < f", [(">", "0")], ()),
        ("f<=2*T", [("<=", "2*T")], ()),
        ("0 <= f < 1", [(">=", "0"), ("<", "1")], ()),
        ("f(T=0) = 0", [("=", "0")], (("T", 0.0),)),
        ("f(T=-1.5e2, p=pi) == m1 + 1", [("=", "m1 + 1")], (("T", -150.0), ("p", math.pi))),
        ("volume >= 3", [(">=", "3")], ()),
    ],
)
def test_comparisons_are_read(text, sides, at):
    read = read_statement(text, COLUMNS, "volume")
    assert isinstance(read, Compared)
    assert [(relation, to_text(side)) for relation, side in read.sides] == sides
    assert read.at == at


@pytest.mark.parametrize(
    ("text", "column", "to", "value"),
    [
        ("f -> 0 as T -> inf", "T", math.inf, "0"),
        ("f -> m1 as T -> -inf", "T", -math.inf, "m1"),
        ("f -> 2.5 as p -> 0", "p", 0.0, "2.5"),
        ("f -> -inf as p -> 0", "p", 0.0, -math.inf),
    ],
)
def test_limits_are_read(text, column, to, value):
    read = read_statement(text, COLUMNS)
    assert isinstance(read, Limit)
    assert (read.column, read.to) == (column, to)
    assert (read.value if isinstance(read.value, float) else to_text(read.value)) == value


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("f > 0 for p < 3", (Range("p", -math.inf, 3.0),)),
        ("f > 0 for 3 > p", (Range("p", -math.inf, 3.0),)),
        ("f > 0 for 1 < p <= 3", (Range("p", 1.0, 3.0),)),
        ("f > 0 for p = 2 and T > -1", (Range("p", 2.0, 2.0), Range("T", -1.0, math.inf))),
        ("even in T for p > 1, m1 < 2", (Range("p", 1.0, math.inf), Range("m1", -math.inf, 2.0))),
    ],
)
def test_regions_are_read(text, region):
    assert read_statement(text, COLUMNS).region == region


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "no statement here"),
        ("   ", 4, "no statement here"),
        ("increasing", 11, "Write `increasing in x`"),
        ("increasing in", 14, "name of a column is missing"),
        ("increasing in t", 15, "no column 't'. Did you mean"),
        ("incresing in T", 1, "Did you mean 'increasing'"),
        ("positive", 1, "Write, for example, `f > 0`"),
        ("increasing in T, p", 16, "complete before ','"),
        ("symmetric in m1", 16, "two columns or more"),
        ("symmetric in m1, m1", 18, "appears twice"),
        ("f", 2, "What is known about `f`"),
        ("f > ", 5, "Something is missing"),
        ("f > 0 > f", 1, "more than once"),
        ("0 < T", 1, "about the formula, which is called `f`"),
        ("f != 0", 3, "cannot be stated"),
        ("0 < f > 1", 7, "point the same way"),
        ("f(0) = 0", 3, "name of a column is missing"),
        ("f(T) = 0", 4, "Name the column and its value"),
        ("f(T=inf) = 0", 5, "must be finite"),
        ("f(T=0) = T", 10, "has a given value here"),
        ("f > C", 5, "a number that a search finds"),
        ("f > __import__('os')", 5, "no operator '__import__'"),
        ("f -> 0", 7, "When does `f` tend to that"),
        ("f -> 0 as T", 12, "what the column tends to"),
        ("f -> 0 as T -> p", 16, "A number is missing"),
        ("f > 0 for", 10, "name of a column is missing"),
        ("f > 0 for p", 12, "Compare the column with a number"),
        ("f > 0 for p > 3 and p", 22, "Compare the column"),
        ("f > 0 for 3 < p < 1", 11, "No value of 'p'"),
        ("f > 1e999", 5, "too large"),
        ("f > 0; f < 1", 6, "one statement per line"),
        ("depends in T", 9, "Write `depends on x`"),
        ("f > (0", 5, "'(' was never closed"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_a_remedy(text, column, message):
    with pytest.raises(KnowledgeError) as caught:
        read_statement(text, COLUMNS)
    assert message in str(caught.value)
    assert f"Column {caught.value.column}:" in str(caught.value)
    assert caught.value.column == column


def test_a_statement_that_is_no_text_or_too_long_is_refused():
    for wrong in (3, None, ["f > 0"], "f > " + "1" * MAX_CHARACTERS):
        with pytest.raises(KnowledgeError):
            read_statement(wrong, COLUMNS)


def test_a_column_that_is_called_f_is_quoted():
    read = read_statement("f > 'f'", ("f", "x"))
    assert isinstance(read, Compared)
    assert to_text(read.sides[0][1]) == "f"


WORDS = st.sampled_from(
    [
        "f",
        "T",
        "p",
        "m1",
        "increasing",
        "in",
        "even",
        "for",
        "and",
        "as",
        "->",
        "<",
        "=",
        "0",
        "1.5",
        "inf",
        "pi",
        "(",
        ")",
        ",",
        "'",
        "-",
        "depends",
        "on",
        "é",
    ]
)


@given(st.lists(WORDS, max_size=9).map(" ".join) | st.text(max_size=30))
def test_any_text_is_read_or_refused_with_a_place(text):
    column: int | None = 1
    try:
        assert read_statement(text, COLUMNS).text == text
    except KnowledgeError as error:
        column = error.column
    assert column in range(1, len(text) + 2)
