"""The slow, obvious twins of the grammar: a random derivation, and membership straight from the definition."""

import random

from hypothesis import reject
from hypothesis import strategies as st
from tests.own_operators import BLEND, SINC

from spl.errors import GrammarError
from spl.formulas.grammar import Grammar
from spl.formulas.program import Program
from spl.kernels.programs import tokens as tk

Tree = tuple  # a token and its arguments, which are trees

OWN = (SINC, BLEND)


def derive(grammar: Grammar, choose: random.Random, max_rules: int = 12) -> Program:
    """Return the program of a random derivation; once it is long, each symbol is finished in the shortest way."""
    tokens: list[int] = []
    open_tokens = [tk.SYMBOL << tk.KIND_SHIFT]
    n_rules = 0
    while open_tokens:
        token = open_tokens.pop()
        if token >> tk.KIND_SHIFT != tk.SYMBOL:
            tokens.append(token)
            continue
        rules = [rule for rule in grammar.rules if rule.symbol == token & tk.PAYLOAD_MASK]
        if n_rules >= max_rules:
            rules = [min(rules, key=lambda rule: sum(grammar.shortest[symbol] for symbol in rule.symbols_used()))]
        open_tokens.extend(reversed(choose.choice(rules).tokens))
        n_rules += 1
    constants = tuple(choose.choice([-3.0, -0.5, 0.25, 2.0, 7.5]) for token in tokens if token >> 16 == tk.CONSTANT)
    return Program(tuple(tokens), grammar.vocabulary, constants)


def mutate(program: Program, choose: random.Random) -> Program:
    """Return the program with one token replaced by another that takes as many arguments."""
    words = program.vocabulary
    place = choose.randrange(len(program))
    everything = [*range(tk.N_OPCODES), tk.USER_UNARY, tk.USER_BINARY, (tk.POWER << 16) + tk.POWER_OFFSET + 4]
    everything += [tk.VARIABLE << 16 | i for i in range(len(words.variables))]
    everything += [tk.LITERAL << 16 | i for i in range(len(words.literals))]
    alike = [token for token in everything if words.arity_of(token) == words.arity_of(program.tokens[place])]
    tokens = (*program.tokens[:place], choose.choice(alike), *program.tokens[place + 1 :])
    return Program(tokens, words, (1.0,) * sum(token >> 16 == tk.CONSTANT for token in tokens))


def to_tree(tokens: tuple[int, ...], grammar: Grammar) -> Tree:
    trees: list[Tree] = []
    for token in reversed(tokens):
        trees.append((token, *(trees.pop() for _ in range(grammar.vocabulary.arity_of(token)))))
    return trees.pop()


def derives(grammar: Grammar, tree: Tree, symbol: int = 0, tried: frozenset[int] = frozenset()) -> bool:
    """Say whether any rule of the symbol matches; `tried` are the symbols that already stand for this very tree."""
    if symbol in tried:
        return False
    return any(
        matches(grammar, to_tree(rule.tokens, grammar), tree, tried | {symbol})
        for rule in grammar.rules
        if rule.symbol == symbol
    )


def matches(grammar: Grammar, template: Tree, tree: Tree, tried: frozenset[int]) -> bool:
    if template[0] >> tk.KIND_SHIFT == tk.SYMBOL:
        return derives(grammar, tree, template[0] & tk.PAYLOAD_MASK, tried)
    if template[0] >> tk.KIND_SHIFT == tk.CONSTANT and tree[0] >> tk.KIND_SHIFT == tk.LITERAL:
        return True
    return template[0] == tree[0] and all(
        matches(grammar, inner, argument, frozenset()) for inner, argument in zip(template[1:], tree[1:], strict=True)
    )


_NAMES = st.sampled_from(["f", "g", "'h 1'", "x", "'y [m]'", "C", "2", "-3", "0.5"])
_SIDES = st.recursive(
    _NAMES,
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})")
        | st.tuples(st.sampled_from(["sin", "inv", "neg", "sqrt", "wave"]), inner).map(lambda t: f"{t[0]}({t[1]})")
        | st.tuples(st.sampled_from(["min", "blend"]), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})")
        | st.tuples(inner, st.sampled_from(["2", "-1", "4", "C", "g", "-g"])).map(lambda t: f"({t[0]})**({t[1]})")
        | inner.map(lambda side: f"-({side})")
    ),
    max_leaves=4,
)


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    """Draw a grammar of three symbols that all are reached and can finish."""
    lines = []
    for symbol, needed in (("f", ["x", "x * g + 'h 1'"]), ("g", ["x"]), ("'h 1'", ["x"])):
        drawn = [side for side in draw(st.lists(_SIDES, max_size=4)) if side != symbol]
        lines.append(f"{symbol} -> {' | '.join(dict.fromkeys(drawn + needed))}")
    try:
        return Grammar.from_text("\n".join(lines), OWN)
    except GrammarError:  # two spellings of one rule
        return reject()
