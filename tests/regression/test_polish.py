import numpy as np
import pytest

import spl.regression.polish
from spl.data.dataset import Dataset
from spl.formulas.edits import drop_one_number, drop_one_term, replace_one_function_by_powers
from spl.formulas.grammar import Grammar
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.regression.description_length import description_length
from spl.regression.fit import evaluate, fit
from spl.regression.front import Front
from spl.regression.polish import finish, prune

VOCABULARY = Vocabulary(variables=("x",))


def anything(program):
    return True


def make_data(n_rows=60, noise=0.0):
    rng = np.random.default_rng(0)
    x = rng.uniform(1.0, 3.0, (n_rows, 1))
    target = 2.5 * x[:, 0] ** 2 + 1.0 + noise * rng.standard_normal(n_rows)
    return Dataset.from_arrays(x, target, names=["x"])


def make_front(data, *texts):
    candidates = [fit(parse_expression(text, VOCABULARY), data) for text in texts]
    return Front.from_candidates(candidates, data.floor)


def texts_of(front):
    return [to_text(candidate.program) for candidate in front]


def test_formulas_are_spelled_simply_with_simple_numbers():
    data = make_data(noise=0.01)
    front = make_front(data, "C*x*(x + x - x) + C")
    assert "5/2*x**2 + 1" in [
        text.replace("2.5", "5/2") for text in texts_of(finish(front, data, data, data.floor, 60.0, derives=anything))
    ]


def test_a_formula_without_a_term_that_brings_nothing_joins_the_front():
    data = make_data(noise=0.01)
    front = make_front(data, "C*x*x + C + C*sin(x)")
    costs = [candidate.cost for candidate in finish(front, data, data, data.floor, 60.0, derives=anything)]
    assert min(costs) < front[0].cost


def test_losses_are_those_on_all_rows():
    data = make_data(400, noise=0.3)
    check = Dataset.from_arrays(data.columns.T[:50], data.target[:50], names=["x"])
    finished = finish(make_front(check, "C*x + C"), data, check, data.floor, 60.0, derives=anything)
    assert finished[-1].loss == pytest.approx(fit(finished[-1].program, data).loss, rel=1e-6)


def test_when_the_time_is_up_formulas_are_tidied_all_the_same(monkeypatch):
    data = make_data(noise=0.01)
    front = make_front(data, "x + x", "C*x*(x + x - x) + C")
    monkeypatch.setattr(spl.regression.polish, "LAST_SECONDS", -np.inf)
    monkeypatch.setattr(spl.regression.polish, "simplify", lambda program, agree: agree(program, program))
    finished = finish(front, data, data, data.floor, 0.0, derives=anything)
    assert [to_text(candidate.program, 2) for candidate in finished] == ["2*x", "2.5*x**2 + 1"]


def test_loading_sympy_takes_nothing_of_the_little_time_that_there_is_in_any_case(monkeypatch):
    data = make_data(noise=0.01)
    moments = iter([0.0, 100.0])  # it took so long that all time is over
    last = [100.0]
    monkeypatch.setattr(spl.regression.polish.time, "monotonic", lambda: next(moments, last[0]))
    assert texts_of(finish(make_front(data, "x + x"), data, data, data.floor, 1.0, derives=anything)) == ["2*x"]


def test_all_numbers_that_bring_nothing_are_left_out_one_after_the_other():
    rng = np.random.default_rng(1)
    x = rng.uniform(1.0, 3.0, (200, 1))
    data = Dataset.from_arrays(x, np.sin(x[:, 0]) / x[:, 0] + 0.01 * rng.standard_normal(200), names=["x"])
    front = make_front(data, "C*sin(x)/(C + x) + C")
    finished = finish(front, data, data, data.floor, 60.0, derives=anything)
    assert texts_of(finished)[finished.choose("mdl", data.n_rows, data.floor)] == "sin(x)/x"


def test_a_term_that_the_grammar_demands_stays():
    rng = np.random.default_rng(2)
    x = rng.uniform(-1.0, 1.0, (100, 1))
    data = Dataset.from_arrays(x, 2.5 * x[:, 0] + 0.01 * rng.standard_normal(100), names=["x"])
    grammar = Grammar.from_text("f -> C*x + sin(x)")
    finished = finish(make_front(data, "C*x + sin(x)"), data, data, data.floor, 60.0, derives=grammar.derives)
    assert texts_of(finished)
    assert all("sin" in text for text in texts_of(finished))


def test_a_function_of_which_the_data_shows_a_short_piece_gives_way_to_a_power():
    rng = np.random.default_rng(3)
    x = rng.uniform(-3.0, 3.0, (200, 1))
    data = Dataset.from_arrays(x, x[:, 0] ** 3 / 5 - x[:, 0] + 0.1 * rng.standard_normal(200), names=["x"])
    disguised = parse_expression("x*(C - C*cos(C*x))", VOCABULARY).with_constants([16000.0, 16001.0, 0.005])
    front = Front.from_candidates([fit(disguised, data)], data.floor)
    finished = finish(front, data, data, data.floor, 60.0, derives=anything)
    chosen = finished[finished.choose("mdl", data.n_rows, data.floor)]
    assert "cos" not in to_text(chosen.program)
    assert chosen.loss < 1.01 * front[0].loss


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
        "spl.regression.polish.fit", lambda program, *_, **__: fitted.append(program) or fit(program, data)
    )
    prune(found, data, data.floor, derives=anything, must_stop=lambda: len(fitted) >= 3)
    assert len(fitted) == 3


def test_numbers_are_not_made_simple_when_the_time_is_up(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("spl.regression.polish.time.monotonic", lambda: now[0])
    x = np.linspace(1.0, 3.0, 50)
    data = Dataset.from_arrays(x[:, np.newaxis], 2.5 * x + 1e-9 * np.sin(30 * x), names=["x"])
    front = make_front(data, "C*x")
    assert texts_of(finish(front, data, data, data.floor, 1.0, derives=anything)) == ["2.5*x"]

    def clean_slowly(candidate, n_rows, floor, refit):
        now[0] += 5.0
        refit(candidate.program)
        raise AssertionError("it went on")

    monkeypatch.setattr("spl.regression.polish.clean", clean_slowly)
    [text] = texts_of(finish(front, data, data, data.floor, 1.0, derives=anything))
    assert text != "2.5*x"
