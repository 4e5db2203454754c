"""What an exchange of terms costs is estimated without fitting, and the estimate is right."""

from dataclasses import replace

import numpy as np
import pytest
from tests.dynamics.followed_examples import follow

from spl.dynamics.term_exchange import find_exchanges, free_factors
from spl.formulas.grammar import Grammar
from spl.formulas.text import to_text

SCALE = 1.0


def make_free(followed):
    """Return a followed system with a factor for each term, fitted again."""
    return replace(followed, fitted=followed.fit(free_factors(followed.system), 10.0))


def find(followed, state, most_rise=10.0, most_nats=20.0):
    return list(find_exchanges(followed, state, scale=SCALE, most_rise=most_rise, most_nats=most_nats))


@pytest.fixture(scope="module")
def circle():
    return make_free(follow({"x": "y", "y": "-x"}, [(1.0, 0.0)]))


def test_on_a_circle_a_term_can_be_exchanged_for_two(circle):
    (exchange,) = find(circle, 0)
    assert to_text(exchange.program, 2) == "1*(x*x*y) + 1*(y*y*y)"
    assert exchange.rise < 1e-3
    assert exchange.weight == pytest.approx(1.0)
    assert exchange.difference > 0.3


def test_the_estimate_is_what_a_fit_finds_but_for_noise():
    law = {"x": "y", "y": "-0.15*y - x"}
    followed = make_free(follow(law, [(1.0, 0.0)], noise=0.1, operators=("+", "*", "sin", "cos")))
    found = find(followed, 1, most_rise=60.0, most_nats=80.0)[:12]
    rises = np.array([exchange.rise for exchange in found])
    assert (rises > 5).sum() >= 3
    before = _squares(followed, followed.system)
    losses = np.array([_squares(followed, exchange.system) for exchange in found])
    by_chance = np.sqrt(2 * rises)  # standard deviation of what noise adds to the difference of two sums of squares
    assert (np.abs(0.5 * (losses - before) - rises) <= 1 + 2 * by_chance).all()


def _squares(followed, system):
    fitted = followed.fit(system, 10.0)
    assert fitted.is_used.all()
    return fitted.chi2 * fitted.n_observations


def test_units_do_not_matter(circle):
    large = make_free(follow({"x": "1000000*y", "y": "-x/1000000"}, [(1e5, 0.0)], noise=1e-3))
    assert [len(find(large, 0)) > 0, len(find(circle, 0)) > 0] == [True, True]


def test_what_is_the_same_everywhere_is_no_exchange():
    followed = make_free(follow({"x": "y", "y": "-x"}, [(1.0, 0.0)], operators=("+", "*", "square")))
    texts = [to_text(each.program, 2) for each in find(followed, 0)]
    assert texts
    assert not [text for text in texts if "square" in text or "**2*y + 0*" in text]


def test_terms_that_the_grammar_does_not_have_do_not_come_in(circle):
    linear = Grammar.from_text("f -> f + f | C*x | C*y").bind(("x", "y"))
    assert find(replace(circle, grammars=[linear] * 2), 0) == []


def test_functions_without_values_on_the_way_leave_products_to_be_tried():
    followed = make_free(follow({"x": "y", "y": "-x"}, [(1.0, 0.0)], operators=("+", "-", "*", "log", "sqrt")))
    assert [to_text(each.program, 2) for each in find(followed, 0)] == ["1*(x*x*y) + 1*(y*y*y)"]
