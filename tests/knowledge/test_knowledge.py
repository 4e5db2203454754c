import numpy as np
import pytest

from spl.data.dataset import Dataset
from spl.datasets.shaped_laws import SHAPED_LAWS
from spl.errors import KnowledgeError
from spl.formulas.operators import Operator
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import parse_expression
from spl.knowledge.knowledge import MAX_STATEMENTS, Judge, Knowledge

X = np.linspace(1.0, 3.0, 12)
DATA = Dataset.from_arrays(np.column_stack([X, X[::-1] ** 2]), X, names=["x", "y"])


def formula(text: str, **own: Operator) -> Program:
    return parse_expression(text, Vocabulary(("x", "y"), own=tuple(own.values())))


def judge_one(statement: str, text: str, **bounds: tuple[float, float]):
    [verdict] = Judge(Knowledge.read([statement], DATA.names, bounds=bounds), DATA).judge(formula(text))
    return verdict


@pytest.mark.parametrize(
    ("statement", "text", "status"),
    [
        ("f > 0", "x**2", "proved"),
        ("f > 0", "x - y", "broken"),
        ("f > 0", "log(x)", "broken"),  # 0 at x = 1
        ("f >= 0", "log(x)", "proved"),
        ("f < 3.0001", "x", "proved"),
        ("f < 3", "x", "broken"),
        ("0 < f < 1", "x/(x + y)", "proved"),
        ("f > x", "x + exp(-y)", "checked"),
        ("f > 0", "1/(x - 1.7)**2", "checked"),  # undefined at x = 1.7, which no point hits
        ("f > 0", "1/(x - 2)**2", "broken"),  # undefined in the middle
        ("f > 0", "sqrt(x - 2)", "broken"),  # undefined for x < 2
        ("increasing in x", "x/(2 + x)", "proved"),
        ("decreasing in x", "x/(2 + x)", "broken"),
        ("decreasing in x", "1/(x - 2)", "broken"),  # its slope is negative everywhere, but it jumps at the pole
        ("increasing in x", "y", "proved"),
        ("increasing in x", "abs(x - 2)", "broken"),
        ("increasing in x", "max(x, 2)", "proved"),
        ("increasing in x", "sin(x)", "broken"),
        ("increasing in x for x < 1.5", "sin(x)", "proved"),
        ("convex in x", "exp(x) + y", "proved"),
        ("convex in x", "sqrt(x)", "broken"),
        ("concave in x", "sqrt(x)", "proved"),
        ("convex in x", "-abs(x - 2)", "broken"),  # its second derivative is 0 but for the kink
        ("convex in x", "abs(x - 2)", "checked"),
        ("even in x", "x**2 + cos(x)*y", "proved"),
        ("even in x", "x**2 + x", "broken"),
        ("even in x", "log(x)", "broken"),
        ("even in x", "exp(x) + exp(-x)", "proved"),
        ("odd in x", "x/(y + x**2)", "proved"),
        ("odd in x", "x + 1", "broken"),
        ("symmetric in x, y", "x*y/(x + y)", "proved"),
        ("symmetric in x, y", "(x - y)**2", "proved"),
        ("symmetric in x, y", "x - y", "broken"),
        ("depends on x", "x*y", "proved"),
        ("depends on x", "y", "broken"),
        ("depends on x", "y + 0*x", "broken"),
        ("f(x=0) = 0", "x*y", "proved"),
        ("f(x=0) = 0", "x + 1", "broken"),
        ("f(x=0) = y", "y*cos(x)", "checked"),
        ("f(x=0) = 0", "x**3/(exp(x) - 1)", "checked"),  # undefined at 0, but its limit is 0
        ("f(x=0) = 1", "sin(x)/x", "checked"),
        ("f(x=0) = 1", "(exp(x) - 1)/x", "checked"),
        ("f(x=0) = 0", "x*log(x)", "checked"),
        ("f(x=0) = 0.9", "sin(x)/x", "broken"),
        ("f(x=0) > 0", "exp(x)", "proved"),
        ("f -> 0 as x -> inf", "exp(-x)*y", "proved"),
        ("f -> 0 as x -> inf", "sin(x)/x", "proved"),
        ("f -> 0 as x -> inf", "1/log(x)", "checked"),
        ("f -> 0 as x -> inf", "0.001 + exp(-x)", "broken"),
        ("f -> 0 as x -> inf", "sin(x)", "broken"),
        ("f -> 0 as x -> inf", "1e-9*x", "broken"),
        ("f -> y as x -> inf", "y*x/(1 + x)", "checked"),
        ("f -> 1 as x -> inf", "exp(x)/(1 + exp(x))", "checked"),
        ("f -> 1 as x -> inf", "x*(exp(1/x) - 1)", "checked"),  # rounding spoils it far away
        ("f -> inf as x -> inf", "log(x)", "checked"),
        ("f -> inf as x -> inf", "1 - 1/x", "broken"),
        ("f -> -inf as x -> inf", "log(x)", "broken"),
        ("f -> inf as x -> 0", "1/x", "checked"),
        ("f -> 0 as x -> 0", "x*y", "proved"),
        ("f -> 0 as x -> -inf", "exp(x)", "proved"),
    ],
)
def test_a_formula_keeps_a_statement_or_breaks_it(statement, text, status):
    assert judge_one(statement, text).status == status


