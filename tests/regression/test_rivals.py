"""Rivals with their odds, and where they differ from the chosen formula."""

import math

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.candidate import Candidate
from spl.regression.description_length import plain_length
from spl.regression.discover import Discovery
from spl.regression.fit import fit
from spl.regression.front import Front
from spl.regression.rivals import box_places, explain_disagreement, find_rivals

WORDS = Vocabulary(("x",))


def make_data() -> Dataset:
    x = np.linspace(0.2, 1.0, 12)
    return Dataset.from_arrays(x[:, np.newaxis], np.sin(x) + 0.05 * np.cos(50 * x), names=["x"])


def fitted(text: str) -> Candidate:
    return fit(parse_expression(text, WORDS), make_data())


def make_discovery(best: str, *others: str) -> Discovery:
    chosen = fitted(best)
    rivals = tuple(fitted(text) for text in (best, *others))
    return Discovery(Front((chosen,)), 12, 0.0, 0.0, 0, 0, "settled", rivals=rivals)


def test_weights_are_those_of_the_differences_in_nats() -> None:
    found = make_discovery("sin(x)", "x", "C*x", "C + C*x")
    rivals = find_rivals(found, 0, make_data(), within=12.0)
    best = plain_length(found.front[0], 12, 0.0)
    assert [each.nats for each in rivals] == sorted(plain_length(each.candidate, 12, 0.0) - best for each in rivals)
    ratio = rivals[0].weight / rivals[1].weight
    assert ratio == pytest.approx(math.exp(rivals[1].nats - rivals[0].nats))
    weight_of_best = 1 - sum(each.weight for each in rivals)
    assert rivals[0].weight / weight_of_best == pytest.approx(math.exp(-rivals[0].nats))


def test_the_chosen_formula_is_no_rival_in_any_spelling() -> None:
    found = make_discovery("sin(x)", "1*sin(x) + 0*x", "2*sin(x)", "cos(x - 1.5707963267948966)")
    assert [to_text(each.candidate.program) for each in find_rivals(found, 0, make_data(), within=500.0)] == [
        "2*sin(x)"
    ]


def test_rivals_beyond_the_limit_are_left_out() -> None:
    found = make_discovery("sin(x)", "C*x", "exp(x)")
    assert {to_text(each.candidate.program, 1) for each in find_rivals(found, 0, make_data())} == {"0.9*x"}


def test_the_place_is_where_the_formulas_differ_most() -> None:
    found = make_discovery("sin(x)", "x")
    [rival] = find_rivals(found, 0, make_data(), within=200.0)
    assert rival.place == (1.0,)
    noise = found.front[0].loss  # nothing was fitted, so no degree of freedom is lost
    assert rival.difference == pytest.approx((1 - np.sin(1)) / noise, rel=1e-6)


def test_a_rival_without_a_value_somewhere_in_the_box_differs_infinitely_there() -> None:
    data = Dataset.from_arrays([[-2.0], [-1.0], [1.0], [2.0]], [4.1, 1.0, 1.1, 4.0], names=["x"])
    best, other = (fit(parse_expression(text, WORDS), data) for text in ("x**2", "sqrt(abs(x) - 0.5)**4"))
    found = Discovery(Front((best,)), 4, 0.0, 0.0, 0, 0, "settled", rivals=(best, other))
    [rival] = find_rivals(found, 0, data, within=500.0)
    assert math.isinf(rival.difference)
    assert abs(rival.place[0]) < 0.5


def test_corners_are_among_the_places_of_a_box() -> None:
    places = box_places(np.array([0.0, -1.0]), np.array([1.0, 3.0]))
    assert {(0.0, -1.0), (0.0, 3.0), (1.0, -1.0), (1.0, 3.0)} <= {tuple(place) for place in places.T}
    assert np.all(places.min(axis=1) >= [0, -1])
    assert np.all(places.max(axis=1) <= [1, 3])


def test_disagreement_far_outside_is_said_with_the_values_of_both() -> None:
    found = make_discovery("sin(x)", "C*x")
    rivals = find_rivals(found, 0, make_data())
    words = explain_disagreement(found.front[0].program, rivals, make_data(), np.array([[3.0]]))
    assert words.startswith("1 other formula that the data cannot tell from it differs there, by ")
    assert "in place of 0.1411." in words


def test_agreement_needs_no_words() -> None:
    found = make_discovery("sin(x)", "C*x")
    rivals = find_rivals(found, 0, make_data())
    assert explain_disagreement(found.front[0].program, rivals, make_data(), np.array([[0.5]])) == ""
    assert explain_disagreement(found.front[0].program, [], make_data(), np.array([[9.0]])) == ""


def test_a_poor_formula_has_rivals_with_nearly_all_of_the_weight() -> None:
    x = np.linspace(0.0, 3.0, 2_000)
    rows = Dataset.from_arrays(x[:, np.newaxis], np.sin(x) + 1e-6 * np.cos(50 * x), names=["x"])
    front = tuple(fit(parse_expression(text, Vocabulary(("x",))), rows) for text in ("x", "sin(x)"))
    found = Discovery(Front(front[:1]), rows.n_rows, rows.floor, 1.0, 1, 1, "timeout", rivals=front)
    [rival] = find_rivals(found, 0, rows)
    assert rival.nats < -1_000
    assert rival.weight == pytest.approx(1.0)
