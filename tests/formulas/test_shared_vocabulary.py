"""One vocabulary for programs with different literals and operators."""

import numpy as np
from tests.own_operators import ROOT, SINC

from spl.formulas.program import Vocabulary
from spl.formulas.shared_vocabulary import merge_vocabularies, translate
from spl.formulas.text import parse_expression, to_text


def test_programs_mean_the_same_in_the_merged_vocabulary():
    first = parse_expression("2*x + 3", Vocabulary(("x",)))
    second = parse_expression("3*sin(x) - 5", Vocabulary(("x",)))
    words = merge_vocabularies([first.vocabulary, second.vocabulary])
    assert set(words.literals) == {2.0, 3.0, 5.0}
    assert [to_text(translate(program, words)) for program in (first, second)] == ["2*x + 3", "3*sin(x) - 5"]


def test_operators_of_the_user_keep_their_meaning():
    words = [Vocabulary(("x",), own=(own,)) for own in (SINC, ROOT)]
    programs = [parse_expression(f"{each.own[0].name}(x)", each) for each in words]
    merged = merge_vocabularies(words)
    assert merged.own == (SINC, ROOT)
    assert [to_text(translate(program, merged)) for program in programs] == ["sinc(x)", "root(x)"]


def test_constants_stay():
    program = parse_expression("C*x", Vocabulary(("x",))).with_constants(np.array([4.0]))
    assert translate(program, Vocabulary(("x",), (1.0,))).constants == (4.0,)
