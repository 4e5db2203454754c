"""Random programs of columns and constants, whatever their units."""

from spl.formulas.program import Program, Vocabulary
from spl.formulas.text import CONSTANT_TOKEN, make_token
from spl.kernels.programs import tokens as tk

MOST_DEPTH = 3


def draw_program(rng, names, operators):
    """Return a random program with these operators."""
    tokens = _draw(rng, len(names), operators, 0)
    n_constants = tokens.count(CONSTANT_TOKEN)
    return Program(tuple(tokens), Vocabulary(tuple(names)), (0.123,) * n_constants)


def _draw(rng, n_columns, operators, depth):
    if depth == MOST_DEPTH or rng.random() < 0.25:
        column = int(rng.integers(n_columns + 1))
        return [CONSTANT_TOKEN if column == n_columns else make_token(tk.VARIABLE, column)]
    token = operators[int(rng.integers(len(operators)))]
    arity = 2 if token < tk.FIRST_UNARY else 1
    return [token, *(each for _ in range(arity) for each in _draw(rng, n_columns, operators, depth + 1))]


def derive_program(rng, grammar, max_rules):
    """Return a random derivation of a grammar as a program; None if it takes more rules."""
    tokens, todo = [], [make_token(tk.SYMBOL, 0)]
    n_rules = 0
    rules = {}
    for rule in grammar.rules:
        rules.setdefault(rule.symbol, []).append(rule)
    while todo:
        item = todo.pop()
        if item >> tk.KIND_SHIFT != tk.SYMBOL:
            tokens.append(item)
            continue
        n_rules += 1
        if n_rules > max_rules:
            return None
        choices = rules[item & tk.PAYLOAD_MASK]
        if n_rules + len(todo) > max_rules // 2:
            shortest = min(len(rule.tokens) for rule in choices)
            choices = [rule for rule in choices if len(rule.tokens) == shortest]
        todo += reversed(choices[int(rng.integers(len(choices)))].tokens)
    n_constants = tokens.count(CONSTANT_TOKEN)
    if len(tokens) > tk.MAX_PROGRAM_LENGTH or n_constants > tk.MAX_CONSTANTS:
        return None
    return Program(tuple(tokens), grammar.vocabulary, tuple(rng.uniform(0.5, 3.0, n_constants)))
