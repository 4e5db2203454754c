import numpy as np

from spl.formulas.program import Program, Vocabulary
from spl.formulas.tree import Tree, constant_tree
from spl.kernels.programs import tokens as tk
from spl.regression.fit import evaluate


def test_tokens_and_numbers_of_a_tree_are_those_of_a_program():
    x = Vocabulary(("x",)).variable_token("x")
    tree = Tree(tk.SUB, (constant_tree(5.0), Tree(tk.MUL, (constant_tree(2.0), Tree(x)))))
    program = Program(tree.tokens(), Vocabulary(("x",)), tree.numbers())
    np.testing.assert_array_equal(evaluate(program, np.array([[1.0, 3.0]])), [3.0, -1.0])


def test_a_leaf_has_one_token_and_no_number():
    assert (Tree(tk.VARIABLE).tokens(), Tree(tk.VARIABLE).numbers()) == ((tk.VARIABLE,), ())
