"""Scales: data of any units becomes numbers near 1, and formulas found there return to the user's units.

A search compares values with each other and with fixed thresholds, starts constants at the size of their neighbours, and builds a bank
whose only constant is 1. All of this needs numbers of ordinary size. So columns of extreme sizes are divided by powers of ten, columns
that hardly vary are measured from a round number near them, and the formulas get these factors back, as few of them as possible:
x*y/z needs one, not three.

A column is scaled only if the grammar can express the factor.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spl.data.dataset import Dataset
from spl.formulas.grammar import Grammar, Rule
from spl.formulas.operators import BY_OPCODE
from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, exponent_of
from spl.formulas.tree import Tree, constant_tree
from spl.kernels.programs import tokens as tk
from spl.regression.candidate import Candidate

ORDINARY_DECADES = 2.0  # columns of sizes within this distance from 1 stay as they are
ALIKE_DECADES = 1.5  # between the sizes of two columns that share a factor: they may have the same unit
WIDEST_DECADES = 3.0  # between the smallest and the largest of them
NARROW = 1e-5  # a column with a smaller spread relative to its middle is measured from a number near it
MAX_DECADES = 300  # of a factor

_HOLE = -1  # the place of a variable or a symbol in a spelling

Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Scale:
    """How a column is measured: its values are 10**decades * scaled values + origin."""

    decades: int = 0
    origin: float = 0.0

    @property
    def is_plain(self) -> bool:
        """Whether values stay as they are."""
        return self.decades == 0 and self.origin == 0.0

    def measure(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the values in this scale."""
        from_origin = values - self.origin
        return from_origin / 10.0**self.decades if self.decades >= 0 else from_origin * 10.0**-self.decades


@dataclass(frozen=True, slots=True)
class Scales:
    """The scales of a dataset.

    Examples:
        >>> data = Dataset.from_arrays([[2e-19], [3e-19]], [4e30, 9e30], names=["charge"])
        >>> scales = choose_scales(data, Grammar.from_text("f -> f * f | C * f | charge"))
        >>> scales.columns, scales.target
        ((Scale(decades=-19, origin=0.0),), Scale(decades=31, origin=0.0))
    """

    columns: tuple[Scale, ...]
    target: Scale

    @classmethod
    def plain(cls, data: Dataset) -> "Scales":
        """Return the scales that leave a dataset as it is."""
        return cls((Scale(),) * len(data.names), Scale())

    @property
    def are_plain(self) -> bool:
        """Whether the data stays as it is."""
        return self.target.is_plain and all(scale.is_plain for scale in self.columns)

    def measure(self, data: Dataset) -> Dataset:
        """Return the dataset in these scales."""
        if self.are_plain:
            return data
        columns = [scale.measure(column) for scale, column in zip(self.columns, data.columns, strict=True)]
        return Dataset(data.names, np.array(columns), self.target.measure(data.target), data.weights)

    def express(self, candidate: Candidate) -> Candidate | None:
        """Return a candidate of the scaled data in the user's units; None if its numbers become too large or too many."""
        if self.are_plain:
            return candidate
        program = candidate.program
        found = _rewrite(program.tokens, program.constants, self.columns.__getitem__, program.vocabulary)
        tree = _multiply(found.tree, found.decades + self.target.decades)
        if self.target.origin:
            tree = Tree(tk.ADD, (tree, constant_tree(self.target.origin)))
        tokens, numbers = tree.tokens(), tree.numbers()
        is_short = len(tokens) <= tk.MAX_PROGRAM_LENGTH and len(numbers) <= tk.MAX_CONSTANTS
        if not is_short or not all(map(math.isfinite, numbers)):
            return None
        loss = candidate.loss * 10.0**self.target.decades
        return Candidate(Program(tokens, program.vocabulary, numbers), loss, candidate.reward)


# ---- choosing ------------------------------------------------------------------------------------


def choose_scales(data: Dataset, grammar: Grammar, *, are_pure: bool = False) -> Scales:
    """Return scales in which the data has ordinary sizes, as far as the grammar can express the factors.

    The grammar must be bound to the columns. Pure numbers mean something beside 1, as in `1 - e`: those of ordinary size keep it.
    """
    rows = np.vstack([data.columns, data.target])[:, data.weights > 0]
    origins = [_find_origin(row) for row in rows]
    writes = _Writer(grammar)
    origins = [origin if origin and writes.shift(k) else 0.0 for k, origin in enumerate(origins)]
    sizes = [_size(row - origin) for row, origin in zip(rows, origins, strict=True)]
    decades = _share_decades(sizes)
    if are_pure:
        decades = [0 if abs(size) <= ORDINARY_DECADES else decade for size, decade in zip(sizes, decades, strict=True)]
    decades = [decade if decade and (origins[k] or writes.factor(k)) else 0 for k, decade in enumerate(decades)]
    *columns, target = (Scale(decade, origin) for decade, origin in zip(decades, origins, strict=True))
    return Scales(tuple(columns), target)


