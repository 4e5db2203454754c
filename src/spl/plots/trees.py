"""A drawing of the expression tree of a formula: operators above, variables and numbers as leaves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spl.errors import shorten
from spl.formulas.program import Program
from spl.formulas.text import exponent_of
from spl.kernels.programs import tokens as tk
from spl.plots.style import FOUND_COLOUR, GREY, MEASURED_COLOUR, NUMBER_COLOUR, label, make_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NODE_DIGITS = 4
_LONGEST_NAME = 18
_LEAF_WIDTH, _LEVEL_HEIGHT = 0.95, 0.75  # inches
_LARGEST_INCHES = 60.0  # matplotlib cannot draw more
_TOKEN_COLOURS = {tk.VARIABLE: MEASURED_COLOUR, tk.LITERAL: NUMBER_COLOUR, tk.CONSTANT: NUMBER_COLOUR}
_OPERATOR_SIGNS = {"mul": "×", "sub": "−", "div": "÷", "neg": "−", "inv": "1/·", "sqrt": "√", "cbrt": "∛", "pow": "^"}


@dataclass(frozen=True, slots=True)
class Node:
    """A token of a formula and where it is drawn: leaves in a row, operators centred above their arguments."""

    text: str
    kind: int
    across: float
    depth: int
    children: tuple[int, ...]


def plot_tree(program: Program) -> "Figure":
    """Return a drawing of the expression tree of a formula."""
    nodes = lay_out(program)
    n_leaves = sum(not node.children for node in nodes)
    depth = max(node.depth for node in nodes)
    width, height = (
        min(_LEAF_WIDTH * n_leaves + 0.8, _LARGEST_INCHES),
        min(_LEVEL_HEIGHT * depth + 0.8, _LARGEST_INCHES),
    )
    figure = make_figure(width, height)
    with style():
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_xlim(-0.8, n_leaves - 0.2)
        axes.set_ylim(-depth - 0.5, 0.5)
        for node in nodes:
            for child in node.children:
                below = nodes[child]
                axes.plot((node.across, below.across), (-node.depth, -below.depth), lw=1.2, color=GREY, zorder=1)
            _draw_node(axes, node)
    return figure


def lay_out(program: Program) -> list[Node]:
    """Return the nodes of a formula in the order of its tokens.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> from spl.formulas.program import Vocabulary
        >>> [(node.text, node.across, node.depth) for node in lay_out(parse_expression("2 * x", Vocabulary(("x",))))]
        [('×', 0.5, 0), ('2', 0.0, 1), ('x', 1.0, 1)]
    """
    depths = [0] * len(program)
    for position, _ in enumerate(program.tokens):
        for argument in program.arguments_of(position):
            depths[argument] = depths[position] + 1
    is_leaf = [not program.arguments_of(position) for position in range(len(program))]
    nodes: dict[int, Node] = {}
    n_right = sum(is_leaf)  # leaves that are not placed yet
    for position in reversed(range(len(program))):
        children = program.arguments_of(position)
        n_right -= is_leaf[position]
        across = (nodes[children[0]].across + nodes[children[-1]].across) / 2 if children else float(n_right)
        kind = program.tokens[position] >> tk.KIND_SHIFT
        nodes[position] = Node(_name(program, position), kind, across, depths[position], children)
    return [nodes[position] for position in range(len(program))]


def _name(program: Program, position: int) -> str:
    token, words = program.tokens[position], program.vocabulary
    kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
    if kind == tk.VARIABLE:
        return words.variables[payload]
    if kind == tk.LITERAL:
        return f"{words.literals[payload]:.{_NODE_DIGITS}g}"
    if kind == tk.CONSTANT:
        return f"{program.constants[program.count_constants(position)]:.{_NODE_DIGITS}g}"
    power = exponent_of(token)
    if power is not None and power not in (0.5, -1.0):
        return f"^{power:g}"
    operator = words.operator_of(token)
    return (
        _OPERATOR_SIGNS.get(operator.name, operator.infix or operator.name) if operator.opcode >= 0 else operator.name
    )


def _draw_node(axes: Any, node: Node) -> None:
    colour = _TOKEN_COLOURS.get(node.kind, FOUND_COLOUR)
    box = {"boxstyle": "round,pad=0.35", "facecolor": "white", "edgecolor": colour, "linewidth": 1.6}
    text = label(shorten(node.text, _LONGEST_NAME))
    axes.text(node.across, -node.depth, text, ha="center", va="center", bbox=box, zorder=2)
