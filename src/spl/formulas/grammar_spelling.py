"""Another spelling of a formula: the tree that a grammar has, of a formula that people wrote in their own way.

A search varies trees of its grammar only, but people write `x**2` where the rules say `f*f`, or `x - 2` for `x + C`. So each part is
spelled in several ways, from the leaves up, and of the ways that the grammar does not distinguish the shortest is kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.formulas.text import CONSTANT_TOKEN, exponent_of, make_token
from spl.kernels.programs import tokens as tk

MAX_SPELLINGS = 12  # of one part
MAX_REPEATED = 4  # times that a factor is repeated for a power
_COMMUTATIVE = (tk.ADD, tk.MUL, tk.MIN, tk.MAX)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """One tree for a part of a formula, and the set of states of the grammar's automaton that it is in."""

    tokens: tuple[int, ...]
    constants: tuple[float, ...]
    states: int


def spell_in_grammar(program: Program, grammar: Grammar) -> Program | None:
    """Return a formula as a tree that the grammar has; None if it has none.

    Numbers become constants, with their values, where the rules have a constant.

    Args:
        program: the formula, over the columns of the grammar. A constant may have no value yet (NaN).
        grammar: the grammar.

    Examples:
        >>> from spl.formulas.text import parse_expression, to_text
        >>> grammar = Grammar.from_text("f -> f + f | f*f | sin(f) | x | C")
        >>> guess = parse_expression("2*x**2 - 3", grammar.vocabulary)
        >>> to_text(spell_in_grammar(guess, grammar)), spell_in_grammar(guess, grammar).constants
        ('2*(x*x) - 3', (2.0, -3.0))
        >>> spell_in_grammar(parse_expression("cos(x)", grammar.vocabulary), grammar) is None
        True
    """
    speller = _Speller(program, grammar)
    found = [each for each in speller.spell() if grammar.is_start(each.states)]
    if not found:
        return None
    best = min(found, key=lambda each: (len(each.tokens), -len(each.constants)))
    return Program(best.tokens, grammar.vocabulary, best.constants)


class _Speller:
    """Spells the parts of one formula, from its leaves up."""

    def __init__(self, program: Program, grammar: Grammar) -> None:
        self._program, self._grammar = program, grammar
        self._places = {name: place for place, name in enumerate(grammar.vocabulary.variables)}

    def spell(self) -> list[_Spelling]:
        """Return the spellings of the whole formula."""
        program, words = self._program, self._program.vocabulary
        values = list(program.constants)
        parts: list[list[_Spelling]] = []
        for token in reversed(program.tokens):
            kind, payload = token >> tk.KIND_SHIFT, token & tk.PAYLOAD_MASK
            if kind == tk.VARIABLE:
                place = self._places.get(words.variables[payload])
                spellings = [] if place is None else [self._leaf(make_token(tk.VARIABLE, place))]
            elif kind == tk.LITERAL:
                spellings = self._number(words.literals[payload])
            elif kind == tk.CONSTANT:
                spellings = [self._constant(values.pop())]
            else:
                arguments = [parts.pop() for _ in range(words.arity_of(token))]
                spellings = [*self._apply(token, arguments)]
            parts.append(_distinct(spellings))
        return parts.pop()

    # ---- leaves ----------------------------------------------------------------------------------------

    def _leaf(self, token: int) -> _Spelling:
        return _Spelling((token,), (), self._grammar.states_of(token))

    def _constant(self, value: float) -> _Spelling:
        return _Spelling((CONSTANT_TOKEN,), (value,), self._grammar.states_of(CONSTANT_TOKEN))

    def _number(self, value: float) -> list[_Spelling]:
        literals = self._grammar.vocabulary.literals
        exact = [self._leaf(make_token(tk.LITERAL, literals.index(value)))] if value in literals else []
        found = [self._constant(value), *exact]
        if -value in literals:
            found.append(self._node(tk.NEG, self._leaf(make_token(tk.LITERAL, literals.index(-value)))))
        return found

    # ---- operators -------------------------------------------------------------------------------------

    def _node(self, token: int, *arguments: _Spelling) -> _Spelling:
        tokens = (token, *(each for argument in arguments for each in argument.tokens))
        constants = tuple(each for argument in arguments for each in argument.constants)
        return _Spelling(
            tokens, constants, self._grammar.states_of(token, *(argument.states for argument in arguments))
        )

    def _apply(self, token: int, arguments: Sequence[list[_Spelling]]) -> Iterator[_Spelling]:
        """Yield spellings of an operator of parts, each in its own spellings."""
        token = self._own_token(token)
        if len(arguments) == 1:
            for one in arguments[0]:
                yield from self._apply_to_one(token, one)
            return
        for one in arguments[0]:
            for other in arguments[1]:
                yield from self._apply_to_two(token, one, other)

    def _apply_to_one(self, token: int, one: _Spelling) -> Iterator[_Spelling]:
        if token == tk.NEG:
            yield from self._negate(one)
            return
        yield self._node(token, one)
        exponent = exponent_of(token)
        if exponent is not None:
            for number in self._number(exponent):
                yield self._node(tk.POW, one, number)
            yield from self._repeat(one, exponent)
        if token == tk.INV:
            yield from self._invert(one)

    def _apply_to_two(self, token: int, one: _Spelling, other: _Spelling) -> Iterator[_Spelling]:
        yield self._node(token, one, other)
        if token in _COMMUTATIVE:
            yield self._node(token, other, one)
        if token in (tk.ADD, tk.SUB):
            opposite = tk.SUB if token == tk.ADD else tk.ADD
            for negated in self._negate(other):
                yield self._node(opposite, one, negated)
                if opposite == tk.ADD:
                    yield self._node(opposite, negated, one)
        if token == tk.DIV:
            if one.constants == (1.0,) and one.tokens == (CONSTANT_TOKEN,):
                yield self._node(tk.INV, other)
            for inverse in self._invert(other):
                yield self._node(tk.MUL, one, inverse)
                yield self._node(tk.MUL, inverse, one)
            if other.tokens == (CONSTANT_TOKEN,) and other.constants[0]:
                yield self._node(tk.MUL, self._constant(1.0 / other.constants[0]), one)

    def _negate(self, one: _Spelling) -> Iterator[_Spelling]:
        """Yield spellings of the negative: the sign goes into a constant, or becomes a minus sign or a factor of -1."""
        if one.tokens == (CONSTANT_TOKEN,):
            yield self._constant(-one.constants[0])
        elif one.tokens[:2] == (tk.MUL, CONSTANT_TOKEN) or one.tokens[:2] == (tk.DIV, CONSTANT_TOKEN):
            yield replace(one, constants=(-one.constants[0], *one.constants[1:]))
        yield self._node(tk.NEG, one)
        yield self._node(tk.MUL, self._constant(-1.0), one)

    def _invert(self, one: _Spelling) -> Iterator[_Spelling]:
        yield self._node(tk.INV, one)
        for number in self._number(1.0):
            yield self._node(tk.DIV, number, one)
        for number in self._number(-1.0):
            yield self._node(tk.POW, one, number)

    def _repeat(self, one: _Spelling, exponent: float) -> Iterator[_Spelling]:
        """Yield a whole power as a product."""
        if exponent != int(exponent) or not 2 <= abs(exponent) <= MAX_REPEATED:
            return
        product = one
        for _ in range(int(abs(exponent)) - 1):
            product = self._node(tk.MUL, one, product)
        if exponent > 0:
            yield product
        else:
            yield from self._invert(product)

    def _own_token(self, token: int) -> int:
        """Return the grammar's token of an operator of the user."""
        words = self._program.vocabulary
        if token >> tk.KIND_SHIFT != tk.OPERATOR or token < tk.USER_UNARY or words.own == self._grammar.vocabulary.own:
            return token
        return self._grammar.vocabulary.operator_token(words.operator_of(token))


