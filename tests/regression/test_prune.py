import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.edits import drop_one_number, drop_one_term, replace_one_function_by_powers
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.description_length import description_length
from spl.regression.fit import evaluate, fit
from spl.regression.prune import prune


def anything(program):
    return True


@pytest.mark.parametrize(
    ("truth", "found"), [("sin(x - y)", "C*x*x - sin(y - x)"), ("exp(x)*(x - y)", "exp(x)*(C*x - (y - x))")]
)
def test_a_term_is_left_out_where_the_grammar_has_no_minus_sign_for_the_rest(truth, found):
    rng = np.random.default_rng(3)
    grammar = Grammar.from_text("f -> f - f | f * f | sin(f) | exp(f) | C * f | x | y").bind(("x", "y"))
    columns = rng.uniform(0.5, 2.5, (2, 200))
    law = evaluate(parse_expression(truth, grammar.vocabulary), columns)
    data = Dataset.from_arrays(columns.T, law + 1e-3 * rng.standard_normal(200), names=["x", "y"])
    candidate = fit(parse_expression(found, grammar.vocabulary), data)
    pruned = prune(candidate, data, data.floor, derives=grammar.derives, must_stop=lambda: False)
    assert grammar.derives(pruned.program)
    assert np.allclose(evaluate(pruned.program, columns), law)


def make_steeper_line():
    """Return x with noise and a slope of 1.18 about its middle: a factor and an offset together are nearly worth their price."""
    x = np.linspace(9.5, 10.5, 100)
    noise = 0.1 * np.random.default_rng(0).normal(size=x.size)
    noise -= np.polyval(np.polyfit(x, noise, 1), x)
    return Dataset.from_arrays(x[:, np.newaxis], x + 0.18 * (x - 10) + noise, names=["x"])


def test_two_numbers_that_make_up_for_each_other_are_left_out_together():
    data = make_steeper_line()
    found = [fit(parse_expression(text, Vocabulary(("x",))), data) for text in ("C*x + C", "C*x", "x + C", "x")]
    both, *single, none = [description_length(candidate, data.n_rows, data.floor) for candidate in found]
    assert none < both < min(single)  # without one of them alone it is longer
    pruned = prune(found[0], data, data.floor, derives=anything, must_stop=lambda: False)
    assert to_text(pruned.program) == "x"


def test_no_second_part_is_left_out_when_the_time_is_up():
    data = make_steeper_line()
    found = fit(parse_expression("C*x + C", Vocabulary(("x",))), data)
    ways = (drop_one_number, drop_one_term, replace_one_function_by_powers)
    n_single = len({other.tokens for way in ways for other in way(found.program)})
    answers = iter([False] * (1 + n_single))  # there is time for one look at single parts
    pruned = prune(found, data, data.floor, derives=anything, must_stop=lambda: next(answers, True))
    assert pruned is found


def test_nothing_more_is_fitted_when_the_time_is_up(monkeypatch):
    rng = np.random.default_rng(2)
    data = Dataset.from_arrays(rng.uniform(1, 2, (100, 1)), rng.standard_normal(100), names=["x"])
    found = fit(parse_expression("C + C*x + C*sin(x) + C*exp(x) + C*log(x)", Vocabulary(("x",))), data)
    fitted = []
    monkeypatch.setattr(
        "spl.regression.known_fit.fit", lambda program, *_, **__: fitted.append(program) or fit(program, data)
    )
    prune(found, data, data.floor, derives=anything, must_stop=lambda: len(fitted) >= 3)
    assert len(fitted) == 3
