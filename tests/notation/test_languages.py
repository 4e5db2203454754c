"""Every language spells every operator."""

import pytest

from spl.formulas.operators import BUILT_IN
from spl.notation.languages import LANGUAGES

WITH_SIGNS = {row.name for row in BUILT_IN.values() if not row.traits.is_function}


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_operator_has_a_sign_or_a_call(name: str) -> None:
    language = LANGUAGES[name]
    spelled = WITH_SIGNS | set(language.calls) | ({"pow"} if language.power else set())
    assert spelled == set(BUILT_IN)


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_call_takes_as_many_arguments_as_its_operator(name: str) -> None:
    for operator, spelling in LANGUAGES[name].calls.items():
        assert ("{1}" in spelling) == (BUILT_IN[operator].arity == 2)
        assert spelling.count("{0}") == 1


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_helper_is_used_and_reserved(name: str) -> None:
    language = LANGUAGES[name]
    assert all(any(helper in call for call in language.calls.values()) for helper in language.helpers)
    assert set(language.helpers) <= language.reserved


def test_words_that_mean_something_are_reserved() -> None:
    assert {"np", "sin", "def", "lambda", "state", "predict"} <= LANGUAGES["python"].reserved
    assert {"double", "fabs", "NAN", "unix", "class"} <= LANGUAGES["c"].reserved
    assert {"end", "nthroot", "result", "zeros"} <= LANGUAGES["matlab"].reserved
    assert not {"x", "a", "i", "y1", "beta"} & LANGUAGES["c"].reserved