def _distinct(spellings: Sequence[_Spelling]) -> list[_Spelling]:
    """Return the shortest spelling for each set of states and each kind of root, the shortest first."""
    found: dict[object, _Spelling] = {}
    for each in sorted(spellings, key=lambda one: (len(one.tokens), -len(one.constants))):
        if each.states:
            found.setdefault((each.states, each.tokens[:2] if CONSTANT_TOKEN in each.tokens[:2] else ()), each)
    return list(found.values())[:MAX_SPELLINGS]


# ---- derivations ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a grammar derives a tree: the symbol of the rule that began each token's subtree, or -1, and how many rules it took."""

    origins: tuple[int, ...]
    n_rules: int


def derive(program: Program, grammar: Grammar) -> Derivation | None:
    """Return the derivation of a tree with the fewest rules; None if the grammar does not have exactly this tree.

    Examples:
        >>> from spl.formulas.text import parse_expression
        >>> grammar = Grammar.from_text("f -> f + f | sin(x) | x")
        >>> derive(parse_expression("x + sin(x)", grammar.vocabulary), grammar)
        Derivation(origins=(0, 0, 0, -1), n_rules=3)
    """
    return _Deriver(program, grammar).derive()


_Steps = tuple[int, tuple[tuple[int, int], ...]]  # rules so far, and where which symbol was replaced


class _Deriver:
    """Finds derivations of the parts of one tree, each only once."""

    def __init__(self, program: Program, grammar: Grammar) -> None:
        self._tokens, self._grammar, self._program = program.tokens, grammar, program
        self._rules: dict[int, list[tuple[int, ...]]] = {}
        for rule in grammar.rules:
            self._rules.setdefault(rule.symbol, []).append(rule.tokens)
        self._known: dict[tuple[int, int], _Steps | None] = {}

    def derive(self) -> Derivation | None:
        """Return the derivation of the whole tree."""
        found = self._derive(0, 0)
        if found is None:
            return None
        origins = [-1] * len(self._tokens)
        for at, symbol in found[1]:
            origins[at] = symbol
        return Derivation(tuple(origins), found[0])

    def _derive(self, symbol: int, at: int) -> _Steps | None:
        """Return how a symbol derives the subtree at a position."""
        if (symbol, at) in self._known:
            return self._known[symbol, at]
        self._known[symbol, at] = None  # while it is looked for: a symbol does not need itself for the same subtree
        best: _Steps | None = None
        for template in self._rules.get(symbol, ()):
            found = self._match(template, at)
            if found is not None and (best is None or found[0] + 1 < best[0]):
                best = found[0] + 1, ((at, symbol), *found[1])
        self._known[symbol, at] = best
        return best

    def _match(self, template: tuple[int, ...], at: int) -> _Steps | None:
        n_rules, steps = 0, list[tuple[int, int]]()
        for token in template:
            if at >= len(self._tokens):
                return None
            if token >> tk.KIND_SHIFT == tk.SYMBOL:
                found = self._derive(token & tk.PAYLOAD_MASK, at)
                if found is None:
                    return None
                n_rules += found[0]
                steps += found[1]
                at = self._program.end_of(at)
            elif token == self._tokens[at]:
                at += 1
            else:
                return None
        return n_rules, tuple(steps)
