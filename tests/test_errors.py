"""Errors and the words of their messages: never too long, whatever is shown."""

import inspect

import pytest

from spl import errors
from spl.errors import COMPARED_LENGTH, SHOWN_TEXT, SplError, list_names, shorten, show_value, suggest_name

CLASSES = [each for _, each in inspect.getmembers(errors, inspect.isclass) if each.__module__ == errors.__name__]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_class_is_an_error_of_ours_or_a_warning(kind):
    assert issubclass(kind, SplError) != issubclass(kind, UserWarning)


@pytest.mark.parametrize("value", ["x" * 10_000, list(range(10_000)), 10**5000], ids=["text", "list", "number"])
def test_a_shown_value_is_short(value):
    assert len(show_value(value)) <= SHOWN_TEXT


def test_a_text_is_cut_only_if_it_is_too_long():
    assert shorten("x" * SHOWN_TEXT) == "x" * SHOWN_TEXT
    assert len(shorten("x" * (SHOWN_TEXT + 1))) == SHOWN_TEXT


def test_many_names_are_not_all_listed():
    names = [f"column {k}" for k in range(1_000)]
    assert names[0] in list_names(names)
    assert len(list_names(names)) < 1_000


def test_names_too_long_to_compare_are_not_suggested():
    assert suggest_name("x" * 200, ["x" * (COMPARED_LENGTH + 1)]) == ""
    assert suggest_name("colunm", ["column", "row"]) == " Did you mean 'column'?"