def _size(values: NDArray[np.float64]) -> float:
    """Return the decimal logarithm of the median size of the values other than 0; 0 if there are none."""
    sizes = np.abs(values[values != 0])
    return float(np.log10(np.median(sizes))) if sizes.size else 0.0


def _find_origin(values: NDArray[np.float64]) -> float:
    """Return a round number near values that hardly vary; 0 for all others."""
    middle = float(np.median(values))
    with np.errstate(over="ignore"):
        spread = float(np.max(np.abs(values - middle)))
    if not 0 < spread < NARROW * abs(middle):
        return 0.0
    grain = 10.0 ** (math.ceil(math.log10(spread)) + 1)
    return round(middle / grain) * grain


def _share_decades(sizes: Sequence[float]) -> list[int]:
    """Return the decades of each size: the same for those that are alike, and 0 for all if all are ordinary."""
    decades = [0] * len(sizes)
    if all(abs(size) <= ORDINARY_DECADES for size in sizes):
        return decades
    group: list[int] = []
    for k in sorted(range(len(sizes)), key=lambda k: sizes[k]):
        if group and (sizes[k] - sizes[group[-1]] > ALIKE_DECADES or sizes[k] - sizes[group[0]] > WIDEST_DECADES):
            group = []
        group.append(k)
        middle = round((sizes[group[0]] + sizes[k]) / 2)
        for member in group:
            decades[member] = max(-MAX_DECADES, min(middle, MAX_DECADES))
    return decades


# ---- what the grammar can express ------------------------------------------------------------------


