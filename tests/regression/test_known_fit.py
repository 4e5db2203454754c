import math
from dataclasses import replace

import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression, to_text
from spl.knowledge.knowledge import Judge, Knowledge
from spl.noise.models import RELATIVE
from spl.regression.candidate import Candidate
from spl.regression.fit import fit, root_mean_square_error
from spl.regression.known_fit import KnownFit
from spl.regression.prune import respect_all
from spl.regression.tidy_front import tidy_within

X = np.linspace(0.2, 3.0, 30)
NOISE = 0.05 * np.cos(37 * X)
TABLE = np.column_stack([X, X[::-1]])


def make_data(target: np.ndarray) -> Dataset:
    return Dataset.from_arrays(TABLE, target, names=["x", "y"])


def start(text: str) -> Program:
    program = parse_expression(text, Vocabulary(("x", "y")))
    return program.with_constants(np.full(program.n_constants, 0.7))


def know(data: Dataset, *statements: str, **bounds: tuple[float, float]) -> KnownFit:
    known = KnownFit(Judge(Knowledge.read(statements, data.names, bounds=bounds), data))
    known.allow(10)
    return known


def test_without_knowledge_a_fit_is_a_plain_fit():
    data = make_data(2 * X + NOISE)
    program = start("C*x + C")
    assert KnownFit().fit(program, data) == fit(program, data)
    assert KnownFit().keeps(program)


def test_a_formula_that_keeps_the_statements_is_fitted_as_usual():
    data = make_data(2 * X + NOISE)
    assert know(data, "increasing in x").fit(start("C*x + C"), data) == fit(start("C*x + C"), data)


@pytest.mark.parametrize(
    ("text", "target", "statement", "expected"),
    [
        ("C*x + C", 2 * X + 0.3, "f(x=0) = 0.1", "x + 0.1"),
        ("C*exp(-C*x) + C", 3 * np.exp(-X) + 0.05, "f -> 0.02 as x -> inf", "+ 0.02"),
        ("C*x + C*y", 2 * X + 2.1 * X[::-1], "symmetric in x, y", None),
        ("C*x**2 + C*x + y", 2 * X**2 + 0.1 * X + X[::-1], "even in x", None),
        ("C*(x - C)**2 + C", (X - 1.6) ** 2 - 0.03, "f >= 0", None),
        ("C*x + C*x**2", X - 0.2 * X**2, "increasing in x", None),
        ("C*x + C*x**3", X - 0.01 * X**3, "convex in x", None),
    ],
)
def test_a_formula_that_breaks_a_statement_is_fitted_within_it(text, target, statement, expected):
    data = make_data(target + NOISE)
    known = know(data, statement)
    free, found = fit(start(text), data), known.fit(start(text), data)
    assert not known.keeps(free.program)
    assert known.keeps(found.program)
    assert free.loss < found.loss < math.inf
    assert found.loss == pytest.approx(root_mean_square_error(found.program, data))
    assert expected is None or expected in to_text(found.program, 6)


def test_the_fit_within_a_statement_is_the_best_one():
    """Through a point, the least squares of a line have a plain formula."""
    data = make_data(2 * X + 0.3 + NOISE)
    found = know(data, "f(x=0) = 0.1").fit(start("C*x + C"), data)
    slope = np.sum(X * (data.target - 0.1)) / np.sum(X**2)
    assert found.program.constants == pytest.approx((slope, 0.1), rel=1e-6)


def test_a_term_that_a_statement_removes_is_dropped():
    data = make_data(2 * X + 0.3 + NOISE)
    found = know(data, "f(x=0) = 0").fit(start("C*x + C"), data)
    assert to_text(found.program, 3).endswith("*x")


def test_a_formula_that_no_numbers_save_has_an_infinite_loss():
    data = make_data(2 * X + NOISE)
    known = know(data, "decreasing in x")
    assert known.fit(start("exp(x)"), data).loss == math.inf
    assert known.fit(start("C*exp(x)"), data).loss == math.inf  # only C = 0 keeps it
    assert (known.n_judged, known.n_excluded[0]) == (2, 2)
    assert len(known.excluded) == 2


def test_a_formula_whose_loss_is_too_high_anyway_is_not_fitted_within_the_statements():
    data = make_data(2 * X + 0.3 + NOISE)
    free = fit(start("C*x + C"), data)
    assert know(data, "f(x=0) = 0.1").fit(start("C*x + C"), data, worth=free.loss).loss == math.inf


def test_no_more_fits_within_statements_are_made_than_allowed():
    data = make_data(2 * X + 0.3 + NOISE)
    known = know(data, "f(x=0) = 0.1")
    known.allow(1)
    assert known.fit(start("C*x + C"), data).loss < math.inf
    assert known.fit(start("C*x + C*x**2 + C"), data).loss == math.inf
    assert known.fit(start("C*x + C"), data).loss < math.inf  # it is remembered


def test_a_fit_by_likelihood_keeps_the_statements_too():
    data = replace(make_data((2 * X + 0.2) * (1 + NOISE)), noise=RELATIVE)
    known = know(data, "f(x=0) = 0.1")
    found = known.fit(start("C*x + C"), data)
    assert found.program.constants[1] == pytest.approx(0.1)
    assert fit(start("C*x + C"), data).loss < found.loss < math.inf


def test_tidying_that_breaks_a_statement_is_undone(monkeypatch):
    """Tidied formulas are the same on the data; this one would differ where x is negative."""
    data, words = make_data(X), Vocabulary(("x", "y"))
    candidate = Candidate(parse_expression("abs(x)", words), 0.0)
    monkeypatch.setattr(
        "spl.regression.tidy_front.tidy_candidate", lambda *_: Candidate(parse_expression("x", words), 0.0)
    )
    assert to_text(tidy_within(candidate, data, respect_all, KnownFit().keeps).program) == "x"
    assert to_text(tidy_within(candidate, data, respect_all, know(data, "even in x").keeps).program) == "abs(x)"
