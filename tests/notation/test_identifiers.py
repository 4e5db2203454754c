"""Any names become identifiers, each its own."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spl.notation.identifiers import make_identifiers


@pytest.mark.slow
@given(names=st.lists(st.text(max_size=8), unique=True, max_size=12), taken=st.lists(st.text("abx_2", max_size=3)))
def test_every_list_of_names_becomes_as_many_different_free_ascii_words(names: list[str], taken: list[str]) -> None:
    words = make_identifiers(names, taken)
    assert len(words) == len(names) == len(set(words))
    assert not set(words) & set(taken)
    assert all(word.isidentifier() and word.isascii() and word[0].isalpha() for word in words)


@given(name=st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,20}", fullmatch=True))
def test_an_identifier_stays_as_it_is(name: str) -> None:
    assert make_identifiers(["?", name]) == ["column" if name != "column" else "column_2", name]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("flow rate [m/s]", "flow_rate_m_s"),
        ("Größe", "Gro_e"),
        ("Δθ", "Deltatheta"),
        ("café", "cafe"),
        ("x²", "x2"),
        ("1st", "c1st"),
        ("___", "column"),
        ("温度", "column"),
        ("-", "column"),
        ("a" * 80, "a" * 50),
    ],
)
def test_other_names_become_the_nearest_word(name: str, word: str) -> None:
    assert make_identifiers([name]) == [word]


def test_a_name_that_needs_no_change_comes_before_one_that_does() -> None:
    assert make_identifiers(["flow rate", "flow_rate"]) == ["flow_rate_2", "flow_rate"]


def test_words_that_are_taken_get_a_number() -> None:
    assert make_identifiers(["lambda", "lambda_2"], keyword.kwlist) == ["lambda_3", "lambda_2"]