class _Writer:
    """What a grammar can express at a column, given by its number, or at the target, whose number is the number of columns."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._rules: dict[int, list[Rule]] = {}  # by the columns in them
        for rule in grammar.rules:
            for column in {token & tk.PAYLOAD_MASK for token in rule.tokens if token >> tk.KIND_SHIFT == tk.VARIABLE}:
                self._rules.setdefault(column, []).append(rule)

    def factor(self, column: int) -> bool:
        """Return whether the grammar has each rule with the column also with a factor at it."""
        return self._writes(column, ((_HOLE,),), can_merge=True)

    def shift(self, column: int) -> bool:
        """Return whether the grammar has each rule with the column also with a factor and a shift at it."""
        return self._writes(column, ((tk.ADD, _HOLE, CONSTANT_TOKEN), (tk.ADD, CONSTANT_TOKEN, _HOLE)), can_merge=False)

    def _writes(self, column: int, leaves: tuple[Tokens, ...], *, can_merge: bool) -> bool:
        scaled = [
            product for leaf in leaves for product in ((tk.MUL, CONSTANT_TOKEN, *leaf), (tk.MUL, *leaf, CONSTANT_TOKEN))
        ]
        if column == len(self._grammar.vocabulary.variables):
            start = tk.SYMBOL << tk.KIND_SHIFT
            return self._derives_any(0, [_fill(tokens, _HOLE, (start,)) for tokens in scaled])
        variable = tk.VARIABLE << tk.KIND_SHIFT | column
        for rule in self._rules.get(column, ()):
            if len(rule.tokens) > tk.MAX_PROGRAM_LENGTH:
                return False
            spellings = [_fill(rule.tokens, variable, _fill(tokens, _HOLE, (variable,))) for tokens in scaled]
            spellings += self._merge(rule.tokens, column) if can_merge else []
            if not self._derives_any(rule.symbol, spellings):
                return False
        return True

    def _merge(self, tokens: Tokens, column: int) -> list[Tokens]:
        """Return spellings of a template with the factor of a variable at a better place."""
        numbers = [1.0] * tokens.count(CONSTANT_TOKEN)
        merged = _rewrite(tokens, numbers, lambda k: Scale(int(k == column)), self._grammar.vocabulary)
        whole = merged.tree.tokens()
        return [(tk.MUL, CONSTANT_TOKEN, *whole), (tk.MUL, *whole, CONSTANT_TOKEN)] if merged.decades else [whole]

    def _derives_any(self, symbol: int, spellings: list[Tokens]) -> bool:
        return any(self._grammar.derives_template(tokens, symbol) for tokens in spellings)


def _fill(tokens: Tokens, hole: int, filling: Tokens) -> Tokens:
    return tuple(part for token in tokens for part in (filling if token == hole else (token,)))


# ---- formulas in other units ---------------------------------------------------------------------


class _Scaled(NamedTuple):
    """A part of a formula: a power of ten times a tree."""

    tree: Tree
    decades: float = 0.0


def _rewrite(
    tokens: Sequence[int], constants: Sequence[float], scale_of: Callable[[int], Scale], vocabulary: Vocabulary
) -> _Scaled:
    """Return a formula of scaled columns as one of the original columns, with factors merged towards the root."""
    parts: list[_Scaled] = []
    numbers = list(constants)
    for token in reversed(tokens):
        kind = token >> tk.KIND_SHIFT
        if kind == tk.VARIABLE:
            parts.append(_rewrite_variable(token, scale_of(token & tk.PAYLOAD_MASK)))
        elif kind == tk.CONSTANT:
            parts.append(_Scaled(constant_tree(numbers.pop())))
        else:
            arguments = [parts.pop() for _ in range(vocabulary.arity_of(token))]
            parts.append(_apply(token, arguments, vocabulary))
    return parts.pop()


def _rewrite_variable(token: int, scale: Scale) -> _Scaled:
    tree = Tree(token)
    if scale.origin:
        tree = Tree(tk.ADD, (tree, constant_tree(-scale.origin)))
    return _Scaled(tree, -scale.decades)


def _apply(token: int, arguments: list[_Scaled], vocabulary: Vocabulary) -> _Scaled:
    """Return an operator of parts, with the powers of ten that can be taken out in front of it."""
    match token, arguments:
        case ((tk.MUL | tk.DIV), [left, right]):
            decades = left.decades + (right.decades if token == tk.MUL else -right.decades)
            tree = Tree(token, (left.tree, right.tree))
            absorbed = _absorb(tree, decades)
            return _Scaled(tree, decades) if absorbed is None else _Scaled(absorbed)
        case ((tk.ADD | tk.SUB | tk.MIN | tk.MAX), [left, right]):
            left, right = _make_alike(left, right)
            return _Scaled(Tree(token, (left.tree, right.tree)), left.decades)
        case tk.POW, [base, exponent] if exponent.tree.token >> tk.KIND_SHIFT == tk.LITERAL:
            power = vocabulary.literals[exponent.tree.token & tk.PAYLOAD_MASK]
            return _Scaled(Tree(token, (base.tree, exponent.tree)), base.decades * power)
        case tk.LOG, [inner] if inner.decades and _absorb(inner.tree, inner.decades) is None:
            shift = constant_tree(inner.decades * math.log(10.0))
            return _Scaled(Tree(tk.ADD, (Tree(token, (inner.tree,)), shift)))
        case _, [inner] if (degree := _degree_of(token)) is not None:
            return _Scaled(Tree(token, (inner.tree,)), degree * inner.decades)
    return _Scaled(Tree(token, tuple(_multiply(part.tree, part.decades) for part in arguments)))


def _make_alike(left: _Scaled, right: _Scaled) -> tuple[_Scaled, _Scaled]:
    """Return two terms with the same power of ten in front, at the cost of at most one constant."""
    difference = right.decades - left.decades
    absorbed = _absorb(right.tree, difference)
    if absorbed is not None:
        return left, _Scaled(absorbed, left.decades)
    return _Scaled(_multiply(left.tree, -difference), right.decades), right


def _degree_of(token: int) -> float | None:
    """Return d if the operator takes a positive factor f out of its argument as f**d, else None."""
    return BY_OPCODE[token].traits.degree if token in BY_OPCODE else exponent_of(token)


def _multiply(tree: Tree, decades: float) -> Tree:
    """Return a tree times a power of ten, which goes into its constants if possible, else into one more."""
    absorbed = _absorb(tree, decades)
    return Tree(tk.MUL, (constant_tree(_power_of_ten(decades)), tree)) if absorbed is None else absorbed


def _absorb(tree: Tree, decades: float) -> Tree | None:
    """Return a tree times a power of ten that goes into its own constants, or None if that is impossible."""
    if decades == 0.0:
        return tree
    if tree.token == CONSTANT_TOKEN:
        return constant_tree(tree.number * _power_of_ten(decades))
    degree = _degree_of(tree.token)
    if degree is not None:
        inner = _absorb(tree.arguments[0], decades / degree)
        return None if inner is None else Tree(tree.token, (inner,))
    if tree.token not in (tk.ADD, tk.SUB, tk.MUL, tk.DIV):
        return None
    left, right = tree.arguments
    scaled_left = _absorb(left, decades)
    scaled_right = _absorb(right, -decades if tree.token == tk.DIV else decades)
    if tree.token in (tk.ADD, tk.SUB):
        is_absorbed = scaled_left is not None and scaled_right is not None
        return Tree(tree.token, (scaled_left, scaled_right)) if is_absorbed else None  # type: ignore[arg-type]
    if scaled_left is not None:
        return Tree(tree.token, (scaled_left, right))
    return None if scaled_right is None else Tree(tree.token, (left, scaled_right))


def _power_of_ten(decades: float) -> float:
    return 10.0**decades if abs(decades) <= MAX_DECADES else math.nan