def test_bounds_widen_the_box():
    assert judge_one("increasing in x", "sin(x/2)").status == "proved"
    verdict = judge_one("increasing in x", "sin(x/2)", x=(0.0, 6.0))
    assert verdict.status == "broken"
    assert dict(verdict.where)["x"] > np.pi


def test_the_worst_margin_comes_with_its_place():
    verdict = judge_one("f > 0", "(x - 2)**2 + 0.25")
    assert verdict.margin == pytest.approx(0.25, abs=1e-3)
    assert dict(verdict.where)["x"] == pytest.approx(2.0, abs=0.03)


def test_the_rows_of_the_data_are_tried():
    """Between the points of the box, a narrow dip only shows at a row."""
    text = f"1 - 2*exp(-((x - {float(X[5])!r})*1e7)**2)"
    assert judge_one("f > 0", text).status == "broken"


def test_true_laws_keep_what_is_known_of_them():
    for law in SHAPED_LAWS.values():
        data = law.table(0)
        ranges = {
            name: (min(low, law.beyond.get(name, (low,))[0]), max(high, law.beyond.get(name, (0, high))[1]))
            for name, (low, high) in law.measured.items()
        }
        for bounds in ({}, ranges):
            judge = Judge(Knowledge.read(law.knowledge, law.columns, law.target, bounds), data)
            verdicts = judge.judge(parse_expression(law.formula, Vocabulary(law.columns)))
            assert all(verdict.status != "broken" for verdict in verdicts), (law.name, verdicts)


def test_a_proof_is_never_about_a_formula_that_is_broken_somewhere():
    """Random formulas: where a statement is proved, no random point breaks it."""
    from tests.program_twins import WORDS, draw_programs, twin_values

    rng = np.random.default_rng(0)
    table = rng.uniform(0.5, 2.0, (30, 3))
    data = Dataset.from_arrays(table, table[:, 0], names=WORDS.variables)
    judge = Judge(Knowledge.read(["f > 0", "increasing in x", "f < 3"], data.names), data)
    points = rng.uniform(table.min(axis=0), table.max(axis=0), (500, 3)).T
    higher = points.copy()
    higher[0] += (table[:, 0].max() - points[0]) * rng.uniform(size=500)
    n_proved = 0
    for program in draw_programs(150, seed=5):
        positive, rising, bounded = (verdict.status == "proved" for verdict in judge.judge(program))
        with np.errstate(all="ignore"):
            values, values_above = twin_values(program, points)[-1], twin_values(program, higher)[-1]
        n_proved += positive + rising + bounded
        assert not positive or (values > 0).all(), program
        assert not bounded or (values < 3).all(), program
        assert not rising or (values_above - values >= -1e-9 * (1 + np.abs(values))).all(), program
    assert n_proved > 100


def test_own_operators_are_checked_and_never_proved():
    words = Vocabulary(("x", "y"), own=(Operator("twice", lambda a: 2 * a),))
    judge = Judge(Knowledge.read(["f > 0", "increasing in x", "convex in x", "even in y"], DATA.names), DATA)
    program = parse_expression("twice(x)", words)
    assert [verdict.status for verdict in judge.judge(program)] == ["checked", "checked", "checked", "proved"]
    assert judge.find_broken(parse_expression("-twice(x)", words)) == 0


@pytest.mark.parametrize(
    ("texts", "bounds", "message"),
    [
        ("f > 0", None, "must be a list of statements"),
        (3, None, "must be a list of statements"),
        ({"f > 0"}, None, "must be a list of statements"),
        (["f > 0"] * (MAX_STATEMENTS + 1), None, "at most"),
        ([3], None, "must be text"),
        (["f > 0"], {"z": (0, 1)}, "no such column"),
        (["f > 0"], {"x": 3}, "must be two numbers"),
        (["f > 0"], {"x": (0, 1, 2)}, "must be two numbers"),
        (["f > 0"], {"x": ("0", "1")}, "must be two numbers"),
        (["f > 0"], {"x": (1, 0)}, "the lower one first"),
        (["f > 0"], {"x": (0, np.inf)}, "must be finite"),
        (["f > 0"], {"x": (np.nan, 1)}, "must be finite"),
        (["f > 0"], [("x", 0, 1)], "two numbers per column"),
        ([], {"x": (0, 1)}, "no statements"),
    ],
)
def test_wrong_knowledge_is_refused_in_words(texts, bounds, message):
    with pytest.raises(KnowledgeError, match=message):
        Knowledge.read(texts, ["x", "y"], bounds=bounds)


@pytest.mark.parametrize(
    ("statement", "message"),
    [("increasing in x for x > 5", "about no part of the box"), ("increasing in x for x = 2", "single value")],
)
def test_a_statement_about_nothing_is_refused(statement, message):
    with pytest.raises(KnowledgeError, match=message):
        Judge(Knowledge.read([statement], DATA.names), DATA)
