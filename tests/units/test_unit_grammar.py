import numpy as np
import pytest
from tests.units.random_programs import derive_program

from spl.errors import GrammarError
from spl.formulas.grammar import Grammar
from spl.units import unit_grammar
from spl.units.table_units import read_table_units
from spl.units.unit_grammar import make_unit_grammar

COLUMNS = {"m": "kg", "v": "m/s", "h": "m", "a": "m/s**2"}
UNITS = read_table_units(COLUMNS, "J", names=list(COLUMNS))
RULES = (
    "f -> f + f | C*f | m*g\ng -> g + g | v*v | a*h | sqrt(g*g) | g*w\nw -> sin(C*q) | exp(q) | q\nq -> h*a/(v*v) | v/v"
)


def test_every_derivation_has_the_unit_of_the_target():
    grammar = make_unit_grammar(Grammar.from_text(RULES, variables=list(COLUMNS)), UNITS)
    rng = np.random.default_rng(0)
    programs = [program for program in (derive_program(rng, grammar, 20) for _ in range(2000)) if program is not None]
    assert len({program.tokens for program in programs}) > 100
    assert all(UNITS.allow(program) for program in programs)


def test_what_respects_units_is_still_derived():
    loose = Grammar.from_text("f -> f + f | f*f | f/f | C*f | m | v | h | a | sin(f)", variables=list(COLUMNS))
    grammar = make_unit_grammar(loose, UNITS)
    for text in ("0.5*m*v*v + m*a*h", "m*a*h*sin(h*a/(v*v))", "m*v*v/(h/h + a*h/(v*v))"):
        assert grammar.derives(text), text
    for text in ("m*v", "m*sin(h)", "m*v*v + m"):
        assert loose.derives(text)
        assert not grammar.derives(text)


def test_a_grammar_that_holds_the_units_already_stays_as_it_is():
    grammar = make_unit_grammar(Grammar.from_text(RULES, variables=list(COLUMNS)), UNITS)
    assert make_unit_grammar(grammar, UNITS) is grammar


def test_a_grammar_without_any_formula_of_the_unit_is_refused():
    with pytest.raises(GrammarError, match="No formula of the grammar has the unit of the target, J"):
        make_unit_grammar(Grammar.from_text("f -> f + f | m | v", variables=list(COLUMNS)), UNITS)


def test_a_grammar_of_too_many_dimensions_is_refused(monkeypatch):
    monkeypatch.setattr(unit_grammar, "MAX_RULES", 500)
    names = list("abcdeg")
    units = read_table_units(dict(zip(names, ["m", "s", "kg", "A", "K", "mol"], strict=True)), "m", names=names)
    rules = "f -> f*f | f/f | f + f | sqrt(f) | a*f | " + " | ".join(names)
    with pytest.raises(GrammarError, match="too many dimensions"):
        make_unit_grammar(Grammar.from_text(rules, variables=names), units)
