"""The drawing of a tree has every token in its place."""

import pytest
from tests.own_operators import SINC

from spl.formulas.program import Vocabulary
from spl.formulas.text import parse_expression
from spl.plots.trees import lay_out, plot_tree

pytest.importorskip("matplotlib")


def tree_of(text, **words):
    return lay_out(parse_expression(text, Vocabulary(("x", "y_$1$"), **words)))


def test_a_parent_stands_above_the_middle_of_its_arguments():
    nodes = tree_of("sin(x*'y_$1$') + 2")
    parents = [node for node in nodes if node.children]
    assert [node.text for node in parents] == ["+", "sin", "×"]
    for node in parents:
        children = [nodes[k] for k in node.children]
        assert {child.depth for child in children} == {node.depth + 1}
        assert node.across == (children[0].across + children[-1].across) / 2


def test_leaves_stand_side_by_side_in_their_order():
    leaves = [node for node in tree_of("x / (2.5 + x) - 3") if not node.children]
    assert [node.across for node in leaves] == [0, 1, 2, 3]
    assert [node.text for node in leaves] == ["x", "2.5", "x", "3"]


def test_powers_roots_and_operators_of_the_user_have_their_names():
    own = (SINC,)
    assert [node.text for node in tree_of("sinc(sqrt(x**2 + x**-4) * x**5)", own=own)] == [
        "sinc", "×", "√", "+", "^2", "x", "^-4", "x", "^5", "x",
    ]  # fmt: skip


def test_every_token_is_drawn_with_any_name():
    program = parse_expression("'y_$1$' * exp(-x)", Vocabulary(("x", "y_$1$")))
    figure = plot_tree(program)
    assert sorted(text.get_text() for text in figure.axes[0].texts) == sorted(["×", r"y_\$1\$", "exp", "−", "x"])
    figure.canvas.draw()


@pytest.mark.slow
def test_a_large_tree_has_a_size_that_can_be_drawn():
    figure = plot_tree(parse_expression(" + ".join(["x"] * 200), Vocabulary(("x",))))
    assert max(figure.get_size_inches()) <= 60
