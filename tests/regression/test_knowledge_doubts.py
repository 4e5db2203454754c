import numpy as np

from spl.data.dataset import Dataset
from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.knowledge.knowledge import Judge, Knowledge
from spl.regression.knowledge_doubts import explain_exclusion, find_cost_of_knowledge
from spl.regression.known_fit import KnownFit

X = np.linspace(0.2, 3.0, 30)
DATA = Dataset.from_arrays(X[:, np.newaxis], 2 * X + 1 + 0.01 * np.cos(37 * X), names=["x"])


def know(*statements: str) -> KnownFit:
    known = KnownFit(Judge(Knowledge.read(statements, DATA.names), DATA))
    known.allow(5)
    return known


def fit_with(known: KnownFit, text: str):
    program = parse_expression(text, Vocabulary(("x",)))
    return known.fit(program.with_constants(np.ones(program.n_constants)), DATA)


def test_the_statement_that_excluded_the_most_is_named():
    known = know("decreasing in x", "f > 4")
    for text in ("x", "x + 4", "exp(x) + 4"):
        fit_with(known, text)
    message = explain_exclusion(known)
    assert message.startswith(
        "No formula that was tried satisfies all statements. 'decreasing in x' excluded the most: 3 of 3 formulas"
    )
    assert "'f > 4' 1" in message


def test_without_statements_there_is_nothing_to_explain():
    assert explain_exclusion(KnownFit()) == ""
    assert find_cost_of_knowledge(fit_with(KnownFit(), "C*x + C"), KnownFit(), DATA, DATA.floor) == []


def test_a_better_formula_that_breaks_a_statement_is_told():
    known = know("decreasing in x")
    fit_with(known, "2*x + 1")
    [note] = find_cost_of_knowledge(fit_with(known, "5.5 - 0.1*x"), known, DATA, DATA.floor)
    assert note.startswith("A formula that breaks 'decreasing in x' describes the data more briefly, by ")
    assert "2*x + 1" in note


def test_numbers_that_statements_hold_are_told():
    known = know("f(x=0) = 1.1")
    [*_, note] = find_cost_of_knowledge(fit_with(known, "C*x + C"), known, DATA, DATA.floor)
    assert "The statements hold the numbers" in note


def test_statements_that_cost_nothing_are_not_mentioned():
    known = know("increasing in x")
    assert find_cost_of_knowledge(fit_with(known, "C*x + C"), known, DATA, DATA.floor) == []
