import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from spl.cli.fit_output import describe_found, search_and_print, shares_explained
from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar
from spl.formulas.text import parse_expression
from spl.regression.discover import Discovery
from spl.regression.fit import fit
from spl.regression.front import Front
from spl.regression.noise_choice import NoiseChoice
from spl.regression.request import RegressionRequest

X = np.linspace(1.0, 3.0, 20)
DATA = Dataset.from_arrays(X[:, np.newaxis], 2 * X + 0.1 * np.sin(9 * X), names=["x"])
REQUEST = RegressionRequest(DATA, Grammar.from_text("f -> f + f | C * f | x"), target="force", seed=7)


def make_discovery(stopped="exact", notes=(), **more):
    texts = ("x", "C*x")
    front = Front(tuple(fit(parse_expression(text, REQUEST.grammar.vocabulary), DATA) for text in texts))
    return Discovery(front, DATA.n_rows, DATA.floor, 0.5, 10, 20, stopped, notes, **more)


def print_found(capsys, found, **options):
    shown = {"selection": "accurate", "is_json": False, "is_quiet": False} | options
    search_and_print(lambda request, watch: found, REQUEST, **shown)
    return capsys.readouterr()


def test_the_equation_is_printed_alone(capsys):
    out, err = print_found(capsys, make_discovery(), is_quiet=True)
    assert out.startswith("force = ")
    assert (out.count("\n"), err) == (1, "")


def test_an_interrupted_search_is_noted_beside_the_equation(capsys):
    assert "interrupted" in print_found(capsys, make_discovery("interrupted"), is_quiet=True).err


def test_notes_go_to_standard_error(capsys):
    out, err = print_found(capsys, make_discovery(notes=("doubtful",)), is_json=True)
    assert err == "Note: doubtful\n"
    assert json.loads(out)["notes"] == ["doubtful"]


@pytest.mark.parametrize(("selection", "cost"), [("accurate", 3), ("knee", 3)])
def test_json_tells_of_the_chosen_formula(capsys, selection, cost):
    found = json.loads(print_found(capsys, make_discovery(), is_json=True, selection=selection).out)
    assert (found["cost"], found["target"], found["seed"], found["stopped"]) == (cost, "force", 7, "exact")
    assert found["r2"] == pytest.approx(1 - found["loss"] ** 2 / np.var(DATA.target))


def test_the_search_is_watched():
    watchers = []
    search_and_print(
        lambda request, watch: watchers.append(watch) or make_discovery(),
        REQUEST,
        selection="mdl",
        is_json=False,
        is_quiet=False,
    )
    assert callable(watchers[0])


def test_every_formula_of_the_front_is_described():
    described = describe_found(make_discovery(), 0, REQUEST)
    assert [row["cost"] for row in described["front"]] == [1, 3]
    assert described["equation"] == "x"


def test_of_a_constant_target_nothing_can_be_explained():
    flat = Dataset.from_arrays(X[:, np.newaxis], np.full(20, 2.0), names=["x"])
    assert shares_explained(make_discovery(), 1, flat) == (None, None)


def test_the_share_explained_is_that_of_the_values_even_if_the_loss_is_something_else():
    found = make_discovery(noise=NoiseChoice("relative"))
    front = Front(tuple(replace(candidate, loss=10.0 * candidate.loss) for candidate in found.front))
    of_loss, _ = shares_explained(found, 1, DATA)
    assert shares_explained(replace(found, front=front), 1, DATA) == (of_loss, None)


def test_the_noise_and_its_reason_are_printed_below_the_equation(capsys):
    noise = NoiseChoice("relative", {"relative error": 0.051}, {"normal": 12.3}, "errors that grow")
    lines = print_found(capsys, make_discovery(noise=noise)).out.splitlines()
    assert lines[-2] == "Noise: relative, 5.1 % of the value (errors that grow)."


def test_a_law_without_noise_has_no_line_about_it(capsys):
    found = make_discovery(noise=NoiseChoice("normal", reason="there is none: the law is exact"))
    assert "Noise" not in print_found(capsys, found).out


def test_outliers_are_printed_and_left_out_of_the_first_share(capsys):
    found = make_discovery(noise=NoiseChoice("student"), outliers=(3, 17))
    lines = print_found(capsys, found).out.splitlines()
    assert "Outliers: 2 of 20 rows: rows 3, 17." in lines
    assert " without the outliers, " in lines[-1]


def test_json_tells_of_the_noise_and_the_outliers(capsys):
    noise = NoiseChoice("student", {"scale": 0.1}, {"normal": math.inf}, "outliers")
    found = json.loads(print_found(capsys, make_discovery(noise=noise, outliers=(3,)), is_json=True).out)
    assert found["noise"] == {
        "name": "student",
        "numbers": {"scale": 0.1},
        "others": {"normal": None},
        "reason": "outliers",
    }
    assert found["outliers"] == [3]
    assert found["r2_without_outliers"] != found["r2"]


def test_the_numbers_of_the_formula_are_printed_with_their_errors(capsys):
    lines = print_found(capsys, make_discovery()).out.splitlines()
    heading = lines.index("Numbers with standard errors, each in its term:")
    assert re.fullmatch(r"  \S+ ± \S+  \[\S+\]\*x", lines[heading + 1])


def test_a_formula_without_numbers_has_no_heading_for_them(capsys):
    found = make_discovery()
    assert "standard errors" not in print_found(capsys, replace(found, front=Front((found.front[0],)))).out


def test_json_has_the_numbers_with_their_intervals():
    [number] = describe_found(make_discovery(), 1, REQUEST)["numbers"]
    assert number["kind"] == "fitted"
    assert number["lower"] < number["value"] < number["upper"]


def test_rivals_are_printed_if_asked_for(capsys):
    found = make_discovery()
    found = replace(found, rivals=tuple(found.front))
    assert "within 6 nats" not in print_found(capsys, found).out
    alone = replace(found, rivals=(found.front[found.choose("mdl")],))
    assert "No other formula that was met comes within 6 nats." in print_found(capsys, alone, has_rivals=True).out
    assert "No rivals were kept" in print_found(capsys, replace(found, rivals=()), has_rivals=True).out
    assert describe_found(replace(found, rivals=()), 1, REQUEST)["rivals"] is None


def test_json_has_the_rivals_of_the_chosen_formula():
    found = make_discovery()
    rough = fit(parse_expression("C*x + C", REQUEST.grammar.vocabulary), DATA)
    [rival] = describe_found(replace(found, rivals=(*found.front, rough)), 1, REQUEST)["rivals"]
    assert rival["loss"] == rough.loss
    assert set(rival["place"]) == {"x"}
    assert 0 < rival["weight"] < 1


def test_doubtful_residuals_are_printed_with_what_they_mean(capsys):
    lines = print_found(capsys, make_discovery()).out.splitlines()  # the residuals are a wave
    heading = lines.index("Doubtful residuals:")
    assert re.fullmatch(r"  trend along the rows \(chance \S+.*\): Errors of rows that follow .*", lines[heading + 1])


def test_residuals_that_are_noise_are_not_mentioned(capsys):
    noise = 0.1 * np.random.default_rng(0).standard_normal(20)
    data = Dataset.from_arrays(X[:, np.newaxis], 2 * X + noise, names=["x"])
    front = Front((fit(parse_expression("C*x", REQUEST.grammar.vocabulary), data),))
    found = replace(make_discovery(), front=front)
    request = replace(REQUEST, data=data)
    search_and_print(lambda request, watch: found, request, selection="mdl", is_json=False, is_quiet=False)
    assert "Doubtful" not in capsys.readouterr().out


def test_json_has_every_check_of_the_residuals():
    checks = describe_found(make_discovery(), 1, REQUEST)["residual_checks"]
    assert [check["check"] for check in checks] == ["normality", "order", "spread", "column"]
    assert [check["column"] for check in checks] == [None, None, None, "x"]
    assert checks[1]["doubtful"]
    json.dumps(checks, allow_nan=False)
